"""b-matchings: rows and columns with capacities."""

from typing import Any

import numpy as np

from semibandits.kernel import as_word
from semibandits.sets.assignment import INFINITY, begin, extend, first_of, least_of
from semibandits.sets.pairs import Pairs
from semibandits.types import Arrays, Solver


class BMatching(Pairs):
    """Pairs of a row and a column, each at most once, with row i in at most row_capacities[i] of them, columns alike.

    Capacities are one integer >= 0 for all, or a list. The side with the smaller total of capacities is filled exactly,
    the rows where the totals are equal; `optional=True` allows fewer, down to none, and then only pairs of weight > 0
    are chosen. All else is as with `Assignment`, which is the case of capacities 1.

    The oracle adds one unit after the other along a shortest augmenting path (Edmonds and Karp 1972): with r lines on
    the filled side, u their total and c the others, O(u (r + c)²). Of tied solutions it takes the one that the search
    meets first, the same every time.

    >>> reviews = BMatching(["ann", "bob"], 3, row_capacities=2, column_capacities=[1, 1, 2], optional=True)
    >>> [reviews.labels[item] for item in reviews.argmax([0.9, 0.8, -0.1, 0.7, 0.2, 0.3])]
    ['ann:0', 'ann:1', 'bob:2']
    """

    def __init__(
        self,
        rows: Any,
        columns: Any,
        row_capacities: Any,
        column_capacities: Any,
        *,
        forbidden: Any = (),
        optional: bool = False,
    ) -> None:
        self._more_columns = 1  # where a path may always end
        super().__init__(rows, columns, row_capacities, column_capacities, forbidden, optional)

    def solver(self) -> Solver:
        item_at, need, room = self._matrix
        lines, stride = item_at.shape
        slots = int(room.sum())
        nodes = stride + -(-lines // 8) * 8
        fixed = np.zeros(self.n_items, dtype=np.int64)
        fixed[self._restriction()[0]] = 1
        return Solver(
            best_b_matching,
            (
                np.array([lines, room.size, stride, nodes, int(self.optional)]),
                item_at.ravel(),
                need,
                np.concatenate(([0], np.cumsum(room))),
                np.repeat(np.arange(room.size), room),
                fixed,
            ),
            variable_size=self.optional,
            numbers=lines * stride + 4 * nodes + slots,
            integers=3 * nodes + room.size + slots + self.n_items,
            own_work=False,
        )

    def _parameters(self) -> dict[str, Any]:
        capacities = {"row_capacities": list(self.row_capacities), "column_capacities": list(self.column_capacities)}
        return super()._parameters() | capacities

    def __repr__(self) -> str:
        return f"BMatching({self.n_rows} x {self.n_columns}{self._described()})"


def best_b_matching(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Units of the lines are assigned to columns at least cost, the negated weights.

    Nodes are the columns, padding included, and behind them the lines. A search settles nodes, nearest first, until it
    reaches a column with room. From a line ways lead to the columns it does not use, and from a column back to the
    lines that use it, each of which has a slot of the column. Where pairs are optional, one more column has room for
    all at no cost. A settled node's price is minus infinity for a while, so that no better way to it is found.
    """
    shape, item_at, need, first, column_of, fixed = data
    lines, columns, stride, nodes, optional = shape[0], shape[1], shape[2], shape[3], shape[4]
    slots = first[columns]
    price = lines * stride  # behind the costs of pairs that are not used
    distance = price + nodes
    settled = distance + nodes
    before = settled + nodes
    kept = before + nodes  # the costs of pairs that are used, by slot
    rank = nodes  # behind the line or slot from which each node was reached; of columns with room it is < nodes
    order = rank + nodes
    used = order + nodes
    user = used + columns
    taken = user + slots
    for i in range(lines):
        start = i * stride
        for j in range(stride):
            numbers[start + j] = INFINITY
        for j in range(columns):
            item = item_at[start + j]
            if item >= 0 and (optional == 0 or weights[item] > 0.0):
                numbers[start + j] = -weights[item]
        if optional:
            numbers[start + columns] = 0.0
    for node in range(nodes):
        numbers[price + node] = 0.0
        integers[rank + node] = node if node < stride else nodes + node
    for j in range(columns):
        integers[used + j] = 0
        if first[j + 1] == first[j]:
            integers[rank + j] = nodes + j
    for line in range(lines):
        for _ in range(need[line]):
            root = stride + line
            integers[order] = root
            numbers[settled] = 0.0
            numbers[before] = numbers[price + root]
            found = 1
            numbers[price + root] = -INFINITY
            fill(numbers, distance + stride, nodes - stride, INFINITY)
            begin(numbers, line * stride, price, distance, integers, stride, line, -numbers[before])
            while True:
                least = least_of(numbers, distance, nodes)
                nearest = first_of(numbers, distance, least, integers, rank, nodes)
                if nearest < nodes:
                    break
                node = nearest - nodes
                integers[order + found] = node
                numbers[settled + found] = least
                numbers[before + found] = numbers[price + node]
                found += 1
                reach = least + numbers[price + node]
                numbers[price + node] = -INFINITY
                numbers[distance + node] = INFINITY
                if node >= stride:
                    i = node - stride
                    extend(numbers, i * stride, price, distance, integers, stride, i, -reach)
                    continue
                for slot in range(first[node], first[node] + integers[used + node]):
                    other = stride + integers[user + slot]
                    x = reach - numbers[kept + slot] - numbers[price + other]
                    if x < numbers[distance + other]:
                        numbers[distance + other] = x
                        integers[other] = slot
            for k in range(found):
                numbers[price + integers[order + k]] = numbers[before + k] + (numbers[settled + k] - least)
            i = integers[nearest]
            if nearest < columns:
                slot = first[nearest] + integers[used + nearest]
                integers[used + nearest] += 1
                if slot + 1 == first[nearest + 1]:
                    integers[rank + nearest] = nodes + nearest
                integers[user + slot] = i
                numbers[kept + slot] = numbers[i * stride + nearest]
                numbers[i * stride + nearest] = INFINITY
            elif i == line:
                break  # the rest of this line's units will do no better
            while i != line:
                slot = integers[stride + i]
                j = column_of[slot]
                numbers[i * stride + j] = numbers[kept + slot]
                i = integers[j]
                integers[user + slot] = i
                numbers[kept + slot] = numbers[i * stride + j]
                numbers[i * stride + j] = INFINITY
    for item in range(len(fixed)):
        integers[taken + item] = fixed[item]
    for j in range(columns):
        for slot in range(first[j], first[j] + integers[used + j]):
            integers[taken + item_at[integers[user + slot] * stride + j]] = 1
    size = 0
    for item in range(len(fixed)):
        if integers[taken + item] > 0:
            out[size] = item
            size += 1
    return size


def fill(numbers: Any, start: int, count: int, value: float) -> None:
    s = as_word(start)
    for j in range(as_word(count)):
        numbers[s + j] = value
