"""Learners in rough use, beside a ledger that is kept by hand: threads, restarts from any save, forked children."""

import random
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Decision, Learner, errors, policies, sets
from support.forking import forked, in_child

N_ITEMS = 12
TOP = sets.TopK(N_ITEMS, 3)


class Shared:
    """One learner for many threads; every thread keeps its own books, which are added up in the end."""

    def __init__(self, folder: Path, threads: int, calls: int) -> None:
        self.learner = Learner(TOP, policies.CombUCB1(init="all"), seed=0)
        self.path, self.calls = folder / "state.json", calls
        self.counts, self.sums = np.zeros((threads, N_ITEMS), dtype=np.int64), np.zeros((threads, N_ITEMS))
        self.ids: list[list[str]] = [[] for _ in range(threads)]
        self.waiting: list[dict[str, tuple[Decision, list[int]]]] = [{} for _ in range(threads)]
        self.broke: list[str] = []

    def work(self, thread: int) -> None:
        try:
            generator = random.Random(thread)
            for _ in range(self.calls):
                self.step(thread, generator)
        except BaseException as error:
            self.broke.append(f"thread {thread}: {error!r}")

    def step(self, thread: int, generator: random.Random) -> None:
        learner, waiting, turn = self.learner, self.waiting[thread], generator.random()
        if turn < 0.4 or not waiting:
            decision = learner.ask(available=None if turn < 0.35 else range(N_ITEMS - 1))
            self.ids[thread].append(decision.id)
            waiting[decision.id] = decision, decision.items.tolist()
        elif turn < 0.8:
            id = generator.choice(list(waiting))
            some = generator.sample(waiting[id][1], generator.randint(1, len(waiting[id][1])))
            weights = {item: generator.randrange(1025) / 1024 for item in some}  # whose sums are exact
            if learner.tell(id, weights) != len(some) or learner.tell(id, weights) != 0:
                self.broke.append(f"{id} was told {some} and did not take them in once")
            self.add(thread, weights)
            rest = [item for item in waiting[id][1] if item not in weights]
            waiting[id] = waiting[id][0], rest
            if not rest:
                del waiting[id]
        elif turn < 0.9:
            id = generator.choice(list(waiting))
            learner.cancel(id)
            del waiting[id]
        elif turn < 0.95:
            seen = {generator.randrange(N_ITEMS): generator.randrange(1025) / 1024}
            learner.observe(seen)
            self.add(thread, seen)
        elif turn < 0.99:
            _ = learner.counts, learner.estimates, learner.scores(), learner.outstanding, learner.round
        else:
            learner.save(self.path)

    def add(self, thread: int, weights: dict[int, float]) -> None:
        for item, weight in weights.items():
            self.counts[thread, item] += 1
            self.sums[thread, item] += weight

    def check(self) -> None:
        learner, ids = self.learner, [id for own in self.ids for id in own]
        waiting = {id for own in self.waiting for id in own}
        for what, found, expected in (
            ("ids", len(set(ids)), len(ids)),
            ("rounds", learner.round, len(ids)),
            ("counts", learner.counts.tolist(), self.counts.sum(axis=0).tolist()),
            ("sums", learner._agent.stats[1].tolist(), self.sums.sum(axis=0).tolist()),
            ("outstanding", {one.id for one in learner.outstanding}, waiting),
        ):
            if found != expected:
                self.broke.append(f"{what}: {found!r:.200}, expected {expected!r:.200}")
        learner.save(self.path)
        loaded = Learner.load(self.path, TOP)
        if loaded.counts.tolist() != learner.counts.tolist() or {one.id for one in loaded.outstanding} != waiting:
            self.broke.append("what was saved is something else")


@pytest.mark.parametrize("calls", [30, pytest.param(3_000, marks=pytest.mark.long)])
def test_threads_on_one_learner(calls: int, tmp_path: Path, campaign: Any) -> None:
    shared = Shared(tmp_path, 16, calls)
    threads = [threading.Thread(target=shared.work, args=(i,), daemon=True) for i in range(16)]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + 300.0
    for thread in threads:
        thread.join(max(0.0, ends - time.monotonic()))
    if any(thread.is_alive() for thread in threads):
        shared.broke.append("threads wait for each other")
    else:
        shared.check()
    campaign(f"threads: 16 on one learner, {16 * calls:,} calls", shared.broke)


