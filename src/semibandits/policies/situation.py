"""What can be told of a problem at once: nothing is listed, and an oracle is asked a few times at most."""

import math

import numpy as np

from semibandits import rng
from semibandits._util.forks import cached_property
from semibandits.oracle import count_solutions, solve
from semibandits.policies.solution.escb import dynamic_program
from semibandits.policies.solution.full_bandit import MOST_ITEMS
from semibandits.policies.solution.quota_projection import quotas_of
from semibandits.problem import Problem
from semibandits.types import Environment, FeasibleSet, FeedbackKind, bounds_in, means_in
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

LOOKS = 50
"""At an item: with fewer there is little to be gained by exploring."""
DRAWN = 5
"""Rounds drawn to see whether weights are coins."""


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

    @property
    def few_looks(self) -> bool:
        """Whether the rounds are known, and so few that items are seen 50 times at most, on average."""
        seen = (self.horizon or math.inf) * self.feasible.max_size
        return seen <= LOOKS * self.feasible.n_items

    @cached_property
    def coins(self) -> bool:
        """Whether weights are all or nothing, as far as some rounds show."""
        lo, hi = bounds_in(self.at_rest)
        rounds = range(1, min(DRAWN, self.world.last_round or DRAWN) + 1)
        drawn = np.array([self.at_rest.weights(round, rng.key(0, 0, round, rng.WORLD)) for round in rounds])
        return bool(((drawn == lo) | (drawn == hi)).all())

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
