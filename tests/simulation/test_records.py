"""What the chosen items weighed, and how long it took."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Problem, SimulationResult, environments, policies, rng, sets, simulate
from semibandits.simulation.schedule import engine_of, play_with
from semibandits.simulation.task import Outcome, Task
from support.tasks import EVERYTHING, long, same, task
from support.wide import WIDE_PROBLEMS
from support.worlds import PROBLEMS

ucb = policies.CombUCB1()
TWO: Any = ("counts", "sums")


def added_up(one: Task, solutions: NDArray[np.int32], run: int) -> list[float]:
    """What the environment itself says of these solutions, round by round."""
    sums = [0.0] * one.problem.n_items
    for t, row in enumerate(solutions, start=1):
        weights = one.problem.environment.weights(t, rng.key(one.seed, run, t, rng.WORLD))
        for item in row[row >= 0].tolist():
            sums[item] += float(weights[item])
    return sums


@pytest.mark.parametrize(
    "one",
    [
        task(PROBLEMS["recorded"], horizon=500),
        long(task(PROBLEMS["costs"], horizon=500)),
        long(task(PROBLEMS["gaussian"], horizon=500, kind="realised")),
        task(WIDE_PROBLEMS["costs"], policies.FPL(eta=0.1), horizon=150),
        long(task(WIDE_PROBLEMS["costs"], policies.OFUL(), horizon=150, feedback="bandit")),
    ],
    ids=lambda one: f"{one.problem.environment!r}-{one.policy!r}",
)
def test_machine_code_and_the_plain_loop_add_up_what_the_environment_gave(one: Task) -> None:
    fast = engine_of(one).play(0, 3)
    assert fast is not None
    same(fast, play_with(None, one, 0, 3))
    assert fast.sums is not None
    assert fast.solutions is not None
    for run in range(3):
        assert fast.sums[run].tolist() == added_up(one, fast.solutions[run], run)
    alone = engine_of(one._replace(record=frozenset({"sums"}))).play(0, 3)
    same(alone, Outcome(fast.regret, sums=fast.sums))  # type: ignore[arg-type]


@pytest.mark.parametrize("feedback", ["semi", "bandit"])
def test_costs_stay_costs_whatever_the_policy_was_shown(feedback: Any) -> None:
    problem = WIDE_PROBLEMS["costs"]
    policy = policies.OFUL()
    options: Any = {"horizon": 40, "runs": 2, "seed": 7, "feedback": feedback, "uncovered": "ignore", "engine": "plain"}
    result = simulate(problem, policy, record=EVERYTHING, **options)
    assert result.sums is not None
    assert result.solutions is not None
    for run in range(2):
        assert result.sums[0, run].tolist() == added_up(task(problem, policy), result.solutions[0, run], run)
    assert problem.bounds[0] > 0.0
    assert (result.sums[0] >= problem.bounds[0] * result.counts[0]).all()  # type: ignore[index]


def test_sums_over_counts_approach_the_means() -> None:
    """Whatever a policy chooses, sum - count · mean is a martingale of variance count · p (1 - p)."""
    p = np.array([0.2, 0.35, 0.5, 0.65, 0.8])
    problem = Problem(sets.TopK(5, 2), environments.Bernoulli(p))
    result = simulate(problem, ucb, horizon=100, runs=20, seed=3, record=TWO)
    assert result.counts is not None
    assert result.sums is not None
    counts, sums = result.counts.sum(axis=(0, 1)), result.sums.sum(axis=(0, 1))
    assert counts.min() > 100
    errors = np.sqrt(p * (1.0 - p) / counts)
    assert (np.abs(sums / counts - p) < 4.0 * errors).all()


def grid(store: Path | None, runs: int = 3, **options: Any) -> SimulationResult:
    return simulate(PROBLEMS["grid"], [ucb, policies.CTS()], horizon=60, runs=runs, seed=4, store=store, **options)


def test_files_and_stores_keep_sums(tmp_path: Path) -> None:
    whole = grid(None, runs=5, record=TWO)
    assert whole.sums is not None
    assert whole.sums.shape == (2, 5, 24)
    grid(tmp_path / "store")  # without sums: not enough for the next
    grid(tmp_path / "store", record=TWO)
    resumed = grid(tmp_path / "store", runs=5, record=TWO)
    np.testing.assert_array_equal(resumed.sums, whole.sums)  # type: ignore[arg-type]
    assert grid(tmp_path / "store").sums is None
    resumed.save(tmp_path / "run.parquet")
    loaded = SimulationResult.load(tmp_path / "run.parquet")
    np.testing.assert_array_equal(loaded.sums, whole.sums)  # type: ignore[arg-type]
    assert loaded.provenance == resumed.provenance


def test_seconds_per_round_are_kept_in_stores(tmp_path: Path) -> None:
    fresh = grid(tmp_path).provenance["seconds_per_round"]
    assert all(isinstance(seconds, float) and 0.0 < seconds < 1.0 for seconds in fresh)
    assert len(fresh) == 2
    assert grid(tmp_path).provenance["seconds_per_round"] == fresh
    files = sorted(tmp_path.glob("*.npz"))
    for path in files:  # as earlier releases wrote them
        with np.load(path) as file:
            np.savez(path, regret=file["regret"], about=file["about"])
    old = grid(tmp_path)
    assert old.provenance["seconds_per_round"] == [None, None]
    with np.load(files[0]) as file:
        np.savez(
            files[0], regret=file["regret"], about=file["about"], seconds=np.zeros(7)
        )  # nothing of ours: played again
    again = grid(tmp_path)
    assert sorted(seconds is None for seconds in again.provenance["seconds_per_round"]) == [False, True]
    np.testing.assert_array_equal(again.regret, old.regret)


def test_seconds_per_round_are_those_of_the_runs(tmp_path: Path) -> None:
    grid(tmp_path, runs=3)
    for path in tmp_path.glob("*.npz"):
        with np.load(path) as file:
            run = int(path.stem.rpartition("-")[2])
            np.savez(path, regret=file["regret"], about=file["about"], seconds=np.array([[6.0, 12.0, 600.0][run]]))
    assert grid(tmp_path, runs=3).provenance["seconds_per_round"] == [0.2, 0.2]
    assert grid(tmp_path, runs=2).provenance["seconds_per_round"] == [0.15, 0.15]
