"""A killed simulation goes on where it stopped, with the same bits."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from semibandits import Problem, SimulationResult, environments, errors, policies, problems, sets, simulate
from semibandits._util.fingerprint import digest
from semibandits.live import snapshot
from semibandits.simulation import schedule
from semibandits.simulation import store as store_module
from support import worlds

grid = problems.grid_path(2, 0.4)
ucb, bold = policies.CombUCB1(), policies.CombUCB1(alpha=0.5)


def run(store: Path | None, runs: int = 3, problem: Problem = grid, **options: object) -> SimulationResult:
    settings: dict[str, object] = {
        "policies": [ucb, bold],
        "horizon": 60,
        "seed": 4,
        "checkpoints": [10, 60],
        **options,
    }
    return simulate(problem, runs=runs, store=store, **settings)  # type: ignore[arg-type]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were really played."""
    seen: list[int] = []
    original = schedule.play_with

    def play_with(engine: object, task: object, first: int, runs: int, *rest: object) -> object:
        seen.extend(range(first, first + runs))
        return original(engine, task, first, runs, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(schedule, "play_with", play_with)
    return seen


def test_only_what_is_missing_is_played(tmp_path: Path, played: list[int]) -> None:
    plain = run(None, runs=5)
    played.clear()
    first = run(tmp_path / "sweep", runs=3)
    assert sorted(played) == [0, 0, 1, 1, 2, 2]
    played.clear()
    more = run(tmp_path / "sweep", runs=5, policies=[bold, ucb])
    assert sorted(played) == [3, 3, 4, 4]
    np.testing.assert_array_equal(first.regret, plain.regret[:, :3])
    np.testing.assert_array_equal(more.regret, plain.regret[::-1])


def test_machine_code_plays_whole_blocks(tmp_path: Path, played: list[int]) -> None:
    options: dict[str, object] = {"policies": ucb, "engine": "compiled"}
    whole = run(None, runs=70, **options)
    run(tmp_path, runs=40, **options)
    assert {path.stem.rpartition("-")[2] for path in tmp_path.glob("*.npz")} == {"0", "32"}
    played.clear()
    more = run(tmp_path, runs=70, **options)
    assert sorted(played) == list(range(32, 70))
    np.testing.assert_array_equal(more.regret, whole.regret)
    played.clear()
    np.testing.assert_array_equal(run(tmp_path, runs=70, policies=ucb, engine="plain").regret, whole.regret)
    np.testing.assert_array_equal(run(tmp_path, runs=5, policies=ucb).regret, whole.regret[:, :5])
    assert played == []


def test_what_was_not_recorded_is_played_again(tmp_path: Path, played: list[int]) -> None:
    run(tmp_path)
    played.clear()
    with_counts = run(tmp_path, record="counts")
    assert len(played) == 6
    played.clear()
    again = run(tmp_path, record="counts")
    assert played == []
    assert again.counts is not None
    np.testing.assert_array_equal(again.counts, with_counts.counts)  # type: ignore[arg-type]
    run(tmp_path)
    assert played == []


def test_damaged_blocks_are_played_again(tmp_path: Path, played: list[int]) -> None:
    whole = run(tmp_path)
    files = sorted(tmp_path.glob("*.npz"))
    assert len(files) == 6
    files[0].write_bytes(files[0].read_bytes()[:-3])
    files[1].write_bytes(b"")
    np.savez(files[2], regret=np.zeros(7))
    np.savez(files[3], regret=np.float64(1.0))
    files[4].write_bytes(b"PK\x03\x04 nothing of the kind")
    (tmp_path / "elsewhere.txt").write_text("left alone")
    played.clear()
    np.testing.assert_array_equal(run(tmp_path).regret, whole.regret)
    assert len(played) == 5
    files[5].write_bytes(files[5].read_bytes().replace(b"-\x00", b"\xff\x00"))  # an archive of a version to come
    np.testing.assert_array_equal(run(tmp_path).regret, whole.regret)
    assert len(played) == 6


def test_a_full_disk_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: list[int]) -> None:
    whole = run(None)
    played.clear()
    room = [3]  # the note and two blocks

    def replace_file(path: Path, data: bytes) -> None:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        room[0] -= 1
        snapshot.replace_file(path, data)

    monkeypatch.setattr(store_module, "replace_file", replace_file)
    with pytest.raises(errors.StoreFailed, match=r"No space left on device.* The 2 finished blocks"):
        run(tmp_path)
    monkeypatch.undo()
    np.testing.assert_array_equal(run(tmp_path).regret, whole.regret)
    assert len(list(tmp_path.glob("*.npz"))) == 6


