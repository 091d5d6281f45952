"""Results as data frames and as Parquet files.

A file has one row per policy and run, with the checkpoints and the regret at them as lists; all else is a JSON document
in its metadata, with a checksum of itself and of the arrays.
"""

import errno
import hashlib
import io
import json
import math
import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from semibandits._util.data_frames import data_frame, pandas_frame
from semibandits._util.files import NoPlainFile, read_file, replace_file
from semibandits._util.json_files import DAMAGE, Count
from semibandits._util.resources import check_room, memory
from semibandits.errors import BadArgument, BadState, Unsupported, to_install
from semibandits.simulation.parquet_sizes import sizes
from semibandits.simulation.result import SimulationResult

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "semibandits.result"
VERSION = 1
KEY = b"semibandits"
MOST_BYTES = 2**34
"""A larger file is not read, nor one that takes more than a quarter of the memory."""
ARRAYS = ("regret", "counts", "sums", "solutions")
COPIES = 2
"""Of its numbers are in memory while a file is read."""
OTHERS = {".csv", ".json", ".xlsx", ".tsv", ".txt", ".pkl", ".feather", ".html", ".npz", ".png", ".pdf", ".svg"}
"""Endings of names of files of other kinds."""
GROUP = 2**24
"""About how many numbers of one column are written at a time."""


class _Facts(msgspec.Struct, forbid_unknown_fields=True):
    policies: tuple[str, ...]
    problem: str
    seed: int
    kind: str
    engine: str
    seconds: float
    version: str
    provenance: dict[str, Any]
    shapes: dict[str, tuple[Count, ...]]


class _Note(msgspec.Struct):
    format: str
    version: int
    checksum: str
    result: msgspec.Raw


def to_frame(result: SimulationResult) -> Any:
    return data_frame(_columns(result))


def to_pandas(result: SimulationResult) -> "pd.DataFrame":
    return pandas_frame(_columns(result))


def _columns(result: SimulationResult) -> dict[str, Any]:
    policies, runs, points = result.regret.shape
    return {
        "policy": [name for name in result.policies for _ in range(runs * points)],
        "run": np.tile(np.repeat(np.arange(runs), points), policies),
        "round": np.tile(result.rounds, policies * runs),
        "regret": result.regret.flatten(),
    }


