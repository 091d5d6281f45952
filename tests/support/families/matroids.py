"""Matroids with the lists of their solutions, by brute force over all sets of items."""

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from semibandits import Problem, environments, sets
from support.reference import Solution, subsets
from support.strategies import Instance


def solutions(n_items: int, independent: Callable[[Solution], bool], bases: bool) -> list[Solution]:
    """All independent sets, or the largest of them."""
    found = [one for one in subsets(n_items) if independent(one)]
    rank = max(len(one) for one in found)
    return [one for one in found if not bases or len(one) == rank]


def is_forest(edges: list[tuple[int, int]], items: Solution) -> bool:
    """Colours the nodes anew for every edge: two of one colour are connected already."""
    colours = list(range(10))
    for item in items:
        a, b = colours[edges[item][0]], colours[edges[item][1]]
        if a == b:
            return False
        colours = [b if colour == a else colour for colour in colours]
    return True


@st.composite
def graphic(draw: st.DrawFn) -> Instance:
    """Loops, parallel edges and several pieces happen."""
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), min_size=1, max_size=9))
    bases = draw(st.booleans())
    feasible = sets.GraphicMatroid(edges, bases=bases)
    return feasible, solutions(len(edges), lambda items: is_forest(edges, items), bases)


@st.composite
def partition(draw: st.DrawFn) -> Instance:
    names = draw(st.permutations(["a", 1, None, "b"]))
    groups = draw(st.lists(st.sampled_from(names), min_size=1, max_size=9))
    capacities = {name: draw(st.integers(0, 4)) for name in names}
    bases = draw(st.booleans())

    def independent(items: Solution) -> bool:
        return all(sum(groups[item] == name for item in items) <= capacities[name] for name in names)

    return sets.PartitionMatroid(groups, capacities, bases=bases), solutions(len(groups), independent, bases)


@st.composite
def laminar(draw: st.DrawFn) -> Instance:
    """Families are intervals of a permutation, split again and again; some are listed twice, some not at all."""
    n_items = draw(st.integers(1, 8))
    order = draw(st.permutations(range(n_items)))
    families: list[tuple[list[int], int]] = []
    stretches = [(0, n_items)]
    for _ in range(draw(st.integers(0, 6))):
        begin, end = stretches.pop(draw(st.integers(0, len(stretches) - 1)))
        families += [(order[begin:end], capacity) for capacity in draw(st.lists(st.integers(0, 4), max_size=2))]
        middle = draw(st.integers(begin, end))
        stretches += [(begin, middle), (middle, end)]
    families = draw(st.permutations(families))
    bases = draw(st.booleans())

    def independent(items: Solution) -> bool:
        return all(len(set(items) & set(family)) <= capacity for family, capacity in families)

    return sets.LaminarMatroid(n_items, families, bases=bases), solutions(n_items, independent, bases)


@st.composite
def at_most_k(draw: st.DrawFn) -> Instance:
    n_items = draw(st.integers(1, 7))
    k = draw(st.integers(1, n_items))
    return sets.TopK(n_items, k, bases=False), subsets(n_items, range(k + 1))


@st.composite
def users_matroid(draw: st.DrawFn) -> Instance:
    """Columns of a binary matrix that are independent modulo 2, zero and equal columns included."""
    columns = draw(st.lists(st.integers(0, 15), min_size=1, max_size=7))
    bases = draw(st.booleans())

    def independent(items: np.ndarray) -> bool:
        assert items.dtype == np.int64
        assert (np.diff(items) > 0).all()
        return linear(tuple(items.tolist()))

    def linear(items: Solution) -> bool:
        sums = {0}
        for item in items:
            if columns[item] in sums:
                return False
            sums |= {one ^ columns[item] for one in sums}
        return True

    feasible = sets.Matroid(independent, len(columns), bases=bases, trials=2)
    return feasible, solutions(len(columns), linear, bases)


FAMILIES: dict[str, st.SearchStrategy[Instance]] = {
    "GraphicMatroid": graphic(),
    "PartitionMatroid": partition(),
    "LaminarMatroid": laminar(),
    "AtMostK": at_most_k(),
    "Matroid": users_matroid(),
}

# Two pieces of a graph, with parallel edges.
PIECES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (1, 3), (0, 1), (4, 5), (5, 6), (6, 4), (4, 5)]
LIMITS = [([0, 1, 2, 3], 2), ([4, 5, 6], 1), (range(9), 4), ([9, 10, 11], 2), ([10, 11], 1)]
spread = np.random.default_rng(11).random

PROBLEMS: dict[str, Problem] = {
    "spanning forest": Problem(sets.GraphicMatroid(PIECES), environments.Bernoulli([0.5] * 11)),
    "cheapest tree": Problem(
        sets.GraphicMatroid([(a, b) for b in range(8) for a in range(b)]).restrict(include=[3], exclude=[0, 9]),
        environments.Uniform(spread(28), 2.0 + spread(28), bounds=(0.0, 3.0)),
        sense="min",
    ),
    "forests": Problem(
        sets.GraphicMatroid(PIECES, bases=False), environments.Uniform(-spread(11), spread(11), bounds=(-1.0, 1.0))
    ),
    "groups": Problem(sets.PartitionMatroid([0, 1, 2, 0, 1, 2, 0, 0, 1], [2, 1, 1]), environments.Bernoulli([0.5] * 9)),
    "families": Problem(sets.LaminarMatroid(12, LIMITS), environments.Bernoulli([0.5] * 12)),
    "at most k": Problem(
        sets.TopK(30, 9, bases=False).restrict(include=[3], exclude=[7, 29]),
        environments.Uniform(-spread(30), spread(30), bounds=(-1.0, 1.0)),
    ),
}
