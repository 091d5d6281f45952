"""CombUCB1 learns on every family: its regret agrees with an independent, plain simulation over listed solutions."""

import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from semibandits import Problem, environments, policies, sets, simulate
from semibandits.types import FeasibleSet, Sense
from support import reference
from support.families.budgets import fits
from support.families.graphs import simple_paths
from support.families.matroids import is_forest, solutions
from support.families.pairs import matchings
from support.measured import below_every_bound
from support.reference import Solution, subsets
from support.tasks import long

HORIZON, RUNS, MORE_RUNS = 400, 120, 2000
SLOW_HORIZON, SLOW_RUNS = 150, 30

GRAPH = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3), (0, 1)]
DAG: list[tuple[object, object]] = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 3), (2, 4), (3, 4)]
GROUPS = [0, 0, 0, 1, 1, 2, 2]
FAMILIES = [([0, 1, 2, 3], 2), ([4, 5, 6], 2), (list(range(7)), 3)]
PAIRS = [(row, column) for row in range(3) for column in range(3)]
COSTS = [3, 1, 4, 2, 5, 2, 3]
ROWS = [[1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1, 1]]


class World(NamedTuple):
    feasible: FeasibleSet
    listed: list[Solution]
    sense: Sense = "max"


def in_groups(items: Solution) -> bool:
    return all(sum(GROUPS[item] == group for item in items) <= most for group, most in enumerate((2, 1, 1)))


def in_families(items: Solution) -> bool:
    return all(len(set(items) & set(family)) <= most for family, most in FAMILIES)


def in_rows(items: Solution) -> bool:
    return all(sum(row[item] for item in items) <= 2 for row in ROWS)


WORLDS = {
    "at most k": World(sets.TopK(6, 3, bases=False), subsets(6, range(4))),
    "partition": World(sets.PartitionMatroid(GROUPS, [2, 1, 1]), solutions(7, in_groups, bases=True)),
    "laminar": World(sets.LaminarMatroid(7, FAMILIES), solutions(7, in_families, bases=True)),
    "trees": World(sets.GraphicMatroid(GRAPH), solutions(7, lambda items: is_forest(GRAPH, items), bases=True)),
    "matroid": World(
        sets.Matroid(lambda items: in_groups(tuple(items.tolist())), 7), solutions(7, in_groups, bases=True)
    ),
    "DAG": World(sets.DagPaths(DAG, 0, 4), reference.paths(DAG, 0, 4), sense="min"),
    "assignment": World(sets.Assignment(3, 3), matchings(PAIRS, [1] * 3, [1] * 3, optional=False)),
    "b-matching": World(
        sets.BMatching(3, 3, [2, 1, 1], 2, optional=True), matchings(PAIRS, [2, 1, 1], [2] * 3, optional=True)
    ),
    "knapsack": World(sets.Knapsack(COSTS, 7), [one for one in subsets(7) if fits(one, COSTS, 7, None)]),
    "MILP": World(sets.MILP(ROWS, -math.inf, 2), [one for one in subsets(7) if in_rows(one)]),
    "intersection": World(
        sets.Intersection(sets.TopK(7, 3), ROWS, -math.inf, 2), [one for one in subsets(7, [3]) if in_rows(one)]
    ),
    "product": World(
        sets.Product(sets.TopK(3, 1), sets.GraphicMatroid(GRAPH[:3])),
        [(a, b, c) for a in range(3) for b in range(3, 6) for c in range(b + 1, 6)],
    ),
}
COST_WORLDS = {
    "directed paths": World(sets.Paths(GRAPH, 0, 3), simple_paths(GRAPH, 0, 3, True, None), "min"),
    "paths": World(sets.Paths(GRAPH, 0, 3, directed=False), simple_paths(GRAPH, 0, 3, False, None), "min"),
    "few hops": World(sets.Paths(GRAPH, 0, 3, directed=False, max_hops=2), simple_paths(GRAPH, 0, 3, False, 2), "min"),
}
PLAIN = {"matroid", "MILP", "intersection"}
ALIKE = {
    "assignment",
    "partition",
    "paths",
    "at most k",
    "laminar",
    "product",
    "directed paths",
    "few hops",
    "MILP",
    "matroid",
    "DAG",
    "b-matching",
}
"""Left to the longer campaigns."""


def means_of(world: World) -> list[float]:
    generator = random.Random(3)
    return [round(generator.uniform(0.1, 0.9), 2) for _ in range(world.feasible.n_items)]


def optimistic(counts: np.ndarray, estimates: np.ndarray, t: int) -> np.ndarray:
    """Lower bounds of costs in [0, 1]; 0 for what was never seen."""
    radius = np.sqrt(1.5 * math.log(max(t - 1, 1)) / np.maximum(counts, 1))
    return np.where(counts > 0, np.maximum(estimates - radius, 0.0), 0.0)


