"""Regret in worlds that drift: against brute force, one call of the oracle per round, and in every engine."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, SimulationResult, environments, errors, policies, problems, sets, simulate, theory
from semibandits.simulation import comparator
from semibandits.simulation.engines import plain as loop
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.types import Arrays, Environment, Scalar, Weights, total
from support.tasks import chosen, learned, long, same, task, ucb

SOLUTIONS = [[0, 1], [2], [1, 3], [0, 2, 3], [4]]
STARTS = [1, 60, 61, 200, 260]


def world(seed: int, smooth: bool, n_items: int = 5, starts: list[int] = STARTS) -> environments.Drifting:
    rows = np.random.default_rng(seed).random((len(starts), n_items))
    return environments.Drifting(rows, starts, smooth)


def means_of_all_rounds(drifting: environments.Drifting, horizon: int) -> Weights:
    """Without the environment's own functions."""
    rounds = np.arange(1, horizon + 1)
    if drifting.smooth:
        return np.stack([np.interp(rounds, drifting.starts, column) for column in drifting.rows.T], axis=1)
    return drifting.rows[(rounds[:, None] >= drifting.starts).sum(axis=1) - 1]  # type: ignore[no-any-return]


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("horizon", [100, 330])
def test_both_kinds_against_brute_force(smooth: bool, sense: Any, horizon: int) -> None:
    drifting = world(3, smooth)
    problem = Problem(sets.Enumerated(SOLUTIONS), drifting, sense)
    options: dict[str, Any] = {"horizon": horizon, "runs": 2, "seed": 1, "record": "solutions", "engine": "plain"}
    played = {kind: simulate(problem, ucb, regret=kind, **options) for kind in ("dynamic", "static", "expected")}
    means = means_of_all_rounds(drifting, horizon)
    values = np.stack([means[:, items].sum(axis=1) for items in SOLUTIONS], axis=1)
    values = values if sense == "max" else -values
    static = values[:, values.sum(axis=0).argmax()]
    assert horizon < 330 or (static < values.max(axis=1)).any()
    for kind, best in (("dynamic", values.max(axis=1)), ("static", static), ("expected", values.max(axis=1))):
        result = played[kind]
        assert result.kind == ("dynamic" if kind == "expected" else kind)
        assert result.solutions is not None
        for run in range(2):
            which = [SOLUTIONS.index([item for item in row if item >= 0]) for row in result.solutions[0, run].tolist()]
            regret = np.cumsum(best - values[np.arange(horizon), which])
            np.testing.assert_allclose(result.regret[0, run], regret[result.rounds - 1], rtol=0.0, atol=1e-11)


