"""Answers in ascending order: kernel functions that oracles share, since they can call no others."""

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


def write_flagged(out: Any, flags: Any) -> int:
    """Writes the items whose flag is above 0; returns how many they are."""
    size = 0
    for item in range(len(flags)):
        if flags[item] > 0:
            out[size] = item
            size += 1
    return size
