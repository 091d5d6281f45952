"""Which axes of a picture of regret are logarithmic, where nobody says."""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

LogAxes: TypeAlias = Literal["", "x", "y", "xy"]
FAR_APART = 10.0
"""On a linear axis the least of curves that differ by so much lies flat at the bottom."""
FEW = 5
"""Checkpoints in the last nine tenths of the rounds: of fewer a linear axis makes straight pieces."""
ROUNDING = 1e-9


def fitting_scales(
    rounds: NDArray[np.int64], means: NDArray[np.float64], kind: str, bounds: Iterable[NDArray[np.float64]] = ()
) -> LogAxes:
    """Linear axes, on which log n flattens and linear regret is straight; both logarithmic where curves are far apart.

    Far apart: at the horizon the largest mean regret, or a bound, is more than ten times the least, and none is zero or
    negative. Rounds stay linear in worlds that drift, where it matters when something changed, and where they span less
    than two decades; they are logarithmic beside linear regret where there are but a few checkpoints over more decades.
    """
    ends = means[:, -1]
    small = ROUNDING * np.abs(means).max()
    wide = rounds[-1] > 100 * rounds[0] and kind not in ("dynamic", "static")
    tops = (top for bound in bounds for top in bound.tolist() if np.isfinite(top))
    largest = max([float(ends.max()), *tops])
    if means.min() >= -small and ends.min() > small and largest > FAR_APART * ends.min():
        return "xy" if wide else "y"
    return "x" if wide and np.count_nonzero(10 * rounds > rounds[-1]) < FEW else ""
