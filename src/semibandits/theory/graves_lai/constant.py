"""The asymptotic lower bound: T. L. Graves and T. L. Lai, "Asymptotically Efficient Adaptive Choice of Control Laws in
Controlled Markov Chains" (SIAM J. Control Optim. 1997), for semi-bandits with independent Bernoulli items as in
R. Combes, M. S. Talebi, A. Proutiere and M. Lelarge, "Combinatorial Bandits Revisited" (NIPS 2015).

Every policy whose regret grows more slowly than any power of n, whatever the means, has

    liminf R(n) / log n ≥ C = min_{x ≥ 0} Σ x_A Δ_A  such that  g_A(t) ≥ 1 for all A not inside U*,

where t_i = Σ_{A∋i} x_A counts observations in units of log n, and g_A (`cuts`) is their information against
means under which A would be best. U* is the union of the optimal solutions, whose items are learned at no cost. Such
means differ from the true ones outside U* only. That is enough where there are several optima too: under such means all
of them together are chosen rarely, under the true ones nearly always, so that the items outside U*, which only
suboptimal solutions contain, must have told the two apart. It is asymptotic: at 100,000 rounds a good policy can lie
below C log n.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_count, check_gap, check_sizes, check_vector
from semibandits.environments import Bernoulli
from semibandits.errors import BadArgument, Unsupported
from semibandits.oracle import all_solutions
from semibandits.problem import Problem
from semibandits.sets import TopK
from semibandits.theory.graves_lai.cuts import Family, Rows, Setting, information
from semibandits.theory.graves_lai.listed import Listed
from semibandits.theory.graves_lai.search import Searched
from semibandits.types import Weights, total

ROUNDS = 100
"""How often cuts are added at most; about 10 times are usual."""
PRICINGS = 50
"""How often columns are fetched for the same cuts at most."""
MOST_CUTS = 3_000
"""Beyond these the half that matters least is forgotten."""
BOLDEST = 0.99
"""How far, at most, from the best x known towards the linear programme's the next x lies."""
MARGIN = 1e-12
"""Relative room for the rounding of the last sums."""


class Bracket(NamedTuple):
    """lower ≤ C ≤ upper."""

    lower: float
    upper: float


def graves_lai_constant(
    problem: Problem, *, tolerance: float = 1e-6, max_solutions: int = 500, max_calls: int = 50_000
) -> Bracket:
    """C between two certified numbers, which differ by at most `tolerance` · C where the effort allows it.

    Up to `max_solutions` solutions are listed (those of an `Enumerated`, however many, are), and the bracket closes.
    Larger sets are searched by the oracle. Mostly the bracket closes too; after `max_calls` calls it is left as it is.
    Sets whose oracle needs weights <= 0 cannot be searched, and are `Unsupported` beyond the limit. For `TopK` there is
    a formula, `anantharam`.

    Gaps up to 1e-12·max(1, |f*|) count as ties, as in `Problem`; the bracket is right up to the rounding of the gaps,
    and stays a little open where a solution could surpass the optimum by very little, about 1e-9.
    (0, 0) where learning costs nothing: every solution is optimal, or no means in [0, 1] would make another one so.
    Means must be 0 or at least 1e-100, and those of costs 0 or at least 1e-9: below, 1 - mean loses their digits.

    >>> import semibandits as sb
    >>> lower, upper = graves_lai_constant(sb.problems.grid_path(m=2, sigma=0.4))
    >>> f"{lower:.4f} {upper:.4f}"
    '2.9645 2.9645'
    """
    limit = check_count("max_solutions", max_solutions, BadArgument)
    max_calls = check_count("max_calls", max_calls, BadArgument)
    if isinstance(tolerance, bool) or not isinstance(tolerance, float | np.floating) or not 0.0 < tolerance < 1.0:
        raise BadArgument(f"tolerance must be a number between 0 and 1, got {tolerance!r:.200}")
    _check(problem)
    feasible = problem.feasible
    p = problem.means if problem.sense == "max" else 1.0 - problem.means
    if isinstance(feasible, TopK) and feasible.bases:
        constant = _top(p[feasible._free], feasible._room, problem.tolerance) if feasible._room else 0.0
        return Bracket(constant, constant)
    setting = _setting(problem, p)
    if setting.items.size == 0:
        return Bracket(0.0, 0.0)
    solutions = all_solutions(feasible, limit)
    if solutions is not None:
        bracket = _solve(Listed(solutions, setting), float(tolerance))
    elif feasible.signed:
        bracket = _solve(Searched(feasible, setting, float(tolerance), max_calls), float(tolerance))
    else:
        raise Unsupported(
            f"{feasible!r} has more than max_solutions={limit:,} solutions, and an oracle that needs weights <= 0 "
            "cannot search them"
        )
    _check(problem)  # the oracle may have reached its limits on the way
    return bracket


