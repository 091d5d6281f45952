"""Advice costs next to nothing: no solutions are listed, oracles are not asked, few numbers are drawn."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from semibandits import Environment, FeasibleSet, Problem, environments, errors, policies, problems, sets
from semibandits.policies.situation import CALLED, CALLS, CHANGES, DRAWN, ROUNDS
from semibandits.types import Items, Quotas, Weights


def streets(side: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """A grid of side x side junctions."""
    ways = [((x, y), (x + right, y + 1 - right)) for x in range(side) for y in range(side) for right in (0, 1)]
    return [(tail, head) for tail, head in ways if max(head) < side]


STREETS = streets(6)
chance = np.random.default_rng(0)


def one_of_four(weights: Any) -> list[int]:
    return [4 * int(np.argmax(weights[::4]))]


SETS: dict[str, Callable[[], FeasibleSet]] = {
    "TopK": lambda: sets.TopK(100_000, 50_000),
    "TopK of any size": lambda: sets.TopK(100_000, 50_000, bases=False),
    "PartitionMatroid": lambda: sets.PartitionMatroid(np.arange(50_000) % 20_000, 2),
    "LaminarMatroid": lambda: sets.LaminarMatroid(500, [(range(500), 50), (range(300), 30)]),
    "GraphicMatroid": lambda: sets.GraphicMatroid(STREETS),
    "Matroid": lambda: sets.Matroid(lambda items: len(items) <= 3, n_items=30),
    "DagPaths": lambda: sets.DagPaths(streets(8), (0, 0), (7, 7)),
    "GridPaths": lambda: sets.GridPaths(60),
    "KPaths": lambda: sets.KPaths(50_000, 5),
    "Paths": lambda: sets.Paths(STREETS, (0, 0), (5, 5), directed=False),
    "Paths of few hops": lambda: sets.Paths(STREETS, (0, 0), (5, 5), directed=False, max_hops=14),
    "Assignment": lambda: sets.Assignment(30, 30),
    "BMatching": lambda: sets.BMatching(20, 10, row_capacities=1, column_capacities=2),
    "Knapsack": lambda: sets.Knapsack(chance.integers(1, 50, 60), 100),
    "GreedyKnapsack": lambda: sets.GreedyKnapsack(chance.integers(1, 50, 60), 100),
    "MILP": lambda: sets.MILP((chance.random((5, 40)) < 0.2).astype(float), -np.inf, 2),
    "Intersection": lambda: sets.Intersection(sets.GridPaths(4), [np.arange(40.0)], upper=150.0),
    "Product": lambda: sets.Product(sets.Paths(STREETS, (0, 0), (5, 5), directed=False), sets.TopK(30, 9)),
    "Enumerated": lambda: sets.Enumerated([chance.choice(40, 5, replace=False) for _ in range(2_000)]),
    "Oracle": lambda: sets.Oracle(one_of_four, n_items=40, max_size=1),
    "restricted": lambda: sets.Paths(STREETS, (0, 0), (5, 5), directed=False).restrict(exclude=[7]),
}


def steps(n_items: int, rows: int = 12) -> Environment:
    """Levels jump, and nothing else."""
    means = np.where(np.arange(rows)[:, None] % 2 == 0, 0.5, 0.0) + 0.5 * np.linspace(1.0, 0.0, n_items)
    return environments.Drifting(means, 1 + 100 * np.arange(rows))


WORLDS: dict[str, Callable[[int], Environment]] = {
    "coins": lambda n: environments.Bernoulli(np.linspace(0.1, 0.9, n)),
    "in groups": lambda n: environments.Bernoulli(np.full(n, 0.5), groups=np.arange(n) // 2),
    "no coins": lambda n: environments.Uniform(np.zeros(n), np.full(n, 0.5), bounds=(0.0, 1.0)),
    "record": lambda n: environments.Table(np.full((3, n), 0.5)),
    "steps": steps,
    "adversary": lambda n: environments.Adversarial(np.full((3, n), 0.5)),
    "custom": lambda n: environments.Custom(lambda generator: generator.random(n), np.full(n, 0.5)),
}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whatever sets are asked that takes a search."""
    made: list[str] = []

    def noted(name: str, method: Any) -> Any:
        return lambda self, *given, **named: (made.append(f"{self!r}.{name}"), method(self, *given, **named))[1]

    for kind in _kinds(FeasibleSet):
        for name in {"argmax", "restrict", "listed", "contains", "best_with_each"} & set(vars(kind)):
            monkeypatch.setattr(kind, name, noted(name, vars(kind)[name]))
    return made


