"""Results as data frames and files."""

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from semibandits import SimulationResult, errors
from semibandits.simulation import frames
from support.results import ARRAYS, FACTS, assert_same, make


def test_frames() -> None:
    result = make(policies=3, runs=2)
    frame = result.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.schema == {"policy": pl.String, "run": pl.Int64, "round": pl.Int64, "regret": pl.Float64}
    rows = [
        (name, run, int(round), float(result.regret[p, run, at]))
        for p, name in enumerate(result.policies)
        for run in range(2)
        for at, round in enumerate(result.rounds)
    ]
    assert frame.rows() == rows
    pandas = result.to_pandas()
    assert isinstance(pandas, pd.DataFrame)
    assert list(pandas.itertuples(index=False, name=None)) == rows
    assert [str(kind) for kind in pandas.dtypes[1:]] == ["int64", "int64", "float64"]
    means = frame.group_by("policy", "round").agg(pl.col("regret").mean()).filter(round=1000).sort("policy")
    assert means["regret"].to_list() == pytest.approx([row.mean for row in result.summary()])
    twins = replace(result, policies=("Same()", "Same()", "Other()")).to_frame()
    assert twins.filter(policy="Same()").height == 16


def test_frames_are_copies() -> None:
    result = make()
    before = result.regret.copy()
    pandas = result.to_pandas()
    pandas["regret"] *= 0.0
    result.to_frame()["regret"].to_numpy(writable=True)[:] = 0.0
    assert (result.regret == before).all()


def test_without_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    assert isinstance(make().to_frame(), pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(errors.Unsupported, match=r'pip install "\.\[frames\]"'):
        make().to_frame()
    with pytest.raises(errors.Unsupported, match="pip install pandas"):
        make().to_pandas()


# Files


def recorded() -> SimulationResult:
    counts = np.arange(2 * 5 * 12, dtype=np.int64).reshape(2, 5, 12)
    solutions = np.full((2, 5, 1000, 4), -1, dtype=np.int32)
    solutions[..., :2] = [3, 7]
    return make(counts=counts, sums=counts / 7.0 - 3.0, solutions=solutions)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "run.parquet"
    recorded().save(path)
    return path


def test_load_gives_back_what_was_saved(saved: Path) -> None:
    loaded = SimulationResult.load(str(saved))
    assert_same(loaded, recorded())
    assert loaded.regret.flags.writeable
    loaded.save(saved)
    assert_same(SimulationResult.load(saved), loaded)
    assert os.listdir(saved.parent) == ["run.parquet"]


@given(data=st.data())
def test_any_result_survives(data: st.DataObject) -> None:
    policies, runs, points, items = (data.draw(st.integers(1, 4)) for _ in range(4))
    text = st.text(st.characters(codec="utf-8"), max_size=8)
    number = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    facts = st.recursive(st.none() | st.booleans() | number | text, lambda inner: st.lists(inner, max_size=3))

    def array(kind: Any, *shape: int) -> Any:
        bits = data.draw(hnp.arrays(f"u{np.dtype(kind).itemsize}", shape))
        return bits.view(kind)  # every NaN there is

    result = SimulationResult(
        regret=array(np.float64, policies, runs, points),
        rounds=array(np.int64, points),
        policies=tuple(data.draw(st.lists(text, min_size=policies, max_size=policies))),
        problem=data.draw(text),
        seed=data.draw(st.integers(0, 2**64 - 1)),
        kind=data.draw(st.sampled_from(["expected", "realised"])),
        engine=data.draw(text),
        seconds=data.draw(st.floats(0.0, 1e9)),
        version=data.draw(text),
        counts=data.draw(st.sampled_from([None, array(np.int64, policies, runs, items)])),
        sums=data.draw(st.sampled_from([None, array(np.float64, policies, runs, items)])),
        solutions=data.draw(st.sampled_from([None, array(np.int32, policies, runs, points, items)])),
        provenance=data.draw(st.dictionaries(text, facts, max_size=3)),
    )
    with tempfile.TemporaryDirectory() as folder:
        result.save(Path(folder) / "x")
        assert_same(SimulationResult.load(Path(folder) / "x"), result)


def test_many_row_groups(saved: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(frames, "GROUP", 3 * 4000)
    path = tmp_path / "groups.parquet"
    recorded().save(path)
    assert pq.ParquetFile(path).num_row_groups == 4
    assert_same(SimulationResult.load(path), recorded())
    assert pl.read_parquet(path).equals(pl.read_parquet(saved))


def test_others_read_the_file(saved: Path) -> None:
    result = recorded()
    long = ["policy", "run", "round", "regret"]
    table = pl.read_parquet(saved)
    assert table.columns == [*long, "counts", "sums", "solutions"]
    assert table.height == 10
    assert table.select(long).explode("round", "regret").equals(result.to_frame())
    assert result.counts is not None
    assert result.sums is not None
    assert result.solutions is not None
    assert table["sums"].to_list() == result.sums.reshape(10, -1).tolist()
    assert table["counts"].to_list() == result.counts.reshape(10, -1).tolist()
    assert table["solutions"].to_list() == result.solutions.reshape(10, -1).tolist()
    exploded = pd.read_parquet(saved)[long].explode(["round", "regret"], ignore_index=True)
    pd.testing.assert_frame_equal(
        exploded.astype({"round": "int64", "regret": "float64"}), result.to_pandas(), check_dtype=False
    )
    note = json.loads(pq.read_schema(saved).metadata[b"semibandits"])
    assert (note["format"], note["version"]) == ("semibandits.result", 1)
    assert note["result"]["seed"] == 2**64 - 1
    assert note["result"]["provenance"] == FACTS


def test_what_was_not_recorded_is_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    make().save(path)
    assert pl.read_parquet(path).columns == ["policy", "run", "round", "regret"]
    assert_same(SimulationResult.load(path), make())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, np.int64(3), b"x", "\ud800"])
