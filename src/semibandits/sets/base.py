"""What the sets share: reading numbers and items."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits.answers import as_items, within
from semibandits.errors import BadArgument, InvalidSet, UnknownItem
from semibandits.sizes import check_room
from semibandits.types import Items, Weights

MOST_ITEMS = 2**31 - 1
"""As many as the solutions of a simulation can tell apart."""
ITEM_BYTES = 32
"""What an item takes at least: in a set, and in a learner that plays on it."""
EDGE_BYTES = 800
"""What an edge of a graph does."""


def check_count(name: str, value: Any, error: type[BadArgument] = InvalidSet, most: int | None = None) -> int:
    """A whole number of at least 1, and perhaps of at most so many."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise error(f"{name} must be an integer >= 1, got {value!r}")
    if most is not None and value > most:
        raise error(f"{name} must be at most {most:,}")
    return int(value)


def check_n_items(value: Any, what: str = "n_items", each: int = ITEM_BYTES) -> int:
    """A number of items, or of what items are made of, that this machine can hold: `each` is what one takes."""
    count = check_count(what, value, most=MOST_ITEMS)
    check_room(each * count, f"{what} is {count:,}: so many take", error=InvalidSet)
    return count


def scaled_down(weights: ArrayLike) -> Weights:
    """The same weights for the same best solution, small enough for any sum of them to be finite."""
    return np.asarray(weights, dtype=np.float64) * 2.0**-64


def check_items(items: Any, n_items: int) -> Items:
    """Known, distinct items in ascending order."""
    ordered = as_items(items)
    if ordered is None:
        raise UnknownItem(f"items must be distinct integers, got {items!r:.200}")
    if not within(ordered, n_items):
        wrong = ordered[0] if ordered[0] < 0 else ordered[-1]
        raise UnknownItem(f"item {wrong} does not exist: items are 0 to {n_items - 1}")
    return ordered


def check_restriction(include: Iterable[int], exclude: Iterable[int], n_items: int) -> tuple[Items, Items]:
    """The two lists of `restrict`; where they share an item, nothing is feasible and the caller's set will say so."""
    return check_items(include, n_items), check_items(exclude, n_items)


def restriction(include: Items, exclude: Items) -> str:
    """Says in an error what was demanded of a solution."""
    parts = [f"with items {include.tolist()!r:.100}"] if include.size else []
    parts += [f"without items {exclude.tolist()!r:.100}"] if exclude.size else []
    return " and ".join(parts) or "at all"