def _kinds(kind: type) -> Iterator[type]:
    yield kind
    for one in kind.__subclasses__():
        if one.__module__.startswith("semibandits."):
            yield from _kinds(one)


def ask(problem: Problem | FeasibleSet) -> None:
    for horizon in (None, 1_000):
        policies.recommend(problem, horizon)
        try:
            policies.recommend(problem, horizon, "bandit")
        except errors.Unsupported as error:  # an answer, too
            assert "where only the sum is seen" in str(error)  # noqa: PT017


@pytest.mark.parametrize("name", SETS)
def test_of_no_set_a_search_is_asked(name: str, calls: list[str]) -> None:
    feasible = SETS[name]()
    calls.clear()
    ask(feasible)
    assert not calls
    for world in WORLDS.values():
        problem = Problem(feasible, world(feasible.n_items), "min")
        calls.clear()
        ask(problem)
        assert not calls


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("sense", ["max", "min"])
def test_a_solver_of_one_s_own_is_hardly_called(world: str, sense: Any) -> None:
    called = []

    def solver(weights: Any) -> list[int]:
        called.append(weights)
        return one_of_four(weights)

    for feasible in (
        sets.Oracle(solver, n_items=40, max_size=1),
        sets.Product(sets.Oracle(solver, n_items=40, max_size=1), sets.TopK(3, 1)),
    ):
        problem = Problem(feasible, WORLDS[world](feasible.n_items), sense)
        for one in (feasible, problem):
            for feedback in ("semi", "bandit"):
                called.clear()
                policies.recommend(one, feedback=feedback)  # type: ignore[arg-type]
                assert len(called) <= CALLS


class Pairs(FeasibleSet):
    """A user's own set that knows its quotas, and counts how often it is asked."""

    def __init__(self, n_items: int) -> None:
        self.n_items, self.max_size, self.calls = n_items, 2, 0

    def argmax(self, weights: Any) -> Items:
        self.calls += 1
        return np.sort(np.argsort(-np.asarray(weights), kind="stable")[:2])

    def contains(self, items: Any) -> bool:
        return len(set(items)) == 2

    def restrict(self, include: Any = (), exclude: Any = ()) -> FeasibleSet:
        return sets.TopK(self.n_items, 2).restrict(include, exclude)

    def quotas(self) -> Quotas:
        return Quotas(np.zeros(self.n_items, dtype=np.int64), np.array([2]), True)


@pytest.mark.parametrize(("rows", "asked"), [(2, 2), (9, 9), (10, 10), (11, 10), (300, 10)])
def test_whether_what_is_best_changes_is_asked_ten_times_of_a_user_s_set(rows: int, asked: int) -> None:
    feasible = Pairs(20)
    found = policies.recommend(Problem(feasible, steps(20, rows)))
    assert type(found.policy) is policies.HYBRID
    assert feasible.calls == asked


@pytest.mark.parametrize(
    ("n_items", "rows", "asked"), [(20, 30, 30), (20, 300, CHANGES), (500, 300, 40), (2_000, 300, 10), (2_001, 12, 0)]
)
def test_whether_what_is_best_changes_is_asked_while_that_is_quick(
    n_items: int, rows: int, asked: int, calls: list[str]
) -> None:
    problem = Problem(sets.TopK(n_items, 2), steps(n_items, rows))
    calls.clear()
    found = policies.recommend(problem)
    assert len(calls) == asked
    assert type(found.policy) is (policies.HYBRID if asked else policies.SlidingWindow)


