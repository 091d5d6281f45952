"""Many threads on one learner, all that it can do mixed: it does what one thread would that made the same calls.

What is worked out under the learner's lock is written down in its order. A plain learner is told the same in that order
afterwards, and must have decided the same, and know the same.
"""

import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits._util.atomic import take
from semibandits.live.events import Event

N_ITEMS, THREADS = 12, 16
TOP = sets.TopK(N_ITEMS, 3)
OTHERS = (sets.TopK(N_ITEMS, 2), sets.TopK(N_ITEMS, 5), TOP.restrict(include=[7]))
POLICIES: dict[str, list[Any]] = {
    "init": [policies.CombUCB1(init="all"), policies.KLUCB(), policies.UCBV()],
    "paper": [policies.CombUCB1(), policies.CombUCB1(alpha=0.5), policies.CMOSS(anytime=True)],
    "random": [policies.CTS(), policies.PooledCTS(), policies.EpsilonGreedy()],
    "window": [policies.SlidingWindow(7)],
    "whole": [policies.ESCB(), policies.CTS()],
}
BOUNDS = (-1.0, 3.0)


class Recorded:
    """A learner all of whose changes are written down, in the order in which they were made."""

    def __init__(self, name: str) -> None:
        self.policies = POLICIES[name]
        self.learner = self.fresh()
        self.events: list[tuple[Any, ...]] = []
        self.heard: list[Event] = []
        self.learner.hooks.append(self.heard.append)
        updates, asking = self.learner._updates, self.learner._asking
        for thing, method in (
            (asking, "_preparing"),
            (asking, "_entering"),
            (updates, "telling"),
            (updates, "cancelling"),
            (updates, "observing"),
            (updates, "observing_totals"),
            (updates, "changing"),
        ):
            setattr(thing, method, self.written_down(method, getattr(thing, method)))

    def fresh(self) -> Learner:
        return Learner(TOP, self.policies[0], seed=3, bounds=BOUNDS, outside="clip")

    def written_down(self, method: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*given: Any) -> Any:
            result = work(*given)
            if method == "_preparing":
                _, request, rounds, number, *_ = given
                # A number that is taken now is in the first step. It is not asked for again: an ask that fails gives
                # its own back at any time.
                round = rounds[number] if len(rounds) > number else result[1][0][1]
                self.events.append(("ask", round, request))
            elif method != "_entering":
                self.events.append((method, *given, self.learner.round))
            elif result[0] is not None:
                self.events.append(("entered", result[0]))
            return result

        return recorded

    def replayed(self) -> tuple[Learner, list[str]]:
        """A plain learner that was told the same in the same order, and where it differs."""
        twin, broke = self.fresh(), list[str]()
        made = {one.round: one for event in self.events if event[0] == "entered" for one in event[1]}
        last = {event[1]: number for number, event in enumerate(self.events) if event[0] == "ask"}
        ids: dict[str, str] = {}
        for number, (kind, *given) in enumerate(self.events):
            if kind == "ask":
                round, request = given
                if round not in made or last[round] != number:  # it failed, or the policy was another one by then
                    continue
                reached, twin._updates.round = twin._updates.round, round - 1
                twin._agent.closing = lambda round: []  # type: ignore[method-assign] # not before it is entered
                out = None if request.exclude is None else np.setdiff1d(np.arange(N_ITEMS), request.exclude)
                decision = twin.ask(out, feasible=request.feasible)
                twin._updates.round = max(reached, round)
                ids[made[round].id] = decision.id
                if decision.items.tolist() != made[round].items.tolist():
                    broke.append(f"round {round}: {made[round].items} was decided, and not {decision.items}")
            elif kind == "entered":
                take(type(twin._agent).closing(twin._agent, max(one.round for one in given[0])))
            elif kind == "telling":
                id, record, positions, values, *_ = given
                items = record.items if positions is None else record.items[positions]
                twin.tell(ids[id], dict(zip(items.tolist(), values.tolist(), strict=True)))
            elif kind == "cancelling":
                twin.cancel(ids[given[0]])
            elif kind in ("observing", "observing_totals"):  # which belong to the last round that was decided
                reached, twin._updates.round = twin._updates.round, given[-1]
                if kind == "observing":
                    twin.observe(*given[:2])
                else:
                    take(twin._updates.observing_totals(given[0])[1])
                twin._updates.round = reached
            elif kind == "changing":
                twin.change_policy(given[0].args[0])
        return twin, broke


