"""Bounds on the regret of CombUCB1 that are tighter than the paper's, by its own argument taken further.

docs/proofs.md proves them. They hold under the paper's conditions: weights in [0, 1], independent from round to round,
alpha = 1.5 and the paper's initialisation, an exact oracle. n is the round (a number or an array), L the number of
items, K the largest size of a solution, `optimal_size` = |A*|; an optimum may be empty. With several optima A* is any
one of them. The idea to amortise is related to Wang and Chen (2017).

With `spans`, as in `theory.kveton2015`, every item counts c_e² times: L - |A*| becomes Σ c_e² over the items outside
the optimum. Where `optimum` does not say which these are, the L - |A*| widest are taken.
"""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_count, check_gap, check_horizons, check_items, check_sizes
from semibandits.errors import BadArgument
from semibandits.theory.ratio import ratio, ratios
from semibandits.theory.terms import PER_ITEM, additive, check_spans, inverse_gaps, largest_sum
from semibandits.types import Scalar, Weights

__all__ = [
    "Cascade",
    "amortised_constant",
    "amortised_item_gaps",
    "cascade",
    "cascade_constant",
    "cascade_one_gap",
    "charge",
    "charge_total",
    "gap_free",
    "item_gap_constant",
    "item_gap_form",
    "one_gap",
    "ratio",
    "ratios",
]

LARGEST_CASCADE = 20_000
"""The largest K for which the best cascade is searched: the time grows as K²."""


class Cascade(NamedTuple):
    """Event i = 1..N: at least κ_i + 1 items of A \\ A* were observed at most α_i log n / Δ² times."""

    constant: float
    """Σ α_i / (κ_i + 1)."""
    thresholds: tuple[int, ...]
    """κ_0 = K > κ_1 > … > κ_N = 0."""
    alphas: tuple[float, ...]
    """α_1 > … > α_N."""


def cascade_constant(K: int) -> float:
    """The least constant c(K) that a cascade of events as in the paper's Theorem 4 can prove; there it is 267 K.

        c(K) = 6 S³,  S = min over K = κ_0 > κ_1 > … > κ_N = 0 of Σ_i (κ_{i-1} - κ_i)^(2/3) (κ_i + 1)^(-1/3)

    >>> [round(cascade_constant(K), 1) for K in (1, 2, 3, 10, 100)]
    [6.0, 24.0, 54.0, 497.6, 13047.8]
    """
    return cascade(K).constant


def cascade(K: int) -> Cascade:
    """The best cascade for solutions of at most K items.

    The counts are whole numbers, so the best thresholds are a shortest path from K to 0. For given thresholds, with
    d_i = κ_{i-1} - κ_i, the best α_i are 6 S² (d_i (κ_i + 1))^(2/3). They meet √6 Σ d_i / √α_i = 1.

    >>> cascade(8).thresholds
    (8, 2, 0)
    """
    K = check_count("K", K, BadArgument)
    if K > LARGEST_CASCADE:
        raise BadArgument(f"cascades are searched for K up to {LARGEST_CASCADE:,}, got {K}: see amortised_constant")
    length, following = _shortest_paths(min(1 << (K - 1).bit_length(), LARGEST_CASCADE))
    thresholds = [K]
    while thresholds[-1] > 0:
        thresholds.append(int(following[thresholds[-1]]))
    kappa = np.array(thresholds)
    alphas = 6.0 * length[K] ** 2 * ((kappa[:-1] - kappa[1:]) * (kappa[1:] + 1.0)) ** (2.0 / 3.0)
    return Cascade(6.0 * float(length[K]) ** 3, tuple(thresholds), tuple(alphas.tolist()))


