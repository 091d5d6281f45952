"""How much may be asked of a simulation."""

from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, errors, policies, problems, sets, simulate
from semibandits.simulation import comparator
from semibandits.simulation.engines.compilable import NotCompilable
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.simulate import check_memory
from semibandits.simulation.task import Task
from semibandits.types import Environment

grid = problems.grid_path(2, 0.4)
ucb = policies.CombUCB1()


@pytest.fixture(autouse=True)
def _sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process may use 16 GiB."""
    monkeypatch.setattr("semibandits._util.resources.memory", lambda: 2**34)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"horizon": 10**12 + 1}, "^horizon must be at most 1,000,000,000,000$"),
        ({"horizon": 10**5000}, "^horizon must be at most 1,000,000,000,000$"),
        ({"runs": 10**26}, "^runs must be at most 1,000,000,000$"),
        (
            {"runs": 10**9, "checkpoints": range(1, 11)},
            "^the results of 1,000,000,000 runs of each policy, of 10 rounds, take 134 GiB of memory",
        ),
        ({"runs": 10**9, "checkpoints": [10], "record": ["counts", "sums"]}, "take 246 GiB of memory"),
        ({"horizon": 10**11, "record": "solutions"}, "take 2,980 GiB of memory"),
    ],
)
def test_what_no_machine_can_hold_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        simulate(grid, ucb, **{"horizon": 10, "runs": 1, "seed": 0, **options})


DRIFTING = Problem(sets.TopK(2, 1), environments.Drifting([[0.1, 0.9]], starts=[1]))


def test_a_world_that_drifts_needs_every_round_in_memory() -> None:
    with pytest.raises(errors.BadArgument, match="take 745 GiB of memory, and this process may use 16: ask for fewer"):
        simulate(DRIFTING, ucb, horizon=10**11, runs=1, seed=0)


def test_a_drifting_world_takes_its_rounds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two thousand million rounds are 15 GiB: once they fit, and once for every policy they would not."""
    check_memory(DRIFTING, 3, 2 * 10**9, 1)
    task = Task(DRIFTING, ucb, 50, 0, np.array([50]), "dynamic", "error", frozenset())
    held = task.references()
    assert task._replace(policy=policies.CTS()).references() is held
    assert task._replace(kind="static").references() is not held
    assert list(task.references_in_turn()) == held.tolist()
    monkeypatch.setattr(np, "empty", full)
    with pytest.raises(errors.BadArgument, match="memory left for what regret is measured against in 60 rounds"):
        task._replace(horizon=60).references()


def full(*arguments: Any, **more: Any) -> Any:
    raise MemoryError("Unable to allocate 14.9 GiB")


def test_results_that_do_not_fit_into_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "ones", full)
    with pytest.raises(errors.BadArgument, match="not enough memory left for the results: Unable to allocate"):
        simulate(grid, ucb, horizon=10, runs=2, seed=0)


def test_checkpoints_are_counted_before_they_are_read() -> None:
    with pytest.raises(errors.BadArgument, match="99,999,999,999 checkpoints take 2,235 GiB"):
        simulate(grid, ucb, horizon=10**12, runs=1, seed=0, checkpoints=range(1, 10**11))
    with pytest.raises(errors.BadArgument, match="from at least 1 to at most 10, got 99,999,999,999"):
        simulate(grid, ucb, horizon=10, runs=1, seed=0, checkpoints=range(1, 10**11))


def test_best_solutions_that_change_in_every_round_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Turning(Environment):
        drifts = True
        n_items, bounds = 2, (0.0, 1.0)

        def means(self, round: int) -> Any:  # type: ignore[override]
            return np.array([round % 2, (round + 1) % 2], dtype=np.float64)

    monkeypatch.setattr("semibandits._util.resources.memory", lambda: 2**20)
    monkeypatch.setattr("semibandits._util.resources.ALWAYS", 0)
    monkeypatch.setattr(comparator, "MANY", 1 << 10)
    problem = Problem(sets.TopK(2, 1), Turning())
    with pytest.raises(errors.BadArgument, match=r"the best solutions of [0-9,]+ rounds take more than 0 GiB"):
        comparator.stretches(problem, 10**6, static=False)


def test_what_32_runs_side_by_side_need_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    task = Task(grid, ucb, 50, 0, np.array([50]), "expected", "error", frozenset())
    assert 2**10 < LanesEngine(task).room < 2**20
    monkeypatch.setattr("semibandits.simulation.engines.lanes_engine.memory", lambda: 1000)
    with pytest.raises(NotCompilable, match="32 runs side by side take"):
        LanesEngine(task)


HUGE = 10**12


@pytest.mark.parametrize(
    "make",
    [
        lambda: sets.TopK(HUGE, 3),
        lambda: sets.TopK(10**5000, 3),
        lambda: sets.TopK(2**31 - 1, 3),
        lambda: sets.Oracle(list, n_items=HUGE, max_size=3),
        lambda: sets.Enumerated([[0], [HUGE]]),
        lambda: sets.LaminarMatroid(HUGE, []),
        lambda: sets.GridPaths(10**6),
        lambda: sets.GridPaths(10**5000),
        lambda: sets.KPaths(10**9, 10),
        lambda: sets.Assignment(HUGE, 2),
        lambda: sets.Assignment(10**5, 10**5),
        lambda: sets.Product([sets.TopK(10**6, 2)] * 1000),
        lambda: sets.MILP({"shape": [HUGE, 3], "rows": [0], "columns": [0], "values": [1.0]}, None, [1]),
        lambda: problems.coin_table(sets.TopK(1000, 2), horizon=10**9),
        lambda: problems.coin_table(sets.TopK(1000, 2), horizon=10**5000),
        lambda: problems.changing_phases(10**7, 5, growth=1.001),
        lambda: problems.against(None, sets.TopK(1000, 2), horizon=10**10),  # type: ignore[arg-type]
    ],
)
def test_sets_and_problems_of_absurd_size_are_refused(make: Any) -> None:
    with pytest.raises(errors.BadArgument, match=r"must be at most|of memory, and this process may use 16"):
        make()
