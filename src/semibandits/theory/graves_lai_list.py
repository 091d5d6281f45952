"""All solutions of a set, listed."""

import numpy as np

from semibandits.errors import EmptyFeasibleSet
from semibandits.sets import Enumerated
from semibandits.sets.base import solve
from semibandits.theory.graves_lai_cuts import Found, Rows, Setting, make_cuts, solve_inner
from semibandits.types import FeasibleSet, Items, Weights

COLUMNS_PER_CALL = 200


def list_solutions(feasible: FeasibleSet, limit: int) -> list[Items] | None:
    """All solutions; None where there are more than `limit` that are not listed yet.

    A part of the set is split on an item that one of its solutions has and another has not. The oracle finds another
    one, if there is any: that which shares least with the first.
    """
    if isinstance(feasible, Enumerated):
        return [np.array(items, dtype=np.int64) for items in feasible.solutions]
    solutions: list[Items] = []
    parts = [(feasible, solve(feasible, np.zeros(feasible.n_items)))]
    while parts:
        if len(solutions) + len(parts) > limit:
            return None
        part, known = parts.pop()
        other = another(part, known)
        if other is None:
            solutions.append(known)
            continue
        item = int(np.setxor1d(known, other)[0])
        has, has_not = (known, other) if item in known else (other, known)
        parts += [(part.restrict(include=(item,)), has), (part.restrict(exclude=(item,)), has_not)]
    return solutions


def another(part: FeasibleSet, known: Items) -> Items | None:
    """A solution other than the known one; None where there is none."""
    away = np.full(part.n_items, 1.0 if part.signed else 0.0)
    away[known] = -1.0
    other = solve(part, away)
    if not np.array_equal(known, other):
        return other
    if not part.signed and known.size < part.max_size:  # all contain the known one: does any contain more?
        for item in np.setdiff1d(np.arange(part.n_items), known).tolist():
            try:
                return solve(part.restrict(include=(item,)), away)
            except EmptyFeasibleSet:
                continue
    return None


class Listed:
    """A `Family` of listed solutions."""

    exhausted = False

    def __init__(self, solutions: list[Items], setting: Setting) -> None:
        self.setting = setting
        width = max(items.size for items in solutions)
        rows = np.sort(setting.rows(solutions, width), axis=1)
        gaps = setting.best - np.array([setting.weights[items].sum() for items in solutions])
        outside = (rows < setting.items.size).any(axis=1)
        self._rows, self._gaps = rows[outside], gaps[outside]
        narrow = int((self._rows < setting.items.size).sum(axis=1).max())
        self._rows = self._rows[:, :narrow]
        confusing = setting.confusing(self._rows, self._gaps)
        self._confusing, self._confusing_gaps = self._rows[confusing], self._gaps[confusing]

    def cover(self) -> tuple[Rows, Weights]:
        chosen = {
            int(with_item[np.argmin(self._gaps[with_item])])
            for item in range(self.setting.items.size)
            for with_item in (np.flatnonzero((self._rows == item).any(axis=1)),)
        }
        order = sorted(chosen)
        return self._rows[order], self._gaps[order]

    def largest_ratio(self, d: Weights) -> tuple[float, Rows, Weights]:
        ratios = d[self._rows].sum(axis=1) / self._gaps
        most = np.argsort(-ratios, kind="stable")[:COLUMNS_PER_CALL]
        most = most[ratios[most] > 1.0 + 1e-9]
        return float(ratios.max()), self._rows[most], self._gaps[most]

    def least(self, t: Weights) -> Found:
        if len(self._confusing) == 0:
            return Found(np.inf, np.empty((0, t.size)))
        inner = solve_inner(self._confusing, self._confusing_gaps, t, self.setting.p)
        return Found(float(inner.value.min()), make_cuts(self._confusing, inner, t.size))
