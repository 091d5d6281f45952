"""Everything that reads a file that a user names, by the file's name; and files that unpack to more than they are."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import semibandits as sb
from semibandits.experiments.files import document
from semibandits.experiments.files.data_files import read_data
from semibandits.experiments.files.user_code import OwnCode
from semibandits.experiments.paper import folder as paper
from semibandits.experiments.running import run
from semibandits.sets.specification import from_spec
from support.experiment_files import GRID, write

pyarrow = pytest.importorskip("pyarrow")
grid = sb.problems.grid_path(2, 0.4)


def experiment(path: Path) -> None:
    document.read(path)


def data(path: Path) -> None:
    read_data({"file": path.name}, path.parent)


def code(path: Path) -> None:
    OwnCode(path.parent).load(f"{path.name}:best")


def specification(path: Path) -> None:
    parameters = {"solutions": {"file": path.name, "sha256": "0" * 64}, "n_items": 3}
    spec = {"format": "semibandits.set", "version": 1, "set": "Enumerated", "parameters": parameters}
    from_spec(spec, path.parent)


def learner(path: Path) -> None:
    sb.Learner.load(path, grid.feasible)


def result(path: Path) -> None:
    sb.SimulationResult.load(path)


def note(path: Path) -> None:
    sb.simulate(grid, sb.policies.CombUCB1(), horizon=5, runs=1, seed=0, store=path.parent)


def manifest(path: Path) -> None:
    (path.parent / "in").mkdir(exist_ok=True)
    run(document.read(write(path.parent / "in", GRID)), path.parent)


def reproduction(path: Path) -> None:
    paper.prepare(path.parent)


READERS: dict[str, Callable[[Path], None]] = {
    "experiment.toml": experiment,
    "data.csv": data,
    "data.npy": data,
    "data.json": data,
    "code.py": code,
    "list.json": specification,
    "learner.json": learner,
    "result.parquet": result,
    "experiment.json": note,
    "experiment.json ": manifest,
    "claims.json": reproduction,
}


def bomb(path: Path, numbers: int, honest: bool) -> None:
    """One list of equal numbers; whether the shapes say so."""
    small = sb.simulate(grid, sb.policies.CombUCB1(), horizon=5, runs=1, seed=0, checkpoints=[5])
    small.save(path)
    schema = pyarrow.parquet.read_table(path).schema
    described = json.loads(schema.metadata[b"semibandits"])
    if honest:
        described["result"]["shapes"]["regret"] = [1, 1, numbers]
    lists = [
        pyarrow.ListArray.from_arrays(np.array([0, numbers], dtype=np.int32), np.zeros(numbers, dtype=kind))
        for kind in (np.int64, np.float64)
    ]
    columns = [pyarrow.array(["x"]), pyarrow.array([0]), *lists]
    schema = schema.with_metadata({b"semibandits": json.dumps(described).encode()})
    pyarrow.parquet.write_table(pyarrow.table(columns, schema=schema), path, compression="zstd")


def header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue()
