"""Solutions too many to be listed, found by the oracle.

For every η, with φ_i as in `graves_lai_cuts`,

    min_A g_A(t) >= min_A η Δ_A - Σ φ_i(η) = η f* - max_A Σ_A (η w_i + φ_i(η) 1{i outside U*}),

which is one call of the oracle. Where the best η does not bring this up to the least g_A met, the set is split on an
item (branch and bound).
"""

import contextlib
import heapq
import itertools
import math
from typing import NamedTuple

import numpy as np

from semibandits.errors import EmptyFeasibleSet
from semibandits.oracle import solve
from semibandits.theory.graves_lai.cuts import (
    ROUNDING,
    Found,
    Rows,
    Setting,
    increases,
    information,
    make_cuts,
    solve_inner,
)
from semibandits.types import FeasibleSet, Items, Weights, another_solution, total

SPLITS = 200
"""Parts that are split for one t at most."""
ETAS = 12
"""Calls of the oracle for one part, once η lies in a finite interval."""


class _Part(NamedTuple):
    """Sorted by `bound`, which no g_A in it is below."""

    bound: float
    order: int
    feasible: FeasibleSet
    eta: float
    item: int
    """On which to split; -1: no need or no way to."""


class Searched:
    """A `Family` of which solutions are known as far as the oracle has named them."""

    def __init__(self, feasible: FeasibleSet, setting: Setting, tolerance: float, max_calls: int) -> None:
        self.setting = setting
        self.calls, self._max_calls = 0, max_calls
        self._feasible, self._slack = feasible, 0.25 * tolerance
        self._known: dict[bytes, int] = {}
        self._rows = np.empty((0, feasible.max_size), dtype=np.intp)
        self._gaps = np.empty(0)
        self._roots: list[tuple[FeasibleSet, float]] = []
        for i, item in enumerate(setting.items.tolist()):
            self._meet(self._solve(feasible.restrict(include=(item,)), setting.weights))
            with contextlib.suppress(EmptyFeasibleSet):
                part = feasible.restrict(include=(item,), exclude=setting.items[:i])
                self._roots.append((part, 1.0))
        self._least_gap = float(self._gaps.min())
        room = setting.weights.copy()
        room[setting.items] += 1.0 - setting.p[:-1]
        most = self._solve(feasible, room)  # the solution that could gain most on the optimum
        self._hopeless = total(room, most) - setting.best <= setting.tie
        if not self._hopeless:
            self._meet(most)

    @property
    def exhausted(self) -> bool:
        return self.calls > self._max_calls

    def _solve(self, feasible: FeasibleSet, weights: Weights) -> Items:
        self.calls += 1
        return solve(feasible, weights)

    def _meet(self, items: Items) -> int:
        """The number of this solution among those known."""
        name = items.tobytes()
        if name not in self._known:
            self._known[name] = self._gaps.size
            self._rows = np.concatenate([self._rows, self.setting.rows([items], self._rows.shape[1])])
            self._gaps = np.append(self._gaps, self.setting.best - total(self.setting.weights, items))
        return self._known[name]

    def cover(self) -> tuple[Rows, Weights]:
        return self._rows, self._gaps

    def largest_ratio(self, d: Weights) -> tuple[float, Rows, Weights]:
        """Dinkelbach's method: while some Σ d_i - r Δ_A is positive, r grows to the ratio of that solution."""
        weights = np.zeros_like(self.setting.weights)
        weights[self.setting.items] = d[:-1]
        ratio = float((d[self._rows].sum(axis=1) / self._gaps).max())
        if ratio <= 0.0:
            return 0.0, self._rows[:0], self._gaps[:0]
        for _ in range(100):
            items = self._solve(self._feasible, self.setting.weights + weights / ratio)
            profit = total(weights, items)
            gap = self.setting.best - total(self.setting.weights, items)
            excess = profit / ratio - gap
            if excess <= 1e-14 * gap or gap <= self.setting.tie:  # no solution has a larger one
                ratio *= 1.0 + max(0.0, excess) / self._least_gap + 1e-13
                break
            self._meet(items)
            ratio = profit / gap
        else:
            ratio = math.inf
        ratios = d[self._rows].sum(axis=1) / self._gaps
        new = np.flatnonzero(ratios > 1.0 + 1e-9)
        return ratio, self._rows[new], self._gaps[new]

    def least(self, t: Weights) -> Found:
        """The parts of lowest bound are split first."""
        if self._hopeless:
            return Found(math.inf, np.empty((0, t.size)))
        self._new_round(t)
        order = itertools.count()
        parts = []
        for i, (feasible, eta) in enumerate(self._roots):
            part = self._bound(feasible, t, eta, next(order))
            self._roots[i] = feasible, part.eta
            parts.append(part)
        heapq.heapify(parts)
        closed = math.inf
        for _ in range(SPLITS):
            if not parts or parts[0].bound >= self._enough or self.exhausted:
                break
            part = heapq.heappop(parts)
            if part.item < 0:
                closed = min(closed, part.bound)
                continue
            for side in ("include", "exclude"):
                child = self._bound(part.feasible.restrict(**{side: (part.item,)}), t, part.eta, next(order))
                heapq.heappush(parts, child._replace(bound=max(child.bound, part.bound)))
        bound = min(parts[0].bound if parts else math.inf, closed, self._enough)
        self._new_round(t)
        return Found(bound, make_cuts(self._rows[self._confusing], self._inner, t.size))

    def _new_round(self, t: Weights) -> None:
        """g_A(t) of all solutions known, and the η where it is taken; inf for those that cannot be best."""
        self._confusing = self.setting.confusing(self._rows, self._gaps)
        self._inner = solve_inner(self._rows[self._confusing], self._gaps[self._confusing], t, self.setting.p)
        self._own = dict.fromkeys(range(self._gaps.size), math.inf)
        self._own.update(zip(np.flatnonzero(self._confusing).tolist(), self._inner.eta.tolist(), strict=True))
        self._incumbent = float(self._inner.value.min(initial=math.inf))

    @property
    def _enough(self) -> float:
        return (1.0 - self._slack) * self._incumbent

    def _own_eta(self, number: int, t: Weights) -> float:
        """The η at which this solution's own bound is largest, g_A(t)."""
        if number not in self._own:
            row, gap = self._rows[number : number + 1], self._gaps[number : number + 1]
            self._own[number] = math.inf
            if self.setting.confusing(row, gap)[0]:
                inner = solve_inner(row, gap, t, self.setting.p)
                self._incumbent = min(self._incumbent, float(inner.value[0]))
                self._own[number] = float(inner.eta[0])
        return self._own[number]

    def _bound(self, feasible: FeasibleSet, t: Weights, eta: float, order: int) -> _Part:
        """The best bound of this part, by a search for the η at which the minimiser's slope changes its sign."""
        best, best_eta = 0.0, eta
        low, high = 0.0, math.inf
        below: Items | None = None
        above: Items | None = None
        for _ in range(ETAS):
            bound, slope, items, own = self._at(feasible, t, eta)
            if bound > best:
                best, best_eta = bound, eta
            if slope >= 0.0:
                low, below = eta, items
            else:
                high, above = eta, items
            if best >= self._enough:
                break
            if low < own < high:
                eta = own
            else:
                eta = 4.0 * low if high == math.inf else 0.25 * high if low == 0.0 else 0.5 * (low + high)
        if best >= self._enough:
            return _Part(best, order, feasible, best_eta, -1)
        other = above if items is below else below
        if other is None or np.array_equal(items, other):
            self.calls += 1
            other = another_solution(feasible, items)
        if other is None:  # the only solution: `best` is its g_A(t), unless it cannot be best
            return _Part(math.inf if own == math.inf else best, order, feasible, best_eta, -1)
        return _Part(best, order, feasible, best_eta, int(np.setxor1d(items, other)[0]))

    def _at(self, feasible: FeasibleSet, t: Weights, eta: float) -> tuple[float, float, Items, float]:
        """The bound at η, its slope, the solution where it is taken, and the η at which that has its own maximum."""
        setting = self.setting
        p = setting.p[:-1]
        delta, _ = increases(eta, t[:-1], p)
        change = np.minimum(delta, (1.0 - p) * (1.0 - ROUNDING))
        scores = eta * setting.weights
        scores[setting.items] += eta * delta - t[:-1] * information(p, change)
        items = self._solve(feasible, scores)
        value = total(scores, items)
        bound = eta * setting.best - value
        bound -= 4.0 * ROUNDING * items.size * (abs(value) + eta * abs(setting.best))
        number = self._meet(items)
        slope = float(self._gaps[number] - np.append(delta, 0.0)[self._rows[number]].sum())
        return bound, slope, items, self._own_eta(number, t)
