"""The oracle of `Knapsack`: dynamic programming over the capacity (Bellman 1957), at most one item of each group."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.kernel import as_word
from semibandits.sets.oracles.sorting import write_flagged
from semibandits.types import Arrays, Items, Solver


def solver(items: Items, costs: Items, starts: Items, fixed: NDArray[np.bool_], capacity: int) -> Solver:
    """Group g is items[starts[g]] to items[starts[g + 1] - 1]; `fixed` tells which items are chosen anyhow."""
    groups = starts.size - 1
    return Solver(
        best_knapsack,
        (items, costs, starts, fixed.astype(np.int64), np.array([capacity])),
        numbers=(groups + 1) * (capacity + 1),
        integers=groups + fixed.size,
        own_work=False,
    )


def best_knapsack(weights: Any, out: Any, data: Arrays, table: Any, integers: Any) -> int:
    """One row of best values, by capacity, for every group with something to gain; then back through the rows."""
    items, costs, starts, fixed, capacities = data
    capacity = capacities[0]
    width = capacity + 1
    groups = len(starts) - 1
    group_of_row = integers[:groups]
    chosen = integers[groups : groups + len(fixed)]
    for c in range(as_word(width)):
        table[c] = 0.0
    rows = 0
    for g in range(groups):
        if fill_row(table, rows * width, width, weights, items, costs, starts[g], starts[g + 1]):
            group_of_row[rows] = g
            rows += 1
    for item in range(len(fixed)):
        chosen[item] = fixed[item]
    for row in range(rows - 1, -1, -1):
        before = row * width
        value = table[before + width + capacity]
        if value > table[before + capacity]:
            j = starts[group_of_row[row]]
            while costs[j] > capacity or table[before + capacity - costs[j]] + weights[items[j]] != value:
                j += 1
            chosen[items[j]] = 1
            capacity -= costs[j]
    return write_flagged(out, chosen)


def fill_row(table: Any, old: int, width: int, weights: Any, items: Any, costs: Any, begin: int, end: int) -> bool:
    """The row behind that at `old`: with the items begin to end - 1 of one group. False: there is nothing to gain.

    Offsets are words: of signed numbers the compiler had to ask, for each cell, whether to count from the end.
    """
    new = old + width
    fresh = True
    for j in range(begin, end):
        gain = weights[items[j]]
        if gain > 0.0:
            cost = costs[j]
            before, kept, made = as_word(old), as_word(old + cost), as_word(new + cost)
            if fresh:
                first = as_word(new)
                for c in range(as_word(cost)):
                    table[first + c] = table[before + c]
                for c in range(as_word(width - cost)):
                    taking = table[before + c] + gain
                    leaving = table[kept + c]
                    table[made + c] = taking if taking > leaving else leaving
            else:
                for c in range(as_word(width - cost)):
                    taking = table[before + c] + gain
                    leaving = table[made + c]
                    table[made + c] = taking if taking > leaving else leaving
            fresh = False
    return not fresh
