"""COMBAND: exponential weights on solutions, from the sums alone, in any world (Cesa-Bianchi and Lugosi 2012)."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util.checks import check_fraction, check_positive
from semibandits._util.identity_cache import IdentityCache
from semibandits.errors import BadArgument
from semibandits.kernel import exp, sqrt
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels
from semibandits.policies.solution.full_bandit import small
from semibandits.policies.solution.listing import FEW, write_solution
from semibandits.rng import uniform
from semibandits.types import FeasibleSet, FeedbackKind, Game, Items, Weights

LEAST_GAMMA = 1e-6
ETA, GAMMA, OFFSET, MIDDLE, HALF = range(5)


class Losses(NamedTuple):
    """What is known of the items' losses."""

    estimates: Weights
    """L̂: of all rounds together."""
    constants: Weights
    """ETA, GAMMA, the game's OFFSET, and the MIDDLE and HALF the width of the range of a solution's worth."""


@dataclass(frozen=True)
class COMBAND(CompiledPolicy):
    """Draws the solution, a vector v of zeros and ones, from exponential weights mixed with the uniform distribution μ:

        p(v) = (1 - gamma) q(v) + gamma / N,    q(v) ∝ exp(-eta L̂'v),    L̂ ← L̂ + c P⁺v,    P = E[vv'] under p

    where N is the number of solutions, c the loss of the one that was drawn, and c P⁺v a vector that expects to be the
    losses of the items, as far as solutions can tell them apart. It is given only the sum of the chosen items' weights,
    and assumes nothing of where they come from.

    The published condition is c in [-1, 1]. So c = (middle - y) / half, where y is what the solution was worth, the
    middle is that of all worths that the bounds allow, and half of their range, whatever the sizes of solutions. Where
    constants are not linear functions of the solutions (they are if all have the same size, or are paths), the
    middle is 0 and half the largest |y|.

    Unless given, gamma = eta B² / λ with B² = K and λ the smallest eigenvalue other than 0 of E[vv'] under μ, as
    published; and eta = sqrt(ln N / ((d + 2 B²/λ) n)), where d is the dimension of what the solutions span. The regret
    is then at most 2 sqrt((d + 2 B²/λ) n ln N), times `half`. Algorithm and constants are from memory; the constants
    agree with the proof, gone through again.
    """

    needs = f"{FEW}; the sum alone; the horizon, or eta"
    guarantee = "2 sqrt((d + 2K/λ) n ln N) times the half range of losses, whatever they are"
    use = "the same against an adversary"

    eta: float | None = None
    gamma: float | None = None

    feedback: ClassVar[FeedbackKind] = "bandit"
    needs_note: ClassVar[bool] = True
    own_set_only: ClassVar[bool] = True
    by_item: ClassVar[tuple[str, ...]] = ("estimates",)
    instead_of_horizon: ClassVar[str] = ": give eta= or gamma="

    def __post_init__(self) -> None:
        if self.eta is not None:
            object.__setattr__(self, "eta", check_positive("eta", self.eta))
        if self.gamma is not None:
            object.__setattr__(self, "gamma", check_fraction("gamma", self.gamma))
            if self.gamma < LEAST_GAMMA:
                raise BadArgument(f"gamma must be at least {LEAST_GAMMA:g}, got {self.gamma!r}")

    @property
    def needs_horizon(self) -> bool:  # type: ignore[override]
        return self.eta is None and self.gamma is None

    def check(self, feasible: FeasibleSet) -> None:
        small(feasible, "COMBAND")

    def rates(self, span: "Span", horizon: int) -> tuple[float, float]:
        """eta and gamma."""
        per_eta = max(span.largest, 1) / span.least
        eta = self.eta
        if eta is None and self.gamma is not None:
            eta = self.gamma / per_eta
        if eta is None:
            eta = math.sqrt(math.log(span.n_solutions) / ((span.items.size + 2.0 * per_eta) * max(horizon, 1)))
            eta = min(eta, 1.0 / per_eta)
        return eta, min(eta * per_eta, 1.0) if self.gamma is None else self.gamma

    def start(self, game: Game, feasible: FeasibleSet) -> Losses:
        span = span_of(feasible)
        ends = np.multiply.outer([game.offset, 1.0 + game.offset], [span.fewest, span.largest])
        low, high = float(ends.min()), float(ends.max())
        middle = 0.5 * (low + high) if span.has_constants else 0.0
        half = max(high - middle, middle - low)
        constants = np.array([*self.rates(span, game.horizon), game.offset, middle, half if half > 0.0 else 1.0])
        return Losses(np.zeros(game.n_items), constants)

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        known, span = small(feasible, "COMBAND"), span_of(feasible)
        data = (known.members, known.starts, span.members, span.starts, span.items, span.projection)
        d = span.items.size
        return PolicyKernels(_choose, _learn, data, note="all", numbers=known.size + d * d + d)


class Span(NamedTuple):
    """What the solutions of a set span, as vectors of zeros and ones."""

    items: Items
    """As many as it has dimensions: a vector in it is known by its entries here."""
    members: Items
    starts: Items
    """What solution j has of these items: their places in `items` are members[starts[j] : starts[j + 1]]."""
    projection: NDArray[np.float64]
    """On the span, for vectors that are 0 but at `items`: a column for each of these."""
    least: float
    """The smallest eigenvalue other than 0 of E[vv'], v uniform."""
    fewest: int
    largest: int
    """Sizes of solutions."""
    n_solutions: int
    has_constants: bool
    """Whether some linear function is 1 at every solution."""


