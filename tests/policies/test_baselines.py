"""What anybody would try first: something random, always the same, and what the one who knows the means would do."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy import stats

from semibandits import Learner, Problem, environments, errors, policies, problems, sets, simulate
from semibandits.rng import uniform
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.schedule import play_with
from semibandits.types import Arrays, Environment, FeasibleSet, Scalar, Weights
from support.tasks import same, task
from support.worlds import PROBLEMS

# Random


def solutions(feasible: FeasibleSet, rounds: int, seed: int = 1, **more: Any) -> list[tuple[int, ...]]:
    """What `Random` chooses, nobody telling it anything."""
    learner = Learner(feasible, policies.Random(), seed=seed, **more)
    return [tuple(learner.ask().items.tolist()) for _ in range(rounds)]


def fits(observed: Counter[Any], probabilities: dict[Any, float]) -> bool:
    assert set(observed) <= set(probabilities)
    rounds = observed.total()
    expected = [rounds * probability for probability in probabilities.values()]
    found = stats.chisquare([observed[one] for one in probabilities], expected)
    return bool(found.pvalue > 1e-3)


WAYS: list[dict[str, Any]] = [{}, {"sense": "min"}, {"sense": "min", "bounds": (2.0, 7.0)}, {"bounds": (-5.0, 20.0)}]


@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_items_that_can_be_exchanged_are_chosen_equally_often(way: dict[str, Any]) -> None:
    observed = Counter(solutions(sets.TopK(5, 2), 4000, **way))
    assert len(observed) == 10
    assert fits(observed, dict.fromkeys(itertools.combinations(range(5), 2), 0.1))


SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
"""Four corners and a diagonal: eight spanning trees."""


def kruskal(order: tuple[int, ...]) -> tuple[int, ...]:
    part = list(range(4))
    tree = []
    for edge in order:
        a, b = (part[end] for end in SQUARE[edge])
        if a != b:
            tree.append(edge)
            part = [a if one == b else one for one in part]
    return tuple(sorted(tree))


@pytest.mark.parametrize("way", WAYS[::2], ids=repr)
def test_spanning_trees_are_those_of_kruskal_in_random_order(way: dict[str, Any]) -> None:
    orders = Counter(kruskal(order) for order in itertools.permutations(range(5)))
    probabilities = {tree: count / math.factorial(5) for tree, count in orders.items()}
    observed = Counter(solutions(sets.GraphicMatroid(SQUARE), 12000, **way))
    assert len(probabilities) == 8
    assert fits(observed, probabilities)
    assert not fits(observed, dict.fromkeys(probabilities, 1.0 / 8.0))  # that it is not uniform can be seen


@pytest.mark.parametrize(
    ("way", "alone"),
    [
        ({}, 1.0 / 6.0),  # U > V + W
        ({"bounds": (-1.0, 1.0)}, 1.0 / 2.0),  # by symmetry
        ({"sense": "min"}, 5.0 / 6.0),
        ({"sense": "min", "bounds": (1.0, 3.0)}, 47.0 / 48.0),  # U < V + W + 1/2
    ],
    ids=repr,
)
def test_random_weights_are_uniform_between_the_bounds(way: dict[str, Any], alone: float) -> None:
    observed = Counter(solutions(sets.Enumerated([[0], [1, 2]]), 6000, **way))
    assert fits(observed, {(0,): alone, (1, 2): 1.0 - alone})


def test_random_solutions_repeat_with_the_seed_only() -> None:
    def played(seed: int, **more: Any) -> Any:
        result = simulate(
            PROBLEMS["small top-k"],
            policies.Random(),
            **{"horizon": 50, "runs": 3, "seed": seed, "record": "solutions", "engine": "plain", "threads": 1, **more},
        )
        assert result.solutions is not None
        return result.solutions[0]

    first = played(1)
    np.testing.assert_array_equal(first, played(1))
    np.testing.assert_array_equal(first[:2, :30], played(1, runs=2, horizon=30))
    alike = [(a == b).all(axis=1).mean() for a, b in itertools.combinations(first, 2)]
    assert max(*alike, (first == played(2)).all(axis=2).mean()) < 0.1  # of 84 solutions
    assert solutions(sets.TopK(9, 3), 50, seed=1) == [tuple(row) for row in first[0].tolist()]


def test_what_is_told_does_not_matter_to_random_but_is_kept() -> None:
    learner = Learner(sets.TopK(5, 2), policies.Random(), seed=1)
    said = []
    for _ in range(100):
        decision = learner.ask()
        learner.tell(decision.id, [1.0, 0.25])
        said.append(tuple(decision.items.tolist()))
    assert said == solutions(sets.TopK(5, 2), 100)
    counts = Counter(item for one in said for item in one)
    assert learner.counts.tolist() == [counts[item] for item in range(5)]
    firsts = Counter(one[0] for one in said)
    wanted = [(firsts[item] + 0.25 * (counts[item] - firsts[item])) / counts[item] for item in range(5)]
    np.testing.assert_allclose(learner.estimates, wanted)


# Fixed


def several(problem: Problem) -> list[list[int]]:
    """The best solution, the worst, and others."""
    generator = np.random.default_rng(3)
    weights = generator.random((4, problem.n_items)) - (0.5 if problem.feasible.signed else 1.0)
    problem = problem.at(1)
    found = [problem.optimum, *(problem.feasible.argmax(row) for row in weights)]
    if problem.feasible.signed:
        found.append(problem.feasible.argmax(-problem.signed_means))
    return [list(one) for one in dict.fromkeys(tuple(one.tolist()) for one in found)]


def bounds_for(feasible: FeasibleSet) -> list[tuple[Any, tuple[float, float]]]:
    if not feasible.signed:
        return [("min", bounds) for bounds in ((0.0, 1.0), (0.0, 3.0), (1000.0, 1001.0), (1e7, 1e7 + 1.0))]
    various = ((0.0, 1.0), (-5.0, 20.0), (1000.0, 1001.0), (-3.0, -2.0), (1e7, 1e7 + 1.0), (-1e7, 1.0 - 1e7))
    return [(sense, bounds) for sense in ("max", "min") for bounds in various]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_fixed_solution_is_always_chosen(name: str) -> None:
    problem = PROBLEMS[name]
    chosen = several(problem)
    assert len(chosen) > 1
    for items in chosen:
        for sense, bounds in bounds_for(problem.feasible):
            learner = Learner(problem.feasible, policies.Fixed(items), sense=sense, bounds=bounds)
            for _ in range(3):
                decision = learner.ask()
                assert decision.items.tolist() == items, (sense, bounds)
                learner.tell(decision.id, np.full(len(items), bounds[0]))
        result = simulate(
            problem, policies.Fixed(items), horizon=10, runs=1, seed=0, engine="plain", threads=1, uncovered="ignore"
        )
        if problem.environment.hindsight:
            seen = problem.environment.average(10)  # type: ignore[attr-defined]
            gap = seen[problem.feasible.argmax(seen)].sum() - seen[items].sum()
            np.testing.assert_allclose(result.regret[0, 0, -1], 10 * gap, rtol=1e-9, atol=1e-9)
            continue
        gap = problem.signed_means[problem.optimum].sum() - problem.signed_means[items].sum()
        np.testing.assert_allclose(result.regret[0, 0], gap * result.rounds, rtol=1e-9, atol=1e-9)


def test_what_is_told_is_kept_by_fixed() -> None:
    learner = Learner(sets.TopK(4, 2), policies.Fixed([3, 1]), bounds=(0.0, 2.0))
    for weight in (0.5, 1.5, 1.0):
        learner.tell(learner.ask().id, [weight, 2.0])
    assert learner.counts.tolist() == [0, 3, 0, 3]
    np.testing.assert_array_equal(learner.estimates, [np.nan, 1.0, np.nan, 2.0])


def test_what_comes_nearest_where_not_all_is_available() -> None:
    learner = Learner(sets.TopK(5, 3), policies.Fixed([1, 3, 4]))
    assert set(learner.ask(available=[0, 1, 2, 3]).items.tolist()) >= {1, 3}
    assert learner.ask().items.tolist() == [1, 3, 4]


def test_infeasible_solutions_are_refused() -> None:
    message = r"\[0, 1, 2\] is not a solution of TopK\(5, 2\)"
    for items in ([0, 1, 2], [2, 0, 1]):
        with pytest.raises(errors.InfeasibleSolution, match=message):
            Learner(sets.TopK(5, 2), policies.Fixed(items))
    for items in ([0], [], [0, 5], [0, 10**9]):
        with pytest.raises(errors.InfeasibleSolution, match="is not a solution of"):
            Learner(sets.TopK(5, 2), policies.Fixed(items))
    with pytest.raises(errors.InfeasibleSolution, match="is not a solution of"):
        simulate(PROBLEMS["grid"], policies.Fixed([0, 1]), horizon=10, runs=1, seed=0)


@pytest.mark.parametrize(
    "items",
    [
        None,
        3,
        "01",
        [0.0, 1.0],
        [0, -1],
        [0, 0],
        [True, False],
        ["a"],
        [[0, 1]],
        [[0], [1, 2]],
        [None],
        [0.5],
        [0, 10**30],
    ],
)
def test_bad_items(items: Any) -> None:
    with pytest.raises(errors.BadArgument, match="items must "):
        policies.Fixed(items)


def test_items_in_any_order_and_kind() -> None:
    for items in (
        [1, 3],
        (3, 1),
        {1, 3},
        range(1, 4, 2),
        np.array([3, 1]),
        np.array([1, 3], dtype=np.uint8),
        iter([3, 1]),
    ):
        assert policies.Fixed(items) == policies.Fixed([1, 3])
    assert repr(policies.Fixed([3, 1])) == "Fixed(items=(1, 3))"
    empty = Learner(sets.Enumerated([[], [0, 1]]), policies.Fixed([]))
    assert empty.ask().items.tolist() == []


# Clairvoyant


@pytest.mark.parametrize("name", [name for name, one in PROBLEMS.items() if not one.environment.hindsight])
def test_who_knows_the_means_has_no_regret(name: str) -> None:
    problem = PROBLEMS[name]
    options: dict[str, Any] = {"horizon": 20, "runs": 1, "seed": 0, "engine": "plain", "threads": 1}
    result = simulate(problem, policies.Clairvoyant(problem), uncovered="ignore", **options)
    assert np.abs(result.regret).max() <= 1e-9


SOLUTIONS = [[0, 1], [2], [1, 3], [0, 2, 3], [4], []]
STARTS = [1, 2, 60, 61, 200, 260]


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("feasible", [sets.Enumerated(SOLUTIONS), sets.TopK(5, 2)], ids=repr)
def test_nor_has_it_in_worlds_that_drift(smooth: bool, sense: Any, feasible: FeasibleSet) -> None:
    better = 0
    for seed in range(3):
        world = environments.Drifting(np.random.default_rng(seed).random((6, 5)), STARTS, smooth)
        problem = Problem(feasible, world, sense)
        options: dict[str, Any] = {"horizon": 300, "runs": 1, "seed": 0, "engine": "plain", "threads": 1}
        dynamic = simulate(problem, policies.Clairvoyant(problem), regret="dynamic", **options)
        static = simulate(problem, policies.Clairvoyant(problem), regret="static", **options)
        assert np.abs(dynamic.regret).max() <= 1e-9
        assert static.regret[0, 0, -1] <= 1e-9
        better += bool(static.regret[0, 0, -1] < -1.0)
    assert better > 0 or (sense == "min" and [] in SOLUTIONS)  # to choose nothing costs nothing, whatever happens


@pytest.mark.parametrize("smooth", [False, True])
def test_machine_code_knows_the_means_too(smooth: bool) -> None:
    world = environments.Drifting(np.random.default_rng(7).random((6, 5)), STARTS, smooth)
    problem = Problem(sets.TopK(5, 2), world)
    one = task(problem, policies.Clairvoyant(problem), horizon=300, kind="dynamic")
    fast = LanesEngine(one).play(0, 2)
    assert fast is not None
    same(fast, play_with(None, one, 0, 2))
    assert np.abs(fast.regret).max() <= 1e-9


def test_a_learner_that_knows_the_means() -> None:
    world = environments.Drifting([[0.9, 0.1, 0.5], [0.1, 0.9, 0.5]], starts=[1, 4])
    problem = Problem(sets.TopK(3, 1), world)
    learner = Learner(problem.feasible, policies.Clairvoyant(problem))
    assert [learner.ask().items.tolist() for _ in range(6)] == [[0]] * 3 + [[1]] * 3
    costs = Problem(sets.TopK(3, 1), environments.Uniform([1.0, 2.0, 1.5], [9.0, 4.0, 9.0], bounds=(0, 10)), "min")
    knowing = Learner(costs.feasible, policies.Clairvoyant(costs), sense="min", bounds=(0.0, 10.0))
    np.testing.assert_allclose(knowing.scores(), [5.0, 3.0, 5.25])
    assert knowing.ask().items.tolist() == [1]


def test_other_sets_are_refused() -> None:
    policy = policies.Clairvoyant(problems.grid_path(3, 0.3))
    with pytest.raises(errors.BadArgument, match="Clairvoyant knows 24 means, the set has 5 items"):
        Learner(sets.TopK(5, 2), policy)
    with pytest.raises(errors.BadArgument, match="knows 24 means"):
        simulate(PROBLEMS["costs"], policy, horizon=10, runs=1, seed=0)


@pytest.mark.parametrize(
    "problem", [None, 3, "grid", sets.TopK(5, 2), environments.Bernoulli([0.5]), [0.1, 0.2], Problem]
)
def test_what_is_no_problem_is_refused(problem: Any) -> None:
    with pytest.raises(errors.BadArgument, match="needs the problem whose means it is to know, got"):
        policies.Clairvoyant(problem)


class Waves(Environment):
    """A user's own world that drifts."""

    drifts = True

    def __init__(self) -> None:
        self.n_items, self.bounds = 3, (0.0, 1.0)

    def means(self, round: int) -> Weights:  # type: ignore[override]
        return np.array([0.5 + 0.4 * math.sin(round / 10.0), 0.5, 0.5])

    def at(self, round: int) -> Environment:
        return environments.Bernoulli(self.means(round))

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return uniform(key, item)


def test_worlds_that_drift_in_their_own_way_are_refused() -> None:
    with pytest.raises(errors.BadArgument, match=r"knows the means of environments\.Drifting only, got Waves"):
        policies.Clairvoyant(Problem(sets.TopK(3, 1), Waves()))


def ramp(*rows: ArrayLike) -> Problem:
    return Problem(sets.TopK(2, 1), environments.Drifting(rows, starts=[1, 101], smooth=True))


def test_the_round_in_which_two_items_cross() -> None:
    problem = ramp([0.0, 0.395], [1.0, 0.395])  # item 0 reaches 0.39 in round 40, 0.4 in round 41
    learner = Learner(problem.feasible, policies.Clairvoyant(problem))
    assert [learner.ask().items.tolist()[0] for _ in range(60)] == [1] * 40 + [0] * 20
