"""Bounds on the regret of CombUCB1: Kveton, Wen, Ashkan and Szepesvári, "Tight Regret Bounds for Stochastic
Combinatorial Semi-Bandits" (AISTATS 2015).

They hold for weights in [0, 1], independent from round to round, CombUCB1 with the paper's alpha = 1.5 and
initialisation, and an exact oracle. n is the round (a number or an array), L the number of items, K the largest size of
a solution. `item_gaps` are Δ_{e,min} of the items outside the optimum, as `Problem.item_gaps` has them: NaN and inf are
not counted. The lower bounds hold for other algorithms too.

With `spans`, one c_e for every item, weights are in [0, c_e] and radii c_e times as large. Every item then counts c_e²
times (docs/proofs.md): L becomes Σ c_e², and Σ 1/Δ_e becomes Σ c_e²/Δ_e. In the term that does not grow, the sum of the
K largest c_e takes the place of K. A c_e of 0 says that the weight is known.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_count, check_gap, check_horizons, check_sizes, is_number
from semibandits.errors import BadArgument
from semibandits.theory.terms import PER_ITEM, additive, check_spans, inverse_gaps, squares
from semibandits.types import Scalar, Weights

# Upper bounds


def theorem_2(n: ArrayLike, L: int, K: int, gap: float, *, spans: ArrayLike | None = None) -> Scalar:
    """Where every suboptimal solution has the same gap Δ:

        R(n) ≤ K^(4/3) L 48/Δ log n + (π²/3 + 1) K L

    >>> theorem_2([1, 1000], L=12, K=4, gap=0.5).round(1).tolist()
    [205.9, 50734.4]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return K ** (4.0 / 3.0) * squares(c, L) * 48.0 / check_gap(gap) * np.log(n) + additive(PER_ITEM, L, K, c)


def theorem_3(n: ArrayLike, L: int, K: int, item_gaps: ArrayLike, *, spans: ArrayLike | None = None) -> Scalar:
    """Whatever the gaps, and tighter than Theorem 5 up to K = 172:

        R(n) ≤ Σ_e K^(4/3) 96/Δ_{e,min} log n + (π²/3 + 1) K L,    over items e outside the optimum

    >>> theorem_3([1, 1000], L=4, K=2, item_gaps=[np.nan, np.nan, 0.5, 0.25]).round(1).tolist()
    [34.3, 10060.4]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return K ** (4.0 / 3.0) * 96.0 * inverse_gaps(item_gaps, c) * np.log(n) + additive(PER_ITEM, L, K, c)


def theorem_4(n: ArrayLike, L: int, K: int, gap: float, *, spans: ArrayLike | None = None) -> Scalar:
    """Where every suboptimal solution has the same gap Δ:

        R(n) ≤ K L 267/Δ log n + (π²/3 + 1) K L

    >>> theorem_4([1, 1000], L=12, K=4, gap=0.5).round(1).tolist()
    [205.9, 177265.5]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return K * squares(c, L) * 267.0 / check_gap(gap) * np.log(n) + additive(PER_ITEM, L, K, c)


def theorem_5(n: ArrayLike, L: int, K: int, item_gaps: ArrayLike, *, spans: ArrayLike | None = None) -> Scalar:
    """Whatever the gaps:

        R(n) ≤ Σ_e K 534/Δ_{e,min} log n + (π²/3 + 1) K L,    over items e outside the optimum

    >>> theorem_5([1, 1000], L=4, K=2, item_gaps=[np.nan, np.nan, 0.5, 0.25]).round(1).tolist()
    [34.3, 44299.2]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return K * 534.0 * inverse_gaps(item_gaps, c) * np.log(n) + additive(PER_ITEM, L, K, c)


def theorem_6(n: ArrayLike, L: int, K: int, *, spans: ArrayLike | None = None) -> Scalar:
    """Whatever the gaps:

        R(n) ≤ 47 sqrt(K L n log n) + (π²/3 + 1) K L

    >>> theorem_6([1, 1000], L=12, K=4).round(1).tolist()
    [205.9, 27269.6]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return 47.0 * np.sqrt(K * squares(c, L) * n * np.log(n)) + additive(PER_ITEM, L, K, c)


