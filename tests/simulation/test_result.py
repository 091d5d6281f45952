"""Results: comparing, data frames, files, pictures."""

import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import fields, replace
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
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import stats

from semibandits import SimulationResult, errors
from semibandits.simulation import frames
from semibandits.theory import kveton2015

ARRAYS = ("regret", "rounds", "counts", "solutions")
PAPER = {"policy": "CombUCB1", "alpha": 1.5, "init": "paper"}
FACTS: dict[str, Any] = {"n_items": 12, "max_size": 4, "bounds": [0.0, 1.0], "ratio": 1.0, "parameters": [PAPER]}


def make(policies: int = 2, runs: int = 5, rounds: Any = (1, 10, 100, 1000), **changes: Any) -> SimulationResult:
    """Regret that grows like log n, noise that the policies share, and some of their own."""
    generator = np.random.default_rng(policies * 1000 + runs)
    rounds = np.asarray(rounds, dtype=np.int64)
    shared, own = generator.normal(size=(1, runs, 1)), generator.normal(size=(policies, runs, 1))
    slope = np.arange(1, policies + 1)[:, None, None] + 0.3 * shared + 0.1 * own
    made: dict[str, Any] = {
        "regret": 10.0 * slope * np.log1p(rounds),
        "rounds": rounds,
        "policies": tuple(f"Policy({p})" for p in range(policies)),
        "problem": "Problem(GridPaths(2), Bernoulli(12 items), sense='max')",
        "seed": 2**64 - 1,
        "kind": "expected",
        "engine": "plain loop",
        "seconds": 0.1,
        "version": "0.1.0",
        "provenance": FACTS,
    }
    return SimulationResult(**{**made, **changes})


def assert_same(left: SimulationResult, right: SimulationResult) -> None:
    """Equal bit for bit."""
    for field in fields(SimulationResult):
        a, b = getattr(left, field.name), getattr(right, field.name)
        if field.name in ARRAYS and a is not None:
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), field.name
        else:
            assert type(a) is type(b), field.name
            assert a == b, field.name


# What it is


