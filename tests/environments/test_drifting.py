"""Worlds that drift: their means against interpolation, their coins against the stationary ones, and bad input."""

from collections.abc import Callable

import numpy as np
import pytest

from semibandits import Problem, environments, errors, problems, rng, sets, theory
from semibandits.kernel import where
from semibandits.rng import uniform
from semibandits.testing import check_environment
from semibandits.types import Arrays, Environment, Scalar, Weights

STARTS = [1, 2, 30, 31, 200]
ROWS = np.random.default_rng(5).random((5, 3))
steps = environments.Drifting(ROWS, STARTS)
smooth = environments.Drifting(ROWS, STARTS, smooth=True)


def expected_means(round: int, is_smooth: bool) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if is_smooth:
        return np.array([np.interp(round, STARTS, column) for column in ROWS.T])
    return ROWS[max(k for k, start in enumerate(STARTS) if start <= round)]  # type: ignore[no-any-return]


@pytest.mark.parametrize("world", [steps, smooth], ids=repr)
def test_means_of_every_round(world: environments.Drifting) -> None:
    rounds = [*range(1, 260), 10**6]
    wanted = np.array([expected_means(round, world.smooth) for round in rounds])
    found = np.array([world.means(round) for round in rounds])
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-14)
    np.testing.assert_array_equal(found[[start - 1 for start in STARTS]], ROWS)
    np.testing.assert_array_equal(found, world.mean(np.array(rounds)[:, None], np.arange(3), world.tables))
    for i in (0, 1, 28, 29, 30, 100, 259):
        assert [world.mean(rounds[i], item, world.tables) for item in range(3)] == found[i].tolist()
    for horizon in (1, 2, 3, 29, 30, 31, 120, 199, 200, 259):
        np.testing.assert_allclose(world.average(horizon), wanted[:horizon].mean(axis=0), rtol=0.0, atol=1e-13)


def test_smooth_means_stay_probabilities() -> None:
    generator = np.random.default_rng(0)
    rows = generator.choice([0.0, 5e-324, 1e-17, 0.1, 0.3, 1 - 2**-53, 1.0], size=(200, 8))
    starts = np.cumsum(generator.integers(1, 8, size=200)) - 7
    starts -= starts[0] - 1
    world = environments.Drifting(rows, starts, smooth=True)
    means = world.mean(np.arange(1, starts[-1] + 9)[:, None], np.arange(8), world.tables)
    assert means.min() >= 0.0
    assert means.max() <= 1.0


