"""Policies that choose whole solutions: such as users write, and every one of the package's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import Decision, Learner, Problem, environments, policies, problems, sets
from semibandits.rng import uniform
from semibandits.types import FeasibleSet, Game, Items, Note, Policy, State, Weights
from support.worlds import CROOKED, LISTED


class Tally(NamedTuple):
    counts: Weights
    worth: Weights
    """Of each item: the sum of x divided by the chance it had."""
    told: NDArray[np.int64]
    """How often it was told something, and how many items of that."""


@dataclass(frozen=True)
class Lottery(Policy):
    """Any solution, all of them alike; the note is the chance that each chosen item had."""

    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return Tally(np.zeros(game.n_items), np.zeros(game.n_items), np.zeros(2, dtype=np.int64))

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        solutions = feasible.listed(1000)
        assert solutions is not None
        items = solutions[int(uniform(key, 0) * len(solutions))]
        return items, chances(solutions, items)

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        after = Tally(*(array.copy() for array in state))
        after.counts[items] += 1.0
        if note is not None:
            after.worth[items] += weights / note
        after.told[:] += (1, items.size)
        return after


def chances(solutions: list[Items], items: Items) -> Weights:
    """The share of these solutions that have each of these items."""
    return np.array([np.mean([item in one for one in solutions]) for item in items.tolist()])


class Call(NamedTuple):
    """What a policy was given, to choose or to learn."""

    feasible: FeasibleSet
    round: int
    key: int
    items: list[int] | None = None
    x: list[float] | None = None
    note: Any = None


class Spy(Lottery):
    """Writes down how it is called: of use to one learner only."""

    def __init__(self, **facts: Any) -> None:
        self.chose: list[Call] = []
        self.learned: list[Call] = []
        self.__dict__.update(facts)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        self.chose.append(Call(feasible, round, key))
        return super().choose(state, feasible, round, key)

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        kept = note.tolist() if isinstance(note, np.ndarray) else note
        self.learned.append(Call(feasible, round, key, items.tolist(), weights.tolist(), kept))
        return super().learn(state, feasible, round, items, weights, None, key)


@dataclass(frozen=True)
class Sums(Policy):
    """Sees sums only: tries every solution in turn, then stays with the best sum."""

    feedback: ClassVar[Any] = "bandit"

    def start(self, game: Game, feasible: FeasibleSet) -> State:
        listed = feasible.listed(1000)
        assert listed is not None
        return (np.full(len(listed), -np.inf), np.array([game.offset]))

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        listed = feasible.listed(1000)
        assert listed is not None
        which = round - 1 if round <= len(listed) else int(np.argmax(state[0]))
        return listed[which], np.array([which])

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        assert weights.shape == (1,)
        worths = state[0].copy()
        worths[note[0]] = weights[0] + state[1][0] * items.size
        return (worths, state[1])


def features(n_items: int) -> NDArray[np.float64]:
    return np.random.default_rng(n_items).random((n_items, 3))


def covariance(n_items: int) -> NDArray[np.float64]:
    return 0.15 * np.eye(n_items) + 0.05


LIVE: dict[str, Callable[[int], Policy]] = {
    "ESCB": lambda n: policies.ESCB("exact"),
    "AESCB": lambda n: policies.ESCB("approximate", steps=40),
    "OLSUCB": lambda n: policies.OLSUCB(),
    "OLSUCB known": lambda n: policies.OLSUCB(covariance(n)),
    "CombLinUCB": lambda n: policies.CombLinUCB(features(n)),
    "CombLinTS": lambda n: policies.CombLinTS(features(n)),
    "FPL": lambda n: policies.FPL(eta=0.1),
    "OSMD": lambda n: policies.OSMD(eta=0.1),
    "OSMD inf": lambda n: policies.OSMD("inf", eta=0.2),
    "HYBRID": lambda n: policies.HYBRID(),
    "COMBAND": lambda n: policies.COMBAND(eta=0.05),
    "OFUL": lambda n: policies.OFUL(),
    "LinUCB": lambda n: policies.LinUCB(),
}
"""By the number of items; none needs the horizon."""
TUNED: dict[str, Policy] = {
    "FPL tuned": policies.FPL(),
    "OSMD tuned": policies.OSMD(),
    "OSMD inf tuned": policies.OSMD("inf"),
    "COMBAND tuned": policies.COMBAND(),
}
"""These do."""
BANDIT = ("COMBAND", "OFUL", "LinUCB", "COMBAND tuned")
NOTED = ("FPL", "OSMD", "OSMD inf", "HYBRID", "COMBAND")
GIVEN = ("CombLinUCB", "CombLinTS")
"""More than a file is to hold: `policy=` must be given."""

spread = np.random.default_rng(9).random

WIDE_PROBLEMS = {
    "top-k": Problem(sets.TopK(7, 3), environments.Bernoulli(spread(7))),
    "restricted top-k": Problem(
        sets.TopK(9, 4).restrict(include=[2], exclude=[0, 7]), environments.Beta(1.0 + spread(9), 1.0)
    ),
    "partition": Problem(
        sets.PartitionMatroid([0, 0, 0, 1, 1, 2, 2, 2], {0: 2, 1: 1, 2: 1}), environments.Bernoulli(spread(8))
    ),
    "grid": problems.grid_path(2, 0.4),
    "listed": Problem(LISTED, environments.Bernoulli(spread(6))),
    "costs": Problem(CROOKED, environments.Uniform(2.0 + spread(9), 4.0 + spread(9), bounds=(2.0, 5.0)), sense="min"),
    "rewards": Problem(LISTED, environments.Uniform(-2.0 * spread(6), 3.0 * spread(6), bounds=(-3.0, 5.0))),
    "restricted paths": Problem(
        sets.GridPaths(2).restrict(exclude=[3]), environments.Uniform(np.zeros(12), spread(12)), sense="min"
    ),
    "pairs": Problem(sets.Assignment(3, 3), environments.Bernoulli(spread(9))),
}

EIGHT = sets.Enumerated([[0, 1], [0, 1, 2], [0, 3], [0], [0, 1, 2], [0, 1], [3], [0, 1, 3]])


def known(learner: Learner) -> list[Any]:
    """All that can be seen of a learner, and its state."""
    state = learner._agent.state  # type: ignore[union-attr]
    return [
        learner.round,
        [(one.id, one.items.tolist()) for one in learner.outstanding],
        learner.counts.tolist(),
        str(learner.estimates.tolist()),
        learner.intervals().tolist(),
        [array.tolist() for array in state],
    ]


def asked(learner: Learner, wanted: Callable[[Decision], bool]) -> Decision:
    for _ in range(200):
        decision = learner.ask()
        if wanted(decision):
            return decision
        learner.cancel(decision.id)
    raise AssertionError("never decided")
