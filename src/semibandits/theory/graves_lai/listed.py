"""All solutions of a set, listed."""

import numpy as np

from semibandits.theory.graves_lai.cuts import Found, Rows, Setting, make_cuts, solve_inner
from semibandits.types import Items, Weights

COLUMNS_PER_CALL = 200


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
