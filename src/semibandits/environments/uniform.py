"""Weights uniform between two numbers."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_vectors
from semibandits._util.item_bounds import are_per_item, pair_of
from semibandits.environments.base import Independent, keep_names, read_bounds
from semibandits.errors import BadArgument
from semibandits.kernel import where
from semibandits.types import Arrays, GivenBounds, Scalar


class Uniform(Independent):
    """Item e's weight is uniform on [low[e], high[e]]; where they are equal it is that number.

    `bounds` (default: from the smallest `low` to the largest `high`) are what a policy is told; (low, high) are the
    tightest, one pair for each item.

    >>> Uniform([0.0, 10.0], [1.0, 30.0]).bounds
    (0.0, 30.0)
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, bounds: GivenBounds | None = None, groups: ArrayLike | None = None
    ) -> None:
        self.low, self.high = check_vectors(low=low, high=high)
        keep_names(self, low=low, high=high, groups=groups)
        if (self.low > self.high).any():
            item = int(np.argmax(self.low > self.high))
            raise BadArgument(f"low must be <= high, got {self.low[item]} > {self.high[item]} for item {item}")
        if bounds is None and self.low.min() == self.high.max():
            raise BadArgument(f"all weights are {self.high[0]}: pass bounds=(lo, hi)")
        widest = (self.low.min(), self.high.max()) if bounds is None else bounds
        bounds = lo, hi = read_bounds(self, widest, self.low.size)
        outside = (self.low < lo) | (self.high > hi)
        if outside.any() and are_per_item(bounds):
            item = int(np.argmax(outside))
            raise BadArgument(
                f"weights of item {item} are from {self.low[item]} to {self.high[item]}, outside its bounds "
                f"{pair_of(bounds, item)}"
            )
        if outside.any():
            raise BadArgument(
                f"weights reach from {self.low.min()} to {self.high.max()}, outside the bounds ({lo}, {hi})"
            )
        super().__init__(self.low + 0.5 * (self.high - self.low), bounds, (self.low, self.high), groups)

    @staticmethod
    def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        low, high = tables[0][item], tables[1][item]
        drawn = low + u * (high - low)
        return where(drawn < high, drawn, high)
