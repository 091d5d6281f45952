"""Any k of the items: the uniform matroid's bases."""

import copy
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from semibandits.errors import EmptyFeasibleSet, InvalidSet
from semibandits.sets import top_k_in_lanes
from semibandits.sets.base import as_items, check_count, check_restriction, check_weights, restriction, within
from semibandits.types import FeasibleSet, Items, Solver, Weights, total


class TopK(FeasibleSet):
    """Every subset of exactly k items.

    The oracle takes the k largest weights by selection, O(n_items), and of tied items those with the lowest numbers.

    >>> TopK(5, 2).argmax([0.1, 0.9, 0.5, 0.5, 0.5])
    array([1, 2])
    """

    verified = True

    def __init__(self, n_items: int, k: int) -> None:
        self.n_items = check_count("n_items", n_items)
        self.k = self.max_size = check_count("k", k)
        if self.k > self.n_items:
            raise InvalidSet(f"k must be at most n_items={self.n_items}, got {self.k}")
        # After `restrict`: the items in every solution, and those among which the rest is chosen (None: all).
        self._fixed: Items = np.empty(0, dtype=np.int64)
        self._free: Items | None = None

    def argmax(self, weights: ArrayLike) -> Items:
        w = check_weights(weights, self.n_items)
        if self._free is None:
            return _largest(w, self.k)
        chosen = self._free[_largest(w[self._free], self.k - self._fixed.size)]
        return np.sort(np.concatenate((self._fixed, chosen)))

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or ordered.size != self.k or not within(ordered, self.n_items):
            return False
        if self._free is None:
            return True
        rest = np.setdiff1d(ordered, self._fixed, assume_unique=True)
        return rest.size == self.k - self._fixed.size and bool(np.isin(rest, self._free).all())

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "TopK":
        inside, outside = check_restriction(include, exclude, self.n_items)
        state = np.zeros(self.n_items, dtype=np.int8)  # 0 excluded, 1 free, 2 in every solution
        state[slice(None) if self._free is None else self._free] = 1
        state[self._fixed] = 2
        impossible = (state[inside] == 0).any()
        state[inside] = 2
        impossible |= (state[outside] == 2).any()
        state[outside] = 0
        restricted = copy.copy(self)
        restricted._fixed = np.flatnonzero(state == 2)
        restricted._free = np.flatnonzero(state == 1)
        if impossible or not 0 <= self.k - restricted._fixed.size <= restricted._free.size:
            raise EmptyFeasibleSet(f"there is no choice of {self.k} items {restriction(inside, outside)}")
        return restricted

    def best_with_each(self, weights: ArrayLike) -> Weights:
        w = check_weights(weights, self.n_items)
        items = self.argmax(w)
        value = total(w, items)
        best = np.full(self.n_items, -np.inf)
        replaceable = np.setdiff1d(items, self._fixed, assume_unique=True)
        if replaceable.size:  # an item outside takes the place of the weakest one inside
            free = slice(None) if self._free is None else self._free
            best[free] = (value - w[replaceable].min()) + w[free]
        best[items] = value
        return best

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights:
        """One exchange away from a best solution with the item: the exchange that costs least, but above tolerance."""
        w = check_weights(weights, self.n_items)
        items = self.argmax(w)
        value = total(w, items)
        free = np.arange(self.n_items) if self._free is None else self._free
        inside = free[np.isin(free, items)]
        outside = np.setdiff1d(free, inside, assume_unique=True)
        runner_up = np.full(self.n_items, -np.inf)
        if inside.size == 0 or outside.size == 0:
            return runner_up
        inside = inside[np.argsort(w[inside], kind="stable")]
        comes = np.sort(w[outside])
        # Only two items inside matter: the weakest, and the weakest that is better than all outside.
        better = int(np.searchsorted(w[inside], comes[-1] + tolerance, side="right"))

        def least_loss(kept: int | None = None) -> float:
            """Of the exchanges that lose more than the tolerance, and keep the item of this rank."""
            goes = w[inside] if kept is None else np.delete(w[inside], kept)
            losses = [
                goes[i] - comes[j]
                for i in {0, int(np.searchsorted(goes, comes[-1] + tolerance, side="right"))}
                if i < goes.size
                for j in {comes.size - 1, int(np.searchsorted(comes, goes[i] - tolerance)) - 1}
                if j >= 0 and goes[i] - comes[j] > tolerance
            ]
            return float(min(losses, default=np.inf))

        runner_up[items] = value - least_loss()
        for rank in {0, better} & set(range(inside.size)):
            runner_up[inside[rank]] = value - least_loss(kept=rank)
        # An item outside takes the place of the weakest; where that is no loss, one more exchange must be.
        loss = w[inside[0]] - w[outside]
        runner_up[outside] = value - np.where(loss > tolerance, loss, loss + least_loss(kept=0))
        return runner_up

    def uncovered(self) -> Items:
        return np.flatnonzero(np.isneginf(self.best_with_each(np.zeros(self.n_items))))

    def solver(self) -> Solver:
        lift = np.zeros(self.n_items)
        if self._free is not None:
            lift[:] = -np.inf
            lift[self._free] = 0.0
            lift[self._fixed] = np.inf
        return top_k_in_lanes.solver(lift, self.k)

    def __repr__(self) -> str:
        return f"TopK({self.n_items}, {self.k}{'' if self._free is None else ', restricted'})"


def _largest(w: Weights, k: int) -> Items:
    """The indices of the k largest, ascending; of tied ones the first."""
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(w, w.size - k)[w.size - k]
    chosen = np.flatnonzero(w >= threshold)
    if chosen.size > k:
        tied = np.flatnonzero(w[chosen] == threshold)
        chosen = np.delete(chosen, tied[k - chosen.size :])
    return chosen
