"""So many of a list of items that trade one total off against another, by dynamic programming.

With τ the k-th largest weight, to leave an item out costs max(w - τ, 0) and to take it max(τ - w, 0): these add up to
what k items are below the best k. Taken one after another, for every number of items taken so far and every shortfall d
the largest gain at a shortfall of d or less is kept, and a bit that tells whether the latest item was taken for it.

One item outdoes another if it weighs and gains as much, or more (of equal ones the first does). An item that k others
outdo is not needed; one that outdoes all but fewer than k others is needed always. The rest goes into the table.
"""

from typing import Any

import numpy as np

from semibandits.sets.oracles.sorting import sort_items
from semibandits.types import Arrays, Items, TradeOffs

BITS = 32
"""Of a word that are used."""
COUNT, REST, ALWAYS, HEAD = range(4)
"""In `integers`: how many items are in the table, how many of them to take, how many to take always; then these items,
those taken always, and the bits."""
K, FIXED = range(2)
"""Constants: how many free items are taken; from there on the items that are taken anyhow."""


def trade_offs(free: Items, fixed: Items, k: int) -> TradeOffs:
    """Of all fixed items and k free ones."""
    rows = free.size * (k + 1)
    return TradeOffs(
        _fill,
        _take,
        (free, np.array([k, *fixed], dtype=np.int64)),
        numbers=(0, k + 1),
        # two lists of items, and a bit for each row and shortfall, in whole words
        integers=(HEAD + 2 * free.size + rows, -(-rows // BITS)),
    )


def _fill(weights: Any, gains: Any, most: int, data: Arrays, numbers: Any, integers: Any) -> None:
    free, constants = data
    k = constants[K]
    n = len(free)
    count = 0
    always = 0
    first_always = HEAD + n
    for i in range(n):
        item = free[i]
        better = 0
        not_worse = 0
        j = 0
        while j < n and better < k:
            if j != i:
                other = free[j]
                if _outdoes(other, item, weights, gains):
                    better += 1
                if not_worse < k and not _outdoes(item, other, weights, gains):
                    not_worse += 1
            j += 1
        if better < k and not_worse < k:
            integers[first_always + always] = item
            always += 1
        elif better < k:
            integers[HEAD + count] = item
            count += 1
    rest = k - always
    if rest == 0:
        count = 0
    integers[COUNT] = count
    integers[REST] = rest
    integers[ALWAYS] = always
    width = most + 1
    words = most // BITS + 1
    for d in range(width):
        numbers[d] = 0.0
    for d in range(width, (rest + 1) * width):
        numbers[d] = -1.0
    threshold = _threshold(weights, count, rest, integers)
    for i in range(count):
        item = integers[HEAD + i]
        gain = gains[item]
        costs_in = max(threshold - weights[item], 0)
        costs_out = max(weights[item] - threshold, 0)
        for j in range(min(i + 1, rest), max(rest - (count - 1 - i), 0) - 1, -1):
            row = j * width
            bits = HEAD + 2 * n + (i * (rest + 1) + j) * words
            word = 0
            for d in range(most, -1, -1):
                value = -1.0
                if d >= costs_out:
                    value = numbers[row + d - costs_out]
                if j > 0 and d >= costs_in:
                    before = numbers[row - width + d - costs_in]
                    if before >= 0.0 and before + gain > value:
                        value = before + gain
                        word |= 1 << (d % BITS)
                numbers[row + d] = value
                if d % BITS == 0:
                    integers[bits + d // BITS] = word
                    word = 0


def _outdoes(one: int, other: int, weights: Any, gains: Any) -> bool:
    if weights[one] < weights[other] or gains[one] < gains[other]:
        return False
    equal = weights[one] == weights[other] and gains[one] == gains[other]
    return not equal or one < other


def _threshold(weights: Any, count: int, rest: int, integers: Any) -> Any:
    """The weight of that rank among the items in the table."""
    for i in range(count):
        weight = weights[integers[HEAD + i]]
        above = 0
        equal = 0
        for j in range(count):
            other = weights[integers[HEAD + j]]
            above += other > weight
            equal += other == weight
        if above < rest and rest <= above + equal:
            return weight
    return 0


def _take(d: int, out: Any, weights: Any, gains: Any, most: int, data: Arrays, numbers: Any, integers: Any) -> int:
    free, constants = data
    n = len(free)
    count = integers[COUNT]
    rest = integers[REST]
    size = 0
    for i in range(FIXED, len(constants)):
        out[size] = constants[i]
        size += 1
    for i in range(integers[ALWAYS]):
        out[size] = integers[HEAD + n + i]
        size += 1
    words = most // BITS + 1
    threshold = _threshold(weights, count, rest, integers)
    j = rest
    for i in range(count - 1, -1, -1):
        item = integers[HEAD + i]
        word = integers[HEAD + 2 * n + (i * (rest + 1) + j) * words + d // BITS]
        if (word >> (d % BITS)) % 2 == 1:
            out[size] = item
            size += 1
            d -= max(threshold - weights[item], 0)
            j -= 1
        else:
            d -= max(weights[item] - threshold, 0)
    sort_items(out, size)
    return size
