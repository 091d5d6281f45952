"""The tally of all that a learner was ever told of each item, whatever its policy makes of it."""

from operator import setitem
from typing import NamedTuple

import numpy as np

from semibandits._util.atomic import Step
from semibandits.agent import Scale
from semibandits.types import Items, Weights

MOST_WAITING = 32
"""Tells that wait to be added up: few, so that none of them takes long."""


class Totals(NamedTuple):
    """Of every item: how often it was observed, and the sums of x and of x² on the scale of its bounds."""

    counts: Weights
    sums: Weights
    squares: Weights


class Tally:
    """What was told, added up item by item in its order: of a few tells at a time, which is quicker."""

    def __init__(self, n_items: int, scale: Scale) -> None:
        self._scale = scale
        self._rows = np.zeros((n_items, 3))
        """Of each item: count, sum and sum of squares."""
        self._waiting: list[tuple[Items, Weights]] = []

    def totals(self) -> Totals:
        rows = self._rows.copy()
        if self._waiting:
            items, sums = self._added_up()
            rows[items] = sums
        return Totals(*rows.T.copy())

    def adding(self, items: Items, weights: Weights) -> list[Step]:
        """The steps by which these weights are told; an item may occur any number of times."""
        if len(self._waiting) < MOST_WAITING:
            return [(self._waiting.append, (items, weights))]
        return [(setitem, self._rows, *self._added_up()), (setattr, self, "_waiting", [(items, weights)])]

    def adding_totals(self, more: Totals) -> list[Step]:
        rows = np.stack(self.totals(), axis=1) + np.stack(more, axis=1)
        return [(setitem, self._rows, slice(None), rows), (setattr, self, "_waiting", [])]

    def restore(self, totals: Totals) -> None:
        self._rows[:], self._waiting = np.stack(totals, axis=1), []

    def _added_up(self) -> tuple[Items, Weights]:
        """The items that are waited for, and their rows when all that waits has been added."""
        items = np.concatenate([items for items, _ in self._waiting])
        x = self._scale.to_unit(np.concatenate([weights for _, weights in self._waiting]), items)
        distinct, which = np.unique(items, return_inverse=True)
        rows = self._rows[distinct]
        np.add.at(rows, which, np.stack((np.ones(x.size), x, x * x), axis=1))
        return distinct, rows