def _check(problem: Problem) -> None:
    if not isinstance(problem, Problem):
        raise BadArgument(f"problem must be a Problem, got {problem!r:.200}")
    world = problem.environment
    if not isinstance(world, Bernoulli):
        raise Unsupported(f"the Graves–Lai bound needs a Bernoulli environment, got {world!r:.200}")
    if world.groups is not None and np.unique(world.groups).size < world.n_items:
        raise Unsupported("the Graves–Lai bound needs independent items, but some share a coin: groups")
    smallest = 1e-100 if problem.sense == "max" else 1e-9
    if ((world.means > 0.0) & (world.means < smallest)).any():
        small = world.means[(world.means > 0.0) & (world.means < smallest)][0]
        raise Unsupported(f"the Graves–Lai bound needs means that are 0 or at least {smallest:g}, got {small}")
    if problem.feasible.ratio < 1.0:
        raise Unsupported(f"the Graves–Lai bound needs an exact oracle; this one has ratio={problem.feasible.ratio}")


def _setting(problem: Problem, p: Weights) -> Setting:
    signed = problem.signed_means
    best = total(signed, problem.optimum)
    tie = problem.tolerance
    with_each = problem.feasible.best_with_each(signed)
    items = np.flatnonzero((with_each > -np.inf) & (with_each < best - tie))
    items = np.setdiff1d(items, problem.optimum)
    return Setting(signed, best, tie, items, np.append(p[items], 1.0))


def _solve(family: Family, tolerance: float) -> Bracket:
    """Cuts and columns, until the ends meet.

    The linear programme holds some solutions (columns) and, for each of its cuts, one confusing change of the means:
    Σ t_i kl_i ≥ 1. Its dual, scaled so that no solution has a negative reduced cost, bounds C from below; any x,
    divided by the least g_A, from above. New cuts are made between the programme's x and the best one known, so
    that all t stay positive.
    """
    master = _Master(*family.cover(), family.setting.items.size + 1)
    found = family.least(master.observations(master.best))
    if found.bound == math.inf:
        return Bracket(0.0, 0.0)
    if found.bound <= 0.0:  # a search that found no η to begin with
        return Bracket(0.0, math.inf)
    master.best /= found.bound
    lower, upper, boldness, idle = 0.0, float(master.best @ master.gaps), 0.5, 0
    master.add_cuts(found.cuts)
    for _ in range(ROUNDS):
        solved = _solve_over_all(master, family, upper)
        if solved is None:
            break
        x, bound = solved
        lower = max(lower, bound)
        if upper - lower <= tolerance * upper or idle == 3 or family.exhausted:
            break
        x_between = boldness * x + (1.0 - boldness) * master.best
        found = family.least(master.observations(x_between))
        cost = float(x_between @ master.gaps) / found.bound if found.bound > 0.0 else math.inf
        better = cost < upper
        if better:
            upper, master.best = cost, x_between / found.bound
        boldness = min(BOLDEST, 0.5 + 0.5 * boldness) if better else max(0.5, 2.0 * boldness - 1.0)
        cutting = found.cuts[found.cuts @ master.observations(x) < 1.0 - 1e-10]
        idle = 0 if better or cutting.size else idle + 1
        master.add_cuts(cutting)
    return Bracket(lower * (1.0 - MARGIN), upper * (1.0 + MARGIN))


def _solve_over_all(master: "_Master", family: Family, scale: float) -> tuple[Weights, float] | None:
    """x and a lower bound of C by the cuts of today, over all columns: those that pay are fetched."""
    bound = 0.0
    for _ in range(PRICINGS):
        solved = master.solve(scale)
        if solved is None:
            return None
        x, duals = solved
        ratio, rows, gaps = family.largest_ratio(duals @ master.cuts)
        if ratio > 0.0:
            bound = max(bound, float(duals.sum()) / ratio)
        if gaps.size == 0:
            break
        master.add_columns(rows, gaps)
        x = np.append(x, np.zeros(gaps.size))
    return x, bound


