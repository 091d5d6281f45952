"""Weights with Beta distributions."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits.environments.base import Independent, check_vector
from semibandits.errors import BadArgument
from semibandits.types import Items, Weights


class Beta(Independent):
    """Item e's weight is Beta(a[e], b[e]) in [0, 1], with mean a / (a + b).

    >>> Beta([1.0, 3.0], [1.0, 1.0]).means
    array([0.5 , 0.75])
    """

    def __init__(self, a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None) -> None:
        self.a = check_vector("a", a)
        self.b = check_vector("b", b, self.a.size)
        if (self.a <= 0.0).any() or (self.b <= 0.0).any():
            raise BadArgument(f"a and b must be positive, got minima {self.a.min()} and {self.b.min()}")
        super().__init__(self.a / (self.a + self.b), (0.0, 1.0), groups)

    def _quantile(self, u: Weights, items: Items | slice) -> Weights:
        from scipy.special import betaincinv

        return np.asarray(betaincinv(self.a[items], self.b[items], u), dtype=np.float64)
