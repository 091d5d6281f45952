"""Playing experiment files: against `simulate` called by hand; killed, resumed, extended, refused."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits.errors import BadState, SemiBanditError, StoreFailed, Unsupported
from semibandits.experiments import result_tables
from semibandits.experiments.files import starters
from semibandits.experiments.files.document import read
from semibandits.experiments.running import Finished, run
from semibandits.simulation.progress import Progress
from support.experiment_files import GRID, of

SWEPT = f"{GRID}\n[sweep]\nproblem.m = [1, 2]\npolicies.CombUCB1.alpha = [0.5, 1.5]\n"
SAME = ("regret", "summary", "comparisons", "items")


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "data" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def data(folder: Path) -> dict[str, bytes]:
    """What must be the same however often it was stopped."""
    return {name: (folder / "data" / f"{name}.csv").read_bytes() for name in SAME}


def test_every_point_is_what_simulate_gives(tmp_path: Path) -> None:
    finished = run(of(tmp_path, f'unit = "ms"\n{SWEPT}'), tmp_path / "out")
    assert {point.unit for point in finished.points} == {"ms"}
    assert [point.settings for point in finished.points] == [
        {"problem.m": m, "policies.CombUCB1.alpha": alpha} for m in (1, 2) for alpha in (0.5, 1.5)
    ]
    for number, point in enumerate(finished.points):
        problem = sb.problems.grid_path(point.settings["problem.m"], 0.4)
        policies = [sb.policies.CombUCB1(point.settings["policies.CombUCB1.alpha"]), sb.policies.CTS()]
        by_hand = sb.simulate(problem, policies, horizon=50, runs=2, seed=3, record=["counts", "sums"])
        assert np.array_equal(point.result.regret, by_hand.regret)
        here = [row for row in rows(tmp_path / "out", "regret") if row["point"] == str(number)]
        assert [float(row["regret"]) for row in here] == by_hand.regret.ravel().tolist()
        assert [int(row["round"]) for row in here] == by_hand.rounds.tolist() * 4
        assert [int(row["run"]) for row in here[:: len(by_hand.rounds)]] == [0, 1, 0, 1]
        summary = [row for row in rows(tmp_path / "out", "summary") if row["point"] == str(number)]
        for row, expected in zip(summary, by_hand.summary(), strict=True):
            assert (row["policy"], float(row["mean"]), float(row["low"])) == (
                expected.policy,
                expected.mean,
                expected.low,
            )
        (compared,) = (row for row in rows(tmp_path / "out", "comparisons") if row["point"] == str(number))
        assert float(compared["difference"]) == by_hand.compare(0, 1).difference
        loaded = sb.SimulationResult.load(tmp_path / "out" / "results" / f"{number}.parquet")
        assert np.array_equal(loaded.regret, by_hand.regret)
    assert {row["problem.m"] for row in rows(tmp_path / "out", "timing")} == {"1", "2"}


def test_what_was_learned_of_the_items(tmp_path: Path) -> None:
    finished = run(of(tmp_path, GRID.replace("runs = 2", "runs = 4")), tmp_path / "out")
    result, problem = finished.points[0].result, finished.points[0].problem
    assert result.counts is not None
    assert result.sums is not None
    listed = rows(tmp_path / "out", "items")
    assert len(listed) == 2 * problem.n_items
    for row in listed:
        policy, item = result.policies.index(row["policy"]), int(row["item"])
        estimates = result.sums[policy, :, item] / result.counts[policy, :, item]
        assert float(row["count"]) == result.counts[policy, :, item].mean()
        assert float(row["estimate"]) == pytest.approx(estimates.mean())
        assert float(row["error"]) == pytest.approx(estimates.std(ddof=1) / 2)
        assert float(row["true_mean"]) == problem.means[item]
        assert row["label"] == ""


def test_drifting_worlds_have_no_true_means_and_unseen_items_no_estimates(tmp_path: Path) -> None:
    text = """
    horizon = 3
    runs = 2
    [problem.set]
    kind = "Assignment"
    rows = ["a", "b"]
    columns = ["x", "y", "z"]
    [problem.environment]
    kind = "Drifting"
    means = [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]]
    starts = [1, 3]
    [[policies]]
    name = "Fixed"
    items = [0, 4]
    """
    finished = run(of(tmp_path, text), tmp_path / "out")
    assert finished.points[0].result.kind == "dynamic"
    listed = rows(tmp_path / "out", "items")
    assert [row["label"] for row in listed] == ["a:x", "a:y", "a:z", "b:x", "b:y", "b:z"]
    assert {row["true_mean"] for row in listed} == {""}
    assert [row["estimate"] != "" for row in listed] == [True, False, False, False, True, False]
    assert rows(tmp_path / "out", "comparisons") == []


def test_one_bar_for_all(tmp_path: Path) -> None:
    class Counting(Progress):
        rounds = 0

        def advance(self, rounds: int) -> None:
            self.rounds += rounds

    experiment = of(tmp_path, SWEPT)
    for _ in range(2):  # played, and found
        counting = Counting()
        run(experiment, tmp_path / "out", progress=counting)
        assert counting.rounds == experiment.rounds == 4 * 2 * 2 * 50


def count_blocks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    from semibandits.simulation import schedule

    played = []
    original = schedule.play_with

    def watched(engine: Any, task: Any, first: int, runs: int, tick: Any = None) -> Any:
        played.append((repr(task.policy), first))
        return original(engine, task, first, runs, tick)

    monkeypatch.setattr(schedule, "play_with", watched)
    return played


def test_more_runs_policies_and_values_play_only_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = of(tmp_path, SWEPT)
    played = count_blocks(monkeypatch)
    run(experiment, tmp_path / "out")
    assert len(played) == 2 * 3 * 2  # CTS once for both alphas
    more = SWEPT.replace("runs = 2", "runs = 3").replace("m = [1, 2]", "m = [1, 2, 3]").replace('"CTS"', '"KLUCB"')
    experiment = of(tmp_path, more)
    played.clear()
    finished = run(experiment, tmp_path / "out")
    assert len(played) == 2 * 2 + 2 * 3 + 3 * 3
    assert data(tmp_path / "out") == data(run(of(tmp_path, more), tmp_path / "fresh").folder)
    assert len(finished.points) == 6
    run(of(tmp_path, SWEPT), tmp_path / "out")  # and back
    assert sorted(file.name for file in (tmp_path / "out" / "results").iterdir()) == [f"{i}.parquet" for i in range(4)]


CHILD = """
import sys
from semibandits.experiments import read, run
run(read(sys.argv[1]), sys.argv[2], progress=False)
"""


def killed_and_resumed(path: Path, folder: Path) -> Finished:
    """Killed as soon as something is kept, then played to its end."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path), str(folder)])
    while child.poll() is None and not any(folder.glob("runs/*/*.npz")):
        time.sleep(0.002)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    kept = len(list(folder.glob("runs/*/*.npz")))
    finished = run(read(path), folder, progress=False)
    assert len(list(folder.glob("runs/*/*.npz"))) > kept > 0
    return finished


