"""Nested limits on how many items are chosen: the laminar matroid."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semibandits._util.checks import as_items, check_n_items, within
from semibandits.errors import InvalidSet
from semibandits.sets.base import FREE, Solved
from semibandits.sets.matroid import MatroidSet
from semibandits.sets.oracles import greedy, laminar
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Solver, Weights


class LaminarMatroid(MatroidSet, Solved):
    """Every choice of as many items as can be such that of each family at most `capacity` items are chosen.

    `families` is a list of pairs (items, capacity), any two families being nested or disjoint. With `bases=False` the
    choice may have any size.

    The oracle is greedy (Edmonds 1971): it takes the items in the order of their weights, of tied ones the lowest
    number first, unless a family that holds the item is full: O(n_items · (log n_items + depth of the families)), and
    often O(n_items · depth) when the weights have changed little since the last call.

    >>> half = [([0, 1, 2], 1), ([3, 4], 1)]
    >>> LaminarMatroid(6, [*half, (range(5), 1)]).argmax([0.1, 0.9, 0.5, 0.5, 0.5, -1.0])
    array([1, 5])
    """

    def __init__(self, n_items: int, families: Iterable[tuple[Sequence[int], int]], *, bases: bool = True) -> None:
        self.n_items = check_n_items(n_items)
        self.families = _read(families, self.n_items)
        """(items, capacity) each, as they were given."""
        self._capacity = np.array([capacity for _, capacity in self.families], dtype=np.int64)
        self._set_parents()
        self._set_up(bases)

    def _set_parents(self) -> None:
        """`_parent`: the smallest family around each family, or -1; `_family`: the smallest around each item, or -1.

        Larger families come first, so that a parent is known before its children: `_order`.
        """
        members = [items for items, _ in self.families]
        self._order = sorted(range(len(members)), key=lambda i: -members[i].size)
        self._family = np.full(self.n_items, -1)
        self._parent = np.full(len(members), -1)
        depth = np.zeros(len(members) + 1, dtype=np.int64)  # the last is that of no family
        for family in self._order:
            items = members[family]
            if items.size == 0:
                continue
            deepest = items[np.argmax(depth[self._family[items]])]
            parent = int(self._family[deepest])
            if (self._family[items] != parent).any():
                beyond = np.setdiff1d(items, members[parent])
                raise InvalidSet(
                    f"families {parent} and {family} are neither nested nor disjoint: both contain item {deepest}, "
                    f"and item {beyond[0]} is only in family {family}"
                )
            self._parent[family] = parent
            depth[family] = depth[parent] + 1
            self._family[items] = family

    def _count(self, items: Items) -> Items:
        """How many of these items each family holds."""
        count = np.bincount(self._family[items] + 1, minlength=len(self.families) + 1)[1:]
        for family in reversed(self._order):
            if self._parent[family] >= 0:
                count[self._parent[family]] += count[family]
        return count

    def _independent(self, items: Items) -> bool:
        chosen = np.zeros(self.n_items, dtype=bool)
        chosen[items] = True
        return all(np.count_nonzero(chosen[members]) <= capacity for members, capacity in self.families)

    def _contract(self) -> int:
        self._room = self._capacity - self._count(self._fixed)
        closed = np.append(self._room == 0, False)
        for family in self._order:
            closed[family] |= closed[self._parent[family]]
        self._free = np.flatnonzero((self._state == FREE) & ~closed[self._family])
        # Bottom up: of each family as many as it has room for, or as its parts and its own items give.
        gives = np.bincount(self._family[self._free] + 1, minlength=len(self.families) + 1)
        for family in reversed(self._order):
            gives[self._parent[family] + 1] += min(int(gives[family + 1]), int(self._room[family]))
        return int(gives[0])

    def solver(self) -> Solver:
        structure = (self._family, self._parent)
        sizes = self.n_items, self.max_size, self.bases
        return greedy.solver(laminar.best_independent, structure, self._room, self._free, self._fixed, *sizes)

    def _weakest(self, w: Weights, items: Items) -> Items:
        """The lightest in the smallest full family around the item: if that makes room, so do those around it."""
        rest = items[self._state[items] == FREE]
        order = rest[np.argsort(-w[rest], kind="stable")]
        last = np.full(len(self.families) + 1, -1)  # of the order, in each family; its last entry is for no family
        np.maximum.at(last, self._family[order], np.arange(order.size))
        for family in reversed(self._order):
            last[self._parent[family]] = max(last[self._parent[family]], last[family])
        full = np.append(self._count(items) == self._capacity, False)
        lightest = np.full(len(self.families) + 1, self.n_items)
        for family in self._order:
            parent = self._parent[family]
            lightest[family] = order[last[family]] if full[family] and last[family] >= 0 else lightest[parent]
        weakest: Items = lightest[self._family]
        return weakest

    def program(self) -> Program:
        program = Program(self.n_items)
        for items, capacity in self.families:
            program.add_row(items.tolist(), 1.0, 0, capacity)
        if self.bases:
            program.add_row(range(self.n_items), 1.0, self._rank, self._rank)
        return program

    def _parameters(self) -> dict[str, Any]:
        families = [[items.tolist(), capacity] for items, capacity in self.families]
        return {"n_items": self.n_items, "families": families, "bases": self.bases}

    def __repr__(self) -> str:
        kind = "" if self.bases else ", bases=False"
        return f"LaminarMatroid({self.n_items} items, {len(self.families)} families{kind}{self._restricted})"


def _read(families: Any, n_items: int) -> list[tuple[Items, int]]:
    if isinstance(families, str | bytes) or not isinstance(families, Iterable):
        raise InvalidSet(f"families must be a list of pairs (items, capacity), got {families!r:.200}")
    found: list[tuple[Items, int]] = []
    for family in families:
        named = f"family {len(found)}"
        if not isinstance(family, tuple | list) or len(family) != 2:
            raise InvalidSet(f"{named} must be a pair (items, capacity), got {family!r:.200}")
        items, capacity = as_items(family[0]), family[1]
        if items is None:
            raise InvalidSet(f"the items of {named} must be distinct integers, got {family[0]!r:.200}")
        if not within(items, n_items):
            wrong = items[0] if items[0] < 0 else items[-1]
            raise InvalidSet(f"{named} contains item {wrong}, but items are 0 to {n_items - 1}")
        if isinstance(capacity, bool) or not isinstance(capacity, int | np.integer) or capacity < 0:
            raise InvalidSet(f"the capacity of {named} must be an integer >= 0, got {capacity!r:.100}")
        found.append((items.copy(), min(int(capacity), 2**62)))
    return found
