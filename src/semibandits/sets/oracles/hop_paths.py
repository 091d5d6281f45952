"""The oracle of `Paths` with a limit on hops: shortest paths with ever more edges (Bellman 1958, Moore 1959)."""

from typing import Any

import numpy as np

from semibandits.sets.graphs.network import Network, hops
from semibandits.sets.oracles.sorting import sort_items
from semibandits.types import Arrays, Solver

FAR = 1e300
NODE, ITEM, FROM, WIDTH = range(4)
"""Of an entry: the node, the item by which it was reached, and the entry that it was reached from."""


def solver(network: Network, max_hops: int) -> Solver:
    nodes = network.nodes
    arcs = [number for ways in network.out for way in ways for number in way]
    first = np.cumsum([0, *(len(ways) for ways in network.out)])
    behind = hops([(tail, head) for tail, head, _ in network.arcs()], 0)
    ahead = hops([(head, tail) for tail, head, _ in network.arcs()], nodes - 1)
    # How many hops the target is away from every node; at the end how many there may be.
    away = np.array([*(ahead[node] for node in range(nodes)), max_hops], dtype=np.int64)
    entries = 1 + sum(max_hops - behind[node] - ahead[node] + 1 for node in range(1, nodes))
    return Solver(
        shortest_path_within,
        (first.astype(np.int64), np.array(arcs, dtype=np.int64), away),
        numbers=nodes + entries,
        integers=nodes + WIDTH * entries,
        own_work=False,
    )


def shortest_path_within(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Pass by pass, one hop more in each, from the nodes to which the last pass has found a shorter way.

    Each pass makes an entry for each such node. Only what is shorter counts, so that no walk along the entries comes by
    a node twice.
    """
    first, arcs, away = data
    nodes = len(first) - 1
    target = nodes - 1
    distance = numbers[:nodes]
    distance_at = numbers[nodes:]
    latest = integers[:nodes]
    entries = integers[nodes:]
    for node in range(nodes):
        distance[node] = FAR
        latest[node] = -1
    distance[0] = distance_at[0] = 0.0
    entries[NODE] = 0
    left = away[nodes]
    begin = 0
    end = 1
    size = 1
    while begin < end and left > 0:
        left -= 1
        for entry in range(begin, end):
            here = distance_at[entry]
            node = entries[WIDTH * entry + NODE]
            for arc in range(first[node], first[node + 1]):
                other = arcs[2 * arc]
                there = here - weights[arcs[2 * arc + 1]]
                if there < distance[other] and there < distance[target] and away[other] <= left:
                    distance[other] = there
                    if latest[other] < end:
                        latest[other] = size
                        entries[WIDTH * size + NODE] = other
                        size += 1
                    reached = latest[other]
                    distance_at[reached] = there
                    entries[WIDTH * reached + ITEM] = arcs[2 * arc + 1]
                    entries[WIDTH * reached + FROM] = entry
        begin = end
        end = size
    count = 0
    entry = latest[target]
    while entry > 0:
        out[count] = entries[WIDTH * entry + ITEM]
        count += 1
        entry = entries[WIDTH * entry + FROM]
    sort_items(out, count)
    return count
