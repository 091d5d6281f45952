"""The shortest simple path through one edge of a graph without direction.

It is made of two ways, from the ends of the edge to source and target, that share no node; which end leads where does
not matter. Suurballe's method (1974): a shortest way from one of the ends; then the best second way, which may take
parts of the first one back.
"""

import heapq
from collections.abc import Sequence

from semibandits._util.effort import spend
from semibandits.sets.graphs.network import Network, Ways

FAR = float("inf")


class Detours:
    """For all edges: how far every node is from the nearer of source and target, and the way by which it is."""

    def __init__(self, network: Network, costs: Sequence[float]) -> None:
        self._costs = costs
        self._nodes = network.nodes
        self._beside: Ways = [sorted(set(out) | set(into)) for out, into in zip(network.out, network.into, strict=True)]
        self._ends = {item: (tail, head) for tail, head, item in network.arcs()}
        self._distance = [FAR] * self._nodes
        self._before: list[tuple[int, int]] = [(-1, -1)] * self._nodes
        queue = [(0.0, 0), (0.0, self._nodes - 1)]
        self._distance[0] = self._distance[-1] = 0.0
        while queue:
            far, node = heapq.heappop(queue)
            if far > self._distance[node]:
                continue
            for other, item in self._beside[node]:
                further = far + costs[item]
                if further < self._distance[other]:
                    self._distance[other] = further
                    self._before[other] = node, item
                    heapq.heappush(queue, (further, other))

    def path(self, item: int) -> list[int]:
        """The items of the shortest simple path through this one, ascending. Each item of the network is on some."""
        spend(self._nodes)
        near, far = self._ends[item]
        if self._distance[near] > self._distance[far] or far in self._way(near):
            near, far = far, near
        way = self._way(near)
        used = {item, *(by for _, by in way.values() if by >= 0)}
        for step in self._second_way(far, way):
            used ^= {step}
        return self._walk(used)

    def _way(self, node: int) -> dict[int, tuple[int, int]]:
        """The nodes from this one to the nearer of source and target, each with the next and the item between."""
        way = {}
        while node >= 0:
            way[node] = self._before[node]
            node = self._before[node][0]
        return way

    def _second_way(self, goal: int, way: dict[int, tuple[int, int]]) -> list[int]:
        """From the other of source and target: its new items, and those of the first way that it takes back.

        Distances are made relative to the known ones: so no step costs less than nothing, and those back along the
        first way are free. Who comes to a node of the first way, in state nodes + node, must go back along it.
        """
        start = self._nodes - 1 if 0 in way else 0
        far = {start: 0.0}
        before: dict[int, tuple[int, int]] = {}
        queue = [(0.0, start)]
        while True:
            here, state = heapq.heappop(queue)
            if state == goal:
                break
            if here > far[state]:
                continue
            node = state % self._nodes
            steps = []
            if node in way and way[node][0] >= 0:
                steps.append((here, *way[node]))
            if state < self._nodes:
                for other, item in self._beside[node]:
                    cost = max(0.0, self._costs[item] + self._distance[node] - self._distance[other])
                    steps.append((here + cost, self._nodes + other if other in way else other, item))
            for there, other, item in steps:
                if there < far.get(other, FAR):
                    far[other] = there
                    before[other] = state, item
                    heapq.heappush(queue, (there, other))
        items = []
        state = goal
        while state != start:
            state, item = before[state]
            items.append(item)
        return items

    def _walk(self, used: set[int]) -> list[int]:
        """From source to target, leaving out what is beside the path: circles that cost nothing."""
        node, items = 0, []
        while node != self._nodes - 1:
            node, item = next(way for way in self._beside[node] if way[1] in used)
            used.remove(item)
            items.append(item)
        return sorted(items)