def grid_path_bound(n: ArrayLike, m: int, sigma: float) -> Scalar:
    """On the grid-path problem of Section 7 the log term of Theorem 5 is below 4272 m² log n / σ; no additive term."""
    n = check_horizons(n)
    m, sigma = _check_grid(m, sigma)
    return 4272.0 * m * m * np.log(n) / sigma


class Additive(NamedTuple):
    """The two terms of Lemma 1 that do not grow."""

    initialisation: float
    failure: float


def lemma_1(L: int, K: int) -> Additive:
    """What may be lost apart from rounds in which A_t is hard to distinguish from the optimum:

        R(n) ≤ E[R̂(n)] + K L + π²/3 K L,    R̂(n) = Σ_{t ≥ t0} Δ_{A_t} 1{Δ_{A_t} ≤ 2 Σ_{e in A_t \\ A*} c_{n,T(e)}}

    K L in the initialisation, at most L rounds; π²/3 K L in rounds in which the mean of some item is outside its
    confidence interval.
    """
    L, K = check_sizes(L, K)
    return Additive(float(K * L), math.pi**2 / 3.0 * K * L)


# Lower bounds


def proposition_1(L: int, K: int, gap: float, *, exact: bool = False) -> float:
    """The least factor of log n that any consistent algorithm can have on the K-path problem, as n grows:

        lim inf R(n) / log n ≥ (L/K - 1) Δ / kl(1/2 - Δ/K, 1/2) ≥ (L - K) K / (4Δ)

    The first of them with `exact`: it is between 1.44 and 2 times the second. L must be a multiple of K and
    0 < Δ/K < 1/2; kl is the divergence of two coins.

    >>> proposition_1(L=6, K=2, gap=0.5), round(proposition_1(L=6, K=2, gap=0.5, exact=True), 3)
    (4.0, 7.645)
    """
    L, K, gap = _check_k_path(L, K, gap)
    simple = (L - K) * K / (4.0 * gap)
    return simple / _divergence(2.0 * gap / K) if exact else simple


def proposition_2(n: ArrayLike, L: int, K: int) -> Scalar:
    """What every algorithm loses on *some* K-path problem, one chosen for this n, with at least two paths:

        R(n) ≥ min(sqrt(K L n), K n) / 20

    No single problem is as hard as this for every n.

    >>> proposition_2([1, 10_000], L=8, K=2).tolist()
    [0.1, 20.0]
    """
    n = check_horizons(n)
    L, K = _check_paths(L, K)
    if L == K:
        raise BadArgument(f"L must be at least 2 K: a single path leaves nothing to learn; got K = {K} and L = {L}")
    return np.minimum(np.sqrt(K * L * n), K * n) / 20.0


# The gaps of the paper's two problems


def k_path_gaps(L: int, K: int, gap: float) -> Weights:
    """Δ_{e,min} on the K-path problem of Section 6, items as in `sets.KPaths`: Δ outside the first path, NaN on it."""
    L, K, gap = _check_k_path(L, K, gap)
    return np.where(np.arange(L) < K, np.nan, gap)


def grid_path_gaps(m: int, sigma: float) -> Weights:
    """Δ_{e,min} on the grid-path problem of Section 7, items as in `sets.GridPaths`; NaN on the optimum.

    The best suboptimal path through an edge to the right, (r, c) to (r, c+1), r < m, runs down the left side to row r,
    right to column c+1, and down to the bottom: it has c + 1 + m - r edges of mean 0.5 - σ/2, each of which costs σ.
    One through an edge down from (r, c), c ≥ 1, has c + m - r of them.

    >>> grid_path_gaps(1, 0.25).tolist()
    [0.5, nan, 0.5, nan]
    """
    m, sigma = _check_grid(m, sigma)
    worse: list[float] = []
    for row in range(m + 1):
        for column in range(m + 1):
            if column < m:
                worse.append(column + 1 + m - row if row < m else np.nan)
            if row < m:
                worse.append(column + m - row if column > 0 else np.nan)
    return sigma * np.array(worse)


# The constants, derived again


