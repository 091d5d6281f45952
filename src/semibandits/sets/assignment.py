"""Assignments: each row to one column of its own."""

from typing import Any

import numpy as np

from semibandits.kernel import as_word
from semibandits.sets.pairs import Pairs
from semibandits.types import Arrays, Solver

INFINITY = float("inf")
NOWHERE = 1 << 62


class Assignment(Pairs):
    """Pairs of a row and a column, no row and no column twice: the smaller side is assigned in full.

    `rows` and `columns` are counts, or lists of names, which then make up `labels` ("row:column"). Items are the pairs,
    row by row, without the `forbidden` ones, pairs (row, column) of names or indices, which are no items: `pairs` and
    `item` translate. `optional=True` allows any matching, also the empty one; then only pairs of weight > 0 are chosen.

    The oracle finds shortest augmenting paths from the prices of a column reduction (Jonker and Volgenant 1987; without
    their augmenting row reduction, which costs more than it saves where paths are searched many columns at a time):
    O(r² c) for r <= c rows or columns. Of tied solutions it takes the one that the search meets first, the same every
    time.

    >>> channels = Assignment(["hall", "roof"], ["red", "blue", "green"], forbidden=[("roof", "red")])
    >>> items = channels.argmax([0.9, 0.8, 0.1, 0.7, 0.2])
    >>> items, [channels.labels[item] for item in items]
    (array([0, 3]), ['hall:red', 'roof:blue'])
    """

    def __init__(self, rows: Any, columns: Any, *, forbidden: Any = (), optional: bool = False) -> None:
        super().__init__(rows, columns, 1, 1, forbidden, optional)

    def solver(self) -> Solver:
        item_at, _, room = self._matrix
        lines, stride = item_at.shape
        fixed = np.full(self.n_rows, -1)
        include = self._restriction()[0]
        fixed[self.pairs[include, 0]] = include
        return Solver(
            best_assignment,
            (
                np.array([lines, room.size, stride]),
                item_at.ravel(),
                np.ascontiguousarray(self.pairs[:, 0]),
                fixed,
                np.array([0.0 if self.optional else INFINITY]),
            ),
            variable_size=self.optional,
            numbers=lines * stride + 2 * stride + 2 * lines,
            integers=3 * stride + 2 * lines + self.n_rows,
            own_work=False,
        )

    def __repr__(self) -> str:
        return f"Assignment({self.n_rows} x {self.n_columns}{self._described()})"


