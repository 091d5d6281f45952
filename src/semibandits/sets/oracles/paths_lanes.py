"""The oracle of `DagPaths` for a block of runs: the same dynamic programming, its innermost loops over lanes."""

from typing import Any

import numpy as np

from semibandits.kernel import LANES, lane_loops, score_of
from semibandits.sets.oracles.lanes import ascending
from semibandits.sets.oracles.paths import Plan, in_order, listed
from semibandits.types import Arrays, Items, Solver


def solver(plan: Plan, target: int, others: Items, n_items: int, max_size: int) -> Solver:
    """From the plan of the backward pass. Nodes are numbered in its order, so the source is last; then the target."""
    arc_items, arc_heads, ends = listed(plan, target)
    # At the target a last arc leads from itself to itself, with no item: shorter paths wait there for the longest.
    items = np.array([*arc_items, n_items], dtype=np.uint32)
    heads = np.array([*arc_heads, len(plan)], dtype=np.uint32)
    nodes = len(plan) + 1
    ascending_already = in_order(plan, target)
    lengths = {target: {0}}
    for node, arc, rest in plan:
        lengths[node] = {1 + length for _, head in (arc, *rest) for length in lengths[head]}
        if len(lengths[node]) > 1:  # and so of every node from which it is reached: the source too
            break
    variable_size = len(lengths) <= len(plan) or lengths[plan[-1][0]] != {max_size}

    def make_work(lanes: int) -> Arrays:
        arc = np.zeros((nodes, lanes), dtype=np.uint32)
        arc[-1] = len(arc_items)
        words = 0 if ascending_already else (n_items + 64) // 64
        return np.zeros((nodes, lanes)), arc, np.zeros(lanes, dtype=np.uint32), np.zeros(words, dtype=np.uint64)

    return Solver(
        _best_paths if ascending_already else _solve,
        (np.array([0, *ends], dtype=np.uint32), items, heads, others.astype(np.uint32)),
        make_work,
        reads_once=True,
        variable_size=variable_size,
    )


def _solve(view: Any, data: Arrays, work: Arrays, chosen: Any, faults: Any) -> None:
    _best_paths(view, data, work, chosen, faults)
    _, items, _, _ = data
    _, _, _, words = work
    ascending(chosen, items[-1], words)


@lane_loops
def _best_paths(view: Any, data: Arrays, work: Arrays, chosen: Any, faults: Any) -> None:
    """For every node and lane the best total from there to the target; then a walk along the best arcs.

    Of tied arcs the first wins. Adding 0·(x + y) hands on, to the source, what is not finite, also from an arc that is
    not taken.
    """
    first, items, heads, others = data
    value, best, node, _ = work
    nodes = np.uint32(first.size - 1)
    for v in range(nodes):
        a, end = first[v], first[v + np.uint32(1)]
        item, head = items[a], heads[a]
        if end - a == 1:
            for lane in range(LANES):
                value[v, lane] = score_of(view, item, lane) + value[head, lane]
                best[v, lane] = a
        else:
            b = a + np.uint32(1)
            other, other_head = items[b], heads[b]
            for lane in range(LANES):
                x = score_of(view, item, lane) + value[head, lane]
                y = score_of(view, other, lane) + value[other_head, lane]
                better = y > x
                value[v, lane] = (y if better else x) + 0.0 * (x + y)
                best[v, lane] = b if better else a
            for c in range(b + np.uint32(1), end):
                item, head = items[c], heads[c]
                for lane in range(LANES):
                    x = value[v, lane]
                    y = score_of(view, item, lane) + value[head, lane]
                    better = y > x
                    value[v, lane] = (y if better else x) + 0.0 * (x + y)
                    best[v, lane] = c if better else best[v, lane]
    source = nodes - np.uint32(1)
    for lane in range(LANES):
        faults[lane] += 0.0 * value[source, lane]
        node[lane] = source
    for i in range(others.size):
        item = others[i]
        for lane in range(LANES):
            faults[lane] += 0.0 * score_of(view, item, lane)
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            arc = best[node[lane], lane]
            chosen[k, lane] = items[arc]
            node[lane] = heads[arc]
