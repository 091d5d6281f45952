"""Calls of a learner that a signal handler interrupts: they have changed nothing, and may be made again."""

import contextlib
import gc
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits.kernel import warm
from support.interrupting import Interrupted, interrupted

TREE = [(0, 1), (1, 2), (0, 2), (2, 3), (1, 3)]
ROADS = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("b", "c")]
LEARNERS: dict[str, Callable[[], Learner]] = {
    "paper": lambda: Learner(sets.TopK(5, 2), policies.CombUCB1(), seed=1),
    "window": lambda: Learner(sets.TopK(5, 2), policies.SlidingWindow(3), seed=1),
    "random": lambda: Learner(sets.TopK(5, 2), policies.CTS(), seed=1, labels=list("abcde")),
    "tree": lambda: Learner(sets.GraphicMatroid(TREE), policies.CombUCB1(init="all"), seed=1),
    "whole": lambda: Learner(sets.TopK(5, 2), policies.FPL(eta=0.1), seed=1),
    "sum": lambda: Learner(sets.TopK(4, 2), policies.COMBAND(eta=0.1, gamma=0.1), seed=1, feedback="bandit"),
    "paths": lambda: Learner(sets.Paths(ROADS, "a", "d"), policies.CombUCB1(), sense="min", seed=1),
    "pooled": lambda: Learner(sets.TopK(5, 2), policies.PooledCTS(window=3), seed=1),
    "discounted": lambda: Learner(sets.TopK(5, 2), policies.Discounted(0.9), seed=1),
    "osmd": lambda: Learner(sets.TopK(5, 2), policies.OSMD(eta=0.1), seed=1),
    "hybrid": lambda: Learner(sets.TopK(5, 2), policies.HYBRID(), seed=1),
    "least squares": lambda: Learner(sets.TopK(5, 2), policies.OLSUCB(), seed=1),
    "oful": lambda: Learner(sets.TopK(4, 2), policies.OFUL(), seed=1, feedback="bandit"),
    "knapsack": lambda: Learner(sets.Knapsack([1, 2, 3, 4], 5), policies.CTS(), seed=1),
}
QUICK = ("paper", "window", "sum")
MANY_POINTS = ("random", "sum", "osmd", "hybrid", "knapsack")


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced, all texts are slow; and a compiler that is interrupted at each of its points gets nowhere."""
    monkeypatch.setattr(warm, "PATIENCE", float("inf"))


def all_of(learner: Learner) -> tuple[Any, ...]:
    begun = (learner._agent.stats[0] == 0.0).any()  # afterwards nobody asks what is pending
    pending = learner._updates.pending.tolist() if begun else None
    return msgspec.json.encode(learner._snapshot()), pending, sorted(learner._updates.reserved)


def told_the_same(one: Any, other: Any) -> bool:
    if one is None or isinstance(one, int):
        return bool(one == other)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(told_the_same, one, other))
    return (one.id, one.round, one.items.tolist()) == (other.id, other.round, other.items.tolist())


class Pair:
    """A learner whose every call is interrupted at every point, and one that is left in peace."""

    def __init__(self, name: str, stride: int) -> None:
        self.name, self.stride = name, stride
        self.learner, self.twin = LEARNERS[name](), LEARNERS[name]()
        self.twin._log.name, self.twin._log._epoch = self.learner._log.name, self.learner._log.epoch()
        self.twin._log._begun = self.learner._log._begun
        self.now = 0.0
        self.learner._log.clock = self.twin._log.clock = lambda: self.now
        self.broke: list[str] = []
        self.interrupted = 0

    def call(self, method: str, *arguments: Any, **named: Any) -> Any:
        assert not self.broke, self.broke  # the twin is elsewhere by now
        expected = getattr(self.twin, method)(*arguments, **named)  # and what is imported once, is
        before, number = all_of(self.learner), 0
        while True:
            done, result, where = interrupted(lambda: getattr(self.learner, method)(*arguments, **named), number)
            for lock in (self.learner._lock, self.learner._asking._turn):
                if lock._is_owned():  # type: ignore[attr-defined]
                    self.broke.append(f"{self.name}: {method} interrupted in {where} keeps a lock")
                    lock.release()
            if done:
                break
            if all_of(self.learner) != before and method != "expire":  # which goes on when it is called again
                self.broke.append(f"{self.name}: {method} interrupted in {where} has changed something")
                before = all_of(self.learner)
            number += self.stride
            self.interrupted += 1
        same = method == "expire" or told_the_same(result, expected)
        if not same or all_of(self.learner) != all_of(self.twin):
            self.broke.append(f"{self.name}: {method} made again gives {result}, not {expected}")
        return result

    def play(self, rounds: int) -> None:
        generator = np.random.default_rng(0)
        sums = self.learner._feedback == "bandit"
        for round in range(rounds):
            first, second = self.call("ask"), self.call("ask")
            weights = generator.random(first.items.size)
            if sums or round % 2:
                self.call("tell", first.id, float(weights.sum()) if sums else weights)
            else:
                self.call("tell", first.id, {int(first.items[-1]): weights[-1]})
                self.call("tell", first.id, weights)
            self.call("cancel", second.id)
            self.now += 60.0
            self.call("ask", n=2)
            self.now += 60.0
            self.call("expire", 61.0 * (round % 2), weight=0.5 if self.name in ("paper", "random", "sum") else None)
            policy = self.learner.policy
            if not sums and not getattr(policy, "needs_note", False):
                self.call("observe", [0, 1, 1], [0.5, 0.25, 1.0])
            if (
                not sums
                and not getattr(policy, "window", 0)
                and getattr(policy, "observe_many", None)
                and self.name != "whole"
            ):
                with contextlib.suppress(errors.Unsupported):
                    self.call("observe", counts={0: 2}, sums={0: 1.5})
                    self.call("change_policy", policies.CombUCB1(alpha=0.5) if round else policies.CTS())


@pytest.mark.parametrize(
    ("names", "rounds", "stride"),
    [(QUICK, 1, 7), pytest.param(tuple(LEARNERS), 3, 1, marks=pytest.mark.long)],
    ids=["some", "all"],
)
def test_a_call_that_is_interrupted_anywhere(names: Any, rounds: int, stride: int, campaign: Any) -> None:
    pairs = [Pair(name, stride + 4 * (name in MANY_POINTS)) for name in names]
    for pair in pairs:
        pair.play(rounds)
    calls = sum(pair.interrupted for pair in pairs)
    campaign(
        f"interrupted calls: {calls:,} of ask, tell, cancel and observe by {len(pairs)} kinds of learners",
        [line for pair in pairs for line in pair.broke],
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timer")
@pytest.mark.parametrize("wanted", [200, pytest.param(25_000, marks=pytest.mark.long)])
def test_tells_that_a_timer_interrupts_are_counted_once(wanted: int, campaign: Any) -> None:
    """A soft time limit, as schedulers have it: its signal's handler raises, and the call is tried again."""
    learner = Learner(sets.TopK(6, 2), policies.CombUCB1(init="optimistic"), seed=0)
    learner.tell(learner.ask().id, [0.5, 0.25])  # what is imported once, is
    generator, broke = random.Random(0), list[str]()
    counts, rounds, interruptions, armed = learner.counts, 1, 0, False

    def handle(*_: object) -> None:
        if armed:  # another thread may have had the signal, and tell of it late
            raise Interrupted

    def until_done(call: Callable[[], Any]) -> Any:
        nonlocal interruptions, armed
        while True:
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, generator.random() * 1e-4 + 1e-6)
                try:
                    result = call()
                finally:
                    armed = False
                    signal.setitimer(signal.ITIMER_REAL, 0.0)
                return result
            except Interrupted:
                interruptions += 1

    before, collects = signal.signal(signal.SIGALRM, handle), gc.isenabled()
    gc.disable()  # nothing can be raised from its callbacks, nor where other tests' garbage ends
    try:
        while interruptions < wanted:
            decision = learner.ask()
            new: list[int] = []
            until_done(lambda: new.append(learner.tell(decision.id, [0.5, 0.25])))  # noqa: B023
            rounds += 1
            counts[decision.items] += 1
            if learner.counts.tolist() != counts.tolist():
                broke.append(f"round {rounds} was counted as {learner.counts.tolist()}, not {counts.tolist()}")
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        if collects:
            gc.enable()
    if learner.outstanding or learner.round != rounds:
        broke.append(f"{len(learner.outstanding)} of {learner.round} decisions wait, of {rounds}")
    campaign(f"interrupted tells: {interruptions:,} by a timer, of {rounds:,}", broke)


