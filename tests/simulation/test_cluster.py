"""Simulations on a cluster: a scheduler and two workers, started as one would on two machines."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import semibandits as sb

distributed = pytest.importorskip("distributed", reason="needs the extra [cluster]")

ORACLE_SECONDS = "ORACLE_SECONDS"
"""Set on the workers alone, so that the same simulation is quick here."""


def until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.01)


class Cluster:
    """The processes, by name, and a client. Nothing of it survives the `with` block."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note = folder / "scheduler.json"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Cluster":
        with ExitStack() as stack:
            self._start(stack, "scheduler", "--port", "0", "--idle-timeout", "2 minutes")
            for name in ("first", "second"):
                self._start(stack, name, "--name", name, "--nthreads", "1", "--no-nanny", "--memory-limit", "0")
            until(self._note.exists, "no scheduler")
            self.client = stack.enter_context(distributed.Client(scheduler_file=str(self._note), timeout=60))
            self.client.wait_for_workers(2, timeout=60)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self, stack: ExitStack, name: str, *options: str) -> None:
        kind = "scheduler" if name == "scheduler" else "worker"
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self._note), "--host", "127.0.0.1"]
        quiet = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        log = stack.enter_context((self._folder / f"{name}.log").open("wb"))
        process = self.processes[name] = subprocess.Popen(
            [*command, *quiet, *options],
            cwd=self._folder,
            env={**os.environ, ORACLE_SECONDS: "0.002"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        stack.callback(process.wait)
        stack.callback(process.kill)

    @property
    def workers(self) -> dict[str, str]:
        """Their addresses by name."""
        return {worker["name"]: address for address, worker in self.client.scheduler_info()["workers"].items()}

    def busy(self, name: str) -> bool:
        return bool(self.client.processing().get(self.workers[name]))


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
    with Cluster(tmp_path) as cluster:
        yield cluster


def slow_problem() -> sb.Problem:
    def best_two(weights: np.ndarray[Any, Any]) -> list[int]:
        time.sleep(float(os.environ.get(ORACLE_SECONDS, "0")))
        return sorted(range(len(weights)), key=lambda item: -weights[item])[:2]

    return sb.Problem(sb.sets.Oracle(best_two, n_items=6, max_size=2), sb.environments.Bernoulli(np.linspace(0, 1, 6)))


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
