"""The problems of the suite: what users of several kinds have, chosen without a look at how any policy does."""

import functools
import itertools
import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import environments, sets
from semibandits.experiments.suite.worlds import Lognormal
from semibandits.problem import Problem
from semibandits.types import Weights

SHORT, MIDDLE, LONG = 300, 5_000, 100_000
HORIZONS = (SHORT, MIDDLE, LONG)
FEW_ROUNDS = (SHORT, MIDDLE)

Link = tuple[tuple[int, int], tuple[int, int]]
Make = Callable[[np.random.Generator], Problem]


class Case(NamedTuple):
    """A problem of the suite: its name, its trait, and what it stands for."""

    name: str
    trait: str
    about: str
    make: Make
    seed: int
    horizons: tuple[int, ...]

    @property
    def problem(self) -> Problem:
        """Always the same one."""
        return _made(self.make, self.seed)

    def other(self, instance: int) -> "Case":
        """The same with other numbers: rates, minutes, links are drawn anew; 1 is this one."""
        return self if instance == 1 else self._replace(seed=zlib.crc32(f"{self.name} {instance}".encode()))


CASES: dict[str, Case] = {}
"""All of them, by name."""


def case(trait: str, horizons: tuple[int, ...] = HORIZONS, copies: int = 1) -> Callable[[Make], Make]:
    """Enters a problem, or several that differ by their seed only. Its docstring is one line: who has this problem.

    Nobody chooses a seed: it is a checksum of the name.
    """

    def enter(make: Make) -> Make:
        name, about = make.__name__.replace("_", "-"), (make.__doc__ or "").strip()
        for copy in range(1, copies + 1):
            label = name if copies == 1 else f"{name}-{copy}"
            CASES[label] = Case(label, trait, about, make, zlib.crc32(label.encode()), horizons)
        return make

    return enter


@functools.cache
def _made(make: Make, seed: int) -> Problem:
    return make(np.random.default_rng(seed))


def _between(generator: np.random.Generator, low: float, high: float, n: int) -> Weights:
    """Numbers with few digits: the same whatever library draws them."""
    return generator.uniform(low, high, n).round(3)


def _rare(generator: np.random.Generator, n: int) -> Weights:
    """Click rates around 1 %, a few of them several times that."""
    return np.minimum(0.01 * np.exp(0.6 * generator.standard_normal(n)), 0.2).round(4)


def _grid(rows: int, columns: int) -> tuple[list[Link], list[Link]]:
    """The streets of a town: down and to the right, and the same links the other way."""
    down = [((i, j), (i + 1, j)) for i in range(rows - 1) for j in range(columns)]
    right = [((i, j), (i, j + 1)) for i in range(rows) for j in range(columns - 1)]
    onward = [*down, *right]
    return onward, [(head, tail) for tail, head in onward]


def _streets(side: int) -> sets.Paths:
    onward, back = _grid(side, side)
    return sets.Paths([*onward, *back], (0, 0), (side - 1, side - 1))


def _one_way(side: int) -> sets.DagPaths:
    onward, _ = _grid(side, side)
    return sets.DagPaths(onward, (0, 0), (side - 1, side - 1))


def _tree(generator: np.random.Generator, nodes: int, extra: int) -> sets.GraphicMatroid:
    """A network: a ring, and chords at random."""
    ring = [(node, (node + 1) % nodes) for node in range(nodes)]
    chords = [pair for pair in itertools.combinations(range(nodes), 2) if pair[1] - pair[0] not in (1, nodes - 1)]
    chosen = generator.permutation(len(chords))[:extra]
    return sets.GraphicMatroid([*ring, *(chords[at] for at in sorted(chosen))])


def _places(groups: int, size: int) -> NDArray[np.int64]:
    return np.repeat(np.arange(groups), size)


@case("rare clicks")
def clicks_rare_slate(generator: np.random.Generator) -> Problem:
    """6 of 60 cards are shown; rates around 1 % and lognormal, as display advertising reports them."""
    return Problem(sets.TopK(60, 6), environments.Bernoulli(_rare(generator, 60)))


@case("rare clicks")
def clicks_rare_partition(generator: np.random.Generator) -> Problem:
    """One of 8 advertisements in each of 6 places; the same rates."""
    return Problem(sets.PartitionMatroid(_places(6, 8), 1), environments.Bernoulli(_rare(generator, 48)))


