"""Spanning trees and forests; the items are the edges of a graph."""

from typing import Any

import numpy as np

from semibandits.sets.base import FREE, Solved
from semibandits.sets.edges import OfEdges
from semibandits.sets.graphs.reading import read_graph
from semibandits.sets.matroid import MatroidSet
from semibandits.sets.oracles import greedy, spanning_tree
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Solver, Weights


class GraphicMatroid(OfEdges, MatroidSet, Solved):
    """The spanning trees of an undirected graph; of one in several pieces, the forests that span every piece.

    The graph may be a list of edges, a SciPy sparse matrix (whose explicit zeros are edges too) or a networkx graph.
    Parallel edges are different items, and an edge from a node to itself is an item that no solution contains. With
    `bases=False` every forest is a solution, and the oracle takes only edges of positive weight.

    The oracle is Kruskal's algorithm (1956), which sorts no more than it needs and passes over edges that would close
    a cycle before it sorts them (Osipov, Sanders and Singler 2009): at most O(edges · log edges), and often little more
    than O(edges) when the weights have changed little since the last call. Of tied edges it takes those with the
    lowest numbers.

    >>> GraphicMatroid([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]).argmax([0.5, 0.9, 0.7, 0.0])
    array([1, 2, 3])
    """

    def __init__(self, graph: Any, *, bases: bool = True) -> None:
        self.graph = read_graph(graph, directed=False)
        self.edges = self.graph.edges
        self.n_items = len(self.graph.tails)
        self._set_up(bases)

    def _independent(self, items: Items) -> bool:
        pieces = _Pieces(len(self.graph.nodes))
        return all(pieces.join(self.graph.tails[item], self.graph.heads[item]) for item in items.tolist())

    def _contract(self) -> int:
        """Nodes that the fixed edges join become one."""
        tails, heads = self.graph.tails, self.graph.heads
        pieces = _Pieces(len(self.graph.nodes))
        for item in self._fixed.tolist():
            pieces.join(tails[item], heads[item])
        roots = np.array([pieces.root(node) for node in range(len(self.graph.nodes))], dtype=np.int64)
        self._tails, self._heads = roots[tails], roots[heads]
        self._free = np.flatnonzero((self._state == FREE) & (self._tails != self._heads))
        return sum(
            pieces.join(tail, head)
            for tail, head in zip(self._tails[self._free].tolist(), self._heads[self._free].tolist(), strict=True)
        )

    def solver(self) -> Solver:
        structure = (np.stack((self._tails, self._heads), axis=1).ravel(),)
        alone = np.arange(len(self.graph.nodes))
        sizes = self.n_items, self.max_size, self.bases
        return greedy.solver(spanning_tree.kruskal, structure, alone, self._free, self._fixed, *sizes)

    def _weakest(self, w: Weights, items: Items) -> Items:
        """The lightest edge between two nodes of a forest is the one that joins them, if the heaviest come first.

        Trees are hung below larger ones, so that all are shallow, and each node below another remembers when.
        """
        nodes, order = len(self.graph.nodes), items[np.argsort(-w[items], kind="stable")]
        above, size = list(range(nodes)), [1] * nodes
        never = order.size
        since = [never] * nodes
        tails, heads = self._tails[order].tolist(), self._heads[order].tolist()
        for time, (a, b) in enumerate(zip(tails, heads, strict=True)):
            while above[a] != a:
                a = above[a]
            while above[b] != b:
                b = above[b]
            if a != b:  # else the edge is fixed
                if size[a] > size[b]:
                    a, b = b, a
                above[a], since[a] = b, time
                size[b] += size[a]
        parents, times = np.array(above), np.array(since)
        a, b = self._tails[self._free], self._heads[self._free]
        joined = np.full(a.size, never)
        while True:
            sooner = np.minimum(times[a], times[b])
            moves = (a != b) & (sooner < never)
            if not moves.any():
                break
            joined[moves] = sooner[moves]
            a, b = (
                np.where(moves & (times[a] <= times[b]), parents[a], a),
                np.where(moves & (times[b] < times[a]), parents[b], b),
            )
        joined[a != b] = never
        weakest = np.full(self.n_items, self.n_items)
        weakest[self._free] = np.append(order, self.n_items)[joined]
        return weakest

    def program(self) -> Program:
        """In every piece of the graph one node sends a unit to each of the others, along edges of a spanning tree."""
        nodes, tails, heads = len(self.graph.nodes), self.graph.tails, self.graph.heads
        pieces = _Pieces(nodes)
        rank = sum(pieces.join(tail, head) for tail, head in zip(tails, heads, strict=True))
        roots = [pieces.root(node) for node in range(nodes)]
        sizes = np.bincount(roots, minlength=nodes).tolist()
        program = Program(self.n_items)
        tree = list(range(self.n_items))
        if not self.bases:  # a forest is a part of a tree
            tree = [program.add_column(integer=True) for _ in tree]
            for item, edge in enumerate(tree):
                program.add_row([item, edge], [1.0, -1.0], -np.inf, 0.0)
        program.add_row(tree, 1.0, rank, rank)
        flows: list[tuple[list[int], list[float]]] = [([], []) for _ in range(nodes)]
        for edge, tail, head in zip(tree, tails, heads, strict=True):
            if tail == head:
                program.upper[edge] = 0.0
                continue
            most = sizes[roots[tail]] - 1
            flow = program.add_column(-most, most)
            for node, sign in ((tail, -1.0), (head, 1.0)):
                flows[node][0].append(flow)
                flows[node][1].append(sign)
            program.add_row([flow, edge], [1.0, -most], -np.inf, 0.0)
            program.add_row([flow, edge], [1.0, most], 0.0, np.inf)
        for node, (columns, signs) in enumerate(flows):
            comes = 1 - sizes[node] if roots[node] == node else 1
            if columns:
                program.add_row(columns, signs, comes, comes)
        return program

    def _parameters(self) -> dict[str, Any]:
        return {"graph": self.graph.listed(), "bases": self.bases}

    def __repr__(self) -> str:
        kind = "" if self.bases else ", bases=False"
        return f"GraphicMatroid({self.n_items} edges, {len(self.graph.nodes)} nodes{kind}{self._restricted})"


class _Pieces:
    """Which nodes are connected."""

    def __init__(self, nodes: int) -> None:
        self._above = list(range(nodes))

    def root(self, node: int) -> int:
        above = self._above
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    def join(self, a: int, b: int) -> bool:
        """False: they were connected before."""
        a, b = self.root(a), self.root(b)
        self._above[a] = b
        return a != b
