"""Between the user's weights or costs and the numbers a policy sees."""

from collections.abc import Callable
from typing import NamedTuple

from semibandits.types import Bounds, Scalar, Sense, Weights


def _same(x: Scalar, lo: float, hi: float) -> Scalar:
    return x


def _x_of_weight(w: Scalar, lo: float, hi: float) -> Scalar:
    return (w - lo) / (hi - lo)


def _weight_of_x(x: Scalar, lo: float, hi: float) -> Scalar:
    return lo + (hi - lo) * x


def _x_of_cost(w: Scalar, lo: float, hi: float) -> Scalar:
    return (hi - w) / (hi - lo)


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
    """

    lo: float
    hi: float
    x_of_weight: Callable[[Scalar, float, float], Scalar]
    weight_of_x: Callable[[Scalar, float, float], Scalar]
    oracle_of_x: Callable[[Scalar, float, float], Scalar]
    x_of_sum: Callable[[Scalar, Scalar, float, float], Scalar]

    @classmethod
    def of(cls, bounds: Bounds, sense: Sense) -> "Scale":
        if sense == "min":
            return cls(*bounds, _x_of_cost, _cost_of_x, _negated_cost_of_x, _x_of_costs)
        if bounds == (0.0, 1.0):
            return cls(*bounds, _same, _same, _same, _same_sum)
        return cls(*bounds, _x_of_weight, _weight_of_x, _weight_of_x, _x_of_weights)

    def to_unit(self, weights: Weights) -> Weights:
        x: Weights = self.x_of_weight(weights, self.lo, self.hi)
        return x

    def from_unit(self, x: Weights) -> Weights:
        """In the user's units: a score of a cost becomes an optimistic cost."""
        weights: Weights = self.weight_of_x(x, self.lo, self.hi)
        return weights

    def for_oracle(self, x: Weights) -> Weights:
        weights: Weights = self.oracle_of_x(x, self.lo, self.hi)
        return weights

    @property
    def offset(self) -> float:
        """The oracle maximises the sum of x + offset, times hi - lo."""
        return float(self.oracle_of_x(0.0, self.lo, self.hi)) / (self.hi - self.lo)

    def sum_to_unit(self, sum: float, size: int) -> float:
        """The sum of x of so many items whose weights or costs have this sum."""
        return float(self.x_of_sum(sum, size, self.lo, self.hi))
