"""Items that fit into a budget: the knapsack, also with a choice of at most one item per group."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import as_items, check_count, check_weights
from semibandits._util.forks import cached_property
from semibandits._util.indexed import check_order
from semibandits.errors import EmptyFeasibleSet, InvalidSet
from semibandits.sets.base import FIXED, FREE, WarmOracle, best_without, check_oracle_weights
from semibandits.sets.oracles import knapsack
from semibandits.sets.programs.highs import Search, Searched, import_highs
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Solver, Weights

MOST_CELLS = 1 << 22
"""Of the table of dynamic programming, 8 bytes each; where more were needed, a MILP is solved instead."""
TOLERANCE = 1e-12


class Knapsack(Searched):
    """Any items whose costs sum to at most `capacity`; with `groups`, one name or number per item, at most one of each.

    The sum, exact and then rounded once, may exceed the capacity by 1e-12 of it: 1.1 and 2.2 fit into 3.3.

    >>> Knapsack([3, 4, 2], capacity=6).argmax([0.5, 0.6, 0.2])
    array([1, 2])
    >>> Knapsack([3, 4, 2], capacity=6, groups=["a", "b", "b"]).argmax([0.5, 0.6, 0.2])
    array([0, 2])

    Where the costs are whole numbers, the oracle is dynamic programming over the capacity (Bellman 1957; with groups
    Dudziński and Walukiewicz 1987), O(n_items · capacity), both divided by the costs' greatest common divisor, unless
    the table had more than 4 million cells. Of tied solutions it takes the one without the last item in which they
    differ, the items of a group being next to each other; items of weight 0 or less are never chosen. In all other
    cases the oracle is HiGHS, as for `MILP`. `method` says which.
    """

    def __init__(self, costs: ArrayLike, capacity: float, *, groups: Sequence[Any] | None = None) -> None:
        self.costs = _read_costs(costs)
        self.n_items = check_count("the number of items", self.costs.size)
        self.capacity = _read_capacity(capacity)
        self.groups = None if groups is None else _read_groups(groups, self.n_items)
        numbers: dict[Any, int] = {}
        named = range(self.n_items) if self.groups is None else self.groups
        self._group = np.array([numbers.setdefault(name, len(numbers)) for name in named])
        self._whole = bool((self.costs == np.floor(self.costs)).all()) and math.fsum(self.costs) < 2.0**53
        self._set_free()

    def with_capacity(self, capacity: float) -> Self:
        """The same items, restrictions included, and another budget.

        >>> Knapsack([3, 4, 2], capacity=6).with_capacity(5).argmax([0.5, 0.6, 0.2])
        array([0, 2])
        """
        other = copy(self)
        other.capacity = _read_capacity(capacity)
        other._prepare()
        return other

    @property
    def _limit(self) -> float:
        return self.capacity * (1.0 + TOLERANCE)

    def _fits(self, costs: Iterable[float]) -> bool:
        return math.fsum(costs) <= self._limit

    def _how_many(self, costs: list[float], held: Sequence[float] = ()) -> int:
        """How many of these, from the first on, fit beside what is held."""
        counts = range(1, len(costs) + 1)
        return bisect_right(counts, False, key=lambda count: not self._fits((*held, *costs[:count])))

    def _prepare(self) -> None:
        fixed = self._state == FIXED
        held = self.costs[fixed].tolist()
        if not self._fits(held):
            raise EmptyFeasibleSet(f"they cost {math.fsum(held)}, the capacity is {self.capacity}")
        taken = np.bincount(self._group[fixed], minlength=self.n_items)
        if taken.max() > 1:
            raise EmptyFeasibleSet("two of them are of the same group")
        self._fixed = fixed
        self._left = self._limit - math.fsum(held)
        """Of the capacity, to rounding."""
        possible = (self._state == FREE) & (taken[self._group] == 0)
        if self._whole:
            possible &= self.costs <= self._left
        else:
            possible[possible] = [self._fits((*held, cost)) for cost in self.costs[possible].tolist()]
        order = np.argsort(self._group, kind="stable")
        self._items = order[possible[order]]
        """Those that a solution may contain beside the fixed ones, by group and number."""
        members = self._group[self._items]
        self._starts = np.append(np.flatnonzero(np.diff(members, prepend=-1)), members.size)
        """Group g of them begins at starts[g]."""
        costs = self.costs[self._items]
        cheapest = np.sort(np.minimum.reduceat(costs, self._starts[:-1]) if costs.size else costs).tolist()
        self.max_size = len(held) + self._how_many(cheapest, held)
        self._set_method()

    def _set_method(self) -> None:
        """Whole costs are divided by their common divisor; more capacity than all items need is not looked at."""
        self._units: Items | None = None
        if self._whole:
            costs = self.costs[self._items].astype(np.int64)
            divisor = int(np.gcd.reduce(costs)) or 1
            units = costs // divisor
            needed = int(np.maximum.reduceat(units, self._starts[:-1]).sum()) if units.size else 0
            self._room = min(int(min(self._left, 2.0**53)) // divisor, needed)
            if self._starts.size * (self._room + 1) <= MOST_CELLS:
                self._units = units
        if self._units is None:
            import_highs(  # says so at once where it is missing
                "a knapsack whose costs are no whole numbers, or whose capacity is too large for a table, needs HiGHS"
            )

    @property
    def method(self) -> str:
        """How the oracle works: "dynamic programming" or "MILP"."""
        return "MILP" if self._units is None else "dynamic programming"

    @cached_property
    def _search(self) -> Search:  # type: ignore[override]
        return Search(self.program(), self._cover)

    def _cover(self, items: Items) -> Items:
        """The costliest of these items, as many as are too many."""
        costliest = items[np.argsort(-self.costs[items], kind="stable")]
        costs = self.costs[costliest].tolist()
        return costliest[: self._how_many(costs) + 1]

    def solver(self) -> Solver | None:
        if self._units is None:
            return None
        return knapsack.solver(self._items, self._units, self._starts, self._fixed, self._room)

    def single(self) -> Solver | None:
        return self.solver()

    @cached_property
    def _live(self) -> WarmOracle | None:
        solver = self.solver()
        return None if solver is None else WarmOracle(solver, self.max_size)

    def argmax(self, weights: ArrayLike) -> Items:
        if self._live is None:
            return super().argmax(weights)
        return self._live(check_oracle_weights(self, weights))

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        if self._live is None:
            return super().argmax_without(weights, exclude)
        return best_without(self, self._live, weights, exclude)

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or not self._obeys(ordered):
            return False
        groups = self._group[ordered]
        return np.unique(groups).size == groups.size and self._fits(self.costs[ordered].tolist())

    def best_with_each(self, weights: ArrayLike) -> Weights:
        """By the best values of the groups before and of those behind the item's, for every division of the room."""
        if self._units is None:
            return super().best_with_each(weights)
        w = check_weights(weights, self.n_items)
        gains = w[self._items]
        groups = [range(begin, end) for begin, end in zip(self._starts[:-1], self._starts[1:], strict=True)]
        before, behind = self._table(gains, groups), self._table(gains, groups[::-1])[::-1]
        best = np.full(self.n_items, -np.inf)
        held = float(w[self._fixed].sum())
        best[self._fixed] = held + before[-1, -1]
        for g, group in enumerate(groups):
            for j in group:
                room = self._room - int(self._units[j])
                others = before[g, : room + 1] + behind[g + 1, room::-1]
                best[self._items[j]] = held + gains[j] + others.max()
        return best

    def _table(self, gains: Weights, groups: Sequence[range]) -> NDArray[np.float64]:
        """Row g, column c: the best value of the first g of these groups with room c."""
        assert self._units is not None
        table = np.zeros((len(groups) + 1, self._room + 1))
        for g, group in enumerate(groups):
            table[g + 1] = table[g]
            for j in group:
                unit = int(self._units[j])
                np.maximum(table[g + 1, unit:], table[g, : self._room + 1 - unit] + gains[j], out=table[g + 1, unit:])
        return table

    def uncovered(self) -> Items:
        covered = self._fixed.copy()
        covered[self._items] = True
        return np.flatnonzero(~covered)

    def program(self) -> Program:
        program = Program(self.n_items)
        program.add_row(range(self.n_items), self.costs.tolist(), -np.inf, self.capacity)
        if self.groups is not None:
            for group in range(int(self._group.max()) + 1):
                program.add_row(np.flatnonzero(self._group == group).tolist(), 1.0, -np.inf, 1.0)
        return program

    def _parameters(self) -> dict[str, Any]:
        return {"costs": self.costs.tolist(), "capacity": self.capacity, "groups": self.groups}

    def __repr__(self) -> str:
        groups = "" if self.groups is None else f", {int(self._group.max()) + 1} groups"
        kind = type(self).__name__
        return f"{kind}({self.n_items} items, capacity {self.capacity:g}{groups}, {self.method}{self._restricted})"


