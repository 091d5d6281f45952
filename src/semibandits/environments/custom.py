"""The user's own sampler."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_vector
from semibandits._util.item_bounds import are_per_item, pair_of
from semibandits.environments.base import keep_names, read_bounds
from semibandits.errors import BadArgument, BadWeights
from semibandits.types import Environment, GivenBounds, Items, Scalar, Weights


class Custom(Environment):
    """Weights from `sample(generator) -> weights of all items`, with any distribution and any correlation.

    The NumPy generator is keyed by (seed, run, round): the same round always gets the same numbers, so the sampler
    must draw from nothing else. `means` are the weights' true expectations; gaps and regret are measured by them.

    >>> Custom(lambda generator: generator.beta(2, 2, size=3), means=[0.5, 0.5, 0.5])
    Custom(3 items)
    """

    def __init__(
        self, sample: Callable[[np.random.Generator], ArrayLike], means: ArrayLike, bounds: GivenBounds = (0.0, 1.0)
    ) -> None:
        if not callable(sample):
            raise BadArgument(f"sample must be callable, got {sample!r}")
        self._sample = sample
        self.means = check_vector("means", means)
        keep_names(self, means=means)
        self.n_items = self.means.size
        self.bounds = read_bounds(self, bounds, self.n_items)
        outside = (self.means < self.bounds[0]) | (self.means > self.bounds[1])
        if outside.any() and are_per_item(self.bounds):
            item = int(np.argmax(outside))
            raise BadArgument(
                f"the mean of item {item} is {self.means[item]}, outside its bounds {pair_of(self.bounds, item)}"
            )
        if outside.any():
            raise BadArgument(
                f"means reach from {self.means.min()} to {self.means.max()}, outside the bounds {self.bounds}"
            )

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        drawn = np.array(self._sample(np.random.Generator(np.random.Philox(key=int(key)))), dtype=np.float64)
        if drawn.shape != (self.n_items,):
            raise BadWeights(f"sample() must return {self.n_items} weights, got an array of shape {drawn.shape}")
        inside = (drawn >= self.bounds[0]) & (drawn <= self.bounds[1])
        if not inside.all():
            item = int(np.argmin(inside))
            expected = pair_of(self.bounds, item)
            raise BadWeights(f"sample() returned {drawn[item]} for item {item}, not in the bounds {expected}")
        return drawn if items is None else drawn[items]
