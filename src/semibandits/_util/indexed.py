"""Vectors with an index of their own, such as a pandas Series: which value belongs to which item."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from semibandits.errors import BadArgument


def index_of(values: Any) -> list[Any] | None:
    """The names of a vector's entries, in their order; None where it has none, as a list, an array, a polars Series."""
    if isinstance(values, list | tuple | np.ndarray | dict):
        return None
    index = getattr(_as_series(values), "index", None)
    if index is None or callable(index) or getattr(values, "ndim", 1) != 1:
        return None
    return list(index)


def _as_series(values: Any) -> Any:
    """An xarray as one of pandas; others as they are."""
    return values.to_series() if hasattr(values, "coords") and hasattr(values, "to_series") else values


def by_name(values: Any) -> tuple[list[Any], list[Any]] | None:
    """Names and values of a mapping, or of a vector with an index; None: it is neither."""
    if isinstance(values, Mapping):
        return list(values), list(values.values())
    index = index_of(values)
    return None if index is None else (index, list(values))


def counts_rows(values: Any, expected: list[int]) -> bool:
    """Whether an index of numbers may be that of rows, which nobody gave it, rather than these numbers.

    An index that was made of a column has the column's name.
    """
    index = getattr(_as_series(values), "index", None)
    if getattr(index, "name", None) is not None:
        return False
    plain = all(hasattr(index, name) for name in ("start", "stop", "step"))
    return plain or index_of(values) != expected


def check_order(name: str, values: Any, names: bool = False) -> None:
    """Refuses a vector that says itself that its entries are in another order than that of the items.

    With `names` words are let pass: somebody else compares them.
    """
    rows = getattr(values, "index", None) if getattr(values, "ndim", 1) == 2 else None
    index = index_of(values) if rows is None or callable(rows) else list(rows)
    if index is None or index == list(range(len(index))) or (names and _are_words(index)):
        return
    raise BadArgument(
        f"{name} are read in the order of the items, and this one has an index of its own: {index!r:.100}. "
        "Bring it into their order, and pass its values alone (.to_numpy())"
    )


def names_of(**parameters: Any) -> tuple[str, ...]:
    """The words that these vectors have as their index, and square tables on both sides; empty where none has any.

    Refuses a vector whose names are other than those of one before it: each is read in the order of the items.
    """
    names: tuple[str, ...] = ()
    first = ""
    for name, values in parameters.items():
        check_order(name, values, names=True)
        for own in _sides(values):
            if names and own != names:
                raise BadArgument(
                    f"{name} must have the names of {first}, in the same order: got {own!r:.200}, expected "
                    f"{names!r:.200}"
                )
            names, first = own, first or name
    return names


def _sides(values: Any) -> list[tuple[str, ...]]:
    """The words that name the entries of a vector, or the rows and the columns of a table."""
    if hasattr(values, "columns"):
        rows = getattr(values, "index", None)
        sides = [[] if rows is None or callable(rows) else list(rows), list(columns_of(values))]
    else:
        sides = [index_of(values) or []]
    return [tuple(side) for side in sides if side and _are_words(side)]


def columns_of(table: Any) -> tuple[str, ...]:
    """The names of the columns of a data frame; empty where it is none, or they have no names but 0, 1, 2, ...

    Polars calls columns without names column_0, column_1, ...
    """
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns):
        return ()
    names = list(columns)
    if names == [f"column_{number}" for number in range(len(names))]:
        return ()
    if _are_words(names):
        return tuple(names)
    if names != list(range(len(names))):
        raise BadArgument(f"columns are read in the order of the items, and these have other numbers: {names!r:.100}")
    return ()


def _are_words(names: list[Any]) -> bool:
    return all(isinstance(name, str) for name in names)