def best_assignment(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Lines are assigned to columns at least cost, the negated weights; a place without an item costs `ceiling`.

    That is 0 where pairs are optional, else infinity. A search settles columns, nearest first, until it reaches one
    that is not taken; a settled column's price is minus infinity for a while, so that no better way to it is found.
    """
    shape, item_at, row_of, fixed, ceilings = data
    lines, columns, stride = shape[0], shape[1], shape[2]
    ceiling = ceilings[0]
    price = lines * stride  # behind the costs; then come distances, and what settled columns had
    distance = price + stride
    settled = distance + stride
    before = settled + lines
    rank = stride  # behind the lines from which columns were reached; of columns that are taken it is >= stride
    taker = rank + stride
    taken = taker + stride
    order = taken + lines
    chosen = order + lines
    for i in range(lines):
        start = i * stride
        integers[taken + i] = -1
        for j in range(columns):
            item = item_at[start + j]
            cost = ceiling
            if item >= 0:
                cost = -weights[item]
                cost = cost if cost < ceiling else ceiling
            numbers[start + j] = cost
        for j in range(columns, stride):
            numbers[start + j] = INFINITY
    for j in range(stride):
        numbers[price + j] = 0.0
        integers[rank + j] = j
    if lines == columns:  # else a column that is left over must keep the price 0
        for j in range(columns):
            numbers[price + j] = INFINITY
        for i in range(lines):
            lower(numbers, i * stride, price, integers, columns, i)
        for j in range(columns):
            i = integers[j]
            if integers[taken + i] < 0:
                integers[taken + i] = j
                integers[taker + j] = i
                integers[rank + j] = stride + j
    for line in range(lines):
        if integers[taken + line] >= 0:
            continue
        begin(numbers, line * stride, price, distance, integers, stride, line, 0.0)
        found = 0
        while True:
            least = least_of(numbers, distance, stride)
            nearest = first_of(numbers, distance, least, integers, rank, stride)
            if nearest < stride:
                break
            j = nearest - stride
            i = integers[taker + j]
            integers[order + found] = j
            numbers[settled + found] = least
            numbers[before + found] = numbers[price + j]
            found += 1
            offset = numbers[i * stride + j] - numbers[price + j] - least
            numbers[price + j] = -INFINITY
            numbers[distance + j] = INFINITY
            extend(numbers, i * stride, price, distance, integers, stride, i, offset)
        for k in range(found):
            numbers[price + integers[order + k]] = numbers[before + k] + (numbers[settled + k] - least)
        integers[rank + nearest] = stride + nearest
        j = nearest
        i = -1
        while i != line:
            i = integers[j]
            integers[taker + j] = i
            left = integers[taken + i]
            integers[taken + i] = j
            j = left
    for i in range(len(fixed)):
        integers[chosen + i] = fixed[i]
    for i in range(lines):
        item = item_at[i * stride + integers[taken + i]]
        if item >= 0 and weights[item] > -ceiling:
            integers[chosen + row_of[item]] = item
    size = 0
    for i in range(len(fixed)):
        if integers[chosen + i] >= 0:
            out[size] = integers[chosen + i]
            size += 1
    return size


# These loops take nearly all the time. As unsigned numbers, places need no check for being negative, and the compiler
# takes many columns at a time.


def lower(numbers: Any, costs: int, prices: int, integers: Any, columns: int, line: int) -> None:
    """Column minima, and the lines that have them."""
    c, p = as_word(costs), as_word(prices)
    for j in range(as_word(columns)):
        cost = numbers[c + j]
        if cost < numbers[p + j]:
            numbers[p + j] = cost
            integers[j] = line


def begin(
    numbers: Any, costs: int, prices: int, distances: int, integers: Any, columns: int, line: int, offset: float
) -> None:
    """Distances of all columns from this line."""
    c, p, d = as_word(costs), as_word(prices), as_word(distances)
    for j in range(as_word(columns)):
        numbers[d + j] = numbers[c + j] - numbers[p + j] - offset
        integers[j] = line


def extend(
    numbers: Any, costs: int, prices: int, distances: int, integers: Any, columns: int, line: int, offset: float
) -> None:
    """Distances by way of this line, where they are shorter."""
    c, p, d = as_word(costs), as_word(prices), as_word(distances)
    for j in range(as_word(columns)):
        x = numbers[c + j] - numbers[p + j] - offset
        if x < numbers[d + j]:
            numbers[d + j] = x
            integers[j] = line


def least_of(numbers: Any, start: int, count: int) -> float:
    """The least of so many numbers, a multiple of 8: of each eighth by itself, since a minimum waits for the last."""
    s, one = as_word(start), as_word(count // 8)
    two = one + one
    four = two + two
    three, five, six, seven = two + one, four + one, four + two, four + two + one
    a = b = c = d = e = f = g = h = INFINITY
    for j in range(s, s + one):
        a = numbers[j] if numbers[j] < a else a
        b = numbers[j + one] if numbers[j + one] < b else b
        c = numbers[j + two] if numbers[j + two] < c else c
        d = numbers[j + three] if numbers[j + three] < d else d
        e = numbers[j + four] if numbers[j + four] < e else e
        f = numbers[j + five] if numbers[j + five] < f else f
        g = numbers[j + six] if numbers[j + six] < g else g
        h = numbers[j + seven] if numbers[j + seven] < h else h
    a = b if b < a else a
    c = d if d < c else c
    e = f if f < e else e
    g = h if h < g else g
    a = c if c < a else a
    e = g if g < e else e
    return e if e < a else a


def first_of(numbers: Any, start: int, least: float, integers: Any, ranks: int, count: int) -> int:
    """The lowest rank of a number that is the least."""
    s, r = as_word(start), as_word(ranks)
    best = NOWHERE
    for j in range(as_word(count)):
        k = integers[r + j] if numbers[s + j] == least else NOWHERE
        best = k if k < best else best
    return best