@case("rare clicks")
def clicks_rare_assignment(generator: np.random.Generator) -> Problem:
    """8 advertisements in 8 places; the rate is the quality times the place, each 0.8 of the one above it."""
    quality, attention = _rare(generator, 8), 1.6 * 0.8 ** np.arange(8)
    return Problem(sets.Assignment(8, 8), environments.Bernoulli(np.outer(quality, attention).ravel().round(4)))


@case("even clicks")
def clicks_even_slate(generator: np.random.Generator) -> Problem:
    """5 of 40 titles for those who have opened the page: rates from 35 to 65 %."""
    return Problem(sets.TopK(40, 5), environments.Bernoulli(_between(generator, 0.35, 0.65, 40)))


@case("even clicks")
def clicks_even_partition(generator: np.random.Generator) -> Problem:
    """One of 6 wordings in each of 6 parts of a letter, opened or not: 30 to 70 %."""
    return Problem(sets.PartitionMatroid(_places(6, 6), 1), environments.Bernoulli(_between(generator, 0.3, 0.7, 36)))


@case("even clicks")
def clicks_even_assignment(generator: np.random.Generator) -> Problem:
    """6 agents and 6 kinds of calls, solved or not: 30 to 70 %."""
    return Problem(sets.Assignment(6, 6), environments.Bernoulli(_between(generator, 0.3, 0.7, 36)))


@case("low noise")
def quiet_path(generator: np.random.Generator) -> Problem:
    """One-way grid of 6 x 6 crossings, energy of a drive: measured to 3 % of the scale."""
    paths = _one_way(6)
    return Problem(paths, environments.Gaussian(_between(generator, 0.2, 0.8, paths.n_items), 0.03), "min")


@case("low noise")
def quiet_slate(generator: np.random.Generator) -> Problem:
    """5 of 40 settings whose yield is measured to a twentieth of the scale."""
    centres = _between(generator, 0.3, 0.8, 40)
    return Problem(sets.TopK(40, 5), environments.Uniform(centres - 0.05, centres + 0.05, bounds=(0.0, 1.0)))


@case("low noise")
def quiet_knapsack(generator: np.random.Generator) -> Problem:
    """20 projects of 1 to 9 days, 30 days in all; what they bring varies by a twentieth of the scale."""
    costs = generator.integers(1, 10, 20)
    return Problem(sets.Knapsack(costs, 30), environments.Gaussian(_between(generator, 0.2, 0.8, 20), 0.05))


@case("high noise")
def noisy_path(generator: np.random.Generator) -> Problem:
    """One-way grid of 5 x 5 crossings, waits at each uniform from nothing to twice the mean, as of buses."""
    paths = _one_way(5)
    most = 2.0 * _between(generator, 0.2, 0.5, paths.n_items)
    return Problem(paths, environments.Uniform(0.0, most, bounds=(0.0, 1.0)), "min")


@case("high noise")
def noisy_slate(generator: np.random.Generator) -> Problem:
    """4 of 30 films by how much of each is watched: little or nearly all, Beta(m, 1 - m)."""
    a = _between(generator, 0.3, 0.7, 30)
    return Problem(sets.TopK(30, 4), environments.Beta(a, 1.0 - a))


@case("high noise")
def noisy_knapsack(generator: np.random.Generator) -> Problem:
    """The projects again, whose yield varies by a third of the scale."""
    costs = generator.integers(1, 10, 20)
    return Problem(sets.Knapsack(costs, 30), environments.Gaussian(_between(generator, 0.3, 0.7, 20), 0.3))


@case("loose bounds")
def loose_path(generator: np.random.Generator) -> Problem:
    """One-way grid of 6 x 6 crossings, 2 to 8 minutes; the user says 0 to 100 to be on the safe side."""
    paths = _one_way(6)
    world = environments.Gaussian(_between(generator, 2.0, 8.0, paths.n_items), 1.0, bounds=(0.0, 100.0))
    return Problem(paths, world, "min")


@case("loose bounds")
def loose_tree(generator: np.random.Generator) -> Problem:
    """A network of 12 nodes and 30 links, prices of 0 to 100; the user says at most 1,000."""
    tree = _tree(generator, 12, 18)
    centres = _between(generator, 20.0, 80.0, tree.n_items)
    return Problem(tree, environments.Uniform(centres - 20.0, centres + 20.0, bounds=(0.0, 1000.0)), "min")