def write(path: str | os.PathLike[str], result: SimulationResult) -> None:
    pyarrow, parquet = _pyarrow()
    target = Path(os.path.realpath(path))
    if target.suffix.lower() in OTHERS:
        raise BadArgument(
            f"save() writes Parquet, to be loaded again, got {target.name!r:.100}: others are written by "
            "result.to_frame() or result.to_pandas()"
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    arrays: dict[str, NDArray[Any]] = {name: array for name in ARRAYS if (array := getattr(result, name)) is not None}
    facts = {name: getattr(result, name) for name in _Facts.__struct_fields__ if name != "shapes"}
    try:
        facts["shapes"] = {name: array.shape for name, array in arrays.items()}
        body = json.dumps(facts, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadArgument(f"the facts of a result must be what JSON can say: {error}") from error
    checksum = _checksum(body, [result.rounds, *arrays.values()])
    note = msgspec.json.encode(_Note(FORMAT, VERSION, checksum, msgspec.Raw(body)))

    policies, runs, _ = result.regret.shape
    rows: dict[str, NDArray[Any]] = {"round": np.broadcast_to(result.rounds, (policies * runs, result.rounds.size))}
    rows |= {name: array.reshape(policies * runs, -1) for name, array in arrays.items()}
    lists = {name: pyarrow.list_(pyarrow.from_numpy_dtype(matrix.dtype)) for name, matrix in rows.items()}
    schema = pyarrow.schema({"policy": pyarrow.string(), "run": pyarrow.int64(), **lists}, metadata={KEY: note})
    step = max(1, GROUP // max(matrix.shape[1] for matrix in rows.values()))
    file = io.BytesIO()
    # Dictionaries would take one NaN for another.
    options = {"compression": "zstd", "use_dictionary": ["policy", "round.list.element"], "write_page_checksum": True}
    with parquet.ParquetWriter(file, schema, **options) as writer:
        for start in range(0, policies * runs, step):
            cells = range(start, min(start + step, policies * runs))
            columns = [[result.policies[cell // runs] for cell in cells], [cell % runs for cell in cells]]
            for matrix in rows.values():
                part = matrix[start : start + step]
                offsets = np.arange(len(part) + 1, dtype=np.int32) * np.int32(part.shape[1])
                columns.append(pyarrow.ListArray.from_arrays(offsets, part.ravel()))
            writer.write_table(pyarrow.table(columns, schema=schema))
    replace_file(target, file.getvalue())


def read(path: str | os.PathLike[str]) -> SimulationResult:
    pyarrow, parquet = _pyarrow()
    try:
        data = read_file(path, min(MOST_BYTES, memory() // 4))
    except NoPlainFile as error:
        raise BadState(f"{path} is not a saved result: {error.strerror}") from error
    damage = (*DAMAGE, pyarrow.ArrowException, OSError, LookupError, TypeError, MemoryError)
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(data), page_checksum_verification=True)
        found = (file.metadata.metadata or {}).get(KEY)
    except damage as error:
        raise BadState(f"{path} is not a Parquet file, or was cut short ({len(data)} bytes): {error}") from error
    if found is None:
        raise BadState(f"{path} holds no simulation result")
    try:
        note = msgspec.json.decode(found, type=_Note)
    except damage as error:
        raise BadState(f"{path} is not a saved result: {error}") from error
    if note.format != FORMAT:
        raise BadState(f"{path} holds {note.format!r:.100}, expected {FORMAT!r}")
    if note.version != VERSION:
        raise BadState(f"{path} has version {note.version}; this release reads version {VERSION}")
    try:
        facts = msgspec.json.decode(note.result, type=_Facts)
        _check_sizes(path, data, facts.shapes)
        names = ["round", *facts.shapes]
        groups = [file.read_row_group(group, columns=names) for group in range(file.num_row_groups)]
        arrays: dict[str, Any] = {name: _values(groups, name).reshape(shape) for name, shape in facts.shapes.items()}
        rounds = _values(groups, "round").reshape(-1, arrays["regret"].shape[-1])
        if _checksum(bytes(note.result), [rounds[0], *arrays.values()]) != note.checksum or (rounds != rounds[0]).any():
            raise BadState(f"{path} was damaged or edited: its checksum does not match")
        rest = {name: getattr(facts, name) for name in facts.__struct_fields__ if name != "shapes"}
        return SimulationResult(rounds=rounds[0].copy(), **arrays, **rest)
    except BadState:
        raise
    except damage as error:
        raise BadState(f"{path} is damaged: {error}") from error


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise Unsupported(f"Parquet files need pyarrow: {to_install('frames')}") from error


def _check_sizes(path: str | os.PathLike[str], data: bytes, shapes: dict[str, tuple[int, ...]]) -> None:
    """Before anything is unpacked: there must be as many numbers as the shapes tell of, and not too many."""
    if not set(shapes) <= set(ARRAYS):
        raise ValueError(f"a result has {', '.join(ARRAYS)}, got {list(shapes)!r:.200}")
    policies, runs, points = shapes["regret"]
    wanted = {"round": policies * runs * points, **{name: math.prod(shape) for name, shape in shapes.items()}}
    wanted = {name: count or policies * runs for name, count in wanted.items()}  # an empty list counts as one
    found = sizes(data, wanted)
    if found.rows != policies * runs or found.values != wanted:
        raise ValueError(f"it holds {found.values} numbers in {found.rows} rows, expected {wanted}")
    needed = COPIES * max(8 * sum(wanted.values()), found.unpacked)
    check_room(needed, f"{path} has {sum(wanted.values()):,} numbers; to read them takes", error=BadState)


def _values(groups: list[Any], name: str) -> NDArray[Any]:
    """All numbers of a column of lists."""
    flatten = import_module("pyarrow.compute").list_flatten
    return np.concatenate([flatten(group.column(name)).to_numpy() for group in groups])


def _checksum(body: bytes, arrays: Iterable[NDArray[Any]]) -> str:
    digest = hashlib.sha256(body)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
