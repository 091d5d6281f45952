"""The oracle of `GreedyKnapsack`: steps along the groups' upper hulls of weights over costs, the steepest first."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.sets.oracles.sorting import write_flagged
from semibandits.types import Arrays, Items, Solver, Weights

FREE_OF_COST = float("inf")


class Hulls(NamedTuple):
    """The upper hulls of all groups, one behind the other: group g has room from starts[g] on."""

    item_at: Any
    """By place on a hull: which of the items, by cost."""
    slope: Any
    """By place: weight per cost of the step there."""
    step: Any
    """By group: the place of its next step."""
    end: Any
    """By group: where its hull ends."""
    rise: Any
    """By group: weight per cost of its next step."""


def solver(items: Items, costs: Weights, starts: Items, fixed: NDArray[np.bool_], purse: float) -> Solver:
    """Group g is items[starts[g]] to items[starts[g + 1] - 1] by cost; `fixed` tells which items are chosen anyhow."""
    groups = starts.size - 1
    return Solver(
        greedy_knapsack,
        (items, costs, starts, fixed.astype(np.int64), np.array([purse])),
        numbers=items.size + groups,
        integers=items.size + 3 * groups + fixed.size,
        own_work=False,
    )


def greedy_knapsack(weights: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Steps by weight per cost, from a heap of the groups; then the best single item instead, if it is worth more."""
    items, costs, starts, fixed, purse = data
    groups = len(starts) - 1
    behind = len(items)
    hulls = Hulls(
        integers[:behind],
        numbers[:behind],
        integers[behind : behind + groups],
        integers[behind + groups : behind + 2 * groups],
        numbers[behind : behind + groups],
    )
    heap = integers[behind + 2 * groups : behind + 3 * groups]
    chosen = integers[behind + 3 * groups : behind + 3 * groups + len(fixed)]
    for g in range(groups):
        hulls.step[g] = starts[g]
        hulls.end[g] = build_hull(hulls, weights, items, costs, starts[g], starts[g + 1])
    take_steps(hulls, heap, costs, starts, purse[0])
    for item in range(len(fixed)):
        chosen[item] = fixed[item]
    total = 0.0
    for g in range(groups):
        if hulls.step[g] > starts[g]:
            total += weights[items[hulls.item_at[hulls.step[g] - 1]]]
    single = best_single(weights, items)
    if single >= 0 and weights[items[single]] > total:
        chosen[items[single]] = 1
        return write_flagged(out, chosen)
    for g in range(groups):
        if hulls.step[g] > starts[g]:
            chosen[items[hulls.item_at[hulls.step[g] - 1]]] = 1
    return write_flagged(out, chosen)


def best_single(weights: Any, items: Any) -> int:
    """The place of the heaviest item, the first of tied ones; -1 where none weighs more than 0."""
    best = -1
    most = 0.0
    for j in range(len(items)):
        if weights[items[j]] > most:
            most = weights[items[j]]
            best = j
    return best


def build_hull(hulls: Hulls, weights: Any, items: Any, costs: Any, bottom: int, end: int) -> int:
    """Of the group with the items bottom to end - 1; returns where it ends."""
    item_at, slope = hulls.item_at, hulls.slope
    top = bottom
    for j in range(bottom, end):
        if weights[items[j]] > (weights[items[item_at[top - 1]]] if top > bottom else 0.0):
            rise = slope_to(j, item_at, weights, items, costs, bottom, top)
            while top > bottom and slope[top - 1] <= rise:
                top -= 1
                rise = slope_to(j, item_at, weights, items, costs, bottom, top)
            slope[top] = rise
            item_at[top] = j
            top += 1
    return top


def slope_to(j: int, item_at: Any, weights: Any, items: Any, costs: Any, bottom: int, top: int) -> float:
    """Weight per cost of the step from the top of the hull, or from nothing, to item j."""
    gain = weights[items[j]]
    cost = costs[j]
    if top > bottom:
        gain -= weights[items[item_at[top - 1]]]
        cost -= costs[item_at[top - 1]]
    return gain / cost if cost > 0.0 else FREE_OF_COST


def take_steps(hulls: Hulls, heap: Any, costs: Any, starts: Any, left: float) -> None:
    """As long as they fit into what is left; a group whose next step does not takes no more."""
    size = 0
    for g in range(len(heap)):
        if hulls.end[g] > hulls.step[g]:
            hulls.rise[g] = hulls.slope[hulls.step[g]]
            heap[size] = g
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        sink(hulls.rise, heap, at, size)
    while size > 0:
        g = heap[0]
        step = hulls.step[g]
        cost = costs[hulls.item_at[step]] - (costs[hulls.item_at[step - 1]] if step > starts[g] else 0.0)
        fits = cost <= left
        if fits:
            left -= cost
            hulls.step[g] = step + 1
        if fits and step + 1 < hulls.end[g]:
            hulls.rise[g] = hulls.slope[step + 1]
        else:
            size -= 1
            heap[0] = heap[size]
        sink(hulls.rise, heap, 0, size)


def sink(rise: Any, heap: Any, at: int, size: int) -> None:
    """Lets the group at this position of the heap sink to where it belongs: steep steps first, then low numbers."""
    if at >= size:
        return
    group = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        other = heap[child]
        if child + 1 < size and comes_before(heap[child + 1], other, rise):
            child += 1
            other = heap[child]
        if comes_before(group, other, rise):
            break
        heap[at] = other
        at = child
    heap[at] = group


def comes_before(group: int, other: int, rise: Any) -> bool:
    return rise[group] > rise[other] or (rise[group] == rise[other] and group < other)
