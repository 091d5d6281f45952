"""What can be told of a problem at once: nothing is listed, and an oracle is asked a few times at most."""

import math

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.forks import cached_property
from semibandits.oracle import count_solutions, solve
from semibandits.policies.solution.escb import dynamic_program
from semibandits.policies.solution.full_bandit import MOST_ITEMS
from semibandits.policies.solution.quota_projection import quotas_of
from semibandits.problem import Problem
from semibandits.types import Environment, FeasibleSet, FeedbackKind, means_in
from semibandits.types.sets import subsets

FEW = 1000
"""Solutions that a policy may look at one by one in every round."""
PLANNED = 1000
"""Items that a dynamic program may look at a thousand times in every round."""
UNKNOWN = 1000
"""The round of the only change, in worlds that do not say when they change."""
SOON = 100_000
"""Rounds, where it is not said how many, and the world changes for ever."""
CHANGES = 100
"""Changes that are looked at to see whether another solution becomes the best."""
CALLS = 10
"""The same, at most where the oracle is a user's, and at least if there are more."""
WORK = 20_000
"""Items weighed for this, all in all."""
ROUNDS, CALLED = 500, 50
"""Rounds drawn to see how weights spread: where one call draws them all, and where each takes a call."""
DRAWN = 5_000
"""Numbers drawn for this, all in all, of at most so many items:"""
SAMPLE = 50


class Situation:
    """A problem, for how many rounds, and what is seen of it."""

    def __init__(self, problem: Problem, horizon: int | None, feedback: FeedbackKind) -> None:
        self.problem, self.horizon, self.feedback = problem, horizon, feedback
        self.feasible, self.world = problem.feasible, problem.environment
        self.starts = [int(start) for start in getattr(self.world, "starts", ())] if self.world.drifts else []
        last = 2 * (self.starts or [UNKNOWN])[-1]
        self.rounds = horizon or (last if last <= 100 * SOON else SOON)
        """As many again as until the last change, if nobody says."""

    @property
    def smooth(self) -> bool:
        return bool(getattr(self.world, "smooth", False))

    @property
    def changes(self) -> int:
        """How often the means change in these rounds; once, at a guess, in a world that drifts and does not say."""
        if not self.world.drifts or self.starts:
            return sum(1 < start <= self.rounds for start in self.starts)
        return 1

    @cached_property
    def at_rest(self) -> Environment:
        """The world, where it does not change."""
        return self.world.at(1) if self.world.drifts else self.world

    @property
    def independent(self) -> bool:
        return self.at_rest.independent

    @cached_property
    def spread(self) -> float | None:
        """That of independent items; None: they are coins, or not known to be independent."""
        return spread(self.at_rest) if self.independent else None

    @property
    def same_best(self) -> bool:
        """Whether, in a world that changes in steps, one solution is best all along: then what is old is not outdated.

        False also where it would take long to see.
        """
        feasible, world = self.feasible, self.world
        starts = [start for start in self.starts if start <= self.rounds]
        if not starts or getattr(world, "smooth", True) or feasible.ratio < 1.0 or not has_hull(feasible):
            return False
        asked = starts[: min(CALLS if feasible.foreign else CHANGES, WORK // feasible.n_items)]
        if len(asked) < min(len(starts), CALLS) or count_solutions(feasible, FEW) is None:
            return False
        sign = 1.0 if self.problem.sense == "max" else -1.0
        first, *later = (sign * means_in(world, start) for start in asked)
        best = solve(feasible, first)
        return all(np.array_equal(solve(feasible, means), best) for means in later)


def few(feasible: FeasibleSet, limit: int = FEW) -> bool | None:
    """Whether a policy that looks at every solution can play on this set; None: only a search could tell."""
    if feasible.n_items > MOST_ITEMS:
        return False
    counted = count_solutions(feasible, limit)
    if counted is not None:
        return counted <= limit
    if feasible.ratio < 1.0 or not feasible.promised:
        return False  # some would be overlooked
    if not feasible.foreign and subsets(feasible.n_items, 0, feasible.max_size, limit) <= limit:
        return True
    return None


def has_hull(feasible: FeasibleSet) -> bool:
    """Whether the convex hull of the solutions is known, for sure."""
    return quotas_of(feasible) is not None or few(feasible) is True


def has_tradeoffs(feasible: FeasibleSet) -> bool:
    """Whether totals can be traded off against each other for all solutions at once, for sure."""
    return few(feasible) is True or (feasible.n_items <= PLANNED and dynamic_program(feasible) is not None)


def spread(world: Environment) -> float | None:
    """The largest standard deviation of an item's weights, relative to the bounds; None: they are coins.

    It is that of numbers drawn, unless the covariance is known.
    """
    lo, hi = world.bounds
    covariance = getattr(world, "covariance", None)
    if isinstance(covariance, np.ndarray):
        deviation = math.sqrt(covariance.diagonal().max())
    else:
        drawn = _drawn(world)
        if ((drawn == lo) | (drawn == hi)).all():
            return None
        deviation = float(drawn.std(axis=0).max())
    return min(max(math.ceil(100.0 * deviation / (hi - lo)) / 100.0, 0.01), 0.5)


def _drawn(world: Environment) -> NDArray[np.float64]:
    """Weights of some items in some rounds."""
    n_items = min(world.n_items, SAMPLE)
    items = np.arange(n_items) * world.n_items // n_items
    last = min(DRAWN // n_items, ROUNDS if world.batched else CALLED, world.last_round or ROUNDS)
    keys = rng.keys(0, 0, 1, last, rng.WORLD)
    if world.batched:
        return np.asarray(world.weights(1, keys[:, None], items))
    return np.array([world.weights(round, key, items) for round, key in enumerate(keys.tolist(), 1)])
