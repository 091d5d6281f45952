"""The reader of what a user says: items by number or label, and weights within their bounds."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semibandits._util.checks import is_number
from semibandits._util.indexed import by_name, check_order, counts_rows, index_of
from semibandits._util.item_bounds import ROUNDING, SINGLE, bounds_of, pair_of, with_rounding
from semibandits.errors import BadArgument, BadWeights, UnknownItem
from semibandits.types import Bounds, FeasibleSet, Items, Weights, total

TRUTH = {bool, np.bool_}
Outside: TypeAlias = Literal["error", "clip"]
"""What becomes of weights beyond the bounds."""


class Reader:
    """The vocabulary of one learner: labels, and `aliases` by which the items are known as well."""

    def __init__(
        self,
        n_items: int,
        bounds: Bounds,
        labels: Sequence[str] | None,
        outside: Outside = "error",
        aliases: Sequence[str] = (),
    ) -> None:
        self.n_items = n_items
        self.bounds = bounds
        self.outside: Outside = outside
        self.labels = None if labels is None else check_labels(labels, n_items)
        self._item_of = {label: item for names in (aliases, self.labels or ()) for item, label in enumerate(names)}

    def names(self, items: Iterable[int]) -> list[str]:
        """How the user calls these items."""
        return [str(item) if self.labels is None else self.labels[item] for item in items]

    def item(self, name: Any) -> int:
        if isinstance(name, str):
            if name in self._item_of:
                return self._item_of[name]
            hint = ", and this learner has no labels" if self.labels is None else self._meant(name)
            raise UnknownItem(f"no item has the label {name!r:.100}{hint}")
        if isinstance(name, bool) or not isinstance(name, int | np.integer) or not 0 <= name < self.n_items:
            whole = ", as whole numbers" if isinstance(name, float | np.floating) else ""
            labelled = "" if self.labels is None else f", or labels, such as {self.labels[0]!r:.100}"
            raise UnknownItem(f"no item {name!r:.100}: items are 0 to {self.n_items - 1}{whole}{labelled}")
        return int(name)

    def _meant(self, name: str) -> str:
        """What to say of an unknown label: one that differs by its case and by spaces around it was meant."""
        plain = name.strip().lower()
        alike = next((label for label in self._item_of if label.strip().lower() == plain), None)
        return "" if alike is None else f": did you mean {alike!r:.100}?"

    def items(self, names: Any) -> Items:
        """Items in the order given, repeats and all."""
        if isinstance(names, np.ma.MaskedArray):
            raise UnknownItem(f"items must all be there, got a masked array: {names!r:.200}")
        if isinstance(names, np.ndarray) and names.dtype.kind in "iu" and names.ndim == 1:
            if not ((names < 0) | (names >= self.n_items)).any():
                return np.array(names, dtype=np.int64)
            names = names.tolist()
        elif isinstance(names, str | bytes) or not isinstance(names, Iterable) or getattr(names, "ndim", 1) != 1:
            raise UnknownItem(f"expected a list of items or labels, got {names!r:.100}")
        return np.array([self.item(name) for name in names], dtype=np.int64)

    def unavailable(self, available: Any) -> Items:
        """All items but these, which are given by name, or as a mask: in the order of the items, or by name too."""
        if hasattr(available, "columns") or isinstance(available, np.ma.MaskedArray):
            what = "table" if hasattr(available, "columns") else "masked array"
            raise BadArgument(f"available must be a list of items or a mask, got a {what}: {available!r:.200}")
        if isinstance(available, int | np.integer):
            raise BadArgument(
                f"available must be a list of items or a mask, got {available!r}; n= is how many decisions"
            )
        if isinstance(available, np.ndarray) and available.dtype == object:
            available = available.tolist()
        if _is_plain(available) or not isinstance(available, Iterable):
            values = available
        else:
            values = list(available.values() if isinstance(available, Mapping) else available)
        mask = np.zeros(self.n_items, dtype=bool)
        if _are_truths(values):
            mask[self._masked(available, np.shape(values))] = values
        elif isinstance(available, Mapping) or self._is_mask(available, values):
            raise BadArgument(f"a mask must be True or False for every item, got {available!r:.200}")
        else:
            mask[self.once(values)] = True
        return np.flatnonzero(~mask)

    def _masked(self, available: Any, shape: tuple[int, ...]) -> Items:
        """The items that a mask of this shape speaks of, in its order: all of them."""
        in_order = self.labels is None and index_of(available) == list(range(self.n_items))
        named = None if in_order else self.named(available)
        if named is None:
            if shape != (self.n_items,):
                raise BadArgument(f"expected a mask of {self.n_items} items, got an array of shape {shape}")
            return np.arange(self.n_items)
        items = self.once(named[0])
        if items.size < self.n_items:
            missing = self.names(np.setdiff1d(np.arange(self.n_items), items)[:10])
            raise BadArgument(f"a mask must say of every item whether it is available, also of {', '.join(missing)}")
        return items

    def _is_mask(self, available: Any, values: Any) -> bool:
        """Whether it was meant as one: by its index, or by some of its values."""
        index = index_of(available)
        named = index is not None and len(index) > 0 and all(name in self._item_of for name in index)
        return named or (isinstance(values, list) and not TRUTH.isdisjoint(map(type, values)))

    def weights(self, weights: Any, items: Items) -> Weights:
        """Finite numbers within the bounds, up to rounding, one for each of these items, as a new array. True is 1."""
        count = len(items)
        expected = f"expected {count} weight{'' if count == 1 else 's'}"
        if isinstance(weights, np.ma.MaskedArray):
            raise BadWeights("weights must all be there, got a masked array")
        if not isinstance(weights, np.ndarray) or weights.dtype == object:
            flat = isinstance(weights, Iterable) and getattr(weights, "ndim", 1) == 1
            if isinstance(weights, str | bytes | Set | Mapping) or not flat:
                raise BadWeights(f"{expected} in the order of the items, got {weights!r:.200}")
            weights = list(weights)
            if not TRUTH.isdisjoint(map(type, weights)) and not _are_truths(weights):
                raise BadWeights(f"weights must be numbers, got a truth value among them: {weights!r:.200}")
        try:
            values = np.asarray(weights)
        except ValueError as error:
            raise BadWeights(f"{expected}, got {weights!r:.200}") from error
        if values.shape != (count,):
            raise BadWeights(f"{expected}, got {len(values) if values.ndim == 1 else weights!r:.200}")
        if count and values.dtype.kind not in "fiub":
            raise BadWeights(f"weights must be numbers, got {weights!r:.200}")
        values = values.astype(np.float64)
        lo, hi = bounds_of(self.bounds, items)
        inside = np.isfinite(values) if self.outside == "clip" else (values >= lo) & (values <= hi)
        if np.count_nonzero(inside) == count:  # a quick all()
            return values
        if self.outside == "clip":
            self._refuse("finite", values, inside, items)
        least, most = bounds_of(with_rounding(self.bounds, SINGLE), items)
        self._refuse("within the bounds", values, (values >= least) & (values <= most), items)
        within: Weights = np.clip(values, lo, hi)
        return within

    def _refuse(self, expected: str, values: Weights, fine: NDArray[np.bool_], items: Items) -> None:
        """Refuses weights that are not all fine, by the name of the first."""
        if fine.all():
            return
        at = int(np.argmin(fine))
        bounds = "" if self.outside == "clip" else f" {pair_of(self.bounds, items[at])}"
        name = self.names(items[at : at + 1])[0]
        raise BadWeights(f"weights must be {expected}{bounds}, got {values[at]} for item {name}")

    def inside(self, values: Weights, items: Items) -> tuple[Weights, NDArray[np.bool_] | None]:
        """What `weights` has read, brought within the bounds, and which of them were beyond, by more than rounding.

        None: none were.
        """
        if self.outside == "error":
            return values, None
        clipped: Weights = np.clip(values, *bounds_of(self.bounds, items))
        least, most = bounds_of(with_rounding(self.bounds, SINGLE), items)
        beyond = (values < least) | (values > most)
        return clipped, beyond if beyond.any() else None

    def vector(self, name: str, given: Any) -> tuple[Weights, NDArray[np.bool_]]:
        """A finite number for each item, in their order or by name, 0 for those that are not named; and which are."""
        pairs = self.named(given)
        values, there = np.zeros(self.n_items), np.ones(self.n_items, dtype=bool)
        if pairs is None:
            found = _numbers(name, given)
            if found.shape != values.shape:
                raise BadArgument(
                    f"{name} must be {values.size} numbers, one per item, or a mapping from items; got shape "
                    f"{found.shape}"
                )
            values[:] = found
        else:
            items = self.once(pairs[0])
            found = _numbers(name, pairs[1])
            if found.shape != items.shape:
                raise BadWeights(f"{name} must be one number for an item, got {given!r:.200}")
            values[items] = found
            there[:] = False
            there[items] = True
        self.demand(np.isfinite(values), f"{name} must be finite", values)
        return values, there

    def demand(self, fine: NDArray[np.bool_], expected: str, values: Weights, ends: Sequence[Weights] = ()) -> None:
        """Refuses a number for each item that is not fine for all, by the name of the first, which is to be between
        these ends."""
        if not fine.all():
            item = int(np.argmin(fine))
            between = " to ".join(f"{float(end[item])}" for end in ends)
            name = self.names([item])[0]
            raise BadWeights(f"{expected}{between and ', from '}{between}, got {values[item]:.12g} for item {name}")

    def silence(self, weight: Any) -> Weights:
        """What items are worth of which nobody tells: one number, or one for each, by name too; NaN: it is not said."""
        if is_number(weight) or isinstance(weight, bool | np.bool_):
            weight = np.full(self.n_items, float(weight))
        values, there = self.vector("weight", weight)
        values[~there] = np.nan
        return values

    def sum(self, sum: Any, items: Items) -> float:
        """What these items are worth together."""
        size = len(items)
        if isinstance(sum, np.ndarray) and sum.size == 1 and not isinstance(sum, np.ma.MaskedArray):
            sum = sum.item()
        if isinstance(sum, bool) or not isinstance(sum, int | float | np.integer | np.floating):
            raise BadWeights(f"expected one number, the sum of the {size} items' weights, got {sum!r:.200}")
        try:
            told = float(sum)
        except OverflowError:
            told = float("inf")
        bounds = self._sums_of_bounds(items)
        clips = self.outside == "clip" and np.isfinite(told)
        if not clips and not _is_within(told, bounds, SINGLE):
            raise BadWeights(f"the sum of {size} weights must be from {bounds[0]} to {bounds[1]}, got {told}")
        return told

    def inside_sum(self, sum: float, items: Items) -> tuple[Weights, NDArray[np.bool_] | None]:
        """The same of what `sum` has read; what is beyond by adding up alone is left as it is."""
        told, bounds = np.array([sum]), self._sums_of_bounds(items)
        if _is_within(sum, bounds, ROUNDING):
            return told, None
        beyond = None if _is_within(sum, bounds, SINGLE) else np.array([True])
        return np.clip(told, *bounds), beyond

    def _sums_of_bounds(self, items: Items) -> tuple[float, float]:
        """The least and the largest sum of these items' weights."""
        lo, hi = self.bounds
        if isinstance(lo, np.ndarray) and isinstance(hi, np.ndarray):
            return total(lo, items), total(hi, items)
        return float(len(items) * lo), float(len(items) * hi)

    def by_name(self, weights: Any, decided: Items) -> tuple[Items, Weights] | None:
        """What a mapping, or a vector with an index, says of which items, each at most once; None: it is neither."""
        pairs = self.named(weights, decided)
        if pairs is None:
            return None
        items = self.once(pairs[0])
        return items, self.weights(pairs[1], items)

    def observations(self, items: Any, weights: Any) -> tuple[Items, Weights]:
        """Aligned items and weights, an item as often as one likes; or, without weights, both in one."""
        pairs = self.named(items) if weights is None or isinstance(items, Mapping) else None
        if (pairs is None) if weights is None else isinstance(items, Mapping):
            raise BadArgument("give items and weights, or one mapping from items to weights")
        if weights is None and pairs is not None:
            numbers = self.once(pairs[0]) if isinstance(items, Mapping) else self.items(pairs[0])
            return numbers, self.weights(pairs[1], numbers)
        if isinstance(items, Set):
            raise BadArgument(f"items and weights are aligned, and a set has no order: got items {items!r:.200}")
        if isinstance(weights, Mapping):
            raise BadArgument(f"a mapping has its items: give it alone, observe({weights!r:.100})")
        listed = items if _is_plain(items) or not isinstance(items, Iterable) else list(items)
        numbers, index, other = self.items(listed), index_of(weights), index_of(items)
        alike = [list(listed), list(range(numbers.size))] if other is None else [other]
        if index is not None and index not in alike:
            raise BadArgument(
                f"items and weights do not belong together: the items are {items!r:.100}, and the weights have the "
                f"index {index!r:.100}. Give the weights alone, to go by their index, or their values (.to_numpy())"
            )
        return numbers, self.weights(weights, numbers)

    def once(self, names: Any) -> Items:
        items = self.items(names)
        if np.unique(items).size < items.size:
            hint = " (a mask is made of True and False)" if {0, 1}.issuperset(names) else ""
            raise UnknownItem(f"an item is given twice{hint}: {names!r:.200}")
        return items

    def named(self, values: Any, decided: Items | None = None) -> tuple[list[Any], list[Any]] | None:
        """Names and values of a mapping, or of a vector with an index; None: it is neither.

        Where items have labels, an index of numbers may be that of rows: of items it is if it has just those that were
        `decided`, and a name or their order.
        """
        pairs = None if isinstance(values, np.ndarray) else by_name(values)
        if pairs is None or isinstance(values, Mapping):
            return pairs
        index = pairs[0]
        rows = decided is None or set(index) != set(decided.tolist()) or counts_rows(values, decided.tolist())
        if self.labels is not None and rows and any(isinstance(name, int | np.integer) for name in index):
            raise BadArgument(
                f"a Series goes by its index, which here is {index!r:.100}: numbers of rows perhaps, while this "
                "learner's items have labels. Make those its index (set_index), or pass its values (.to_numpy()), to "
                "be read in the order of the items"
            )
        return pairs


