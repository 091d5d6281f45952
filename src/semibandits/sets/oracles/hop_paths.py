"""The oracle of `Paths` with a limit on hops: shortest paths with ever more edges (Bellman 1958, Moore 1959)."""

from typing import Any

import numpy as np

from semibandits.sets.graphs.network import Network, hops
from semibandits.sets.oracles.sorting import sort_items
from semibandits.types import Arrays, Solver

FAR = 1e300


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
        integers=nodes + 3 * entries,
        own_work=False,
    )


def shortest_path_within(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Pass by pass, one hop more in each, from the nodes to which the last pass has found a shorter way.

    Each pass makes an entry for each such node: (node, item by which it was reached, entry it was reached from). Only
    what is shorter counts, so that no walk along the entries comes by a node twice. `numbers` holds the distances of
    the nodes, then of the entries; `integers` the latest entry of each node, then the entries.
    """
    first, arcs, away = data
    nodes = len(first) - 1
    target = nodes - 1
    for node in range(nodes):
        numbers[node] = FAR
        integers[node] = -1
    numbers[0] = numbers[nodes] = 0.0
    integers[nodes] = 0
    left = away[nodes]
    begin = 0
    end = 1
    size = 1
    while begin < end and left > 0:
        left -= 1
        for entry in range(begin, end):
            here = numbers[nodes + entry]
            node = integers[nodes + 3 * entry]
            for arc in range(first[node], first[node + 1]):
                other = arcs[2 * arc]
                there = here - weights[arcs[2 * arc + 1]]
                if there < numbers[other] and there < numbers[target] and away[other] <= left:
                    numbers[other] = there
                    latest = integers[other]
                    if latest < end:
                        latest = size
                        size += 1
                        integers[other] = latest
                        integers[nodes + 3 * latest] = other
                    numbers[nodes + latest] = there
                    integers[nodes + 3 * latest + 1] = arcs[2 * arc + 1]
                    integers[nodes + 3 * latest + 2] = entry
        begin = end
        end = size
    count = 0
    entry = integers[target]
    while entry > 0:
        out[count] = integers[nodes + 3 * entry + 1]
        count += 1
        entry = integers[nodes + 3 * entry + 2]
    sort_items(out, count)
    return count
