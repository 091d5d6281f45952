"""Reading graphs: lists of edges, SciPy sparse matrices, networkx graphs."""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from semibandits.errors import InvalidSet
from semibandits.sets.base import check_count

Node = Hashable
Edge = tuple[Node, Node]


class Graph(NamedTuple):
    """Edge i, from nodes[tails[i]] to nodes[heads[i]], is item i."""

    nodes: list[Node]
    tails: list[int]
    heads: list[int]
    directed: bool
    names: list[str]
    """What tells parallel edges apart, where the user's graph has keys for them; else ""."""

    @property
    def edges(self) -> list[Edge]:
        return [(self.nodes[tail], self.nodes[head]) for tail, head in zip(self.tails, self.heads, strict=True)]

    def listed(self) -> list[list[Any]]:
        """The edges as JSON can say them, if it can say the nodes."""
        nodes = [plain(node) for node in self.nodes]
        return [[nodes[tail], nodes[head]] for tail, head in zip(self.tails, self.heads, strict=True)]

    def number(self, name: str, node: Any) -> int:
        """Of a node that the user named, as `source` say."""
        try:
            hash(node)
        except TypeError as error:
            raise InvalidSet(f"nodes must be hashable: {error}") from error
        try:
            return self.nodes.index(node)
        except ValueError:
            raise InvalidSet(f"the {name} {node!r:.100} is not a node of any edge") from None

    def labels(self) -> tuple[str, ...]:
        """a->b or, without direction, a-b; parallel edges are numbered, unless they have names."""
        arrow = "->" if self.directed else "-"
        nodes = [_printable(node) for node in self.nodes]
        found: dict[str, None] = {}
        for tail, head, name in zip(self.tails, self.heads, self.names, strict=True):
            label = first = f"{nodes[tail]}{arrow}{nodes[head]}" + (f" {name}" if name else "")
            number = 1
            while label in found:
                number += 1
                label = f"{first} #{number}"
            found[label] = None
        return tuple(found)


def plain(node: Any) -> Any:
    """A NumPy number as a number of Python's, which is the same node."""
    return node.item() if isinstance(node, np.generic) else node


def read_graph(graph: Any, directed: bool | None = None) -> Graph:
    """A graph in any of its forms.

    A list of edges (tail, head): items in its order. A sparse matrix: its stored entries, explicit zeros too, row by
    row; without direction, entries (i, j) and (j, i) are one edge. A networkx graph: its edges in its order, and its
    own direction. `directed` None means: as the graph says, else directed.
    """
    if hasattr(graph, "tocoo"):
        directed = True if directed is None else directed
        pairs = _stored(graph, directed)
        nodes: list[Any] = list(range(graph.shape[0]))
        names = [""] * len(pairs)
        tails, heads = [tail for tail, _ in pairs], [head for _, head in pairs]
    else:
        if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
            if directed not in (None, graph.is_directed()):
                kind = "directed" if graph.is_directed() else "undirected"
                raise InvalidSet(f"the graph is {kind}, but directed={directed} was asked for")
            directed = bool(graph.is_directed())
            keyed = graph.is_multigraph()
            listed = list(graph.edges(keys=True)) if keyed else list(graph.edges())
            names = [_printable(edge[2]) if keyed and isinstance(edge[2], str) else "" for edge in listed]
            edges: list[Edge] = [(edge[0], edge[1]) for edge in listed]
        else:
            directed = True if directed is None else directed
            edges = _pairs(graph)
            names = [""] * len(edges)
        number: dict[Node, int] = {}
        try:
            tails = [number.setdefault(tail, len(number)) for tail, _ in edges]
            heads = [number.setdefault(head, len(number)) for _, head in edges]
        except TypeError as error:
            raise InvalidSet(f"nodes must be hashable: {error}") from error
        nodes = list(number)
    check_count("the number of edges", len(tails))
    return Graph(nodes, tails, heads, directed, names)


def _pairs(edges: Any) -> list[Edge]:
    if isinstance(edges, np.ndarray):
        edges = edges.tolist()
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        raise InvalidSet(f"expected a list of edges, a sparse matrix or a networkx graph, got {edges!r:.200}")
    pairs: list[Edge] = []
    for edge in edges:
        if not isinstance(edge, tuple | list) or len(edge) != 2:
            raise InvalidSet(f"edge {len(pairs)} must be a pair (tail, head), got {edge!r:.200}")
        pairs.append((edge[0], edge[1]))
    return pairs


def _stored(matrix: Any, directed: bool) -> list[tuple[int, int]]:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidSet(f"the matrix of a graph must be square, got shape {matrix.shape}")
    entries = matrix.tocoo()
    pairs = set(zip(entries.coords[0].tolist(), entries.coords[1].tolist(), strict=True))
    return sorted(pairs if directed else {(min(pair), max(pair)) for pair in pairs})


def _printable(node: Any) -> str:
    text = str(node)
    return text if text and text.isprintable() else repr(node)
