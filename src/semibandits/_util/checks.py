"""Numbers, vectors and items as users give them, read and checked."""

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.arrays import Bounds, Items, Weights
from semibandits._util.indexed import check_order, index_of
from semibandits._util.resources import check_room
from semibandits.errors import BadArgument, BadWeights, InvalidSet, UnknownItem

MOST_ITEMS = 2**31 - 1
"""As many as the solutions of a simulation can tell apart."""
ITEM_BYTES = 32
"""What an item takes at least: in a set, and in a learner that plays on it."""
LARGEST_BOUND = 1e100
MOST_ROUNDS = 1e200
SINGULAR = 1e-12
"""A matrix counts as singular whose smallest eigenvalue is no larger, relative to its largest entry."""
LARGEST = 1e100

Begin: TypeAlias = Literal["all", "optimistic"]
"""How policies may begin that keep every observation."""


def check_init(init: Any) -> Begin:
    return cast(Begin, check_choice("init", init, Begin))


def check_positive(name: str, value: Any) -> float:
    if not 0.0 < _number(value) <= LARGEST:
        raise BadArgument(f"{name} must be a positive number, got {value!r:.100}")
    return float(value)


def check_not_negative(name: str, value: Any) -> float:
    if not 0.0 <= _number(value) <= LARGEST:
        raise BadArgument(f"{name} must be a number >= 0, got {value!r:.100}")
    return float(value)


def check_fraction(name: str, value: Any) -> float:
    if not 0.0 < _number(value) < 1.0:
        raise BadArgument(f"{name} must be a number between 0 and 1 (both excluded), got {value!r:.100}")
    return float(value)


def check_rounds(name: str, value: Any) -> int:
    if not 1.0 <= _number(value) <= 2.0**62 or value != int(value):
        raise BadArgument(f"{name} must be a whole number of rounds, at least 1, got {value!r:.100}")
    return int(value)


def _number(value: Any) -> float:
    """NaN for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_choice(name: str, value: Any, choices: Any) -> Any:
    """One of the words of a `Literal` type, as a plain string."""
    for known in get_args(choices):
        if isinstance(value, str) and value == known:
            return known
    raise BadArgument(f"{name} must be {' or '.join(map(repr, get_args(choices)))}, got {value!r:.100}")


def is_float(number: Any) -> bool:
    """Also a NumPy number, or what `where` makes of one."""
    return np.ndim(number) == 0 and np.asarray(number).dtype == np.float64


def check_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise BadArgument(f"{name} must be True or False, got {value!r:.100}")
    return bool(value)


def check_confidence(confidence: Any) -> None:
    if not isinstance(confidence, int | float | np.floating) or not 0.0 < confidence < 1.0:
        raise BadArgument(f"confidence must be between 0 and 1, got {confidence!r:.100}")


def check_range(name: str, value: Any, least: float, largest: float) -> float:
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not least <= value <= largest:
        raise BadArgument(f"{name} must be a number from {least:g} to {largest:g}, got {value!r:.100}")
    return float(value)


def check_count(name: str, value: Any, error: type[BadArgument] = InvalidSet, most: int | None = None) -> int:
    """A whole number of at least 1, and perhaps of at most so many."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise error(f"{name} must be an integer >= 1, got {value!r}")
    if most is not None and value > most:
        raise error(f"{name} must be at most {most:,}")
    return int(value)


def whole(value: Any) -> Any:
    """1e5 as 100000; all else as it is."""
    return int(value) if isinstance(value, float | np.floating) and value.is_integer() else value


def check_whole(name: str, value: Any, most: int | None = None) -> int:
    """The same, also written 1e5."""
    return check_count(name, whole(value), BadArgument, most)


def check_n_items(value: Any, what: str = "n_items", each: int = ITEM_BYTES) -> int:
    """A number of items, or of what items are made of, that this machine can hold: `each` is what one takes."""
    count = check_count(what, value, most=MOST_ITEMS)
    check_room(each * count, f"{what} is {count:,}: so many take", error=InvalidSet)
    return count


def check_horizons(n: ArrayLike, name: str = "n") -> NDArray[np.float64]:
    try:
        rounds = np.asarray(n)
    except ValueError as error:
        raise BadArgument(f"{name} must be one or more rounds, got {n!r:.200}") from error
    if rounds.dtype == object:  # as whole numbers beyond 64 bits are
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            rounds = rounds.astype(np.float64)
    if rounds.dtype.kind not in "fiu" or not ((rounds >= 1) & np.isfinite(rounds)).all():
        raise BadArgument(f"{name} must be one or more rounds >= 1, got {n!r:.200}")
    if (rounds > MOST_ROUNDS).any():
        raise BadArgument(f"{name} must be one or more rounds of at most {MOST_ROUNDS:g}, got {n!r:.200}")
    return rounds.astype(np.float64)


