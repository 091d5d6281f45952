"""Clusters whose parts die at random while they play."""

import os
import random
import subprocess
import sys
import time
from concurrent.futures import Executor
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits.errors import ExecutorFailed
from support.clusters import Cluster, slow_problem, until

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::semibandits.errors.UnseenCode"),  # the solver asks the environment
]


def play(executor: Executor | None, runs: int, seed: int, store: Path | None = None) -> sb.SimulationResult:
    policies = [sb.policies.CombUCB1(), sb.policies.CTS()]
    recorded: Any = ["counts", "sums"]
    return sb.simulate(
        slow_problem(), policies, horizon=100, runs=runs, seed=seed, record=recorded, executor=executor, store=store
    )


def same(one: sb.SimulationResult, other: sb.SimulationResult) -> None:
    for name in ("regret", "counts", "sums"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def finished(store: Path) -> int:
    return len(list(store.glob("*.npz")))


@pytest.mark.parametrize("seed", range(3))
def test_workers_killed_at_random_lose_and_change_nothing(seed: int, tmp_path: Path) -> None:
    chance, over = random.Random(seed), Event()
    kills: list[str] = []
    said: list[str] = []
    store = tmp_path / "store"

    def kill_and_start(cluster: Cluster) -> None:
        while len(kills) < 12 and not over.wait(chance.uniform(0.2, 2.5)):
            name = chance.choice(["first", "second"])
            cluster.kill(name)
            kills.append(name)
            cluster.start_worker(name)

    with Cluster(tmp_path / "cluster") as cluster:
        killer = Thread(target=kill_and_start, args=(cluster,))
        killer.start()
        try:
            result = None
            while result is None:
                try:
                    result = play(cluster.client.get_executor(), 40, seed, store)
                except ExecutorFailed as error:  # one block was on four workers that were killed
                    said.append(str(error))
        finally:
            over.set()
            killer.join()
    assert len(kills) > 2
    assert all("kept in" in one for one in said)
    assert finished(store) == 80
    same(result, play(None, 40, seed))


@pytest.mark.parametrize("seed", range(4))
def test_a_scheduler_killed_in_the_middle_is_named_and_a_new_cluster_goes_on(seed: int, tmp_path: Path) -> None:
    store, wanted = tmp_path / "store", random.Random(seed).randrange(1, 30)
    with Cluster(tmp_path / "first") as cluster:

        def kill() -> None:
            until(lambda: finished(store) >= wanted, "nothing was finished")
            cluster.kill("scheduler")

        killer = Thread(target=kill)
        killer.start()
        with pytest.raises(ExecutorFailed, match=r"of 40 runs are finished and kept in .*store: the same call"):
            play(cluster.client.get_executor(), 20, seed, store)
        killer.join()
        kept = finished(store)
        assert wanted <= kept < 40
    with Cluster(tmp_path / "second") as cluster:
        result = play(cluster.client.get_executor(), 20, seed, store)
    assert finished(store) == 40
    same(result, play(None, 20, seed))


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_a_scheduler_killed_while_the_last_result_travels_is_not_waited_for(delay: float, tmp_path: Path) -> None:
    store = tmp_path / "store"

    def play(executor: Executor) -> sb.SimulationResult:
        problem, policy = sb.problems.grid_path(m=2, sigma=0.4), sb.policies.CombUCB1()
        return sb.simulate(
            problem, policy, horizon=300_000, runs=32, seed=0, record="solutions", executor=executor, store=store
        )

    with Cluster(tmp_path / "cluster") as cluster:

        def kill() -> None:
            until(lambda: any(cluster.client.has_what().values()), "nothing was finished")
            time.sleep(delay)
            cluster.kill("scheduler")

        killer = Thread(target=kill)
        killer.start()
        with pytest.raises(ExecutorFailed, match=r"It takes a new one to go on\. 0 of 32 runs are finished and kept"):
            play(cluster.client.get_executor())
        killer.join()


EXPERIMENT = """
horizon = 150
runs = 12
seed = 7

[problem.set]
kind = "Oracle"
function = "mine.py:best"
n_items = 3
max_size = 1

[problem.environment]
class = "mine.py:World"

[[policies]]
class = "mine.py:Careful"

[[policies]]
class = "mine.py:Careful"
alpha = 0.1
"""

MINE = """
import os
import time
from dataclasses import dataclass

import beside_mine
import semibandits as sb

def best(weights):
    time.sleep(float(os.environ.get("ORACLE_SECONDS", "0")))
    return [beside_mine.largest(weights)]

class World(sb.environments.Bernoulli):
    def __init__(self):
        super().__init__([0.1, 0.5, 0.9])

@dataclass(frozen=True)
class Careful(sb.policies.CombUCB1):
    alpha: float = 0.7

    def params(self, game):
        return (beside_mine.half(self.alpha),)
"""

BESIDE = """
def half(number):
    return number / 2

def largest(weights):
    return max(range(len(weights)), key=lambda item: weights[item])
"""


def test_the_command_line_with_own_code_on_a_cluster_that_dies(tmp_path: Path) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / "mine.py").write_text(MINE)
    (user / "beside_mine.py").write_text(BESIDE)

    def start(name: str, out: str, executor: str = "") -> subprocess.Popen[str]:
        (user / f"{name}.toml").write_text(EXPERIMENT + executor)
        command = [sys.executable, "-m", "semibandits", "run", f"{name}.toml", "--out", str(tmp_path / out)]
        paths = os.pathsep.join([str(user), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            command, cwd=user, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.PIPE, text=True
        )

    def on(cluster: Cluster) -> str:
        return f'[executor]\nkind = "dask"\naddress = "{cluster.address}"\n'

    def tables(out: str) -> dict[str, bytes]:
        return {
            path.name: path.read_bytes() for path in (tmp_path / out / "data").glob("*.csv") if path.stem != "timing"
        }

    process = start("here", "here")
    said = process.communicate(timeout=100)[1]
    assert process.returncode == 0, said
    runs = tmp_path / "there" / "runs"
    with Cluster(tmp_path / "first") as cluster:
        process = start("there", "there", on(cluster))
        until(lambda: len(list(runs.glob("*/*.npz"))) >= 5, "nothing was finished")
        cluster.kill("scheduler")
        said = process.communicate(timeout=60)[1]
        assert process.returncode not in (0, None)
        assert "of 24 runs are finished and kept in" in " ".join(said.split())
    with Cluster(tmp_path / "second") as cluster:
        process = start("there", "there", on(cluster))
        said = process.communicate(timeout=100)[1]
        assert process.returncode == 0, said
    assert tables("there") == tables("here")
    assert len(tables("here")) > 3
