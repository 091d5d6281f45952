"""The regret of CombUCB1 by each item's worst ratio |A \\ A*| / Δ_A, found with the problem's own oracle.

The bound and why it holds: docs/proofs.md, part C.
"""

import itertools

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_horizons, check_vector
from semibandits._util.effort import CALL, spend
from semibandits.errors import BadArgument, EmptyFeasibleSet, Unsupported
from semibandits.oracle import solve
from semibandits.problem import Problem
from semibandits.sets import Oracle, Product
from semibandits.sets.programs.highs import Searched
from semibandits.theory.terms import PER_ITEM, largest_loss, lost_rounds, one_pair, worst_loss
from semibandits.types import FeasibleSet, Scalar, Weights, total

EVALUATIONS = 1000
"""How often `best_with_each` is asked at most; an item that is not finished by then has a slightly too large ratio."""
SMALLEST_PART = 1e-6
"""Of the widest span. Any parts give a true bound; with smaller ones sums would be too coarse."""
CLOSE = 1e-10
"""Relative distance between the two sides of a ratio at which it is finished; where they meet they are equal."""


def ratio(problem: Problem, n: ArrayLike) -> Scalar:
    """Whatever the gaps, with s = hi - lo the width of the weights' bounds, and Ẽ = E \\ A*:

        R(n) ≤ 24 s² log n Σ_{e ∈ Ẽ} max_{A ∋ e} |A \\ A*| / Δ_A + (π²/3 + 1) K L · the most an item can lose

    On the paper's grid Δ_A = σ |A \\ A*|, so that with its 2m² items outside the best path this is 48 m² log n / σ:

    Where items have bounds of their own, with spans c_e, the sum is the lesser of these two, and the largest loss of a
    round takes the place of K times that of an item:

        Σ_{e ∈ Ẽ} c_e² max_{A ∋ e} |{i ∈ A \\ A*: c_i > 0}| / Δ_A
        Σ_{e ∈ Ẽ} c_e max_{A ∋ e} Σ_{i ∈ A \\ A*} c_i / Δ_A

    >>> import semibandits as sb
    >>> problem = sb.problems.grid_path(m=3, sigma=0.5)
    >>> [round(float(one), 1) for one in (ratio(problem, 1000), 48 * 3**2 * np.log(1000) / 0.5 + PER_ITEM * 6 * 24)]
    [6586.0, 6586.0]
    """
    rounds = check_horizons(n)
    return by_ratios(problem, shares(problem), rounds)


def by_ratios(problem: Problem, found: Weights, rounds: Weights) -> Scalar:
    """The same of `shares` that are known."""
    K, pair = problem.max_size, one_pair(problem.bounds)
    if pair is None:
        lost = lost_rounds(PER_ITEM, problem.n_items, problem.spans) * largest_loss(problem.bounds, K)
        return 24.0 * float(np.nansum(found)) * np.log(rounds) + lost
    lo, hi = pair
    worst = (hi - lo) * float(np.nansum(found))
    per_item = worst_loss(pair) * PER_ITEM
    return (hi - lo) * 24.0 * worst * np.log(rounds) + per_item * K * problem.n_items


def shares(problem: Problem) -> Weights:
    """What every item adds to the sum of the bound: its ratio and, where items have spans of their own, these too."""
    if one_pair(problem.bounds) is not None:
        return ratios(problem)
    c = problem.spans
    one_each = np.sign(c)
    weighed = np.where(c > 0.0, np.maximum(c / c.max(), SMALLEST_PART), 0.0)
    by_parts = (
        np.divide(c * c, parts, out=np.zeros_like(c), where=parts > 0.0) * ratios(problem, parts)
        for parts in (one_each, weighed)
    )
    return min(by_parts, key=np.nansum)


def ratios(problem: Problem, parts: ArrayLike | None = None) -> Weights:
    """For every item outside the optimum A*: the largest |A \\ A*| / Δ_A of the suboptimal solutions A that contain it.

    With `parts`, one number v_e ≥ 0 per item, items count so much each: |A \\ A*| becomes the sum of these over
    A \\ A*, and items that count nothing get 0.

    NaN for the items of the optimum, 0 where no strictly suboptimal solution contains the item. Where a solution tied
    with the optimum contains it, the oracle cannot look past that one: such an item gets what is at least as much,
    the largest |A \\ A*| of all solutions over its least gap, `Problem.item_gaps`.

    All others are exact, but for the rounding of the oracle (or, past `EVALUATIONS`, too large, never too small). The
    inverse ρ_e = min Δ_A / |A \\ A*| is where the best value of a solution with e reaches the optimum's as everything
    outside the optimum is made more valuable:

        V_e(λ) = max_{A ∋ e} f(A) + λ |A \\ A*| = f*

    >>> import semibandits as sb
    >>> problem = sb.Problem(sb.sets.TopK(4, 2), sb.environments.Bernoulli([0.875, 0.75, 0.5, 0.125]))
    >>> ratios(problem).tolist()  # of item 2: 1 / 0.25 with [0, 2], and 2 / 1 with [2, 3]
    [nan, nan, 4.0, 2.0]
    """
    if not isinstance(problem, Problem):
        raise BadArgument(f"problem must be a Problem, got {problem!r:.200}")
    feasible = problem.feasible
    if not feasible.signed:
        raise Unsupported("ratios need an oracle that takes weights of either sign; this one needs weights <= 0")
    _need_exact(feasible)
    w = problem.signed_means
    outside = np.ones(problem.n_items) if parts is None else check_parts(parts, problem.n_items)
    outside[problem.optimum] = 0.0
    best = total(w, problem.optimum)
    find = _item_by_item if asks_once_per_item(feasible) else _all_at_once
    least = find(feasible, w, outside, best, problem.tolerance)
    _need_exact(feasible)  # it may have reached its limits on the way
    found = np.zeros(problem.n_items)
    np.divide(1.0, least, out=found, where=least > 0.0)
    tied = np.flatnonzero((least == 0.0) & (outside > 0.0))
    if tied.size:
        most = total(outside, solve(feasible, outside))
        found[tied] = most / problem.item_gaps[tied]
    found[problem.optimum] = np.nan
    return found


