"""Reading graphs: lists of edges, SciPy sparse matrices, networkx graphs."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from semibandits.errors import InvalidSet

Node = Hashable
Edge = tuple[Node, Node]


class Graph(NamedTuple):
    """Edge i, from nodes[tails[i]] to nodes[heads[i]], is item i."""

    nodes: list[Node]
    tails: list[int]
    heads: list[int]
    directed: bool
    names: list[str]
    """What the user calls the edges, beside their nodes; else ""."""

    @property
    def edges(self) -> list[Edge]:
        return [(self.nodes[tail], self.nodes[head]) for tail, head in zip(self.tails, self.heads, strict=True)]

    def listed(self) -> list[list[Any]]:
        """The edges as JSON can say them, if it can say the nodes."""
        nodes = [plain(node) for node in self.nodes]
        edges = zip(self.tails, self.heads, self.names, strict=True)
        return [[nodes[tail], nodes[head], *([name] if name else [])] for tail, head, name in edges]

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

    def labels(self, turned: bool = False) -> tuple[str, ...]:
        """a->b or, without direction, a-b, and `turned` b-a; parallel edges are numbered, unless they have names."""
        found: dict[str, None] = {}
        for first in self._named(turned):
            label, number = first, 1
            while label in found:
                number += 1
                label = f"{first} #{number}"
            found[label] = None
        return tuple(found)

    def aliases(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Beside these labels, the names from the other end: of edges without direction, where they are no other's."""
        if self.directed or tuple(labels) != self.labels():
            return ()
        turned = self._named(turned=True)
        count, own = Counter(turned), set(labels)
        each = zip(turned, labels, strict=True)
        return tuple([one if count[one] == 1 and one not in own else label for one, label in each])

    def _named(self, turned: bool) -> list[str]:
        """By their ends and their names; parallel edges may have the same."""
        arrow = "->" if self.directed else "-"
        nodes = [_printable(node) for node in self.nodes]
        ends = (self.heads, self.tails) if turned else (self.tails, self.heads)
        return [
            f"{nodes[tail]}{arrow}{nodes[head]}" + (f" {name}" if name else "")
            for tail, head, name in zip(*ends, self.names, strict=True)
        ]


def plain(node: Any) -> Any:
    """A NumPy number as a number of Python's, which is the same node."""
    return node.item() if isinstance(node, np.generic) else node


def read_graph(graph: Any, directed: bool | None = None) -> Graph:
    """A graph in any of its forms.

    A list of edges (tail, head), or (tail, head, name): items in its order. A sparse matrix: its stored entries,
    explicit zeros too, row by row; without direction, entries (i, j) and (j, i) are one edge (i, j), i < j. A networkx
    graph: its edges in its order, and its own direction; keys of parallel edges that are strings are their names.
    `directed` None means: as the graph says, else directed.
    """
    if hasattr(graph, "is_directed") and hasattr(graph, "edges"):
        if directed not in (None, graph.is_directed()):
            have, a, want = ("", "an", "un") if graph.is_directed() else ("un", "a", "")
            raise InvalidSet(
                f"the graph is {have}directed, {a} {want}directed one is needed: pass graph.to_{want}directed()"
            )
        directed = bool(graph.is_directed())
        listed = _unnamed(graph.edges())
        if graph.is_multigraph():
            keyed = graph.edges(keys=True)
            listed = [(tail, head, _printable(key) if isinstance(key, str) else "") for tail, head, key in keyed]
    else:
        directed = True if directed is None else directed
        listed = _unnamed(_stored(graph, directed)) if hasattr(graph, "tocoo") else _edges(graph)
    if not listed:
        raise InvalidSet("a graph needs at least one edge, got none")
    number: dict[Node, int] = {}
    try:
        tails = [number.setdefault(tail, len(number)) for tail, _, _ in listed]
        heads = [number.setdefault(head, len(number)) for _, head, _ in listed]
    except TypeError as error:
        raise InvalidSet(f"nodes must be hashable: {error}") from error
    for node in number:
        if node != node:  # so that no two edges would meet there
            edge = next(i for i, ends in enumerate(listed) if node in ends)
            raise InvalidSet(f"{node!r} cannot be a node, as in edge {edge}, {listed[edge][:2]!r:.100}")
    return Graph(list(number), tails, heads, directed, [name for _, _, name in listed])


def _unnamed(pairs: Iterable[Edge]) -> list[tuple[Node, Node, str]]:
    return [(tail, head, "") for tail, head in pairs]


def _edges(edges: Any) -> list[tuple[Node, Node, str]]:
    if isinstance(edges, np.ndarray):
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise InvalidSet(
                f"an array of edges must have shape (edges, 2), got {edges.shape}; a matrix of adjacency must be "
                "sparse: scipy.sparse.csr_array(matrix)"
            )
        edges = edges.tolist()
    if isinstance(edges, str | bytes | Mapping) or not isinstance(edges, Iterable):
        raise InvalidSet(f"expected a list of edges, a sparse matrix or a networkx graph, got {edges!r:.200}")
    listed: list[tuple[Node, Node, str]] = []
    for edge in edges:
        size = len(edge) if isinstance(edge, tuple | list) else 0
        if not (size == 2 or (size == 3 and isinstance(edge[2], str) and edge[2].isprintable())):
            raise InvalidSet(
                f"edge {len(listed)} must be a pair (tail, head), or (tail, head, name) of a string, got "
                f"{edge!r:.200}; weights are given to argmax"
            )
        listed.append((edge[0], edge[1], edge[2] if size == 3 else ""))
    return listed


def _stored(matrix: Any, directed: bool) -> list[tuple[int, int]]:
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidSet(f"the matrix of a graph must be square, got shape {matrix.shape}")
    entries = matrix.tocoo()
    pairs = set(zip(entries.coords[0].tolist(), entries.coords[1].tolist(), strict=True))
    return sorted(pairs if directed else {(min(pair), max(pair)) for pair in pairs})


def _printable(node: Any) -> str:
    text = str(node)
    return text if text and text.isprintable() else repr(node)
