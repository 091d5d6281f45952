"""b-matchings: rows and columns with capacities."""

from typing import Any

import numpy as np

from semibandits.sets.oracles import b_matching
from semibandits.sets.pairs import Pairs
from semibandits.types import Solver


class BMatching(Pairs):
    """Pairs of a row and a column, each at most once, with row i in at most row_capacities[i] of them, columns alike.

    Capacities are one integer >= 0 for all, a list, or a mapping by name. The side with the smaller total of capacities
    is filled exactly, the rows where the totals are equal; `optional=True` allows fewer, down to none, and then only
    pairs of weight > 0 are chosen. All else is as with `Assignment`, which is the case of capacities 1.

    The oracle adds one unit after the other along a shortest augmenting path (Edmonds and Karp 1972): with r lines on
    the filled side, u their total and c the others, O(u (r + c)²). Of tied solutions it takes the one that the search
    meets first, the same every time.

    >>> reviews = BMatching(["ann", "bob"], 3, row_capacities=2, column_capacities=[1, 1, 2], optional=True)
    >>> [reviews.labels[item] for item in reviews.argmax([0.9, 0.8, -0.1, 0.7, 0.2, 0.3])]
    ['ann:0', 'ann:1', 'bob:2']
    """

    def __init__(
        self,
        rows: Any,
        columns: Any,
        row_capacities: Any,
        column_capacities: Any,
        *,
        forbidden: Any = (),
        optional: bool = False,
    ) -> None:
        self._more_columns = 1  # where a path may always end
        super().__init__(rows, columns, row_capacities, column_capacities, forbidden, optional)

    def solver(self) -> Solver:
        fixed = np.zeros(self.n_items, dtype=np.int64)
        fixed[self._restriction()[0]] = 1
        return b_matching.solver(self._matrix, fixed, self.optional)

    def _parameters(self) -> dict[str, Any]:
        capacities = {"row_capacities": list(self.row_capacities), "column_capacities": list(self.column_capacities)}
        return super()._parameters() | capacities

    def __repr__(self) -> str:
        return f"BMatching({self.n_rows} x {self.n_columns}{self._described()})"
