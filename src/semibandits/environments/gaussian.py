"""Normal weights, truncated to bounds."""

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_vectors
from semibandits._util.item_bounds import bounds_of, pair_of
from semibandits.environments.base import Independent, bounds_at, keep_names, read_bounds, table_of
from semibandits.errors import BadArgument
from semibandits.kernel import ndtri_exp, where, xlogy
from semibandits.types import Arrays, Bounds, GivenBounds, Scalar, Weights


class Gaussian(Independent):
    """Item e's weight is N(means[e], sigma[e]²) given that it falls into the bounds.

    The attribute `means` holds the means after truncation; those before it are `centres`.

    >>> Gaussian([0.5, 0.9], sigma=0.2).means.round(4)
    array([0.5   , 0.7982])
    """

    def __init__(
        self, means: ArrayLike, sigma: ArrayLike, bounds: GivenBounds = (0.0, 1.0), groups: ArrayLike | None = None
    ) -> None:
        from scipy.special import log_ndtr

        self.centres, self.sigma = check_vectors(means=means, sigma=sigma)
        keep_names(self, means=means, sigma=sigma, groups=groups)
        if (self.sigma <= 0.0).any():
            raise BadArgument(f"sigma must be positive, got {self.sigma.min()}")
        bounds = lo, hi = read_bounds(self, bounds, self.centres.size)
        alpha, beta = (lo - self.centres) / self.sigma, (hi - self.centres) / self.sigma
        # Items whose bounds lie in the upper tail are drawn mirrored, in the lower one, where Φ keeps its digits.
        mirror = np.where(alpha + beta > 0.0, -1.0, 1.0)
        low, high = np.where(mirror < 0, -beta, alpha), np.where(mirror < 0, -alpha, beta)
        if high.min() < -1e4:
            item = int(np.argmin(high))
            raise BadArgument(
                f"item {item}: the bounds {pair_of(bounds, item)} are more than 10,000 sigma from a normal with mean "
                f"{self.centres[item]} and sigma {self.sigma[item]}"
            )
        # Φ(high), and what Φ(low) is of it.
        log_high = log_ndtr(high)
        log_share = log_ndtr(low) - log_high
        tables = (
            self.centres,
            self.sigma,
            mirror,
            log_high,
            np.exp(log_share),
            np.expm1(log_share),
            table_of(bounds),
        )
        super().__init__(_truncated_means(self.centres, self.sigma, bounds), bounds, tables, groups)

    @staticmethod
    def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        centres, sigma, mirror, log_high, share, less_one, bounds = tables[:7]
        v = where(mirror[item] < 0.0, 1.0 - u, u)
        z = mirror[item] * ndtri_exp(log_high[item] + xlogy(1.0, share[item] - less_one[item] * v))
        drawn = centres[item] + sigma[item] * z
        lowest, highest = bounds_at(bounds, item)
        drawn = where(drawn < lowest, lowest, drawn)
        return where(drawn > highest, highest, drawn)


def _truncated_means(centres: Weights, sigma: Weights, bounds: Bounds) -> Weights:
    """The means by quadrature over the part of the bounds that matters.

    The textbook formula μ + σ (φ(α) - φ(β)) / (Φ(β) - Φ(α)) loses all digits where the bounds are narrow against
    sigma or far from the centre. In y = w - lo the density is exp(-αy/σ - y²/2σ²) up to a factor, α = (lo - μ)/σ.
    """
    nodes, node_weights = np.polynomial.legendre.leggauss(128)
    means = np.empty(centres.size)
    for part in np.array_split(np.arange(centres.size), 1 + centres.size // 4096):
        s = sigma[part]
        lo, hi = bounds_of(bounds, part)
        mode = np.clip(centres[part], lo, hi) - lo
        slope = np.abs((lo + mode - centres[part]) / s)
        reach = s * (np.sqrt(slope**2 + 80.0) - slope)  # beyond it the density is e^-40 of its largest value
        start, end = np.maximum(mode - reach, 0.0), np.minimum(mode + reach, hi - lo)
        y = start[:, None] + (end - start)[:, None] * (0.5 + 0.5 * nodes)
        d = (y - mode[:, None]) / s[:, None]
        density = node_weights * np.exp(-0.5 * d**2 - d * ((lo + mode - centres[part]) / s)[:, None])
        means[part] = lo + (density * y).sum(axis=1) / density.sum(axis=1)
    return np.clip(means, *bounds)
