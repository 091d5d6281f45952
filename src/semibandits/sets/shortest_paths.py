"""Shortest paths in any graph, with costs >= 0."""

from collections.abc import Iterable
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import as_items, check_count, check_items, check_weights, within
from semibandits._util.forks import cached_property
from semibandits.errors import EmptyFeasibleSet, InvalidSet, Unsupported
from semibandits.sets.base import EXCLUDED, FIXED, NO_ITEMS, Solved, WarmOracle, check_oracle_weights
from semibandits.sets.edges import OfEdges
from semibandits.sets.graphs.detours import Detours
from semibandits.sets.graphs.network import Network, network
from semibandits.sets.graphs.reading import Node, plain, read_graph
from semibandits.sets.graphs.simple_paths import Search, through_each
from semibandits.sets.oracles import dijkstra, hop_paths
from semibandits.sets.programs.program import Program
from semibandits.sets.ways import Between, Ways
from semibandits.types import FeasibleSet, Items, Solver, Weights

SMALL = 200
"""Up to so many edges `uncovered` searches where it must, to be exact."""


class Paths(OfEdges, Solved):
    """All simple paths from `source` to `target` in a graph with or without direction; its i-th edge is item i.

    The graph may be a list of edges (tail, head), whose nodes are whatever can be a key of a dict; a SciPy sparse
    matrix, an edge for each stored entry, row by row (without direction, entries (i, j) and (j, i) are one edge, of the
    lower node's row); or a networkx graph, its edges in its order. `edges` lists them as items are numbered. `directed`
    None means: as a networkx graph says, others are directed. With `max_hops` paths have at most so many edges. In a
    graph without cycles, `DagPaths` is quicker and takes all weights.

    Weights are costs, negated, and must be <= 0: with gains on the way a longest path would be asked for, which nobody
    can find in a large graph. The oracle is Dijkstra's method from both ends, O(edges · log nodes); with
    `max_hops` dynamic programming, O(max_hops · edges). Of tied paths always the same is taken, but none in particular.

    A path through demanded edges (`restrict(include=...)`, `best_with_each`) is hard to find in general (Fortune,
    Hopcroft and Wyllie 1980): it is searched for, and `Unsupported` is raised at the limit of the search. Through one
    edge without direction or `max_hops` it is easy (`detours`). `uncovered` is exact without direction or `max_hops`,
    and, if the search can tell, up to 200 edges; beyond that it names items that are on no walk from source to target.

    >>> roads = Paths([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], "a", "d", directed=False)
    >>> roads.argmax([-1.0, -1.0, -5.0, -1.0])
    array([0, 1, 3])
    >>> roads.labels
    ('a-b', 'b-c', 'a-c', 'c-d')
    """

    signed = False

    def __init__(
        self, graph: Any, source: Node, target: Node, *, directed: bool | None = None, max_hops: int | None = None
    ) -> None:
        if directed is not None and not isinstance(directed, bool):
            raise InvalidSet(f"directed must be True, False or None, got {directed!r:.100}")
        self.graph = read_graph(graph, directed)
        self.directed = self.graph.directed
        self.edges = self.graph.edges
        self.n_items = len(self.edges)
        self.source, self.target = plain(source), plain(target)
        self._source, self._target = self.graph.number("source", source), self.graph.number("target", target)
        if self._source == self._target:
            raise InvalidSet(f"source and target must be different nodes, got {source!r:.100} twice")
        self.max_hops = None if max_hops is None else check_count("max_hops", max_hops)
        longest = len(self.graph.nodes) - 1
        self._limit = self.max_hops if self.max_hops is not None and self.max_hops < longest else None
        """Restrictions make no difference to it, so that ties are broken alike."""
        self._set_free()

    def _prepare(self) -> None:
        vars(self).pop("_network", None)
        longest = self._network.nodes - 1
        self.max_size = longest if self._limit is None else min(longest, self._limit)
        self._fixed = np.flatnonzero(self._state == FIXED)
        if self._fixed.size and self._through(self._fixed.tolist(), None) is None:
            raise EmptyFeasibleSet("no simple path contains all demanded edges")

    @property
    def _network(self) -> Network:
        """It is no `cached_property`, for it counts when sets are told apart."""
        known = vars(self)
        if "_network" not in known:
            known["_network"] = network(self.graph, self._source, self._target, self._state, self._limit)
        found: Network = known["_network"]
        return found

    @cached_property
    def _ways(self) -> Ways:
        """Those of the graph: `between` and `restrict` hand them on."""
        return Ways(self.graph)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_network": self._network}

    def __copy__(self) -> Self:
        """Without working out the network for it."""
        other = type(self).__new__(type(self))
        vars(other).update(super().__getstate__())
        return other

    def between(self, source: Node, target: Node) -> Self:
        """The paths between two other nodes of the same graph: the same items, by number and name, and restrictions.

        The graph is not read again, so that it is quick enough to be done for every request (`ask(feasible=...)`):
        one pass through the edges. With `max_hops` or demanded edges it takes as long as a new set.

        >>> roads = Paths([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], "a", "d", directed=False)
        >>> roads.between("d", "b").argmax([-1.0, -1.0, -5.0, -1.0])
        array([1, 3])
        """
        ways = self._ways
        ends = ways.number("source", source), ways.number("target", target)
        if ends[0] == ends[1]:
            raise InvalidSet(f"source and target must be different nodes, got {source!r:.100} twice")
        other = copy(self)
        vars(other).pop("_network", None)
        other.source, other.target, other._source, other._target = plain(source), plain(target), *ends
        vars(other)["_ways"] = ways
        vars(other).update({name: vars(self)[name] for name in ("labels", "aliases") if name in vars(self)})
        quick = self._fixed.size == 0 and self._limit is None
        useful = ways.useful(self._state != EXCLUDED, *ends) if quick else None
        if useful is None:
            other._prepare()
            return other
        if not useful.any():
            left = "" if (self._state != EXCLUDED).all() else " without the excluded edges"
            raise EmptyFeasibleSet(f"no path leads from {source!r:.100} to {target!r:.100}{left}")
        other.max_size = ways.nodes_at(useful) - 1
        vars(other)["_live"] = Between(ways, useful, *ends)
        return other

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> Self:
        restricted = super().restrict(include, exclude)
        if "_ways" in vars(self):
            vars(restricted)["_ways"] = self._ways
        return restricted

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        """The edges that are left, but for those on no path, which are not to be looked at: they could break ties.

        Where hops are counted they could not: by an edge that leads nowhere, no node is reached with fewer hops.
        """
        if self._fixed.size:
            return FeasibleSet.argmax_without(self, weights, exclude)
        outside = check_items(exclude, self.n_items)
        w = check_oracle_weights(self, weights)
        left = self._state != EXCLUDED
        left[outside] = False
        useful = left if self._limit is not None else self._ways.useful(left, self._source, self._target)
        if useful is None:
            return FeasibleSet.argmax_without(self, weights, outside)
        items = self._live(np.where(useful, w, -np.inf)) if useful.any() else NO_ITEMS
        return items if items.size else self.restrict(exclude=outside).argmax(weights)

    @property
    def _easy(self) -> bool:
        """Whether each edge of the network is on a simple path, and a shortest one through it is quickly found."""
        return not self.directed and self._limit is None

    def _through(self, items: list[int], costs: list[float] | None) -> list[int] | None:
        """The shortest path, or without costs any, through these edges; None: there is none."""
        if len(items) == 1 and self._easy:
            return Detours(self._network, costs or [1.0] * self.n_items).path(items[0])
        return Search(self._network, items, costs, self._limit).path()

    def argmax(self, weights: ArrayLike) -> Items:
        w = check_oracle_weights(self, weights)
        items = self._live(w)
        if self._fixed.size and not np.isin(self._fixed, items).all():
            items = np.array(self._through(self._fixed.tolist(), (-w).tolist()), dtype=np.int64)
        return items

    @cached_property
    def _live(self) -> WarmOracle | Between:  # type: ignore[override]
        return WarmOracle(self._text(), self.max_size)

    def warm_up(self) -> None:
        """With what other ends (`between`) and missing edges (`argmax_without`) take."""
        super().warm_up()
        if not self._fixed.size and self._limit is None:
            weights = -np.random.default_rng(0).random(self.n_items)
            self.argmax_without(weights, ())
            self._ways.shortest(weights, self._source, self._target)

    def _text(self) -> Solver:
        """The oracle that does not know of demanded edges."""
        return dijkstra.solver(self._network) if self._limit is None else hop_paths.solver(self._network, self._limit)

    def solver(self) -> Solver | None:  # type: ignore[override]
        """None with demanded edges, which need a search."""
        return None if self._fixed.size else self._text()

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or not within(ordered, self.n_items) or not 0 < ordered.size <= self.max_size:
            return False
        if (self._state[ordered] == EXCLUDED).any() or not np.isin(self._fixed, ordered).all():
            return False
        ways: dict[int, list[tuple[int, int]]] = {}
        for item in ordered.tolist():
            tail, head = self.graph.tails[item], self.graph.heads[item]
            ways.setdefault(tail, []).append((head, item))
            if not self.directed:
                ways.setdefault(head, []).append((tail, item))
        node, before, seen = self._source, -1, {self._source}
        for _ in range(ordered.size):
            onward = [way for way in ways.get(node, ()) if way[1] != before]
            if len(onward) != 1 or onward[0][0] in seen:
                return False
            node, before = onward[0]
            seen.add(node)
        return node == self._target

    def best_with_each(self, weights: ArrayLike) -> Weights:
        w = check_weights(weights, self.n_items)
        check_oracle_weights(self, w)
        if self._fixed.size:
            return super().best_with_each(w)
        best = np.full(self.n_items, -np.inf)
        costs = (-w).tolist()
        search = Detours(self._network, costs).path if self._easy else lambda item: self._through([item], costs)
        for item, cost in through_each(self._network, costs, self._limit, search).items():
            best[item] = -cost
        return best

    def uncovered(self) -> Items:
        return np.setdiff1d(np.arange(self.n_items), self._covered)

    @cached_property
    def _covered(self) -> list[int]:
        """Items on some path; where that is too hard to tell, those that may be on one."""
        items = self._network.items()
        if (self._easy and not self._fixed.size) or len(items) > SMALL:
            return items
        covered: set[int] = set()
        for item in items:
            if item not in covered:
                try:
                    covered.update(self._through([*self._fixed.tolist(), item], None) or ())
                except Unsupported:
                    covered.add(item)
        return sorted(covered)

    def _parameters(self) -> dict[str, Any]:
        return {
            "graph": self.graph.listed(),
            "source": plain(self.source),
            "target": plain(self.target),
            "directed": self.directed,
            "max_hops": self.max_hops,
        }

    def program(self) -> Program:
        """One unit flows from source to target, through each node at most once, and the nodes on its way are numbered.

        The numbers ascend along every arc that is taken, so that none is part of a cycle (Miller, Tucker, Zemlin 1960).
        """
        program = Program(self.n_items)
        nodes = len(self.graph.nodes)
        last = float(nodes - 1)
        place = [program.add_column(0.0, last) for _ in range(nodes)]
        out: list[list[int]] = [[] for _ in range(nodes)]
        into: list[list[int]] = [[] for _ in range(nodes)]
        for item, (tail, head) in enumerate(zip(self.graph.tails, self.graph.heads, strict=True)):
            arcs = [(tail, head, item)]
            if not self.directed:
                forth, back = program.add_column(integer=True), program.add_column(integer=True)
                program.add_row((item, forth, back), (1.0, -1.0, -1.0), 0.0, 0.0)
                arcs = [(tail, head, forth), (head, tail, back)]
            for start, end, column in arcs:
                if start == end or end == self._source or start == self._target:
                    program.upper[column] = 0.0
                    continue
                out[start].append(column)
                into[end].append(column)
                program.add_row((place[end], place[start], column), (1.0, -1.0, -last - 1.0), -last, np.inf)
        for node in range(nodes):
            surplus = float(node == self._source) - float(node == self._target)
            values = [1.0] * len(out[node]) + [-1.0] * len(into[node])
            program.add_row(out[node] + into[node], values, surplus, surplus)
            program.add_row(out[node], 1.0, 0.0, 1.0)
        if self.max_hops is not None:
            program.add_row(range(self.n_items), 1.0, 0.0, float(self.max_hops))
        return program

    def __repr__(self) -> str:
        kind = "" if self.directed else ", undirected"
        hops = "" if self.max_hops is None else f", max_hops={self.max_hops}"
        return f"Paths({self.n_items} edges, {self.source!r:.50} to {self.target!r:.50}{kind}{hops}{self._restricted})"