def same_as_undisturbed(path: Path, tmp_path: Path) -> None:
    disturbed = killed_and_resumed(path, tmp_path / "killed")
    undisturbed = run(read(path), tmp_path / "whole", progress=False)
    for a, b in zip(disturbed.points, undisturbed.points, strict=True):
        assert np.array_equal(a.result.regret, b.result.regret)
        assert np.array_equal(a.result.sums, b.result.sums)
    assert data(tmp_path / "killed") == data(tmp_path / "whole")


def shrunk(name: str, folder: Path, **sizes: int) -> Path:
    path = starters.write_starter(name, folder)[0]
    lines = path.read_text(encoding="utf-8").splitlines()
    for key, value in sizes.items():
        lines = [f"{key} = {value}" if line.startswith(f"{key} = ") else line for line in lines]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_killed_and_resumed_it_ends_with_the_same_bits(tmp_path: Path) -> None:
    same_as_undisturbed(shrunk("grid_path", tmp_path, horizon=100, runs=10), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", starters.EXPERIMENTS)
def test_all_starters_killed_and_resumed(tmp_path: Path, name: str) -> None:
    same_as_undisturbed(shrunk(name, tmp_path, runs=8 if name == "own_solver" else 200), tmp_path)


def test_another_experiment_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(of(tmp_path, GRID), out)
    before = data(out)
    with pytest.raises(BadState, match=r"holds another experiment, 'Grid': horizon is 50 there and 60 here\. Give an"):
        run(of(tmp_path, GRID.replace("horizon = 50", "horizon = 60")), out)
    with pytest.raises(BadState, match=r"problem.m is 2 there and swept here"):
        run(of(tmp_path, SWEPT), out)
    assert data(out) == before
    assert json.loads((out / "experiment.json").read_text(encoding="utf-8"))["title"] == "Grid"
    renamed = GRID.replace('"Grid"', '"Größer"').replace("runs = 2", "runs = 3\ndescription = 'more'")
    run(of(tmp_path, renamed), out)
    manifest = json.loads((out / "experiment.json").read_text(encoding="utf-8"))
    assert (manifest["title"], manifest["description"]) == ("Größer", "more")
    assert (out / "experiment.toml").read_text(encoding="utf-8") == renamed


def test_data_that_has_changed_is_another_experiment(tmp_path: Path) -> None:
    text = GRID.replace('name = "grid_path"\nm = 2\nsigma = 0.4', 'set = {kind = "TopK", n_items = 2, k = 1}\n')
    text = text.replace("k = 1}\n", 'k = 1}\nenvironment = {kind = "Bernoulli", means = {file = "m.json"}}')
    run(of(tmp_path, text, m_json="[0.1, 0.2]"), tmp_path / "out")
    with pytest.raises(BadState, match=r"m\.json has changed since"):
        run(of(tmp_path, text, m_json="[0.1, 0.3]"), tmp_path / "out")
    run(of(tmp_path, text, m_json="[0.1, 0.2]"), tmp_path / "out")


def test_folders_that_hold_something_else(tmp_path: Path) -> None:
    experiment = of(tmp_path, GRID)
    out = tmp_path / "out"
    out.mkdir()
    (out / "letters.txt").write_text("dear")
    with pytest.raises(BadState, match=r"holds no experiment, but other files: letters\.txt"):
        run(experiment, out)
    (out / "letters.txt").unlink()
    for damaged in (b"{", b"[]", b"{}", b'{"format": "semibandits.experiment", "version": 2}', b"\xff"):
        (out / "experiment.json").write_bytes(damaged)
        with pytest.raises(BadState, match=r"damaged|no manifest of version 1"):
            run(experiment, out)
    (out / "experiment.json").unlink()
    assert run(experiment, out).points


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    experiment = of(tmp_path, GRID)
    with pytest.raises(StoreFailed, match=r"grid\.toml cannot be written: File exists"):
        run(experiment, tmp_path / "grid.toml")
    with pytest.raises(StoreFailed, match=r"out cannot be written: Not a directory"):
        run(experiment, tmp_path / "grid.toml" / "out")
    (tmp_path / "out" / "data").mkdir(parents=True)
    (tmp_path / "out" / "data").rmdir()
    run(experiment, tmp_path / "out")
    if os.name == "posix" and os.geteuid() != 0:
        (tmp_path / "out").chmod(0o500)
        with pytest.raises(SemiBanditError, match="out"):
            run(experiment, tmp_path / "out")
        (tmp_path / "out").chmod(0o700)


def test_only_one_process_plays_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = of(tmp_path, GRID)
    held = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from semibandits.experiments.folder import claimed\n"
            "from semibandits.experiments import read; from pathlib import Path\n"
            "with claimed(Path(sys.argv[2]), read(sys.argv[1])): print('held', flush=True); sys.stdin.read()",
            str(experiment.path),
            str(tmp_path / "out"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with held:
        assert held.stdout is not None
        held.stdout.readline()
        with pytest.raises(StoreFailed, match="another process is playing in"):
            run(experiment, tmp_path / "out")
        held.kill()
    assert run(experiment, tmp_path / "out").points  # the dead hold nothing


def test_a_failing_run_says_where_in_the_sweep(tmp_path: Path) -> None:
    mine = """
calls = []
def best(weights):
    calls.append(1)
    if len(calls) > 20:
        raise OSError("gone")
    return [int(weights.argmax())]
"""
    text = GRID.replace('name = "grid_path"\nm = 2\nsigma = 0.4', "").replace('"CombUCB1"\nalpha = 1.5', '"CTS"')
    text += """
[problem.set]
kind = "Oracle"
function = "mine.py:best"
n_items = 3
max_size = 1
[problem.environment]
kind = "Bernoulli"
means = [1, 1, 1]
[sweep]
seed = [1, 2]
"""
    with pytest.raises(
        SemiBanditError, match=r"^seed = 1: run 0, round \d+: the solver raised OSError: gone \(mine.py, line \d+\)"
    ):
        run(of(tmp_path, text, mine_py=mine), tmp_path / "out")


def test_where_it_is_played_changes_no_bit(tmp_path: Path) -> None:
    plain = run(of(tmp_path, SWEPT), tmp_path / "here")
    processes = f'{SWEPT}[executor]\nkind = "processes"\nworkers = 2\n'
    spread = run(of(tmp_path, processes), tmp_path / "processes")
    assert data(plain.folder) == data(spread.folder)
    run(of(tmp_path, SWEPT), tmp_path / "processes", threads=1)  # the same experiment


def test_code_of_ones_own_travels_to_processes(tmp_path: Path) -> None:
    path = shrunk("own_solver", tmp_path, horizon=20, runs=2)
    here = run(read(path), tmp_path / "here")
    text = path.read_text(encoding="utf-8").replace("# [executor]", "[executor]").replace('# kind = "dask"', "")
    path.write_text(text.replace("[executor]", '[executor]\nkind = "processes"\nworkers = 1\n'), encoding="utf-8")
    there = run(read(path), tmp_path / "there")
    assert np.array_equal(here.points[0].result.regret, there.points[0].result.regret)


def test_a_dask_cluster_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = of(tmp_path, f'{GRID}[executor]\nkind = "dask"\naddress = "tcp://127.0.0.1:1"\n')
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Unsupported, match=r'pip install "\.\[cluster\]" in a clone'):
        run(experiment, tmp_path / "out")


@pytest.mark.long
def test_a_dask_cluster(tmp_path: Path) -> None:
    from distributed import LocalCluster

    with LocalCluster(processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        text = f'{GRID}[executor]\nkind = "dask"\naddress = "{cluster.scheduler_address}"\n'
        there = run(of(tmp_path, text), tmp_path / "there")
    here = run(of(tmp_path, GRID), tmp_path / "here")
    assert np.array_equal(here.points[0].result.regret, there.points[0].result.regret)
    with pytest.raises(Unsupported, match="no Dask scheduler answers at"):
        run(of(tmp_path, text), tmp_path / "gone")


def test_without_pyarrow_there_are_tables_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = run(of(tmp_path, GRID), tmp_path / "with")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    without = run(of(tmp_path, GRID), tmp_path / "without")
    assert data(with_it.folder) == data(without.folder)
    assert not list(without.folder.rglob("*.parquet"))


def test_very_many_rows_are_the_horizon_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_tables, "MOST_ROWS", 10)
    finished = run(of(tmp_path, GRID), tmp_path / "out")
    listed = rows(tmp_path / "out", "regret")
    assert [float(row["regret"]) for row in listed] == finished.points[0].result.regret[:, :, -1].ravel().tolist()
    assert {row["round"] for row in listed} == {"50"}
