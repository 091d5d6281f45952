"""Shortest simple paths through given edges: hard in general, so a search with a limit.

A shortest *walk* through the edges is quickly found, but may come by a node twice. The search fixes how a path begins,
step by step, the most promising beginning first. Of each it knows the shortest walk that goes on from there without
coming back to it: no path that begins so costs less, and where the walk is simple it is the best of them.
"""

import heapq
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from semibandits._util.effort import spend
from semibandits.errors import Unsupported
from semibandits.sets.graphs.network import Network, Ways

SEARCH_LIMIT = 10_000
"""How many beginnings of a path may be tried."""
MOST_STOPS = 3
"""Through so many of the missing edges a walk is made to lead; with more it would tell more, and take longer."""
FAR = float("inf")

Link = tuple["Arc", "Link | None"]
"""A chain of arcs."""
Arc = tuple[int, int, int]
"""(tail, head, item)"""
Table = tuple[list[float], list[Link | None]]
"""For every node how far it is from there to some node, and the arcs of a shortest walk to it."""


class Beginning(NamedTuple):
    """Of a path: its cost, where it ends, how many arcs it has, its nodes (as bits), the demanded edges it lacks."""

    cost: float
    node: int
    size: int
    nodes: int
    missing: frozenset[int]
    link: Link | None
    """Its arcs, the last one first."""


class Search:
    """For the shortest simple path from the first to the last node that contains all demanded items.

    `costs` are >= 0, one per item; None: the first path that is found will do.
    """

    def __init__(
        self, network: Network, demanded: Iterable[int], costs: Sequence[float] | None, max_hops: int | None
    ) -> None:
        self._target = network.nodes - 1
        self._max_hops = max_hops
        self._longest = network.nodes if max_hops is None else max_hops
        self._demanded = frozenset(demanded)
        self._any = costs is None
        self._arcs: dict[int, list[Arc]] = {item: [] for item in self._demanded}
        self._at: dict[int, set[int]] = {}
        for arc in network.arcs():
            if arc[2] in self._demanded:
                self._arcs[arc[2]].append(arc)
                self._at.setdefault(arc[0], set()).add(arc[2])
        self._out, self._into = self._ways(network)
        self._size = sum(map(len, self._into))
        if costs is None:
            self._costs = dict.fromkeys(network.items(), 1.0)
        else:  # what is demanded must be paid anyway
            self._costs = {item: 0.0 if item in self._demanded else costs[item] for item in network.items()}

    def _ways(self, network: Network) -> tuple[Ways, Ways]:
        """Without those beside an arc that must be taken: out of its tail, or into its head."""
        settled = [arcs[0] for arcs in self._arcs.values() if len(arcs) == 1]
        only_out = {tail: item for tail, _, item in settled}
        only_into = {head: item for _, head, item in settled}
        out: Ways = [[] for _ in network.out]
        into: Ways = [[] for _ in network.out]
        for tail, head, item in network.arcs():
            if only_out.get(tail, item) == item == only_into.get(head, item):
                out[tail].append((head, item))
                into[head].append((tail, item))
        return out, into

    def path(self) -> list[int] | None:
        """The items, ascending; None: there is no such path."""
        order = itertools.count(0, -1)  # of equals the latest first: it has come furthest
        start = Beginning(0.0, 0, 0, 1, self._demanded, None)
        queue: list[tuple[float, int, Beginning, bool]] = [(0.0, next(order), start, False)]
        tried = 0
        while queue:
            least, _, begun, complete = heapq.heappop(queue)
            if complete:
                return _items(begun.link)
            tried += 1
            if tried > SEARCH_LIMIT:
                raise Unsupported(
                    f"the search for a simple path through items {sorted(self._demanded)!r:.100} gave up after "
                    f"{SEARCH_LIMIT:,} steps: that is hard in general, and too hard in this graph"
                )
            stops = self._stops(begun)
            tables = self._tables(begun, stops)
            ahead, walk = self._walk(begun, stops, tables)
            if ahead == FAR or (self._any and begun.size + ahead > self._longest):
                continue
            least = max(least, begun.cost + ahead)
            if self._makes_a_path(begun, walk):
                for arc in walk:
                    begun = begun._replace(link=(arc, begun.link))
                if self._any:
                    return _items(begun.link)
                heapq.heappush(queue, (least, next(order), begun, True))
                continue
            for child in self._children(begun):
                ahead = self._bound(child, stops, tables)
                if ahead < FAR:
                    heapq.heappush(queue, (max(least, child.cost + ahead), next(order), child, False))
        return None

    def _left(self, begun: Beginning) -> int | None:
        return None if self._max_hops is None else self._max_hops - begun.size

    def _children(self, begun: Beginning) -> list[Beginning]:
        """One step further; where a demanded edge must be taken now or never, by that edge."""
        if self._left(begun) == 0:
            return []
        now = begun.missing.intersection(self._at.get(begun.node, ()))
        return [
            Beginning(
                begun.cost + self._costs[item],
                head,
                begun.size + 1,
                begun.nodes | 1 << head,
                begun.missing - {item},
                ((begun.node, head, item), begun.link),
            )
            for head, item in reversed(self._out[begun.node])
            if not begun.nodes >> head & 1 and (not now or now == {item})
        ]

    def _stops(self, begun: Beginning) -> list[list[Arc]]:
        """The arcs of some edges that are missing: of those that touch each other one."""
        stops = []
        touched: set[int] = set()
        for item in sorted(begun.missing):
            ends = {node for tail, head, _ in self._arcs[item] for node in (tail, head)}
            if not ends & touched:
                stops.append([arc for arc in self._arcs[item] if not begun.nodes >> arc[1] & 1])
            touched |= ends
        return stops[:MOST_STOPS]

    def _tables(self, begun: Beginning, stops: list[list[Arc]]) -> dict[int, Table]:
        """How far it is to the target and to the stops, without coming by a node of the beginning."""
        goals = {self._target} | {tail for arcs in stops for tail, _, _ in arcs}
        left = self._left(begun)
        spend(len(goals) * self._size)
        return {goal: distances(self._into, goal, self._costs, left, begun.nodes, begun.node) for goal in goals}

    def _walk(self, begun: Beginning, stops: list[list[Arc]], tables: dict[int, Table]) -> tuple[float, list[Arc]]:
        """The shortest walk on from here by way of the stops, in any order and direction."""
        best = FAR
        route: tuple[Arc, ...] = ()
        for order in itertools.permutations(stops):
            for arcs in itertools.product(*order):
                cost, node = 0.0, begun.node
                for tail, head, item in arcs:
                    cost += tables[tail][0][node] + self._costs[item]
                    node = head
                cost += tables[self._target][0][node]
                if cost < best:
                    best, route = cost, arcs
        if best == FAR:
            return best, []
        walk, node = [], begun.node
        for arc in route:
            walk += [*_arcs(tables[arc[0]][1][node]), arc]
            node = arc[1]
        return best, walk + _arcs(tables[self._target][1][node])

    def _makes_a_path(self, begun: Beginning, walk: list[Arc]) -> bool:
        """Whether the walk completes the beginning: simple, not too long, and with all that is missing."""
        nodes = {begun.node, *(head for _, head, _ in walk)}
        left = self._left(begun)
        return (
            len(nodes) == len(walk) + 1
            and (left is None or len(walk) <= left)
            and begun.missing <= {item for _, _, item in walk}
        )

    def _bound(self, begun: Beginning, stops: list[list[Arc]], tables: dict[int, Table]) -> float:
        """What going on costs at least, by the tables of one step before."""
        to_target = tables[self._target][0]
        bound = to_target[begun.node]
        for arcs in stops:
            if arcs and arcs[0][2] in begun.missing:
                item = arcs[0][2]
                ways = (tables[tail][0][begun.node] + to_target[head] for tail, head, _ in arcs)
                bound = max(bound, min(ways) + self._costs[item])
        return bound


