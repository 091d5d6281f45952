"""The oracle of `GraphicMatroid`: Kruskal's algorithm (1956), edges that would close a cycle passed over unsorted."""

from typing import Any

import numpy as np

from semibandits.sets.oracles.greedy import HEAD, mark, put_in_order, sort_some, stretch, words, write_marked
from semibandits.types import Arrays, Items, Solver

NODES, MOST, BASES = range(3)
"""Constants: how many nodes there are, the size of the largest solution, and whether all have it."""
WORTH_FILTERING = 64
"""Edges yet to be sorted, at least so many, are looked through first for those that would close a cycle."""


def solver(free: Items, ends: Items, fixed: Items, nodes: int, max_size: int, bases: bool) -> Solver:
    """Item e joins the nodes ends[2e] and ends[2e + 1], which a path of fixed edges has made one where it could."""
    n = free.size
    return Solver(
        kruskal,
        (free, ends, fixed, np.array([nodes, max_size, bases], dtype=np.int64)),
        numbers=2 * n,
        integers=2 * n + HEAD + nodes + words(ends.size // 2),
        variable_size=not bases,
    )


def kruskal(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Behind the work space of the order: another node of its piece above each node, or itself; the items' marks."""
    free, ends, fixed, constants = data
    nodes, most, bases = constants[NODES], constants[MOST], constants[BASES]
    n = len(free)
    above = integers[2 * n + HEAD : 2 * n + HEAD + nodes]
    marks = integers[2 * n + HEAD + nodes : 2 * n + HEAD + nodes + words(len(weights))]
    for node in range(nodes):
        above[node] = node
    size = len(fixed)
    for i in range(size):
        mark(fixed[i], marks)
    end = put_in_order(weights, free, numbers, integers)
    begin = 0
    while size < most and begin < n:
        if begin == end:
            end = stretch(begin, n, integers)
            if begin > 0 and end - begin > WORTH_FILTERING:
                begin = without_cycles(begin, end, ends, above, numbers, integers)
            end = sort_some(begin, end, n, numbers, integers)
        for i in range(begin, end):
            if bases == 0 and numbers[i] <= 0.0:
                most = size
                break
            item = integers[i]
            a, b = root(ends[2 * item], above), root(ends[2 * item + 1], above)
            if a != b:
                above[a] = b
                mark(item, marks)
                size += 1
                if size == most:
                    break
        begin = end
    return write_marked(out, marks)


def root(node: int, above: Any) -> int:
    """Of the node's piece; ways there become shorter."""
    parent = above[node]
    while parent != node:
        grandparent = above[parent]
        above[node] = grandparent
        node = grandparent
        parent = above[node]
    return node


def without_cycles(begin: int, end: int, ends: Any, above: Any, numbers: Any, integers: Any) -> int:
    """Moves the edges between different pieces to the end of the stretch, in the same order; returns the first."""
    first = end
    for i in range(end - 1, begin - 1, -1):
        item = integers[i]
        if root(ends[2 * item], above) != root(ends[2 * item + 1], above):
            first -= 1
            integers[first] = item
            numbers[first] = numbers[i]
    return first