def check_parts(parts: ArrayLike, n_items: int) -> Weights:
    """A copy."""
    numbers = check_vector("parts", parts, n_items)
    if (numbers < 0.0).any():
        raise BadArgument(f"parts must be >= 0, got {numbers[numbers < 0.0][0]}")
    return numbers.copy()


def _need_exact(feasible: FeasibleSet) -> None:
    if feasible.ratio < 1.0:
        raise Unsupported(f"ratios need an exact oracle; this one has ratio={feasible.ratio}")


def asks_once_per_item(feasible: FeasibleSet) -> bool:
    """Whether `best_with_each` may call the oracle once for each item, so that it is dear to ask for all of them."""
    if isinstance(feasible, Product):
        return any(asks_once_per_item(block) for block in feasible.blocks)
    default = type(feasible).best_with_each is FeasibleSet.best_with_each
    return default or isinstance(feasible, Oracle | Searched)


def _item_by_item(feasible: FeasibleSet, w: Weights, outside: Weights, best: float, tolerance: float) -> Weights:
    """ρ of every item by Dinkelbach's method (1967); inf where no solution contains it, 0 where a tied one does.

    From a λ that is some solution's Δ_A / |A \\ A*| to that of the best solution for λ, until it is no smaller: three
    calls as a rule, and at most K + 2 where all parts are 1, as |A \\ A*| shrinks with λ.
    """
    least = np.full(w.size, np.inf)
    for item in np.flatnonzero(outside):
        try:
            part = feasible.restrict(include=(int(item),))
        except EmptyFeasibleSet:
            continue
        spend(CALL + 3 * w.size)
        items = solve(part, w)
        if best - total(w, items) <= tolerance:
            least[item] = 0.0
            continue
        while (found := (best - total(w, items)) / total(outside, items)) < least[item]:
            least[item] = found
            items = solve(part, w + found * outside)
    return least


def _all_at_once(feasible: FeasibleSet, w: Weights, outside: Weights, best: float, tolerance: float) -> Weights:
    """The same, from the values V_e(λ) of all items at shared λ.

    V_e is convex, with slopes from the item's part to K times the largest. Of each item we keep the nearest λ on either
    side of its root, the steepest chord left and the flattest right of it. The chord across lies above V_e and so
    reaches f* too early: ρ is never overestimated. The chords of either side, prolonged, lie below and reach it too
    late. Between any two neighbours among the λ, the next is the early root of the median item there, by turns the late
    one, until both are the same: V_e is straight between them.
    """

    def surplus(x: float) -> Weights:
        spend(w.size)
        return feasible.best_with_each(w + x * outside) - best

    least = np.full(w.size, np.inf)
    start = surplus(0.0)
    least[start > -np.inf] = 0.0
    todo = np.flatnonzero((outside > 0.0) & (start < -tolerance) & (start > -np.inf))
    if todo.size == 0:
        return least
    part = outside[todo]
    far = float((-start[todo] / part).max())
    rounding = 1e-15 * feasible.max_size * max(float(np.abs(w).max()), far * float(outside.max()))
    noise = rounding / part
    a, va = np.zeros(todo.size), start[todo]
    b, vb = np.full(todo.size, far), surplus(far)[todo]
    steepest, flattest = part, np.full(todo.size, feasible.max_size * float(outside.max()))
    evaluations = 2
    for turn in itertools.count():
        early = a - va * (b - a) / (vb - va)
        late = np.minimum(a - va / steepest, b - vb / flattest)
        least[todo] = early
        unfinished = late - early > CLOSE * late + noise
        todo, a, va, b, vb, steepest, flattest, early, late, noise = (
            one[unfinished] for one in (todo, a, va, b, vb, steepest, flattest, early, late, noise)
        )
        chosen = _one_between_neighbours(a, late if turn % 2 else early)[: EVALUATIONS - evaluations]
        if chosen.size == 0:
            break
        evaluations += chosen.size
        for x in chosen:
            v = surplus(x)[todo]
            below = v <= 0.0
            with np.errstate(divide="ignore", invalid="ignore"):  # x may be one of the old ones: no chord, NaN
                chord = (v - va) / (x - a) - rounding / np.abs(x - a)
                steepest = np.where(below, np.fmax(steepest, chord), steepest)
                chord = (v - vb) / (x - b) + rounding / np.abs(x - b)
                flattest = np.where(below, flattest, np.fmin(flattest, chord))
            nearer = below & (x > a)
            a, va = np.where(nearer, x, a), np.where(nearer, v, va)
            nearer = ~below & (x < b)
            b, vb = np.where(nearer, x, b), np.where(nearer, v, vb)
    return least


def _one_between_neighbours(a: Weights, roots: Weights) -> Weights:
    """Of the items with the same left neighbour a (and so the same right one), the median root."""
    order = np.lexsort((roots, a))
    first = np.flatnonzero(np.diff(a[order], prepend=-1.0))
    medians: Weights = roots[order[(first + np.append(first[1:], order.size)) // 2]]
    return medians