def through_each(
    network: Network, costs: Sequence[float], max_hops: int | None, search: Callable[[int], list[int] | None]
) -> dict[int, float]:
    """For every item of the network what the shortest simple path through it costs; inf: there is none.

    Shortest walks from the source to its edge, and on to the target, tell for most; the search must for the others.
    """
    paid = dict(enumerate(costs))
    legs = None if max_hops is None else max_hops - 1
    behind, way_back = distances(network.out, 0, paid, legs)
    ahead, way_on = distances(network.into, network.nodes - 1, paid, legs)
    walks: dict[int, tuple[float, bool]] = {}
    for tail, head, item in network.arcs():
        cost = behind[tail] + costs[item] + ahead[head]
        if item not in walks or cost < walks[item][0]:
            before, after = _arcs(way_back[tail]), _arcs(way_on[head])
            nodes = {tail, head, *(node for _, node, _ in before + after)}
            size = len(before) + 1 + len(after)
            walks[item] = cost, len(nodes) == size + 1 and (max_hops is None or size <= max_hops)
    found = {}
    for item, (cost, simple) in walks.items():
        path = None if simple else search(item)
        found[item] = cost if simple else FAR if path is None else sum(costs[one] for one in path)
    return found


def distances(
    ways: Ways, goal: int, costs: dict[int, float], hops: int | None = None, blocked: int = 0, start: int = -1
) -> Table:
    """From every node to the goal along ways that lead back from it, with at most so many hops.

    Walks come by no blocked node (as bits), but one may begin at `start`. Dijkstra's method; with `hops`, passes that
    each allow one more.
    """
    distance = [FAR] * len(ways)
    links: list[Link | None] = [None] * len(ways)
    distance[goal] = 0.0
    if hops is None:
        queue = [(0.0, goal)]
        while queue:
            far, node = heapq.heappop(queue)
            if far > distance[node] or node == start:
                continue
            for tail, item in ways[node]:
                further = far + costs[item]
                if further < distance[tail] and (tail == start or not blocked >> tail & 1):
                    distance[tail] = further
                    links[tail] = (tail, node, item), links[node]
                    heapq.heappush(queue, (further, tail))
        return distance, links
    changed: dict[int, tuple[float, Link | None]] = {goal: (0.0, None)}
    for _ in range(hops):
        found: dict[int, tuple[float, Link | None]] = {}
        for node, (far, link) in changed.items():
            for tail, item in ways[node] if node != start else ():
                further = far + costs[item]
                if further < distance[tail] and (tail == start or not blocked >> tail & 1):
                    distance[tail] = further
                    found[tail] = further, ((tail, node, item), link)
        for tail, (_, link) in found.items():
            links[tail] = link
        changed = found
    return distance, links


def _arcs(link: Link | None) -> list[Arc]:
    arcs = []
    while link is not None:
        arcs.append(link[0])
        link = link[1]
    return arcs


def _items(link: Link | None) -> list[int]:
    return sorted(item for _, _, item in _arcs(link))
