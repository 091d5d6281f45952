"""The k-th largest of some numbers: a kernel function."""

from typing import Any


def select(values: Any, low: int, high: int, place: int) -> float:
    """What is at `place` when values[low] to values[high] descend; what is before it is not less, after it not more.

    Hoare's selection (1961), with the median of three as pivot.
    """
    while low < high:
        x, y, z = values[low], values[(low + high) >> 1], values[high]
        middle = max(min(x, y), min(max(x, y), z))
        i, j = low, high
        while i <= j:
            while values[i] > middle:
                i += 1
            while values[j] < middle:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]  # type: ignore[no-any-return]