def test_an_oracle_that_is_interrupted_anywhere() -> None:
    """What it has left half-done is not used again."""
    for edges in (TREE, TREE[::-1]):
        feasible, weights = sets.GraphicMatroid(edges), np.array([0.3, 0.2, 0.4, 0.1, 0.5])
        expected, done, number = feasible.argmax(weights).tolist(), False, 0
        while not done:
            done, _, where = interrupted(lambda: feasible.argmax(weights), number)  # noqa: B023
            assert feasible.argmax(weights).tolist() == expected, where
            number += 1
        assert number > 10


def test_a_save_that_is_interrupted_anywhere(tmp_path: Path) -> None:
    """The file is the old one or the new one, and may be saved again."""
    path, number, saved = tmp_path / "learner.json", 0, 0
    learner = Learner(sets.TopK(3, 1), policies.CombUCB1(), seed=0)
    learner.save(path)
    while True:
        learner.observe({0: 0.5})
        done, _, where = interrupted(lambda: learner.save(path), number)
        assert not learner._saving._is_owned(), where  # type: ignore[attr-defined]
        seen = int(Learner.load(path, sets.TopK(3, 1)).counts[0])
        assert saved <= seen <= number + 1, where
        saved, number = seen, number + 1
        if done:
            break
    assert saved == number > 20


def test_a_handler_that_uses_the_learner_itself() -> None:
    """What it was told in the midst of another call is not lost, and no round is given away twice."""
    learner = Learner(sets.TopK(4, 2), policies.CombUCB1(init="optimistic"), seed=0)
    asked = []

    class Weights(list[float]):
        def __iter__(self) -> Any:
            signal.raise_signal(signal.SIGUSR1)
            return super().__iter__()

    def handle(*_: object) -> None:
        asked.append(learner.ask())
        learner.tell(asked[-1].id, [0.5, 0.5])

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        decision = learner.ask()
        assert learner.tell(decision.id, Weights([0.25, 0.25])) == 2
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert learner.round == len({decision.id, *(one.id for one in asked)}) == 2
    assert learner.counts.sum() == 4
