"""Assignments: each row to one column of its own."""

from typing import Any

import numpy as np

from semibandits.sets.oracles import assignment
from semibandits.sets.pairs import Pairs
from semibandits.types import Solver


class Assignment(Pairs):
    """Pairs of a row and a column, no row and no column twice: the smaller side is assigned in full.

    `rows` and `columns` are counts, or lists of names, which then make up `labels` ("row:column"). Items are the pairs,
    row by row, without the `forbidden` ones, pairs (row, column) of names or indices, which are no items: `pairs` and
    `item` translate. `optional=True` allows any matching, also the empty one; then only pairs of weight > 0 are chosen.

    The oracle finds shortest augmenting paths from the prices of a column reduction (Jonker and Volgenant 1987; without
    their augmenting row reduction, which costs more than it saves where paths are searched many columns at a time):
    O(r² c) for r <= c rows or columns. Of tied solutions it takes the one that the search meets first, the same every
    time.

    >>> channels = Assignment(["hall", "roof"], ["red", "blue", "green"], forbidden=[("roof", "red")])
    >>> items = channels.argmax([0.9, 0.8, 0.1, 0.7, 0.2])
    >>> items, [channels.labels[item] for item in items]
    (array([0, 3]), ['hall:red', 'roof:blue'])
    """

    def __init__(self, rows: Any, columns: Any, *, forbidden: Any = (), optional: bool = False) -> None:
        super().__init__(rows, columns, 1, 1, forbidden, optional)

    def solver(self) -> Solver:
        fixed = np.full(self.n_rows, -1)
        include = self._restriction()[0]
        fixed[self.pairs[include, 0]] = include
        return assignment.solver(self._matrix, self.pairs[:, 0], fixed, self.optional)

    def __repr__(self) -> str:
        return f"Assignment({self.n_rows} x {self.n_columns}{self._described()})"
