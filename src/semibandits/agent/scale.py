"""Between the user's weights or costs and the numbers a policy sees."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from semibandits._util.checks import widest
from semibandits._util.item_bounds import are_per_item, bounds_of
from semibandits.kernel import where
from semibandits.types import Bounds, Items, Scalar, Sense, Weights


def _same(x: Scalar, lo: float, hi: float) -> Scalar:
    return x


def _x_of_weight(w: Scalar, lo: float, hi: float) -> Scalar:
    return (w - lo) / (hi - lo)


def _x_of_own_weight(w: Scalar, lo: Scalar, hi: Scalar) -> Scalar:
    """The same where an item's weight may be known: its x is 0."""
    return where(lo < hi, (w - lo) / where(lo < hi, hi - lo, 1.0), 0.0)


def _weight_of_x(x: Scalar, lo: float, hi: float) -> Scalar:
    return lo + (hi - lo) * x


def _x_of_cost(w: Scalar, lo: float, hi: float) -> Scalar:
    return (hi - w) / (hi - lo)


def _x_of_own_cost(w: Scalar, lo: Scalar, hi: Scalar) -> Scalar:
    return where(lo < hi, (hi - w) / where(lo < hi, hi - lo, 1.0), 0.0)


def _cost_of_x(x: Scalar, lo: float, hi: float) -> Scalar:
    return hi - (hi - lo) * x


def _negated_cost_of_x(x: Scalar, lo: float, hi: float) -> Scalar:
    return -(hi - (hi - lo) * x)


def _same_sum(sum: Scalar, size: Scalar, lo: float, hi: float) -> Scalar:
    return sum


def _x_of_weights(sum: Scalar, size: Scalar, lo: float, hi: float) -> Scalar:
    return (sum - size * lo) / (hi - lo)


def _x_of_costs(sum: Scalar, size: Scalar, lo: float, hi: float) -> Scalar:
    return (size * hi - sum) / (hi - lo)


class Scale(NamedTuple):
    """Between the user's weights or costs and the policy's x in [0, 1], of which more is better.

    What the oracle maximises is weights, or costs negated. This is not the same as maximising x: solutions of different
    sizes would then be compared by the wrong totals.

    With bounds per item `lo` and `hi` are arrays, and every item has its own x. The functions are given the bounds of
    the items at hand.
    """

    lo: Scalar
    hi: Scalar
    x_of_weight: Callable[[Scalar, Scalar, Scalar], Scalar]
    weight_of_x: Callable[[Scalar, Scalar, Scalar], Scalar]
    oracle_of_x: Callable[[Scalar, Scalar, Scalar], Scalar]
    x_of_sum: Callable[[Scalar, Scalar, float, float], Scalar]

    @classmethod
    def of(cls, bounds: Bounds, sense: Sense) -> "Scale":
        lo, hi = bounds
        own = are_per_item(bounds)
        if sense == "min":
            return cls(lo, hi, _x_of_own_cost if own else _x_of_cost, _cost_of_x, _negated_cost_of_x, _x_of_costs)
        if own:
            return cls(lo, hi, _x_of_own_weight, _weight_of_x, _weight_of_x, _x_of_weights)
        if bounds == (0.0, 1.0):
            return cls(lo, hi, _same, _same, _same, _same_sum)
        return cls(lo, hi, _x_of_weight, _weight_of_x, _weight_of_x, _x_of_weights)

    @property
    def bounds(self) -> Bounds:
        return self.lo, self.hi

    @property
    def per_item(self) -> bool:
        return are_per_item(self.bounds)

    @property
    def costs(self) -> bool:
        return self.oracle_of_x is _negated_cost_of_x

    def common(self) -> "Scale":
        """One scale for all items, that of the widest bounds; itself where it is one."""
        return Scale.of(widest(self.bounds), "min" if self.costs else "max") if self.per_item else self

    def to_unit(self, weights: Weights, items: Items | slice = slice(None)) -> Weights:
        """Of these items' weights, in their order."""
        x: Weights = self.x_of_weight(weights, *bounds_of(self.bounds, items))
        return x

    def from_unit(self, x: Weights) -> Weights:
        """In the user's units, of all items: a score of a cost becomes an optimistic cost."""
        weights: Weights = self.weight_of_x(x, self.lo, self.hi)
        return weights

    def for_oracle(self, x: Weights) -> Weights:
        weights: Weights = self.oracle_of_x(x, self.lo, self.hi)
        return weights

    @property
    def offset(self) -> float:
        """The oracle maximises the sum of x + offset, times hi - lo; with bounds per item there is no such number."""
        return math.nan if self.per_item else float(self.oracle_of_x(0.0, self.lo, self.hi)) / (self.hi - self.lo)

    def sum_to_unit(self, sum: float, size: int) -> float:
        """The sum of x of so many items whose weights or costs have this sum, on a common scale."""
        return float(self.x_of_sum(sum, size, self.lo, self.hi))

    def totals_on(self, other: "Scale", counts: Weights, sums: Weights, squares: Weights) -> tuple[Weights, Weights]:
        """Sums of x and of x² on another scale, of so many observations of every item that has these on this one."""
        width, other_width = self.hi - self.lo, other.hi - other.lo
        distance = other.hi - self.hi if self.costs else self.lo - other.lo
        a, b = distance / other_width, width / other_width
        s = np.clip(counts * a + b * sums, 0.0, counts)
        least = s * s / np.maximum(counts, 1.0)
        return s, np.clip(counts * a * a + 2.0 * a * b * sums + b * b * squares, least, np.maximum(s, least))
