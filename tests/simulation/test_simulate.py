"""Simulation: what it measures, that it is repeatable, and that it is the learner's own behaviour."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from scipy import stats

from semibandits import Learner, Problem, environments, errors, policies, problems, rng, sets, simulate
from semibandits.simulation import schedule
from semibandits.types import IndexPolicy
from support.reference import PaperCombUCB1, paths, value
from support.tasks import EVERYTHING

grid = problems.grid_path(2, 0.4)
ucb = policies.CombUCB1()


def test_shapes_and_checkpoints() -> None:
    result = simulate(grid, [ucb, policies.CombUCB1(alpha=0.5)], horizon=700, runs=3, seed=1)
    assert result.regret.shape == (2, 3, result.rounds.size)
    assert result.regret.dtype == np.float64
    assert result.rounds.dtype == np.int64
    assert result.rounds[0] == 1
    assert result.rounds[-1] == 700
    assert (np.diff(result.regret, axis=2) >= -1e-12).all()
    assert result.policies == ("CombUCB1(alpha=1.5, init='paper')", "CombUCB1(alpha=0.5, init='paper')")
    assert result.engine == "compiled"
    assert "2 policies x 3 runs of 700 rounds" in repr(result)
    assert 100 <= result.rounds.size <= 250
    assert result.rounds[:20].tolist() == list(range(1, 21))
    picked = simulate(grid, ucb, horizon=700, runs=3, seed=1, checkpoints=[10, 600])
    assert picked.rounds.tolist() == [10, 600, 700]
    np.testing.assert_array_equal(picked.regret[0, :, -1], result.regret[0, :, -1])


def test_fewer_runs_and_shorter_horizons_are_prefixes() -> None:
    rounds = [1, 50, 200, 500]
    whole = simulate(grid, ucb, horizon=500, runs=4, seed=3, checkpoints=rounds)
    part = simulate(grid, ucb, horizon=200, runs=2, seed=3, checkpoints=rounds[:3])
    np.testing.assert_array_equal(part.regret, whole.regret[:, :2, :3])
    assert len({tuple(run) for run in whole.regret[0]}) == 4  # runs differ
    other = simulate(grid, ucb, horizon=500, runs=1, seed=4, checkpoints=rounds)
    assert not np.array_equal(other.regret[0, 0], whole.regret[0, 0])


def test_order_company_and_workers_change_nothing() -> None:
    bold = policies.CombUCB1(alpha=0.2)
    options = {"horizon": 300, "runs": 3, "seed": 5, "checkpoints": [100, 300]}
    alone = simulate(grid, bold, **options)  # type: ignore[arg-type]
    together = simulate(grid, [ucb, bold], **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(together.regret[1], alone.regret[0])
    threaded = simulate(grid, [ucb, bold], threads=2, **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(threaded.regret, together.regret)
    with ThreadPoolExecutor(2) as pool:
        np.testing.assert_array_equal(
            simulate(grid, [ucb, bold], executor=pool, **options).regret,  # type: ignore[arg-type]
            together.regret,
        )
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        spread = simulate(grid, [ucb, bold], executor=processes, **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(spread.regret, together.regret)


@pytest.mark.parametrize(
    "problem",
    [
        grid,
        problems.k_path(6, 2, 0.5),
        Problem(sets.TopK(6, 2), environments.Beta(np.arange(1.0, 7.0), 2.0)),
        Problem(sets.TopK(5, 2), environments.Uniform(np.ones(5), np.arange(2.0, 7.0)), sense="min"),
        Problem(sets.Enumerated([[0, 1], [2], [0, 2]]), environments.Table(np.random.default_rng(0).random((9, 3)))),
        Problem(sets.TopK(3, 1), environments.Custom(lambda g: g.random(3), [0.5] * 3)),
        Problem(sets.TopK(20_000, 3), environments.Bernoulli(np.linspace(0, 1, 20_000))),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["expected", "realised"])
def test_a_learner_with_the_same_seed_is_run_0(problem: Problem, kind: str) -> None:
    rounds = np.arange(1, 101)
    result = simulate(problem, ucb, horizon=100, runs=1, seed=11, checkpoints=rounds, regret=kind)  # type: ignore[arg-type]
    learner = Learner(problem.feasible, ucb, sense=problem.sense, bounds=problem.bounds, seed=11)
    regret, curve = 0.0, []
    for t in rounds.tolist():
        decision = learner.ask()
        weights = problem.environment.weights(t, rng.key(11, 0, t, rng.WORLD))
        learner.tell(decision.id, weights[decision.items])
        if kind == "expected":
            regret += problem.gap(decision.items)
        else:
            more = weights[problem.optimum].sum() - weights[decision.items].sum()
            regret += more if problem.sense == "max" else -more
        curve.append(regret)
    np.testing.assert_allclose(result.regret[0, 0], curve, rtol=0, atol=1e-9)


def test_horizon_inside_init_truncates_it() -> None:
    problem = Problem(sets.TopK(10, 1), environments.Bernoulli(np.linspace(0.0, 0.9, 10)))
    result = simulate(problem, ucb, horizon=4, runs=1, seed=0, checkpoints=[1, 2, 3, 4])
    np.testing.assert_allclose(result.regret[0, 0], [0.9, 1.7, 2.4, 3.0])  # items 0, 1, 2, 3 in turn


def test_regret_agrees_with_an_independent_simulation() -> None:
    """The pseudocode with NumPy's own random numbers, 60 runs each: within 4 standard errors."""
    solutions = paths(grid.feasible.edges, (0, 0), (2, 2))  # type: ignore[attr-defined]
    means = grid.means.tolist()
    best = max(value(one, means) for one in solutions)
    generator = np.random.default_rng(7)
    theirs = []
    for _ in range(60):
        paper = PaperCombUCB1(solutions, grid.n_items)
        regret = 0.0
        for _ in range(400):
            chosen = paper.choose()
            weights = (generator.random(grid.n_items) < grid.means).astype(float)
            paper.update(chosen, lambda e, weights=weights: float(weights[e]))  # type: ignore[misc]
            regret += best - value(chosen, means)
        theirs.append(regret)
    ours = simulate(grid, ucb, horizon=400, runs=60, seed=0, checkpoints=[400]).regret[0, :, 0]
    error = np.sqrt(np.var(theirs, ddof=1) / 60 + np.var(ours, ddof=1) / 60)
    assert abs(ours.mean() - np.mean(theirs)) <= 4.0 * error


