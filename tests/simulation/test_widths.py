"""Few runs of much work are played in fewer lanes: the same numbers, sooner."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, policies, problems, sets, simulate
from semibandits.simulation import schedule
from semibandits.simulation.engines import widths
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.task import Outcome, Task, Tick
from support import pooling
from support.tasks import long, same, task, ucb
from support.worlds import PROBLEMS, Sum, Wobbling

LARGE = problems.grid_path(20, 0.3)
TREES = Problem(
    sets.GraphicMatroid([(a, b) for a in range(30) for b in range(a)]), environments.Bernoulli(np.linspace(0, 1, 435))
)


@pytest.mark.parametrize(
    ("problem", "horizon", "runs", "workers", "expected"),
    [
        (LARGE, 100_000, 1, 2, (1, 1)),
        (LARGE, 100_000, 2, 2, (1, 1)),
        (LARGE, 100_000, 8, 2, (1, 1)),
        (LARGE, 100_000, 8, 1, (32, 32)),  # in lanes, 32 cost no more than 6
        (LARGE, 100_000, 32, 1, (32, 32)),
        (LARGE, 100_000, 33, 1, (32, 1)),
        (LARGE, 100_000, 33, 2, (32, 32)),  # the two blocks are played at the same time
        (LARGE, 100_000, 1000, 2, (32, 32)),
        (LARGE, 10_000, 33, 1, (32, 32)),  # too little to compile twice for
        (LARGE, 2_000, 1, 2, (32, 32)),
        (TREES, 10_000, 1, 2, (1, 1)),
        (TREES, 10_000, 20, 2, (8, 8)),
        (TREES, 10_000, 33, 1, (8, 8)),
        (TREES, 100_000, 33, 1, (8, 1)),
        (TREES, 10_000, 64, 2, (32, 32)),
        (TREES, 300, 1, 2, (32, 32)),
        (PROBLEMS["grid"], 10_000, 1, 2, (32, 32)),
    ],
)
def test_lanes_by_the_sizes_alone(
    problem: Problem, horizon: int, runs: int, workers: int, expected: tuple[int, int]
) -> None:
    assert widths.widths(task(problem, horizon=horizon), runs, workers) == expected


def test_fewer_lanes_are_never_expected_to_take_longer() -> None:
    for problem, costs in ((LARGE, widths.IN_LANES), (TREES, widths.ONE_BY_ONE)):
        one = task(problem, horizon=10**6)
        for workers in (1, 2, 3, 16):
            for runs in (*range(1, 12), 16, 17, 20, 31, 32, 33, 40, 64, 70, 97, 199):
                size, last = widths.widths(one, runs, workers)
                waves, wide = (math.ceil(math.ceil(runs / lanes) / workers) for lanes in (size, 32))
                assert (waves - 1) * costs[size] + costs[last] <= wide * costs[32]
                assert last <= size
                assert last >= (runs % size or size)


Played = list[tuple[int, int, int]]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """(lanes, first run, runs) of each block, which the plain loop plays in the place of machine code."""
    found: Played = []

    def play(engine: LanesEngine, first: int, runs: int, tick: Tick | None = None) -> Outcome:
        assert runs <= engine.lanes
        found.append((engine.lanes, first, runs))
        return schedule.play_with(None, engine._task, first, runs, tick)

    monkeypatch.setattr(LanesEngine, "prepare", lambda engine: None)
    monkeypatch.setattr(LanesEngine, "compile", lambda engine: None)
    monkeypatch.setattr(LanesEngine, "play", play)
    monkeypatch.setattr(widths, "WORTH", 1.0)
    monkeypatch.setattr(widths, "WORTH_ANOTHER", 1.0)
    return found


def short(runs: int, **options: Any) -> Any:
    return simulate(PROBLEMS["grid"], ucb, horizon=20, runs=runs, seed=3, engine="compiled", **options)


def test_lanes_for_an_oracle_that_solves_run_after_run(played: Played) -> None:
    simulate(TREES, ucb, horizon=4, runs=10, seed=3, threads=1, engine="compiled")
    assert played == [(8, 0, 8), (8, 8, 2)]


def test_a_simulation_of_one_run_plays_one_lane(played: Played) -> None:
    result = short(1)
    assert played == [(1, 0, 1)]
    assert result.engine == "compiled"


def test_blocks_of_fewer_lanes(played: Played) -> None:
    expected = simulate(PROBLEMS["grid"], ucb, horizon=20, runs=70, seed=3, engine="plain", threads=1)
    for runs, threads, blocks in (
        (33, 1, [(32, 0, 32), (1, 32, 1)]),
        (33, 2, [(32, 0, 32), (32, 32, 1)]),
        (70, 1, [(32, 0, 32), (32, 32, 32), (32, 64, 6)]),
        (3, 2, [(1, 0, 1), (1, 1, 1), (1, 2, 1)]),
        (7, 1, [(32, 0, 7)]),
    ):
        played.clear()
        result = short(runs, threads=threads)
        assert sorted(played, key=lambda block: block[1]) == blocks
        np.testing.assert_array_equal(result.regret, expected.regret[:, :runs])


def test_policies_share_the_threads(played: Played) -> None:
    for count, expected in ((1, 1), (4, 32)):
        played.clear()
        simulate(PROBLEMS["grid"], [ucb] * count, horizon=20, runs=12, seed=3, threads=4, engine="compiled")
        assert {lanes for lanes, _, _ in played} == {expected}


def test_a_store_plays_only_what_is_missing_in_any_lanes(played: Played, tmp_path: Path) -> None:
    whole = short(40, threads=1)
    short(32, store=tmp_path, threads=1)
    played.clear()
    more = short(33, store=tmp_path, threads=1)
    assert played == [(1, 32, 1)]
    played.clear()
    np.testing.assert_array_equal(short(33, store=tmp_path, threads=1).regret, more.regret)
    assert played == []
    all_of_them = short(40, store=tmp_path, threads=1)
    assert sorted(run for _, first, runs in played for run in range(first, first + runs)) == list(range(32, 40))
    np.testing.assert_array_equal(all_of_them.regret, whole.regret)


def test_an_executor_is_told_the_lanes(played: Played) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        short(33, executor=pool)
    assert played == [(32, 0, 32), (1, 32, 1)]


DRIFTING = Problem(
    sets.Enumerated([[0, 1], [2], [1, 3], [0, 2, 3], [4]]),
    environments.Drifting(np.random.default_rng(3).random((5, 5)), [1, 60, 61, 200, 260], True),
)


@pytest.mark.long
@pytest.mark.parametrize(
    "one",
    [
        task(PROBLEMS["grid"]),
        task(PROBLEMS["crooked graph"], policies.CTS()),  # scores at a glance, drawn again; of several sizes
        task(PROBLEMS["large top-k"], policies.CTS()),
        task(PROBLEMS["small top-k"], policies.SlidingWindow(50)),
        task(PROBLEMS["crooked graph"], policies.SlidingWindow(30), kind="realised"),
        task(PROBLEMS["large top-k"], Wobbling()),
        task(PROBLEMS["enumerated"], Sum()),
        task(PROBLEMS["user's set"]),
        task(PROBLEMS["forests"], policies.CTS()),
        task(PROBLEMS["undirected paths"], policies.KLUCB()),
        task(PROBLEMS["costs"], policies.CTS(), kind="realised", record=frozenset({"sums"})),
        task(PROBLEMS["crooked graph"], policies.PooledCTS(window=30)),
        task(PROBLEMS["forests"], policies.PooledCTS(discount=0.9), kind="realised"),
        task(PROBLEMS["costs"], pooling.PooledUCB()),
        task(PROBLEMS["enumerated"], pooling.Leaning()),
        task(DRIFTING, policies.CTS(), kind="dynamic"),
        task(DRIFTING, policies.PooledCTS(discount=0.9), kind="dynamic"),
        task(DRIFTING, policies.SlidingWindow(20), kind="dynamic", record=frozenset({"counts"})),
    ],
    ids=lambda one: f"{one.problem.feasible!r:.20}-{one.policy!r:.20}",
)
def test_any_number_of_lanes_gives_the_same_numbers(one: Task) -> None:
    one = one._replace(horizon=400, checkpoints=np.array([1, 7, 100, 400]))
    wide = LanesEngine(one).play(0, 9)
    assert wide is not None
    same(wide, schedule.play_with(None, one, 0, 9))
    for lanes in (1, 8):
        engine = LanesEngine(one, lanes=lanes)
        engine.prepare()  # compares with the plain loop
        for first, runs in ((0, 1), (3, min(lanes, 6)), (8, 1)):
            narrow = engine.play(first, runs)
            assert narrow is not None
            same(narrow, Outcome.of({name: array[first : first + runs] for name, array in wide.arrays().items()}))


@pytest.mark.parametrize("runs", [long(1), long(5), long(33)])
def test_simulations_in_fewer_lanes(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"horizon": 300, "seed": 3, "engine": "compiled", "record": "counts", "threads": 1}
    for name, policy in (("grid", policies.CTS()), ("user's set", ucb)):
        wide = simulate(PROBLEMS[name], policy, runs=runs, **options)
        with monkeypatch.context() as patch:
            patch.setattr(widths, "WORTH", 1.0)
            patch.setattr(widths, "WORTH_ANOTHER", 1.0)
            narrow = simulate(PROBLEMS[name], policy, runs=runs, **options)
        assert narrow.engine == wide.engine == "compiled"
        np.testing.assert_array_equal(narrow.regret, wide.regret)
        np.testing.assert_array_equal(narrow.counts, wide.counts)  # type: ignore[arg-type]