@cache
def _shortest_paths(limit: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each K up to the limit the length S of the best path to 0, and the next threshold on it."""
    numbers = np.arange(limit + 1.0)
    drop = numbers[::-1] ** (2.0 / 3.0)  # of limit - j
    level = (numbers + 1.0) ** (-1.0 / 3.0)
    length, following = np.zeros(limit + 1), np.zeros(limit + 1, dtype=np.int64)
    for k in range(1, limit + 1):
        through = drop[limit - k : limit] * level[:k] + length[:k]
        following[k] = through.argmin()
        length[k] = through[following[k]]
    return length, following


def amortised_constant(K: int) -> float:
    """6 · min over q of `charge_total`: 24 (K - 1), at q = 1/(K - 2); for K = 1, as q grows, 6."""
    K = check_count("K", K, BadArgument)
    return 24.0 * (K - 1) if K > 1 else 6.0


def charge(y: ArrayLike, K: int, q: float) -> Scalar:
    """h(y) = clip((1 + qK) y - q, 0, 1): at most K numbers whose sum is at least 1 are charged at least 1 in all.

    >>> charge([0.25, 0.25, 0.5], K=4, q=0.5).tolist()
    [0.25, 0.25, 1.0]
    """
    K, q = check_count("K", K, BadArgument), check_gap(q, "q")
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadArgument(f"y must be one or more numbers, got {y!r:.200}") from error
    return np.clip((1.0 + q * K) * numbers - q, 0.0, 1.0)


def charge_total(K: int, q: float) -> float:
    """∫ h(y) 2 y⁻³ dy from 0 to ∞: (1 + qK)² / (q (1 + q))."""
    K, q = check_count("K", K, BadArgument), check_gap(q, "q")
    return (1.0 + q * K) ** 2 / (q * (1.0 + q))


def one_gap(
    n: ArrayLike,
    L: int,
    K: int,
    gap: float,
    optimal_size: int,
    *,
    spans: ArrayLike | None = None,
    optimum: ArrayLike | None = None,
) -> Scalar:
    """When *every* suboptimal solution has the same gap Δ:

        R(n) ≤ 24 (K - 1) (L - |A*|) log n / Δ + (π²/3 + 1) K L        (K = 1: 6 instead of 24 (K - 1))

    The paper's Theorem 4 has 267 K L. Where gaps differ, the least one does not serve here: see `item_gap_form`.

    >>> round(float(one_gap(10**5, L=20, K=4, gap=0.4, optimal_size=4)))
    33500
    """
    return _with_constant(amortised_constant(K), n, L, K, gap, optimal_size, spans, optimum)


def cascade_one_gap(
    n: ArrayLike,
    L: int,
    K: int,
    gap: float,
    optimal_size: int,
    *,
    spans: ArrayLike | None = None,
    optimum: ArrayLike | None = None,
) -> Scalar:
    """As `one_gap` with c(K), the best that the paper's own cascade of events can do:

    R(n) ≤ c(K) (L - |A*|) log n / Δ + (π²/3 + 1) K L
    """
    return _with_constant(cascade_constant(K), n, L, K, gap, optimal_size, spans, optimum)


def item_gap_form(n: ArrayLike, L: int, K: int, item_gaps: ArrayLike, *, spans: ArrayLike | None = None) -> Scalar:
    """By the least gap of each item outside the optimum (NaN and inf are not counted):

        R(n) ≤ 24 K log n Σ_e 1/Δ_{e,min} + (π²/3 + 1) K L

    The paper's Theorem 5 has 534 K. `ratio` is at most this.
    """
    return _by_item_gaps(24.0 * check_sizes(L, K)[1], n, L, K, item_gaps, spans)


def item_gap_constant(K: int) -> float:
    """6 · min over q of (1 + qK)² (1 + 2q) / (q (1 + q)²), which `amortised_constant` becomes where gaps differ.

    The best q solves (3K - 4) q² + (K - 3) q = 1. For K = 1 it is 12, as q grows; it is less than 24 K.

    >>> [round(item_gap_constant(K), 1) for K in (1, 2, 3, 10, 100)]
    [12.0, 40.5, 66.5, 238.0, 2399.8]
    """
    K = check_count("K", K, BadArgument)
    if K == 1:
        return 12.0
    q = (3.0 - K + math.sqrt(K * K + 6.0 * K - 7.0)) / (6.0 * K - 8.0)
    return 6.0 * (1.0 + q * K) ** 2 * (1.0 + 2.0 * q) / (q * (1.0 + q) ** 2)


def amortised_item_gaps(
    n: ArrayLike, L: int, K: int, item_gaps: ArrayLike, *, spans: ArrayLike | None = None
) -> Scalar:
    """As `item_gap_form` with a smaller constant, `item_gap_constant(K)` instead of 24 K:

    R(n) ≤ c(K) log n Σ_e 1/Δ_{e,min} + (π²/3 + 1) K L
    """
    return _by_item_gaps(item_gap_constant(K), n, L, K, item_gaps, spans)


def gap_free(
    n: ArrayLike,
    L: int,
    K: int,
    optimal_size: int,
    *,
    spans: ArrayLike | None = None,
    optimum: ArrayLike | None = None,
) -> Scalar:
    """Whatever the gaps:

        R(n) ≤ 2 √6 sqrt(K (L - |A*|) n log n) + (π²/3 + 1) K L

    The paper's Theorem 6 has 47 sqrt(K L n log n).
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    outside = _outside(L, K, optimal_size, c, optimum)
    return 2.0 * math.sqrt(6.0) * np.sqrt(K * outside * n * np.log(n)) + additive(PER_ITEM, L, K, c)


def _with_constant(
    constant: float,
    n: ArrayLike,
    L: int,
    K: int,
    gap: float,
    optimal_size: int,
    spans: ArrayLike | None,
    optimum: ArrayLike | None,
) -> Scalar:
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    outside = _outside(L, K, optimal_size, c, optimum)
    return constant * outside / check_gap(gap) * np.log(n) + additive(PER_ITEM, L, K, c)


def _by_item_gaps(
    constant: float, n: ArrayLike, L: int, K: int, item_gaps: ArrayLike, spans: ArrayLike | None
) -> Scalar:
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return constant * inverse_gaps(item_gaps, c) * np.log(n) + additive(PER_ITEM, L, K, c)


def _outside(L: int, K: int, optimal_size: int, c: Weights | None, optimum: ArrayLike | None) -> float:
    """Σ c_e² over the items outside the optimum, which is L - |A*| where all spans are 1."""
    size = _check_optimal_size(optimal_size, L, K)
    if optimum is None:
        return L - size if c is None else largest_sum(c * c, L - size)
    items = check_items(optimum, L)
    if items.size != size:
        raise BadArgument(f"optimum must have optimal_size = {size} items, got {items.size}")
    return L - size if c is None else float((np.delete(c, items) ** 2).sum())


def _check_optimal_size(optimal_size: Any, L: int, K: int) -> int:
    whole = isinstance(optimal_size, int | np.integer) and not isinstance(optimal_size, bool)
    if not whole or not 0 <= optimal_size <= min(L, K):
        raise BadArgument(f"optimal_size must be an integer from 0 to K = {K}, got {optimal_size!r:.200}")
    return int(optimal_size)
