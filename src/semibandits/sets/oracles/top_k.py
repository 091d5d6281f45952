"""The k largest of a list of items, one run at a time, as `TopK` and `PartitionMatroid` need them.

A pivot that is a little below the k-th largest weight of the last call leaves few items to select from: one pass over
the weights, O(n_items), and no more of them in memory than are left. Where it leaves too few, all are selected from.
"""

import math
from typing import Any

import numpy as np

from semibandits.kernel.selection import select
from semibandits.types import Items, Solver

LOWEST = -1e300
"""Below all weights that an oracle is given."""
LEAST_POSITIVE = 5e-324
FEW, SMALL = 8, 128
"""So few items of so small a group are chosen by insertion, which is the quicker there, by measurement."""
SAMPLE = 256
K, RESERVE, BASES, FIXED = range(4)
"""Constants: k, how many more to look at, whether just k are wanted; from there on the items that are chosen anyhow."""


def reserve(k: int) -> int:
    """How many more than k items are to be at or above the pivot: new weights of the same kind rarely leave too few."""
    return 8 + 4 * math.isqrt(k)


def solver(free: Items, fixed: Items, k: int, bases: bool) -> Solver:
    """Of the fixed items and the k largest free ones or, if not `bases`, at most k of positive weight."""
    constants = np.array([k, reserve(k), bases, *fixed], dtype=np.int64)
    return Solver(_top_k, (free, constants), numbers=1 + free.size, integers=free.size, variable_size=not bases)


def _top_k(weights: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
    """Merges those that are chosen with the fixed ones."""
    free, constants = data
    k, spare = constants[K], constants[RESERVE]
    floor = LOWEST if constants[BASES] == 1 else LEAST_POSITIVE
    count = choose(weights, free, 0, len(free), k, spare, floor, 0, 1, numbers, integers)
    size = count + len(constants) - FIXED
    i = 0
    j = FIXED
    for place in range(size):
        if j == len(constants) or (i < count and integers[i] < constants[j]):
            out[place] = integers[i]
            i += 1
        else:
            out[place] = constants[j]
            j += 1
    return size


def choose(
    weights: Any,
    members: Any,
    begin: int,
    end: int,
    k: int,
    spare: int,
    floor: float,
    spot: int,
    first: int,
    numbers: Any,
    integers: Any,
) -> int:
    """Writes the k heaviest of members[begin:end], ascending, to `integers`; returns how many weigh at least `floor`.

    The pivot is numbers[spot]; behind numbers[first] is room for as many numbers as there are members.
    """
    if k == 0:
        return 0
    if k <= FEW and end - begin <= SMALL:
        return _insert(weights, members, begin, end, k, floor, first, numbers, integers)
    pivot = max(numbers[spot], floor)
    n = _at_least(pivot, weights, members, begin, end, integers)
    if n < k and pivot > floor:
        pivot = max(_sampled(weights, members, begin, end, k + spare, first, numbers), floor)
        n = _at_least(pivot, weights, members, begin, end, integers)
    if n < k and pivot > floor:
        pivot = floor
        n = _at_least(pivot, weights, members, begin, end, integers)
    if n < k:
        return n
    for i in range(n):
        numbers[first + i] = weights[integers[i]]
    last = first + n - 1
    threshold = select(numbers, first, last, first + k - 1)
    if n > k + spare:
        numbers[spot] = select(numbers, first + k, last, first + k + spare - 1)
    else:
        numbers[spot] = pivot - (threshold - pivot)
    ties = k
    for i in range(n):
        ties -= weights[integers[i]] > threshold
    count = 0
    for i in range(n):
        item = integers[i]
        x = weights[item]
        integers[count] = item
        if x > threshold:
            count += 1
        elif x == threshold and ties > 0:
            count += 1
            ties -= 1
    return count


def _insert(
    weights: Any, members: Any, begin: int, end: int, k: int, floor: float, first: int, numbers: Any, integers: Any
) -> int:
    """Keeps the k heaviest so far in descending order."""
    count = 0
    threshold = min(floor, 0.0)
    for i in range(begin, end):
        item = members[i]
        x = weights[item]
        if x > threshold:
            j = min(count, k - 1)
            while j > 0 and numbers[first + j - 1] < x:
                numbers[first + j], integers[j] = numbers[first + j - 1], integers[j - 1]
                j -= 1
            numbers[first + j], integers[j] = x, item
            count = min(count + 1, k)
            if count == k:
                threshold = numbers[first + k - 1]
    for i in range(1, count):
        item = integers[i]
        j = i
        while j > 0 and integers[j - 1] > item:
            integers[j] = integers[j - 1]
            j -= 1
        integers[j] = item
    return count


def _sampled(weights: Any, members: Any, begin: int, end: int, wanted: int, first: int, numbers: Any) -> float:
    """A pivot that will do if some of the members, at equal distances, are like all."""
    step = (end - begin) // SAMPLE
    rank = 8 + 2 * SAMPLE * wanted // (end - begin)
    if step == 0 or rank >= SAMPLE:
        return LOWEST
    for i in range(SAMPLE):
        numbers[first + i] = weights[members[begin + i * step]]
    return select(numbers, first, first + SAMPLE - 1, first + rank)


def _at_least(pivot: float, weights: Any, members: Any, begin: int, end: int, integers: Any) -> int:
    """Writes the members that weigh as much, without a branch; that an index is not negative is for the compiler."""
    n = 0
    if end - begin == len(weights):
        for item in range(len(weights)):
            integers[max(n, 0)] = item
            n += weights[item] >= pivot
        return n
    for i in range(begin, end):
        item = members[i]
        integers[max(n, 0)] = item
        n += weights[item] >= pivot
    return n
