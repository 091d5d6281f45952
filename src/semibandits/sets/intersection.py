"""The members of another set that satisfy further linear constraints."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semibandits._util.checks import as_items
from semibandits._util.forks import cached_property
from semibandits.errors import InvalidSet
from semibandits.sets.programs.highs import Search, Searched
from semibandits.sets.programs.program import Program, Rows
from semibandits.types import FeasibleSet


class Intersection(Searched):
    """The solutions of `feasible` with lower <= A x <= upper, where x is 1 for the items chosen and 0 for the others.

    `matrix` (A, one column per item), `lower` and `upper` are given as to `MILP`: budgets, quotas, exclusions, on top
    of a built-in set of any kind, also of one that is restricted, or an intersection itself. Sets made of Python code
    cannot be intersected.

    >>> from semibandits.sets import TopK
    >>> Intersection(TopK(4, 2), [[5, 3, 3, 1]], upper=6).argmax([0.9, 0.8, 0.5, 0.1])
    array([1, 2])

    The oracle is HiGHS (the extra `milp`) on the set written as a mixed integer program, however
    quick the set's own oracle may be; its accuracy is that of `MILP`. It takes weights of any sign and is exact, also
    where the set's own oracle is not. Ties are broken the same way every time.
    """

    def __init__(self, feasible: FeasibleSet, matrix: Any, lower: Any = None, upper: Any = None) -> None:
        if not isinstance(feasible, FeasibleSet):
            raise InvalidSet(f"feasible must be a FeasibleSet, got {feasible!r:.200}")
        self.feasible = feasible
        self.n_items = feasible.n_items
        self.rows = Rows.read(matrix, lower, upper)
        if self.rows.matrix.shape[1] != self.n_items:
            raise InvalidSet(
                f"the matrix must have {self.n_items} columns, one per item, got {self.rows.matrix.shape[1]}"
            )
        self._search = Search(self.program())
        self._state = np.ones(self.n_items, dtype=np.int8)
        self.max_size = self._best(np.ones(self.n_items), self._state).size

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.feasible.labels

    @cached_property
    def aliases(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.feasible.aliases

    @property
    def identities(self) -> Sequence[Any]:  # type: ignore[override]
        return self.feasible.identities

    def _prepare(self) -> None:
        self._best(np.zeros(self.n_items), self._state)

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or not self._obeys(ordered):
            return False
        x = np.zeros(self.n_items)
        x[ordered] = 1.0
        return self.rows.hold(x) and self.feasible.contains(ordered)

    def program(self) -> Program:
        program = Program.of(self.feasible)
        program.add_rows(self.rows)
        return program

    def _parameters(self) -> dict[str, Any]:
        return {"feasible": self.feasible, **self.rows.parameters()}

    def __repr__(self) -> str:
        return f"Intersection({self.feasible!r} with {self.rows}, by MILP{self._restricted})"
