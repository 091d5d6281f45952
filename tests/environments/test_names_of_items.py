"""Worlds made of data whose entries have names: those of the items, one and the same for all of it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, errors, sets

pd: Any = pytest.importorskip("pandas")

AB, BA = ["home", "work"], ["work", "home"]
ROWS = [[0.1, 0.2], [0.3, 0.4]]


def named(values: list[float], names: list[str]) -> Any:
    return pd.Series(values, index=names)


def table(values: Any, names: list[str], rows: list[str] | None = None) -> Any:
    return pd.DataFrame(values, columns=names, index=rows)


def as_groups(numbers: Any) -> Any:
    return (10.0 * numbers).astype(int)


HALF, SIGMA, COVARIANCE = [0.5, 0.25], [0.1, 0.2], [[1.0, 0.5], [0.5, 2.0]]
equicorrelated = environments.CorrelatedGaussian.equicorrelated

PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "groups of Bernoulli": lambda means, groups: environments.Bernoulli(means, groups=as_groups(groups)),
    "groups of Beta": lambda a, groups: environments.Beta(a, 1.0, groups=as_groups(groups)),
    "groups of Gaussian": lambda means, groups: environments.Gaussian(means, 0.5, groups=as_groups(groups)),
    "groups of Uniform": lambda low, groups: environments.Uniform(low, 1.0, groups=as_groups(groups)),
    "b of Beta": environments.Beta,
    "sigma of Gaussian": environments.Gaussian,
    "high of Uniform": lambda low, high: environments.Uniform(low, high + 1.0),
    "sigma, equicorrelated": lambda means, sigma: equicorrelated(means, sigma, 0.5),
    "covariance": lambda means, sigma: environments.CorrelatedGaussian(
        means, table(COVARIANCE, sigma.index.tolist(), sigma.index.tolist())
    ),
    "rows of the covariance": lambda means, sigma: environments.CorrelatedGaussian(
        means, table(COVARIANCE, AB, sigma.index.tolist())
    ),
}


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS)
def test_two_parameters_name_the_same_items(make: Callable[[Any, Any], Any]) -> None:
    """By rights of its index, a number belongs to an item: in another order it would be another item's."""
    assert make(named(HALF, AB), named(SIGMA, AB)).labels == tuple(AB)
    with pytest.raises(errors.BadArgument, match=r"names of .* in the same order: got \('work', 'home'\)"):
        make(named(HALF, AB), named(SIGMA, BA))


BOUNDED: dict[str, Callable[[Any], Any]] = {
    "Gaussian": lambda bounds: environments.Gaussian(HALF, 0.1, bounds),
    "CorrelatedGaussian": lambda bounds: environments.CorrelatedGaussian(HALF, COVARIANCE, bounds),
    "equicorrelated": lambda bounds: equicorrelated(HALF, SIGMA, 0.5, bounds),
    "Uniform": lambda bounds: environments.Uniform(0.0, HALF, bounds),
    "Custom": lambda bounds: environments.Custom(lambda generator: HALF, HALF, bounds),
    "Table": lambda bounds: environments.Table(ROWS, bounds),
    "Adversarial": lambda bounds: environments.Adversarial(ROWS, bounds),
    "Scaled": lambda bounds: environments.Scaled(environments.Bernoulli(HALF), bounds),
}


@pytest.mark.parametrize("make", BOUNDED.values(), ids=BOUNDED)
def test_bounds_may_name_the_items(make: Callable[[Any], Any]) -> None:
    world = make((0.0, named([2.0, 3.0], BA)))
    assert world.labels == tuple(BA)
    assert world.bounds[1].tolist() == [2.0, 3.0]
    world = make((named([0.0, -1.0], AB), named([2.0, 3.0], BA)))  # the second goes by the names of the first
    assert world.labels == tuple(AB)
    assert [side.tolist() for side in world.bounds] == [[0.0, -1.0], [3.0, 2.0]]


NAMED: dict[str, Callable[[Any], Any]] = {
    "Gaussian": lambda bounds: environments.Gaussian(named(HALF, AB), 0.1, bounds),
    "CorrelatedGaussian": lambda bounds: environments.CorrelatedGaussian(HALF, table(COVARIANCE, AB, AB), bounds),
    "equicorrelated": lambda bounds: equicorrelated(HALF, named(SIGMA, AB), 0.5, bounds),
    "Uniform": lambda bounds: environments.Uniform(0.0, named(HALF, AB), bounds),
    "Custom": lambda bounds: environments.Custom(lambda generator: HALF, named(HALF, AB), bounds),
    "Table": lambda bounds: environments.Table(table(ROWS, AB), bounds),
    "Adversarial": lambda bounds: environments.Adversarial(table(ROWS, AB), bounds),
    "Scaled": lambda bounds: environments.Scaled(environments.Bernoulli(named(HALF, AB)), bounds),
}


@pytest.mark.parametrize("make", NAMED.values(), ids=NAMED)
@pytest.mark.parametrize("upper", [named([2.0, 3.0], BA), {"work": 2.0, "home": 3.0}], ids=["Series", "dict"])
def test_bounds_go_by_the_names_of_the_rest(make: Callable[[Any], Any], upper: Any) -> None:
    world = make((0.0, upper))
    assert world.labels == tuple(AB)
    assert world.bounds[1].tolist() == [3.0, 2.0]


def test_a_drifting_world_has_the_names_of_its_columns() -> None:
    assert environments.Drifting(table(ROWS, BA), [1, 10]).labels == tuple(BA)
    assert environments.Drifting(ROWS, [1, 10]).labels == ()


@pytest.mark.parametrize(
    "world",
    [
        environments.Drifting(table(ROWS, BA), [1, 10]),
        environments.Table(table(ROWS, BA), order="recorded"),
        environments.Adversarial(table(ROWS, BA)),
        environments.Scaled(environments.Drifting(table(ROWS, BA), [1, 10]), (0.0, {"home": 2.0, "work": 3.0})),
        environments.Scaled(environments.Drifting(ROWS, [1, 10]), (0.0, named([3.0, 2.0], BA))),
    ],
)
def test_so_has_what_it_is_in_one_round(world: Any) -> None:
    assert world.labels == world.at(2).labels == tuple(BA)


def test_groups_without_names_are_in_the_order_of_the_items() -> None:
    world = environments.Bernoulli(named(HALF, AB), groups=pd.Series([0, 0]))
    assert world.labels == tuple(AB)
    with pytest.raises(errors.BadArgument, match="index of its own"):
        environments.Bernoulli(HALF, groups=pd.Series([0, 0], index=[1, 0]))
    np.testing.assert_array_equal(environments.Bernoulli(HALF, groups=[0, 0]).means, HALF)


def test_a_column_is_not_taken_for_another_edge() -> None:
    """b-a is an edge of its own here, so it is not a-b from its other end."""
    links = sets.GraphicMatroid([("a", "b"), ("b", "a"), ("b", "c")])
    data = table([[0.1, 0.9, 0.5]], ["b-a", "a-b", "b-c"])
    with pytest.raises(errors.BadArgument, match="item 0 of the set is 'a-b', and of the environment 'b-a'"):
        Problem(links, environments.Table(data))
