"""What an earlier version has saved is taken up by this one, and goes on with the same numbers.

The files lie in `data/before`; its `make.py` has made them with that version, and written down what came of them.
"""

import importlib.util
import json
import shutil
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semibandits as sb

BEFORE = Path(__file__).parent / "data" / "before"
_spec = importlib.util.spec_from_file_location("make_earlier_files", BEFORE / "make.py")
assert _spec is not None
assert _spec.loader is not None
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)
EXPECTED = json.loads((BEFORE / "expected.json").read_text())


class Nobody(Executor):
    """Whom nothing may be given to play."""

    def submit(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a run is played again")


def files(folder: Path, kind: str = "") -> dict[str, tuple[int, bytes]]:
    """Those whose names end so: when each was written, and what is in it."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob(f"*{kind}"))
        if path.is_file()
    }


def test_all_are_tried() -> None:
    assert {path.stem for path in (BEFORE / "learners").iterdir()} == set(make.KEPT) == set(EXPECTED["learners"])
    assert {path.name for path in (BEFORE / "stores").iterdir()} == set(make.simulated()) == set(EXPECTED["stores"])


@pytest.mark.parametrize("name", make.KEPT)
def test_a_saved_learner_goes_on(name: str) -> None:
    """What it knew, which feedback it waits for and by which ids, and what it decides next."""
    kept, expected = make.KEPT[name], EXPECTED["learners"][name]
    learner = make.loaded(BEFORE / "learners" / f"{name}.json", kept)
    assert make.known(learner) == {key: expected[key] for key in make.known(learner)}
    assert len(expected["outstanding"]) >= 2
    assert make.goes_on(learner, kept) == expected["next"]
    assert make.known(learner)["estimates"] == expected["after"]


@pytest.mark.parametrize("name", make.KEPT)
def test_a_saved_learner_is_saved_as_it_was(name: str, tmp_path: Path) -> None:
    """Also over the old file, which is the learner's own: with what files say since then, and again byte for byte."""
    original = BEFORE / "learners" / f"{name}.json"
    path = Path(shutil.copy(original, tmp_path))
    make.loaded(path, make.KEPT[name]).save(path)
    before, after = (json.loads(file.read_text()) for file in (original, path))
    assert (before["version"], after["version"]) == (3, 4)
    learner = after["learner"]
    counts, sums, squares = learner.pop("tally")
    assert (counts, sums) == (before["learner"]["stats"][0], before["learner"]["stats"][1])
    assert squares == sums
    for decision in learner["outstanding"] + learner["finished"]:
        assert decision.pop("time") > 0.0
    assert learner == before["learner"]
    data = path.read_bytes()
    make.loaded(path, make.KEPT[name]).save(path)
    assert path.read_bytes() == data


def test_a_saved_learner_knows_its_items_by_name() -> None:
    """The same streets in another order."""
    streets, expected = make.STREETS[::-1], EXPECTED["learners"]["CombUCB1-labels"]
    path = BEFORE / "learners" / "CombUCB1-labels.json"
    learner = sb.Learner.load(path, sb.sets.DagPaths(streets, "a", "f"))
    before = dict(zip(expected["labels"], expected["estimates"], strict=True))
    assert dict(zip(learner.labels, learner.estimates.tolist(), strict=True)) == before
    assert learner.labels != tuple(expected["labels"])


@pytest.mark.parametrize("name", ["slots", "roads", "listed"])
def test_a_saved_learner_refuses_another_set(name: str) -> None:
    """The set's fingerprint is still compared."""
    others = {
        "slots": ("CombUCB1", sb.sets.TopK(12, 4)),
        "roads": ("CombUCB1-labels", sb.sets.DagPaths(make.STREETS[:-1], "a", "f")),
        "listed": ("HYBRID-listed", sb.sets.Enumerated([[0, 1], [0], [1, 2], [3, 4], [2, 3], [1, 3, 4], [0, 4]])),
    }
    saved, other = others[name]
    with pytest.raises(sb.errors.BadState):
        sb.Learner.load(BEFORE / "learners" / f"{saved}.json", other)


@pytest.mark.parametrize("name", make.simulated())
def test_a_store_is_taken_up(name: str, tmp_path: Path) -> None:
    """Nothing is played, no runs are written, and the times are those of the day when they were played."""
    folder = tmp_path / name
    shutil.copytree(BEFORE / "stores" / name, folder)
    there = files(folder, ".npz")
    result = make.simulated()[name].play(folder, executor=Nobody())
    assert make.arrays(result) == EXPECTED["stores"][name]
    assert files(folder, ".npz") == there


@pytest.mark.parametrize("name", make.simulated())
def test_a_store_is_added_to(name: str, tmp_path: Path) -> None:
    """More runs: those that are there stay, and all are as if they had been played today."""
    folder, one = tmp_path / name, make.simulated()[name]
    shutil.copytree(BEFORE / "stores" / name, folder)
    there = files(folder, ".npz")
    more = {"runs": 5, "engine": "plain", "threads": 1}
    result, anew = one.play(folder, **more), one.play(tmp_path / "anew", **more)
    for array in ("regret", "counts", "sums", "solutions"):
        np.testing.assert_array_equal(getattr(result, array), getattr(anew, array))
    assert result.regret[:, :3].tolist() == EXPECTED["stores"][name]["regret"]
    assert there.items() <= files(folder, ".npz").items()
    assert set(files(folder, ".npz")) == {*there, *files(folder, "-3.npz"), *files(folder, "-4.npz")}


def test_a_store_refuses_another_experiment(tmp_path: Path) -> None:
    folder = tmp_path / "grid"
    shutil.copytree(BEFORE / "stores" / "grid", folder)
    with pytest.raises(sb.errors.BadState, match="another experiment"):
        make.simulated()["grid"].play(folder, seed=6)


def test_a_result_folder_is_taken_up(tmp_path: Path) -> None:
    """The tables are the same, also that of times, and the runs are not touched."""
    shutil.copy(BEFORE / "experiment.toml", tmp_path)
    shutil.copytree(BEFORE / "results", tmp_path / "results")
    there, runs = files(tmp_path / "results"), files(tmp_path / "results" / "runs", ".npz")
    done = make.run_experiment(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    after = files(tmp_path / "results")
    assert set(after) - {".lock"} == set(there)
    assert files(tmp_path / "results" / "runs", ".npz") == runs
    assert len(runs) == 8
    tables = [name for name in there if name.endswith((".csv", ".toml")) or name == "experiment.json"]
    assert len(tables) >= 7
    assert {name: after[name][1] for name in tables} == {name: there[name][1] for name in tables}


@pytest.mark.parametrize("point", [0, 1])
def test_a_saved_result_is_read(point: int) -> None:
    result = sb.SimulationResult.load(BEFORE / "results" / "results" / f"{point}.parquet")
    rows = [line.split(",") for line in (BEFORE / "results" / "data" / "regret.csv").read_text().splitlines()[1:]]
    assert result.regret.ravel().tolist() == [float(row[-1]) for row in rows if row[0] == str(point)]
    assert result.counts is not None


@pytest.mark.parametrize("name", make.SETS)
def test_a_specification_is_read(name: str) -> None:
    written = json.loads((BEFORE / "specifications.json").read_text())[name]
    again = sb.sets.from_spec(written)
    assert make.answers(name, again) == EXPECTED["specifications"][name]
    assert json.loads(json.dumps(again.to_spec())) == written  # type: ignore[attr-defined]