class Crowd:
    """Threads at work, each of which keeps its own books."""

    def __init__(self, name: str, calls: int, folder: Path) -> None:
        self.recorded = Recorded(name)
        self.learner, self.path, self.calls = self.recorded.learner, folder / "crowd.json", calls
        self.counts, self.sums = np.zeros((THREADS, N_ITEMS)), np.zeros((THREADS, N_ITEMS))
        self.clipped = np.zeros((THREADS, N_ITEMS))
        self.ids: list[list[str]] = [[] for _ in range(THREADS)]
        self.waiting: list[dict[str, list[int]]] = [{} for _ in range(THREADS)]
        self.broke: list[str] = []

    def run(self) -> None:
        threads = [threading.Thread(target=self.work, args=(i,), daemon=True) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        ends = time.monotonic() + 900.0
        for thread in threads:
            thread.join(max(0.0, ends - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            self.broke.append("threads wait for each other")
        else:
            self.check()

    def work(self, thread: int) -> None:
        generator = random.Random(thread)
        try:
            for _ in range(self.calls):
                self.step(thread, generator)
        except BaseException as error:
            self.broke.append(f"thread {thread}: {error!r}")

    def step(self, thread: int, generator: random.Random) -> None:
        learner, waiting, turn = self.learner, self.waiting[thread], generator.random()
        single = len(self.recorded.policies) == 1
        if turn < 0.36 or not waiting:
            self.ask(thread, generator)
        elif turn < 0.84:
            self.tell(thread, generator)
        elif turn < 0.88:
            id = generator.choice(list(waiting))
            learner.cancel(id)
            del waiting[id]
        elif turn < 0.93:
            item, weight = generator.randrange(N_ITEMS), generator.randrange(-4096, 12289) / 4096
            learner.observe([item, item], [weight, 1.0])
            self.book(thread, {item: weight})
            self.book(thread, {item: 1.0})
        elif turn < 0.95 and not single:
            item = generator.randrange(N_ITEMS)
            learner.observe(counts={item: 4}, sums={item: 2.0}, squares={item: 3.0})
            self.counts[thread, item] += 4
            self.sums[thread, item] += 2.0
        elif turn < 0.955 and not single:
            learner.change_policy(generator.choice(self.recorded.policies))
        elif turn < 0.96:
            learner.expire(3600.0)
        elif turn < 0.99:
            _ = learner.counts, learner.estimates, learner.best(), learner.outstanding, learner.clipped, repr(learner)
        else:
            learner.save(self.path)

    def ask(self, thread: int, generator: random.Random) -> None:
        turn = generator.random()
        options: dict[str, Any] = {}
        if turn < 0.2:
            options["feasible"] = generator.choice(OTHERS)
        if 0.15 < turn < 0.3:
            options["available"] = sorted({7, *generator.sample(range(N_ITEMS), 8)})
        if turn > 0.9:
            options["n"] = generator.randrange(1, 5)
        if 0.3 < turn < 0.32:
            with pytest.raises(errors.EmptyFeasibleSet):
                self.learner.ask(available=[1], feasible=OTHERS[2])
            return
        made: Any = self.learner.ask(**options)
        for decision in made if "n" in options else [made]:
            self.ids[thread].append(decision.id)
            self.waiting[thread][decision.id] = decision.items.tolist()

    def tell(self, thread: int, generator: random.Random) -> None:
        learner, waiting = self.learner, self.waiting[thread]
        id = generator.choice(list(waiting))
        some = generator.sample(waiting[id], max(1, len(waiting[id]) - max(0, generator.randrange(-8, 4))))
        weights = {item: generator.randrange(-4096, 12289) / 4096 for item in some}  # whose sums are exact
        said = {item: weight if generator.random() < 0.9 else 7.5 for item, weight in weights.items()}
        taken = {item: min(weight, 3.0) for item, weight in said.items()}
        if learner.tell(id, said) != len(some) or learner.tell(id, said) != 0:
            self.broke.append(f"{id} was told {some} and did not take them in once")
        self.book(thread, taken)
        for item, weight in said.items():
            self.clipped[thread, item] += weight > 3.0
        waiting[id] = [item for item in waiting[id] if item not in said]
        if not waiting[id]:
            del waiting[id]

    def book(self, thread: int, weights: dict[int, float]) -> None:
        for item, weight in weights.items():
            self.counts[thread, item] += 1
            self.sums[thread, item] += weight

    def check(self) -> None:
        learner, ids = self.learner, [id for own in self.ids for id in own]
        totals = learner._updates.tally.totals()
        x = (self.sums - BOUNDS[0] * self.counts).sum(axis=0) / (BOUNDS[1] - BOUNDS[0])
        twin, broke = self.recorded.replayed()
        self.broke += broke
        learner.save(self.path)
        loaded = Learner.load(self.path, TOP)
        waiting = {id for own in self.waiting for id in own}
        for what, found, expected in (
            ("ids", len(set(ids)), len(ids)),
            ("rounds", sorted(int(id.split("-")[1]) for id in ids)[-1:], [learner.round]),
            ("counts", totals.counts.tolist(), self.counts.sum(axis=0).tolist()),
            ("sums", totals.sums.tolist(), x.tolist()),
            ("clipped", learner.clipped.tolist(), self.clipped.sum(axis=0).tolist()),
            ("outstanding", {one.id for one in learner.outstanding}, waiting),
            ("outstanding, once saved", {one.id for one in loaded.outstanding}, waiting),
            ("what the plain learner knows", known(learner), known(twin)),
            ("what was saved", known(loaded), known(twin)),
            ("rounds in the making", learner._updates.reserved, {}),
            ("asks heard of", sum(len(e.ids) for e in self.recorded.heard if e.kind == "ask"), len(ids)),
            ("decisions to come", coming(loaded), coming(twin)),
        ):
            if found != expected:
                self.broke.append(f"{what}: {found!r:.300}, expected {expected!r:.300}")


def known(learner: Learner) -> tuple[Any, ...]:
    saved = learner._snapshot()
    return (
        saved.stats,
        saved.policy,
        saved.round,
        saved.tally,
        msgspec.json.encode([saved.init_x, saved.init_round, saved.recent]),
        sorted((one.round, tuple(one.items), str(one.weights)) for one in saved.outstanding),
    )


def coming(learner: Learner) -> list[list[int]]:
    """On which a saved learner and the plain one agree: what they know is the same."""
    return [decision.items.tolist() for decision in learner.ask(n=5)]


@pytest.mark.parametrize("calls", [40, pytest.param(1_250, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", POLICIES)
def test_many_threads_do_what_one_would(name: str, calls: int, tmp_path: Path, campaign: Any) -> None:
    crowd = Crowd(name, calls, tmp_path)
    crowd.run()
    campaign(f"threads beside a plain learner, {name}: {THREADS * calls:,} calls", crowd.broke)