_KNOWN: IdentityCache[Span] = IdentityCache()


def span_of(feasible: FeasibleSet) -> Span:
    if feasible not in _KNOWN:
        _KNOWN[feasible] = _find_span(feasible)
    return _KNOWN[feasible]


def _find_span(feasible: FeasibleSet) -> Span:
    from scipy.linalg import qr  # takes long to import

    known = small(feasible, "COMBAND")
    rows = known.matrix(feasible.n_items)
    values, vectors = np.linalg.eigh(rows.T @ rows)
    nonzero = values > 1e-10 * max(values[-1], 1.0)
    basis = vectors[:, nonzero]
    order = qr(basis.T, mode="r", pivoting=True)[1] if basis.size else np.empty(0, dtype=np.int64)
    items = np.sort(order[: basis.shape[1]]).astype(np.int64)
    place = np.full(feasible.n_items, -1)
    place[items] = np.arange(items.size)
    inside = place[known.members] >= 0
    counted = np.concatenate([[0], np.cumsum(inside)])
    one = basis @ ((basis.T @ rows.sum(axis=0)) / values[nonzero])  # least squares: is v'one = 1 for all v?
    sizes = np.diff(known.starts)
    return Span(
        items=items,
        members=place[known.members][inside],
        starts=counted[known.starts].astype(np.int64),
        projection=np.ascontiguousarray(basis @ basis[items].T),
        least=float(values[nonzero][0]) / known.size if basis.size else 1.0,
        fewest=int(sizes.min()),
        largest=int(sizes.max()),
        n_solutions=known.size,
        has_constants=bool(np.abs(rows @ one - 1.0).max() < 1e-6),
    )


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    members, starts, inner, inner_starts, items, projection = data
    n = len(starts) - 1
    d = len(items)
    numbers, _, _ = work
    p = numbers[:n]
    matrix = numbers[n : n + d * d]
    x = numbers[n + d * d : n + d * d + d]
    weigh(state, members, starts, p)
    chosen = draw(p, uniform(key, 0))
    second_moments(p, inner, inner_starts, d, matrix)
    factorise(matrix, d)
    for i in range(d):
        x[i] = 0.0
    for a in range(inner_starts[chosen], inner_starts[chosen + 1]):
        x[inner[a]] = 1.0
    solve(matrix, d, x)
    for item in range(len(note)):
        total = 0.0
        for i in range(d):
            total += projection[item, i] * x[i]
        note[item] = total
    return write_solution(chosen, members, starts, out)


def weigh(state: Any, members: Any, starts: Any, p: Any) -> None:
    """The chance of every solution."""
    losses, constants = state
    eta, gamma = constants[ETA], constants[GAMMA]
    least = 0.0
    for j in range(len(p)):
        loss = 0.0
        for a in range(starts[j], starts[j + 1]):
            loss += losses[members[a]]
        p[j] = loss
        least = loss if j == 0 else min(least, loss)
    total = 0.0
    for j in range(len(p)):
        p[j] = exp(eta * (least - p[j]))
        total += p[j]
    for j in range(len(p)):
        p[j] = (1.0 - gamma) * (p[j] / total) + gamma / len(p)


def draw(p: Any, u: Any) -> Any:
    """The first number at which the chances add up to more than u."""
    below = 0.0
    for j in range(len(p) - 1):
        below += p[j]
        if u < below:
            return j
    return len(p) - 1


def second_moments(p: Any, inner: Any, starts: Any, d: int, matrix: Any) -> None:
    """E[vv'] at the items that matter: d rows, of which what is right of the diagonal is not written."""
    for i in range(d):
        for k in range(i + 1):
            matrix[i * d + k] = 0.0
    for j in range(len(p)):
        for a in range(starts[j], starts[j + 1]):
            row = inner[a] * d
            for b in range(starts[j], a + 1):
                matrix[row + inner[b]] += p[j]


def factorise(matrix: Any, d: int) -> None:
    """Cholesky's factor in the place of the matrix."""
    for i in range(d):
        for k in range(i):
            total = matrix[i * d + k]
            for m in range(k):
                total -= matrix[i * d + m] * matrix[k * d + m]
            matrix[i * d + k] = total / matrix[k * d + k]
        whole = matrix[i * d + i]
        total = whole
        for m in range(i):
            total -= matrix[i * d + m] * matrix[i * d + m]
        matrix[i * d + i] = sqrt(max(total, 1e-14 * whole))


def solve(factor: Any, d: int, x: Any) -> None:
    """Puts the solution in the place of the right-hand side."""
    for i in range(d):
        for m in range(i):
            x[i] -= factor[i * d + m] * x[m]
        x[i] /= factor[i * d + i]
    for back in range(d):
        i = d - 1 - back
        for m in range(i + 1, d):
            x[i] -= factor[m * d + i] * x[m]
        x[i] /= factor[i * d + i]


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    losses, constants = state
    loss = (constants[MIDDLE] - (x[0] + constants[OFFSET] * len(items))) / constants[HALF]
    for i in range(len(note)):
        losses[i] += loss * note[i]
