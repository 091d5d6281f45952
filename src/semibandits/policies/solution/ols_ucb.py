"""Confidence intervals of whole solutions by least squares, for items that depend on each other."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import Begin, check_covariance, check_init, check_not_negative, check_positive
from semibandits.errors import BadArgument
from semibandits.kernel import log, sqrt
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels
from semibandits.policies.solution.listing import FEW, MOST_SOLUTIONS, listing, write_solution
from semibandits.types import FeasibleSet, Game, Weights

LARGEST = 0.25
"""No two numbers in [0, 1] have a larger covariance."""
INSTEAD = (
    f"OLSUCB plays on sets of at most {MOST_SOLUTIONS:,} solutions; "
    "CombUCB1 and KLUCB need nothing but the set's oracle, and hold for dependent items"
)
OFFSET, FACTOR, LAST, LAM, WIDTH = range(5)


class Pairs(NamedTuple):
    """What was seen of each item and of each two, and the constants of the game."""

    sums: Weights
    together: Weights
    """For any two items, in how many rounds both were seen; an item's own count on the diagonal."""
    firsts: Weights
    """The sum of item i's x over the rounds in which i and j were seen. Empty where the covariance is known."""
    products: Weights
    """The sum of the products of both x over these rounds. Empty where the covariance is known."""
    constants: Weights
    """OFFSET, FACTOR = K + 2, LAST = K/2 log(1 + e/lam), LAM, WIDTH."""


@dataclass(frozen=True, repr=False)
class OLSUCB(CompiledPolicy):
    """OLS-UCB (Degenne and Perchet 2016). In round t it chooses the solution A with the largest index

        Σ_A ŵ(i) + sqrt(2 f(t)) · sqrt(lam Σ_{i in A} Γ_ii / n_i + Σ_{i,j in A} Γ_ij n_ij / (n_i n_j))
        f(t) = log t + (K+2) log log t + (K/2) log(1 + e/lam)

    where n_i rounds showed item i, n_ij both items (n_ii = n_i), K is the size of the largest solution and log log t is
    at least 0. The second sum is the variance of Σ_A ŵ(i) if Γ is the covariance matrix of the weights. Independent
    items make it as short as `ESCB`'s interval, items that go up and down together as long as CombUCB1's. It compares
    all solutions, up to 10,000 of them; of tied ones it takes the first of the set's list. Items nobody has seen count
    as seen once, with the largest weight.

    `covariance` is Γ on the scale of x: of weights divided by the width of the bounds, that of the widest pair where
    items have their own (from the least weight of any item to the largest). The authors' theorem wants more of it than
    to be the covariance: log E exp(Σ u_i (x_i - E x_i)) <= u'Γu/2 for all u >= 0, and no entry negative. For
    independent items 1/4 on the diagonal will do. Without it, Γ is estimated,

        Γ_ij = min(1/4, ĉ_ij + sqrt(width · log t / n_ij)),    1/4 where n_ij < 2

    with ĉ_ij the sample covariance (divided by n_ij - 1) over the rounds in which both were seen. What is added keeps
    items from being given up after a few equal weights; width = 2 is what UCB1-Tuned adds to variances (Auer,
    Cesa-Bianchi and Fischer 2002), Hoeffding's inequality asks for 4.5. There is no guarantee for the estimate: also
    the true covariance need not be such a Γ.

    Weights told in parts, and logged ones, count as seen together if they are told in one call.

    The matrix of the second sum and f were found in public code, in different places; that both belong together, with
    the first sum, is from memory, as the paper could not be read.

    >>> import semibandits as sb
    >>> learner = sb.Learner(sb.sets.TopK(3, 2), OLSUCB([[0.2, 0.1, 0.0], [0.1, 0.2, 0.0], [0.0, 0.0, 0.2]]))
    >>> learner.ask().items
    array([0, 1])
    """

    needs = f"{FEW}; the covariance, or estimated"
    guarantee = "between ESCB's and CombUCB1's by the correlation, as others state it; none where it is estimated"
    use = "items whose covariance is known"

    covariance: ArrayLike | None = None
    lam: float = 0.1
    width: float = 2.0
    init: Begin = "all"

    by_item: ClassVar[tuple[str, ...]] = ("sums", "together", "firsts", "products")

    def __post_init__(self) -> None:
        if self.covariance is not None:
            object.__setattr__(self, "covariance", _checked(self.covariance))
        object.__setattr__(self, "lam", check_positive("lam", self.lam))
        if self.lam < 1e-100:
            raise BadArgument(f"lam must be at least 1e-100, got {self.lam!r}")
        object.__setattr__(self, "width", check_not_negative("width", self.width))
        object.__setattr__(self, "init", check_init(self.init))

    def check(self, feasible: FeasibleSet) -> None:
        if self.covariance is not None and len(self._rows) != feasible.n_items:
            n = len(self._rows)
            raise BadArgument(f"covariance must have a row for each of the {feasible.n_items} items, got {n} x {n}")
        listing(feasible, "OLSUCB", INSTEAD)

    def start(self, game: Game, feasible: FeasibleSet) -> Pairs:
        n, k = game.n_items, game.max_size
        last = 0.5 * k * math.log(1.0 + math.e / self.lam)
        estimated = (n, n) if self.covariance is None else (0, 0)
        constants = np.array([game.offset, k + 2.0, last, self.lam, self.width])
        return Pairs(np.zeros(n), np.zeros((n, n)), np.zeros(estimated), np.zeros(estimated), constants)

    def kernels(self, feasible: FeasibleSet) -> PolicyKernels:
        solutions = listing(feasible, "OLSUCB", INSTEAD)
        known = np.zeros((0, 0)) if self.covariance is None else np.array(self._rows)
        return PolicyKernels(_choose, _learn, (*solutions, known), numbers=feasible.n_items**2)

    @property
    def _rows(self) -> tuple[tuple[float, ...], ...]:
        return () if self.covariance is None else self.covariance  # type: ignore[return-value]

    def __repr__(self) -> str:
        n = len(self._rows)
        shown = f"<{n} x {n}>" if n else None
        return f"OLSUCB(covariance={shown}, lam={self.lam!r}, width={self.width!r}, init={self.init!r})"


