"""Vectors with an index of their own, such as a pandas Series: which value belongs to which item."""

from typing import Any

import numpy as np

from semibandits.errors import BadArgument


def index_of(values: Any) -> list[Any] | None:
    """The names of a vector's entries, in their order; None where it has none, as a list, an array, a polars Series."""
    if isinstance(values, list | tuple | np.ndarray | dict):
        return None
    if hasattr(values, "coords") and hasattr(values, "to_series"):  # xarray
        values = values.to_series()
    index = getattr(values, "index", None)
    if index is None or callable(index) or getattr(values, "ndim", 1) != 1:
        return None
    return list(index)


def has_plain_index(values: Any) -> bool:
    """Whether the index is but the numbers 0, 1, 2, ..., which nobody gave it."""
    return all(hasattr(getattr(values, "index", None), name) for name in ("start", "stop", "step"))


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


def names_of(*vectors: Any) -> tuple[str, ...]:
    """The words that the first of these has as its index; empty where none has any."""
    for values in vectors:
        index = index_of(values)
        if index and _are_words(index):
            return tuple(index)
    return ()


def columns_of(table: Any) -> tuple[str, ...]:
    """The names of the columns of a data frame; empty where it is none, or they have no names but 0, 1, 2, ..."""
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns):
        return ()
    names = list(columns)
    if _are_words(names):
        return tuple(names)
    if names != list(range(len(names))):
        raise BadArgument(f"columns are read in the order of the items, and these have other numbers: {names!r:.100}")
    return ()


def _are_words(names: list[Any]) -> bool:
    return all(isinstance(name, str) for name in names)
