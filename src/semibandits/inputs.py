"""What a user says, read and checked: items by number or label, and weights within their bounds."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from semibandits.errors import BadArgument, BadWeights, UnknownItem
from semibandits.types import Bounds, Items, Weights


class Inputs:
    """The vocabulary of one learner."""

    def __init__(self, n_items: int, bounds: Bounds, labels: Sequence[str] | None) -> None:
        self.n_items = n_items
        self.bounds = bounds
        self.labels = None if labels is None else _check_labels(labels, n_items)
        self._item_of = {label: item for item, label in enumerate(self.labels or ())}

    def names(self, items: Iterable[int]) -> list[str]:
        """How the user calls these items."""
        return [str(item) if self.labels is None else self.labels[item] for item in items]

    def item(self, name: Any) -> int:
        if isinstance(name, str):
            if name in self._item_of:
                return self._item_of[name]
            hint = ", and this learner has no labels" if self.labels is None else ""
            raise UnknownItem(f"no item has the label {name!r:.100}{hint}")
        if isinstance(name, bool) or not isinstance(name, int | np.integer) or not 0 <= name < self.n_items:
            raise UnknownItem(f"no item {name!r:.100}: items are 0 to {self.n_items - 1}")
        return int(name)

    def items(self, names: Any) -> Items:
        """Items in the order given, repeats and all."""
        if isinstance(names, np.ndarray) and names.dtype.kind in "iu" and names.ndim == 1:
            if not ((names < 0) | (names >= self.n_items)).any():
                return np.array(names, dtype=np.int64)
            names = names.tolist()
        elif isinstance(names, str | bytes) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
            raise UnknownItem(f"expected a list of items or labels, got {names!r:.100}")
        return np.array([self.item(name) for name in names], dtype=np.int64)

    def unavailable(self, available: Any) -> Items:
        """All items but these, which are given by name or as a mask."""
        if isinstance(available, list) and available and {bool, np.bool_}.issuperset(map(type, available)):
            available = np.array(available)
        if isinstance(available, np.ndarray) and available.dtype == np.bool_:
            if available.shape != (self.n_items,):
                raise BadArgument(f"expected a mask of {self.n_items} items, got an array of shape {available.shape}")
            return np.flatnonzero(~available)
        mask = np.ones(self.n_items, dtype=bool)
        mask[self.items(available)] = False
        return np.flatnonzero(mask)

    def weights(self, weights: Any, items: Items) -> Weights:
        """Finite numbers within the bounds, one for each of these items, as a new array."""
        count = len(items)
        expected = f"expected {count} weight{'' if count == 1 else 's'}"
        if isinstance(weights, np.ma.MaskedArray):
            raise BadWeights("weights must all be there, got a masked array")
        if not isinstance(weights, np.ndarray):
            if isinstance(weights, str | bytes | Set) or not isinstance(weights, Iterable):
                raise BadWeights(f"{expected} in the order of the items, got {weights!r:.200}")
            weights = list(weights)
            if not {bool, np.bool_}.isdisjoint(map(type, weights)):
                raise BadWeights(f"weights must be numbers, got a truth value in {weights!r:.200}")
        try:
            values = np.asarray(weights)
        except ValueError as error:
            raise BadWeights(f"{expected}, got {weights!r:.200}") from error
        if values.shape != (count,):
            raise BadWeights(f"{expected}, got {len(values) if values.ndim == 1 else weights!r:.200}")
        if count and values.dtype.kind not in "fiu":
            raise BadWeights(f"weights must be numbers, got {weights!r:.200}")
        values = values.astype(np.float64)
        inside = (values >= self.bounds[0]) & (values <= self.bounds[1])
        if np.count_nonzero(inside) < count:  # a quick all()
            at = int(np.argmin(inside))
            name = self.names(items[at : at + 1])[0]
            raise BadWeights(f"weights must be within the bounds {self.bounds}, got {values[at]} for item {name}")
        return values

    def sum(self, sum: Any, size: int) -> float:
        """What so many items are worth together."""
        if isinstance(sum, np.ndarray) and sum.size == 1 and not isinstance(sum, np.ma.MaskedArray):
            sum = sum.item()
        if isinstance(sum, bool) or not isinstance(sum, int | float | np.integer | np.floating):
            raise BadWeights(f"expected one number, the sum of the {size} items' weights, got {sum!r:.200}")
        try:
            told = float(sum)
        except OverflowError:
            told = float("inf")
        least, most = size * self.bounds[0], size * self.bounds[1]
        slack = 1e-9 * max(abs(least), abs(most))  # of adding up
        if not least - slack <= told <= most + slack:
            raise BadWeights(f"the sum of {size} weights must be from {least} to {most}, got {told}")
        return told

    def pairs(self, names: list[Any], weights: list[Any]) -> tuple[Items, Weights]:
        """A mapping's keys and values: every item at most once."""
        items = self.items(names)
        if np.unique(items).size < items.size:
            raise UnknownItem(f"an item is given twice, by number and by label: {names!r:.200}")
        return items, self.weights(weights, items)


def check_confidence(confidence: Any) -> None:
    if not isinstance(confidence, int | float | np.floating) or not 0.0 < confidence < 1.0:
        raise BadArgument(f"confidence must be between 0 and 1, got {confidence!r:.100}")


def _check_labels(labels: Any, n_items: int) -> tuple[str, ...]:
    ordered = isinstance(labels, Iterable) and not isinstance(labels, str | bytes | Set | Mapping)
    names = tuple(labels) if ordered else ()
    if len(names) != n_items or not all(isinstance(name, str) for name in names):
        raise BadArgument(f"labels must be {n_items} strings, one per item, got {labels!r:.200}")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadArgument(f"labels must be distinct, got {name!r:.100} twice")
        if not name.isprintable():
            raise BadArgument(f"labels must be printable, got {name!r:.100}")
        seen.add(name)
    return tuple([str(name) for name in names])
