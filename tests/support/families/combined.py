"""Sets made of sets."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from semibandits import Problem, environments, sets
from semibandits.errors import EmptyFeasibleSet
from semibandits.types import FeasibleSet, Items
from support.reference import Solution, paths, subsets
from support.strategies import Instance


class Listed(FeasibleSet):
    """A user's own set, with nothing but what it must have."""

    def __init__(self, solutions: list[Solution], n_items: int) -> None:
        self.solutions, self.n_items = solutions, n_items
        self.max_size = max(map(len, solutions))

    def argmax(self, weights: Any) -> Items:
        small = [float(weight) * 2.0**-64 for weight in weights]  # sums of huge ones are finite then
        best = max(self.solutions, key=lambda one: sum(small[item] for item in one))
        return np.array(best, dtype=np.int64)

    def contains(self, items: Iterable[int]) -> bool:
        return tuple(sorted(items)) in self.solutions

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "Listed":
        left = [one for one in self.solutions if set(include) <= set(one) and not set(exclude) & set(one)]
        if not left:
            raise EmptyFeasibleSet("none of the list is left")
        return Listed(left, self.n_items)


DIAMOND = [(0, 1), (0, 2), (1, 2), (0, 1)]


@st.composite
def block(draw: st.DrawFn, kinds: str) -> Instance:
    n_items = draw(st.integers(1, 4))
    listed = draw(st.lists(st.sampled_from(subsets(n_items)), min_size=1, max_size=6))
    kind = draw(st.sampled_from(kinds))
    if kind == "k":
        k = draw(st.integers(1, n_items))
        return sets.TopK(n_items, k), subsets(n_items, [k])
    if kind == "p":
        edges = DIAMOND[: draw(st.integers(3, 4))]
        return sets.DagPaths(edges, 0, 2), paths(edges, 0, 2)
    if kind == "o":
        solver = sets.Enumerated(listed, n_items=n_items)
        return sets.Oracle(solver.argmax, n_items, max(1, solver.max_size)), listed
    if kind == "u":
        return Listed(listed, n_items), listed
    return sets.Enumerated(listed, n_items=n_items), listed


@st.composite
def product(draw: st.DrawFn, kinds: str, nested: bool = False) -> Instance:
    parts = draw(st.lists(block(kinds), min_size=1, max_size=3))
    if nested:
        parts.insert(draw(st.integers(0, len(parts))), draw(product(kinds).filter(lambda one: len(one[1]) <= 20)))
    feasible = sets.Product(part for part, _ in parts)
    shifted = [
        [tuple(item + offset for item in one) for one in listed]
        for (_, listed), offset in zip(parts, feasible.offsets, strict=True)
    ]
    return feasible, [sum(one, ()) for one in itertools.product(*shifted)]


FAMILIES: dict[str, st.SearchStrategy[Instance]] = {
    "Product": product("kpee"),
    "Product with users' blocks": product("kuo"),
    "Product of products": product("ek", nested=True),
}

SHORT = sets.Enumerated([[0, 2], [1], [], [0, 1, 2], [2]])
PROBLEMS: dict[str, Problem] = {
    "product of lists": Problem(
        sets.Product(SHORT, sets.Enumerated([[1], [0]]), SHORT.restrict(exclude=[1])), environments.Bernoulli([0.5] * 8)
    ),
    "product of a kind": Problem(sets.Product([SHORT] * 5), environments.Bernoulli(np.linspace(0.2, 0.8, 15))),
    "product of all kinds": Problem(
        sets.Product(
            sets.TopK(4, 2),
            SHORT,
            sets.DagPaths(DIAMOND, 0, 2),
            sets.Product(sets.TopK(3, 1), sets.TopK(4, 3).restrict(include=[3])),
            sets.GridPaths(2).restrict(exclude=[0]),
        ),
        environments.Uniform(1.0, 1.0 + np.arange(4 + 3 + 4 + 7 + 12) % 3, bounds=(0.5, 4.0)),
        sense="min",
    ),
}