def test_only_what_json_can_say(value: Any, tmp_path: Path) -> None:
    with pytest.raises(errors.BadArgument, match="what JSON can say"):
        make(provenance={"x": value}).save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_a_failing_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.parquet"
    make().save(path)
    old = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            recorded().save(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["run.parquet"]
    link = tmp_path / "link.parquet"
    link.symlink_to(path)
    recorded().save(link)
    assert link.is_symlink()
    assert_same(SimulationResult.load(path), recorded())


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        SimulationResult.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="No such folder"):
        make().save(tmp_path / "absent" / "run.parquet")
    with pytest.raises(errors.BadState, match="it is a folder, and a file is expected"):
        SimulationResult.load(tmp_path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for data in (b"", b"PAR1", b"{}", b"PAR1" * 20, os.urandom(999)):
        path.write_bytes(data)
        with pytest.raises(errors.BadState, match="not a Parquet file"):
            SimulationResult.load(path)
    pl.DataFrame({"policy": ["a"], "run": [0]}).write_parquet(path)
    with pytest.raises(errors.BadState, match="holds no simulation result"):
        SimulationResult.load(path)
    make().to_frame().write_parquet(path)
    with pytest.raises(errors.BadState, match="holds no simulation result"):
        SimulationResult.load(path)


def rewrite(saved: Path, path: Path, table: pa.Table | None = None, note: Any = None, **changes: Any) -> Path:
    """The file with another table, or with parts of its document changed and its checksum right."""
    old = pq.read_table(saved)
    document = json.loads(old.schema.metadata[b"semibandits"])
    if changes:
        document["result"] |= changes
        body = json.dumps(document["result"], ensure_ascii=False).encode()
        result = recorded()
        arrays = [result.rounds, *(getattr(result, name) for name in document["result"]["shapes"] if name in ARRAYS)]
        document["checksum"] = frames._checksum(body, arrays)
    metadata = {b"semibandits": json.dumps({**document, **(note or {})}, ensure_ascii=False).encode()}
    pq.write_table((old if table is None else table).replace_schema_metadata(metadata), path)
    return path


def test_the_document_is_checked(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "x"

    def load_says(says: str, **changes: Any) -> None:
        with pytest.raises(errors.BadState, match=says):
            SimulationResult.load(rewrite(saved, path, **changes))

    load_says("has version 2; this release reads version 1", note={"version": 2, "result": {"new": "things"}})
    load_says("holds 'other', expected 'semibandits.result'", note={"format": "other"})
    load_says("not a saved result", note={"version": "1"})
    load_says("checksum", note={"checksum": "0" * 64})
    shapes = {"regret": [2, 5, 4], "counts": [2, 5, 12], "sums": [2, 5, 12], "solutions": [2, 5, 1000, 4]}
    assert_same(SimulationResult.load(rewrite(saved, path, shapes=shapes)), recorded())
    for wrong in (
        {**shapes, "regret": [2, 5, 5]},
        {**shapes, "regret": [5, 2, 4]},
        {**shapes, "regret": [2, 5, -1]},
        {**shapes, "regret": [40]},
        {**shapes, "counts": [2, 60]},
        {**shapes, "counts": [5, 2, 12]},
        {**shapes, "sums": [5, 2, 12]},
        {**shapes, "solutions": [2, 5, 4000]},
        {**shapes, "solutions": [2**62, 2**62]},
        {**shapes, "other": [1]},
        {"counts": [2, 5, 12]},
    ):
        load_says("damaged", shapes=wrong)
    load_says("damaged", policies=["Policy(0)"])
    load_says("damaged", seed="1")
    load_says("damaged", unknown=1)


def test_edited_numbers_are_noticed(saved: Path, tmp_path: Path) -> None:
    table = pq.read_table(saved)
    path = tmp_path / "x"
    regret = table.column("regret").to_pylist()
    regret[3][2] += 1e-9
    late = [[*rounds[:-1], 1001] for rounds in table.column("round").to_pylist()]
    odd = [*table.column("round").to_pylist()[:-1], late[-1]]
    single = table.column("regret").cast(pa.list_(pa.float32()))
    edits = [
        table.slice(0, 9),
        table.slice(0, 0),
        table.drop_columns(["regret"]),
        table.drop_columns(["counts"]),
        pa.concat_tables([table.slice(1, 1), table.slice(0, 1), table.slice(2)]),
        table.set_column(3, "regret", pa.array(regret)),
        table.set_column(3, "regret", single),
        table.set_column(3, "regret", table.column("run")),
        table.set_column(3, "regret", pa.array([None] * 10, pa.list_(pa.float64()))),
        table.set_column(3, "regret", pa.array([[None] * 4] * 10, pa.list_(pa.float64()))),
        table.set_column(2, "round", pa.array(late)),
        table.set_column(2, "round", pa.array(odd)),
    ]
    for edited in edits:
        with pytest.raises(errors.BadState, match="damaged"):
            SimulationResult.load(rewrite(saved, path, table=edited))


def test_damaged_files_are_noticed(tmp_path: Path) -> None:
    """Cut anywhere or with wrong bytes, a file is refused or gives the right numbers."""
    path = tmp_path / "run.parquet"
    result = make(runs=2, counts=np.ones((2, 2, 3), dtype=np.int64))
    result.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(errors.BadState, match="not a Parquet file, or was cut short"):
            SimulationResult.load(path)
    generator = np.random.default_rng(0)
    refused = 0
    for _ in range(800):
        damaged = np.frombuffer(whole, dtype=np.uint8).copy()
        where = generator.integers(len(whole), size=generator.integers(1, 4))
        damaged[where] ^= generator.integers(1, 256, size=where.size, dtype=np.uint8)
        path.write_bytes(damaged.tobytes())
        try:
            loaded = SimulationResult.load(path)
        except errors.BadState:
            refused += 1
        else:
            assert_same(loaded, result)
    assert refused > 400


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch, saved: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for action in (make().save, SimulationResult.load):
        with pytest.raises(errors.Unsupported, match=r'pyarrow: pip install "\.\[frames\]"'):
            action(saved)
