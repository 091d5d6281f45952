"""The bases of environments: independent items (or groups of them) drawn from one uniform number each."""

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_bounds
from semibandits._util.indexed import names_of
from semibandits._util.moved import former_names
from semibandits.errors import BadArgument
from semibandits.kernel import as_index
from semibandits.rng import uniform
from semibandits.types import Arrays, Bounds, DrawFunction, Environment, GivenBounds, Scalar, Weights

World = TypeVar("World", bound=Environment)

if not TYPE_CHECKING:
    __getattr__ = former_names(__name__)


def keep_names(environment: Environment, **parameters: ArrayLike | None) -> None:
    """The items' names, where the data that it was made of has any: all of it the same."""
    if names := names_of(**parameters):
        environment.labels = names


def with_names_of(environment: Environment, made: World) -> World:
    """What was made of an environment's numbers, and has its items."""
    made.labels = environment.labels
    return made


def read_bounds(environment: Environment, bounds: GivenBounds, n_items: int) -> Bounds:
    """As users write them, by the items' names too; these may be those of the bounds, if there are no others."""
    sides = bounds if isinstance(bounds, tuple | list) and not environment.labels else ()
    for names in filter(None, (names_of(bounds=side) for side in sides)):
        environment.labels = names
        break
    return check_bounds(bounds, n_items, environment.labels)


def table_of(bounds: Bounds) -> Weights:
    """Bounds as a table: the lower one and the upper one, or all lower ones, then all upper ones."""
    return np.concatenate([np.atleast_1d(side) for side in bounds])


def bounds_at(table: Any, item: Scalar) -> Any:
    """Those of an item in such a table."""
    half = table.size // 2
    place = as_index(item) % half
    return table[place], table[half + place]


LARGEST_BOUND = 1e100


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
