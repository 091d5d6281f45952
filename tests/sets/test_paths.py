"""Paths in acyclic graphs: ties, forms of input, one oracle in three forms, restrictions, programs."""

import itertools
import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from semibandits import errors, sets
from semibandits.kernel import LANES, compiled
from semibandits.sets.base import WarmOracle
from semibandits.sets.oracles.lanes import answers
from semibandits.sets.oracles.sorting import sort_items
from support import strategies
from support.reference import paths

EDGES = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]


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


def test_every_form_of_a_graph() -> None:
    weights = [0.5, 0.9, 0.1, 0.2, 0.3]
    tails, heads = np.array(EDGES).T
    matrix = csr_array((np.zeros(5), (tails, heads)), shape=(4, 4))
    for graph in (EDGES, np.array(EDGES), matrix, nx.DiGraph(EDGES), nx.MultiDiGraph(EDGES)):
        feasible = sets.DagPaths(graph, 0, 3)
        assert feasible.edges == EDGES
        assert feasible.argmax(weights).tolist() == [1, 4]
        assert feasible.labels == ("0->1", "0->2", "1->2", "1->3", "2->3")
    with pytest.raises(errors.InvalidSet, match="the graph is undirected"):
        sets.DagPaths(nx.Graph(EDGES), 0, 3)


def test_the_papers_paths_have_no_labels() -> None:
    assert sets.GridPaths(2).labels == sets.KPaths(4, 2).labels == ()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_one_run_and_lanes_answer_alike(data: st.DataObject) -> None:
    """Ties included, after a restriction too, whatever the work space holds."""
    family = data.draw(st.sampled_from(["DagPaths", "GridPaths", "KPaths"]))
    feasible, solutions = data.draw(strategies.BASIC[family])
    assert isinstance(feasible, sets.DagPaths)
    feasible = feasible.restrict(include=data.draw(st.sampled_from(solutions))[:1])
    each = st.integers(-1, 1).map(float)
    columns = [data.draw(strategies.weights(feasible, each)) for _ in range(3)]
    block = np.array([columns[lane % 3] for lane in range(int(LANES))]).T.copy()
    in_lanes = answers(feasible.solver(), block, feasible.max_size)
    one = feasible.single()
    code = compiled(one.function)
    for column, lane in zip(columns, in_lanes, strict=False):
        expected = [item for item in lane if item < feasible.n_items]
        out = np.full(feasible.max_size, -1)
        size = code(np.array(column), out, one.data, np.full(one.numbers, np.nan), np.full(one.integers, 99))
        assert out[:size].tolist() == expected
        assert WarmOracle(one, feasible.max_size)._plain(np.array(column)).tolist() == expected
        assert feasible.argmax(column).tolist() == expected


@given(st.lists(st.integers(-50, 50)))
def test_sorting(numbers: list[int]) -> None:
    ordered = [*numbers, 7]
    sort_items(ordered, len(numbers))
    assert ordered == [*sorted(numbers), 7]


def test_sorting_long_lists() -> None:
    generator = np.random.default_rng(1)
    for size in (9, 10, 11, 40, 121, 1000):
        numbers = generator.permutation(size).tolist()
        sort_items(numbers, size)
        assert numbers == list(range(size))


def test_a_long_path_against_the_numbering() -> None:
    backwards = sets.DagPaths([(i + 1, i) for i in range(500)], 500, 0)
    assert backwards.argmax(np.ones(500)).tolist() == list(range(500))


@given(data=st.data())
def test_leaving_out_what_is_on_no_path_is_the_restriction(data: st.DataObject) -> None:
    whole, solutions = data.draw(strategies.dag_paths())
    assert isinstance(whole, sets.DagPaths)
    assert [part.size for part in whole._restriction()] == [0, 0]
    one = data.draw(st.sampled_from(solutions))
    exclude = set(range(whole.n_items)) - set(one) - data.draw(st.sets(st.integers(0, whole.n_items - 1)))
    restricted = whole.restrict(include=one[: data.draw(st.integers(0, len(one)))], exclude=exclude)
    inside, outside = restricted._restriction()
    assert inside.size == 0
    again = whole.restrict(exclude=outside)
    assert again._useful == restricted._useful
    for solution in solutions:
        assert again.contains(solution) == restricted.contains(solution)


@settings(max_examples=20)
@given(data=st.data())
def test_the_program_is_the_set(data: st.DataObject) -> None:
    feasible, _ = data.draw(strategies.dag_paths())
    assert isinstance(feasible, sets.DagPaths)
    program = feasible.program()
    assert len(program.lower) == feasible.n_items
    for x in itertools.product((0.0, 1.0), repeat=feasible.n_items):
        assert program.rows_hold(x) == feasible.contains(np.flatnonzero(x))


def test_arguments_survive_json() -> None:
    crooked = sets.DagPaths([("s", 1), ("s", 2), (1, "t"), (2, "t")], "s", "t")
    again = sets.DagPaths(**json.loads(json.dumps(crooked._parameters())))
    assert again.edges == crooked.edges
    assert (again.source, again.target) == ("s", "t")
    numbers = sets.DagPaths(np.array(EDGES), np.int64(0), np.int32(3))
    assert json.loads(json.dumps(numbers._parameters())) == {
        "edges": [list(edge) for edge in EDGES],
        "source": 0,
        "target": 3,
    }
    assert sets.GridPaths(3)._parameters() == {"m": 3}
    assert sets.KPaths(6, 3)._parameters() == {"n_items": 6, "k": 3}


def test_the_users_graph_may_change_afterwards() -> None:
    graph = nx.DiGraph(EDGES)
    feasible = sets.DagPaths(graph, 0, 3)
    graph.add_edge(3, 0)
    assert paths(feasible.edges, 0, 3) == [(0, 2, 4), (0, 3), (1, 4)]
