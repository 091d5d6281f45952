"""OMM: CombUCB1 with a radius of 2, on matroids only."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner, environments, errors, policies, problems, rng, sets, simulate
from semibandits.types import FeasibleSet
from support.histories import GAME, MEANS, PAIRS, histories, scores_after
from support.plain_play import agree, play

Numbers = NDArray[np.float64]

EDGES = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "c"), ("a", "b")]
MATROIDS = {
    "top-k": sets.TopK(7, 3),
    "at most k": sets.TopK(7, 3, bases=False),
    "partition": sets.PartitionMatroid([0, 0, 1, 1, 1, 2, 2], [1, 2, 1]),
    "at most so many of each": sets.PartitionMatroid([0, 0, 1, 1, 1, 2, 2], [1, 2, 1], bases=False),
    "laminar": sets.LaminarMatroid(7, [([0, 1, 2, 3], 2), ([0, 1], 1), ([4, 5, 6], 2)]),
    "trees": sets.GraphicMatroid(EDGES),
    "forests": sets.GraphicMatroid(EDGES, bases=False),
    "a user's": sets.Matroid(lambda items: len(set(items.tolist()) & {0, 1, 2}) <= 1 and len(items) <= 4, 7),
    "restricted": sets.TopK(7, 3).restrict(include=[2], exclude=[5]),
}
OTHERS = {
    "paths": sets.DagPaths([("s", "a"), ("a", "t"), ("s", "t")], source="s", target="t"),
    "assignments": sets.Assignment(2, 3),
    "listed": sets.Enumerated([[0, 1], [0, 2], [1, 2]]),
    "one path of many": sets.KPaths(6, 3),
    "a user's solver": sets.Oracle(lambda weights: [int(np.argmax(weights))], n_items=4, max_size=1),
    "knapsacks": sets.Knapsack([1, 2, 3], 4),
}


def decisions(feasible: FeasibleSet, policy: policies.OMM | policies.CombUCB1, rounds: int = 250) -> list[list[int]]:
    """Live, in a world of continuous weights."""
    world = environments.Uniform(np.zeros(feasible.n_items), np.linspace(0.4, 1.0, feasible.n_items), bounds=(0, 1))
    learner = Learner(feasible, policy, seed=1, uncovered="ignore")
    made = []
    for round in range(1, rounds + 1):
        decision = learner.ask()
        learner.tell(decision.id, world.weights(round, rng.key(1, 0, round, rng.WORLD), decision.items))
        made.append(decision.items.tolist())
    return made


@pytest.mark.parametrize("name", MATROIDS)
def test_on_matroids_it_is_combucb1_with_alpha_2(name: str) -> None:
    ours = decisions(MATROIDS[name], policies.OMM())
    assert ours == decisions(MATROIDS[name], policies.CombUCB1(alpha=2.0))
    assert len({tuple(items) for items in ours}) > 1


def test_another_radius_decides_otherwise() -> None:
    for alpha in (1.5, 1.9, 2.1):
        assert decisions(MATROIDS["top-k"], policies.OMM()) != decisions(MATROIDS["top-k"], policies.CombUCB1(alpha))


def test_scores_after_random_observations() -> None:
    """ŵ + sqrt(2 log(t-1) / T)"""
    for seen, round in histories(seed=6):
        early = math.log(max(round - 1, 1))
        expected = [float(np.mean(xs)) + math.sqrt(2.0 * early / len(xs)) if xs else 1.0 for xs in seen]
        np.testing.assert_allclose(scores_after(policies.OMM(), seen, round), expected, rtol=1e-13)


@pytest.mark.parametrize("init", ["paper", "all", "optimistic"])
def test_it_begins_as_combucb1_does(init: str) -> None:
    assert policies.OMM() == policies.OMM(init="paper")
    ours = decisions(MATROIDS["trees"], policies.OMM(init=init), 30)  # type: ignore[arg-type]
    assert ours == decisions(MATROIDS["trees"], policies.CombUCB1(2.0, init=init), 30)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OTHERS)
def test_other_sets_are_refused(name: str) -> None:
    with pytest.raises(errors.Unsupported, match=r"OMM needs .* matroid.*: use CombUCB1\(alpha=2\.0\)") as refusal:
        Learner(OTHERS[name], policies.OMM())
    assert type(OTHERS[name]).__name__ in str(refusal.value)


def test_a_simulation_is_refused_too() -> None:
    with pytest.raises(errors.Unsupported, match="OMM needs"):
        simulate(problems.grid_path(2, 0.3), policies.OMM(), horizon=10, runs=1, seed=0)


def test_products_of_matroids() -> None:
    product = sets.Product([sets.TopK(4, 2), sets.GraphicMatroid(EDGES)])
    assert decisions(product, policies.OMM()) == decisions(product, policies.CombUCB1(alpha=2.0))
    with pytest.raises(errors.Unsupported, match="OMM needs"):
        Learner(sets.Product([sets.TopK(4, 2), sets.Assignment(2, 2)]), policies.OMM())


def test_regret_equals_that_of_combucb1_and_a_plain_simulation() -> None:
    def scores(t: int, estimates: Numbers, seen: list[list[float]], generator: np.random.Generator) -> Numbers:
        return estimates + np.sqrt(2.0 * math.log(t - 1) / np.array([len(x) for x in seen]))

    both = [policies.OMM(), policies.CombUCB1(alpha=2.0)]
    ours, same = simulate(GAME, both, horizon=400, runs=1024, seed=11, checkpoints=[400], record="counts").regret[
        :, :, -1
    ]
    np.testing.assert_array_equal(ours, same)
    agree(ours, play(PAIRS, MEANS, scores, horizon=400, runs=200, seed=12, init=True))
