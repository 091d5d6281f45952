"""The oracle of `GraphicMatroid`: Kruskal's algorithm (1956), edges that would close a cycle passed over unsorted."""

from typing import Any

from semibandits.sets.oracles.greedy import greedy
from semibandits.types import Arrays

WORTH_FILTERING = 64
"""Edges yet to be sorted, at least so many, are looked through first for those that would close a cycle."""


def takes(item: int, above: Any, structure: Arrays) -> bool:
    """Where the edge joins two pieces."""
    (ends,) = structure
    a, b = root(ends[2 * item], above), root(ends[2 * item + 1], above)
    if a != b:
        above[a] = b
    return a != b


def root(node: int, above: Any) -> int:
    """Of the node's piece; ways there become shorter."""
    parent = above[node]
    while parent != node:
        grandparent = above[parent]
        above[node] = grandparent
        node = grandparent
        parent = above[node]
    return node


def without_cycles(begin: int, end: int, above: Any, structure: Arrays, numbers: Any, integers: Any) -> int:
    """Moves the edges between different pieces to the end of the stretch, in the same order; returns the first."""
    if begin == 0 or end - begin <= WORTH_FILTERING:
        return begin
    (ends,) = structure
    first = end
    for i in range(end - 1, begin - 1, -1):
        item = integers[i]
        if root(ends[2 * item], above) != root(ends[2 * item + 1], above):
            first -= 1
            integers[first] = item
            numbers[first] = numbers[i]
    return first


kruskal = greedy(takes, without_cycles)
"""The state is the node above each node in its piece, or itself; the structure are both ends of each edge in turn."""
