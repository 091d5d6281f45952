"""Bounds on the regret of ESCB-2 for independent items, in the limit of many rounds.

ESCB (Combes, Talebi, Proutière and Lelarge, "Combinatorial Bandits Revisited", NIPS 2015) chooses the solution with the
largest ŵ(A) + sqrt(f(t)/2 Σ_A 1/T(e)), f(t) = log t + 4 K log log t: a confidence interval of the whole solution, which
is shorter than the sum of its items' where they are independent. The constants here are not those of that paper, which
could not be checked, but come from a proof of our own (docs/proofs.md, part E). It needs weights in [0, 1], independent
from round to round and from item to item, and solutions chosen exactly; there may be several optima.

R(n) ≤ factor · f(n) + a constant that does not depend on n, but on K and the number of solutions: in the limit the
factor is that of log n, and far from it f(n) is several times log n.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_count, check_gap, check_horizons, check_item_gaps, check_sizes
from semibandits.errors import BadArgument
from semibandits.types import Scalar


def exploration(n: ArrayLike, K: int) -> Scalar:
    """f(n) = log n + 4 K log log n, the second term at least 0.

    >>> exploration([1, 100_000], K=5).round(1).tolist()
    [0.0, 60.4]
    """
    log = np.log(check_horizons(n))
    return log + 4.0 * check_count("K", K, BadArgument) * np.log(np.maximum(log, 1.0))


@cache
def one_gap_constant(K: int) -> float:
    """2 · min over q of (1 + qK) log(1 + 1/q); 2 for K = 1 and 4 for K = 2, as q grows.

    >>> [round(one_gap_constant(K), 2) for K in (1, 2, 10, 100, 1000)]
    [2.0, 4.0, 9.12, 14.92, 20.22]
    """
    return _least(K, lambda q: math.log1p(1.0 / q))


@cache
def item_gap_constant(K: int) -> float:
    """2 · min over q of (1 + qK) (log(1 + 1/q) + 1/(1 + q)); 4 for K = 1, as q grows.

    >>> [round(item_gap_constant(K), 2) for K in (1, 2, 10, 100, 1000)]
    [4.0, 7.06, 11.71, 17.25, 22.46]
    """
    return _least(K, lambda q: math.log1p(1.0 / q) + 1.0 / (1.0 + q))


def one_gap(L: int, K: int, gap: float) -> float:
    """The factor of f(n) where every suboptimal solution has the same gap Δ: `one_gap_constant(K)` L/Δ."""
    L, K = check_sizes(L, K)
    return one_gap_constant(K) * L / check_gap(gap)


def item_gap_form(L: int, K: int, item_gaps: ArrayLike, min_gap: float) -> float:
    """The factor of f(n): `item_gap_constant(K)` Σ_e 1/Δ_{e,min}, over all items that a suboptimal solution contains.

    `item_gaps` and `min_gap` are those of `Problem`: for items of the optimum, NaN, the least gap of all stands in.
    """
    L, K = check_sizes(L, K)
    counted, least = check_item_gaps(item_gaps), check_gap(min_gap, "min_gap")
    optimal = np.count_nonzero(np.isnan(np.asarray(item_gaps, dtype=np.float64)))
    return item_gap_constant(K) * (float((1.0 / counted).sum()) + optimal / least)


def _least(K: int, charged: Callable[[float], float]) -> float:
    """Any q gives a true bound; a search finds the best."""
    from scipy.optimize import minimize_scalar

    K = check_count("K", K, BadArgument)

    def total(log_q: float) -> float:
        q = math.exp(log_q)
        return 2.0 * (1.0 + q * K) * charged(q)

    return float(minimize_scalar(total, bounds=(-30.0, 30.0), method="bounded", options={"xatol": 1e-9}).fun)
