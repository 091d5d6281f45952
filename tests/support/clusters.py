"""A Dask cluster for tests: a scheduler and two workers, started as one would on other machines."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
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


def slow_problem() -> sb.Problem:
    def best_two(weights: np.ndarray[Any, Any]) -> list[int]:
        time.sleep(float(os.environ.get(ORACLE_SECONDS, "0")))
        return sorted(range(len(weights)), key=lambda item: -weights[item])[:2]

    return sb.Problem(sb.sets.Oracle(best_two, n_items=6, max_size=2), sb.environments.Bernoulli(np.linspace(0, 1, 6)))


class Cluster:
    """The processes, by name, and a client. They work in a folder of their own, with nothing in it to import. Nothing
    of it survives the `with` block."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._folder = folder
        self._folder.mkdir()
        self._note = folder / "scheduler.json"
        self._variables = variables
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Cluster":
        with ExitStack() as self._stack:
            self._start("scheduler", "--port", "0", "--idle-timeout", "2 minutes")
            for name in ("first", "second"):
                self.start_worker(name)
            until(self._note.exists, "no scheduler")
            self.client = distributed.Client(scheduler_file=str(self._note), timeout=60)
            self._stack.callback(self.client.close)
            self.client.wait_for_workers(2, timeout=60)
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start_worker(self, name: str) -> None:
        self._start(name, "--name", name, "--nthreads", "1", "--no-nanny", "--memory-limit", "0")

    def _start(self, name: str, *options: str) -> None:
        kind = "scheduler" if name == "scheduler" else "worker"
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self._note), "--host", "127.0.0.1"]
        quiet = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        log = self._stack.enter_context((self._folder / f"{name}.log").open("ab"))
        process = self.processes[name] = subprocess.Popen(
            [*command, *quiet, *options],
            cwd=self._folder,
            env={**os.environ, ORACLE_SECONDS: "0.002", **self._variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    @property
    def address(self) -> str:
        return str(self.client.scheduler.address)

    @property
    def workers(self) -> dict[str, str]:
        """Their addresses by name."""
        return {worker["name"]: address for address, worker in self.client.scheduler_info()["workers"].items()}

    def busy(self, name: str) -> bool:
        return bool(self.client.processing().get(self.workers[name]))
