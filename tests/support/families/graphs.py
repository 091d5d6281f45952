"""Paths in general graphs, with loops, parallel edges, cycles and dead ends."""

import numpy as np
from hypothesis import strategies as st

from semibandits import Problem, environments, sets
from support.reference import Solution
from support.strategies import Instance

Edges = list[tuple[int, int]]


def simple_paths(edges: Edges, source: int, target: int, directed: bool, max_hops: int | None) -> list[Solution]:
    """All of them, by trying."""
    found: list[Solution] = []

    def walk(nodes: list[int], items: list[int]) -> None:
        if nodes[-1] == target:
            found.append(tuple(sorted(items)))
        elif max_hops is None or len(items) < max_hops:
            for item, (tail, head) in enumerate(edges):
                for start, end in [(tail, head)] if directed else {(tail, head), (head, tail)}:
                    if start == nodes[-1] and end not in nodes:
                        walk([*nodes, end], [*items, item])

    walk([source], [])
    return found


@st.composite
def paths(draw: st.DrawFn, directed: bool, hops: bool) -> Instance:
    """Any edges between up to six nodes, and one from source to target unless there is a path anyway."""
    nodes = draw(st.integers(2, 6))
    node = st.integers(0, nodes - 1)
    edges: Edges = draw(st.lists(st.tuples(node, node), max_size=9))
    source, target = draw(st.permutations(range(nodes)))[:2]
    max_hops = draw(st.integers(1, nodes)) if hops else None
    solutions = simple_paths(edges, source, target, directed, max_hops)
    if not solutions:
        edges.insert(draw(st.integers(0, len(edges))), (source, target))
        solutions = simple_paths(edges, source, target, directed, max_hops)
    return sets.Paths(edges, source, target, directed=directed, max_hops=max_hops), solutions


FAMILIES: dict[str, st.SearchStrategy[Instance]] = {
    "Paths, directed": paths(directed=True, hops=False),
    "Paths, undirected": paths(directed=False, hops=False),
    "Paths, directed, few hops": paths(directed=True, hops=True),
    "Paths, undirected, few hops": paths(directed=False, hops=True),
}

SQUARES: Edges = [(5 * row + column, 5 * row + column + 1) for row in range(3) for column in range(4)]
SQUARES += [(5 * row + column, 5 * row + column + 5) for row in range(2) for column in range(5)]
BOTH_WAYS = SQUARES[:13] + [(head, tail) for tail, head in SQUARES]
spread = np.random.default_rng(11).random

PROBLEMS: dict[str, Problem] = {
    "directed paths": Problem(
        sets.Paths(BOTH_WAYS, 14, 0), environments.Bernoulli([0.5] * len(BOTH_WAYS)), sense="min"
    ),
    "undirected paths": Problem(
        sets.Paths(SQUARES, 2, 13, directed=False),
        environments.Uniform(0.5 * spread(22), 1.0 + spread(22), bounds=(0.0, 2.0)),
        sense="min",
    ),
    "paths of few hops": Problem(
        sets.Paths(SQUARES, 0, 14, directed=False, max_hops=6),
        environments.Bernoulli(np.repeat([0.5, 0.2], 11)),
        sense="min",
    ),
}
