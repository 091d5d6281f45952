"""The baseline that knows the means."""

from typing import Protocol, runtime_checkable

import numpy as np

from semibandits.errors import BadArgument
from semibandits.kernel import as_index
from semibandits.policies.index.counted import Counted
from semibandits.problem import Problem
from semibandits.types import Clock, Environment, FeasibleSet, Game, Items, Params, Scalar, Stats, Weights


class Clairvoyant(Counted):
    """Chooses what is best under the true means of a `Problem`, in every round anew where they drift: no regret.

    >>> import semibandits as sb
    >>> problem = sb.problems.grid_path(m=2, sigma=0.4)
    >>> sb.simulate(problem, Clairvoyant(problem), horizon=100, runs=2, seed=0).regret[0, :, -1]
    array([0., 0.])
    """

    needs = "the true means"
    guarantee = "no regret"
    use = "a baseline: what could be had at best"
    formula = "the true mean"

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem, Problem):
            raise BadArgument(f"Clairvoyant needs the problem whose means it is to know, got {problem!r:.200}")
        world = problem.environment
        starts, rows, slopes = _pieces(world)
        lo, hi = problem.bounds
        width = np.where(np.less(lo, hi), np.subtract(hi, lo), np.inf)  # what is known has x = 0
        least = problem.sense == "min"
        self._n_items = world.n_items
        self._starts = starts
        self._rows = (hi - rows) / width if least else (rows - lo) / width
        self._slopes = slopes / (-width if least else width)

    def check(self, feasible: FeasibleSet) -> None:
        if feasible.n_items != self._n_items:
            raise BadArgument(f"Clairvoyant knows {self._n_items} means, the set has {feasible.n_items} items")

    def params(self, game: Game) -> Params:
        return (self._starts, self._rows, self._slopes)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        piece = -1.0
        for start in p[0]:
            piece += 1.0 if start <= round else 0.0
        return (piece, round - p[0][as_index(piece)])

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        piece = as_index(c[0])
        return p[1][piece, item] + p[2][piece, item] * c[1]


@runtime_checkable
class Piecewise(Protocol):
    """Means that stay, or move along straight lines, between certain rounds: `environments.Drifting`."""

    starts: Items
    rows: Weights
    slopes: Weights


def _pieces(world: Environment) -> tuple[Weights, Weights, Weights]:
    """First rounds, the means then, and how much they change from round to round."""
    if not world.drifts:
        return np.ones(1), np.array(world.means)[None], np.zeros((1, world.n_items))
    if not isinstance(world, Piecewise):
        raise BadArgument(f"Clairvoyant knows the means of environments.Drifting only, got {world!r:.200}")
    return world.starts.astype(np.float64), world.rows, world.slopes
