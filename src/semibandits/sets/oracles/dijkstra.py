"""The oracle of `Paths`: a shortest path by Dijkstra's method from both ends (Nicholson 1966), costs being -weights.

Each end has a heap with four children to a node, in which costs can be lowered (Johnson 1975).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semibandits.sets.graphs.network import Network
from semibandits.sets.oracles.sorting import sort_items
from semibandits.types import Arrays, Solver

FAR = 1e300
"""The distance of a node that was not reached."""


class Heaps(NamedTuple):
    """Nodes to be looked at, the nearest first: those reached from the source, and from `nodes` on the others."""

    cost: Any
    node: Any
    place: Any
    """By node: where in its heap it is."""


def solver(network: Network) -> Solver:
    """From node 0 to the last."""
    nodes = network.nodes
    arcs: list[int] = []
    first = [0]
    for offset, ways in ((0, network.out), (nodes, network.into)):
        for way in ways:
            for node, item in way:
                arcs += (offset + node, item)
            first.append(len(arcs) // 2)
    return solver_of(shortest_path, (np.array(first, dtype=np.int64), np.array(arcs, dtype=np.int64)))


def solver_of(kernel: Callable[..., Any], data: Arrays) -> Solver:
    """`data`: where the arcs of each node begin, and of each arc the other node and the item.

    Node v is there twice: as v it is reached from the source, as nodes + v, going back, from the target.
    """
    nodes = data[0].size // 2
    return Solver(kernel, data, numbers=4 * nodes, integers=8 * nodes, own_work=False)


def shortest_path(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """The source is node 0, the target the last one."""
    first, arcs = data
    return from_both_ends(weights, out, first, arcs, 0, len(first) // 2 - 1, numbers, integers)


def shortest_path_between(question: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Between any two nodes: behind the weights, the question names source and target.

    An item of weight minus infinity is never taken, and its nodes are not reached by it.
    """
    first, arcs = data
    n_items = len(question) - 2
    source, target = int(question[n_items]), int(question[n_items + 1])
    return from_both_ends(question, out, first, arcs, source, target, numbers, integers)


def from_both_ends(
    weights: Any, out: Any, first: Any, arcs: Any, source: int, target: int, numbers: Any, integers: Any
) -> int:
    """Goes on at the end that has come less far, until no way between the two can be shorter than the best one met."""
    twice = len(first) - 1
    nodes = twice // 2
    distance = numbers[:twice]
    node_before = integers[:twice]
    item_before = integers[twice : 2 * twice]
    heaps = Heaps(numbers[twice : 2 * twice], integers[2 * twice : 3 * twice], integers[3 * twice : 4 * twice])
    for node in range(twice):
        distance[node] = FAR
    distance[source] = distance[nodes + target] = 0.0
    heaps.cost[0] = heaps.cost[nodes] = 0.0
    heaps.node[0] = source
    heaps.node[nodes] = nodes + target
    forth = 1
    back = 1
    best = FAR
    middle = 0
    while forth > 0 and back > 0 and heaps.cost[0] + heaps.cost[nodes] < best:
        if heaps.cost[0] <= heaps.cost[nodes]:
            heap = 0
            across = nodes
            forth -= 1
            size = forth
        else:
            heap = nodes
            across = -nodes
            back -= 1
            size = back
        node = heaps.node[heap]
        here = heaps.cost[heap]
        drop_first(heaps, heap, size)
        for arc in range(first[node], first[node + 1]):
            other = arcs[2 * arc]
            there = here - weights[arcs[2 * arc + 1]]
            known = distance[other]
            if there < known:
                distance[other] = there
                node_before[other] = node
                item_before[other] = arcs[2 * arc + 1]
                if known == FAR:
                    place = size
                    size += 1
                else:
                    place = heaps.place[other]
                move_up(heaps, heap, place, there, other)
                whole = there + distance[other + across]
                if whole < best:
                    best = whole
                    middle = other
        if heap == 0:
            forth = size
        else:
            back = size
    if best == FAR:
        return 0
    return join(out, middle % nodes, source, nodes + target, nodes, node_before, item_before)


def put(heaps: Heaps, heap: int, place: int, cost: float, node: int) -> None:
    heaps.cost[heap + place] = cost
    heaps.node[heap + place] = node
    heaps.place[node] = place


def move_up(heaps: Heaps, heap: int, place: int, cost: float, node: int) -> None:
    """Puts a node into the heap, from this place up."""
    while place > 0:
        above = (place - 1) // 4
        other = heaps.cost[heap + above]
        if cost >= other:
            break
        put(heaps, heap, place, other, heaps.node[heap + above])
        place = above
    put(heaps, heap, place, cost, node)


def drop_first(heaps: Heaps, heap: int, size: int) -> None:
    """Takes the first node out of the heap, which then holds `size`: the last one sinks down from its place."""
    cost = heaps.cost[heap + size]
    node = heaps.node[heap + size]
    place = 0
    below = 1
    while below < size:
        least = below
        other = heaps.cost[heap + below]
        for child in range(below + 1, min(below + 4, size)):
            if heaps.cost[heap + child] < other:
                other = heaps.cost[heap + child]
                least = child
        if cost <= other:
            break
        put(heaps, heap, place, other, heaps.node[heap + least])
        place = least
        below = 4 * place + 1
    put(heaps, heap, place, cost, node)


def join(out: Any, middle: int, source: int, target: int, nodes: int, node_before: Any, item_before: Any) -> int:
    """The way from the source to the middle and on to the target.

    It comes by no node twice: that node would have been a middle before, and no worse, so that this one were none.
    """
    size = 0
    node = middle
    while node != source:
        out[size] = item_before[node]
        size += 1
        node = node_before[node]
    node = nodes + middle
    while node != target:
        out[size] = item_before[node]
        size += 1
        node = node_before[node]
    sort_items(out, size)
    return size