def _read_costs(given: Any) -> Weights:
    check_order("costs", given, names=True)
    listed: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, Mapping) else [None]
    if not all(_is_number(cost) for cost in listed):
        raise InvalidSet(f"costs must be finite numbers >= 0, one per item, got {given!r:.200}")
    try:
        costs = np.array([float(cost) for cost in listed], dtype=np.float64)
    except OverflowError:
        raise InvalidSet(f"costs must be finite numbers >= 0, got {max(listed)!r:.30}...") from None
    wrong = ~(np.isfinite(costs) & (costs >= 0.0))
    if wrong.any():
        item = int(np.argmax(wrong))
        raise InvalidSet(f"costs must be finite numbers >= 0, got {costs[item]} for item {item}")
    with np.errstate(over="ignore"):
        if not np.isfinite(costs.sum()):
            raise InvalidSet("the sum of all costs must be finite")
    return costs


def _read_capacity(given: Any) -> float:
    try:
        capacity = float(given) if _is_number(given) else math.nan
    except OverflowError:
        capacity = math.inf
    if not 0.0 <= capacity < math.inf:
        raise InvalidSet(f"capacity must be a finite number >= 0, got {given!r:.100}")
    return capacity


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)


def _read_groups(given: Any, n_items: int) -> list[Any]:
    """As JSON can say them."""
    groups = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable):
        raise InvalidSet(f"groups must be integers or names, one per item, got {given!r:.200}")
    named = [int(name) if isinstance(name, np.integer) else name for name in groups]
    if len(named) != n_items or not all(isinstance(name, str | int) for name in named):
        raise InvalidSet(f"groups must be {n_items} integers or names, one per item, got {given!r:.200}")
    return named
