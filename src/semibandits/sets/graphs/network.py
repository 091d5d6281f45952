"""The part of a graph in which simple paths from a source to a target run."""

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import EmptyFeasibleSet
from semibandits.sets.base import EXCLUDED, FIXED
from semibandits.sets.graphs.reading import Graph

Ways = list[list[tuple[int, int]]]
"""For each node its ways to other nodes: (the other node, the item between)."""


class Network(NamedTuple):
    """Arcs that may be on a path; an edge without direction is two arcs. The source is node 0, the target the last."""

    out: Ways
    into: Ways

    @property
    def nodes(self) -> int:
        return len(self.out)

    def arcs(self) -> list[tuple[int, int, int]]:
        """(tail, head, item)."""
        return [(tail, head, item) for tail, ways in enumerate(self.out) for head, item in ways]

    def items(self) -> list[int]:
        return sorted({item for ways in self.out for _, item in ways})


def network(graph: Graph, source: int, target: int, state: NDArray[np.int8], max_hops: int | None) -> Network:
    """Without edges that are seen at once to be on no simple path that keeps the restriction.

    With direction these are edges on no walk from source to target. Without direction and fixed items, and without
    `max_hops`, all edges that are left are on a simple path.
    """
    edges = list(zip(graph.tails, graph.heads, range(len(graph.tails)), strict=True))
    edges = [edge for edge in edges if state[edge[2]] != EXCLUDED and edge[0] != edge[1]]
    fixed = set(np.flatnonzero(state == FIXED).tolist())
    if fixed:
        edges = _beside_fixed(edges, fixed, graph.directed, source, target)
    if not graph.directed:
        edges = _block(edges, source, target, len(graph.nodes))
        edges += [(head, tail, item) for tail, head, item in edges]
    arcs = [arc for arc in edges if arc[1] != source and arc[0] != target]
    behind = hops([(tail, head) for tail, head, _ in arcs], source)
    ahead = hops([(head, tail) for tail, head, _ in arcs], target)
    names = graph.nodes
    if target not in behind:
        raise EmptyFeasibleSet(f"no path leads from {names[source]!r:.100} to {names[target]!r:.100}")
    if max_hops is not None and behind[target] > max_hops:
        raise EmptyFeasibleSet(
            f"every path from {names[source]!r:.100} to {names[target]!r:.100} has at least {behind[target]} edges, "
            f"more than max_hops={max_hops}"
        )
    longest = len(names) - 1 if max_hops is None else max_hops
    arcs = [
        (tail, head, item)
        for tail, head, item in arcs
        if tail in behind and head in ahead and behind[tail] + 1 + ahead[head] <= longest
    ]
    if missing := fixed - {item for _, _, item in arcs}:
        raise EmptyFeasibleSet(f"no path contains item {min(missing)}")
    return _numbered(sorted(arcs, key=lambda arc: arc[2]), source, target)


def hops(arcs: list[tuple[int, int]], start: int) -> dict[int, int]:
    """How many arcs lead at least from the start to each node that can be reached."""
    heads: dict[int, list[int]] = {}
    for tail, head in arcs:
        heads.setdefault(tail, []).append(head)
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for head in heads.get(node, ()):
            if head not in found:
                found[head] = found[node] + 1
                queue.append(head)
    return found


Edges = list[tuple[int, int, int]]


def _beside_fixed(edges: Edges, fixed: set[int], directed: bool, source: int, target: int) -> Edges:
    """Without edges that would lead a second time out of, or into, a node at which the fixed ones settle that."""
    room: dict[tuple[int, bool], int] = {}  # by node and whether an edge leads out of it

    def places(tail: int, head: int) -> tuple[tuple[int, bool], tuple[int, bool]]:
        return ((tail, True), (head, False)) if directed else ((tail, True), (head, True))

    def free(place: tuple[int, bool]) -> int:
        return room.get(place, 1 if directed or place[0] in (source, target) else 2)

    for tail, head, item in edges:
        if item in fixed:
            for place in places(tail, head):
                room[place] = free(place) - 1
                if room[place] < 0:
                    raise EmptyFeasibleSet("the demanded edges are not on one path")
    return [
        (tail, head, item)
        for tail, head, item in edges
        if item in fixed or all(free(place) > 0 for place in places(tail, head))
    ]


def _block(edges: Edges, source: int, target: int, nodes: int) -> Edges:
    """The edges on simple paths: those that one more edge, from source to target, shares its biconnected block with.

    Depth first from that edge (Tarjan 1972): a part that reaches back no further than to the node by which it hangs on
    is a block of its own, and dropped.
    """
    beside: list[list[int]] = [[] for _ in range(nodes)]
    for i, (tail, head, _) in enumerate(edges):
        beside[tail].append(i)
        beside[head].append(i)
    depth = {source: 0, target: 1}
    lowest = {target: 1}
    kept: list[int] = []
    # A node, how many edges were kept before it was reached, and its edges to be looked at.
    stack = [(target, 0, iter(beside[target]))]
    while stack:
        node, before, ahead = stack[-1]
        for i in ahead:
            tail, head, _ = edges[i]
            other = head if tail == node else tail
            if other not in depth:
                depth[other] = lowest[other] = depth[node] + 1
                stack.append((other, len(kept), iter(beside[other])))
                kept.append(i)
                break
            if depth[other] < depth[node]:
                kept.append(i)
                lowest[node] = min(lowest[node], depth[other])
        else:
            stack.pop()
            if stack:
                above = stack[-1][0]
                lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] >= depth[above]:
                    del kept[before:]
    return [edges[i] for i in sorted(set(kept))]


def _numbered(arcs: Edges, source: int, target: int) -> Network:
    """Nodes numbered by their distance from the source, so that near ones lie together in memory."""
    order = [node for node in hops([(tail, head) for tail, head, _ in arcs], source) if node != target]
    number = {node: i for i, node in enumerate([*order, target])}
    out: Ways = [[] for _ in number]
    into: Ways = [[] for _ in number]
    for tail, head, item in arcs:
        out[number[tail]].append((number[head], item))
        into[number[head]].append((number[tail], item))
    return Network(out, into)
