"""Sorting in oracles: their texts may call nothing but other such texts."""

from typing import Any


def sort_items(out: Any, size: int) -> None:
    """Puts out[:size] in ascending order; quick where it nearly is.

    Shell's method with Knuth's gaps; up to nine items it is insertion.
    """
    gap = 1
    while 9 * gap < size:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            item = out[i]
            j = i
            while j >= gap and out[j - gap] > item:
                out[j] = out[j - gap]
                j -= gap
            out[j] = item
        gap //= 3
