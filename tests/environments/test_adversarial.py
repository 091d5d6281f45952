"""Tables of losses, read as they are; the sequences that are hard, and for whom."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, Problem, environments, errors, policies, problems, rng, sets
from semibandits.simulation import simulate
from semibandits.testing import check_environment

LOSSES = np.random.default_rng(4).random((40, 3))
world = environments.Adversarial(LOSSES)


def table_of(problem: Problem) -> Any:
    assert isinstance(problem.environment, environments.Adversarial)
    return problem.environment.losses


def test_every_round_is_its_row() -> None:
    numbers = np.arange(3)
    for round in range(1, 41):
        row = LOSSES[round - 1]
        np.testing.assert_array_equal(world.means(round), row)
        for key in (0, rng.key(1, 2, round, rng.WORLD)):
            np.testing.assert_array_equal(world.weights(round, key), row)
            np.testing.assert_array_equal(world.weights(round, key, np.array([2, 0])), row[[2, 0]])
            np.testing.assert_array_equal(world.draw(round, key, numbers, world.tables), row)
        np.testing.assert_array_equal(world.mean(round, numbers, world.tables), row)
        np.testing.assert_allclose(world.average(round), LOSSES[:round].sum(axis=0) / round, rtol=1e-14)
        still = world.at(round)
        np.testing.assert_array_equal(still.means, row)
        np.testing.assert_array_equal(still.weights(5, rng.key(0, 0, 5, rng.WORLD)), row)
        assert still.last_round is None
    np.testing.assert_array_equal(world.mean(np.arange(1, 41)[:, None], numbers, world.tables), LOSSES)
    assert (world.n_items, world.last_round, world.bounds) == (3, 40, (0.0, 1.0))
    assert world.drifts
    assert world.hindsight
    assert repr(world) == "Adversarial(40 rounds, 3 items)"


@pytest.mark.parametrize("ask", [world.means, world.at, world.average, lambda round: world.weights(round, 7)])
def test_after_the_last_row_there_is_no_more(ask: Callable[[Any], object]) -> None:
    for round in (41, 10**9, np.int64(2**62)):
        with pytest.raises(errors.EndOfTable, match=rf"round {round} .* rounds 1 to 40"):
            ask(round)
    for wrong in (0, -1, True, 1.5, "1"):
        with pytest.raises(errors.BadArgument, match=r"integer >= 1, got"):
            ask(wrong)


@pytest.mark.parametrize(
    ("losses", "bounds", "says"),
    [
        ([[0.5], [1.5]], (0, 1), r"from 0\.0 to 1\.0, got 1\.5 in row 1 for item 0"),
        ([[0.5, math.nan]], (0, 1), "got nan in row 0 for item 1"),
        ([[0.5, 0.5], [0.5, -math.inf]], (0, 1), "got -inf in row 1 for item 1"),
        ([[2, 0]], (1, 3), r"from 1\.0 to 3\.0, got 0.0 in row 0 for item 1"),
        ([0.5, 0.5], (0, 1), r"matrix .* shape \(2,\)"),
        ([[]], (0, 1), r"matrix .* shape \(1, 0\)"),
        ([], (0, 1), r"matrix .* shape \(0,\)"),
        (np.zeros((2, 2, 2)), (0, 1), r"matrix .* shape \(2, 2, 2\)"),
        ([["0.5"]], (0, 1), "matrix of numbers"),
        ([[0.5j]], (0, 1), "matrix of numbers"),
        ([[True]], (0, 1), "matrix of numbers"),
        ([[0.5], [0.5, 0.5]], (0, 1), "matrix of numbers"),
        ([[0.5]], (1, 0), "lo < hi"),
    ],
)
def test_bad_tables(losses: Any, bounds: Any, says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        environments.Adversarial(losses, bounds)


def test_a_table_cannot_be_changed_later() -> None:
    losses = np.array([[0.0, 1.0], [1.0, 0.0]])
    own = environments.Adversarial(losses)
    losses[:] = 0.5
    assert own.means(1).tolist() == [0.0, 1.0]
    for array in (own.losses, own.means(1), own.weights(1, 0), *own.tables):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.5


def test_the_shipped_checks_accept_tables() -> None:
    check_environment(world)
    check_environment(environments.Adversarial([[3.0, -2.0]], bounds=(-2, 3)))


@pytest.mark.long
@pytest.mark.parametrize("sense", ["min", "max"])
def test_regret_is_that_against_the_best_in_hindsight(sense: Any) -> None:
    """Machine code and the plain loop, against sums over the table."""
    losses = np.random.default_rng(8).random((300, 5)) * [1.0, 0.8, 1.0, 0.9, 0.7]
    problem = Problem(sets.TopK(5, 2), environments.Adversarial(losses), sense)
    asked: dict[str, Any] = {"horizon": 200, "runs": 3, "seed": 1, "regret": "static", "checkpoints": [50, 200]}
    players = [policies.CombUCB1(), policies.OSMD()]
    fast, slow = (
        simulate(problem, players, **asked, record="solutions", engine=engine) for engine in ("compiled", "plain")
    )
    np.testing.assert_array_equal(fast.regret, slow.regret)
    sign = 1.0 if sense == "min" else -1.0
    best = np.argsort(sign * losses[:200].sum(axis=0))[:2]
    assert fast.solutions is not None
    for player, run in itertools.product(range(2), range(3)):
        paid = np.take_along_axis(losses[:200], fast.solutions[player, run].astype(np.int64), axis=1).sum(axis=1)
        regrets = sign * np.cumsum(paid - losses[:200, best].sum(axis=1))
        np.testing.assert_allclose(fast.regret[player, run], regrets[[49, 199]], rtol=1e-12)
    with pytest.raises(errors.EndOfTable, match="horizon 301"):
        simulate(problem, policies.CombUCB1(), horizon=301, runs=1, seed=1, regret="static")


@pytest.mark.parametrize(
    ("policy", "feasible"),
    [
        (policies.CombUCB1(), sets.TopK(6, 2)),
        (policies.CombUCB1(init="all"), sets.Enumerated([[0, 1], [2, 3, 4], [5]])),
        (policies.KLUCB(), sets.TopK(6, 2)),
    ],
    ids=repr,
)
def test_a_policy_without_chance_always_falls_into_its_trap(policy: Any, feasible: Any) -> None:
    horizon = 400
    learner = Learner(feasible, policy, sense="min", seed=3)
    problem = problems.against(learner, feasible, horizon)
    result = simulate(
        problem, policy, horizon=horizon, runs=2, seed=99, regret="static", record="solutions", engine="plain"
    )
    assert result.solutions is not None
    losses = table_of(problem)
    assert set(np.unique(losses)) == {0.0, 1.0}
    for row, items in zip(losses, result.solutions[0, 1], strict=True):
        assert np.flatnonzero(row).tolist() == [item for item in items.tolist() if item >= 0]
    best = min(losses[:, one].sum() for one in feasible.listed(100))
    assert result.regret[0, :, -1] == pytest.approx(losses.sum() - best, rel=1e-12)
    if isinstance(feasible, sets.TopK):
        assert best <= 2 / 6 * losses.sum()


def test_rewards_against_a_learner() -> None:
    feasible = sets.TopK(4, 1)
    problem = problems.against(Learner(feasible, policies.CombUCB1(), seed=0), feasible, 50, sense="max")
    losses = table_of(problem)
    assert (losses.sum(axis=1) == 3.0).all()
    assert problem.sense == "max"
    result = simulate(problem, policies.CombUCB1(), horizon=50, runs=1, seed=0, engine="plain")
    assert result.kind == "static"
    assert result.regret[0, 0, -1] == losses.sum(axis=0).max()


def test_phases_that_grow() -> None:
    problem = problems.changing_phases(n_items=7, k=3, gap=0.25, growth=2.0)
    drifting: Any = problem.environment
    assert problem.sense == "min"
    assert drifting.starts[:5].tolist() == [1, 3, 7, 15, 31]
    good, bad = [0] * 3, [0.25] * 4
    for round, means in ((1, [0.75] * 3 + [1.0] * 4), (3, good + bad), (6, good + bad), (7, [0.75] * 3 + [1.0] * 4)):
        np.testing.assert_array_equal(drifting.means(round), means)
    for round in (1, 2, 3, 30, 31, 10**9):
        assert problem.at(round).optimum.tolist() == [0, 1, 2]
        assert problem.at(round).gap([0, 1, 5]) == pytest.approx(0.25)
    check_environment(drifting)
    lengths = np.diff(problems.changing_phases().environment.starts)  # type: ignore[attr-defined]
    assert lengths[:6].tolist() == [2, 3, 5, 7, 11, 17]
    assert lengths[-1] / lengths[-2] == pytest.approx(1.6)
    slow: Any = problems.changing_phases(growth=1.001).environment
    assert slow.starts.size == 4096


def test_phases_that_grow_mislead_who_averages() -> None:
    """Regret is nearly linear: four times the rounds, and more than three times of it."""
    result = simulate(
        problems.changing_phases(), policies.CombUCB1(), horizon=20_000, runs=64, seed=2, checkpoints=[5000]
    )
    early, late = result.regret[0].mean(axis=0)
    assert late > 3.0 * early
    assert late > 20_000 / 32  # of at most 5/16 a round


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(0, 2**64 - 1), st.sampled_from([0.0, 0.1, 0.5, None]))
def test_coins_are_those_of_their_seed(horizon: int, seed: int, gap: float | None) -> None:
    feasible = sets.TopK(5, 2)
    losses = table_of(problems.coin_table(feasible, horizon, gap, seed))
    np.testing.assert_array_equal(losses, table_of(problems.coin_table(feasible, horizon, gap, seed)))
    longer = table_of(problems.coin_table(feasible, 60, 0.1 if gap is None else gap, seed))
    if gap is not None:
        np.testing.assert_array_equal(losses, longer[:horizon])
    for round in (1, horizon):
        key = rng.key(seed, 0, round, rng.WORLD)
        fair = [rng.uniform(key, item) < 0.5 for item in range(5)]
        assert (losses[round - 1] <= fair).all()  # the same numbers, and the favoured ones come up less often
    if gap == 0.5:
        assert sorted(losses.any(axis=0).tolist())[:2] == [False, False]


@pytest.mark.parametrize("sense", ["min", "max"])
def test_coins_have_their_chances(sense: Any) -> None:
    n, feasible = 400, sets.KPaths(8, 2)
    extreme = table_of(problems.coin_table(feasible, n, 0.5, seed=5, sense=sense)).mean(axis=0)
    favoured = extreme == (1.0 if sense == "max" else 0.0)
    assert feasible.contains(np.flatnonzero(favoured))
    u = rng.uniform(rng.keys(5, 0, 1, n, rng.WORLD)[:, None], np.arange(8))
    for gap, expected in ((None, 0.25 * math.sqrt(8 / (2 * n))), (0.0, 0.0), (0.2, 0.2)):
        losses = table_of(problems.coin_table(feasible, n, gap, seed=5, sense=sense))
        chances = np.where(favoured, 0.5 + expected * (1.0 if sense == "max" else -1.0), 0.5)
        np.testing.assert_array_equal(losses, u < chances)
    seeds = {table_of(problems.coin_table(feasible, 30, 0.5, seed)).sum(axis=0).argmin() for seed in range(20)}
    assert len(seeds) == 4  # of each path the first item


def test_coins_on_a_set_that_takes_only_costs() -> None:
    paths = sets.Paths([("a", "b"), ("b", "c"), ("a", "c"), ("c", "b")], "a", "c")
    assert not paths.signed
    assert table_of(problems.coin_table(paths, 20)).shape == (20, 4)
    with pytest.raises(errors.SemiBanditError):
        problems.coin_table(paths, 20, sense="max")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: problems.changing_phases(gap=0.0), "gap must be .* got 0.0"),
        (lambda: problems.changing_phases(gap=0.6), "gap must be .* got 0.6"),
        (lambda: problems.changing_phases(gap=math.nan), "gap must be .* got nan"),
        (lambda: problems.changing_phases(growth=1.0), "growth must be .* got 1.0"),
        (lambda: problems.changing_phases(growth=math.inf), "growth must be .* got inf"),
        (lambda: problems.changing_phases(k=11), "11"),
        (lambda: problems.coin_table(sets.TopK(3, 1), 0), "horizon must be .* got 0"),
        (lambda: problems.coin_table(sets.TopK(3, 1), 5, gap=0.7), "gap must be .* got 0.7"),
        (lambda: problems.coin_table(sets.TopK(3, 1), 5, sense="low"), "'low'"),  # type: ignore[arg-type]
        (lambda: problems.coin_table(sets.TopK(3, 1), 5, seed=-1), "seed"),
        (lambda: problems.against(None, sets.TopK(3, 1), 0), "horizon must be .* got 0"),  # type: ignore[arg-type]
    ],
)
def test_bad_parameters(build: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        build()