@case("loose bounds")
def loose_assignment(generator: np.random.Generator) -> Problem:
    """8 couriers and 8 districts, 5 to 25 minutes; the user says five hours at most."""
    world = environments.Gaussian(_between(generator, 5.0, 25.0, 64), 3.0, bounds=(0.0, 300.0))
    return Problem(sets.Assignment(8, 8), world, "min")


@case("tight bounds")
def tight_path(generator: np.random.Generator) -> Problem:
    """One-way grid of 5 x 5 crossings, a base of 5 to 8 minutes and up to 4 more; the bounds are the extremes."""
    paths = _one_way(5)
    low = _between(generator, 5.0, 8.0, paths.n_items)
    return Problem(paths, environments.Uniform(low, low + 4.0), "min")


@case("tight bounds")
def tight_tree(generator: np.random.Generator) -> Problem:
    """The network, prices of which the extremes are known."""
    tree = _tree(generator, 12, 18)
    low = _between(generator, 10.0, 30.0, tree.n_items)
    return Problem(tree, environments.Uniform(low, low + 20.0), "min")


@case("tight bounds")
def tight_assignment(generator: np.random.Generator) -> Problem:
    """5 nurses and 5 shifts, marks of 2 to 10 that use the whole scale."""
    low = _between(generator, 2.0, 6.0, 25)
    return Problem(sets.Assignment(5, 5), environments.Uniform(low, low + 4.0))


@case("a street grid", copies=4)
def street(generator: np.random.Generator) -> Problem:
    """8 x 8 crossings, 224 links, 2 to 12 minutes, noise 1.5; the user says half an hour at most."""
    streets = _streets(8)
    minutes = _between(generator, 2.0, 12.0, streets.n_items)
    return Problem(streets, environments.Gaussian(minutes, 1.5, bounds=(0.0, 30.0)), "min")


@case("solutions of several sizes")
def sizes_roads(generator: np.random.Generator) -> Problem:
    """5 x 5 crossings without direction, 2 to 6 minutes, and four long roads around them, 11 to 17: 2 links or 8."""
    onward, _ = _grid(5, 5)
    orbital: list[Link] = [((0, 0), (0, 4)), ((0, 4), (4, 4)), ((0, 0), (4, 0)), ((4, 0), (4, 4))]
    roads = sets.Paths([*onward, *orbital], (0, 0), (4, 4), directed=False)
    minutes = np.concatenate([_between(generator, 2.0, 6.0, len(onward)), _between(generator, 11.0, 17.0, 4)])
    return Problem(roads, environments.Gaussian(minutes, 0.15 * minutes, bounds=(0.0, 30.0)), "min")


@case("solutions of several sizes")
def sizes_stages(generator: np.random.Generator) -> Problem:
    """A line of ten stops, rides of one to three stops at about 4 minutes each and 1 to change: 4 to 10 rides."""
    stops = range(11)
    rides = [(i, j) for i, j in itertools.product(stops, stops) if 1 <= j - i <= 3]
    spans = np.array([j - i for i, j in rides])
    minutes = (4.0 * spans * generator.uniform(0.7, 1.3, spans.size) + 1.0).round(3)
    return Problem(sets.DagPaths(rides, 0, 10), environments.Uniform(0.7 * minutes, 1.3 * minutes, (0.0, 25.0)), "min")


@case("heavy tails")
def heavy_partition(generator: np.random.Generator) -> Problem:
    """One of 8 offers in each of 5 parts of a shop; spending is lognormal (1.2), cut at 200."""
    world = Lognormal(_between(generator, 5.0, 15.0, 40), spread=1.2, most=200.0)
    return Problem(sets.PartitionMatroid(_places(5, 8), 1), world)


@case("heavy tails")
def heavy_path(generator: np.random.Generator) -> Problem:
    """5 x 5 crossings, both directions, lognormal delays (0.3 to 1), cut at an hour."""
    streets = _streets(5)
    spread = _between(generator, 0.3, 1.0, streets.n_items)
    return Problem(streets, Lognormal(_between(generator, 2.0, 8.0, streets.n_items), spread, most=60.0), "min")


@case("heavy tails")
def heavy_slate(generator: np.random.Generator) -> Problem:
    """4 of 30 offers, 4,000 recorded visitors, of whom 1 to 6 % buy, for lognormal amounts up to 300."""
    buys = generator.random((4_000, 30)) < generator.uniform(0.01, 0.06, 30)
    amounts = generator.uniform(10.0, 40.0, 30) * np.exp(0.8 * generator.standard_normal((4_000, 30)))
    return Problem(sets.TopK(30, 4), environments.Table(np.minimum(buys * amounts, 300.0).round(2), (0.0, 300.0)))


