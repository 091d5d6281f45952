"""What the environments share: independent items (or groups of them) drawn from one uniform number each."""

import functools
from abc import abstractmethod
from collections.abc import Callable, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits.errors import BadArgument
from semibandits.indexed import check_order, names_of
from semibandits.rng import uniform
from semibandits.types import Arrays, Bounds, DrawFunction, Environment, Scalar, Weights


def check_vector(name: str, values: ArrayLike, n_items: int | None = None) -> Weights:
    """A non-empty finite float64 vector; a single number stands for n_items equal ones."""
    check_order(name, values, names=True)
    try:
        numbers = np.asarray(values)
    except ValueError as error:
        raise BadArgument(f"{name} must be numbers, one per item, got {values!r:.200}") from error
    if numbers.dtype.kind not in "fiu":
        raise BadArgument(f"{name} must be numbers, one per item, got {values!r:.200}")
    vector = np.full(n_items or 1, numbers, dtype=np.float64) if numbers.ndim == 0 else numbers.astype(np.float64)
    if vector.ndim != 1 or vector.size == 0 or (n_items is not None and vector.size != n_items):
        expected = "one number per item" if n_items is None else f"{n_items} numbers"
        raise BadArgument(f"{name} must be {expected}, got an array of shape {vector.shape}")
    if not np.isfinite(vector).all():
        item = int(np.argmin(np.isfinite(vector)))
        raise BadArgument(f"{name} must be finite, got {vector[item]} for item {item}")
    vector.setflags(write=False)
    return vector


def check_vectors(**named: ArrayLike) -> list[Weights]:
    """Vectors of one length; a single number stands for as many equal ones."""
    lengths = [np.size(values) for values in named.values() if np.ndim(values) > 0]
    return [check_vector(name, values, lengths[0] if lengths else 1) for name, values in named.items()]


def keep_names(environment: Environment, *vectors: ArrayLike) -> None:
    """The items' names, where the data that it was made of has any."""
    if names := names_of(*vectors):
        environment.labels = names


LARGEST_BOUND = 1e100


def check_bounds(bounds: Any) -> Bounds:
    """A pair lo < hi of numbers, small enough for sums and scores to stay finite."""
    try:
        lo, hi = bounds
        if isinstance(bounds, str | bytes | Set) or isinstance(lo, str) or isinstance(hi, str):
            raise TypeError
        lo, hi = float(lo), float(hi)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadArgument(f"bounds must be a pair (lo, hi) of numbers, got {bounds!r:.200}") from error
    if not -LARGEST_BOUND <= lo < hi <= LARGEST_BOUND:
        raise BadArgument(f"bounds must be finite with lo < hi, at most {LARGEST_BOUND:g} in size, got ({lo}, {hi})")
    return lo, hi


class Independent(Environment):
    """Each item's weight is its quantile function at a uniform number of its own, or of its group's.

    A subclass writes the static function `quantile(u, item, tables)`, made like `draw`, and sets `tables`.
    """

    batched = True

    def __init__(self, means: Weights, bounds: Bounds, tables: Arrays, groups: ArrayLike | None = None) -> None:
        self.means = means
        self.means.setflags(write=False)
        self.n_items = means.size
        self.bounds = bounds
        self.tables = tables
        self.groups: NDArray[np.int64] | None = None
        if groups is not None:
            names = np.asarray(groups)
            if names.shape != (self.n_items,) or names.dtype.kind not in "iu":
                raise BadArgument(f"groups must be {self.n_items} integers, one per item, got {groups!r:.200}")
            # A group's coin is that of its first item.
            _, first, self.groups = np.unique(names, return_index=True, return_inverse=True)
            self.tables = (*tables, first[self.groups].astype(np.uint64))
        self.independent = self.groups is None or first.size == self.n_items

    def drawing(self) -> DrawFunction:
        return _drawing(type(self).quantile, self.groups is not None)

    @staticmethod
    @abstractmethod
    def quantile(u: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        """The weight of this item at a uniform number u."""


@functools.lru_cache
def _drawing(quantile: Callable[..., Scalar], grouped: bool) -> DrawFunction:
    def own_coin(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return quantile(uniform(key, item), item, tables)

    def group_coin(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return quantile(uniform(key, tables[-1][item]), item, tables)

    return group_coin if grouped else own_coin
