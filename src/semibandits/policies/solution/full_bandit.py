"""Ridge regression, for policies that see only the sum over the chosen items and look at every solution.

A solution is a vector a of zeros and ones. Ridge regression of the sums y on these vectors, with weights of 1/2 where
nothing is known, has

    V = lam I + Σ aa',    θ̂ = ½ + V⁻¹ Σ a (y - |A|/2)

and both V⁻¹ and θ̂ change with an observation by u = V⁻¹a alone (Sherman and Morrison 1950): V⁻¹ by -uu' / (1 + a'u),
θ̂ by u (y - a'θ̂) / (1 + a'u), and det V by the factor 1 + a'u.
"""

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util.checks import check_range
from semibandits.errors import Unsupported
from semibandits.kernel import ln, sqrt
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels
from semibandits.policies.solution.listing import Listing, listing, write_solution
from semibandits.types import FeasibleSet, FeedbackKind, Game, Weights

MOST_ITEMS = 2_000
"""A matrix of so many rows and columns is copied whenever something is learned."""
OFFSET, R, SPREAD, BASE = range(4)


def ridge(lam: Any) -> float:
    """With a smaller one too much would be rounded in the inverse."""
    return check_range("lam", lam, 1e-3, 1e6)


def small(feasible: FeasibleSet, who: str) -> Listing:
    """All solutions of a set that is small enough in every way."""
    instead = "use CombUCB1 or CTS, if the weight of each chosen item can be seen"
    if feasible.n_items > MOST_ITEMS:
        raise Unsupported(
            f"{who} keeps a number for each pair of items, and {feasible!r} has more than {MOST_ITEMS:,}: {instead}"
        )
    return listing(feasible, who, instead)


class Ridge(NamedTuple):
    """A ridge regression of sums on solutions."""

    theta: Weights
    inverse: NDArray[np.float64]
    growth: Weights
    """One number: ln(det V / det lam I)."""
    constants: Weights
    """The game's OFFSET, and R, SPREAD and BASE of `width`."""


class FullBandit(CompiledPolicy):
    """Chooses the solution of the largest θ̂'a + offset · |A| + width · sqrt(a'V⁻¹a); of several, the first listed."""

    lam: float

    feedback: ClassVar[FeedbackKind] = "bandit"
    by_item: ClassVar[tuple[str, ...]] = ("theta", "inverse")

    @abstractmethod
    def width(self, game: Game) -> tuple[float, float, float]:
        """(R, spread, base): the width is R sqrt(ln(det V / det lam I) + spread) + base."""

    def check(self, feasible: FeasibleSet) -> None:
        small(feasible, type(self).__name__)

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        known = small(feasible, type(self).__name__)
        return PolicyKernels(_choose, _learn, (known.members, known.starts), numbers=feasible.n_items)

    def start(self, game: Game, feasible: FeasibleSet) -> Ridge:
        self.check(feasible)
        constants = np.array([game.offset, *self.width(game)])
        return Ridge(np.full(game.n_items, 0.5), np.eye(game.n_items) / self.lam, np.zeros(1), constants)

    def estimates(self, state: Ridge) -> Weights:
        """θ̂: what solutions cannot tell apart is shared out evenly."""
        return state.theta.copy()


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    theta, inverse, growth, constants = state
    members, starts = data
    width = constants[R] * sqrt(growth[0] + constants[SPREAD]) + constants[BASE]
    best = 0
    highest = 0.0
    for j in range(len(starts) - 1):
        worth = 0.0
        square = 0.0
        for a in range(starts[j], starts[j + 1]):
            item = members[a]
            worth += theta[item] + constants[OFFSET]
            with_others = 0.0
            for b in range(starts[j], a):
                with_others += inverse[item, members[b]]
            square += inverse[item, item] + 2.0 * with_others
        index = worth + width * sqrt(max(square, 0.0))
        if j == 0 or index > highest:
            best = j
            highest = index
    return write_solution(best, members, starts, out)


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    theta, inverse, growth, _ = state
    u, _, _ = work
    for i in range(len(theta)):
        u[i] = 0.0
        for k in range(len(items)):
            u[i] += inverse[i, items[k]]
    miss = x[0]
    factor = 1.0
    for k in range(len(items)):
        miss -= theta[items[k]]
        factor += u[items[k]]
    factor = max(factor, 1.0)
    for i in range(len(theta)):
        theta[i] += u[i] * (miss / factor)
        for k in range(len(theta)):
            inverse[i, k] -= u[i] * u[k] / factor
    growth[0] += ln(factor)
