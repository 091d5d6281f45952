"""Paths through a directed acyclic graph; the items are its edges.

The oracle is one pass of dynamic programming over the useful edges (those on some path), O(edges), for weights of any
sign: in an acyclic graph the longest path is as easy as the shortest.
"""

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import as_items, check_restriction, check_weights, within
from semibandits._util.forks import cached_property
from semibandits.errors import CyclicGraph, EmptyFeasibleSet, InvalidSet, Unsupported
from semibandits.sets.base import NO_ITEMS, WarmOracle, best_without, check_oracle_weights
from semibandits.sets.edges import OfEdges
from semibandits.sets.graphs.reading import Node, plain, read_graph
from semibandits.sets.oracles import paths, paths_lanes, paths_trade_offs
from semibandits.sets.oracles.paths import Arc, Plan
from semibandits.sets.programs.program import Program
from semibandits.types import Items, Solver, TradeOffs, Weights


class DagPaths(OfEdges):
    """All paths from `source` to `target` in a directed graph without cycles; its i-th edge is item i.

    The graph may be a list of edges (tail, head), whose nodes are whatever can be a key of a dict; a SciPy sparse
    matrix, an edge for each stored entry, row by row; or a networkx DiGraph or MultiDiGraph, its edges in its order.
    Paths may differ in length, parallel edges are different items, and edges that lie on no path are items that no
    solution contains. Of tied edges out of a node the oracle takes the one with the lowest number.

    >>> diamond = DagPaths([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")], source="a", target="d")
    >>> diamond.argmax([0.5, 0.2, 0.5, 0.9, 0.3])
    array([1, 3])
    >>> diamond.argmax([-1.0, -1.0, -1.0, -1.0, -1.0])
    array([4])
    """

    def __init__(self, edges: Any, source: Node, target: Node) -> None:
        self.graph = read_graph(edges, directed=True)
        self.edges = self.graph.edges
        self.n_items = len(self.edges)
        self.source, self.target = source, target
        self._tails, self._heads, self._names = self.graph.tails, self.graph.heads, self.graph.nodes
        self._source, self._target = self.graph.number("source", source), self.graph.number("target", target)
        if self._source == self._target:
            raise InvalidSet(f"source and target must be different nodes, got {source!r} twice")
        self._rank = self._topological_rank()
        self._keep(np.ones(self.n_items, dtype=bool))
        self._n_covered = len(self._useful)
        self.max_size = int(self._best(np.ones(self.n_items).tolist(), self._backward)[self._source])

    def between(self, source: Node, target: Node) -> "DagPaths":
        """The paths between two other nodes of the same graph: the same items, by number.

        The graph is not read again. A restricted set has no other source and target: restrict the new one.

        >>> diamond = DagPaths([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")], source="a", target="d")
        >>> diamond.between("b", "d").argmax([0.5, 0.2, 0.5, 0.9, 0.3])
        array([2])
        """
        if len(self._useful) != self._n_covered:
            raise Unsupported(f"{self!r} is restricted: restrict the paths between other nodes instead")
        ends = self.graph.number("source", source), self.graph.number("target", target)
        if ends[0] == ends[1]:
            raise InvalidSet(f"source and target must be different nodes, got {source!r} twice")
        other = self._of_any_ends()
        other.source, other.target, other._source, other._target = source, target, *ends
        other._keep(np.ones(self.n_items, dtype=bool))
        other._n_covered = len(other._useful)
        other.max_size = int(other._best(np.ones(self.n_items).tolist(), other._backward)[other._source])
        return other

    def _of_any_ends(self) -> "DagPaths":
        return copy(self)

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
            raise CyclicGraph(
                f"the graph has a cycle: {self._cycle(waiting)}. sets.Paths takes any graph, if weights are costs"
            )
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
        return self._live(check_oracle_weights(self, weights))

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        return best_without(self, self._live, weights, exclude)

    @cached_property
    def _live(self) -> WarmOracle:
        return WarmOracle(self.single(), self.max_size)

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
        restricted = copy(self)
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

    def _restriction(self) -> tuple[Items, Items]:
        """The paths through an edge are those that are left without every edge that is on none of them."""
        return NO_ITEMS, (NO_ITEMS if len(self._useful) == self._n_covered else self.uncovered())

    def _parameters(self) -> dict[str, Any]:
        return {"edges": self.graph.listed(), "source": plain(self.source), "target": plain(self.target)}

    def program(self) -> Program:
        """What enters a node leaves it: without cycles, one unit that flows from source to target is a path."""
        program = Program(self.n_items)
        at: list[dict[int, float]] = [{} for _ in self._names]
        for item, (tail, head) in enumerate(zip(self._tails, self._heads, strict=True)):
            at[tail][item] = 1.0
            at[head][item] = -1.0
        for node, arcs in enumerate(at):
            if arcs:
                surplus = float(node == self._source) - float(node == self._target)
                program.add_row(arcs, list(arcs.values()), surplus, surplus)
        return program

    def solver(self) -> Solver:
        """For a block of runs."""
        return paths_lanes.solver(self._backward, self._target, self.uncovered(), self.n_items, self.max_size)

    def single(self) -> Solver:
        """For one run at a time."""
        return paths.solver(self._backward, self._target)

    def counted(self, limit: int) -> int:
        """By dynamic programming: from the source there are as many ways as from any node on a path, or more."""
        count = [0] * len(self._names)
        count[self._target] = 1
        for node, (_, head), others in self._backward:
            count[node] = count[head] + sum(count[other] for _, other in others)
            if count[node] > limit:
                return limit + 1
        return count[self._source]

    def listed(self, limit: int) -> list[Items] | None:
        """In the order in which a walk meets them that takes the first edge first."""
        if self.counted(limit) > limit:
            return None
        arcs = {node: [first, *others] for node, first, others in self._backward}
        found: list[Items] = []
        walks: list[tuple[int, tuple[int, ...]]] = [(self._source, ())]
        while walks:
            node, items = walks.pop()
            if node == self._target:
                found.append(np.array(sorted(items), dtype=np.int64))
            else:
                walks += [(head, (*items, item)) for item, head in reversed(arcs[node])]
        return found

    def trade_offs(self) -> TradeOffs:
        return paths_trade_offs.trade_offs(self.single().data)

    def __repr__(self) -> str:
        return f"DagPaths({self.n_items} edges, {self.source!r} to {self.target!r}{self._restricted})"

    @property
    def _restricted(self) -> str:
        return "" if len(self._useful) == self.n_items else f", {len(self._useful)} on paths"
