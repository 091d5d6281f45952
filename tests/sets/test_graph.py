"""Graphs in every form in which they may be given."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from semibandits import errors, sets
from semibandits.sets.graphs.reading import Graph, read_graph

EDGES = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "b")]


def test_a_list_keeps_its_order() -> None:
    for edges in (EDGES, [list(edge) for edge in EDGES], iter(EDGES)):
        graph = read_graph(edges)
        assert graph.edges == EDGES
        assert graph.directed
    assert not read_graph(EDGES, directed=False).directed
    assert read_graph(np.array([[3, 1], [1, 2]])).edges == [(3, 1), (1, 2)]
    assert read_graph([((0, 0), (0, 1))]).nodes == [(0, 0), (0, 1)]


def test_a_matrix_row_by_row_with_explicit_zeros() -> None:
    entries = ([5.0, 0.0, 7.0, 1.0], ([2, 0, 0, 1], [0, 2, 1, 1]))
    for matrix in (
        coo_array(entries, shape=(4, 4)),
        csr_array(entries, shape=(4, 4)),
        csr_matrix(entries, shape=(4, 4)),
    ):
        graph = read_graph(matrix)
        assert graph.edges == [(0, 1), (0, 2), (1, 1), (2, 0)]
        assert sorted(graph.nodes) == [0, 1, 2]  # none that no edge has
        assert read_graph(matrix, directed=False).edges == [(0, 1), (0, 2), (1, 1)]


def test_networkx_graphs_say_themselves_whether_they_are_directed() -> None:
    for kind, directed in ((nx.DiGraph, True), (nx.Graph, False), (nx.MultiDiGraph, True), (nx.MultiGraph, False)):
        graph = kind(EDGES)
        read = read_graph(graph)
        assert read.directed is directed
        assert len(read.edges) == (4 if graph.is_multigraph() else 3)
        assert read_graph(graph, directed=directed) == read
        have, want = ("", "un") if directed else ("un", "")
        with pytest.raises(errors.InvalidSet, match=f"is {have}directed, an? {want}directed one is needed"):
            read_graph(graph, directed=not directed)


def test_labels_tell_parallel_edges_apart() -> None:
    assert read_graph(EDGES).labels() == ("a->b", "b->c", "a->c", "a->b #2")
    assert read_graph(EDGES, directed=False).labels() == ("a-b", "b-c", "a-c", "a-b #2")
    named = nx.MultiGraph()
    named.add_edge("a", "b", key="road")
    named.add_edge("a", "b", key="rail")
    assert read_graph(named).labels() == ("a-b road", "a-b rail")
    assert read_graph(read_graph(named).listed(), directed=False) == read_graph(named)
    assert sets.from_spec(sets.GraphicMatroid(named).to_spec()).labels == ("a-b road", "a-b rail")
    assert read_graph([("a", "b", "ferry"), ("b", "a")]).labels() == ("a->b ferry", "b->a")
    awkward = read_graph([("a", "b #2"), ("a", "b"), ("a", "b"), ("", "\n")])
    assert awkward.labels() == ("a->b #2", "a->b", "a->b #3", "''->'\\n'")


def test_the_edges_as_json_can_say_them() -> None:
    graph = read_graph(nx.DiGraph([(np.int64(1), "x"), ("x", (2, 3))]))
    assert graph.listed() == [[1, "x"], ["x", (2, 3)]]
    assert [type(node) for node in graph.listed()[0]] == [int, str]
    assert read_graph(graph.listed()).edges == graph.edges


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        ([], "at least one edge, got none"),
        (nx.DiGraph(), "got none"),
        (csr_array((3, 3)), "got none"),
        (csr_array((2, 3)), r"square, got shape \(2, 3\)"),
        ("ab", "list of edges, a sparse matrix or a networkx graph, got 'ab'"),
        (7, "got 7"),
        ({"a": ["b"]}, "list of edges"),
        (np.eye(3), r"shape \(edges, 2\), got \(3, 3\).*csr_array"),
        ([("a", "b", 3.0)], "weights are given to argmax"),
        ([(0, 1), (1,)], r"edge 1 must be a pair \(tail, head\).*got \(1,\)"),
        ([("a", ["b"])], "nodes must be hashable"),
        ([("a", "b"), ("b", float("nan"))], r"nan cannot be a node, as in edge 1, \('b', nan\)"),
    ],
)
def test_what_is_no_graph(graph: object, says: str) -> None:
    with pytest.raises(errors.InvalidSet, match=says):
        read_graph(graph)


def test_unknown_nodes() -> None:
    graph = read_graph(EDGES)
    assert isinstance(graph, Graph)
    assert graph.number("source", "c") == graph.nodes.index("c")
    with pytest.raises(errors.InvalidSet, match="the source 'z' is not a node of any edge"):
        graph.number("source", "z")
    with pytest.raises(errors.InvalidSet, match="hashable"):
        graph.number("target", ["a"])
