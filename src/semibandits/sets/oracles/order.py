"""Items in the order of their weights, as far as a greedy oracle wants to read it.

The order is by weight, descending, and of tied items by number, so that it does not depend on what was asked before.
An oracle that is asked again and again with weights that change little keeps the whole order, and insertion repairs it
in about as many steps as there are items. Where that costs too much, a stable quicksort splits off the heaviest items
first and sorts no more than is read: what the oracle does not read, or may pass over, is never sorted. A merge sort
takes over where splitting goes too deep: O(n log n) in any case.

For n items the work space is numbers[0 : 2n] and integers[0 : 2n + HEAD]; behind it is room for the oracle's own.
    integers[0 : n], numbers[0 : n]     the items in order, and their weights
    integers[n : 2n], numbers[n : 2n]   spare
    integers[2n]                        SORTED, or how many more calls may pass before the whole order is made again
    integers[2n + 1 : 2n + HEAD]        how many ends of stretches there are, and the ends, the next one last
What lies between two ends is heavier than what follows, and yet to be sorted.
"""

from typing import Any

SORTED = -1
SMALL = 16
"""So few items are sorted by insertion."""
DEEP = 64
"""How many stretches may wait to be sorted."""
HEAD = DEEP + 2
REST = 64
"""How many calls pass, after the order has changed too much to be repaired, before it is made again."""
MOVES = 8
"""How many steps a repair may take for each item."""


def put_in_order(weights: Any, free: Any, numbers: Any, integers: Any) -> int:
    """Puts the free items in order, all of them or, to be sorted later, none: returns how many are."""
    n = len(free)
    if integers[2 * n] == SORTED:
        if _repaired(weights, n, numbers, integers):
            return n
        integers[2 * n] = REST
    for i in range(n):
        item = free[i]
        numbers[i] = weights[item]
        integers[i] = item
    integers[2 * n + 1] = 1
    integers[2 * n + 2] = n
    if integers[2 * n] > 0:
        integers[2 * n] -= 1
        return 0
    done = 0
    while done < n:
        done = sort_some(done, stretch(done, n, integers), n, numbers, integers)
    integers[2 * n] = SORTED
    return n


def stretch(begin: int, n: int, integers: Any) -> int:
    """The end of the stretch that begins here."""
    top = integers[2 * n + 1]
    while integers[2 * n + 1 + top] <= begin:
        top -= 1
    integers[2 * n + 1] = top
    return integers[2 * n + 1 + top]  # type: ignore[no-any-return]


def sort_some(begin: int, end: int, n: int, numbers: Any, integers: Any) -> int:
    """Sorts the first items of this stretch; returns the end of those that are."""
    top = integers[2 * n + 1]
    while end - begin > SMALL:
        if top == DEEP:
            _merge_sort(begin, end, n, numbers, integers)
            return end
        pivot = _middle(begin, end, numbers)
        middle = _split(begin, end, pivot, False, n, numbers, integers)
        if middle == begin:  # nothing is heavier: those that weigh as much are in order
            return _split(begin, end, pivot, True, n, numbers, integers)
        top += 1
        integers[2 * n + 1] = top
        integers[2 * n + 1 + top] = middle
        end = middle
    for i in range(begin + 1, end):
        x, item = numbers[i], integers[i]
        j = i
        while j > begin and numbers[j - 1] < x:
            numbers[j], integers[j] = numbers[j - 1], integers[j - 1]
            j -= 1
        numbers[j], integers[j] = x, item
    return end


def _repaired(weights: Any, n: int, numbers: Any, integers: Any) -> bool:
    """Sorts by insertion what is nearly in order; gives up where it is not."""
    moves = 0
    for i in range(n):
        item = integers[i]
        x = weights[item]
        j = i
        while j > 0 and (numbers[j - 1] < x or (numbers[j - 1] == x and integers[j - 1] > item)):
            numbers[j], integers[j] = numbers[j - 1], integers[j - 1]
            j -= 1
        numbers[j], integers[j] = x, item
        moves += i - j
        if moves > MOVES * (i + 64):
            return False
    return True


# An index that is the larger of itself and 0 is known not to be negative: the compiler need not test for that.


def _split(begin: int, end: int, pivot: float, ties: bool, n: int, numbers: Any, integers: Any) -> int:
    """Moves what is heavier than the pivot, or as heavy, to the front, without a branch, all keeping their order."""
    front = begin
    back = n
    for i in range(begin, end):
        x, item = numbers[i], integers[i]
        numbers[max(back, 0)], integers[max(back, 0)] = x, item
        numbers[max(front, 0)], integers[max(front, 0)] = x, item
        heavy = x >= pivot if ties else x > pivot
        front += heavy
        back += 1 - heavy
    _move_back(front, end, n, numbers, integers)
    return front


def _move_back(begin: int, end: int, n: int, numbers: Any, integers: Any) -> None:
    for i in range(end - begin):
        numbers[begin + i] = numbers[n + i]
        integers[begin + i] = integers[n + i]


def _middle(begin: int, end: int, numbers: Any) -> float:
    """The median of three medians of three."""
    step = (end - begin) // 10
    return _median(
        _median(numbers[begin + step], numbers[begin + 2 * step], numbers[begin + 3 * step]),
        _median(numbers[begin + 4 * step], numbers[begin + 5 * step], numbers[begin + 6 * step]),
        _median(numbers[begin + 7 * step], numbers[begin + 8 * step], numbers[begin + 9 * step]),
    )


def _median(a: float, b: float, c: float) -> float:
    return max(min(a, b), min(max(a, b), c))


def _merge_sort(begin: int, end: int, n: int, numbers: Any, integers: Any) -> None:
    width = 1
    while width < end - begin:
        for low in range(begin, end, 2 * width):
            middle = min(low + width, end)
            high = min(low + 2 * width, end)
            i, j = low, middle
            for k in range(n + low - begin, n + high - begin):
                if j == high or (i < middle and numbers[i] >= numbers[j]):
                    numbers[k], integers[k] = numbers[i], integers[i]
                    i += 1
                else:
                    numbers[k], integers[k] = numbers[j], integers[j]
                    j += 1
        _move_back(begin, end, n, numbers, integers)
        width *= 2