FAMILIES = {
    "top-k": sets.TopK(8, 3),
    "paths": sets.GridPaths(3),
    "pairs": sets.Assignment(4, 4),
    "listed": sets.Enumerated([[0, 1, 2], [3, 4], [5], [0, 5], [2, 4], []]),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("sense", ["max", "min"])
def test_the_envelope_is_what_the_oracle_says_round_by_round(family: str, sense: Any) -> None:
    feasible = FAMILIES[family]
    starts = [1, 2, 4, 90, 700]
    for seed, rounded in itertools.product(range(4), (False, True)):
        rows = np.random.default_rng(seed).random((5, feasible.n_items))
        rows = rows.round(1) if rounded else rows  # with ties
        drifting = environments.Drifting(rows, starts, smooth=True)
        problem = Problem(feasible, drifting, sense)
        for horizon in (1, 3, 50, 89, 800):
            found = comparator.reference(problem, horizon, static=False)
            every = means_of_all_rounds(drifting, horizon)
            wanted = [total(row, feasible.argmax(row if sense == "max" else -row)) for row in every]
            np.testing.assert_allclose(found, wanted, rtol=0.0, atol=2e-12)
            parts = comparator.stretches(problem, horizon, static=False)
            assert [part.first for part in parts] == [1, *(part.last + 1 for part in parts[:-1])]
            assert parts[-1].last == horizon
            for part in parts:  # to the last bit what the loop adds up
                assert found[part.last - 1] == total(drifting.means(part.last), part.items)


def test_the_oracle_is_asked_where_lines_cross_and_not_in_every_round() -> None:
    calls = 0
    inner = sets.TopK(12, 4)

    def solver(weights: Weights) -> list[int]:
        nonlocal calls
        calls += 1
        return inner.argmax(weights).tolist()  # type: ignore[no-any-return]

    feasible = sets.Oracle(solver, 12, 4)
    for smooth, most in ((False, 3), (True, 120)):
        problem = Problem(feasible, world(0, smooth, 12, [1, 20_000, 60_000]))
        calls = 0
        found = comparator.stretches(problem, 100_000, static=False)
        assert calls <= most
        assert comparator.stretches(problem, 100_000, static=False) is found
        changes = [part.first for part in found]
        assert (len(changes) > 6) is smooth
        for first in changes[1:]:  # the round before, the other solution was the better one
            for round in (first - 1, first):
                row = problem.environment.at(round).means
                best = next(part.items for part in found if part.first <= round <= part.last)
                assert total(row, best) == pytest.approx(total(row, inner.argmax(row)), abs=1e-12)
    calls = 0
    assert len(comparator.stretches(problem, 100_000, static=True)) == 1
    assert calls == 1


def test_an_approximate_oracle_is_measured_against_itself() -> None:
    def second(weights: Weights) -> list[int]:
        return [int(np.argsort(weights)[-2])]

    drifting = world(2, True)
    problem = Problem(sets.Oracle(second, 5, 1, ratio=0.1), drifting)
    wanted = [np.sort(row)[-2] for row in means_of_all_rounds(drifting, 300)]
    np.testing.assert_allclose(comparator.reference(problem, 300, static=False), wanted, rtol=0.0, atol=1e-14)


def test_where_nothing_drifts_all_kinds_are_one() -> None:
    grid = problems.grid_path(2, 0.4)
    options: dict[str, Any] = {"horizon": 300, "runs": 2, "seed": 0}
    expected = simulate(grid, ucb, **options)
    assert expected.provenance["drifts"] is False
    assert (expected.kind, expected.provenance["optimal_size"]) == ("expected", 4)
    for kind in ("dynamic", "static"):
        for engine in ("plain", "auto"):
            result = simulate(grid, ucb, regret=kind, engine=engine, **options)  # type: ignore[arg-type]
            assert result.kind == kind
            np.testing.assert_array_equal(result.regret, expected.regret)
    still = simulate(Problem(grid.feasible, environments.Drifting([grid.means], [1])), ucb, engine="plain", **options)
    assert still.kind == "dynamic"
    np.testing.assert_array_equal(still.regret, expected.regret)


def test_what_is_refused() -> None:
    problem = Problem(sets.Enumerated(SOLUTIONS), world(0, False))
    for kind in ("realised", "ratio"):
        with pytest.raises(errors.BadArgument, match=f"must be 'dynamic' or 'static' in a world that drifts.*'{kind}'"):
            simulate(problem, ucb, horizon=10, runs=1, seed=0, regret=kind)  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match="regret must be"):
        simulate(problem, ucb, horizon=10, runs=1, seed=0, regret="moving")  # type: ignore[arg-type]
    result = simulate(problem, ucb, horizon=10, runs=2, seed=0)
    for bounds in (
        True,
        theory.bounds(problem.at(1), result.rounds),
        list(theory.bounds(problem.at(1), result.rounds)),
    ):
        with pytest.raises(errors.Unsupported, match="this one has none"):
            result.plot(bounds=bounds)
    axes = result.plot({"mine": lambda n: 2.0 * n})
    assert axes.get_ylabel() == "dynamic regret"


def test_results_say_it_and_stores_keep_it(tmp_path: Path) -> None:
    problem = Problem(sets.Enumerated(SOLUTIONS), world(0, True))
    options: dict[str, Any] = {"horizon": 50, "seed": 0, "engine": "plain", "store": tmp_path / "store"}
    part = simulate(problem, ucb, runs=1, **options)
    whole = simulate(problem, ucb, runs=3, regret="dynamic", **options)
    np.testing.assert_array_equal(whole.regret[:, :1], part.regret)
    with pytest.raises(errors.BadState, match="another experiment"):
        simulate(problem, ucb, runs=1, regret="static", **options)
    assert whole.provenance["drifts"] is True
    assert whole.provenance["optimal_size"] is None
    whole.save(tmp_path / "run.parquet")
    loaded = SimulationResult.load(tmp_path / "run.parquet")
    assert (loaded.kind, loaded.provenance["drifts"]) == ("dynamic", True)