def test_as_many_rows_as_there_may_be() -> None:
    rows = np.arange(4096)[:, None] / 4096
    starts = 1 + 3 * np.arange(4096)
    world = environments.Drifting(rows, starts)
    rounds = np.arange(1, starts[-1] + 10)
    found = world.mean(rounds[:, None], np.arange(1), world.tables)[:, 0]
    np.testing.assert_array_equal(found, np.minimum((rounds - 1) // 3, 4095) / 4096)


def test_one_row_is_a_bernoulli_world() -> None:
    drifting, still = environments.Drifting(ROWS[:1], [1]), environments.Bernoulli(ROWS[0])
    for round in (1, 2, 77, 10**9):
        key = rng.key(3, 1, round, rng.WORLD)
        np.testing.assert_array_equal(drifting.weights(round, key), still.weights(round, key))
    np.testing.assert_array_equal(drifting.average(1000), still.means)
    np.testing.assert_array_equal(drifting.means(1000), still.means)


@pytest.mark.parametrize("world", [steps, smooth], ids=repr)
def test_every_round_tosses_the_coins_of_its_own_world(world: environments.Drifting) -> None:
    assert not world.batched
    for round in (1, 2, 29, 30, 100, 200, 5000):
        keys = rng.keys(round, 0, 1, 4000, rng.WORLD)
        drawn = np.array([world.weights(round, int(key)) for key in keys])
        means = expected_means(round, world.smooth)
        error = np.sqrt(means * (1 - means) / len(keys))
        assert (np.abs(drawn.mean(axis=0) - means) <= 4.0 * error).all()
        np.testing.assert_array_equal(drawn, world.at(round).weights(7, keys[:, None]))
        some = np.array([0, 2])
        np.testing.assert_array_equal(world.weights(round, int(keys[0]), some), drawn[0, some])


def test_worlds_that_stay_are_their_own() -> None:
    still = environments.Bernoulli([0.2, 0.5])
    assert still.at(9) is still
    assert not still.drifts
    problem = Problem(sets.TopK(2, 1), still)
    assert problem.at(9) is problem
    assert smooth.drifts
    assert isinstance(smooth.at(9), environments.Bernoulli)
    np.testing.assert_array_equal(smooth.at(9).means, smooth.means(9))


def test_a_problem_has_means_and_gaps_in_one_round_only() -> None:
    world = environments.Drifting([[0.9, 0.5, 0.1], [0.1, 0.5, 0.75]], [1, 50])
    problem = Problem(sets.TopK(3, 1), world)
    for ask in (
        lambda: problem.means,
        lambda: problem.optimum,
        lambda: problem.item_gaps,
        lambda: problem.gap([1]),
        lambda: problem.target,
        lambda: theory.bounds(problem, 100),
        lambda: theory.explain(problem),
        lambda: theory.tight.ratio(problem, 100),
    ):
        with pytest.raises(errors.Unsupported, match=r"change from round to round.*problem\.at\(round\)"):
            ask()
    with pytest.raises(errors.Unsupported, match="Bernoulli environment"):
        theory.graves_lai_constant(problem)
    first, later = problem.at(49), problem.at(50)
    assert (first.optimum.tolist(), later.optimum.tolist()) == ([0], [2])
    assert (first.gap([1]), later.gap([1])) == (0.4, 0.25)
    assert theory.bounds(later, 100)
    costs = Problem(sets.TopK(3, 1), world, sense="min")
    assert costs.at(50).optimum.tolist() == [0]
    with pytest.raises(errors.BadArgument, match="true_optimum must be None"):
        Problem(sets.TopK(3, 1), world, true_optimum=[0])


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: environments.Drifting([0.5, 0.5], [1]), "matrix of numbers"),
        (lambda: environments.Drifting([[]], [1]), "matrix of numbers"),
        (lambda: environments.Drifting([["a"]], [1]), "matrix of numbers"),
        (lambda: environments.Drifting([[0.5], [0.5, 0.5]], [1, 2]), "matrix of numbers"),
        (lambda: environments.Drifting([[0.5], [1.5]], [1, 2]), r"got 1\.5 in row 1 for item 0"),
        (lambda: environments.Drifting([[0.5, np.nan]], [1]), "got nan in row 0 for item 1"),
        (lambda: environments.Drifting(np.zeros((4097, 1)), range(1, 4098)), "at most 4,096 rows, got 4,097"),
        (lambda: environments.Drifting([[0.5], [0.6]], [1]), "2 rounds, one per row of means, got 1"),
        (lambda: environments.Drifting([[0.5], [0.6]], [1, 1]), "ascend from 1"),
        (lambda: environments.Drifting([[0.5], [0.6]], [2, 3]), "ascend from 1"),
        (lambda: environments.Drifting([[0.5], [0.6]], [1, 2**51]), "ascend from 1"),
        (lambda: environments.Drifting([[0.5], [0.6]], np.array([1, 2**64 - 1], dtype=np.uint64)), "ascend from 1"),
        (lambda: environments.Drifting([[0.5], [0.6]], [1, 2.5]), "whole numbers"),
        (lambda: environments.Drifting([[0.5], [0.6]], [[1], [2, 3]]), "whole numbers"),
        (lambda: environments.Drifting([[0.5], [0.6]], 1), "whole numbers"),
        (lambda: environments.Drifting([[0.5]], [1], smooth="yes"), "'yes'"),  # type: ignore[arg-type]
        (lambda: steps.means(0), "integer >= 1, got 0"),
        (lambda: steps.at(1.5), r"integer >= 1, got 1\.5"),  # type: ignore[arg-type]
        (lambda: steps.average(0), "integer >= 1, got 0"),
    ],
)
def test_bad_input(build: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        build()


def test_what_it_is_told_cannot_be_changed_later() -> None:
    rows, starts = np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([1, 10])
    world = environments.Drifting(rows, starts, smooth=True)
    rows[:], starts[1] = 0.0, 5
    assert world.means(10).tolist() == [0.25, 0.75]
    for array in (world.rows, world.starts, *world.tables):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert repr(world) == "Drifting(2 rows, 2 items, smooth)"
    assert repr(steps) == "Drifting(5 rows, 3 items, in steps)"


class Late(Environment):
    """A user's own: the chances are halved from round 500 on, but it says that it is in round 400."""

    bounds = (0.0, 1.0)
    drifts = True

    def __init__(self, said: int = 500, plain: float = 0.5) -> None:
        self.n_items = 2
        self.tables = (np.array([0.8, 0.4]),)
        self.said, self.plain = said, plain

    @staticmethod
    def mean(round: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return tables[0][item] * where(round < 500, 1.0, 0.5)

    @staticmethod
    def draw(round: Scalar, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return where(uniform(key, item) < tables[0][item] * where(round < 500, 1.0, 0.5), 1.0, 0.0)

    def means(self, round: int) -> Weights:  # type: ignore[override]
        return self.tables[0] * (1.0 if round < self.said else self.plain)


@pytest.mark.parametrize("world", [steps, smooth, Late()], ids=repr)
def test_the_shipped_checks_accept_worlds_that_drift(world: Environment) -> None:
    check_environment(world)


def test_the_shipped_checks_look_at_later_rounds() -> None:
    with pytest.raises(errors.ConformanceError, match=r"in round 550, item 0: the declared mean is 0\.8"):
        check_environment(Late(said=600))
    with pytest.raises(
        errors.ConformanceError, match=r"in round 550, mean\(\) compiled gives 0\.4, means\(round\) 0\.39"
    ):
        check_environment(Late(plain=0.495))
    with pytest.raises(errors.ConformanceError, match=r"in round 550, means must be within the bounds"):
        check_environment(Late(plain=2.0))
    with pytest.raises(errors.Unsupported, match=r"Late drifts, so that it must define at\(round\)"):
        Late().at(3)


def test_a_grid_that_drifts() -> None:
    grid = problems.grid_path(3, 0.2)
    drifting = Problem(grid.feasible, environments.Drifting([grid.means, grid.means[::-1]], [1, 10], smooth=True))
    np.testing.assert_array_equal(drifting.at(1).optimum, grid.optimum)