def test_realised_and_expected_regret_agree_on_average() -> None:
    kinds = [
        simulate(grid, ucb, horizon=300, runs=80, seed=2, checkpoints=[300], regret=kind).regret[0, :, 0]
        for kind in ("expected", "realised")
    ]
    difference = kinds[1] - kinds[0]  # the same runs: a martingale
    assert abs(difference.mean()) <= 4.0 * difference.std(ddof=1) / np.sqrt(80)
    assert difference.std() > 1.0


def test_summary_is_student() -> None:
    result = simulate(grid, ucb, horizon=100, runs=10, seed=0, checkpoints=[50, 100])
    row = result.summary(confidence=0.9)[0]
    sample = result.regret[0, :, -1]
    expected = stats.t.interval(0.9, 9, loc=sample.mean(), scale=stats.sem(sample))
    assert (row.low, row.high) == pytest.approx(expected)
    assert row.error == pytest.approx(stats.sem(sample))
    assert (row.runs, row.round, row.policy) == (10, 100, result.policies[0])
    assert result.summary(round=50)[0].mean == pytest.approx(result.regret[0, :, 0].mean())
    assert "CombUCB1" in str(result.summary())
    single = simulate(grid, ucb, horizon=10, runs=1, seed=0).summary()[0]
    assert np.isnan([single.error, single.low, single.high]).all()
    with pytest.raises(errors.BadArgument, match="round 51 is not a checkpoint"):
        result.summary(round=51)
    with pytest.raises(errors.BadArgument, match="confidence"):
        result.summary(confidence=1.0)


