"""The oracle of `Assignment`: the Hungarian algorithm, by shortest augmenting paths (Jonker and Volgenant 1987)."""

from typing import Any

import numpy as np

from semibandits.kernel import as_word
from semibandits.sets.graphs.bipartite import Matrix
from semibandits.sets.oracles.augmenting import (
    INFINITY,
    INTEGERS,
    NUMBERS,
    Search,
    begin,
    extend,
    nearest,
    raise_prices,
    search_in,
    settle,
)
from semibandits.types import Arrays, Items, Solver


def solver(matrix: Matrix, row_of: Items, fixed: Items, optional: bool) -> Solver:
    """`row_of` tells the row of each item, `fixed` the item that a row has in any case, or -1."""
    lines, stride = matrix.item_at.shape
    return Solver(
        best_assignment,
        (
            np.array([lines, matrix.room.size, stride]),
            matrix.item_at.ravel(),
            np.ascontiguousarray(row_of),
            fixed,
            np.array([0.0 if optional else INFINITY]),
        ),
        variable_size=optional,
        numbers=(NUMBERS + lines) * stride,
        integers=(INTEGERS + 2) * stride + fixed.size,
        own_work=False,
    )


def best_assignment(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Lines are assigned to columns at least cost, the negated weights; a place without an item costs `ceiling`.

    That is 0 where pairs are optional, else infinity. A search settles columns, nearest first, until it reaches one
    that is not taken.
    """
    shape, item_at, row_of, fixed, ceilings = data
    lines, columns, stride = shape[0], shape[1], shape[2]
    ceiling = ceilings[0]
    search = search_in(numbers, integers, stride)
    cost = numbers[NUMBERS * stride : (NUMBERS + lines) * stride]
    line_of = integers[INTEGERS * stride : (INTEGERS + 1) * stride]
    column_of = integers[(INTEGERS + 1) * stride : (INTEGERS + 2) * stride]
    chosen = integers[(INTEGERS + 2) * stride : (INTEGERS + 2) * stride + len(fixed)]
    set_costs(cost, weights, item_at, ceiling, lines, columns, stride)
    for line in range(lines):
        column_of[line] = -1
    for j in range(stride):
        search.price[j] = 0.0
        search.rank[j] = j
    if lines == columns:  # else a column that is left over must keep the price 0
        reduce_columns(search, cost, line_of, column_of, columns, stride)
    for line in range(lines):
        if column_of[line] < 0:
            end = path_to_free_column(search, cost, line_of, line, stride)
            search.rank[end] = stride + end
            assign_along(search.reached_from, line_of, column_of, line, end)
    for row in range(len(fixed)):
        chosen[row] = fixed[row]
    for line in range(lines):
        item = item_at[line * stride + column_of[line]]
        if item >= 0 and weights[item] > -ceiling:
            chosen[row_of[item]] = item
    size = 0
    for row in range(len(fixed)):
        if chosen[row] >= 0:
            out[size] = chosen[row]
            size += 1
    return size


def set_costs(cost: Any, weights: Any, item_at: Any, ceiling: float, lines: int, columns: int, stride: int) -> None:
    for line in range(lines):
        start = line * stride
        for j in range(columns):
            item = item_at[start + j]
            x = ceiling
            if item >= 0:
                x = -weights[item]
                x = x if x < ceiling else ceiling
            cost[start + j] = x
        for j in range(columns, stride):
            cost[start + j] = INFINITY


def reduce_columns(search: Search, cost: Any, line_of: Any, column_of: Any, columns: int, stride: int) -> None:
    """The least cost of each column is its price, and the first line to have it there is assigned to it, if to none."""
    for j in range(columns):
        search.price[j] = INFINITY
    for line in range(columns):
        lower_prices(cost[line * stride : (line + 1) * stride], search, line)
    for j in range(columns):
        line = search.reached_from[j]
        if column_of[line] < 0:
            column_of[line] = j
            line_of[j] = line
            search.rank[j] = stride + j


def lower_prices(costs: Any, search: Search, line: int) -> None:
    """To this line's costs, where they are lower."""
    price, reached_from = search.price, search.reached_from
    for j in range(as_word(len(costs))):
        if costs[j] < price[j]:
            price[j] = costs[j]
            reached_from[j] = line


def path_to_free_column(search: Search, cost: Any, line_of: Any, start: int, stride: int) -> int:
    """Finds the nearest column that is not taken, and raises the prices of those that are nearer."""
    begin(cost[start * stride : (start + 1) * stride], search, start, 0.0)
    found = 0
    least, end = nearest(search)
    while end >= stride:
        column = end - stride
        line = line_of[column]
        offset = cost[line * stride + column] - search.price[column] - least
        settle(search, found, column, least)
        found += 1
        extend(cost[line * stride : (line + 1) * stride], search, line, offset)
        least, end = nearest(search)
    raise_prices(search, found, least)
    return end


def assign_along(reached_from: Any, line_of: Any, column_of: Any, start: int, end: int) -> None:
    """From the column at the end of the path back to its first line, each line takes the column it reached."""
    column = end
    line = -1
    while line != start:
        line = reached_from[column]
        line_of[column] = line
        left = column_of[line]
        column_of[line] = column
        column = left
