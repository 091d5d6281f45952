"""What the environments share: independent items (or groups of them) drawn from one uniform number each."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits import rng
from semibandits.errors import BadArgument
from semibandits.types import Bounds, Environment, Items, Scalar, Weights


def check_vector(name: str, values: ArrayLike, n_items: int | None = None) -> Weights:
    """A non-empty finite float64 vector; a single number stands for n_items equal ones."""
    try:
        vector = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadArgument(f"{name} must be numbers, one per item, got {values!r:.200}") from error
    if vector.ndim == 0 and n_items is not None:
        vector = np.full(n_items, float(vector))
    if vector.ndim != 1 or vector.size == 0 or (n_items is not None and vector.size != n_items):
        expected = "one number per item" if n_items is None else f"{n_items} numbers"
        raise BadArgument(f"{name} must be {expected}, got an array of shape {vector.shape}")
    if not np.isfinite(vector).all():
        item = int(np.argmin(np.isfinite(vector)))
        raise BadArgument(f"{name} must be finite, got {vector[item]} for item {item}")
    vector.setflags(write=False)
    return vector


def check_bounds(bounds: Any) -> Bounds:
    """A pair lo < hi of finite numbers."""
    try:
        lo, hi = (float(bound) for bound in bounds)
    except (TypeError, ValueError) as error:
        raise BadArgument(f"bounds must be a pair (lo, hi) of numbers, got {bounds!r:.200}") from error
    if not (np.isfinite(lo) and np.isfinite(hi) and lo < hi and np.isfinite(hi - lo)):
        raise BadArgument(f"bounds must be finite with lo < hi, got ({lo}, {hi})")
    return lo, hi


class Independent(Environment):
    """Each item's weight is its quantile function at a uniform number of its own, or of its group's."""

    batched = True

    def __init__(self, means: Weights, bounds: Bounds, groups: ArrayLike | None = None) -> None:
        self.means = means
        self.means.setflags(write=False)
        self.n_items = means.size
        self.bounds = bounds
        self.groups: NDArray[np.int64] | None = None
        if groups is None:
            self._coins = np.arange(self.n_items, dtype=np.uint64)
        else:
            names = np.asarray(groups)
            if names.shape != (self.n_items,) or names.dtype.kind not in "iu":
                raise BadArgument(f"groups must be {self.n_items} integers, one per item, got {groups!r:.200}")
            # A group's coin is that of its first item.
            _, first, self.groups = np.unique(names, return_index=True, return_inverse=True)
            self._coins = first[self.groups].astype(np.uint64)

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        chosen = slice(None) if items is None else items
        return self._quantile(rng.uniform(key, self._coins[chosen]), chosen)

    @abstractmethod
    def _quantile(self, u: Weights, items: Items | slice) -> Weights:
        """The weights of these items at uniform numbers u, whose last axis runs over them."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_items} items)"
