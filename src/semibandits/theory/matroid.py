"""Bounds on the regret of CombUCB1 and OMM where the solutions are the bases of a matroid.

OMM is Optimistic Matroid Maximization of Kveton, Wen, Ashkan, Eydgahi and Eriksson, "Matroid Bandits: Fast
Combinatorial Optimization with Learning" (UAI 2014): greed with U_t(e) = ŵ(e) + sqrt(2 log t / T(e)), which is CombUCB1
with alpha = 2 (but for log(t-1), which the proof covers as well). The proof is theirs in spirit; this one holds for any
alpha > 1, and all constants here come from it. Those of the theorems of 2014 were not verified and are not used;
neither is their definition of the gaps of an item.

The bounds hold for weights in [0, 1], independent from round to round but not from item to item, and an exact oracle;
there may be several optima. n is the round, L the number of items, K the size of a basis.

Proof. Let A* be an optimum, c = sqrt(alpha log n / T(e)) and A_t the choice of round t.
1. The confidence interval of some item is wrong in at most 2 ζ(2 alpha - 1) L rounds, in expectation: t rounds after
   the first, by Hoeffding's inequality with probability 2 t^(-2 alpha) for each item and each of at most t values of
   its counter. At most L rounds go to Init, or contain an item not seen before. Each of these rounds loses at most K.
   In all others:
2. There is a bijection σ from A_t \\ A* to A* \\ A_t such that A_t - e + σ(e) is a basis for every e (Brualdi 1969).
   A_t is best for U_t, so U_t(e) ≥ U_t(σ(e)), and w̄(e) + 2 c ≥ U_t(e) ≥ U_t(σ(e)) ≥ w̄(σ(e)). The round loses the sum
   of w̄(σ(e)) - w̄(e) over e. What is not positive is no loss; a positive difference Δ is at most 2 c, and so
   T(e) ≤ C/Δ² with C = 4 alpha log n, and at least Δ_e, the least positive difference between an item of A* and e.
3. So item e loses at most sqrt(C/s) when it is chosen with T(e) = s, only if s ≤ C/Δ_e², and once for every s, as the
   counter then grows: at most Σ_s sqrt(C/s) ≤ 2 C/Δ_e = 8 alpha log n / Δ_e in all.
4. Whatever the gaps, Σ_t Σ_{A_t \\ A*} 2 c ≤ Σ_e 4 sqrt(alpha T_n(e) log n) ≤ 4 sqrt(alpha K L n log n).

With `spans` c_e, as in `theory.kveton2015`, the radius of item e is c_e times as large. An exchange compares two items,
and the loss is charged to e, so that C becomes C c_e² in 2 and 3: e loses at most 8 alpha c_e² log n / Δ_e. In 4,
Σ_e c_e sqrt(T_n(e)) ≤ sqrt(Σ_e c_e² K n): Σ c_e² takes the place of L.
"""

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_horizons, check_sizes
from semibandits.errors import BadArgument, Unsupported
from semibandits.problem import Problem
from semibandits.sets.base import FREE
from semibandits.sets.matroid import MatroidSet
from semibandits.theory.terms import PER_ITEM, additive, check_spans, inverse_gaps, squares
from semibandits.types import FeasibleSet, Scalar, Weights

OMM_PER_ITEM = 2.0 * 1.2020569031595942 + 1.0
"""As `PER_ITEM`, for alpha = 2: Init takes one round, wrong confidence intervals 2 ζ(3), ζ(3) = 1.2020..."""


def is_matroid_bases(feasible: FeasibleSet) -> bool:
    """Whether the solutions are all bases of a matroid by construction.

    What the user says is a `sets.Matroid` is taken for one. A restricted set counts as none, nor do sets that only
    happen to be one.

    >>> from semibandits import sets
    >>> is_matroid_bases(sets.TopK(5, 2)), is_matroid_bases(sets.TopK(5, 2, bases=False))
    (True, False)
    """
    return isinstance(feasible, MatroidSet) and feasible.bases and bool((feasible._state == FREE).all())


