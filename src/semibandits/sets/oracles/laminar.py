"""The oracle of `LaminarMatroid`: greedy (Edmonds 1971)."""

from typing import Any, NamedTuple

import numpy as np

from semibandits.sets.oracles.greedy import HEAD, mark, put_in_order, sort_some, stretch, words, write_marked
from semibandits.types import Arrays, Items, Solver

MOST, BASES = range(2)
"""Constants: the size of the largest solution, and whether all have it."""


class Families(NamedTuple):
    """Nested families of items."""

    around_item: Items
    """The smallest family around each item, or -1."""
    around: Items
    """The smallest family around each family, or -1."""
    room: Items
    """How many free items of each may be chosen."""


def solver(free: Items, families: Families, fixed: Items, max_size: int, bases: bool) -> Solver:
    n = free.size
    return Solver(
        best_independent,
        (free, *families, fixed, np.array([max_size, bases], dtype=np.int64)),
        numbers=2 * n,
        integers=2 * n + HEAD + families.room.size + words(families.around_item.size),
        variable_size=not bases,
    )


def best_independent(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Behind the work space of the order: the room left in each family, and the marks of the items."""
    free, around_item, around, room, fixed, constants = data
    most, bases = constants[MOST], constants[BASES]
    n = len(free)
    left = integers[2 * n + HEAD : 2 * n + HEAD + len(room)]
    marks = integers[2 * n + HEAD + len(room) : 2 * n + HEAD + len(room) + words(len(weights))]
    for family in range(len(room)):
        left[family] = room[family]
    size = len(fixed)
    for i in range(size):
        mark(fixed[i], marks)
    end = put_in_order(weights, free, numbers, integers)
    begin = 0
    while size < most and begin < n:
        if begin == end:
            end = sort_some(begin, stretch(begin, n, integers), n, numbers, integers)
        for i in range(begin, end):
            if bases == 0 and numbers[i] <= 0.0:
                most = size
                break
            item = integers[i]
            family = around_item[item]
            while family >= 0 and left[family] > 0:
                family = around[family]
            if family < 0:
                family = around_item[item]
                while family >= 0:
                    left[family] -= 1
                    family = around[family]
                mark(item, marks)
                size += 1
                if size == most:
                    break
        begin = end
    return write_marked(out, marks)