def test_dead_ends_are_named_or_ignored() -> None:
    problem = Problem(sets.Enumerated([[0], [2]], n_items=3), environments.Bernoulli([0.1, 0.5, 0.9]))
    with pytest.raises(errors.UncoveredItems, match="item 1"):
        simulate(problem, ucb, horizon=20, runs=1, seed=0)
    assert simulate(problem, ucb, horizon=20, runs=1, seed=0, uncovered="ignore").regret[0, 0, -1] > 0.0


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    simulate(grid, ucb, horizon=20, runs=2, seed=0)
    assert capsys.readouterr() == ("", "")


def test_progress_is_drawn_on_a_terminal() -> None:
    code = (
        "import semibandits as sb\n"
        "sb.simulate(sb.problems.grid_path(2, 0.4), sb.policies.CombUCB1(), horizon=4000, runs=9, seed=0)"
    )
    terminal, stderr = pty.openpty()
    env = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=stderr) as process:
        os.close(stderr)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal is gone when the process has ended
            while piece := os.read(terminal, 4096):
                shown += piece
        os.close(terminal)
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert b"compiling" in shown
    assert b"simulating" in shown
    assert b"100%" in shown
    assert b"rounds/s" in shown


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"horizon": 0}, "horizon must be an integer >= 1, got 0"),
        ({"horizon": 1e5 + 0.5}, "got 100000.5"),
        ({"runs": 0}, "runs must be an integer >= 1, got 0"),
        ({"runs": True}, "got True"),
        ({"seed": -1}, "got -1"),
        ({"seed": 2**64}, "got 18446744073709551616"),
        ({"threads": 0}, "threads"),
        ({"checkpoints": [5, 3]}, "ascend"),
        ({"checkpoints": [0, 3]}, "at least 1"),
        ({"checkpoints": [3, 99]}, "at most 10"),
        ({"checkpoints": []}, "list of rounds"),
        ({"checkpoints": [0.5]}, "list of rounds"),
        ({"regret": "total"}, "'total'"),
        ({"feedback": "full"}, "'full'"),
        ({"policies": []}, "one or more policies"),
        ({"policies": ["CombUCB1", "UCB"]}, "no policy is called 'UCB'"),
        ({"policies": 5}, "an IndexPolicy or a Policy, or the name of one, got 5"),
        ({"executor": 4}, "executor"),
        ({"record": "regrets"}, "record must be 'counts' or 'sums' or 'solutions', got 'regrets'"),
        ({"record": 5}, "record"),
        ({"engine": "fast"}, "engine must be 'auto' or 'compiled' or 'plain', got 'fast'"),
        ({"problem": sets.TopK(3, 1)}, "Problem"),
    ],
)
def test_bad_input(options: dict[str, object], says: str) -> None:
    defaults: dict[str, object] = {"problem": grid, "policies": ucb, "horizon": 10, "runs": 1, "seed": 0}
    with pytest.raises(errors.BadArgument, match=says):
        simulate(**{**defaults, **options})  # type: ignore[arg-type]


def test_threads_or_executor() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(errors.BadArgument, match="not both"):
        simulate(grid, ucb, horizon=10, runs=1, seed=0, threads=2, executor=pool)


class Stumbling:
    """A solver that fails in its n-th call."""

    def __init__(self, last: int) -> None:
        self.left = last

    def __call__(self, weights: np.ndarray) -> list[int]:
        self.left -= 1
        if self.left < 0:
            raise ZeroDivisionError("the solver has a bug")
        return [int(weights.argmax())]


