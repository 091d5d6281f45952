"""The oracles of `Enumerated`: the totals of all solutions, for a block of runs or one at a time."""

from typing import Any

import numpy as np

from semibandits.kernel import LANES, lane_loops, score_of
from semibandits.types import Arrays, Items, Solver


def solver_in_lanes(listed: list[Items], n_items: int, max_size: int) -> Solver:
    solutions = np.full((len(listed), max_size), n_items, dtype=np.uint32)
    for row, items in zip(solutions, listed, strict=True):
        row[: items.size] = items
    sizes = np.array([items.size for items in listed], dtype=np.uint32)

    def make_work(lanes: int) -> Arrays:
        return np.zeros(lanes), np.zeros(lanes), np.zeros(lanes, dtype=np.uint32)

    return Solver(best_in_lanes, (solutions, sizes), make_work, variable_size=bool((sizes < max_size).any()))


def solver(listed: list[Items]) -> Solver:
    starts = np.cumsum([0, *(items.size for items in listed)])
    return Solver(best_listed, (np.concatenate(listed), starts), own_work=False)


@lane_loops
def best_in_lanes(view: Any, data: Arrays, work: Arrays, chosen: Any, faults: Any) -> None:
    """The totals of all solutions, in lanes; of tied solutions the first wins."""
    solutions, sizes = data
    total, best, which = work
    for j in range(np.uint32(solutions.shape[0])):
        for lane in range(LANES):
            total[lane] = 0.0
        for k in range(sizes[j]):
            item = solutions[j, k]
            for lane in range(LANES):
                total[lane] += score_of(view, item, lane)
        for lane in range(LANES):
            faults[lane] += 0.0 * total[lane]
            better = j == 0 or total[lane] > best[lane]
            best[lane] = total[lane] if better else best[lane]
            which[lane] = j if better else which[lane]
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            chosen[k, lane] = solutions[which[lane], k]


def best_listed(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """The same for one run at a time."""
    items, starts = data
    best = 0.0
    which = 0
    for j in range(len(starts) - 1):
        value = 0.0
        for k in range(starts[j], starts[j + 1]):
            value += weights[items[k]]
        if j == 0 or value > best:
            best = value
            which = j
    begin = starts[which]
    size: int = starts[which + 1] - begin
    for k in range(size):
        out[k] = items[begin + k]
    return size