def check_sizes(L: Any, K: Any) -> tuple[int, int]:
    L, K = check_count("L", L, BadArgument), check_count("K", K, BadArgument)
    if K > L:
        raise BadArgument(f"K must be at most L, got K = {K} and L = {L}")
    return L, K


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_gap(gap: Any, name: str = "gap") -> float:
    """A finite number > 0."""
    if not is_number(gap) or not 0.0 < gap < math.inf:
        raise BadArgument(f"{name} must be a finite number > 0, got {gap!r:.200}")
    return float(gap)


def check_item_gaps(item_gaps: ArrayLike) -> NDArray[np.float64]:
    """The gaps that count: NaN stands for an item of the optimum, inf for one that no suboptimal solution contains."""
    try:
        gaps = np.asarray(item_gaps, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadArgument(f"item_gaps must be an array of numbers, got {item_gaps!r:.200}") from error
    if gaps.ndim == 0:
        raise BadArgument(f"item_gaps must be an array of numbers, got {item_gaps!r:.200}")
    known = gaps[~np.isnan(gaps)]
    if (known <= 0.0).any():
        raise BadArgument(f"item_gaps must be > 0 (NaN or inf: not counted), got {known[known <= 0.0][0]}")
    return known[known < np.inf]


def as_numbers(values: Any, expected: str, *, masked: bool = True) -> NDArray[Any]:
    """An array of numbers; of what is none an error says what was `expected`. `masked`: it may hide some of them."""
    try:
        numbers = np.asarray(values)
    except ValueError as error:
        raise BadArgument(f"{expected}, got {values!r:.200}") from error
    if numbers.dtype.kind not in "fiu" or (isinstance(values, np.ma.MaskedArray) and not masked):
        raise BadArgument(f"{expected}, got {values!r:.200}")
    return numbers


def check_vector(name: str, values: ArrayLike, n_items: int | None = None) -> Weights:
    """A non-empty finite float64 vector; a single number stands for n_items equal ones."""
    check_order(name, values, names=True)
    numbers = as_numbers(values, f"{name} must be numbers, one per item")
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
    read = [as_numbers(values, f"{name} must be numbers, one per item") for name, values in named.items()]
    lengths = [values.size for values in read if values.ndim > 0]
    return [check_vector(name, values, lengths[0] if lengths else 1) for name, values in named.items()]


def check_bounds(bounds: Any, n_items: int | None = None, labels: Sequence[str] = ()) -> Bounds:
    """A pair lo < hi of numbers, small enough for sums and scores to stay finite; or one for each item, lo <= hi.

    One for each item are two vectors, or a number and a vector: in the order of the items, or by label. Those that are
    the same for all items become a pair of numbers.
    """
    try:
        lo, hi = bounds
        table = hasattr(bounds, "columns")
        if (
            table
            or isinstance(bounds, str | bytes | Set | Mapping)
            or any(isinstance(side, str | Set) for side in (lo, hi))
        ):
            raise TypeError
        vectors = [_is_vector(side) for side in (lo, hi)]
        if not any(vectors):
            lo, hi = float(lo), float(hi)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadArgument(
            f"bounds must be a pair (lo, hi) of numbers, or of vectors with a number for each item, got {bounds!r:.200}"
        ) from error
    if any(vectors):
        low, high = _sides((lo, hi), vectors, n_items, labels)
        if low.min() < low.max() or high.min() < high.max():
            return _check_sides(low, high, labels)
        lo, hi = float(low[0]), float(high[0])
    if not -LARGEST_BOUND <= lo < hi <= LARGEST_BOUND:
        raise BadArgument(f"bounds must be finite with lo < hi, at most {LARGEST_BOUND:g} in size, got ({lo}, {hi})")
    return lo, hi


def widest(bounds: Bounds) -> tuple[float, float]:
    """The least and the largest weight of any item."""
    lo, hi = bounds
    return float(np.min(lo)), float(np.max(hi))


def _is_vector(side: Any) -> bool:
    if isinstance(side, np.ma.MaskedArray):
        raise TypeError
    return isinstance(side, list | tuple | Mapping) or bool(np.ndim(side) if hasattr(side, "__array__") else 0)


def _sides(sides: tuple[Any, Any], vectors: list[bool], n_items: int | None, labels: Sequence[str]) -> list[Weights]:
    """Both as vectors of the same length."""
    names = [f"bounds[{number}]" for number in range(2)]
    read = [
        _by_label(name, side, labels) if vector else side
        for name, side, vector in zip(names, sides, vectors, strict=True)
    ]
    lengths = [len(side) for side, vector in zip(read, vectors, strict=True) if vector]
    length = lengths[0] if n_items is None else n_items
    return [check_vector(name, side, length) for name, side in zip(names, read, strict=True)]


def _by_label(name: str, side: Any, labels: Sequence[str]) -> Any:
    """The values in the order of the items; those that come with labels are matched by them."""
    if isinstance(side, Mapping):
        names, values = list(side), list(side.values())
        numbers = all(isinstance(one, int | np.integer) for one in names)
        known: list[Any] = list(range(len(names))) if numbers else list(labels)
    else:
        names, values = index_of(side) or [], side
        known = list(labels)
        if labels and names and not any(isinstance(one, str) for one in names):
            raise BadArgument(
                f"{name} goes by its index, which here is {names!r:.100}: numbers of rows perhaps, while items have "
                "labels. Make those its index (set_index), or pass its values (.to_numpy()), in the order of the items"
            )
        if not names or not all(isinstance(one, str) for one in names):
            return side
        values = list(values)
    place = {one: at for at, one in enumerate(names)}
    if len(place) < len(names) or len(known) != len(names) or place.keys() != set(known):
        items = f"the items are {known!r:.200}" if known else "the items have no labels here"
        raise BadArgument(
            f"{name} must have a number for every item, by its label or in the order of the items without an index "
            f"(.to_numpy()); {items}, got {names!r:.200}"
        )
    return [values[place[one]] for one in known]


def _check_sides(lo: Weights, hi: Weights, labels: Sequence[str]) -> Bounds:
    def refuse(wrong: NDArray[np.bool_], expected: str) -> None:
        if wrong.any():
            item = int(np.argmax(wrong))
            name = labels[item] if labels else item
            raise BadArgument(f"bounds must {expected}, got ({lo[item]}, {hi[item]}) for item {name}")

    refuse(lo > hi, "have lo <= hi")
    refuse(np.maximum(np.abs(lo), np.abs(hi)) > LARGEST_BOUND, f"be at most {LARGEST_BOUND:g} in size")
    if (lo == hi).all():
        raise BadArgument("bounds must have lo < hi for some item: all weights are known")
    return lo, hi


def check_weights(weights: ArrayLike, n_items: int) -> Weights:
    """Weights as a finite float64 vector, one per item."""
    check_order("weights", weights)
    try:
        w = np.asarray(weights)
    except ValueError as error:
        raise BadWeights(f"expected {n_items} numbers, got {weights!r:.200}") from error
    if w.dtype.kind not in "fiu":
        raise BadWeights(f"weights must be numbers, got {weights!r:.200}")
    w = w.astype(np.float64, copy=False)
    if w.shape != (n_items,):
        raise BadWeights(f"expected {n_items} weights, one per item, got an array of shape {w.shape}")
    finite = np.isfinite(w)
    if np.count_nonzero(finite) < n_items:  # a quick all()
        item = int(np.argmin(finite))
        raise BadWeights(f"weights must be finite, got {w[item]} for item {item}")
    return w


def as_items(items: Any) -> Items | None:
    """Items in ascending order without a copy where they already are; None where they are no set of whole numbers."""
    if isinstance(items, np.ma.MaskedArray):
        return None
    if not isinstance(items, np.ndarray):
        if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
            return None
        items = list(items)
        if any(isinstance(item, bool) or not isinstance(item, int | np.integer) for item in items):
            return None
        try:
            items = np.array(items, dtype=np.int64)
        except OverflowError:
            return None
    if items.ndim != 1 or (items.dtype.kind not in "iu" and items.size):
        return None
    ordered: Items = items.astype(np.int64, copy=False)
    if not (ordered[1:] > ordered[:-1]).all():
        ordered = np.sort(ordered)
        if (ordered[1:] == ordered[:-1]).any():
            return None
    return ordered


def within(items: Items | None, n_items: int) -> bool:
    """Whether these ascending items are all among 0..n_items-1."""
    return items is not None and (items.size == 0 or (items[0] >= 0 and items[-1] < n_items))


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


def check_covariance(given: Any, instead: str) -> NDArray[np.float64]:
    """A symmetric positive definite matrix; for one that is not definite, what to do `instead`."""
    matrix = as_numbers(given, "covariance must be a square matrix of numbers", masked=False).astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise BadArgument(f"covariance must be a square matrix, a row for each item, got the shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0].tolist()
        raise BadArgument(f"covariance must be finite, got {matrix[i, j]} for items {i} and {j}")
    largest = float(np.abs(matrix).max())
    off = np.abs(matrix - matrix.T)
    if off.max() > 1e-9 * largest:
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        raise BadArgument(
            f"covariance must be symmetric, got {matrix[i, j]} for items {i} and {j} but {matrix[j, i]} for {j} and {i}"
        )
    matrix = 0.5 * matrix + 0.5 * matrix.T
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    if lowest <= SINGULAR * largest:
        kind = "singular" if lowest >= -SINGULAR * largest else "not positive definite"
        raise BadArgument(
            f"covariance must be positive definite, got one that is {kind}, of smallest eigenvalue {lowest:.3g}: "
            f"add a little to its diagonal{instead}"
        )
    return matrix