def test_where_another_becomes_the_best_no_more_is_asked(calls: list[str]) -> None:
    rows = np.eye(3)[[0, 0, 1, 0, 0]]
    problem = Problem(sets.TopK(3, 1), environments.Drifting(rows, [1, 10, 20, 30, 40]))
    calls.clear()
    assert type(policies.recommend(problem).policy) is policies.SlidingWindow
    assert len(calls) == 3
    assert type(policies.recommend(problem, horizon=19).policy) is policies.HYBRID


def test_a_world_that_changes_at_unknown_times_is_not_said_to_keep_its_best() -> None:
    class Steps(Environment):
        drifts, smooth, n_items, bounds = True, False, 3, (0.0, 1.0)

        def means(self, round: int) -> Weights:  # type: ignore[override]
            return np.array([0.1, 0.2, 0.3])

    found = policies.recommend(Problem(sets.TopK(3, 1), Steps()))
    assert "1 change in 2,000 rounds, at a guess" in found.reasons[0]


class Watched(Environment):
    """A user's own world of independent items that counts what is drawn of it."""

    independent = True

    def __init__(self, n_items: int, batched: bool) -> None:
        self.n_items, self.bounds, self.means, self.batched = n_items, (0.0, 1.0), np.full(n_items, 0.25), batched
        self.drawn: list[int] = []

    def weights(self, round: int, key: Any, items: Items | None = None) -> Weights:
        chosen = np.arange(self.n_items) if items is None else items
        drawn: Weights = np.broadcast_to(0.25 + 0.1 * (chosen == 0), np.broadcast_shapes(np.shape(key), chosen.shape))
        self.drawn.append(drawn.size)
        return drawn


@pytest.mark.parametrize("n_items", [1, 7, 50, 51, 4_000, 100_000])
def test_of_a_world_few_numbers_are_drawn(n_items: int) -> None:
    for batched, most in ((True, 1), (False, CALLED)):
        world = Watched(n_items, batched)
        found = policies.recommend(Problem(sets.TopK(n_items, 1), world))
        assert found.policy == policies.GaussianCTS(0.01)
        assert len(world.drawn) == most
        assert sum(world.drawn) <= min(DRAWN, ROUNDS * n_items)


def test_a_known_covariance_is_the_spread() -> None:
    deviations = np.array([0.3, 0.5, 0.7])
    world = environments.CorrelatedGaussian([5.0] * 3, np.diag(deviations**2), bounds=(0.0, 10.0))
    assert policies.recommend(Problem(sets.TopK(3, 1), world)).policy == policies.GaussianCTS(0.07)


def test_policies_that_look_at_every_solution_are_offered_where_these_are_few() -> None:
    def offered(feasible: FeasibleSet, **world: Any) -> set[str]:
        coins = environments.Bernoulli(np.full(feasible.n_items, 0.5), **world)
        return {type(policy).__name__ for policy, _ in policies.recommend(Problem(feasible, coins)).others}

    small, large = sets.GridPaths(4), sets.GridPaths(7)  # 70 and 3,432 paths
    assert "ESCB" in offered(small)
    assert "ESCB" in offered(large)  # by dynamic programming
    assert "ESCB" not in offered(sets.GridPaths(30))  # which would take long
    assert "ESCB" in offered(sets.Assignment(3, 3))
    assert "ESCB" not in offered(sets.Assignment(9, 9))
    assert "OLSUCB" in offered(small, groups=np.zeros(40, dtype=int))
    assert "OLSUCB" not in offered(large, groups=np.zeros(112, dtype=int))
    assert type(policies.recommend(problems.coin_table(small, 9)).policy) is policies.HYBRID
    assert type(policies.recommend(problems.coin_table(large, 9)).policy) is policies.FPL
