"""Bounds per item in play: machine code, plain loop and learner decide alike, and as an independent implementation."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from semibandits import Environment, Learner, Problem, environments, errors, policies, rng, sets, simulate
from semibandits.kernel import where
from semibandits.rng import uniform
from semibandits.types import Arrays, IndexPolicy, Items, Policy, Scalar
from support.tasks import agree_everywhere, long, task

GRID = sets.DagPaths([(i, j) for i, j in itertools.combinations(range(5), 2) if j - i <= 2], 0, 4)
SLATE = sets.TopK(9, 3)


def random_problem(seed: int, feasible: Any = SLATE, sense: Any = "max", known: float = 0.3) -> Problem:
    """Some items' weights are known; bounds differ a hundredfold."""
    generator = np.random.default_rng(seed)
    n = feasible.n_items
    lo = generator.uniform(0.5, 10.0, n)
    hi = lo + 10.0 ** generator.uniform(-1.0, 1.0, n) * (generator.random(n) >= known)
    low = generator.uniform(0.0, 0.8, n)
    world = environments.Uniform(low, low + 0.2, bounds=(0.0, 1.0))
    return Problem(feasible, environments.Scaled(world, (lo, hi)), sense)


QUICK: list[IndexPolicy | Policy] = [policies.CombUCB1()]
OTHERS: list[IndexPolicy | Policy] = [
    policies.PooledCTS(),
    policies.ExploreThenCommit(40),
    policies.CombUCB1(init="all"),
    policies.CombUCB1(init="optimistic"),
    policies.OMM(),
    policies.KLUCB(),
    policies.CTS(),
    policies.SlidingWindow(37),
    policies.PooledCTS(window=37),
    policies.EpsilonGreedy(0.2),
    policies.Random(),
    policies.Fixed([0, 4, 8]),
    policies.ESCB(),
    policies.OLSUCB(),
    policies.OSMD(),
    policies.FPL(),
]


@pytest.mark.parametrize(
    ("policy", "sense"),
    [(policy, "max") for policy in QUICK]
    + [long(policy, "max") for policy in OTHERS]
    + [long(policy, "min") for policy in (*QUICK, *OTHERS)],
)
def test_all_play_alike(policy: IndexPolicy | Policy, sense: Any) -> None:
    horizon = 100 if isinstance(policy, Policy) else 300
    for seed in range(3):
        agree_everywhere(task(random_problem(seed, sense=sense), policy, horizon=horizon), runs=2)


def by_hand(problem: Problem, init: str, horizon: int, seed: int) -> list[list[int]]:
    """CombUCB1 in the units of the weights: every radius is as wide as the item's bounds are."""
    n, sign = problem.n_items, 1.0 if problem.sense == "max" else -1.0
    rows = np.array([np.isin(np.arange(n), one) for one in problem.feasible.listed(10_000)], dtype=float)
    lo, hi = (np.broadcast_to(side, n) for side in problem.bounds)
    far = hi if sign > 0.0 else lo
    count, total = np.zeros(n), np.zeros(n)
    decided = []
    for t in range(1, horizon + 1):
        begins = init != "optimistic" and (count == 0.0).any()
        if begins:
            items = problem.feasible.argmax((count == 0.0).astype(float))
        else:
            radius = (hi - lo) * np.sqrt(1.5 * math.log(max(t - 1, 1)) / np.maximum(count, 1.0))
            hoped = np.where(count > 0.0, total / np.maximum(count, 1.0) + sign * radius, far)
            items = np.flatnonzero(rows[np.argmax(rows @ (sign * hoped))])
        weights = problem.environment.weights(t, rng.key(seed, 0, t, rng.WORLD), items)
        if begins and init == "paper":
            count[items], total[items] = 0.0, 0.0
        count[items] += 1.0
        total[items] += weights
        decided.append(items.tolist())
    return decided


@pytest.mark.parametrize("init", ["paper", "all", "optimistic"])
@pytest.mark.parametrize("sense", ["max", "min"])
def test_combucb1_by_hand(init: Any, sense: Any) -> None:
    for seed in range(3):
        problem = random_problem(seed, GRID, sense, known=0.0 if init == "optimistic" else 0.3)
        policy = policies.CombUCB1(init=init)
        played = simulate(problem, policy, horizon=400, runs=1, seed=seed, record="solutions", engine="plain")
        assert played.solutions is not None
        found = [[item for item in row if item >= 0] for row in played.solutions[0, 0].tolist()]
        assert found == by_hand(problem, init, 400, seed)