def two_event_constant(K: int, alpha: float = 4.0, d: float | None = None) -> float:
    """The factor of L log n / Δ that two events give (Section 4), as a function of their parameters:

        6 (α K²/d + α d² / (√α - 1)²),    α > 1, d > 0 (default: K^(2/3), as in the paper)

    At the paper's α = 4 it is 48 K^(4/3), Theorem 2. It is least at α = 9/4 and d = K^(2/3) / 2: 40.5 K^(4/3).

    >>> round(two_event_constant(8) / 8 ** (4 / 3), 9), round(two_event_constant(8, alpha=2.25, d=2.0) / 16.0, 9)
    (48.0, 40.5)
    """
    K = check_count("K", K, BadArgument)
    d = K ** (2.0 / 3.0) if d is None else d
    if not (is_number(alpha) and is_number(d) and 1.0 < alpha < math.inf and 0.0 < d < math.inf):
        raise BadArgument(f"alpha must be a number > 1 and d a number > 0, got alpha = {alpha!r:.100}, d = {d!r:.100}")
    return 6.0 * (alpha * K**2 / d + alpha * d**2 / (math.sqrt(alpha) - 1.0) ** 2)


def geometric_constant(alpha: float, beta: float) -> float:
    """The factor of K L log n / Δ that the cascade of events gives for geometric sequences, the paper's 267:

        6 ((1 - β) / (√α - β))² α / (β - α),    0 < α < β < √α < 1

    >>> round(geometric_constant(0.1459, 0.2360), 3)
    266.164
    """
    if not (is_number(alpha) and is_number(beta) and 0.0 < alpha < beta < math.sqrt(alpha) < 1.0):
        raise BadArgument(f"0 < alpha < beta < sqrt(alpha) < 1 is wanted, got alpha = {alpha!r:.100}, beta = {beta!r}")
    return float(6.0 * ((1.0 - beta) / (math.sqrt(alpha) - beta)) ** 2 * alpha / (beta - alpha))


class Geometric(NamedTuple):
    """Geometric sequences and the constant they give."""

    alpha: float
    beta: float
    constant: float


def best_geometric() -> Geometric:
    """The least `geometric_constant`, in closed form; the paper found 0.1459, 0.2360 and "< 267" numerically.

    For a given β = r³ the derivative by √α vanishes where α^(3/2) = β², so at α = r⁴. What is left,
    6 (1 + r + r²)² / (r³ (1 - r)), is least where r² + r = 1: r = 1/φ, φ the golden ratio. There 1 + r + r² = 2 and
    1 - r = r², and the constant is 24 φ⁵.

    >>> [round(number, 4) for number in best_geometric()]
    [0.1459, 0.2361, 266.1641]
    """
    golden = (1.0 + math.sqrt(5.0)) / 2.0
    return Geometric(golden**-4, golden**-3, 24.0 * golden**5)


def crossover() -> float:
    """The K below which Theorem 3 is tighter than Theorem 5: 96 K^(4/3) = 534 K at K = (534/96)³ = 172.1."""
    return (534.0 / 96.0) ** 3


# What the arguments have to be


def _divergence(h: float) -> float:
    """kl((1-h)/2, 1/2) / h²; by its series where the two terms would cancel."""
    if h < 1e-4:
        return 0.5 + h * h / 12.0
    return 0.5 * ((1.0 - h) * math.log1p(-h) + (1.0 + h) * math.log1p(h)) / (h * h)


def _check_paths(L: Any, K: Any) -> tuple[int, int]:
    L, K = check_sizes(L, K)
    if L % K:
        raise BadArgument(f"L must be a multiple of K, got K = {K} and L = {L}")
    return L, K


def _check_k_path(L: Any, K: Any, gap: Any) -> tuple[int, int, float]:
    L, K = _check_paths(L, K)
    gap = check_gap(gap)
    if gap / K >= 0.5:
        raise BadArgument(f"gap must be below K/2 = {K / 2}, got {gap}")
    return L, K, gap


def _check_grid(m: Any, sigma: Any) -> tuple[int, float]:
    m = check_count("m", m, BadArgument)
    if not (is_number(sigma) and 0.0 < sigma < 1.0):
        raise BadArgument(f"sigma must be a number between 0 and 1, got {sigma!r:.100}")
    return m, float(sigma)
