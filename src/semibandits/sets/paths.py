"""Paths through a directed acyclic graph; the items are its edges.

The oracle is one pass of dynamic programming over the useful edges (those on some path), O(edges), for weights of any
sign: in an acyclic graph the longest path is as easy as the shortest.
"""

import copy
import math
from collections.abc import Callable, Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from semibandits.errors import CyclicGraph, EmptyFeasibleSet, InvalidSet
from semibandits.sets import paths_in_lanes as lanes
from semibandits.sets.base import as_items, check_count, check_restriction, check_weights, scaled_down, within
from semibandits.types import FeasibleSet, Items, Solver, Weights

Node = Hashable
Arc = tuple[int, int]
"""(item, node at its other end)"""
Plan = list[tuple[int, Arc, list[Arc]]]
"""A node, its first arc, its other arcs; ordered so that what an arc leads to is known when it is read."""


class DagPaths(FeasibleSet):
    """All paths from `source` to `target` in the graph whose i-th edge (tail, head) is item i.

    Nodes are whatever can be a key of a dict. Paths may differ in length, parallel edges are different items, and
    edges that lie on no path are items that no solution contains. Of tied edges out of a node the oracle takes the one
    with the lowest number.

    >>> diamond = DagPaths([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")], source="a", target="d")
    >>> diamond.argmax([0.5, 0.2, 0.5, 0.9, 0.3])
    array([1, 3])
    >>> diamond.argmax([-1.0, -1.0, -1.0, -1.0, -1.0])
    array([4])
    """

    verified = True

    def __init__(self, edges: Iterable[tuple[Node, Node]], source: Node, target: Node) -> None:
        self.edges: list[tuple[Node, Node]] = []
        for edge in edges.tolist() if isinstance(edges, np.ndarray) else edges:
            if not isinstance(edge, tuple | list) or len(edge) != 2:
                raise InvalidSet(f"edge {len(self.edges)} must be a pair (tail, head), got {edge!r:.200}")
            self.edges.append((edge[0], edge[1]))
        self.n_items = check_count("the number of edges", len(self.edges))
        self.source, self.target = source, target
        number: dict[Node, int] = {}
        try:
            self._tails = [number.setdefault(tail, len(number)) for tail, _ in self.edges]
            self._heads = [number.setdefault(head, len(number)) for _, head in self.edges]
            hash(source), hash(target)
        except TypeError as error:
            raise InvalidSet(f"nodes must be hashable: {error}") from error
        for name, node in (("source", source), ("target", target)):
            if node not in number:
                raise InvalidSet(f"the {name} {node!r} is not a node of any edge")
        self._source, self._target = number[source], number[target]
        if self._source == self._target:
            raise InvalidSet(f"source and target must be different nodes, got {source!r} twice")
        self._names = list(number)
        self._rank = self._topological_rank()
        self._keep(np.ones(self.n_items, dtype=bool))
        self.max_size = int(self._best(np.ones(self.n_items).tolist(), self._backward)[self._source])

    def _topological_rank(self) -> list[int]:
        """For every node its place in an order in which all edges point forward."""
        waiting = [0] * len(self._names)
        outgoing: list[list[int]] = [[] for _ in self._names]
        for tail, head in zip(self._tails, self._heads, strict=True):
            waiting[head] += 1
            outgoing[tail].append(head)
        ready = [node for node, count in enumerate(waiting) if count == 0]
        rank = [0] * len(self._names)
        placed = 0
        while ready:
            node = ready.pop()
            rank[node] = placed
            placed += 1
            for head in outgoing[node]:
                waiting[head] -= 1
                if waiting[head] == 0:
                    ready.append(head)
        if placed < len(self._names):
            raise CyclicGraph(f"the graph has a cycle: {self._cycle(waiting)}")
        return rank

    def _cycle(self, waiting: list[int]) -> str:
        """One cycle among the nodes that could not be placed: each of them has an edge from another of them."""
        before = {
            head: tail for tail, head in zip(self._tails, self._heads, strict=True) if waiting[tail] and waiting[head]
        }
        node = next(iter(before))
        seen: dict[int, None] = {}
        while node not in seen:
            seen[node] = None
            node = before[node]
        nodes = list(seen)
        cycle = [*nodes[nodes.index(node) :], node][::-1]
        return " -> ".join(repr(self._names[node]) for node in cycle)[:200]

    def _keep(self, alive: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Uses only these edges: plans the passes over those of them that lie on some path."""
        live = np.flatnonzero(alive).tolist()
        forth = self._reach(self._source, live, self._tails, self._heads)
        back = self._reach(self._target, live, self._heads, self._tails)
        if self._target not in forth:
            raise EmptyFeasibleSet(f"no path leads from {self.source!r} to {self.target!r}")
        self._useful = [item for item in live if self._tails[item] in forth and self._heads[item] in back]
        self._usable = frozenset(self._useful)
        self._backward = self._plan(self._tails, self._heads, lambda node: -self._rank[node])
        self._forward = self._plan(self._heads, self._tails, lambda node: self._rank[node])

    def _reach(self, start: int, live: list[int], tails: list[int], heads: list[int]) -> set[int]:
        arcs: dict[int, list[int]] = {}
        for item in live:
            arcs.setdefault(tails[item], []).append(heads[item])
        reached, stack = {start}, [start]
        while stack:
            for head in arcs.get(stack.pop(), ()):
                if head not in reached:
                    reached.add(head)
                    stack.append(head)
        return reached

    def _plan(self, near: list[int], far: list[int], order: Callable[[int], int]) -> Plan:
        arcs: dict[int, list[Arc]] = {}
        for item in self._useful:
            arcs.setdefault(near[item], []).append((item, far[item]))
        return [(node, arcs[node][0], arcs[node][1:]) for node in sorted(arcs, key=order)]

    def _best(self, w: list[float], plan: Plan, step: list[Arc] | None = None) -> list[float]:
        """For every node the best total from there to the end of the plan, and the first arc of a way to it."""
        value = [0.0] * len(self._names)
        for node, first, others in plan:
            arc = first
            best = w[first[0]] + value[first[1]]
            for other in others:
                candidate = w[other[0]] + value[other[1]]
                if candidate > best:
                    best, arc = candidate, other
            value[node] = best
            if step is not None:
                step[node] = arc
        return value

    def argmax(self, weights: ArrayLike) -> Items:
        w = check_weights(weights, self.n_items)
        step: list[Arc] = [(-1, -1)] * len(self._names)
        if not math.isfinite(self._best(w.tolist(), self._backward, step)[self._source]):  # sums of huge weights
            self._best(scaled_down(w).tolist(), self._backward, step)
        path = []
        node = self._source
        while node != self._target:
            item, node = step[node]
            path.append(item)
        path.sort()
        return np.array(path, dtype=np.int64)

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or not within(ordered, self.n_items) or ordered.size > self.max_size:
            return False
        next_item = {self._tails[item]: item for item in ordered.tolist() if item in self._usable}
        node, steps = self._source, 0
        while node in next_item and steps < ordered.size:
            node = self._heads[next_item[node]]
            steps += 1
        return node == self._target and steps == ordered.size

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "DagPaths":
        inside, outside = check_restriction(include, exclude, self.n_items)
        alive = np.zeros(self.n_items, dtype=bool)
        alive[self._useful] = True
        alive[outside] = False
        live = np.flatnonzero(alive)
        tails, heads = np.array(self._tails), np.array(self._heads)
        for item in inside.tolist():
            if not alive[item]:
                raise EmptyFeasibleSet(f"no path contains item {item} {self.edges[item]!r:.100} under this restriction")
            # A path uses this edge exactly if each of its other edges lies before or behind it.
            before = self._reach(self._tails[item], live.tolist(), self._heads, self._tails)
            behind = self._reach(self._heads[item], live.tolist(), self._tails, self._heads)
            alive &= np.isin(heads, list(before)) | np.isin(tails, list(behind)) | (np.arange(self.n_items) == item)
            live = np.flatnonzero(alive)
        restricted = copy.copy(self)
        restricted._keep(alive)
        return restricted

    def best_with_each(self, weights: ArrayLike) -> Weights:
        w = check_weights(weights, self.n_items)
        forward = self._best(w.tolist(), self._forward)
        backward = self._best(w.tolist(), self._backward)
        best = np.full(self.n_items, -np.inf)
        for item in self._useful:
            best[item] = forward[self._tails[item]] + w[item] + backward[self._heads[item]]
        return best

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights:
        """A path is worse than the best exactly if it takes an arc that loses against the best one out of its node.

        So both passes are made twice: over all paths, and over those that have taken such an arc.
        """
        w = check_weights(weights, self.n_items).tolist()
        ahead = self._best(w, self._backward)
        loses = {
            item for item in self._useful if ahead[self._tails[item]] - (w[item] + ahead[self._heads[item]]) > tolerance
        }
        behind = self._best(w, self._forward)
        worse_ahead = self._best_losing(w, self._backward, ahead, loses)
        worse_behind = self._best_losing(w, self._forward, behind, loses)
        best = np.full(self.n_items, -np.inf)
        for item in self._useful:
            tail, head = self._tails[item], self._heads[item]
            if item in loses:
                best[item] = behind[tail] + w[item] + ahead[head]
            else:
                best[item] = w[item] + max(worse_behind[tail] + ahead[head], behind[tail] + worse_ahead[head])
        return best

    def _best_losing(self, w: list[float], plan: Plan, best: list[float], loses: set[int]) -> list[float]:
        """As `_best`, over the ways with an arc that loses."""
        value = [-np.inf] * len(self._names)
        for node, first, others in plan:
            value[node] = max(w[item] + (best if item in loses else value)[far] for item, far in (first, *others))
        return value

    def uncovered(self) -> Items:
        return np.setdiff1d(np.arange(self.n_items), self._useful)

    def solver(self) -> Solver:
        return lanes.solver(self._backward, self._target, self.uncovered(), self.n_items, self.max_size)

    def __repr__(self) -> str:
        return f"DagPaths({self.n_items} edges, {self.source!r} to {self.target!r}{self._restricted})"

    @property
    def _restricted(self) -> str:
        return "" if len(self._useful) == self.n_items else f", {len(self._useful)} on paths"


class GridPaths(DagPaths):
    """The paper's grid (Section 7): all monotone paths from the upper left to the lower right corner of m x m squares.

    Nodes are (row, column) with (0, 0) in the upper left and (m, m) in the lower right corner. Nodes are read row by
    row, and at each the edge to the right is numbered before the edge down: L = 2m(m+1), K = 2m.

    >>> GridPaths(1).edges
    [((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 1), (1, 1)), ((1, 0), (1, 1))]
    """

    def __init__(self, m: int) -> None:
        self.m = m = check_count("m", m)
        edges: list[tuple[Node, Node]] = []
        for row in range(m + 1):
            for column in range(m + 1):
                if column < m:
                    edges.append(((row, column), (row, column + 1)))
                if row < m:
                    edges.append(((row, column), (row + 1, column)))
        super().__init__(edges, source=(0, 0), target=(m, m))

    def __repr__(self) -> str:
        return f"GridPaths({self.m}{self._restricted})"


class KPaths(DagPaths):
    """The paper's K-path problem (Section 6): n_items / k disjoint paths of k items; path j holds items jk .. jk+k-1.

    >>> KPaths(6, 3).argmax([0, 0, 1, 1, 1, 0])
    array([3, 4, 5])
    """

    def __init__(self, n_items: int, k: int) -> None:
        n_items, k = check_count("n_items", n_items), check_count("k", k)
        self.k = k
        if n_items % k:
            raise InvalidSet(f"n_items must be a multiple of k={k}, got {n_items}")
        edges: list[tuple[Node, Node]] = []
        for item in range(n_items):
            tail: Node = "source" if item % k == 0 else item
            head: Node = "target" if item % k == k - 1 else item + 1
            edges.append((tail, head))
        super().__init__(edges, source="source", target="target")

    def __repr__(self) -> str:
        return f"KPaths({self.n_items}, {self.k}{self._restricted})"