def test_equal_bounds_change_no_number() -> None:
    def play(bounds: Any) -> Any:
        world = environments.Uniform(np.linspace(1.0, 2.0, 9), np.linspace(3.0, 3.5, 9), bounds)
        return simulate(Problem(SLATE, world, "min"), QUICK, horizon=200, runs=2, seed=3, record="solutions")

    one, other = play((0.5, 4.0)), play((np.full(9, 0.5), np.full(9, 4.0)))
    np.testing.assert_array_equal(one.regret, other.regret)
    np.testing.assert_array_equal(one.solutions, other.solutions)
    assert one.provenance["bounds"] == other.provenance["bounds"] == [0.5, 4.0]


@pytest.mark.parametrize("policy", [policies.CombUCB1(), policies.KLUCB(), policies.ESCB(c=1.0)], ids=repr)
def test_items_in_another_order(policy: IndexPolicy | Policy) -> None:
    generator = np.random.default_rng(5)
    order = generator.permutation(6)
    lo = generator.uniform(0.0, 5.0, 6)
    hi = lo + generator.uniform(0.0, 9.0, 6)
    rows = generator.uniform(lo, hi, (500, 6))
    listed = [[0, 1, 2], [2, 3], [3, 4, 5], [0, 5], [1, 4]]
    place = np.argsort(order)

    def play(listed: Any, rows: Any, bounds: Any) -> Any:
        problem = Problem(sets.Enumerated(listed), environments.Table(rows, bounds), "min")
        result = simulate(problem, policy, horizon=400, runs=2, seed=1, record="counts", engine="plain")
        return result.counts, result.regret

    counts, regret = play(listed, rows, (lo, hi))
    moved = play([sorted(place[one].tolist()) for one in listed], rows[:, order], (lo[order], hi[order]))
    np.testing.assert_array_equal(counts[..., order], moved[0])
    np.testing.assert_allclose(regret, moved[1], rtol=1e-9)


def test_fixed_and_explorers_do_what_they_say() -> None:
    """What the oracle is asked for does not depend on how wide an item's bounds are."""
    lo, hi = np.array([1.0, 1.0, 9.0, 1.0, 1.0]), np.array([1.0, 1.0, 9.0, 1.0 + 1e-6, 99.0])
    problem = Problem(sets.TopK(5, 2), environments.Uniform(lo, hi, (lo, hi)))
    fixed = simulate(problem, policies.Fixed([0, 1]), horizon=20, runs=1, seed=0, record="counts")
    assert fixed.counts is not None
    assert fixed.counts[0, 0].tolist() == [20, 20, 0, 0, 0]
    explorer = policies.ExploreThenCommit(rounds=50)
    explored = simulate(problem, explorer, horizon=50, runs=1, seed=0, record="counts")
    assert explored.counts is not None
    assert explored.counts[0, 0].tolist() == [20, 20, 20, 20, 20]
    best = simulate(problem, policies.Clairvoyant(problem), horizon=50, runs=1, seed=0)
    assert best.regret[0, 0, -1] == 0.0


def town(bounds: str) -> Problem:
    """Streets of 2 to 12 minutes, in traffic up to three times as many."""
    side = 10
    generator = np.random.default_rng(0)
    ways = [((x, y), (x + 1, y)) for x in range(side - 1) for y in range(side)]
    ways += [((x, y), (x, y + 1)) for x in range(side) for y in range(side - 1)]
    free = generator.uniform(2.0, 12.0, len(ways))
    world = environments.Uniform(
        free,
        free * generator.uniform(1.2, 3.0, len(ways)),
        bounds=(free, 3.0 * free) if bounds == "per item" else (0.0, 36.0),
    )
    return Problem(sets.DagPaths(ways, (0, 0), (side - 1, side - 1)), world, "min")