def test_defaults() -> None:
    result = make()
    assert result.counts is None
    assert result.solutions is None
    plain = SimulationResult(result.regret, result.rounds, result.policies, "", 0, "expected", "", 0.0, "")
    assert plain.provenance == {}
    assert "2 policies x 5 runs of 1000 rounds" in repr(result)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"regret": np.zeros((2, 5, 3))},
            r"regret must be float64 of shape \(2, 5, 4\), got float64 of shape \(2, 5, 3\)",
        ),
        ({"regret": np.zeros((3, 5, 4))}, "regret"),
        ({"regret": np.zeros((2, 0, 4))}, "regret"),
        ({"regret": np.zeros(4)}, "regret"),
        ({"regret": np.zeros((2, 5, 4), dtype=np.float32)}, "got float32"),
        ({"rounds": np.zeros((4, 1), dtype=np.int64)}, "rounds"),
        ({"rounds": np.array([1.0, 2.0, 3.0, 4.0])}, "rounds must be int64"),
        ({"counts": np.zeros((2, 4, 12), dtype=np.int64)}, r"counts must be int64 of shape \(2, 5, any\)"),
        ({"counts": np.zeros((2, 5, 12))}, "counts"),
        ({"solutions": np.zeros((2, 5, 12), dtype=np.int32)}, "solutions"),
    ],
)
def test_shapes_are_checked(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        replace(make(), **changes)


# Comparing


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("round", [None, 10])
def test_compare_is_the_paired_t_test(round: int | None, confidence: float) -> None:
    result = make(policies=3, runs=7)
    at = -1 if round is None else 1
    a, b = result.regret[2, :, at], result.regret[0, :, at]
    found = result.compare(2, "Policy(0)", round=round, confidence=confidence)
    test = stats.ttest_rel(a, b)
    interval = test.confidence_interval(confidence)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.difference / found.error == pytest.approx(test.statistic)
    assert found.deviation == pytest.approx(np.std(a - b, ddof=1))
    assert found.unpaired == pytest.approx(np.sqrt(np.var(a, ddof=1) / 7 + np.var(b, ddof=1) / 7))
    assert found.error < found.unpaired
    assert (found.a, found.b, found.round, found.runs) == ("Policy(2)", "Policy(0)", 1000 if round is None else 10, 7)
    assert all(type(value) in (str, int, float) for value in found)
    turned = result.compare(0, 2, round=round, confidence=confidence)
    assert (turned.difference, turned.low, turned.high) == pytest.approx((-found.difference, -found.high, -found.low))


def test_compare_in_words() -> None:
    regret = np.array([[[10.0], [12.0], [14.0]], [[20.0], [23.0], [26.0]], [[11.0], [12.0], [12.0]]])
    result = make(policies=3, rounds=[50], regret=regret)
    # differences -10, -11, -12: error 1/sqrt(3), Student's quantile for 2 degrees of freedom 4.3027
    less = (
        "Policy(0) has less regret than Policy(1) after 50 rounds:\n"
        "11.00 less, 95% interval [8.52, 13.48], standard error 0.58 over 3 paired runs (unpaired: 2.08)"
    )
    assert str(result.compare(0, 1)) == less
    assert str(result.compare(1, 0)) == less
    assert str(result.compare(0, 2, confidence=0.9)).startswith(
        "Policy(0) and Policy(2) cannot be told apart after 50 rounds:\ndifference 0.33, 90% interval [-2.24, 2.91]"
    )
    assert "cannot be told apart" in str(result.compare(0, 0))
    single = make(policies=3, rounds=[50], regret=regret[:, :1]).compare(0, 1)
    assert np.isnan([single.error, single.deviation, single.low, single.high, single.unpaired]).all()
    assert str(single) == "Policy(0) and Policy(1) after 50 rounds of a single run:\ndifference -10.00, error unknown"


@pytest.mark.parametrize("which", [2, -1, True, 0.5, "Policy", None, "Policy(7)", [0], np.arange(2)])
def test_unknown_policies(which: Any) -> None:
    with pytest.raises(errors.BadArgument, match=r"is no policy; there are 0: Policy\(0\), 1: Policy\(1\)"):
        make().compare(0, which)


def test_ambiguous_policies() -> None:
    result = replace(make(policies=3), policies=("Same()", "Same()", "Other()"))
    with pytest.raises(
        errors.BadArgument, match=r"'Same\(\)' is the name of several policies; give a number; there are 0"
    ):
        result.compare("Other()", "Same()")
    assert result.compare("Other()", 1).b == "Same()"


@pytest.mark.parametrize("round", [0, 11, 10.5, "10", [10], float("nan")])
def test_unknown_rounds(round: Any) -> None:
    for method in (make().summary, lambda round: make().compare(0, 1, round=round)):
        with pytest.raises(errors.BadArgument, match=r"is not a checkpoint; they are \[1, 10, 100, 1000\]"):
            method(round=round)
    assert make().summary(round=np.int64(10)) == make().summary(round=1e1)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [0, 1, 95, None, float("nan")])
def test_bad_confidence(confidence: Any) -> None:
    result = make()
    for method in (result.summary, result.plot, lambda confidence: result.compare(0, 1, confidence=confidence)):
        with pytest.raises(errors.BadArgument, match="confidence must be between 0 and 1"):
            method(confidence=confidence)


# Data frames


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
    with pytest.raises(errors.Unsupported, match=r'pip install "semibandits\[frames\]"'):
        make().to_frame()
    with pytest.raises(errors.Unsupported, match="pip install pandas"):
        make().to_pandas()


# Files


