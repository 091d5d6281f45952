"""A world to play with by hand: one run of an environment, the same as a simulation's."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semibandits as sb
from semibandits import environments, rng, sets

MEANS = [0.2, 0.8, 0.4, 0.6, 0.5]
ROUNDS = 60
TABLE = np.random.default_rng(0).random((ROUNDS, 5))
WORLDS = [
    environments.Bernoulli(MEANS),
    environments.Bernoulli([0.3, 0.3, 0.7, 0.7, 0.5], groups=[0, 0, 1, 1, 2]),
    environments.Beta([1.0, 2.0, 3.0, 2.0, 1.0], [2.0, 1.0, 3.0, 2.0, 1.0]),
    environments.CorrelatedGaussian.equicorrelated(MEANS, 0.1, 0.5, bounds=(-2.0, 3.0)),
    environments.Custom(lambda generator: (generator.random(5) < MEANS).astype(float), MEANS),
    environments.Drifting([MEANS, MEANS[::-1]], starts=[1, 20]),
    environments.Scaled(environments.Bernoulli(MEANS), bounds=([0.0] * 5, [1.0, 2.0, 1.0, 3.0, 1.0])),
    environments.Table(TABLE),
    environments.Table(TABLE, order="recorded"),
]


@pytest.mark.parametrize("environment", WORLDS, ids=repr)
@pytest.mark.parametrize("run", [0, 2])
def test_it_is_a_run_of_a_simulation(environment: sb.Environment, run: int) -> None:
    """The policy chooses without looking, so that every run of it can be followed."""
    problem = sb.Problem(sets.TopK(5, 2), environment)
    result = sb.simulate(
        problem, sb.policies.Random(), horizon=ROUNDS, runs=3, seed=11, record=["sums", "solutions"], threads=1
    )
    assert result.solutions is not None
    assert result.sums is not None
    world, sums = problem.world(seed=11, run=run), np.zeros(5)
    for round, items in enumerate(result.solutions[0, run], start=1):
        sums[items] += world.weights(round, items)
    assert sums == pytest.approx(result.sums[0, run], abs=1e-12)


def test_a_learner_in_it_is_run_0() -> None:
    problem = sb.problems.grid_path(m=2, sigma=0.4)
    result = sb.simulate(problem, "CTS", horizon=300, runs=1, seed=7, record="solutions")
    assert result.solutions is not None
    learner, world = sb.Learner(problem.feasible, "CTS", seed=7), problem.environment.world(seed=7)
    for row in result.solutions[0, 0]:
        decision = learner.ask()
        assert decision.items.tolist() == row[row >= 0].tolist()
        assert learner.tell(decision, world.weights(decision)) == decision.items.size


@given(
    seed=st.integers(0, 2**64 - 1),
    run=st.integers(0, 5),
    round=st.integers(1, 10**9),
    items=st.lists(st.integers(0, 4), unique=True),
)
def test_weights_are_those_of_the_key(seed: int, run: int, round: int, items: list[int]) -> None:
    environment = WORLDS[0]
    all_of_them = environment.weights(round, rng.key(seed, run, round, rng.WORLD))
    world = environment.world(seed, run)
    assert world.weights(round).tolist() == all_of_them.tolist()
    assert world.weights(round, items).tolist() == all_of_them[items].tolist()
    assert world.weights(round, (item for item in items)).tolist() == all_of_them[items].tolist()


def test_what_is_returned_may_be_written_to() -> None:
    recorded = environments.Table(TABLE, order="recorded").world(seed=0)
    recorded.weights(1)[:] = 0.0
    assert recorded.weights(1).tolist() == TABLE[0].tolist()


def test_a_decision_of_items_by_other_names_is_refused() -> None:
    means = pd.Series([0.1, 0.5, 0.9], index=["a", "b", "c"])
    world = environments.Bernoulli(means).world(seed=1)
    for labels in itertools.permutations("abc"):
        learner = sb.Learner(sets.TopK(3, 3), labels=labels, seed=1)
        decision = learner.ask()
        if labels == ("a", "b", "c"):
            assert world.weights(decision).shape == (3,)
        else:
            with pytest.raises(sb.errors.UnknownItem, match="or the same in another order"):
                world.weights(decision)
    numbered = sb.Learner(sets.TopK(3, 3), seed=1)
    assert world.weights(numbered.ask()).shape == (3,)


def test_an_edge_may_be_named_from_either_end() -> None:
    roads = sets.Paths([("A", "B"), ("B", "C"), ("A", "C")], "A", "C", directed=False)
    names = ["B-A", "C-B", "C-A"]
    minutes = environments.Uniform(pd.Series([1.0, 2.0, 3.0], index=names), 5.0, bounds=(0.0, 9.0))
    problem = sb.Problem(roads, minutes, sense="min")
    decision = sb.Learner(roads, sense="min", bounds=(0.0, 9.0), seed=1).ask()
    assert set(decision.labels).isdisjoint(names)
    expected = minutes.world(seed=1).weights(decision.round, decision.items)
    assert problem.world(seed=1).weights(decision).tolist() == expected.tolist()
    with pytest.raises(sb.errors.UnknownItem, match="give the decision's round and items"):
        minutes.world(seed=1).weights(decision)


def test_a_decision_of_the_sets_items_in_another_order_is_refused() -> None:
    """A learner that was loaded onto its roads in another order; names of its own are nobody else's."""
    edges = [("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("a", "d")]
    here, there = sets.Paths(edges, "a", "d"), sets.Paths(edges[::-1], "a", "d")
    world = sb.Problem(here, environments.Bernoulli([0.1, 0.1, 0.9, 0.9, 0.5]), sense="min").world(seed=3)
    decision = sb.Learner(there, sense="min", seed=3).ask()
    with pytest.raises(sb.errors.UnknownItem, match=r"item \d is .* in Bernoulli.*, and .* in the decision"):
        world.weights(decision)
    for learner in (sb.Learner(here, sense="min", seed=3), sb.Learner(here, sense="min", labels=list("vwxyz"))):
        assert world.weights(learner.ask()).size


class Mine(sb.Environment):
    n_items, bounds, means = 3, (0.0, 1.0), np.array([0.1, 0.2, 0.3])

    def __init__(self, drawn: object) -> None:
        self.drawn = drawn

    def weights(self, round: int, key: object, items: object = None) -> np.ndarray:
        return self.drawn  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("drawn", "said"),
    [
        ([0.1, 0.2, 0.3], r"must give 2 numbers, one per item, got \[0.1, 0.2, 0.3\]"),  # whatever items are asked for
        (0.5, "must give 2 numbers"),
        (np.array([0.5, np.nan]), r"item 1 weighs nan in .*, not in its bounds \(0.0, 1.0\)"),
        (np.array([7.0, 0.5]), "item 0 weighs 7.0"),
    ],
)
def test_what_a_users_environment_gives_is_checked(drawn: object, said: str) -> None:
    with pytest.raises(sb.errors.BadWeights, match=said):
        Mine(drawn).world(seed=1).weights(1, [0, 1])


def test_what_is_refused() -> None:
    world = WORLDS[0].world(seed=1)
    decision = sb.Learner(sets.TopK(9, 9), seed=1).ask()
    with pytest.raises(sb.errors.UnknownItem, match="item 8 does not exist: items are 0 to 4"):
        world.weights(decision)
    with pytest.raises(sb.errors.BadArgument, match="a decision has its items"):
        world.weights(decision, [0])
    with pytest.raises(sb.errors.UnknownItem, match="items must be distinct integers"):
        world.weights(1, [0, 0])
    with pytest.raises(sb.errors.UnknownItem, match="items must be distinct integers"):
        world.weights(1, "01")  # type: ignore[arg-type]
    with pytest.raises(sb.errors.EndOfTable, match=r"round 61 was asked of Table\(.*, which ends with round 60"):
        environments.Table(TABLE, order="recorded").world(seed=0).weights(61)
    for run in (-1, 0.5, True, 10**12):
        with pytest.raises(sb.errors.BadArgument, match="run must be a whole number from 0 to 999,999,999,999, got"):
            WORLDS[0].world(seed=1, run=run)  # type: ignore[arg-type]
    with pytest.raises(sb.errors.BadArgument, match="round must be at most 1,000,000,000,000"):
        world.weights(2**64 + 1)
    for items in ({3, 1}, {3: 0.5, 1: 0.5}):
        with pytest.raises(sb.errors.BadArgument, match=r"in the order of the items, and this has none: \{"):
            world.weights(1, items)
    with pytest.raises(sb.errors.BadArgument, match="a seed is an integer"):
        WORLDS[0].world(seed=-1)


def test_a_seed_that_is_drawn_is_told() -> None:
    world = WORLDS[0].world()
    assert WORLDS[0].world(world.seed).weights(5).tolist() == world.weights(5).tolist()
    assert repr(WORLDS[0].world(seed=3)) == "World(Bernoulli(5 items), seed=3)"
    assert repr(WORLDS[0].world(seed=3, run=2)) == "World(Bernoulli(5 items), seed=3, run=2)"


def test_it_says_the_set_of_a_round() -> None:
    slates = [sets.TopK(5, 1), sets.TopK(5, 3)]
    world = environments.Requests(WORLDS[0], slates, order="in turn").world(seed=0)
    assert [world.feasible(round) for round in (1, 2, 3)] == [slates[0], slates[1], slates[0]]
    assert WORLDS[0].world(seed=0).feasible(1) is None