def test_tight_bounds_are_worth_much() -> None:
    known = [policies.CombUCB1(), policies.KLUCB(), policies.EpsilonGreedy()]
    tight, wide = (
        simulate(town(bounds), known, horizon=3_000, runs=1, seed=1, engine="plain", threads=1).regret[:, 0, -1]
        for bounds in ("per item", "one pair")
    )
    assert (tight < np.array([0.7, 0.3, 0.5]) * wide).all(), (tight, wide)


class Steps(Environment):
    """A user's own, with lists for bounds; item 2 may leave its own now and then, within those of others."""

    def __init__(self, beyond: float = 0.0) -> None:
        self.n_items, self.bounds = 4, ([0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 5.0, 9.0])  # type: ignore[assignment]
        self.means = np.array([0.5, 1.0, 3.0, 3.5])
        self.tables = (
            np.array([0.0, 1.0, 2.0, 3.0]),
            np.array([1.0, 1.0, 4.0, 4.0]),
            np.array([0.0, 0.0, beyond, 0.0]),
        )

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        u = uniform(key, item)
        weight = tables[0][item] + (tables[1][item] - tables[0][item]) * u
        return where(u < 0.005, tables[0][item] - tables[2][item], weight)


@pytest.mark.parametrize("policy", [policies.CombUCB1(), long(policies.ESCB())], ids=repr)
@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_a_users_world_keeps_to_each_items_bounds(policy: Any, engine: Any) -> None:
    def play(world: Environment) -> None:
        simulate(Problem(sets.TopK(4, 2), world), policy, horizon=2_000, runs=1, seed=0, engine=engine)

    assert isinstance(Problem(sets.TopK(4, 2), Steps()).bounds[0], np.ndarray)
    play(Steps())
    with pytest.raises(errors.BadWeights, match=r"item 2 .*not in (its|the) bounds \(2.0, 5.0\)"):
        play(Steps(1.0))


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("engine", ["plain", long("compiled")])
def test_items_whose_weight_is_known_teach_nothing(engine: Any, sense: Any) -> None:
    """With some of them in every solution, PooledCTS chooses the same of the others as without them."""
    generator = np.random.default_rng(2)
    low, known = generator.uniform(0.0, 0.6, 12), generator.uniform(-3.0, 3.0, 5)
    noise = environments.Uniform(low, low + 0.3, bounds=(0.0, 1.0))
    rows = environments.Uniform(
        np.concatenate([low, known]),
        np.concatenate([low + 0.3, known]),
        bounds=(np.concatenate([np.zeros(12), known]), np.concatenate([np.ones(12), known])),
    )

    def play(problem: Problem) -> Any:
        result = simulate(problem, policies.PooledCTS(), horizon=300, runs=3, seed=4, record="solutions", engine=engine)
        assert result.solutions is not None
        return result.solutions[0, ..., :4]

    alone = play(Problem(sets.TopK(12, 4), noise, sense))
    np.testing.assert_array_equal(play(Problem(sets.Product([sets.TopK(12, 4), sets.TopK(5, 5)]), rows, sense)), alone)


class OnItsOwnScale(policies.ESCB):
    """Of whole solutions, which nothing but their sums is known of."""

    common_scale = False
    feedback = "bandit"


def test_a_sum_needs_one_scale() -> None:
    bounds = (np.zeros(4), np.array([1.0, 2.0, 2.0, 2.0]))
    with pytest.raises(errors.Unsupported, match="common_scale"):
        Learner(sets.TopK(4, 2), OnItsOwnScale(), feedback="bandit", bounds=bounds)


def test_a_learner_has_the_items_of_its_bounds() -> None:
    lo, hi = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 9.0, 5.0])
    learner = Learner(sets.TopK(4, 2), policies.CombUCB1(), bounds=(lo, hi), seed=1)
    seen: Items = np.zeros(4, dtype=np.int64)
    for _ in range(4):
        decision = learner.ask()
        learner.tell(decision.id, lo[decision.items])
        seen[decision.items] += 1
    assert (seen > 0).all()
    radius = math.sqrt(1.5 * math.log(4))
    count = learner.counts
    np.testing.assert_allclose(learner.scores(), lo + (hi - lo) * radius / np.sqrt(count), rtol=1e-12)
