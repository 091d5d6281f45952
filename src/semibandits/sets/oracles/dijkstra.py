"""The oracle of `Paths`: a shortest path by Dijkstra's method from both ends (Nicholson 1966), costs being -weights.

Each end has a heap with four children to a node, in which costs can be lowered (Johnson 1975).
"""

from typing import Any

import numpy as np

from semibandits.sets.graphs.network import Network
from semibandits.sets.oracles.sorting import sort_items
from semibandits.types import Arrays, Solver

FAR = 1e300
"""The distance of a node that was not reached."""


def solver(network: Network) -> Solver:
    """Node v is there twice: as v it is reached from the source, as nodes + v, going back, from the target."""
    nodes = network.nodes
    arcs: list[int] = []
    first = [0]
    for offset, ways in ((0, network.out), (nodes, network.into)):
        for way in ways:
            for node, item in way:
                arcs += (offset + node, item)
            first.append(len(arcs) // 2)
    data = (np.array(first, dtype=np.int64), np.array(arcs, dtype=np.int64))
    return Solver(shortest_path, data, numbers=4 * nodes, integers=8 * nodes, own_work=False)


def shortest_path(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Goes on at the end that has come less far, until no way between the two can be shorter than the best one met.

    The source is node 0, the target the last one. `numbers` holds distances, then the costs in the two heaps.
    `integers` holds the node before, the item between, the two heaps, and the place of each node in its heap.
    """
    first, arcs = data
    twice = len(first) - 1
    nodes = twice // 2
    heap_back = twice + nodes
    for node in range(twice):
        numbers[node] = FAR
    numbers[0] = numbers[twice] = 0.0
    numbers[twice - 1] = numbers[heap_back] = 0.0
    integers[2 * twice] = 0
    integers[2 * twice + nodes] = twice - 1
    forth = 1
    back = 1
    best = FAR
    middle = 0
    while forth > 0 and back > 0 and numbers[twice] + numbers[heap_back] < best:
        if numbers[twice] <= numbers[heap_back]:
            heap = twice
            across = nodes
            forth -= 1
            size = forth
        else:
            heap = heap_back
            across = -nodes
            back -= 1
            size = back
        node = integers[twice + heap]
        here = numbers[heap]
        _drop_first(numbers, integers, twice, heap, size)
        for arc in range(first[node], first[node + 1]):
            other = arcs[2 * arc]
            there = here - weights[arcs[2 * arc + 1]]
            known = numbers[other]
            if there < known:
                numbers[other] = there
                integers[other] = node
                integers[twice + other] = arcs[2 * arc + 1]
                if known == FAR:
                    place = size
                    size += 1
                else:
                    place = integers[3 * twice + other]
                _move_up(numbers, integers, twice, heap, place, there, other)
                whole = there + numbers[other + across]
                if whole < best:
                    best = whole
                    middle = other
        if heap == twice:
            forth = size
        else:
            back = size
    return _join(out, middle % nodes, nodes, integers)


def _move_up(numbers: Any, integers: Any, twice: int, heap: int, place: int, cost: float, node: int) -> None:
    """Puts a node into the heap, from this place up."""
    while place > 0:
        above = (place - 1) // 4
        other = numbers[heap + above]
        if cost >= other:
            break
        moved = integers[twice + heap + above]
        numbers[heap + place] = other
        integers[twice + heap + place] = moved
        integers[3 * twice + moved] = place
        place = above
    numbers[heap + place] = cost
    integers[twice + heap + place] = node
    integers[3 * twice + node] = place


def _drop_first(numbers: Any, integers: Any, twice: int, heap: int, size: int) -> None:
    """Takes the first node out of the heap, which then holds `size`: the last one sinks down from its place."""
    cost = numbers[heap + size]
    node = integers[twice + heap + size]
    place = 0
    below = 1
    while below < size:
        least = below
        other = numbers[heap + below]
        for child in range(below + 1, min(below + 4, size)):
            if numbers[heap + child] < other:
                other = numbers[heap + child]
                least = child
        if cost <= other:
            break
        moved = integers[twice + heap + least]
        numbers[heap + place] = other
        integers[twice + heap + place] = moved
        integers[3 * twice + moved] = place
        place = least
        below = 4 * place + 1
    numbers[heap + place] = cost
    integers[twice + heap + place] = node
    integers[3 * twice + node] = place


def _join(out: Any, middle: int, nodes: int, integers: Any) -> int:
    """The way from the source to the middle and on to the target.

    It comes by no node twice: that node would have been a middle before, and no worse, so that this one were none.
    """
    twice = 2 * nodes
    size = 0
    node = middle
    while node != 0:
        out[size] = integers[twice + node]
        size += 1
        node = integers[node]
    node = nodes + middle
    while node != twice - 1:
        out[size] = integers[twice + node]
        size += 1
        node = integers[node]
    sort_items(out, size)
    return size
