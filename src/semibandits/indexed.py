"""Vectors that carry an index of their own, such as a pandas Series: what they say belongs to whom."""

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


def check_order(name: str, values: Any) -> None:
    """Refuses a vector that says itself that its entries are in another order than that of the items."""
    index = index_of(values)
    if index is None or index == list(range(len(index))) or not all(isinstance(key, int | np.integer) for key in index):
        return
    raise BadArgument(
        f"{name} are read in the order of the items, and the index of this one is another order: {index!r:.100}. "
        "Sort it by its index, or pass its values alone (.to_numpy())"
    )


def columns_of(table: Any) -> tuple[str, ...]:
    """The names of the columns of a data frame; empty where it is none, or its columns have no names."""
    columns = getattr(table, "columns", None)
    if columns is None or callable(columns):
        return ()
    names = tuple(columns)
    return names if all(isinstance(name, str) for name in names) else ()