def test_shorter_horizons_are_prefixes_of_dynamic_regret() -> None:
    problem = Problem(sets.Enumerated(SOLUTIONS), world(0, True))
    options: dict[str, Any] = {"runs": 2, "seed": 0, "engine": "plain", "checkpoints": [30, 90]}
    whole = simulate(problem, ucb, horizon=250, **options)
    part = simulate(problem, ucb, horizon=90, **options)
    np.testing.assert_allclose(part.regret, whole.regret[..., :2], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    "problem",
    [
        Problem(sets.TopK(6, 2), world(1, True, 6)),
        long(Problem(sets.TopK(6, 2), world(1, False, 6), sense="min")),
        long(Problem(sets.GridPaths(3), world(2, True, 24))),
        long(Problem(sets.Enumerated(SOLUTIONS), world(4, False))),
        long(Problem(sets.Assignment(3, 3), world(4, True, 9), sense="min")),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kind", ["dynamic", long("static")])
def test_engine_loop_and_learner_agree(problem: Problem, kind: str) -> None:
    one = task(problem, horizon=400, kind=kind)
    engine = LanesEngine(one)
    engine.prepare()
    compiled = engine.play(0, 3)
    assert compiled is not None
    for run in range(3):
        plain = loop.play(one, run)
        same(plain, type(compiled).of({name: array[run : run + 1] for name, array in compiled.arrays().items()}))
        if run == 0:
            assert chosen(plain) == learned(one)
    unlike = LanesEngine(one, lanes=8, pipeline=False).play(0, 3) if kind == "static" else compiled
    assert unlike is not None
    same(unlike, compiled)


class Wave(Environment):
    """A user's own: two items swing against each other."""

    bounds = (0.0, 1.0)
    drifts = True
    n_items = 2

    def means(self, round: int) -> Weights:  # type: ignore[override]
        up = 0.5 + 0.4 * np.sin(round / 20.0)
        return np.array([up, 1.0 - up])

    def weights(self, round: int, key: Scalar, items: Any = None) -> Weights:
        row = self.means(round)
        return row if items is None else row[items]  # type: ignore[no-any-return]


class Half(Environment):
    """Written for the compiler, but for its mean."""

    bounds = (0.0, 1.0)
    drifts = True
    n_items = 2

    def means(self, round: int) -> Weights:  # type: ignore[override]
        return np.full(2, 1.0 / round)

    @staticmethod
    def draw(round: Scalar, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return (item + 1.0) / (item + 1.0) / round


def test_users_own_worlds_may_drift() -> None:
    problem = Problem(sets.TopK(2, 1), Wave())
    horizon = 500
    result = simulate(problem, ucb, horizon=horizon, runs=1, seed=0, record="solutions", checkpoints=[horizon])
    assert result.solutions is not None
    means = np.array([problem.environment.means(round) for round in range(1, horizon + 1)])  # type: ignore[operator]
    gained = means[np.arange(horizon), result.solutions[0, 0, :, 0]]
    assert result.regret[0, 0, 0] == pytest.approx((means.max(axis=1) - gained).sum())
    static = simulate(problem, ucb, horizon=horizon, runs=1, seed=0, regret="static", checkpoints=[horizon])
    assert static.regret[0, 0, 0] == pytest.approx(means.sum(axis=0).max() - gained.sum())
    with pytest.raises(errors.Unsupported, match="draws its weights in Python"):
        simulate(problem, ucb, horizon=10, runs=1, seed=0, engine="compiled")
    with pytest.raises(errors.Unsupported, match=r"no mean\(round, item, tables\)"):
        simulate(Problem(sets.TopK(2, 1), Half()), ucb, horizon=10, runs=1, seed=0, engine="compiled")


def test_a_policy_that_never_forgets_loses_after_a_change() -> None:
    drifting = environments.Drifting([[0.9, 0.1], [0.1, 0.9]], [1, 501])
    problem = Problem(sets.Oracle(lambda weights: [int(weights.argmax())], 2, 1), drifting)
    result = simulate(problem, policies.CombUCB1(alpha=0.1), horizon=1000, runs=8, seed=0, checkpoints=[500, 1000])
    before, after = result.regret[0].T
    assert ((after - before) > 2.0 * before).all()
    assert after.mean() > 0.8 * 100


class Turned(environments.Drifting):
    """A user's, whose means are those above the other way round."""

    def means(self, round: int) -> Any:
        return super().means(round)[::-1]


@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_means_of_a_users_own(kind: Any) -> None:
    world = Turned([[0.1, 0.9, 0.5], [0.9, 0.1, 0.2]], [1, 30])
    problem = Problem(sets.TopK(3, 1), world)
    result = simulate(
        problem, policies.Random(), horizon=50, runs=1, seed=0, regret=kind, record="solutions", threads=1
    )
    means = np.array([world.means(round) for round in range(1, 51)])
    best = means.max(axis=1).sum() if kind == "dynamic" else means.sum(axis=0).max()
    earned = sum(means[round, items].sum() for round, items in enumerate(result.solutions[0, 0]))
    assert result.regret[0, 0, -1] == pytest.approx(best - earned)
