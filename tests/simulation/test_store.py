"""A killed simulation goes on where it stopped, with the same bits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from semibandits import Problem, SimulationResult, environments, errors, policies, problems, sets, simulate
from semibandits.simulation import simulate as module
from semibandits.digest import digest

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
    module_of = sys.modules[module.__module__]
    original = module_of.play  # type: ignore[attr-defined]

    def play(*task: object) -> object:
        seen.append(task[3])  # type: ignore[arg-type]
        return original(*task)

    monkeypatch.setattr(module_of, "play", play)
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


def test_damaged_runs_are_played_again(tmp_path: Path, played: list[int]) -> None:
    whole = run(tmp_path)
    files = sorted(tmp_path.glob("*.npy"))
    assert len(files) == 6
    files[0].write_bytes(files[0].read_bytes()[:-3])
    files[1].write_bytes(b"")
    np.save(files[2], np.zeros(7))
    played.clear()
    np.testing.assert_array_equal(run(tmp_path).regret, whole.regret)
    assert len(played) == 3


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
    with pytest.raises(errors.BadState, match="not empty"):
        run(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    (tmp_path / "experiment.json").write_text("{")
    with pytest.raises(errors.BadState, match="damaged"):
        run(tmp_path)


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
        digest(object())


SCRIPT = """
import sys, semibandits as sb
result = sb.simulate(sb.problems.grid_path(2, 0.4), sb.policies.CombUCB1(), horizon=3000, runs=12, seed=1,
                     checkpoints=[3000], store=sys.argv[1])
print(result.regret.sum())
"""


def test_killed_and_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)]) as process:
        while len(list(folder.glob("*.npy"))) < 3:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert len(list(folder.glob("*.npy"))) < 12
    resumed, alone = (
        subprocess.run([sys.executable, "-c", SCRIPT, str(where)], capture_output=True, text=True, check=True).stdout
        for where in (folder, tmp_path / "other")
    )
    assert resumed == alone
