"""Spanning trees and forests; the items are the edges of a graph."""

from typing import Any

import numpy as np

from semibandits._util.forks import cached_property
from semibandits.sets.base import FREE, Solved
from semibandits.sets.graphs.reading import read_graph
from semibandits.sets.matroid import MatroidSet
from semibandits.sets.oracles.greedy import HEAD, mark, put_in_order, sort_some, stretch, words, write_marked
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Solver, Weights

WORTH_FILTERING = 64
"""Edges yet to be sorted, at least so many, are looked through first for those that would close a cycle."""


class GraphicMatroid(MatroidSet, Solved):
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
        nodes = len(self.graph.nodes)
        first = 2 * self._free.size + HEAD
        ends = first + np.stack((self._tails, self._heads), axis=1).ravel()
        facts = np.array([nodes, self.max_size, self.bases], dtype=np.int64)
        return Solver(
            _kruskal,
            (self._free, ends, self._fixed, facts),
            numbers=2 * self._free.size,
            integers=first + nodes + words(self.n_items),
            variable_size=not self.bases,
        )

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

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.graph.labels()

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


def _kruskal(weights: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
    """Behind the work space of the order: above each node another of its piece, or itself, and the marks of the items.

    Nodes are known by their places there.
    """
    free, ends, fixed, facts = data
    nodes, most, bases = facts[0], facts[1], facts[2]
    n = len(free)
    first = 2 * n + HEAD
    marks = first + nodes
    for node in range(first, marks):
        integers[node] = node
    size = len(fixed)
    for i in range(size):
        mark(fixed[i], marks, integers)
    end = put_in_order(weights, free, numbers, integers)
    begin = 0
    while size < most and begin < n:
        if begin == end:
            end = stretch(begin, n, integers)
            if begin > 0 and end - begin > WORTH_FILTERING:
                begin = _without_cycles(begin, end, ends, numbers, integers)
            end = sort_some(begin, end, n, numbers, integers)
        for i in range(begin, end):
            if bases == 0 and numbers[i] <= 0.0:
                most = size
                break
            item = integers[i]
            a, b = _root(ends[2 * item], integers), _root(ends[2 * item + 1], integers)
            if a != b:
                integers[a] = b
                mark(item, marks, integers)
                size += 1
                if size == most:
                    break
        begin = end
    return write_marked(out, len(weights), marks, integers)


def _root(node: int, integers: Any) -> int:
    above = integers[node]
    while above != node:
        next_above = integers[above]
        integers[node] = next_above
        node = next_above
        above = integers[node]
    return node


def _without_cycles(begin: int, end: int, ends: Any, numbers: Any, integers: Any) -> int:
    """Moves the edges between different pieces to the end of the stretch, in the same order; returns the first."""
    first = end
    for i in range(end - 1, begin - 1, -1):
        item = integers[i]
        if _root(ends[2 * item], integers) != _root(ends[2 * item + 1], integers):
            first -= 1
            integers[first] = item
            numbers[first] = numbers[i]
    return first
