"""The knapsack by greed: quick for costs of any kind, and worth at least half of the best."""

import math

import numpy as np
from numpy.typing import ArrayLike

from semibandits.sets.knapsack import Knapsack
from semibandits.sets.oracles import greedy_knapsack
from semibandits.types import FeasibleSet, Solver, Weights


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
        self._purse = float(np.ldexp(float(left), shift))

    @property
    def method(self) -> str:
        return "greedy"

    def solver(self) -> Solver:
        return greedy_knapsack.solver(self._by_cost, self._scaled, self._starts, self._fixed, self._purse)

    def best_with_each(self, weights: ArrayLike) -> Weights:
        return FeasibleSet.best_with_each(self, weights)
