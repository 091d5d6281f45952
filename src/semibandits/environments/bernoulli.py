"""Weights that are 0 or 1."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_vector
from semibandits.environments.base import Independent, keep_names
from semibandits.errors import BadArgument
from semibandits.kernel import where
from semibandits.types import Arrays, Scalar


class Bernoulli(Independent):
    """Item e weighs 1 with probability means[e], else 0.

    Items with the same number in `groups` share one coin (as in the paper's K-path problem); groups are independent.

    >>> world = Bernoulli([0.5, 0.5, 0.9], groups=[0, 0, 1])
    >>> world.bounds
    (0.0, 1.0)
    """

    def __init__(self, means: ArrayLike, groups: ArrayLike | None = None) -> None:
        p = check_vector("means", means)
        keep_names(self, means=means, groups=groups)
        if (p < 0.0).any() or (p > 1.0).any():
            item = int(np.argmax((p < 0.0) | (p > 1.0)))
            raise BadArgument(f"means must be in [0, 1], got {p[item]} for item {item}")
        super().__init__(p, (0.0, 1.0), (p,), groups)

    @staticmethod
    def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return where(u < tables[0][item], 1.0, 0.0)
