"""Lognormal weights, clipped to bounds: spendings, delays, whatever is now and then many times its usual size."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_vectors
from semibandits.environments.base import Independent
from semibandits.errors import BadArgument
from semibandits.kernel import exp, ndtri_exp, where, xlogy
from semibandits.types import Arrays, Scalar


class Lognormal(Independent):
    """Item e's weight is median[e] · exp(spread[e] · Z), Z standard normal, and `most` where that is more.

    >>> Lognormal([1.0, 2.0], spread=1.0, most=20.0).means.round(3)
    array([1.638, 3.193])
    """

    def __init__(self, median: ArrayLike, spread: ArrayLike, most: float) -> None:
        from scipy.special import ndtr

        self.median, self.spread = check_vectors(median=median, spread=spread)
        if min(self.median.min(), self.spread.min()) <= 0.0:
            raise BadArgument(f"median and spread must be positive, got {median!r:.100} and {spread!r:.100}")
        t = np.log(most / self.median) / self.spread  # beyond so many deviations it is clipped
        below = self.median * np.exp(0.5 * self.spread**2) * ndtr(t - self.spread)
        means = below + most * ndtr(-t)
        super().__init__(means, (0.0, float(most)), (self.median, self.spread, np.array([float(most)])))

    @staticmethod
    def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        median, spread, most = tables[:3]
        z = ndtri_exp(xlogy(1.0, 1.0 - u))
        z = where(z > 9.0, 9.0, z)
        drawn = median[item] * exp(spread[item] * z)
        return where(drawn > most[0], most[0], drawn)
