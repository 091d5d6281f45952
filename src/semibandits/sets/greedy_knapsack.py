"""The knapsack by greed: quick for costs of any kind, and worth at least half of the best."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits.sets.knapsack import Knapsack
from semibandits.types import FeasibleSet, Solver, Weights

FREE_OF_COST = math.inf


class GreedyKnapsack(Knapsack):
    """The solutions of `Knapsack`, with an oracle that promises half of the best (`ratio` 0.5), not the best.

    >>> greedy = GreedyKnapsack([3.5, 2.5, 2.5], capacity=5.0)
    >>> greedy.argmax([0.9, 0.6, 0.6]), greedy.exact().argmax([0.9, 0.6, 0.6])
    (array([0]), array([1, 2]))

    Items are taken by weight per cost as long as they fit; then the best single item instead, if that is worth more
    (Dantzig 1957). With groups a step adds an item or replaces one by a costlier one of its group, along the group's
    upper hull of weights over costs (Sinha and Zoltners 1979; Kellerer, Pferschy and Pisinger 2004, chapter 11).
    O(n_items · log(n_items)). Of tied steps the one of the earlier group (item, without groups) comes first. Items of
    weight 0 or less are never chosen. In a restricted set, the promise is of what remains to be chosen.
    """

    ratio = 0.5

    def exact(self) -> Knapsack:
        """The same set, restrictions included, with an exact oracle."""
        include, exclude = self._restriction()
        twin = Knapsack(self.costs, self.capacity, groups=self.groups)
        return twin.restrict(include, exclude) if include.size or exclude.size else twin

    def _set_method(self) -> None:
        """Costs in terms of the capacity, so that no weight per cost is too large for a double but where it is free."""
        margin = 4e-16 * (self.n_items + 4) * self.capacity  # for the rounding of as many sums
        left = math.floor(self._left) if self._whole else self._left - margin
        shift = -math.frexp(self.capacity)[1]
        by_cost = np.lexsort((self._items, self.costs[self._items], self._group[self._items]))
        self._by_cost = self._items[by_cost]
        self._scaled = np.ldexp(self.costs[self._by_cost], shift)
        self._purse = np.ldexp([float(left)], shift)

    @property
    def method(self) -> str:
        return "greedy"

    def solver(self) -> Solver:
        items, groups = self._by_cost.size, self._starts.size - 1
        data = (self._by_cost, self._scaled, self._starts, self._fixed.astype(np.int64), self._purse)
        return Solver(_solve, data, numbers=items, integers=items + 3 * groups + self.n_items, own_work=False)

    def best_with_each(self, weights: ArrayLike) -> Weights:
        return FeasibleSet.best_with_each(self, weights)


def _solve(weights: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
    """Steps by weight per cost, from a heap of the groups' next steps.

    integers: the items' places on their group's hull; where on it each group is, and where its hull ends; the heap;
    what is chosen. numbers: weight per cost of the step to each place of the hull.
    """
    items, costs, starts, fixed, purse = data
    groups = len(starts) - 1
    place = len(items)
    end = place + groups
    heap = end + groups
    marks = heap + groups
    size = 0
    single = -1
    single_gain = 0.0
    for g in range(groups):
        bottom = starts[g]
        top = bottom
        for j in range(starts[g], starts[g + 1]):
            gain = weights[items[j]]
            if gain > single_gain:
                single_gain = gain
                single = j
            if gain > (weights[items[integers[top - 1]]] if top > bottom else 0.0):
                slope = _slope(weights, items, costs, integers, bottom, top, j)
                while top > bottom and numbers[top - 1] <= slope:
                    top -= 1
                    slope = _slope(weights, items, costs, integers, bottom, top, j)
                numbers[top] = slope
                integers[top] = j
                top += 1
        integers[place + g] = bottom
        integers[end + g] = top
        if top > bottom:
            integers[heap + size] = g
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        _sink(integers, numbers, heap, place, at, size)
    left = purse[0]
    while size > 0:
        g = integers[heap]
        step = integers[place + g]
        cost = costs[integers[step]] - (costs[integers[step - 1]] if step > starts[g] else 0.0)
        fits = cost <= left
        if fits:
            left -= cost
            integers[place + g] = step + 1
        if not fits or step + 1 == integers[end + g]:
            size -= 1
            integers[heap] = integers[heap + size]
        _sink(integers, numbers, heap, place, 0, size)
    for item in range(len(weights)):
        integers[marks + item] = fixed[item]
    total = 0.0
    for g in range(groups):
        if integers[place + g] > starts[g]:
            total += weights[items[integers[integers[place + g] - 1]]]
    if single_gain > total:
        integers[marks + items[single]] = 1
    else:
        for g in range(groups):
            if integers[place + g] > starts[g]:
                integers[marks + items[integers[integers[place + g] - 1]]] = 1
    chosen = 0
    for item in range(len(weights)):
        if integers[marks + item] > 0:
            out[chosen] = item
            chosen += 1
    return chosen


def _slope(weights: Any, items: Any, costs: Any, hull: Any, bottom: int, top: int, j: int) -> float:
    """Weight per cost of the step from the top of the hull, or from nothing, to item j."""
    gain = weights[items[j]]
    cost = costs[j]
    if top > bottom:
        gain -= weights[items[hull[top - 1]]]
        cost -= costs[hull[top - 1]]
    return gain / cost if cost > 0.0 else FREE_OF_COST


def _sink(integers: Any, numbers: Any, heap: int, place: int, at: int, size: int) -> None:
    """Lets the group at this position of the heap sink to where it belongs: steep steps first, then low numbers."""
    if at >= size:
        return
    group = integers[heap + at]
    slope = numbers[integers[place + group]]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        other = integers[heap + child]
        steepest = numbers[integers[place + other]]
        if child + 1 < size:
            rival = integers[heap + child + 1]
            rise = numbers[integers[place + rival]]
            if rise > steepest or (rise == steepest and rival < other):
                child += 1
                other = rival
                steepest = rise
        if slope > steepest or (slope == steepest and group < other):
            break
        integers[heap + at] = other
        at = child
    integers[heap + at] = group
