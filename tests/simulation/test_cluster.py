"""Simulations on a cluster: a scheduler and two workers, started as one would on two machines."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits.errors import WorkerDied
from support.clusters import Cluster, slow_problem, until


class Counting(Executor):
    """Another executor, and how many tasks went in and came out."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.submitted = self.finished = 0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future = self._executor.submit(function, *arguments, **named)
        self.submitted += 1
        future.add_done_callback(self._count)
        return future

    def _count(self, _: Future[Any]) -> None:
        self.finished += 1


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


def test_two_workers(cluster: Cluster) -> None:
    problem = sb.problems.grid_path(m=2, sigma=0.4)
    policies = [sb.policies.CombUCB1(), sb.policies.CombUCB1(alpha=0.5)]

    def run(executor: Executor | None) -> sb.SimulationResult:
        return sb.simulate(problem, policies, horizon=300, runs=40, seed=3, executor=executor)

    np.testing.assert_array_equal(run(cluster.client.get_executor()).regret, run(None).regret)


def test_a_killed_worker_loses_nothing(cluster: Cluster) -> None:
    policies = [sb.policies.CombUCB1(), sb.policies.CombUCB1(alpha=0.5)]
    executor = Counting(cluster.client.get_executor())
    at_death = []

    def run(executor: Executor | None) -> sb.SimulationResult:
        return sb.simulate(slow_problem(), policies, horizon=100, runs=12, seed=1, executor=executor)

    def kill_one() -> None:
        until(lambda: executor.finished >= 6 and cluster.busy("first"), "nothing to interrupt")
        cluster.processes["first"].send_signal(signal.SIGKILL)
        at_death.append(executor.finished)

    killer = Thread(target=kill_one)
    killer.start()
    try:
        result = run(executor)
    finally:
        killer.join()
    assert 6 <= at_death[0] < executor.submitted == executor.finished
    assert set(cluster.workers) == {"second"}
    np.testing.assert_array_equal(result.regret, run(None).regret)


def test_a_block_that_killed_its_workers_is_played_when_asked_again(tmp_path: Path) -> None:
    deadly = tmp_path / "deadly"
    here = os.getpid()

    def best(weights: np.ndarray[Any, Any]) -> list[int]:
        if deadly.exists() and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return [int(weights.argmax())]

    oracle = sb.sets.Oracle(best, n_items=3, max_size=1)
    problem = sb.Problem(oracle, sb.environments.Bernoulli([0.1, 0.5, 0.9]))

    def run(executor: Executor | None) -> sb.SimulationResult:
        return sb.simulate(problem, sb.policies.CombUCB1(), horizon=20, runs=1, seed=1, executor=executor)

    with Cluster(tmp_path / "cluster", DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as cluster:
        deadly.touch()
        with pytest.raises(WorkerDied, match=r"CombUCB1\(.*\), run 0: a worker died while playing it.*Nothing is kept"):
            run(cluster.client.get_executor())
        deadly.unlink()
        np.testing.assert_array_equal(run(cluster.client.get_executor()).regret, run(None).regret)
