"""The feasible set of every round, in a world that says it, and the best solution there."""

import numpy as np

from semibandits import rng
from semibandits._util.identity_cache import RecentCache
from semibandits.agent import Agent
from semibandits.errors import BadArgument
from semibandits.oracle import Span, probed, solve
from semibandits.problem import Problem, check_same_items, check_signs
from semibandits.types import FeasibleSet, Items, Weights

MOST_KNOWN = 256
"""Sets of which the best solution is remembered: a world of so few asks each oracle once."""


def check_sets(problem: Problem, agent: Agent) -> None:
    """Whether the policy can play on all sets that are known beforehand, and whether their oracles are oracles."""
    for one in problem.environment.sets:
        if one is not problem.feasible:
            agent.check_other(one)
        probed(one, Span.of(problem.sense, problem.bounds))


class RoundSets:
    """The sets of the rounds of one run."""

    def __init__(self, problem: Problem, agent: Agent, seed: int, run: int) -> None:
        self._problem, self._agent = problem, agent
        self._stream = rng.stream_key(seed, run, rng.WORLD)
        self._known: RecentCache[int, tuple[FeasibleSet, Weights | None, Items]] = RecentCache(MOST_KNOWN)

    def of(self, round: int) -> FeasibleSet:
        """The set of this round; of one that is new it is seen whether it can be played on."""
        own, world = self._problem.feasible, self._problem.environment
        said = world.feasible(round, int(rng.below(self._stream, round)))
        if said is None or said is own:
            return own
        known = self._known.get(id(said), None)
        if known is None or known[0] is not said:
            if not isinstance(said, FeasibleSet):
                raise BadArgument(f"feasible() of {world!r} must return a FeasibleSet or None, got {said!r:.200}")
            check_same_items(said, own)
            check_signs(said, self._problem.bounds, self._problem.sense)
            self._agent.check_other(said)
            self._known[id(said)] = said, None, np.empty(0, dtype=np.int64)
        return said

    def best(self, feasible: FeasibleSet, means: Weights) -> Items:
        """The oracle's answer on these means."""
        known = self._known.get(id(feasible), None)
        if known is not None and known[0] is feasible and known[1] is not None and np.array_equal(known[1], means):
            return known[2]
        best = solve(feasible, means if self._problem.sense == "max" else -means)
        self._known[id(feasible)] = feasible, means.copy(), best
        return best
