"""A set as a mixed integer program: for solvers that know nothing of its structure."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semibandits.errors import Unsupported
from semibandits.sets.built_in import BuiltIn
from semibandits.types import FeasibleSet


class Program:
    """{x : row_lower <= A x <= row_upper, lower <= x <= upper}, of which columns 0..n_items-1 are the items, binary.

    What an item's column is in any such x says which items are chosen; further columns help to say which x there are.
    """

    def __init__(self, n_items: int) -> None:
        self.n_items = n_items
        self.lower, self.upper = [0.0] * n_items, [1.0] * n_items
        self.integer = [True] * n_items
        self.row_lower: list[float] = []
        self.row_upper: list[float] = []
        self.starts: list[int] = [0]
        """Row r has the entries starts[r] to starts[r+1]."""
        self.columns: list[int] = []
        self.values: list[float] = []

    @classmethod
    def of(cls, feasible: FeasibleSet) -> "Program":
        """The set with its restrictions."""
        program = feasible.program() if isinstance(feasible, BuiltIn) else None
        if program is None:
            raise Unsupported(f"{feasible!r} cannot be written as a mixed integer program")
        assert isinstance(feasible, BuiltIn)
        include, exclude = feasible._restriction()
        for item in include.tolist():
            program.lower[item] = 1.0
        for item in exclude.tolist():
            program.upper[item] = 0.0
        return program

    def add_column(self, lower: float = 0.0, upper: float = 1.0, integer: bool = False) -> int:
        """One more column that is no item; returns its number."""
        self.lower.append(lower)
        self.upper.append(upper)
        self.integer.append(integer)
        return len(self.lower) - 1

    def add_row(self, columns: Iterable[int], values: Sequence[float] | float, lower: float, upper: float) -> None:
        """lower <= sum of values · columns <= upper; one number stands for as many equal values."""
        listed = list(columns)
        self.columns += listed
        self.values += [values] * len(listed) if isinstance(values, int | float) else [float(v) for v in values]
        assert len(self.columns) == len(self.values)
        self.starts.append(len(self.columns))
        self.row_lower.append(lower)
        self.row_upper.append(upper)

    def matrix(self) -> Any:
        """A, as a sparse matrix."""
        from scipy.sparse import csr_array

        return csr_array((self.values, self.columns, self.starts), shape=(len(self.row_lower), len(self.lower)))

    def rows_hold(self, x: Sequence[float], tolerance: float = 1e-6) -> bool:
        """Whether these values of all columns satisfy all rows, to rounding."""
        activity = self.matrix() @ np.asarray(x, dtype=np.float64)
        slack = tolerance * (1.0 + np.abs(activity))
        lower, upper = np.asarray(self.row_lower), np.asarray(self.row_upper)
        return bool((activity >= lower - slack).all() and (activity <= upper + slack).all())