@case("unequal noise")
def mixed_slate(generator: np.random.Generator) -> Problem:
    """3 of 12 funds: eight pay nearly the same every time, four anything between nothing and twice their mean."""
    centres = np.concatenate([_between(generator, 0.3, 0.45, 8), _between(generator, 0.3, 0.5, 4)])
    reach = np.where(np.arange(12) < 8, 0.02, centres)
    return Problem(sets.TopK(12, 3), environments.Uniform(centres - reach, centres + reach, bounds=(0.0, 1.0)))


@case("unequal noise")
def mixed_partition(generator: np.random.Generator) -> Problem:
    """A train, a bus and a car for each of 6 trips, 20 to 60 minutes: to the minute, to five, and to twenty."""
    minutes = _between(generator, 20.0, 60.0, 18)
    reach = np.tile([1.0, 5.0, 20.0], 6)
    world = environments.Uniform(minutes - reach, minutes + reach, bounds=(0.0, 120.0))
    return Problem(sets.PartitionMatroid(_places(6, 3), 1), world, "min")


@case("near ties")
def ties_slate(generator: np.random.Generator) -> Problem:
    """4 of 20, coins; the best are better by 0.01."""
    rates = generator.permutation([0.51] * 4 + [0.50] * 8 + [0.45] * 8)
    return Problem(sets.TopK(20, 4), environments.Bernoulli(rates))


@case("near ties")
def ties_tree(generator: np.random.Generator) -> Problem:
    """A network of 10 nodes and 25 links whose costs differ by 0.01 from one to the next."""
    tree = _tree(generator, 10, 15)
    costs = 0.4 + 0.01 * generator.permutation(tree.n_items)
    return Problem(tree, environments.Gaussian(costs.round(3), 0.1), "min")


@case("thousands of items", FEW_ROUNDS)
def many_slate(generator: np.random.Generator) -> Problem:
    """20 of 2,000 articles, rates up to some 20 % and mostly small, as of news."""
    rates = (0.3 * generator.beta(1.0, 5.0, 2_000)).round(4)
    return Problem(sets.TopK(2_000, 20), environments.Bernoulli(rates))


@case("thousands of items", FEW_ROUNDS)
def many_streets(generator: np.random.Generator) -> Problem:
    """32 x 32 crossings, 3,968 links of 1 to 5 minutes: a town, a courier."""
    streets = _streets(32)
    minutes = _between(generator, 1.0, 5.0, streets.n_items)
    return Problem(streets, environments.Gaussian(minutes, 0.5, bounds=(0.0, 10.0)), "min")


@case("thousands of items", FEW_ROUNDS)
def many_partition(generator: np.random.Generator) -> Problem:
    """One of 20 prices for each of 50 articles, profits uniform."""
    centres = _between(generator, 0.3, 0.7, 1_000)
    return Problem(sets.PartitionMatroid(_places(50, 20), 1), environments.Uniform(centres - 0.3, centres + 0.3))


@case("correlated items")
def common_path(generator: np.random.Generator) -> Problem:
    """One-way grid of 5 x 5 crossings where rain or a match slows all links together: correlation 0.7."""
    paths = _one_way(5)
    minutes = _between(generator, 4.0, 10.0, paths.n_items)
    world = environments.CorrelatedGaussian.equicorrelated(minutes, 0.2 * minutes, 0.7, bounds=(0.0, 20.0))
    return Problem(paths, world, "min")


@case("correlated items")
def common_assignment(generator: np.random.Generator) -> Problem:
    """6 customers and 6 offers: a customer in the mood would take any of hers, one coin for each."""
    rates = _between(generator, 0.2, 0.8, 36)
    return Problem(sets.Assignment(6, 6), environments.Bernoulli(rates, groups=_places(6, 6)))


@case("correlated items")
def common_slate(generator: np.random.Generator) -> Problem:
    """3 of 12 channels that take shares from each other: correlation -0.08."""
    shares = _between(generator, 0.2, 0.6, 12)
    return Problem(sets.TopK(12, 3), environments.CorrelatedGaussian.equicorrelated(shares, 0.15, -0.08))