def test_a_store_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.StoreFailed, match="cannot be used as a store"):
        run(tmp_path / "file")


@pytest.mark.parametrize(
    "change",
    [
        {"horizon": 61, "checkpoints": [10, 61]},
        {"seed": 5},
        {"checkpoints": [20, 60]},
        {"regret": "realised"},
        {"problem": problems.grid_path(2, 0.5)},
        {"problem": problems.k_path(12, 4, 0.4)},
        {"problem": Problem(grid.feasible, grid.environment, sense="min")},
    ],
    ids=str,
)
def test_a_folder_holds_one_experiment(tmp_path: Path, change: dict[str, object]) -> None:
    run(tmp_path)
    with pytest.raises(errors.BadState, match="holds another experiment: Problem"):
        run(tmp_path, **change)  # type: ignore[arg-type]


def test_folders_of_other_things_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(errors.BadState, match="not empty and holds no experiment: give another folder"):
        run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    (tmp_path / "experiment.json").write_text("{")
    with pytest.raises(errors.BadState, match=r"damaged .*: give another folder"):
        run(tmp_path)


def test_runs_without_their_note_can_be_played_again(tmp_path: Path) -> None:
    store = tmp_path / "runs"
    run(store)
    for text in ("{", "[]", "[" * 100_000):
        (store / "experiment.json").write_text(text)
        with pytest.raises(
            errors.BadState, match=r"experiment\.json is damaged \(.*\): remove .*runs, and its runs are"
        ):
            run(store)
    (store / "experiment.json").unlink()
    with pytest.raises(errors.BadState, match=r"holds no experiment: remove .*runs, and its runs are played again"):
        run(store)


def test_functions_count_by_their_code(tmp_path: Path) -> None:
    def world(factor: float) -> Problem:
        return Problem(sets.TopK(3, 1), environments.Custom(lambda g: factor * g.random(3), [factor / 2] * 3))

    run(tmp_path, problem=world(0.5))
    run(tmp_path, problem=world(0.5))
    with pytest.raises(errors.BadState, match="another experiment"):
        run(tmp_path, problem=world(0.25))
    assert digest(lambda x: x + 1) == digest(lambda x: x + 1)
    assert digest(lambda x: x + 1) != digest(lambda x: x + 2)
    assert digest(lambda x: sorted(x, key=lambda y: y + 1)) != digest(lambda x: sorted(x, key=lambda y: y + 2))
    with pytest.raises(errors.Unsupported, match="cannot be told from others"):
        digest(number for number in ())


def test_a_users_code_counts(tmp_path: Path, played: list[int]) -> None:
    class Following(worlds.Sum):
        pass

    first = Following

    class Following(worlds.Sum):  # type: ignore[no-redef]
        @staticmethod
        def score(s: object, c: object, key: object, item: object, p: object) -> object:
            return s[1] * 0.5  # type: ignore[index]

    assert digest(first()) == digest(first())
    assert digest(first()) != digest(Following())

    def rated(rate: object) -> object:
        return type("Following", (worlds.Sum,), {"rate": rate})()

    assert digest(rated([0.1])) == digest(rated([0.1])) != digest(rated([0.2])) != digest(rated(0.2))
    scale = 0.5
    assert digest(lambda x: x * scale) == digest(lambda x: x * scale)


def test_an_experiment_is_recognised_after_use(tmp_path: Path) -> None:
    fresh = problems.grid_path(2, 0.3)
    first = run(tmp_path, problem=fresh)
    np.testing.assert_array_equal(run(tmp_path, problem=fresh).regret, first.regret)
    fresh.item_gaps.sum()
    np.testing.assert_array_equal(run(tmp_path, problem=problems.grid_path(2, 0.3)).regret, first.regret)


SCRIPT = """
import sys, semibandits as sb
result = sb.simulate(sb.problems.grid_path(4, 0.2), sb.policies.CombUCB1(), horizon=20_000, runs=320, seed=1,
                     checkpoints=[20_000], store=sys.argv[1], threads=2)
print(result.regret.sum(), result.engine)
"""


def test_killed_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)]) as process:
        while len(list(folder.glob("*.npz"))) < 2 and process.poll() is None:
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
    assert len(list(folder.glob("*.npz"))) < 10
    resumed, alone = (
        subprocess.run([sys.executable, "-c", SCRIPT, str(where)], capture_output=True, text=True, check=True).stdout
        for where in (folder, tmp_path / "other")
    )
    assert resumed == alone
    assert alone.endswith("compiled\n")
