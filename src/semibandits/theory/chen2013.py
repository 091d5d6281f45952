"""Bounds on the regret of CUCB: Chen, Wang and Yuan, "Combinatorial Multi-Armed Bandit: General Framework, Results and
Applications" (ICML 2013), Theorems 1 and 2.

CUCB scores an item ŵ(e) + sqrt(3 log t / (2 T(e))): CombUCB1 with alpha = 1.5, but for its log(t-1). The theorems are
for any monotone reward with bounded smoothness f and an approximate oracle; here the reward is the sum of the weights,
f(x) = K x, and the oracle exact. They hold for weights in [0, 1], independent from round to round but not from item to
item, and with several optima. n is the round, L the number of items, K the largest size of a solution.

The theorems were read in notes on the paper, not in the paper itself. For sums both follow from Lemma 1 of Kveton et
al. 2015 (`kveton2015.lemma_1`) in a few lines, for CombUCB1 too. In a round that loses Δ, the least observed item e of
A_t \\ A* has Δ ≤ 2 K sqrt(1.5 log n / T(e)), or T(e) ≤ C/Δ² with C = 6 K² log n; let that item answer for the round. It
does so once for every value s of its counter, and then loses at most sqrt(C/s) and Δ_max, nothing if s > C/Δ_e², Δ_e
the least gap of a solution with e: C (2/Δ_e - 1/Δ_max) in all. Or, if it answers for n_e rounds, at most 2 sqrt(C n_e),
and Σ_e n_e ≤ n gives Theorem 2. So items of the optimum need not be counted; Theorem 1, as published, counts them.
Rounds of Init and of wrong confidence intervals are known before their weights are drawn, so that each loses Δ_max at
most on average.

With `spans` c_e, as in `theory.kveton2015`, the item with the largest c_e / sqrt(T(e)) answers for the round: C becomes
C c_e², so that every item counts c_e² times in the first sum, and L becomes Σ c_e² under the root.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_gap, check_horizons, check_item_gaps, check_sizes
from semibandits.errors import BadArgument
from semibandits.theory.terms import (
    PER_ITEM,
    check_spans,
    inverse_gaps,
    largest_sum,
    lost_rounds,
    squares,
)
from semibandits.types import Scalar, Weights


def theorem_1(
    n: ArrayLike,
    L: int,
    K: int,
    item_gaps: ArrayLike,
    min_gap: float,
    max_gap: float | None = None,
    *,
    spans: ArrayLike | None = None,
) -> Scalar:
    """Σ over all items that some suboptimal solution contains, Δ_e the least gap of those that contain e:

        R(n) ≤ Σ_e 6 K² (2/Δ_e - 1/Δ_max) log n + (π²/3 + 1) L Δ_max

    `item_gaps`, `min_gap` and `max_gap` are those of `Problem`. For items of the optimum, NaN in `item_gaps`, the least
    gap of all stands in; items with gap inf are not counted. The paper's largest gap of a solution with e is replaced
    by Δ_max, the largest of all, and that by K where it is not given: both can but raise the bound.

    >>> gaps = [np.nan, np.nan, 0.5, 0.25]
    >>> theorem_1([1, 1000], L=4, K=2, item_gaps=gaps, min_gap=0.25, max_gap=0.75).round(1).tolist()
    [12.9, 3770.7]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    least, most = check_gap(min_gap, "min_gap"), _check_max_gap(max_gap, K, c)
    if most < least * (1.0 - 1e-9):
        default = f"K = {K}" if c is None else f"{most}"
        given = f"{most}" if max_gap is not None else f"none, that is {default},"
        raise BadArgument(f"max_gap must be at least min_gap, got {given} and {least}")
    check_item_gaps(item_gaps)
    if np.size(item_gaps) != L:
        raise BadArgument(f"item_gaps must have one entry for each of L = {L} items, got {np.size(item_gaps)}")
    gaps = np.asarray(item_gaps, dtype=np.float64)
    optimal, known = _squares_where(np.isnan(gaps), c), _squares_where(np.isfinite(gaps), c)
    inverse = 2.0 * (inverse_gaps(gaps, c) + optimal / least) - (known + optimal) / most
    return 6.0 * K * K * inverse * np.log(n) + lost_rounds(PER_ITEM, L, c) * most


def theorem_2(n: ArrayLike, L: int, K: int, max_gap: float | None = None, *, spans: ArrayLike | None = None) -> Scalar:
    """Whatever the gaps:

        R(n) ≤ 2 K sqrt(6 L n log n) + (π²/3 + 1) L Δ_max

    Δ_max, the largest gap of all, is K where it is not given.

    >>> theorem_2([1, 1000], L=12, K=4).round(1).tolist()
    [205.9, 5847.8]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    most = _check_max_gap(max_gap, K, c)
    return 2.0 * K * np.sqrt(6.0 * squares(c, L) * n * np.log(n)) + lost_rounds(PER_ITEM, L, c) * most


def _check_max_gap(max_gap: Any, K: int, c: Weights | None) -> float:
    if max_gap is None:
        return float(K) if c is None else largest_sum(c, K)
    return check_gap(max_gap, "max_gap")


def _squares_where(counts: NDArray[np.bool_], c: Weights | None) -> float:
    return float(np.count_nonzero(counts)) if c is None else float((c[counts] ** 2).sum())
