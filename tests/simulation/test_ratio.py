"""Regret with approximate oracles: against the oracle's own answer, and against what it promises."""

from collections.abc import Iterable

import numpy as np
import pytest

from semibandits import Problem, environments, errors, policies, sets, simulate
from semibandits.types import Items
from support.measured import below_every_bound

COSTS = np.array([4, 3, 3, 2, 5, 1])
MEANS = [0.9, 0.6, 0.6, 0.35, 0.5, 0.1]
CAPACITY = 6


def fits(items: Iterable[int]) -> bool:
    return int(COSTS[list(items)].sum()) <= CAPACITY


def by_density(weights: Items) -> list[int]:
    """Fills the knapsack by weight per cost, or takes the best single item: worth half the best at least."""
    chosen: list[int] = []
    for item in np.argsort(-weights / COSTS, kind="stable").tolist():
        if weights[item] > 0.0 and fits([*chosen, item]):
            chosen.append(item)
    single = int(np.argmax(weights))
    return chosen if weights[chosen].sum() >= weights[single] else [single]


GREEDY = sets.Oracle(by_density, n_items=6, max_size=4, ratio=0.5, contains=fits)
WORLD = environments.Bernoulli(MEANS)
BEST = [0, 3]


def test_ratio_regret_is_against_the_promise() -> None:
    problem = Problem(GREEDY, WORLD, true_optimum=BEST)
    assert problem.target == pytest.approx(0.5 * 1.25)
    own, promise = (
        simulate(problem, policies.CombUCB1(), horizon=300, runs=4, seed=1, regret=kind)
        for kind in ("expected", "ratio")
    )
    per_round = problem.value(problem.optimum) - problem.target
    np.testing.assert_allclose(promise.regret, own.regret - per_round * own.rounds, atol=1e-9)
    assert promise.kind == "ratio"
    assert below_every_bound(problem, promise.rounds, promise.regret[0], "ratio") == 1


def test_costs_may_exceed_the_best_by_the_ratio() -> None:
    """A solver that may return anything up to twice the least cost."""
    cheap = environments.Uniform([0.2, 0.3, 0.8], [0.4, 0.5, 1.0])
    second = sets.Oracle(
        lambda w: [int(np.argsort(-w, kind="stable")[1])], 3, 1, ratio=0.5, contains=lambda items: len(items) == 1
    )
    problem = Problem(second, cheap, sense="min", true_optimum=[0])
    assert problem.optimum.tolist() == [1]
    assert problem.target == pytest.approx(0.6)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_an_exact_oracle_promises_the_optimum(engine: str) -> None:
    problem = Problem(sets.TopK(6, 2), WORLD)
    assert problem.target == problem.value(problem.optimum)
    a, b = (
        simulate(problem, policies.CombUCB1(), horizon=200, runs=3, seed=1, regret=kind, engine=engine, threads=1)  # type: ignore[arg-type]
        for kind in ("expected", "ratio")
    )
    np.testing.assert_array_equal(a.regret, b.regret)


def test_what_is_not_known_is_said() -> None:
    problem = Problem(GREEDY, WORLD)
    with pytest.raises(errors.Unsupported, match="true_optimum="):
        _ = problem.target
    with pytest.raises(errors.Unsupported, match="true_optimum="):
        simulate(problem, policies.CombUCB1(), horizon=10, runs=1, seed=0, regret="ratio")
    with pytest.raises(errors.InfeasibleSolution, match=r"true_optimum \[0, 1\]"):
        Problem(GREEDY, WORLD, true_optimum=[0, 1])
    with pytest.raises(errors.UnknownItem, match="item 6"):
        Problem(GREEDY, WORLD, true_optimum=[6])
    with pytest.raises(errors.BadArgument, match="the oracle's own answer"):
        _ = Problem(GREEDY, WORLD, true_optimum=[5]).target
    gains = environments.Uniform([-2.0] * 6, [-1.0] * 6)
    with pytest.raises(errors.Unsupported, match="below 0"):
        _ = Problem(sets.Oracle(lambda w: [0], 6, 1, ratio=0.5, contains=fits), gains, true_optimum=[0]).target


def test_a_set_without_items_to_choose() -> None:
    problem = Problem(sets.PartitionMatroid([0, 0], 0), environments.Bernoulli([0.5, 0.5]))
    result = simulate(
        problem,
        policies.CombUCB1(),
        horizon=5,
        runs=2,
        seed=0,
        uncovered="ignore",
        record="solutions",
        engine="compiled",
    )
    assert result.solutions is not None
    assert result.solutions.shape == (1, 2, 5, 0)
    assert (result.regret == 0.0).all()
