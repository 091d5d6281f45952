"""Draws of a solution that has each item with a given chance, and notes of these chances: kernel functions.

Where sizes are exact, the note of a decision holds the chance of each chosen item. Otherwise it holds the chances of
all items, negative for those that were not chosen: so it tells also how many were.
"""

from typing import Any

import numpy as np

from semibandits.policies.solution.quota_projection import EXACT, MOST
from semibandits.rng import uniform
from semibandits.types import ALWAYS, Weights


def systematic(x: Any, out: Any, note: Any, data: Any, key: Any, numbers: Any, counts: Any) -> Any:
    """Writes items to `out` and their chances x to `note`; returns how many (systematic sampling, Madow 1949).

    The items of a group take up lengths x on a line, one after the other; those are chosen in which u, u + 1, u + 2,
    ... lie, u uniform on [0, 1). There are as many as the lengths add up to, if that is a whole number.

    `numbers` has room for two numbers of each group, `counts` for one.
    """
    _, _, group, sizes, constants = data
    groups = len(sizes)
    for g in range(groups):
        numbers[2 * g] = 0.0
        numbers[2 * g + 1] = uniform(key, np.uint64(g))
        counts[g] = 0
    size = 0
    for item in range(len(group)):
        g = group[item]
        chosen = g == ALWAYS
        if g >= 0:
            numbers[2 * g] += x[item]
            if numbers[2 * g] > numbers[2 * g + 1] and counts[g] < sizes[g]:
                numbers[2 * g + 1] += 1.0
                counts[g] += 1
                chosen = True
        if chosen:
            out[size] = item
            size += 1
    if constants[EXACT] == 1:
        for g in range(groups):
            while counts[g] < sizes[g]:  # rounding: once in 10^15 rounds, perhaps
                size = add_likeliest(x, out, size, group, g)
                counts[g] += 1
    if constants[EXACT] == 1:
        for i in range(size):
            note[i] = x[out[i]]
    else:
        for item in range(len(group)):
            note[item] = -x[item]
        for i in range(size):
            note[out[i]] = x[out[i]]
    return size


def add_likeliest(x: Any, out: Any, size: int, group: Any, g: int) -> Any:
    """Adds that item of the group to a solution that has the largest chance of those outside it."""
    best = -1
    place = 0
    for item in range(len(group)):
        if place < size and out[place] == item:
            place += 1
        elif group[item] == g and (best < 0 or x[item] > x[best]):
            best = item
    place = size
    while place > 0 and out[place - 1] > best:
        out[place] = out[place - 1]
        place -= 1
    out[place] = best
    return size + 1


def chance(note: Any, place: int, item: Any, data: Any) -> Any:
    """What the chance of this item was, which is at this place among those told of."""
    by_item = data.constants[EXACT] == 0 and len(note) == len(data.group)
    return note[item] if by_item else note[place]


def told(items: Any, note: Any, data: Any) -> Any:
    """The share of a decision's items that are told of at once."""
    whole = data.constants[MOST]
    if data.constants[EXACT] == 0:
        whole = len(data.group)  # a note that was cut: all items were chosen
        if len(note) == len(data.group):
            whole = 0
            for item in range(len(note)):
                whole += note[item] > 0.0
    return 1.0 if len(items) == whole else len(items) / whole


def one_of(weights: Weights, key: int) -> int:
    """An index, drawn with chances in proportion to these weights."""
    ends = np.cumsum(weights)
    at = int(np.searchsorted(ends, uniform(key, 0) * ends[-1], side="right"))
    return at if at < ends.size and weights[at] > 0.0 else int(np.argmax(weights))