def _checked(given: Any) -> tuple[tuple[float, ...], ...]:
    """A positive definite matrix, as rows of numbers."""
    matrix = check_covariance(given, ", or leave it out to have it estimated")
    largest = float(np.abs(matrix).max())
    if largest > 1.0:
        raise BadArgument(
            "covariance must be that of weights in [0, 1], at most 1/4: divide it by the square of the width of the "
            f"bounds; got {largest:g}"
        )
    return tuple(tuple(row) for row in matrix.tolist())


def _choose(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    """First what every two items add to the variance, then the solutions."""
    sums, together, _, _, constants = state
    members, starts, known = data
    shares, _, values = work
    n = len(sums)
    log_t = log(round)
    for i in range(n):
        own = max(together[i, i], 1.0)
        values[i] = (sums[i] / own if together[i, i] > 0.0 else 1.0) + constants[OFFSET]
        shares[i * n + i] = (1.0 + constants[LAM]) * covariance(state, known, i, i, log_t) / own
        for j in range(i):
            share = 0.0
            if together[i, j] > 0.0:
                share = 2.0 * covariance(state, known, i, j, log_t) * together[i, j] / (own * together[j, j])
            shares[i * n + j] = share
    twice = 2.0 * (log_t + constants[FACTOR] * log(max(log_t, 1.0)) + constants[LAST])
    best = 0.0
    which = 0
    for s in range(len(starts) - 1):
        value = 0.0
        variance = 0.0
        for a in range(starts[s], starts[s + 1]):
            value += values[members[a]]
            row = members[a] * n
            for b in range(starts[s], a + 1):
                variance += shares[row + members[b]]
        index = value + sqrt(twice * max(variance, 0.0))  # an estimate may be of no true matrix
        if s == 0 or index > best:
            best = index
            which = s
    return write_solution(which, members, starts, out)


def covariance(state: Any, known: Any, i: int, j: int, log_t: float) -> Any:
    """Γ_ij, known or estimated."""
    if len(known) > 0:
        return known[i, j]
    _, together, firsts, products, constants = state
    count = together[i, j]
    if count < 2.0:
        return LARGEST
    estimate = (products[i, j] - firsts[i, j] * firsts[j, i] / count) / (count - 1.0)
    return min(estimate + sqrt(constants[WIDTH] * log_t / count), LARGEST)


def _learn(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    sums, together, firsts, products, _ = state
    for a in range(len(items)):
        i = items[a]
        sums[i] += x[a]
        for b in range(len(items)):
            j = items[b]
            together[i, j] += 1.0
            if len(firsts) > 0:
                firsts[i, j] += x[a]
                products[i, j] += x[a] * x[b]
