"""Sets that the user writes as a mixed integer program."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import as_items, check_count, check_n_items
from semibandits.errors import EmptyFeasibleSet, InvalidSet
from semibandits.sets.base import EXCLUDED, FIXED
from semibandits.sets.programs.highs import Search, Searched, State
from semibandits.sets.programs.program import Program, Rows, as_listed, check_order, read_numbers
from semibandits.types import FeasibleSet, Items, Weights


class MILP(Searched):
    """The 0/1 vectors x, one number per item, with lower <= A x <= upper.

    `matrix` is A, an array, nested lists, or a sparse matrix of SciPy; `lower` and `upper` are one number for all rows
    or one per row, None meaning that there is no bound. Where A has more columns than there are items, the first
    `n_items` are the items, and the others *helpers*: numbers, whole ones where `integer` says so, between
    `column_lower` (0 unless told) and `column_upper` (no bound unless told), each one value for all helpers or one per
    helper. A choice of items is feasible if there are values of the helpers that satisfy all rows. Helpers have no
    weight, so there is always a best solution, also where helpers can grow without bounds.

    >>> two_of_the_first_three = MILP([[1, 1, 1, 0], [0, 0, 1, 1]], lower=[2, None], upper=[2, 1])
    >>> two_of_the_first_three.argmax([0.1, 0.5, 0.9, 0.3])
    array([1, 2])

    The oracle is HiGHS (the extra `milp`), a branch-and-cut search: exponential at worst. Every answer
    is rounded to whole numbers and checked. Rows hold to 1e-9 of their largest entry or bound; entries below 1e-9 of
    the largest in their row may be ignored; of solutions whose values differ by less than 1e-9 of the largest weight
    any may be returned, the same one for the same weights every time.

    `ratio` < 1 lets HiGHS stop as soon as its answer is proven to be worth at least that share of the best (or, where
    the best is negative, at most 1/ratio times as far below zero). `max_nodes` ends the search after so many nodes:
    `proven` then says which share of the best the last answer is worth for certain, and `ratio` is the least share so
    far. It is 1e-9 where nothing is proven, as of an answer worth 0 when something better is not ruled out. Without
    any answer, `OracleFailed` is raised.
    """

    _proven = _least = 1.0

    def __init__(
        self,
        matrix: Any,
        lower: Any = None,
        upper: Any = None,
        *,
        n_items: int | None = None,
        column_lower: Any = None,
        column_upper: Any = None,
        integer: Any = None,
        ratio: float = 1.0,
        max_nodes: int | None = None,
        labels: Iterable[str] | None = None,
    ) -> None:
        self.rows = Rows.read(matrix, lower, upper)
        columns = self.rows.matrix.shape[1]
        self.n_items = check_n_items(columns if n_items is None else n_items)
        helpers = columns - self.n_items
        if helpers < 0:
            raise InvalidSet(f"n_items is {self.n_items}, but the matrix has only {columns} columns")
        given = 0.0 if column_lower is None else column_lower
        self.column_lower = read_numbers("column_lower, of the helpers,", given, helpers, -np.inf)
        self.column_upper = read_numbers("column_upper, of the helpers,", column_upper, helpers, np.inf)
        check_order("helper", self.column_lower, self.column_upper)
        self.integer = _read_flags(integer, helpers)
        if isinstance(ratio, bool) or not isinstance(ratio, int | float | np.floating) or not 0.0 < ratio <= 1.0:
            raise InvalidSet(f"ratio must be in (0, 1], got {ratio!r:.100}")
        self.max_nodes = None if max_nodes is None else check_count("max_nodes", max_nodes)
        self.labels = () if labels is None else _read_labels(labels, self.n_items)
        self._wanted = float(ratio)
        self._search = Search(self.program())
        self._state = np.ones(self.n_items, dtype=np.int8)
        largest = self._search.best(np.ones(self.n_items), self._state, self._accepts, max_nodes=self.max_nodes)
        self.max_size = min(self.n_items, math.floor(largest.bound + 1e-6))

    @property
    def promised(self) -> bool:  # type: ignore[override]
        return self.max_nodes is None

    @property
    def ratio(self) -> float:  # type: ignore[override]
        return self._wanted if self.max_nodes is None else min(self._wanted, self._least)

    @property
    def proven(self) -> float:
        """The last answer's share of the best that is proven; 1 before the first."""
        return self._proven

    def __getstate__(self) -> dict[str, Any]:
        """Without what was proven of answers: it does not say which set this is."""
        return {name: value for name, value in super().__getstate__().items() if name not in ("_proven", "_least")}

    def _prepare(self) -> None:
        self._search.best(np.zeros(self.n_items), self._state, self._accepts, max_nodes=self.max_nodes)

    def _best(self, w: Weights, state: State) -> Items:
        found = self._search.best(w, state, self._accepts, self._wanted, self.max_nodes)
        with self._search.lock:
            self._proven, self._least = found.proven, min(self._least, found.proven)
        return found.items

    def best_with_each(self, weights: ArrayLike) -> Weights:
        exact = self._wanted == 1.0 and self.max_nodes is None
        return super().best_with_each(weights) if exact else FeasibleSet.best_with_each(self, weights)

    def contains(self, items: Iterable[int]) -> bool:
        """With helpers this asks HiGHS whether there are values of them."""
        ordered = as_items(items)
        return ordered is not None and self._obeys(ordered) and self._holds(ordered)

    def _holds(self, items: Items) -> bool:
        if self.integer.size == 0:
            x = np.zeros(self.n_items)
            x[items] = 1.0
            return self.rows.hold(x)
        state = np.full(self.n_items, EXCLUDED, dtype=np.int8)
        state[items] = FIXED
        try:
            self._search.best(np.zeros(self.n_items), state, lambda _, x: True)
        except EmptyFeasibleSet:
            return False
        return True

    def _accepts(self, items: Items, x: Weights) -> bool:
        helpers = x[self.n_items :]
        helpers[self.integer] = np.rint(helpers[self.integer])
        return self.rows.hold(x) or (self.integer.size > 0 and self._holds(items))

    def program(self) -> Program:
        program = Program(self.n_items)
        for lower, upper, whole in zip(self.column_lower, self.column_upper, self.integer, strict=True):
            program.add_column(float(lower), float(upper), bool(whole))
        program.add_rows(self.rows)
        return program

    def _parameters(self) -> dict[str, Any]:
        return self.rows.parameters() | {
            "n_items": self.n_items,
            "column_lower": as_listed(self.column_lower),
            "column_upper": as_listed(self.column_upper),
            "integer": self.integer.tolist(),
            "ratio": self._wanted,
            "max_nodes": self.max_nodes,
            "labels": list(self.labels) or None,
        }

    def __repr__(self) -> str:
        helpers = f", {self.integer.size} helpers" if self.integer.size else ""
        return f"MILP({self.n_items} items{helpers}, {self.rows}{self._restricted})"


def _read_flags(given: Any, count: int) -> Any:
    flags = np.asarray(False if given is None else given)
    if flags.size == 0:
        flags = flags.astype(np.bool_)
    if flags.dtype != np.bool_ or flags.shape not in ((), (count,)):
        raise InvalidSet(f"integer must be True or False, or {count} of them, one per helper, got {given!r:.200}")
    return np.broadcast_to(flags, (count,)).copy()


def _read_labels(given: Any, count: int) -> tuple[str, ...]:
    names = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes) else ()
    if len(names) != count or not all(isinstance(name, str) and name and name.isprintable() for name in names):
        raise InvalidSet(f"labels must be {count} printable strings, one per item, got {given!r:.200}")
    if len(set(names)) != count:
        raise InvalidSet(f"labels must be distinct, got {given!r:.200}")
    return names
