"""A world of which every round asks for a solution from a set of its own."""

from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, policies, rng, sets, simulate, theory
from semibandits._util.fingerprint import digest
from semibandits.environments import Requests
from semibandits.errors import BadArgument, BadWeights, ConformanceError, Unsupported
from semibandits.testing import check_environment
from semibandits.types import Environment
from support.requested import COINS, Own

SLATES = [sets.TopK(5, 1), sets.TopK(5, 2), sets.TopK(5, 3)]


def test_weights_are_those_of_the_world_inside() -> None:
    for inside in (COINS, environments.Beta([1, 2, 3, 4, 5], 2), environments.Uniform(0.0, [1, 2, 3, 4, 5.0])):
        world = Requests(inside, SLATES)
        assert (world.n_items, world.bounds, world.batched) == (5, inside.bounds, inside.batched)
        keys = rng.keys(3, 0, 1, 20, rng.WORLD)
        for round, key in enumerate(keys.tolist(), start=1):
            assert np.array_equal(world.weights(round, key), inside.weights(round, key))
            assert np.array_equal(world.weights(round, key, np.array([1, 4])), inside.weights(round, key)[[1, 4]])
            assert np.array_equal(world.means(round), inside.means)


def test_sets_come_with_their_chances_whatever_the_weights() -> None:
    chances = [0.2, 0.5, 0.3]
    world = Requests(COINS, SLATES, chances=chances)
    keys = rng.keys(11, 0, 1, 6000, rng.WORLD).tolist()
    said = [SLATES.index(world.feasible(round, key)) for round, key in enumerate(keys, start=1)]
    frequent = np.bincount(said) / len(said)
    assert (np.abs(frequent - chances) < 5.0 * np.sqrt(0.25 / len(said))).all()
    assert said[:100] == [SLATES.index(world.feasible(7, key)) for key in keys[:100]]  # not the round's number counts
    drawn = np.array([COINS.weights(1, key) for key in keys])
    correlation = np.corrcoef(np.array(said, dtype=float), drawn.T)[0, 1:]
    assert (np.abs(correlation) < 5.0 / np.sqrt(len(said))).all()
    alike = Requests(COINS, SLATES)
    shares = np.bincount([SLATES.index(alike.feasible(1, key)) for key in keys]) / len(keys)
    assert (np.abs(shares - 1 / 3) < 5.0 * np.sqrt(0.25 / len(keys))).all()


def test_in_turn() -> None:
    world = Requests(COINS, SLATES, order="in turn")
    assert [world.feasible(round, 0).max_size for round in range(1, 8)] == [1, 2, 3, 1, 2, 3, 1]
    assert repr(world) == ("Requests(Bernoulli(5 items), 3 sets in turn: TopK(5, 1), TopK(5, 2), ...)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((COINS, []), "at least one"),
        ((COINS, sets.TopK(5, 2)), "list of feasible sets"),
        ((COINS, [sets.TopK(4, 2)]), "set 0 must have the 5 items"),
        ((COINS, ["TopK"]), "list of feasible sets"),
        ((None, SLATES), "environment must be"),
        ((Requests(COINS, SLATES), SLATES), "says no sets itself"),
    ],
)
def test_bad_arguments(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        Requests(*arguments)


@pytest.mark.parametrize("chances", [[1.0], [0.5, 0.5, 0.0], [0.5, 0.3, 0.3], [0.5, -0.1, 0.6], "half", [np.nan, 0, 0]])
def test_bad_chances(chances: Any) -> None:
    with pytest.raises(BadArgument, match="chances"):
        Requests(COINS, SLATES, chances=chances)
    with pytest.raises(BadArgument, match="order"):
        Requests(COINS, SLATES, order="random")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="in turn every set comes as often"):
        Requests(COINS, SLATES, chances=[0.2, 0.3, 0.5], order="in turn")


def test_a_problem_has_no_optimum_of_its_own() -> None:
    problem = Problem(sets.TopK(5, 3), Requests(COINS, SLATES))
    for ask in (
        lambda: problem.optimum,
        lambda: problem.means,
        lambda: problem.item_gaps,
        lambda: problem.gap([0, 1, 2]),
        lambda: problem.min_gap,
        lambda: problem.target,
        lambda: problem.value([0]),
        lambda: theory.bounds(problem, [100]),
        lambda: policies.Clairvoyant(problem).check(problem.feasible),
        lambda: policies.recommend(problem),
        lambda: problem.at(1),
        lambda: problem.environment.at(1),
    ):
        with pytest.raises((Unsupported, BadArgument), match=r"set|Drifting"):
            ask()
    assert "every round has a set of its own" in problem._repr_html_()


