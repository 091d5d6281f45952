"""Long data that an experiment file names instead of holding it: CSV, NumPy and JSON files."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from semibandits._util.files import read_file, read_npy
from semibandits._util.resources import memory
from semibandits._util.suggestions import did_you_mean
from semibandits.errors import BadArgument
from semibandits.experiments.files.relative_paths import path_inside

MOST_BYTES = 2**30
"""Of a file of data."""
GROWS = {".csv": 32, ".npy": 4, ".json": 32}
"""So many times its size a file may take in memory."""
KEYS = ("file", "column", "columns")
WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)")
DECIMAL = re.compile(rf"({WHOLE.pattern}(\.[0-9]*)?|[+-]?\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?(nan|inf)", re.IGNORECASE)


def read_data(table: dict[str, Any], folder: Path) -> tuple[Any, bytes]:
    """What {file = "means.csv", column = "mean"} stands for, and the bytes of the file.

    A CSV file has a header. One `column` is a list, of numbers where all of it are; `columns` are a list for each row;
    without either it is the matrix of all its numbers. An .npy file is the array in it, a .json file what it holds.
    What is no file, or not below the folder, or has more than `MOST_BYTES`, or would not fit into memory, is not read.
    """
    for key in table:
        if key not in KEYS:
            raise BadArgument(f"a file of data has no {key!r:.100}{did_you_mean(key, KEYS)}")
    name = table["file"]
    readers = {".csv": _read_csv, ".npy": _read_npy, ".json": _read_json}
    kind = Path(name).suffix.lower()
    if kind not in readers:
        raise BadArgument(f"a file of data must be .csv, .npy or .json, got {name!r:.100}")
    if kind != ".csv" and len(table) > 1:
        raise BadArgument(f"column and columns are for CSV files, got {name!r:.100}")
    try:
        data = read_file(path_inside(folder, name), min(MOST_BYTES, memory() // GROWS[kind]))
    except FileNotFoundError as error:
        raise BadArgument(f"{name} cannot be read: No such file in the folder {folder}") from error
    except OSError as error:
        raise BadArgument(f"{name} cannot be read: {error.strerror or error}") from error
    try:
        return readers[kind](data, table), data
    except BadArgument as error:
        error.say_where(name)
        raise
    except Exception as error:  # NumPy has many for a damaged file, MemoryError among them
        raise BadArgument(f"{name} cannot be read as {kind[1:]}: {error!s:.200}") from error


def is_csv(name: Any) -> bool:
    return isinstance(name, str) and Path(name).suffix.lower() == ".csv"


def _read_csv(data: bytes, table: dict[str, Any]) -> Any:
    reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    rows = dict((reader.line_num, row) for row in reader if row)  # noqa: C402
    if len(rows) < 2:
        raise BadArgument("expected a header and at least one row below it")
    header = [title.strip() for title in rows.pop(min(rows))]
    for line, row in rows.items():
        if len(row) != len(header):
            raise BadArgument(f"line {line} has {len(row)} cells, the header {len(header)}")
    if "column" in table and "columns" in table:
        raise BadArgument("give either column or columns, not both")
    if "column" in table:
        return _typed([_cells(table["column"], header, rows)])[0]
    if "columns" in table:
        if not isinstance(table["columns"], list):
            raise BadArgument(f"columns must be a list of titles, got {table['columns']!r:.100}")
        words = [_cells(title, header, rows) for title in table["columns"]]
        return [list(cells) for cells in zip(*_typed(words), strict=True)]
    if all(map(DECIMAL.fullmatch, header)):
        raise BadArgument(f"expected a header in the first line, with a name for each column, got {header!r:.100}")
    matrix = np.empty((len(rows), len(header))).view(Columns)
    matrix.columns = tuple(header)
    for i, (line, row) in enumerate(rows.items()):
        for j, cell in enumerate(row):
            try:
                matrix[i, j] = float(cell)
            except ValueError:
                raise BadArgument(f"line {line}, column {header[j]!r} must be a number, got {cell!r:.100}") from None
    return matrix


class Columns(np.ndarray[Any, Any]):
    """A matrix that knows the names of its columns, as a data frame does."""

    columns: tuple[str, ...] = ()


def _cells(title: Any, header: list[str], rows: dict[int, list[str]]) -> list[str]:
    """One column, as it is written; the rows by their lines."""
    if not isinstance(title, str) or title not in header:
        raise BadArgument(f"there is no column {title!r:.100}; there are {', '.join(header)}")
    if header.count(title) > 1:
        raise BadArgument(f"there are {header.count(title)} columns {title!r:.100}: which of them is meant?")
    place = header.index(title)
    cells = [row[place] for row in rows.values()]
    for line, cell in zip(rows, cells, strict=True):
        if not cell.strip():
            raise BadArgument(f"line {line}, column {title!r} is empty")
    return [cell.strip() for cell in cells]


def _typed(columns: list[list[str]]) -> list[list[Any]]:
    """Columns of numbers where all of one are, else of words, as they are written: 007 and 1_0 are names.

    What is a word in one of them is one in all: a node 2 that is also in a column with other names is "2".
    """
    kinds = [_kind(cells) for cells in columns]
    words = {cell for cells, kind in zip(columns, kinds, strict=True) if kind is str for cell in cells}
    return [
        cells if not words.isdisjoint(cells) else [kind(cell) for cell in cells]
        for cells, kind in zip(columns, kinds, strict=True)
    ]


def _kind(cells: list[str]) -> Any:
    if all(map(WHOLE.fullmatch, cells)):
        return int
    return float if all(map(DECIMAL.fullmatch, cells)) else str


def _read_npy(data: bytes, table: dict[str, Any]) -> Any:
    return read_npy(data)


def _read_json(data: bytes, table: dict[str, Any]) -> Any:
    return json.loads(data)
