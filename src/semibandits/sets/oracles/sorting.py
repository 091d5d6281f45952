"""Answers in ascending order: kernel functions that oracles share, since they can call no others."""

from typing import Any

from semibandits.kernel import as_index, lowest_bit


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


def mark(item: int, marks: Any) -> None:
    """Sets the item's bit; those of n items are in `words(n)` numbers."""
    marks[item >> 5] |= 1 << (item & 31)


def words(n_items: int) -> int:
    return (n_items + 31) // 32


def write_marked(out: Any, marks: Any) -> int:
    """Writes the items that are marked, in ascending order, and takes the marks away; returns how many they are."""
    size = 0
    for i in range(len(marks)):
        word = marks[i]
        marks[i] = 0
        while word != 0:
            out[size] = 32 * i + as_index(lowest_bit(word))
            word &= word - 1
            size += 1
    return size
