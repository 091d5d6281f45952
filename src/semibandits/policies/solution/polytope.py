"""The best point of the convex hull of listed solutions, as a mean of them: for sets of no simpler structure.

    minimise <c, x> + F(x) over x = Σ_j p_j v_j,  p >= 0, Σ p = 1

with v_j the solutions and F a sum over items: by a primal-dual interior point method on the p (steps after Mehrotra
1992). A step costs as many operations as there are solutions, times the items' number squared; some ten to thirty are
needed. The end is certified: <g, x> - min_j <g, v_j>, g the slopes at x, bounds what is still to be gained.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util.identity_cache import IdentityCache
from semibandits.policies.solution.listing import Listing, listing
from semibandits.types import FeasibleSet, Items, Weights

GAP = 1e-9
"""How far from the minimum the value may be, where numbers allow it."""
ROUNDING = 1e-14
"""The same, relative to the largest of the <g, v_j>."""
STEPS = 200
QUICK, SLOW = 0.03, 0.3
"""How fast τ falls after a long step, and after a shorter one: by measurement."""
TINY = 1e-100


class Rule(NamedTuple):
    """A regulariser's first and second derivative by one item, of x and of 1 - x."""

    slope: Callable[[Weights, Weights], Weights]
    curvature: Callable[[Weights, Weights], Weights]


def _floor(x: Weights) -> Weights:
    return np.maximum(x, TINY)


ENTROPY = Rule(lambda x, rest: np.log(_floor(x)), lambda x, rest: 1.0 / _floor(x))
"""Σ x log x - x"""
INF = Rule(lambda x, rest: -1.0 / np.sqrt(_floor(x)), lambda x, rest: 0.5 * _floor(x) ** -1.5)
"""-2 Σ sqrt(x)"""


def hybrid(gamma: float) -> Rule:
    """Σ -sqrt(x) + γ (1-x) log(1-x)"""
    return Rule(
        lambda x, rest: -0.5 / np.sqrt(_floor(x)) - gamma * (1.0 + np.log(_floor(rest))),
        lambda x, rest: 0.25 * _floor(x) ** -1.5 + gamma / _floor(rest),
    )


class Hull(NamedTuple):
    """The solutions, and what differs between them."""

    listing: Listing
    rows: NDArray[np.float64]
    """All items, a row of zeros and ones for each solution."""
    varying: Items
    """Items that some solutions have and others have not."""
    inside: NDArray[np.float64]
    """The rows, of these items only, and one minus them."""
    outside: NDArray[np.float64]

    def is_whole(self, x: Weights, weights: Weights) -> bool:
        """Whether x is the mean of these solutions under these weights."""
        return weights.size == self.listing.size and bool(np.abs(weights @ self.rows - x).max() <= 1e-12)


_KNOWN: IdentityCache[Hull] = IdentityCache()


def hull(feasible: FeasibleSet, who: str) -> Hull:
    if feasible not in _KNOWN:
        listed = listing(feasible, who, "use FPL, which needs the oracle only")
        rows = listed.matrix(feasible.n_items)
        varying = np.flatnonzero(rows.min(axis=0) < rows.max(axis=0))
        inside = np.ascontiguousarray(rows[:, varying])
        _KNOWN[feasible] = Hull(listed, rows, varying, inside, 1.0 - inside)
    return _KNOWN[feasible]


def minimum(hull: Hull, c: Weights, rule: Rule) -> tuple[Weights, Weights]:
    """The weights of the solutions, and their mean x."""
    p = np.full(hull.listing.size, 1.0 / hull.listing.size)
    if p.size > 1:
        with np.errstate(over="ignore"):
            p = _interior(hull.inside, hull.outside, c[hull.varying], rule)
    return p, p @ hull.rows


def _interior(inside: Any, outside: Any, c: Weights, rule: Rule) -> Weights:
    """Newton steps for f(p) - τ Σ log p while τ falls, with slacks of the dual in the place of τ/p in the Hessian.

    The likeliest solution's p is what the others leave of 1. All is worked out relative to it: so nothing is lost
    where it is almost certain.
    """
    n, d = inside.shape
    p = np.full(n, 1.0 / n)
    best, least = p, np.inf
    tau, length = np.inf, 1.0
    x, rest = p @ inside, p @ outside
    slopes = c + rule.slope(x, rest)
    moves = np.ones((n, d + 1))
    for _ in range(STEPS):
        u = inside @ slopes
        largest = np.abs(u).max()
        u -= u.min()
        gap = float(p @ u)
        if gap < least:
            best, least = p, gap
        if gap <= GAP + ROUNDING * largest:
            break
        tau = min(tau, (QUICK if length > 0.7 else SLOW) * gap / n) if length > 0.3 else max(tau, gap / n)
        slack = np.maximum(u + max(n * tau - gap, gap / n), tau / (3.0 * p))
        top = int(np.argmax(p))
        np.subtract(inside, inside[top], out=moves[:, :d])
        loose = p / slack
        loose[top] = 0.0
        matrix = moves.T @ (loose[:, None] * moves)
        matrix[np.diag_indices(d + 1)] += np.append(1.0 / rule.curvature(x, rest), p[top] / slack[top])
        downhill = tau / p - tau / p[top] - moves[:, :d] @ slopes
        step = loose * (downhill - moves @ _solved(matrix, moves.T @ (loose * downhill)))
        step[top] -= step.sum()
        shrinks = step < 0.0
        length = min(1.0, 0.99 * float((p[shrinks] / -step[shrinks]).min(initial=np.inf)))
        descent = float(downhill @ step)
        for _ in range(40):  # until the way down is not far behind
            q = np.maximum(p + length * step, TINY)
            q /= q.sum()
            x, rest = q @ inside, q @ outside
            slopes = c + rule.slope(x, rest)
            if float((moves[:, :d] @ slopes - tau / q) @ step) <= 0.3 * descent:
                break
            length *= 0.5
        p = q
    return best


def _solved(matrix: Any, right: Weights) -> Weights:
    """By rows and columns of like size."""
    scale = np.sqrt(matrix.diagonal())
    solved: Weights = np.linalg.solve(matrix / scale[:, None] / scale, right / scale) / scale
    return solved