def recorded() -> SimulationResult:
    counts = np.arange(2 * 5 * 12, dtype=np.int64).reshape(2, 5, 12)
    solutions = np.full((2, 5, 1000, 4), -1, dtype=np.int32)
    solutions[..., :2] = [3, 7]
    return make(counts=counts, solutions=solutions)


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
    assert table.columns == [*long, "counts", "solutions"]
    assert table.height == 10
    assert table.select(long).explode("round", "regret").equals(result.to_frame())
    assert result.counts is not None
    assert result.solutions is not None
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
    with pytest.raises(IsADirectoryError):
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
    shapes = {"regret": [2, 5, 4], "counts": [2, 5, 12], "solutions": [2, 5, 1000, 4]}
    assert_same(SimulationResult.load(rewrite(saved, path, shapes=shapes)), recorded())
    for wrong in (
        {**shapes, "regret": [2, 5, 5]},
        {**shapes, "regret": [5, 2, 4]},
        {**shapes, "regret": [2, 5, -1]},
        {**shapes, "regret": [40]},
        {**shapes, "counts": [2, 60]},
        {**shapes, "counts": [5, 2, 12]},
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
        with pytest.raises(errors.Unsupported, match=r'pyarrow: pip install "semibandits\[frames\]"'):
            action(saved)


# Pictures


def render(ax: Axes) -> None:
    assert isinstance(ax.figure, Figure)
    with open(os.devnull, "wb") as nowhere:
        ax.figure.savefig(nowhere, format="png", dpi=40)


def band_edges(ax: Axes, at: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper edge of a band, from the outline that is drawn."""
    (path,) = ax.collections[at].get_paths()
    points: dict[float, list[float]] = {}
    for x, y in path.vertices:
        points.setdefault(float(x), []).append(float(y))
    xs = sorted(points)
    return np.array([min(points[x]) for x in xs]), np.array([max(points[x]) for x in xs])


def test_curves_and_bands() -> None:
    result = make(policies=3, runs=6)
    ax = result.plot(confidence=0.8)
    render(ax)
    assert len(ax.get_lines()) == len(ax.collections) == 3
    for p, line in enumerate(ax.get_lines()):
        sample = result.regret[p]
        low, high = stats.t.interval(0.8, 5, loc=sample.mean(axis=0), scale=stats.sem(sample, axis=0))
        np.testing.assert_array_equal(line.get_xdata(), result.rounds)
        np.testing.assert_allclose(np.asarray(line.get_ydata()), sample.mean(axis=0))
        np.testing.assert_allclose(band_edges(ax, p), (low, high))
    assert ax.get_xlabel() == "round"
    assert ax.get_ylabel() == "expected regret"
    assert ax.get_title("left") == result.problem
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["Policy(2)", "Policy(1)", "Policy(0)"]  # as they end
    assert legend.get_title().get_text() == "mean of 6 runs, 80% interval"
    assert replace(result, kind="realised").plot().get_ylabel() == "realised regret"


def test_a_single_run_has_no_band() -> None:
    ax = make(runs=1).plot(log="xy")
    render(ax)
    assert not ax.collections
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "a single run"


def test_curves_can_be_told_apart() -> None:
    ax = make(policies=28, rounds=range(1, 50)).plot()
    render(ax)
    looks = {
        (to_hex(line.get_color()), str(line.get_linestyle()), line._dash_pattern[1].__str__())
        for line in ax.get_lines()
    }  # type: ignore[attr-defined]
    assert len(looks) == 28


@pytest.mark.parametrize("rounds", [[1, 101], [1, 100], [7], list(range(500, 5000))])
@pytest.mark.parametrize("log", [None, "", "x", "y", "xy"])
def test_axes(rounds: list[int], log: Any) -> None:
    ax = make(rounds=rounds).plot(log=log)
    render(ax)
    wanted = ("x" if rounds[-1] > 100 * rounds[0] else "") if log is None else log
    assert (ax.get_xscale(), ax.get_yscale()) == tuple("log" if axis in wanted else "linear" for axis in "xy")


@pytest.mark.parametrize("log", ["", "xy"])
@pytest.mark.parametrize(
    "regret",
    [
        np.zeros((2, 3, 4)),
        -np.ones((2, 3, 4)),
        np.array([[[-1.0, 0.0, 1.0, 2.0], [1.0, 0.0, 2.0, 2.0]]] * 2),
        np.array([[[0.0, 0.0, 0.0, 9.0], [0.0, 0.0, 0.0, -9.5]]] * 2),
        np.array([[[0.0, 1e-15, 1.0, 5.0], [0.0, 1e-15, 2.0, 5.0]]] * 2),
        np.full((2, 3, 4), np.nan),
    ],
)
def test_regret_that_is_not_positive(regret: Any, log: Any) -> None:
    result = make(regret=regret)
    for bounds in (None, True, {"zero": np.zeros(4)}):
        render(result.plot(bounds, log=log))


def test_where_the_axis_of_regret_begins() -> None:
    regret = np.array([[[0.0, 1.0, 10.0, 50.0], [1e-15, 1.0, 30.0, 90.0]]])
    ax = make(policies=1, regret=regret).plot(log="xy")
    render(ax)
    assert ax.get_ylim()[0] == pytest.approx(1.0)  # the band goes below
    ax = make(policies=1, regret=regret[:, :, 1:], rounds=[1, 2, 3]).plot(log="")
    assert ax.get_ylim()[0] < 0.0  # and is shown on a linear one
    assert make(policies=1, rounds=[1, 2, 3], runs=1).plot(log="").get_ylim()[0] == 0.0


def test_bounds() -> None:
    result = make(runs=9)
    tight, loose = 40.0 * np.log1p(result.rounds), 1e4 * np.log1p(result.rounds)
    ax = result.plot({"tight": tight.tolist(), "also": lambda n: 50 * n / n})
    assert ax.get_yscale() == "linear"
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_array_equal(np.asarray(lines["tight"].get_ydata()), tight)
    np.testing.assert_array_equal(np.asarray(lines["also"].get_ydata()), [50.0] * 4)
    assert lines["tight"].get_linewidth() < lines["Policy(0)"].get_linewidth()
    ax = result.plot({"loose": loose})
    assert ax.get_yscale() == "log"  # or the curves would lie flat
    assert result.plot({"loose": loose}, log="x").get_yscale() == "linear"
    render(ax)


def test_bounds_cannot_touch_the_result() -> None:
    result = make()

    def rude(n: Any) -> Any:
        n *= 2
        return n

    result.plot({"rude": rude})
    assert result.rounds.tolist() == [1, 10, 100, 1000]


def test_the_paper_s_bound() -> None:
    ax = make().plot(bounds=True)
    line = ax.get_lines()[-1]
    assert line.get_label() == "CombUCB1: Kveton et al. 2015, Theorem 6"
    np.testing.assert_array_equal(np.asarray(line.get_ydata()), kveton2015.theorem_6([1, 10, 100, 1000], 12, 4))
    assert ax.get_yscale() == "log"
    scaled = make(provenance={**FACTS, "bounds": [-10, 20], "parameters": [{"policy": "CTS"}, PAPER]}).plot(bounds=True)
    drawn = np.asarray(scaled.get_lines()[-1].get_ydata())
    np.testing.assert_allclose(drawn, 30.0 * kveton2015.theorem_6([1, 10, 100, 1000], 12, 4))


@pytest.mark.parametrize("bounds", [[5.0, 7.0], [-7.0, -5.0]])
def test_the_paper_s_bound_away_from_zero(bounds: list[float]) -> None:
    """A round can lose K times the largest weight, where solutions differ in size; only that term grows."""
    drawn = np.asarray(make(provenance={**FACTS, "bounds": bounds}).plot(bounds=True).get_lines()[-1].get_ydata())
    n = np.array([1, 10, 100, 1000])
    root = 47.0 * np.sqrt(4 * 12 * n * np.log(n))
    np.testing.assert_allclose(drawn, 2.0 * root + 7.0 * (math.pi**2 / 3 + 1) * 4 * 12)


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({}, "does not say its n_items, max_size, bounds, ratio, parameters"),
        ({key: value for key, value in FACTS.items() if key != "bounds"}, "does not say its bounds"),
        ({**FACTS, "ratio": 0.5}, "exact oracle; this one's ratio is 0.5"),
        ({**FACTS, "parameters": [{**PAPER, "alpha": 1.0}, {"policy": "CTS"}]}, "of CombUCB1"),
        ({**FACTS, "parameters": [{**PAPER, "init": "all"}]}, "of CombUCB1"),
    ],
)
def test_where_the_paper_says_nothing(facts: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.Unsupported, match=says):
        make(provenance=facts).plot(bounds=True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"bounds": {"x": [1.0, 2.0]}}, r"bound 'x' must be finite numbers of shape \(4,\), got \[1.0, 2.0\]"),
        ({"bounds": {"x": 3.0}}, r"shape \(4,\), got 3.0"),
        ({"bounds": {"x": lambda n: 3.0}}, r"shape \(4,\), got 3.0"),
        ({"bounds": {"x": [1.0, 2.0, 3.0, np.inf]}}, "finite"),
        ({"bounds": {"x": [1.0, 2.0, 3.0, float("nan")]}}, "finite"),
        ({"bounds": {"x": "high"}}, "bound 'x' must be an array or a function, got 'high'"),
        ({"bounds": {"x": None}}, "bound 'x'"),
        ({"bounds": {"x": [[1.0], [1.0, 2.0]]}}, "bound 'x'"),
        ({"bounds": {5: [1.0] * 4}}, "bounds must be True or map names"),
        ({"bounds": [1.0] * 4}, "bounds must be True or map names"),
        ({"bounds": "all"}, "bounds must be True or map names"),
        ({"log": "yx"}, "log must be '' or 'x' or 'y' or 'xy', got 'yx'"),
        ({"log": True}, "log must be"),
        ({"ax": Figure()}, "ax must be Matplotlib Axes, got <Figure"),
    ],
)
def test_bad_plots(options: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        make().plot(**options)


def test_names_are_shown_as_they_are() -> None:
    result = replace(make(), policies=("_Mine()", "Costs($5, $6)"), problem="Bets of $5 and $6 " * 9)
    ax = result.plot({r"$\sqrt{n}$": np.sqrt})
    render(ax)
    legend = ax.get_legend()
    assert legend is not None
    assert {text.get_text().strip() for text in legend.get_texts()} == {"_Mine()", r"Costs(\$5, \$6)", r"$\sqrt{n}$"}
    assert ax.get_title("left").count("\n") == 2


def test_on_axes_that_are_there() -> None:
    figure = Figure()
    ax = figure.add_subplot()
    before = figure.get_size_inches().tolist()
    assert make().plot(ax=ax) is ax
    assert figure.axes == [ax]
    assert figure.get_size_inches().tolist() == before
    first = [to_hex(line.get_color()) for line in ax.get_lines()]
    make(policies=1).plot(ax=ax)  # another result joins with other colours
    render(ax)
    assert to_hex(ax.get_lines()[-1].get_color()) not in first
    legend = ax.get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 3


def run(code: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "MPLBACKEND")}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


MADE = (
    "import sys, io, numpy as np, semibandits as sb\n"
    "names = ('CombUCB1()',)\n"
    "rounds = np.arange(1, 500)\n"
    "r = sb.SimulationResult(np.ones((1, 3, 499)), rounds, names, 'p', 0, 'expected', 'e', 0.0, 'v')\n"
)


def test_nothing_is_left_behind() -> None:
    printed = run(
        MADE + "assert not {'matplotlib', 'polars', 'pyarrow', 'scipy'} & sys.modules.keys()\n"
        "import matplotlib\n"
        "settings = lambda: [repr(dict.__getitem__(matplotlib.rcParams, key)) for key in matplotlib.rcParams]\n"
        "before = settings()\n"
        "for log in ('', 'xy'): r.plot(log=log).figure.savefig(io.BytesIO())\n"
        "print('matplotlib.pyplot' in sys.modules, settings() == before)"
    )
    assert printed == "False True"


def test_pyplot_is_joined_where_it_is_in_use() -> None:
    printed = run(
        MADE + "from matplotlib import pyplot\n"
        "ax = r.plot()\n"
        "print(pyplot.gca() is ax, len(pyplot.get_fignums()), r.plot(ax=ax) is ax, len(pyplot.get_fignums()))"
    )
    assert printed == "True 1 True 1"


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(errors.Unsupported, match=r'Matplotlib: pip install "semibandits\[plot\]"'):
        make().plot()
