"""Ties are broken as documented."""

import itertools

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import strategies
from reference import subsets, value
from semibandits import sets


@given(st.data())
def test_enumerated_takes_the_first_listed(data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.enumerated())
    weights = data.draw(st.lists(st.integers(-2, 2).map(float), min_size=feasible.n_items, max_size=feasible.n_items))
    first = max(solutions, key=lambda one: value(one, weights))
    assert tuple(feasible.argmax(weights).tolist()) == first


@given(st.integers(1, 8), st.data())
def test_top_k_takes_the_lowest_numbers(n_items: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n_items))
    weights = data.draw(st.lists(st.integers(-1, 1).map(float), min_size=n_items, max_size=n_items))
    first = max(subsets(n_items, [k]), key=lambda one: value(one, weights))
    assert tuple(sets.TopK(n_items, k).argmax(weights).tolist()) == first


def test_sums_beyond_the_largest_number() -> None:
    huge = [1e308, 1e308, 1.5e308, 1.5e308]
    diamond = sets.DagPaths([("s", "a"), ("a", "t"), ("s", "b"), ("b", "t")], "s", "t")
    for feasible in (sets.Enumerated([[0, 1], [2, 3]]), diamond, sets.KPaths(4, 2), sets.TopK(4, 2)):
        assert feasible.argmax(huge).tolist() == [2, 3]
        assert feasible.argmax([-w for w in huge]).tolist() == [0, 1]


def test_paths_take_the_lowest_edge_at_each_node() -> None:
    two_by_two = sets.GridPaths(2)
    assert two_by_two.argmax(np.zeros(12)).tolist() == [0, 2, 4, 9]
    assert sets.DagPaths([(0, 1), (0, 1), (1, 2)], 0, 2).argmax([1.0, 1.0, 0.0]).tolist() == [0, 2]


def test_long_paths_agree_with_networkx() -> None:
    generator = np.random.default_rng(0)
    for trial in range(20):
        edges = [(a, b) for a, b in itertools.combinations(range(60), 2) if generator.random() < 0.15 or b == a + 1]
        weights = generator.normal(size=len(edges))
        graph = nx.DiGraph()
        graph.add_weighted_edges_from((a, b, w) for (a, b), w in zip(edges, weights, strict=True))
        longest = nx.dag_longest_path(_anchored(graph), "weight")
        feasible = sets.DagPaths(edges, 0, 59)
        items = feasible.argmax(weights)
        assert [edges[item] for item in items] == list(itertools.pairwise(longest)), trial


def _anchored(graph: "nx.DiGraph[int]") -> "nx.DiGraph[int]":
    """The same graph where leaving 0 and entering 59 is so good that the longest path must do both."""
    anchored = graph.copy()
    for tail, head in anchored.edges:
        anchored[tail][head]["weight"] += 1e4 * ((tail == 0) + (head == 59))
    return anchored