class Life:
    """A learner that falls back to any of its saves, beside one of the same decisions that is never reloaded."""

    def __init__(self, folder: Path, number: int) -> None:
        policy = (policies.CombUCB1(), policies.CTS(), policies.SlidingWindow(4), policies.FPL(eta=0.1))[number % 4]
        self.make = lambda: Learner(TOP, policy, seed=number)
        self.folder, self.generator = folder, random.Random(number)
        self.learner = self.make()
        self.done: list[tuple[Any, ...]] = []
        """What led here: asks, and feedback by round."""
        self.ids: dict[str, tuple[int, int]] = {}
        """Every id ever given, with its life and round."""
        self.life, self.saves = 0, list[tuple[Path, list[tuple[Any, ...]], set[str]]]()
        self.mine: set[str] = set()
        """The ids that are this learner's, by what led here."""
        self.broke: list[str] = []

    def step(self) -> None:
        turn, learner = self.generator.random(), self.learner
        if turn < 0.4:
            decision = learner.ask()
            if decision.id in self.ids:
                self.broke.append(f"{decision.id} was given twice")
            self.ids[decision.id] = self.life, decision.round
            self.mine.add(decision.id)
            self.done.append(("ask",))
        elif turn < 0.8 and self.ids:
            self.feedback(self.generator.choice(list(self.ids)))
        elif turn < 0.9:
            path = self.folder / f"{len(self.saves)}.json"
            learner.save(path)
            self.saves.append((path, list(self.done), set(self.mine)))
        elif self.saves:
            path, done, mine = self.generator.choice(self.saves)
            self.learner, self.done, self.mine = Learner.load(path, TOP), list(done), set(mine)
            self.life += 1

    def feedback(self, id: str) -> None:
        """Late, perhaps of another life: then it is refused, and changes nothing."""
        weights, before = [self.generator.random() for _ in range(3)], self.learner.counts.tolist()
        waits = id in {one.id for one in self.learner.outstanding}
        try:
            if self.generator.random() < 0.2:
                self.learner.cancel(id)
                what: tuple[Any, ...] = ("cancel", self.ids[id][1])
            else:
                self.learner.tell(id, weights)
                what = ("tell", self.ids[id][1], weights)
            if id not in self.mine:
                self.broke.append(f"{id} of another life was taken")
            elif waits:
                self.done.append(what)
        except (errors.UnknownDecision, errors.ContradictingFeedback) as error:
            if waits or self.learner.counts.tolist() != before:
                self.broke.append(f"{id} was refused: {error}")

    def check(self) -> None:
        """One that has done the same and was never reloaded decides the same."""
        twin, ids = self.make(), {}
        for what, *rest in self.done:
            if what == "ask":
                decision = twin.ask()
                ids[decision.round] = decision.id
            else:
                getattr(twin, what)(ids[rest[0]], *rest[1:])
        one, other = ([learner.ask().items.tolist() for _ in range(5)] for learner in (self.learner, twin))
        if one != other or self.learner.counts.tolist() != twin.counts.tolist():
            self.broke.append(f"after {len(self.done)} steps {one} was decided, and not {other}")


@pytest.mark.parametrize(("lives", "steps"), [(4, 60), pytest.param(60, 400, marks=pytest.mark.long)])
def test_restarts_from_any_save(lives: int, steps: int, tmp_path: Path, campaign: Any) -> None:
    broke: list[str] = []
    ids = 0
    for number in range(lives):
        folder = tmp_path / str(number)
        folder.mkdir()
        life = Life(folder, number)
        for _ in range(steps):
            life.step()
        life.check()
        broke += life.broke
        ids += len(life.ids)
    campaign(f"restarts: {lives} learners, {lives * steps:,} steps, {ids:,} ids", broke)


@forked
@pytest.mark.parametrize("forks", [4, pytest.param(200, marks=pytest.mark.long)])
def test_ids_of_forked_workers(forks: int, campaign: Any) -> None:
    """Each child is told what its parent asked, and gives ids that nobody else gives."""
    learner, broke, ids = Learner(TOP, policies.CTS(), seed=0), list[str](), list[str]()
    for _ in range(forks):
        known = learner.ask()

        def child(known: Decision = known) -> str:
            learner.tell(known.id, [0.5, 0.5, 0.5])
            return " ".join(learner.ask().id for _ in range(3))

        said = in_child(child).strip("'")
        ids += [known.id, *said.split()]
        if "raised" in said or learner.tell(known.id, [0.25, 0.25, 0.25]) != 3:
            broke.append(said)
    if len(set(ids)) < len(ids) or len(ids) != 4 * forks:
        broke.append(f"of {len(ids)} ids only {len(set(ids))} are different")
    campaign(f"forks: {forks} children, {len(ids):,} ids", broke)