def _is_within(value: float, bounds: tuple[float, float], rounding: float) -> bool:
    least, most = with_rounding(bounds, rounding)
    return bool(least <= value <= most)


def _numbers(name: str, given: Any) -> NDArray[Any]:
    try:
        found = np.asarray(given)
    except ValueError:
        found = np.empty(0, dtype=object)
    if isinstance(given, np.ma.MaskedArray) or found.dtype.kind not in "fiu":
        raise BadWeights(f"{name} must be numbers, got {given!r:.200}")
    return found


def _is_plain(values: Any) -> bool:
    return isinstance(values, np.ndarray | str | bytes)


def _are_truths(values: Any) -> bool:
    """Whether these are truth values, all of them, and there are any."""
    if isinstance(values, np.ndarray):
        return bool(values.dtype == np.bool_)
    return isinstance(values, list) and bool(values) and TRUTH.issuperset(map(type, values))


def check_same_order(labels: Sequence[str], feasible: FeasibleSet) -> None:
    """Refuses names of a set's own in another order than they have there."""
    own = tuple(feasible.labels or ())
    if own != tuple(labels) and set(own) == set(labels):
        item = next(item for item, (one, other) in enumerate(zip(own, labels, strict=True)) if one != other)
        raise BadArgument(
            f"labels are those of the set in another order: item {item} is {own[item]!r:.100} there, got "
            f"{labels[item]!r:.100}. Leave them out"
        )


def check_labels(labels: Any, n_items: int) -> tuple[str, ...]:
    check_order("labels", labels)
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
