"""Weights on bounds of their own, made of a world on [0, 1]."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from semibandits._util.ownership import ours
from semibandits.environments.base import read_bounds, with_names_of
from semibandits.errors import BadArgument
from semibandits.kernel import where
from semibandits.types import (
    Arrays,
    DrawFunction,
    Environment,
    GivenBounds,
    Items,
    Scalar,
    Weights,
    means_in,
    up_to_date,
)


class Scaled(Environment):
    """Item e weighs lo[e] + (hi[e] - lo[e]) x, where x is its weight in another world, of weights in [0, 1].

    So a street takes its free-flow time, and as much more as the traffic makes of it. What the items share, and how
    means drift, is handed on. A world of a user's own is drawn in Python.

    >>> from semibandits.environments import Bernoulli
    >>> world = Scaled(Bernoulli([0.5, 0.1, 0.9]), bounds=([2.0, 5.0, 3.0], [6.0, 25.0, 3.0]))
    >>> world.means, world.bounds
    (array([4., 7., 3.]), (array([2., 5., 3.]), array([ 6., 25.,  3.])))
    """

    def __init__(self, environment: Environment, bounds: GivenBounds) -> None:
        if not isinstance(environment, Environment):
            raise BadArgument(f"environment must be an Environment, got {environment!r:.200}")
        if any(np.ndim(side) > 0 for side in environment.bounds) or tuple(environment.bounds) != (0.0, 1.0):
            raise BadArgument(f"environment must have the bounds (0, 1), got {environment!r:.200}, which has others")
        if environment.says_sets:
            raise BadArgument(f"{environment!r} says the set of each round: give it a scaled world, not the reverse")
        self.environment = environment
        self.blocks = (environment,)
        self.n_items, self.labels = environment.n_items, environment.labels
        self.bounds = read_bounds(self, bounds, self.n_items)
        self._lo, self._hi = (np.zeros(self.n_items) + side for side in self.bounds)
        self.tables = (*environment.tables, self._lo, self._hi)
        self.independent, self.batched = environment.independent, environment.batched
        self.drifts, self.hindsight = environment.drifts, environment.hindsight
        self.last_round = environment.last_round
        self._means = None if self.drifts else self._scaled(environment.means)
        for array in (self._lo, self._hi, *(() if self._means is None else (self._means,))):
            array.setflags(write=False)
        if hasattr(environment, "rows") and hasattr(environment, "slopes"):  # of means that move along lines
            self.starts, self.smooth = environment.starts, environment.smooth  # type: ignore[attr-defined]
            self.rows = self._scaled(environment.rows)
            self.slopes = (self._hi - self._lo) * environment.slopes

    def _scaled(self, x: Weights, items: Items | slice = slice(None)) -> Weights:
        weights: Weights = _on_bounds(x, self._lo[items], self._hi[items])
        return weights

    @property
    def means(self) -> Any:  # type: ignore[override]
        """The items' means; where they drift, a function of the round."""
        return self._means_in if self._means is None else self._means

    def _means_in(self, round: int) -> Weights:
        return self._scaled(means_in(self.environment, round))

    def at(self, round: int) -> "Scaled":
        """The world that is in every round as this one is in `round`: itself, unless it drifts."""
        if not self.drifts:
            return self
        return with_names_of(self, Scaled(self.environment.at(round), (self._lo, self._hi)))

    def average(self, rounds: int) -> Weights:
        """The mean of the means over rounds 1 to `rounds`."""
        if not self.drifts:
            return self.means  # type: ignore[no-any-return]
        return self._scaled(self.environment.average(rounds))  # type: ignore[attr-defined]

    def drawing(self) -> DrawFunction | None:
        inner = self.environment
        draw = inner.drawing() if ours(inner) and up_to_date(inner, "drawing", "weights") else None
        return None if draw is None else _drawing(draw)

    @property
    def mean(self) -> Any:
        """The function that tells the mean of an item in a round, where there is one."""
        return _mean(self.environment.mean)  # type: ignore[attr-defined]

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        drawn = self.environment.weights(round, key, items)
        return self._scaled(drawn, slice(None) if items is None else items)

    def __repr__(self) -> str:
        return f"Scaled({self.environment!r})"


def _on_bounds(x: Scalar, lo: Scalar, hi: Scalar) -> Scalar:
    weight = lo + (hi - lo) * x
    return where((x <= 1.0) & (weight > hi), hi, weight)


@functools.lru_cache
def _drawing(draw: Callable[..., Scalar]) -> DrawFunction:
    def scaled(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return _on_bounds(draw(round, key, item, tables[:-2]), tables[-2][item], tables[-1][item])

    return scaled


@functools.lru_cache
def _mean(mean: Callable[..., Scalar]) -> Callable[..., Scalar]:
    def scaled(round: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return _on_bounds(mean(round, item, tables[:-2]), tables[-2][item], tables[-1][item])

    return scaled
