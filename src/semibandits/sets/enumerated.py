"""Any family of solutions small enough to be listed."""

import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import as_items, check_items, check_n_items, check_restriction, check_weights
from semibandits.errors import EmptyFeasibleSet, InvalidSet
from semibandits.sets.base import BuiltIn, restriction, scaled_down
from semibandits.sets.oracles import enumerated
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Solver, Weights


class Enumerated(BuiltIn):
    """The solutions in this list, and no others.

    The oracle adds up every solution, item by item in ascending order: O(number of solutions · max_size). Of tied
    solutions it takes the first listed. The empty solution may be one of them.

    >>> Enumerated([[0, 1], [2], [1, 3]]).argmax([0.1, 0.2, 0.9, 0.8])
    array([1, 3])
    """

    def __init__(self, solutions: Iterable[Sequence[int]], n_items: int | None = None) -> None:
        if not isinstance(solutions, Iterable):
            raise InvalidSet(f"solutions must be a list of lists of items, got {solutions!r:.200}")
        listed: list[Items] = []
        for solution in solutions:
            items = as_items(solution)
            if items is None:
                raise InvalidSet(f"solution {len(listed)} must be distinct integers, got {solution!r:.200}")
            if items.size and items[0] < 0:
                raise InvalidSet(f"solution {len(listed)} contains the negative item {items[0]}")
            listed.append(items.copy())
        if not listed:
            raise EmptyFeasibleSet("the list of solutions is empty")
        largest = max((int(items[-1]) for items in listed if items.size), default=-1)
        self.n_items = check_n_items(largest + 1 if n_items is None else n_items)
        if largest >= self.n_items:
            raise InvalidSet(f"a solution contains item {largest}, but n_items={n_items}")
        self._set_solutions(listed)

    def _set_solutions(self, listed: list[Items]) -> None:
        self._solutions = listed
        self._index = {items.tobytes() for items in listed}
        self.max_size = max(items.size for items in listed)
        # One column per position; short solutions are padded with item n_items, whose weight is 0.
        padded = np.full((self.max_size, len(listed)), self.n_items, dtype=np.intp)
        for j, items in enumerate(listed):
            padded[: items.size, j] = items
        self._columns = padded

    @property
    def solutions(self) -> list[list[int]]:
        return [items.tolist() for items in self._solutions]

    def _totals(self, weights: ArrayLike) -> Weights:
        w = np.append(check_weights(weights, self.n_items), 0.0)
        totals = np.zeros(len(self._solutions))
        with np.errstate(over="ignore"):
            for column in self._columns:
                totals += w[column]
        return totals

    def argmax(self, weights: ArrayLike) -> Items:
        return self._solutions[self._best(weights, slice(None))].copy()

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        left_out = np.zeros(self.n_items + 1, dtype=bool)
        left_out[check_items(exclude, self.n_items)] = True
        keep = np.flatnonzero(~left_out[self._columns].any(axis=0))
        if keep.size == 0:
            return super().argmax_without(weights, exclude)
        best: Items = self._solutions[keep[self._best(weights, keep)]]
        return best.copy()

    def _best(self, weights: ArrayLike, among: Any) -> int:
        """Where the best of some solutions is among these."""
        totals = self._totals(weights)[among]
        best = int(np.argmax(totals))
        if not np.isfinite(totals[best]):  # sums of huge weights
            best = int(np.argmax(self._totals(scaled_down(weights))[among]))
        return best

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        return ordered is not None and ordered.tobytes() in self._index

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "Enumerated":
        inside, outside = check_restriction(include, exclude, self.n_items)
        keep = ~np.isin(self._columns, outside).any(axis=0)
        for item in inside:
            keep &= (self._columns == item).any(axis=0)
        if not keep.any():
            raise EmptyFeasibleSet(f"no solution is listed {restriction(inside, outside)}")
        restricted = copy.copy(self)
        restricted._set_solutions([self._solutions[j] for j in np.flatnonzero(keep)])
        return restricted

    def best_with_each(self, weights: ArrayLike) -> Weights:
        return self._best_of_each(self._totals(weights))

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights:
        totals = self._totals(weights)
        return self._best_of_each(np.where(totals < totals.max() - tolerance, totals, -np.inf))

    def _best_of_each(self, totals: Weights) -> Weights:
        best = np.full(self.n_items + 1, -np.inf)
        for column in self._columns:
            np.maximum.at(best, column, totals)
        return best[:-1]

    def uncovered(self) -> Items:
        return np.setdiff1d(np.arange(self.n_items), self._columns)

    def solver(self) -> Solver:
        """For a block of runs."""
        return enumerated.solver_in_lanes(self._solutions, self.n_items, self.max_size)

    def single(self) -> Solver:
        return enumerated.solver(self._solutions)

    def counted(self, limit: int) -> int:
        return min(len(self._solutions), limit + 1)

    def listed(self, limit: int) -> list[Items]:
        return [items.copy() for items in self._solutions]

    def program(self) -> Program:
        """A column for each solution, of which one is taken: an item is taken where a solution with it is."""
        program = Program(self.n_items)
        taken = [program.add_column() for _ in self._solutions]
        program.add_row(taken, 1.0, 1.0, 1.0)
        with_item: list[list[int]] = [[] for _ in range(self.n_items)]
        for column, items in zip(taken, self._solutions, strict=True):
            for item in items.tolist():
                with_item[item].append(column)
        for item, columns in enumerate(with_item):
            program.add_row([item, *columns], [-1.0] + [1.0] * len(columns), 0.0, 0.0)
        return program

    def _parameters(self) -> dict[str, Any]:
        return {"solutions": self.solutions, "n_items": self.n_items}

    def __len__(self) -> int:
        return len(self._solutions)

    def __repr__(self) -> str:
        return f"Enumerated({len(self._solutions)} solutions, n_items={self.n_items})"