def test_errors_name_run_and_round(monkeypatch: pytest.MonkeyPatch) -> None:
    coins = environments.Bernoulli([0.2, 0.5, 0.9])
    problem = Problem(sets.Oracle(Stumbling(9 + 100 + 57), 3, 1), coins)  # nine calls for the optimum
    with pytest.raises(errors.OracleFailed, match=r"run 1, round 58: the solver raised ZeroDivisionError") as caught:
        simulate(problem, ucb, horizon=100, runs=3, seed=0, threads=1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    monkeypatch.setattr(schedule, "FEW_SECONDS", 0.0)
    problem = Problem(sets.Oracle(Stumbling(9 + 2 + 57), 3, 1), coins)  # two more to see how long it takes
    with pytest.raises(errors.OracleFailed, match=r"run \d, round 58: .*ZeroDivisionError"):
        simulate(problem, ucb, horizon=100, runs=3, seed=0, threads=2)


def test_plain_work_is_spread_over_processes_where_it_can_be_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    coins = environments.Bernoulli([0.2, 0.5, 0.9])
    lock = threading.Lock()

    def locked(weights: np.ndarray) -> list[int]:
        with lock:
            return [int(weights.argmax())]

    free = Problem(sets.Oracle(lambda weights: [int(weights.argmax())], 3, 1), coins)
    options: dict[str, object] = {"horizon": 100, "runs": 4, "seed": 0, "threads": 2, "record": EVERYTHING}
    here = simulate(free, ucb, **options)  # type: ignore[arg-type]
    assert here.engine.endswith("in one process")
    monkeypatch.setattr(schedule, "FEW_SECONDS", 0.0)
    spread = simulate(free, ucb, **options)  # type: ignore[arg-type]
    assert spread.engine.endswith("in 2 processes")
    stuck = simulate(Problem(sets.Oracle(locked, 3, 1), coins), ucb, **options)  # type: ignore[arg-type]
    assert "in one process, since it cannot be pickled (TypeError: cannot pickle '_thread.lock'" in stuck.engine
    for other in (spread, stuck):
        for name in ("regret", "counts", "sums", "solutions"):
            np.testing.assert_array_equal(getattr(other, name), getattr(here, name))


def test_executors_play_machine_code_too() -> None:
    options: dict[str, object] = {"horizon": 300, "runs": 40, "seed": 2, "record": "solutions"}
    here = simulate(grid, ucb, **options)  # type: ignore[arg-type]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = simulate(grid, ucb, executor=pool, **options)  # type: ignore[arg-type]
    assert here.engine == there.engine == "compiled"
    for result in (here, there):
        (seconds,) = result.provenance["seconds_per_round"]
        assert seconds > 0.0
    np.testing.assert_array_equal(there.regret, here.regret)
    np.testing.assert_array_equal(there.solutions, here.solutions)  # type: ignore[arg-type]


def test_threads_change_nothing() -> None:
    options: dict[str, object] = {"horizon": 400, "runs": 70, "seed": 2, "record": "counts"}
    one = simulate(grid, ucb, threads=1, **options)  # type: ignore[arg-type]
    for threads in (2, 5):
        more = simulate(grid, ucb, threads=threads, **options)  # type: ignore[arg-type]
        np.testing.assert_array_equal(more.regret, one.regret)
        np.testing.assert_array_equal(more.counts, one.counts)  # type: ignore[arg-type]


def test_records_agree_with_each_other() -> None:
    result = simulate(grid, ucb, horizon=1500, runs=2, seed=0, record=("counts", "solutions"), checkpoints=[1500])
    assert result.counts is not None
    assert result.solutions is not None
    assert result.solutions.shape == (1, 2, 1500, 4)
    for run in range(2):
        counted = np.bincount(result.solutions[0, run].ravel(), minlength=grid.n_items)
        np.testing.assert_array_equal(counted, result.counts[0, run])
        gaps = [grid.gap(items) for items in result.solutions[0, run]]
        assert sum(gaps) == pytest.approx(result.regret[0, run, -1])
    assert simulate(grid, ucb, horizon=10, runs=1, seed=0).counts is None


def test_provenance() -> None:
    result = simulate(grid, ucb, horizon=10, runs=1, seed=0)
    said = result.provenance
    assert said["parameters"] == [{"policy": "CombUCB1", "alpha": 1.5, "init": "paper"}]
    assert (said["n_items"], said["max_size"], said["bounds"], said["sense"]) == (12, 4, [0.0, 1.0], "max")
    assert said["versions"]["numpy"] == np.__version__
    router = sets.Oracle(lambda weights: [int(weights.argmax())], 3, 1, signed=False)
    costs = Problem(router, environments.Bernoulli([0.1, 0.2, 0.3]), sense="min")
    assert simulate(costs, ucb, horizon=10, runs=1, seed=0).provenance["parameters"][0]["init"] == "optimistic"


def test_the_end_of_a_table_is_seen_at_once() -> None:
    problem = Problem(sets.TopK(3, 1), environments.Table(np.full((50, 3), 0.5), order="recorded"))
    assert simulate(problem, ucb, horizon=50, runs=1, seed=0).rounds[-1] == 50
    with pytest.raises(errors.EndOfTable, match=r"horizon 51 .* ends with round 50"):
        simulate(problem, ucb, horizon=51, runs=1, seed=0)


ENDLESS = """
import signal, sys, threading, time
import semibandits as sb
signal.signal(signal.SIGINT, signal.default_int_handler)
problem = sb.problems.grid_path(3, 0.3)
if sys.argv[1] == "plain":
    grid = problem.feasible
    slow = lambda weights: time.sleep(0.001) or grid.argmax(weights)
    problem = sb.Problem(sb.sets.Oracle(slow, grid.n_items, grid.max_size), problem.environment)
print("begin", flush=True)
try:
    sb.simulate(problem, sb.policies.CombUCB1(), horizon=10**9, runs=64, seed=0, checkpoints=[10**9], threads=2)
except KeyboardInterrupt:
    print("stopped", threading.active_count(), flush=True)
"""


@pytest.mark.parametrize("kind", ["compiled", "plain"])
def test_ctrl_c_stops_everything(kind: str) -> None:
    command = [sys.executable, "-c", ENDLESS, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        time.sleep(4.0)  # in the middle of it, or of compiling: it must not matter
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=20)
    assert said == "stopped 1\n"
    with pytest.raises(ProcessLookupError):  # nobody is left of the session
        os.killpg(process.pid, 0)


class Plain(policies.CombUCB1):
    """Prints itself as its class does, without its parameter."""

    def __init__(self, bonus: float) -> None:
        super().__init__()
        object.__setattr__(self, "_bonus", bonus)

    __repr__ = IndexPolicy.__repr__


def test_policies_that_print_alike_are_numbered() -> None:
    result = simulate(grid, [Plain(0.1), ucb, Plain(0.2)], horizon=10, runs=1, seed=0)
    assert result.policies == (
        "Plain(alpha=1.5, init='paper')",
        "CombUCB1(alpha=1.5, init='paper')",
        "Plain(alpha=1.5, init='paper') #2",
    )
    assert result.compare(ucb, 0).a == result.policies[1]
    with pytest.raises(errors.BadArgument, match="not the class"):
        simulate(grid, policies.CombUCB1, horizon=10, runs=1, seed=0)  # type: ignore[arg-type]


class Branching(environments.Independent):
    def __init__(self) -> None:
        super().__init__(np.array([0.5, 0.5]), (0.0, 1.0), ())

    @staticmethod
    def quantile(u: object, item: object, tables: object) -> object:
        return 1.0 if np.max(u) < 0.5 else 0.0  # type: ignore[call-overload]


def test_a_draw_that_does_not_work_on_arrays() -> None:
    with pytest.raises(errors.BadWeights, match=r"draw\(\) must work on arrays of items"):
        simulate(Problem(sets.TopK(2, 1), Branching()), ucb, horizon=10, runs=1, seed=0)
