"""Normal weights, truncated to bounds."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits.environments.base import Independent, check_bounds, check_vectors
from semibandits.errors import BadArgument
from semibandits.types import Bounds, Items, Weights


class Gaussian(Independent):
    """Item e's weight is N(means[e], sigma[e]²) given that it falls into the bounds.

    The attribute `means` holds the means after truncation; those before it are `centres`.

    >>> Gaussian([0.5, 0.9], sigma=0.2).means.round(4)
    array([0.5   , 0.7982])
    """

    def __init__(
        self, means: ArrayLike, sigma: ArrayLike, bounds: Bounds = (0.0, 1.0), groups: ArrayLike | None = None
    ) -> None:
        from scipy.special import ndtr

        self.centres, self.sigma = check_vectors(means=means, sigma=sigma)
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
        super().__init__(_truncated_means(self.centres, self.sigma, lo, hi), (lo, hi), groups)

    def _quantile(self, u: Weights, items: Items | slice) -> Weights:
        from scipy.special import ndtri

        mirror = self._mirror[items]
        z = mirror * ndtri(self._below[items] + np.where(mirror < 0, 1.0 - u, u) * self._mass[items])
        drawn: Weights = np.clip(self.centres[items] + self.sigma[items] * z, *self.bounds)
        return drawn


def _truncated_means(centres: Weights, sigma: Weights, lo: float, hi: float) -> Weights:
    """The means by quadrature over the part of the bounds that matters.

    The textbook formula μ + σ (φ(α) - φ(β)) / (Φ(β) - Φ(α)) loses all digits where the bounds are narrow against
    sigma or far from the centre. In y = w - lo the density is exp(-αy/σ - y²/2σ²) up to a factor, α = (lo - μ)/σ.
    """
    nodes, node_weights = np.polynomial.legendre.leggauss(128)
    means = np.empty(centres.size)
    for part in np.array_split(np.arange(centres.size), 1 + centres.size // 4096):
        s = sigma[part]
        mode = np.clip(centres[part], lo, hi) - lo
        slope = np.abs((lo + mode - centres[part]) / s)
        reach = s * (np.sqrt(slope**2 + 80.0) - slope)  # beyond it the density is e^-40 of its largest value
        start, end = np.maximum(mode - reach, 0.0), np.minimum(mode + reach, hi - lo)
        y = start[:, None] + (end - start)[:, None] * (0.5 + 0.5 * nodes)
        d = (y - mode[:, None]) / s[:, None]
        density = node_weights * np.exp(-0.5 * d**2 - d * ((lo + mode - centres[part]) / s)[:, None])
        means[part] = lo + (density * y).sum(axis=1) / density.sum(axis=1)
    return np.clip(means, lo, hi)