class _Master:
    """The linear programme over some solutions and some cuts, and the best x known on those solutions."""

    def __init__(self, rows: Rows, gaps: Weights, size: int) -> None:
        self.rows, self.gaps, self.size = rows, gaps, size
        self.best = gaps**-2.0  # to scale later; what a gap of Δ needs grows as 1/Δ²
        self.cuts = np.empty((0, size))

    def observations(self, x: Weights) -> Weights:
        t: Weights = np.bincount(self.rows.ravel(), np.repeat(x, self.rows.shape[1]), self.size).astype(np.float64)
        t[-1] = 1.0
        return t

    def add_columns(self, rows: Rows, gaps: Weights) -> None:
        self.rows, self.gaps = np.concatenate([self.rows, rows]), np.append(self.gaps, gaps)
        self.best = np.append(self.best, np.zeros(gaps.size))

    def add_cuts(self, cuts: Weights) -> None:
        self.cuts = np.concatenate([self.cuts, cuts])

    def solve(self, scale: float) -> tuple[Weights, Weights] | None:
        """x and the duals; None where the solver fails. In units in which the optimum is about 1."""
        from scipy.optimize import linprog

        gains = sum(self.cuts[:, column] for column in self.rows.T) * (scale / self.gaps)
        for presolve, precision in [(True, 1e-10), (False, 1e-10), (True, 1e-7)]:
            answer = linprog(
                np.ones(self.gaps.size),
                A_ub=-gains,
                b_ub=-np.ones(len(gains)),
                method="highs",
                options={
                    "presolve": presolve,
                    "primal_feasibility_tolerance": precision,
                    "dual_feasibility_tolerance": precision,
                },
            )
            if answer.status == 0 and answer.x is not None:
                break
        else:
            return None
        x, duals = np.maximum(answer.x, 0.0), np.maximum(-answer.ineqlin.marginals, 0.0)
        if len(self.cuts) > MOST_CUTS:
            kept = np.sort(np.lexsort((gains @ x, duals == 0.0))[: MOST_CUTS // 2])
            self.cuts, duals = self.cuts[kept], duals[kept]
        return x * scale / self.gaps, duals * scale


def lai_robbins(means: ArrayLike) -> float:
    """The bound of T. L. Lai and H. Robbins (1985) for one item of L, with larger means better:

        Σ_{θ_i < θ*} (θ* - θ_i) / kl(θ_i, θ*)

    >>> round(lai_robbins([0.9, 0.5, 0.8]), 4)
    3.0351
    """
    return anantharam(means, 1)


def anantharam(means: ArrayLike, k: int) -> float:
    """The bound of V. Anantharam, P. Varaiya and J. Walrand (1987) for exactly k of L items, with larger means better:

        Σ_{θ_i < θ_(k)} (θ_(k) - θ_i) / kl(θ_i, θ_(k)),    θ_(k) the k-th largest mean.

    For costs, pass 1 - means. Means that differ by up to 1e-12 · max(1, the sum of the k largest) are tied. A best
    mean of 1 cannot be surpassed: the bound is 0 where θ_(k) = 1.
    """
    p = check_vector("means", means)
    if (p < 0.0).any() or (p > 1.0).any():
        raise BadArgument(f"means must be in [0, 1], got {p[(p < 0.0) | (p > 1.0)][0]}")
    k = check_count("k", k, BadArgument)
    if k > p.size:
        raise BadArgument(f"k must be at most the number of means, {p.size}, got {k}")
    return _top(p, k, 1e-12 * max(1.0, float(np.sort(p)[-k:].sum())))


def _top(p: Weights, k: int, tie: float) -> float:
    threshold = np.sort(p)[-k]
    worse = p[p < threshold - tie]
    if threshold == 1.0:
        return 0.0
    return float(((threshold - worse) / information(worse, threshold - worse)).sum())


def independent_paths(L: int, K: int, gap: float) -> float:
    """The paper's K-path problem with independent items instead of one coin per path:

        (L/K - 1) Δ / (K kl(1/2 - Δ/K, 1/2))

    L/K disjoint paths of K items, with means 1/2 on the first path and 1/2 - Δ/K on the others.
    """
    L, K = check_sizes(L, K)
    gap = check_gap(gap)
    if L % K:
        raise BadArgument(f"L must be a multiple of K = {K}, got {L}")
    if gap >= K / 2.0:
        raise BadArgument(f"gap must be less than K/2 = {K / 2.0}, got {gap}")
    each = information(np.array([0.5 - gap / K]), np.array([gap / K]))[0]
    return float((L / K - 1.0) * gap / (K * each))
