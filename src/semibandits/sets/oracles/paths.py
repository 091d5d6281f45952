"""The oracle of `DagPaths`: one pass of dynamic programming over the arcs that lie on some path."""

from typing import Any

import numpy as np

from semibandits.sets.oracles.sorting import sort_items
from semibandits.types import Arrays, Solver

Arc = tuple[int, int]
"""(item, node at its other end)"""
Plan = list[tuple[int, Arc, list[Arc]]]
"""A node, its first arc, its other arcs; ordered so that what an arc leads to is known when it is read."""


def solver(plan: Plan, target: int) -> Solver:
    """From the plan of the backward pass. Nodes are numbered in its order, so the source is last; then the target."""
    items, heads, ends = listed(plan, target)
    return Solver(
        best_path if in_order(plan, target) else best_path_sorted,
        (np.array(items), np.array(heads), np.array(ends)),
        numbers=len(plan) + 1,
        integers=len(plan),
        own_work=False,
    )


def listed(plan: Plan, target: int) -> tuple[list[int], list[int], list[int]]:
    """The items and heads of all arcs, and where those out of each node end."""
    number = {node: i for i, (node, _, _) in enumerate(plan)} | {target: len(plan)}
    arcs = [arc for _, first, others in plan for arc in (first, *others)]
    ends = np.cumsum([1 + len(others) for _, _, others in plan]).tolist()
    return [item for item, _ in arcs], [number[head] for _, head in arcs], ends


def in_order(plan: Plan, target: int) -> bool:
    """Whether items ascend along every path."""
    least_out = {node: item for node, (item, _), _ in plan}
    return all(head == target or item < least_out[head] for _, first, others in plan for item, head in (first, *others))


def best_path(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """For every node the best total from there to the target; then a walk along the best arcs, from the last node."""
    items, heads, ends = data
    target = len(ends)
    numbers[target] = 0.0
    arc = 0
    for node, end in enumerate(ends):
        best = weights[items[arc]] + numbers[heads[arc]]
        which = arc
        arc += 1
        while arc < end:
            total = weights[items[arc]] + numbers[heads[arc]]
            if total > best:
                best = total
                which = arc
            arc += 1
        numbers[node] = best
        integers[node] = which
    node = target - 1
    size = 0
    while node < target:
        which = integers[node]
        out[size] = items[which]
        size += 1
        node = heads[which]
    return size


def best_path_sorted(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """The same where items do not ascend along every path."""
    size = best_path(weights, out, data, numbers, integers)
    sort_items(out, size)
    return size
