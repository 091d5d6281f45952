"""Columns as a data frame, of whichever library is there."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from semibandits.errors import Unsupported, to_install

if TYPE_CHECKING:
    import pandas as pd


def data_frame(columns: dict[str, Any]) -> Any:
    """Of Polars; of pandas where that is not installed."""
    try:
        polars = import_module("polars")
    except ImportError:
        try:
            return pandas_frame(columns)
        except Unsupported as error:
            raise Unsupported(f"data frames need Polars: {to_install('frames')}") from error
    return polars.DataFrame(columns)


def pandas_frame(columns: dict[str, Any]) -> "pd.DataFrame":
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise Unsupported("pandas is not installed: pip install pandas") from error
    return pandas.DataFrame(columns)
