"""The oracle of `PartitionMatroid`: the largest of each group, by selection."""

from typing import Any

import numpy as np

from semibandits.sets.oracles.sorting import mark, words, write_marked
from semibandits.sets.oracles.top_k import LEAST_POSITIVE, LOWEST, choose, reserve
from semibandits.types import Arrays, Items, Solver

END, ROOM, RESERVE, COLUMNS = range(4)
"""Of each group: where its members end, how many of them are wanted, and how many more to look at."""
BASES, FIXED = range(2)
"""Constants: whether just so many are wanted, or at most; from there on the items that are chosen anyhow."""


def solver(members: Items, sizes: Items, room: Items, fixed: Items, n_items: int, bases: bool) -> Solver:
    """Members are the free items, group by group."""
    table = np.stack((np.cumsum(sizes), room, [reserve(k) for k in room.tolist()]), axis=1)
    return Solver(
        best_of_groups,
        (members, table.ravel(), np.array([bases, *fixed], dtype=np.int64)),
        numbers=sizes.size + int(sizes.max()),
        integers=int(sizes.max()) + words(n_items),
        variable_size=not bases,
    )


def best_of_groups(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Behind the items chosen of a group, `integers` holds the marks of all items."""
    members, table, constants = data
    groups = len(table) // COLUMNS
    floor = LOWEST if constants[BASES] == 1 else LEAST_POSITIVE
    marks = integers[len(integers) - words(len(weights)) :]
    for i in range(FIXED, len(constants)):
        mark(constants[i], marks)
    begin = 0
    for group in range(groups):
        row = group * COLUMNS
        end, k, spare = table[row + END], table[row + ROOM], table[row + RESERVE]
        count = choose(weights, members, begin, end, k, spare, floor, group, groups, numbers, integers)
        for i in range(count):
            mark(integers[i], marks)
        begin = end
    return write_marked(out, marks)
