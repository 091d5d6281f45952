"""Places of labels, so far apart that none covers another."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike


def spread(heights: Sequence[float], apart: ArrayLike, between: tuple[float, float] = (-np.inf, np.inf)) -> list[float]:
    """Ascending heights moved as little as makes each so far from the one before, and all of them lie in between.

    >>> [round(place, 2) for place in spread([0.1, 0.5, 0.5, 0.8], [0.1, 0.1, 0.1])]
    [0.1, 0.45, 0.55, 0.8]
    """
    room = np.concatenate([[0.0], np.cumsum(apart)])
    blocks: list[list[float]] = []  # heights that move together, each without the room that those below it take
    for height in np.asarray(heights, dtype=np.float64) - room:
        blocks.append([float(height)])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            above = blocks.pop()
            blocks[-1] += above
    bases = np.array([fmean(block) for block in blocks for _ in block])
    low, high = between
    return list(map(float, np.clip(bases, low, max(low, high - room[-1])) + room))