def play(world: World, means: list[float], seed: int, horizon: int) -> float:
    """The regret of one run: the paper's algorithm over the list, or (without Init) its form for costs.

    There, many solutions look as cheap as can be at first, and regret depends on which of them is tried: that much is
    asked of the set.
    """
    coin = random.Random(seed)
    sign = -1.0 if world.sense == "min" else 1.0
    n_items = world.feasible.n_items
    rows = np.array([[float(item in one) for item in range(n_items)] for one in world.listed])
    values = sign * (rows @ means)
    w_hat, counts, unseen = np.zeros(n_items), np.zeros(n_items), np.ones(n_items)
    regret = 0.0
    for t in range(1, horizon + 1):
        initial = world.feasible.signed and unseen.any()
        if initial:
            scores = unseen
        elif world.feasible.signed:
            scores = sign * w_hat + np.sqrt(1.5 * math.log(t - 1) / counts)
        else:
            scores = -optimistic(counts, w_hat, t)
        totals = rows @ scores
        which = int(np.argmax(totals))
        if not world.feasible.signed:
            which, best = world.listed.index(tuple(world.feasible.argmax(scores).tolist())), which
            assert totals[which] > totals[best] - 1e-9
        regret += values.max() - values[which]
        for item in world.listed[which]:
            weight = float(coin.random() < means[item])
            if initial:
                w_hat[item], counts[item], unseen[item] = weight, 1.0, 0.0
            else:
                w_hat[item] = (counts[item] * w_hat[item] + weight) / (counts[item] + 1)
                counts[item] += 1
    return regret


def agree(ours: np.ndarray, theirs: np.ndarray) -> None:
    error = math.hypot(ours.std(ddof=1) / math.sqrt(ours.size), theirs.std(ddof=1) / math.sqrt(theirs.size))
    assert abs(ours.mean() - theirs.mean()) < 3.5 * error, (ours.mean(), theirs.mean(), error)


@pytest.mark.parametrize("name", [long(name) if name in ALIKE else name for name in (*WORLDS, *COST_WORLDS)])
def test_regret_agrees_with_an_independent_simulation(name: str) -> None:
    world = (WORLDS | COST_WORLDS)[name]
    means = means_of(world)
    problem = Problem(world.feasible, environments.Bernoulli(means), sense=world.sense)
    slow = name in PLAIN
    horizon, runs, more = (SLOW_HORIZON, SLOW_RUNS, SLOW_RUNS) if slow else (HORIZON, RUNS, MORE_RUNS)
    options: Any = {"engine": "plain" if slow else "compiled", "record": "counts"}  # test_engine's machine code
    result = simulate(problem, policies.CombUCB1(), horizon=horizon, runs=more, seed=5, threads=1, **options)
    agree(result.regret[0, :, -1], np.array([play(world, means, seed, horizon) for seed in range(runs)]))
    assert below_every_bound(problem, result.rounds, result.regret[0]) > 2


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in (*WORLDS, *COST_WORLDS) if name not in PLAIN])
def test_regret_grows_more_slowly_than_rounds_do(name: str) -> None:
    world = (WORLDS | COST_WORLDS)[name]
    problem = Problem(world.feasible, environments.Bernoulli(means_of(world)), sense=world.sense)
    result = simulate(
        problem, policies.CombUCB1(), horizon=40_000, runs=8, seed=5, checkpoints=[20_000], engine="compiled"
    )
    half, whole = result.regret[0].mean(axis=0)
    assert whole < 1.6 * half


def by_density(weights: list[float]) -> Solution:
    """The greedy filling or the best single item, written another way."""
    left, chosen = 7, []
    for item in sorted(range(7), key=lambda item: -weights[item] / COSTS[item]):
        if weights[item] > 0 and COSTS[item] <= left:
            chosen.append(item)
            left -= COSTS[item]
    single = max(range(7), key=lambda item: weights[item])
    return tuple(sorted(chosen)) if sum(weights[item] for item in chosen) >= weights[single] else (single,)


@pytest.mark.long
def test_the_greedy_knapsack_keeps_its_promise() -> None:
    feasible = sets.GreedyKnapsack(COSTS, 7)
    means = means_of(World(feasible, []))
    problem = Problem(feasible, environments.Bernoulli(means))
    best: Callable[[Solution], float] = lambda one: sum(means[item] for item in one)  # noqa: E731
    exact = max((one for one in subsets(7) if fits(one, COSTS, 7, None)), key=best)
    assert problem.target == pytest.approx(0.5 * best(exact))
    own = simulate(problem, policies.CombUCB1(), horizon=3000, runs=50, seed=5)
    promise = simulate(problem, policies.CombUCB1(), horizon=3000, runs=50, seed=5, regret="ratio")
    np.testing.assert_allclose(
        promise.regret - own.regret,
        (problem.target - problem.value(problem.optimum)) * np.broadcast_to(own.rounds, own.regret.shape),
        atol=1e-6,
    )
    assert (promise.regret[0, :, -1] < 0.0).all()  # half the best is soon beaten