def test_sets_must_fit_the_problem() -> None:
    roads = [("a", "b"), ("b", "c"), ("a", "c")]
    own = sets.Paths(roads, "a", "c")
    costs = environments.Uniform(0.0, [1.0, 2.0, 3.0])
    Problem(own, Requests(costs, [own, own.between("a", "b")]), sense="min")
    with pytest.raises(BadArgument, match="needs weights <= 0"):
        Problem(sets.TopK(3, 1), Requests(costs, [sets.TopK(3, 1), own]))
    with pytest.raises(BadArgument, match="its item 0 is 'b->c'"):
        Problem(own, Requests(costs, [sets.Paths([roads[1], roads[0], roads[2]], "a", "c")]), sense="min")


def test_worlds_with_other_sets_are_told_apart() -> None:
    worlds = [
        Requests(COINS, SLATES),
        Requests(COINS, SLATES[:2]),
        Requests(COINS, SLATES[::-1]),
        Requests(COINS, SLATES, chances=[0.2, 0.5, 0.3]),
        Requests(COINS, SLATES, order="in turn"),
        Requests(environments.Bernoulli([0.9, 0.8, 0.5, 0.3, 0.2]), SLATES),
        Requests(COINS, [sets.TopK(5, 1), sets.TopK(5, 2), sets.TopK(5, 3, bases=False)]),
    ]
    assert len({digest(world) for world in worlds}) == len(worlds)
    assert digest(Requests(COINS, [sets.TopK(5, k) for k in (1, 2, 3)])) == digest(worlds[0])


def test_a_users_own_world_is_checked() -> None:
    check_environment(Requests(COINS, SLATES), samples=300)
    check_environment(Own(), samples=300)
    for broken, said in (
        ({"always": "TopK"}, "must return a FeasibleSet or None"),
        ({"always": sets.TopK(4, 1)}, "sets of the 5 items"),
        ({"forgets": True}, "the same set every time"),
    ):
        with pytest.raises(ConformanceError, match=said):
            check_environment(Own(**broken), samples=50)
    unsaid = Own()
    unsaid.says_sets = False  # type: ignore[misc]
    with pytest.raises(ConformanceError, match="says_sets = True"):
        check_environment(unsaid, samples=50)
    with pytest.raises(BadArgument, match="says_sets = True"):
        Problem(sets.TopK(5, 2), unsaid)


class Seven(environments.Bernoulli):
    """A user's, which says that it weighs from 0 to 1."""

    drawing = Environment.drawing

    @staticmethod
    def draw(round: Any, key: Any, item: Any, tables: Any) -> Any:
        return tables[0][item] * 0.0 + 7.0


class Nothing(Seven):
    @staticmethod
    def draw(round: Any, key: Any, item: Any, tables: Any) -> Any:
        return tables[0][item] * np.nan


class Listed(Seven):
    """Its bounds are lists, as users write them."""

    def __init__(self) -> None:
        super().__init__([0.5] * 5)
        self.bounds = ([0.0] * 5, [1.0, 1.0, 1.0, 7.0, 9.0])  # type: ignore[assignment]


@pytest.mark.parametrize("kind", [Seven, Nothing])
@pytest.mark.parametrize("engine", ["plain", "auto"])
@pytest.mark.parametrize("wrapped", ["alone", "requests", "scaled", "both"])
def test_a_users_world_is_looked_at_inside_others(kind: Any, engine: Any, wrapped: str) -> None:
    world: Any = kind([0.5] * 5)
    if wrapped in ("scaled", "both"):
        world = environments.Scaled(world, ([0.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0]))
    if wrapped in ("requests", "both"):
        world = Requests(world, SLATES)
    with pytest.raises(BadWeights, match="weighs"):
        simulate(Problem(SLATES[2], world), policies.CombUCB1(), horizon=20, runs=2, seed=0, engine=engine)


def test_bounds_as_users_write_them() -> None:
    world = Requests(Listed(), [sets.TopK(5, 1)])
    assert world.bounds[1].tolist() == [1.0, 1.0, 1.0, 7.0, 9.0]  # type: ignore[union-attr]
    with pytest.raises(BadWeights, match=r"item [012] weighs 7"):
        simulate(Problem(SLATES[0], world), policies.CombUCB1(), horizon=20, runs=1, seed=0)


def test_a_set_that_an_object_says_by_itself() -> None:
    world = environments.Bernoulli([0.5] * 5)
    world.feasible = lambda round, key: SLATES[0]  # type: ignore[method-assign]
    with pytest.raises(BadArgument, match="says_sets = True"):
        Problem(SLATES[1], world)
