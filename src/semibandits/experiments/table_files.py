"""Tables of numbers as files: CSV for everybody, Parquet where pyarrow is installed."""

import csv
import io
from collections.abc import Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import BadArgument
from semibandits.experiments.result_folder import write_file


def write_table(
    folder: str | PathLike[str], name: str, columns: Mapping[str, Sequence[Any] | NDArray[Any]]
) -> list[Path]:
    """Writes NAME.csv and, where pyarrow is installed, NAME.parquet; returns what was written.

    Numbers in the CSV file are written so that they are read back exactly. None is an empty cell.
    """
    listed = {title: list(_plain(values)) for title, values in columns.items()}
    lengths = {title: len(values) for title, values in listed.items()}
    if len(set(lengths.values())) > 1:
        raise BadArgument(f"the columns of {name} must have one length, got {lengths!r:.200}")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(listed)
    cells = (["NaN" if value != value else value for value in values] for values in listed.values())
    writer.writerows(zip(*cells, strict=True))
    folder = Path(folder)
    files = {folder / f"{name}.csv": text.getvalue().encode()}
    table = _parquet(listed)
    if table is not None:
        files[folder / f"{name}.parquet"] = table
    for path, data in files.items():
        write_file(path, data)
    return list(files)


def one_kind(values: Sequence[Any]) -> list[Any]:
    """A column that all programs can read: whole numbers, numbers, or else words."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and any(abs(value or 0) >= 2**63 for value in values):
        kinds = {int, str}
    if len(kinds) <= 1:
        return list(values)
    into: type = float if kinds == {int, float} else str
    return [None if value is None else into(value) for value in values]


def _plain(values: Sequence[Any] | NDArray[Any]) -> Sequence[Any]:
    """Python's own numbers: those of NumPy print in other ways."""
    if isinstance(values, np.ndarray):
        plain: list[Any] = values.tolist()
        return plain
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def can_write_parquet() -> bool:
    """Whether pyarrow is installed, and works."""
    try:
        import_module("pyarrow.parquet")
    except ImportError:
        return False
    return True


def _parquet(columns: Mapping[str, list[Any]]) -> bytes | None:
    if not can_write_parquet():
        return None
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table({title: one_kind(values) for title, values in columns.items()}), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data
