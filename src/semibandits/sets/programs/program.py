"""A set as a mixed integer program: for solvers that know nothing of its structure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_n_items
from semibandits.errors import InvalidSet, Unsupported
from semibandits.sets.base import BuiltIn
from semibandits.types import FeasibleSet, Weights

TOLERANCE = 1e-9
"""By how much a row may miss its bounds, in terms of its largest entry or of the bound, whichever is larger."""


class Rows:
    """lower <= A x <= upper, to rounding (`TOLERANCE`)."""

    def __init__(self, matrix: Any, lower: Weights, upper: Weights) -> None:
        self.matrix, self.lower, self.upper = matrix, lower, upper
        self.largest: Weights = np.abs(matrix).max(axis=1).toarray().ravel() if matrix.nnz else np.zeros(lower.size)
        """Of every row, the largest entry without its sign."""
        low, high = (np.where(np.isfinite(bound), np.abs(bound), 0.0) for bound in (lower, upper))
        self._lower = lower - TOLERANCE * np.maximum(self.largest, low)
        self._upper = upper + TOLERANCE * np.maximum(self.largest, high)

    @classmethod
    def read(cls, matrix: Any, lower: Any, upper: Any) -> "Rows":
        """Rows as a user gives them.

        The matrix: an array or nested lists (a single row may be a vector), a sparse matrix of SciPy, or, as in a
        specification, {"shape": [rows, columns], "rows": [...], "columns": [...], "values": [...]}. The bounds: one
        number for all rows or one per row; None, also within a list, means that there is none.
        """
        entries = _read_matrix(matrix)
        if not np.isfinite(entries.data).all():
            raise InvalidSet("the entries of the matrix must be finite numbers")
        low = read_numbers("lower", lower, entries.shape[0], -np.inf)
        high = read_numbers("upper", upper, entries.shape[0], np.inf)
        check_order("row", low, high)
        return cls(entries, low, high)

    def hold(self, x: ArrayLike) -> bool:
        activity = self.matrix @ np.asarray(x, dtype=np.float64)
        return bool((activity >= self._lower).all() and (activity <= self._upper).all())

    def parameters(self) -> dict[str, Any]:
        """As `read` takes them and JSON can say them."""
        rows, columns = self.matrix.shape
        matrix: Any = self.matrix.toarray().tolist()
        if 2 * self.matrix.nnz < rows * columns or rows == 0:
            entries = self.matrix.tocoo()
            row, column = (numbers.tolist() for numbers in entries.coords)
            matrix = {"shape": [rows, columns], "rows": row, "columns": column, "values": entries.data.tolist()}
        return {"matrix": matrix, "lower": as_listed(self.lower), "upper": as_listed(self.upper)}

    def __str__(self) -> str:
        return "1 row" if self.lower.size == 1 else f"{self.lower.size} rows"


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

    def add_rows(self, rows: Rows) -> None:
        """Rows over the first columns."""
        matrix = rows.matrix
        self.starts += (len(self.columns) + matrix.indptr[1:]).tolist()
        self.columns += matrix.indices.tolist()
        self.values += matrix.data.tolist()
        self.row_lower += rows.lower.tolist()
        self.row_upper += rows.upper.tolist()

    def rows_hold(self, x: ArrayLike) -> bool:
        """Whether these values of all columns satisfy all rows."""
        return self.rows().hold(x)

    def rows(self) -> Rows:
        from scipy.sparse import csr_array

        shape = (len(self.row_lower), len(self.lower))
        columns, starts = np.array(self.columns, dtype=np.int32), np.array(self.starts, dtype=np.int32)
        matrix = csr_array((self.values, columns, starts), shape=shape, dtype=np.float64)
        matrix.sum_duplicates()
        return Rows(matrix, np.array(self.row_lower), np.array(self.row_upper))


def read_numbers(name: str, given: Any, count: int, missing: float) -> Weights:
    """One number for all, or a list of them, in which None is what is `missing`."""
    listed = isinstance(given, Iterable) and not isinstance(given, str | bytes)
    try:
        numbers = [missing if number is None else float(number) for number in (given if listed else [given])]
    except (TypeError, ValueError, OverflowError):
        raise InvalidSet(f"{name} must be a number or a list of numbers, got {given!r:.200}") from None
    if listed and len(numbers) != count:
        raise InvalidSet(f"{name} must be one number or {count}, one for each, got {len(numbers)}")
    if np.isnan(numbers).any():
        raise InvalidSet(f"{name} must be numbers, got {given!r:.200}")
    return np.array(numbers if listed else numbers * count, dtype=np.float64)


def check_order(kind: str, lower: Weights, upper: Weights) -> None:
    """Bounds between which there is something."""
    wrong = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InvalidSet(f"no number is between the bounds of {kind} {i}, lower {lower[i]} and upper {upper[i]}")


def as_listed(bounds: NDArray[Any]) -> list[float | None]:
    """As `read_numbers` takes them: what is not finite is None."""
    return [number if np.isfinite(number) else None for number in bounds.tolist()]


def _read_matrix(given: Any) -> Any:
    from scipy.sparse import coo_array, csr_array

    _check_shape(given)
    try:
        if isinstance(given, Mapping):
            shape = tuple(int(number) for number in given["shape"])
            places = (given["rows"], given["columns"])
            matrix = csr_array(coo_array((given["values"], places), shape=shape, dtype=np.float64))
        elif hasattr(given, "tocsr"):
            matrix = csr_array(given.tocsr(), dtype=np.float64)
        else:
            dense = np.asarray(given)
            if dense.dtype == np.object_ and all(type(entry) in (int, float) for entry in dense.flat):
                dense = dense.astype(np.float64)  # whole numbers of any length
            if dense.dtype.kind not in "fiub":
                raise TypeError
            matrix = csr_array(np.atleast_2d(dense.astype(np.float64)))
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        raise InvalidSet(f"the matrix must be numbers in rows of equal length, got {given!r:.200}") from None
    if len(matrix.shape) != 2:
        raise InvalidSet(f"the matrix must have two dimensions, got shape {matrix.shape}")
    matrix.sum_duplicates()
    return matrix


def _check_shape(given: Any) -> None:
    """A few words may say how large a sparse matrix is."""
    shape = given.get("shape") if isinstance(given, Mapping) else getattr(given, "shape", None)
    for number in shape if isinstance(shape, list | tuple) else ():
        if isinstance(number, int) and number > 0:
            check_n_items(number, "the number of rows or columns of the matrix")
