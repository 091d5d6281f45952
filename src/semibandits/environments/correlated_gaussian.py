"""Normal weights that depend on each other, clipped to bounds."""

import math

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_bounds, check_covariance, check_vector, check_vectors
from semibandits._util.indexed import names_of
from semibandits.draws import normal
from semibandits.environments.base import bounds_at, keep_names, read_bounds, table_of
from semibandits.errors import BadArgument
from semibandits.kernel import where
from semibandits.types import Arrays, Environment, GivenBounds, Scalar, Weights


class CorrelatedGaussian(Environment):
    """The weights of a round are jointly normal, N(means, covariance), and each is then clipped to the bounds.

    What is below the lower bound becomes the lower bound, what is above the upper one the upper one. The attribute
    `means` holds the means after clipping; those before it are `centres`. `covariance` is that before clipping, in the
    units of the weights. Drawing an item takes a normal number for each item there is.

    >>> world = CorrelatedGaussian([0.5, 0.9], [[0.04, 0.03], [0.03, 0.04]])
    >>> world.means.round(4), world.independent
    (array([0.5   , 0.8604]), False)
    """

    batched = True

    def __init__(self, means: ArrayLike, covariance: ArrayLike, bounds: GivenBounds = (0.0, 1.0)) -> None:
        self.centres = check_vector("means", means)
        keep_names(self, means=means, covariance=covariance)
        self.n_items = self.centres.size
        self.covariance = check_covariance(covariance, "; items that move together exactly are groups= elsewhere")
        if len(self.covariance) != self.n_items:
            n = self.n_items
            raise BadArgument(f"covariance must have shape ({n}, {n}), one row per item, got {self.covariance.shape}")
        self.bounds = read_bounds(self, bounds, self.n_items)
        self.means = _clipped_means(self.centres, np.sqrt(np.diag(self.covariance)), *self.bounds)
        self.independent = not (self.covariance - np.diag(np.diag(self.covariance))).any()
        self.tables = (self.centres, _factor(self.covariance), table_of(self.bounds))
        for array in (self.means, self.covariance, *self.tables):
            array.setflags(write=False)

    @classmethod
    def equicorrelated(
        cls, means: ArrayLike, sigma: ArrayLike, rho: float, bounds: GivenBounds = (0.0, 1.0)
    ) -> "CorrelatedGaussian":
        """Standard deviations `sigma`, one for all or one per item, and the same correlation `rho` of any two items.

        >>> CorrelatedGaussian.equicorrelated([0.5, 0.5], sigma=0.2, rho=0.5).covariance.round(3)
        array([[0.04, 0.02],
               [0.02, 0.04]])
        """
        centres, deviations = check_vectors(means=means, sigma=sigma)
        if (deviations <= 0.0).any():
            raise BadArgument(f"sigma must be positive, got {deviations.min()}")
        least = -1.0 / max(1, centres.size - 1)
        if isinstance(rho, bool) or not isinstance(rho, int | float | np.integer | np.floating) or not least < rho < 1:
            raise BadArgument(
                f"rho must be between {least:g} and 1 (both excluded) for {centres.size} items, got {rho!r:.100}"
                ": for items that move together exactly, other environments have groups="
            )
        correlation = np.where(np.eye(centres.size, dtype=np.bool_), 1.0, float(rho))
        names = names_of(means=means, sigma=sigma)
        known = check_bounds(bounds, centres.size, names) if names else bounds
        world = cls(centres, deviations[:, None] * correlation * deviations, known)
        world.labels = names or world.labels
        return world

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        centres, factor, bounds = tables
        drawn = centres[item]
        for j in range(factor.shape[1]):  # an item's row ends at itself: what follows adds 0
            drawn = drawn + factor[item, j] * normal(key, j)
        lowest, highest = bounds_at(bounds, item)
        drawn = where(drawn < lowest, lowest, drawn)
        return where(drawn > highest, highest, drawn)


def _clipped_means(centres: Weights, sigma: Weights, lo: float | Weights, hi: float | Weights) -> Weights:
    """E clip(X) = clip(μ) + σ (g(|lo - μ|/σ) - g(|hi - μ|/σ)), where g(t) = E max(Z - t, 0) = φ(t) - t Φ(-t)."""
    from scipy.special import ndtr

    def g(bound: float | Weights) -> Weights:
        t = np.abs(bound - centres) / sigma
        excess: Weights = np.exp(-0.5 * np.minimum(t, 40.0) ** 2) / math.sqrt(2.0 * math.pi) - t * ndtr(-t)
        return np.maximum(excess, 0.0)

    return np.clip(np.clip(centres, lo, hi) + sigma * (g(lo) - g(hi)), lo, hi)


def _factor(covariance: Weights) -> Weights:
    """Cholesky's lower triangular factor, by arithmetic on elements: the same bits on every machine."""
    rest = covariance.copy()
    factor = np.zeros_like(rest)
    for j in range(len(rest)):
        factor[j:, j] = rest[j:, j] / math.sqrt(rest[j, j])
        rest[j:, j:] -= factor[j:, j, None] * factor[j:, j]
    return factor
