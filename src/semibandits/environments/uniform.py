"""Weights uniform between two numbers."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_bounds, check_vectors
from semibandits.environments.base import Independent, keep_names
from semibandits.errors import BadArgument
from semibandits.kernel import where
from semibandits.types import Arrays, Bounds, Scalar


class Uniform(Independent):
    """Item e's weight is uniform on [low[e], high[e]]; where they are equal it is that number.

    `bounds` (default: from the smallest `low` to the largest `high`) are what a policy is told.

    >>> Uniform([0.0, 10.0], [1.0, 30.0]).bounds
    (0.0, 30.0)
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, bounds: Bounds | None = None, groups: ArrayLike | None = None
    ) -> None:
        self.low, self.high = check_vectors(low=low, high=high)
        keep_names(self, low, high)
        if (self.low > self.high).any():
            item = int(np.argmax(self.low > self.high))
            raise BadArgument(f"low must be <= high, got {self.low[item]} > {self.high[item]} for item {item}")
        if bounds is None and self.low.min() == self.high.max():
            raise BadArgument(f"all weights are {self.high[0]}: pass bounds=(lo, hi)")
        lo, hi = check_bounds((self.low.min(), self.high.max()) if bounds is None else bounds)
        if self.low.min() < lo or self.high.max() > hi:
            raise BadArgument(
                f"weights reach from {self.low.min()} to {self.high.max()}, outside the bounds ({lo}, {hi})"
            )
        super().__init__(self.low + 0.5 * (self.high - self.low), (lo, hi), (self.low, self.high), groups)

    @staticmethod
    def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        low, high = tables[0][item], tables[1][item]
        drawn = low + u * (high - low)
        return where(drawn < high, drawn, high)
