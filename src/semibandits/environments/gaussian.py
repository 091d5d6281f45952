"""Normal weights, truncated to bounds."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits.environments.base import Independent, check_bounds, check_vector
from semibandits.errors import BadArgument
from semibandits.types import Bounds, Items, Weights


class Gaussian(Independent):
    """Item e's weight is N(means[e], sigma[e]²) given that it falls into the bounds.

    The attribute `means` holds the means after truncation, μ + σ (φ(α) - φ(β)) / (Φ(β) - Φ(α)) with α and β the
    standardised bounds; those before it are `centres`.

    >>> Gaussian([0.5, 0.9], sigma=0.2).means.round(4)
    array([0.5   , 0.7982])
    """

    def __init__(
        self, means: ArrayLike, sigma: ArrayLike, bounds: Bounds = (0.0, 1.0), groups: ArrayLike | None = None
    ) -> None:
        from scipy.special import ndtr

        self.centres = check_vector("means", means)
        self.sigma = check_vector("sigma", sigma, self.centres.size)
        if (self.sigma <= 0.0).any():
            raise BadArgument(f"sigma must be positive, got {self.sigma.min()}")
        lo, hi = check_bounds(bounds)
        alpha, beta = (lo - self.centres) / self.sigma, (hi - self.centres) / self.sigma
        # Items whose bounds lie in the upper tail are drawn mirrored, where Φ keeps its precision.
        self._mirror = np.where(alpha + beta > 0.0, -1.0, 1.0)
        low, high = np.where(self._mirror < 0, -beta, alpha), np.where(self._mirror < 0, -alpha, beta)
        self._below, self._mass = ndtr(low), ndtr(high) - ndtr(low)
        if (self._mass <= 1e-290).any():
            item = int(np.argmin(self._mass))
            raise BadArgument(
                f"item {item}: a normal with mean {self.centres[item]} and sigma {self.sigma[item]} "
                f"practically never falls into the bounds ({lo}, {hi})"
            )
        density = (np.exp(-0.5 * low**2) - np.exp(-0.5 * high**2)) / np.sqrt(2.0 * np.pi)
        truncated = self.centres + self._mirror * self.sigma * density / self._mass
        super().__init__(np.clip(truncated, lo, hi), (lo, hi), groups)

    def _quantile(self, u: Weights, items: Items | slice) -> Weights:
        from scipy.special import ndtri

        z = self._mirror[items] * ndtri(self._below[items] + u * self._mass[items])
        drawn: Weights = np.clip(self.centres[items] + self.sigma[items] * z, *self.bounds)
        return drawn
