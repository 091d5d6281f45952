"""Weights with Beta distributions."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_vectors
from semibandits.environments.base import Independent, keep_names
from semibandits.errors import BadArgument
from semibandits.kernel import betaincinv
from semibandits.types import Arrays, Scalar


class Beta(Independent):
    """Item e's weight is Beta(a[e], b[e]) in [0, 1], with mean a / (a + b).

    >>> Beta([1.0, 3.0], [1.0, 1.0]).means
    array([0.5 , 0.75])
    """

    def __init__(self, a: ArrayLike, b: ArrayLike, groups: ArrayLike | None = None) -> None:
        self.a, self.b = check_vectors(a=a, b=b)
        keep_names(self, a=a, b=b, groups=groups)
        both = np.concatenate((self.a, self.b))
        if both.min() < 1e-9 or both.max() > 1e9:
            raise BadArgument(f"a and b must be from 1e-9 to 1e9, got {both.min()} to {both.max()}")
        super().__init__(self.a / (self.a + self.b), (0.0, 1.0), (self.a, self.b), groups)

    @staticmethod
    def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return betaincinv(tables[0][item], tables[1][item], u)
