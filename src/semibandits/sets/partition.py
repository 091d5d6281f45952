"""Items in groups, so many of each: the partition matroid."""

from collections.abc import Hashable, Iterable, Set
from copy import copy
from typing import Any, Self

import numpy as np

from semibandits._util.checks import check_count
from semibandits._util.indexed import by_name, check_order
from semibandits.errors import InvalidSet
from semibandits.sets.base import FREE, Solved
from semibandits.sets.matroid import MatroidSet
from semibandits.sets.oracles import partition
from semibandits.sets.programs.program import Program
from semibandits.types import ALWAYS, NEVER, Items, Quotas, Solver, Weights


class PartitionMatroid(MatroidSet, Solved):
    """Every choice of exactly so many items of each group (all, where it has fewer); with `bases=False`, at most.

    `groups` names the group of every item, by a number or any other word. `capacities` is one number for all groups, a
    list for groups 0, 1, 2, ..., or a mapping from groups to numbers (a list of such pairs, a pandas Series with the
    groups as its index). Of a group of capacity 0 no solution contains an item.

    The oracle takes the largest weights of each group by selection, O(n_items), and of tied items those with the lowest
    numbers; with `bases=False` it takes only positive ones.

    >>> menu = PartitionMatroid(["soup", "soup", "main", "main", "main"], {"soup": 1, "main": 2})
    >>> menu.argmax([0.1, 0.9, 0.5, 0.5, 0.5])
    array([1, 2, 3])
    """

    def __init__(self, groups: Iterable[Any], capacities: Any, *, bases: bool = True) -> None:
        self.groups = _names(groups)
        """The group of every item."""
        self.n_items = check_count("the number of items", len(self.groups))
        numbers: dict[Hashable, int] = {}
        self._group = np.array([numbers.setdefault(name, len(numbers)) for name in self.groups], dtype=np.int64)
        self._names = list(numbers)
        self._capacity = np.array(_capacities(self._names, capacities), dtype=np.int64)
        self._set_up(bases)

    def with_capacities(self, capacities: Any) -> Self:
        """The same items in the same groups, restrictions included, and so many of each group.

        >>> menu = PartitionMatroid(["soup", "soup", "main", "main", "main"], {"soup": 1, "main": 2})
        >>> menu.with_capacities({"soup": 0, "main": 1}).argmax([0.1, 0.9, 0.5, 0.7, 0.5])
        array([3])
        """
        other = copy(self)
        other._capacity = np.array(_capacities(self._names, capacities), dtype=np.int64)
        other._resized()
        return other

    def _independent(self, items: Items) -> bool:
        return bool((self._count(items) <= self._capacity).all())

    def _count(self, items: Items) -> Items:
        return np.bincount(self._group[items], minlength=len(self._names))

    def _contract(self) -> int:
        room = self._capacity - self._count(self._fixed)
        self._free = np.flatnonzero((self._state == FREE) & (room[self._group] > 0))
        self._room = np.minimum(room, self._count(self._free))
        return int(self._room.sum())

    def solver(self) -> Solver:
        members = self._free[np.argsort(self._group[self._free], kind="stable")]
        return partition.solver(members, self._count(members), self._room, self._fixed, self.n_items, self.bases)

    def quotas(self) -> Quotas:
        group = np.full(self.n_items, NEVER)
        group[self._free] = self._group[self._free]
        group[self._fixed] = ALWAYS
        return Quotas(group, self._room, self.bases)

    def _weakest(self, w: Weights, items: Items) -> Items:
        rest = items[self._state[items] == FREE]
        order = rest[np.argsort(-w[rest], kind="stable")]
        lightest = np.full(len(self._names), self.n_items)
        lightest[self._group[order]] = order  # the last one stays
        lightest[self._count(items) < self._capacity] = self.n_items
        return lightest[self._group]

    def program(self) -> Program:
        program = Program(self.n_items)
        sizes = np.bincount(self._group, minlength=len(self._names))
        for group, most in enumerate(np.minimum(self._capacity, sizes).tolist()):
            program.add_row(np.flatnonzero(self._group == group).tolist(), 1.0, most if self.bases else 0, most)
        return program

    def _parameters(self) -> dict[str, Any]:
        pairs = [[name, capacity] for name, capacity in zip(self._names, self._capacity.tolist(), strict=True)]
        return {"groups": self.groups, "capacities": pairs, "bases": self.bases}

    def __repr__(self) -> str:
        kind = "" if self.bases else ", bases=False"
        return f"PartitionMatroid({self.n_items} items, {len(self._names)} groups{kind}{self._restricted})"


def _names(groups: Any) -> list[Hashable]:
    check_order("groups", groups, names=True)
    listed = groups.tolist() if isinstance(groups, np.ndarray) else groups
    if isinstance(listed, str | bytes) or not isinstance(listed, Iterable):
        raise InvalidSet(f"groups must be a list, the group of each item, got {groups!r:.200}")
    names = [name.item() if isinstance(name, np.generic) else name for name in listed]
    for item, name in enumerate(names):
        if not (name is None or isinstance(name, str | int | float)) or name != name:
            raise InvalidSet(f"the group of item {item} must be a number or a string, got {name!r:.100}")
    return names


def _capacities(groups: list[Any], capacities: Any) -> list[int]:
    """Of these groups, in their order."""
    known: dict[Any, Any]
    if isinstance(capacities, int | np.integer):
        known = dict.fromkeys(groups, capacities)
    elif named := by_name(capacities):
        known = dict(zip(*named, strict=True))
        if len(known) < len(named[0]):
            raise InvalidSet(f"a group has two capacities in {capacities!r:.200}")
    elif isinstance(capacities, str | bytes | Set) or not isinstance(capacities, Iterable):
        raise InvalidSet(f"capacities must be an integer, a list or a mapping from groups, got {capacities!r:.200}")
    else:
        listed = list(capacities)
        pairs = bool(listed) and all(isinstance(one, tuple | list) and len(one) == 2 for one in listed)
        try:
            known = dict(listed if pairs else enumerate(listed))
        except TypeError as error:
            raise InvalidSet(f"capacities must be an integer, a list or a mapping from groups: {error}") from error
    for name in groups:
        if name not in known:
            raise InvalidSet(f"group {name!r:.100} has no capacity in {capacities!r:.200}")
        capacity = known[name]
        if isinstance(capacity, bool) or not isinstance(capacity, int | np.integer) or capacity < 0:
            raise InvalidSet(f"the capacity of group {name!r:.100} must be an integer >= 0, got {capacity!r:.100}")
    return [min(int(known[name]), 2**62) for name in groups]
