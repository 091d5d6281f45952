"""The oracle of `BMatching`: one unit after the other along a shortest augmenting path (Edmonds and Karp 1972)."""

from typing import Any, NamedTuple

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
from semibandits.sets.oracles.sorting import write_flagged
from semibandits.types import Arrays, Items, Solver


class Slots(NamedTuple):
    """The units of columns' capacities: those of column j are first[j] to first[j + 1] - 1, and used in this order."""

    first: Any
    column_of: Any
    """By slot."""
    used: Any
    """By column: how many of its slots."""
    user: Any
    """By slot that is used: the line that has it, and what that costs."""
    user_cost: Any


def solver(matrix: Matrix, fixed: Items, optional: bool) -> Solver:
    """`fixed` is 1 for each item that is chosen in any case, else 0."""
    item_at, need, room = matrix
    lines, stride = item_at.shape
    slots = int(room.sum())
    nodes = stride + -(-lines // 8) * 8
    return Solver(
        best_b_matching,
        (
            np.array([lines, room.size, stride, nodes, int(optional)]),
            item_at.ravel(),
            need,
            np.concatenate(([0], np.cumsum(room))),
            np.repeat(np.arange(room.size), room),
            fixed,
        ),
        variable_size=optional,
        numbers=NUMBERS * nodes + lines * stride + slots,
        integers=INTEGERS * nodes + room.size + slots + fixed.size,
        own_work=False,
    )


def best_b_matching(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Units of the lines are assigned to columns at least cost, the negated weights.

    Nodes are the columns, padding included, and behind them the lines. A search settles nodes, nearest first, until it
    reaches a column with room. From a line ways lead to the columns it does not use, and from a column back to the
    lines that use it, each of which has a slot of the column. Where pairs are optional, one more column has room for
    all at no cost.
    """
    shape, item_at, need, first, column_of, fixed = data
    lines, columns, stride, nodes, optional = shape[0], shape[1], shape[2], shape[3], shape[4]
    search = search_in(numbers, integers, nodes)
    cost = numbers[NUMBERS * nodes : NUMBERS * nodes + lines * stride]
    user_cost = numbers[NUMBERS * nodes + lines * stride :]
    behind = INTEGERS * nodes
    used = integers[behind : behind + columns]
    user = integers[behind + columns : behind + columns + len(column_of)]
    taken = integers[behind + columns + len(column_of) : behind + columns + len(column_of) + len(fixed)]
    slots = Slots(first, column_of, used, user, user_cost)
    set_costs(cost, weights, item_at, optional, lines, columns, stride)
    set_free(search, slots, columns, stride, nodes)
    for line in range(lines):
        for _ in range(need[line]):
            end = path_to_room(search, slots, cost, line, stride, nodes)
            if end >= columns and search.reached_from[end] == line:
                break  # the rest of this line's units will do no better
            assign_along(search, slots, cost, line, end, columns, stride, nodes)
    for item in range(len(fixed)):
        taken[item] = fixed[item]
    for j in range(columns):
        for slot in range(first[j], first[j] + used[j]):
            taken[item_at[user[slot] * stride + j]] = 1
    return write_flagged(out, taken)


def set_costs(cost: Any, weights: Any, item_at: Any, optional: int, lines: int, columns: int, stride: int) -> None:
    """Of pairs that are not used; those that are, or are no items, cost infinity."""
    for line in range(lines):
        start = line * stride
        for j in range(stride):
            cost[start + j] = INFINITY
        for j in range(columns):
            item = item_at[start + j]
            if item >= 0 and (optional == 0 or weights[item] > 0.0):
                cost[start + j] = -weights[item]
        if optional:
            cost[start + columns] = 0.0


def set_free(search: Search, slots: Slots, columns: int, stride: int, nodes: int) -> None:
    """No slot is used, and a path may end in any column that has one."""
    for node in range(nodes):
        search.price[node] = 0.0
        search.rank[node] = node if node < stride else nodes + node
    for j in range(columns):
        slots.used[j] = 0
        if slots.first[j + 1] == slots.first[j]:
            search.rank[j] = nodes + j


def path_to_room(search: Search, slots: Slots, cost: Any, start: int, stride: int, nodes: int) -> int:
    """Finds the nearest column with room, and raises the prices of nodes that are nearer."""
    settle(search, 0, stride + start, 0.0)
    found = 1
    unreach(search.distance, stride)
    begin(cost[start * stride : (start + 1) * stride], search, start, -search.price_before[0])
    least, end = nearest(search)
    while end >= nodes:
        node = end - nodes
        reach = least + search.price[node]
        settle(search, found, node, least)
        found += 1
        if node >= stride:
            line = node - stride
            extend(cost[line * stride : (line + 1) * stride], search, line, -reach)
        else:
            extend_to_users(search, slots, node, reach, stride)
        least, end = nearest(search)
    raise_prices(search, found, least)
    return end


def unreach(distance: Any, start: int) -> None:
    """Nodes from this one on."""
    for node in range(as_word(start), as_word(len(distance))):
        distance[node] = INFINITY


def extend_to_users(search: Search, slots: Slots, column: int, reach: float, stride: int) -> None:
    """Distances of lines that use this column by way of it, where they are shorter; they are reached from the slot."""
    for slot in range(slots.first[column], slots.first[column] + slots.used[column]):
        node = stride + slots.user[slot]
        x = reach - slots.user_cost[slot] - search.price[node]
        if x < search.distance[node]:
            search.distance[node] = x
            search.reached_from[node] = slot


def assign_along(
    search: Search, slots: Slots, cost: Any, start: int, end: int, columns: int, stride: int, nodes: int
) -> None:
    """From the column at the end of the path back to its first line, each line takes the column it reached."""
    line = search.reached_from[end]
    if end < columns:
        slot = slots.first[end] + slots.used[end]
        slots.used[end] += 1
        if slot + 1 == slots.first[end + 1]:
            search.rank[end] = nodes + end
        take(slots, cost, slot, line, line * stride + end)
    while line != start:
        slot = search.reached_from[stride + line]
        column = slots.column_of[slot]
        cost[line * stride + column] = slots.user_cost[slot]
        line = search.reached_from[column]
        take(slots, cost, slot, line, line * stride + column)


def take(slots: Slots, cost: Any, slot: int, line: int, place: int) -> None:
    """The line uses the slot, for the pair in this place of the matrix."""
    slots.user[slot] = line
    slots.user_cost[slot] = cost[place]
    cost[place] = INFINITY