def exchange_gaps(problem: Problem) -> Weights:
    """Δ_e: for every item the least positive difference to an item of `Problem.optimum` that is better than it.

    NaN for the items of the optimum, inf where none of them is better, and for items that no solution contains.
    Differences up to `Problem.tolerance` count as ties. These are not `Problem.item_gaps`: those compare solutions,
    these two items, whether one can take the place of the other or not.

    >>> import semibandits as sb
    >>> problem = sb.Problem(sb.sets.TopK(4, 2), sb.environments.Bernoulli([0.9, 0.8, 0.5, 0.8]))
    >>> exchange_gaps(problem).round(12).tolist()
    [nan, nan, 0.3, 0.1]
    """
    if not isinstance(problem, Problem):
        raise BadArgument(f"problem must be a Problem, got {problem!r:.200}")
    if not is_matroid_bases(problem.feasible):
        raise Unsupported(
            f"the solutions must be the bases of a matroid; those of {problem.feasible!r} are not known to"
        )
    means = problem.signed_means
    optimal = np.append(np.sort(means[problem.optimum]), np.inf)
    gaps: Weights = optimal[np.searchsorted(optimal, means + problem.tolerance, side="right")] - means
    gaps[problem.feasible.uncovered()] = np.inf
    gaps[problem.optimum] = np.nan
    return gaps


def combucb1(n: ArrayLike, L: int, K: int, exchange_gaps: ArrayLike, *, spans: ArrayLike | None = None) -> Scalar:
    """CombUCB1 with alpha = 1.5, on the bases of a matroid:

        R(n) ≤ Σ_e 12/Δ_e log n + (π²/3 + 1) K L,    over items e outside the optimum, Δ_e of `exchange_gaps`

    >>> combucb1([1, 1000], L=4, K=2, exchange_gaps=[np.nan, np.nan, 0.5, 0.25]).round(1).tolist()
    [34.3, 531.7]
    """
    return _with_constant(12.0, PER_ITEM, n, L, K, exchange_gaps, spans)


def omm(n: ArrayLike, L: int, K: int, exchange_gaps: ArrayLike, *, spans: ArrayLike | None = None) -> Scalar:
    """OMM, that is CombUCB1 with alpha = 2, on the bases of a matroid:

        R(n) ≤ Σ_e 16/Δ_e log n + (2 ζ(3) + 1) K L,    over items e outside the optimum, Δ_e of `exchange_gaps`

    >>> omm([1, 1000], L=4, K=2, exchange_gaps=[np.nan, np.nan, 0.5, 0.25]).round(1).tolist()
    [27.2, 690.4]
    """
    return _with_constant(16.0, OMM_PER_ITEM, n, L, K, exchange_gaps, spans)


def omm_gap_free(n: ArrayLike, L: int, K: int, *, spans: ArrayLike | None = None) -> Scalar:
    """OMM, whatever the gaps (and whatever the feasible set):

        R(n) ≤ 4 sqrt(2 K L n log n) + (2 ζ(3) + 1) K L

    >>> omm_gap_free([1, 1000], L=12, K=4).round(1).tolist()
    [163.4, 3420.7]
    """
    n = check_horizons(n)
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return 4.0 * np.sqrt(2.0 * K * squares(c, L) * n * np.log(n)) + additive(OMM_PER_ITEM, L, K, c)


def _with_constant(
    factor: float, per_item: float, n: ArrayLike, L: int, K: int, exchange_gaps: ArrayLike, spans: ArrayLike | None
) -> Scalar:
    L, K = check_sizes(L, K)
    c = check_spans(spans, L)
    return factor * inverse_gaps(exchange_gaps, c) * np.log(check_horizons(n)) + additive(per_item, L, K, c)
