"""Paths through an acyclic graph that trade one total off against another, by dynamic programming.

Nodes are numbered in the order of the backward pass, the target last and the source before it; the arcs out of node i
end at `ends[i]`. An arc's shortfall is what it loses against the best arc out of its node, so that a path's shortfalls
add up to what it is below the best path, whatever the signs of weights and however long the path. For every node and
every shortfall d, the table holds the largest gain from there to the target at a shortfall of d or less.
"""

from typing import Any

from semibandits.sets.oracles.sorting import sort_items
from semibandits.types import Arrays, TradeOffs


def trade_offs(data: Arrays) -> TradeOffs:
    """Of the graph that the oracle for one run knows: (items, heads, ends)."""
    _, _, ends = data
    nodes = ends.size + 1
    return TradeOffs(_fill, _take, data, numbers=(0, nodes), integers=(nodes, 0))


def _fill(weights: Any, gains: Any, most: int, data: Arrays, numbers: Any, integers: Any) -> None:
    """`integers` holds every node's greatest total from there on."""
    items, heads, ends = data
    target = len(ends)
    width = most + 1
    integers[target] = 0
    for d in range(width):
        numbers[target * width + d] = 0.0
    begin = 0
    for node, end in enumerate(ends):
        best = weights[items[begin]] + integers[heads[begin]]
        for arc in range(begin + 1, end):
            best = max(best, weights[items[arc]] + integers[heads[arc]])
        integers[node] = best
        row = node * width
        for d in range(width):
            numbers[row + d] = -1.0
        for arc in range(begin, end):
            head = heads[arc]
            lost = best - weights[items[arc]] - integers[head]
            gain = gains[items[arc]]
            behind = head * width - lost
            for d in range(lost, width):
                total = gain + numbers[behind + d]
                if total > numbers[row + d]:
                    numbers[row + d] = total
        begin = end


def _take(d: int, out: Any, weights: Any, gains: Any, most: int, data: Arrays, numbers: Any, integers: Any) -> int:
    """From the source on along the first arc that gives what the table says."""
    items, heads, ends = data
    target = len(ends)
    width = most + 1
    node = target - 1
    size = 0
    while node < target:
        wanted = numbers[node * width + d]
        arc = ends[node - 1] if node > 0 else 0
        while True:
            item = items[arc]
            head = heads[arc]
            lost = integers[node] - weights[item] - integers[head]
            if lost <= d and gains[item] + numbers[head * width + d - lost] == wanted:
                break
            arc += 1
        out[size] = item
        size += 1
        d -= lost
        node = head
    sort_items(out, size)
    return size
