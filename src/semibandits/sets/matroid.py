"""Matroids: sets whose best solution greed finds."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import as_items, check_items, check_n_items, check_weights, within
from semibandits._util.forks import cached_property
from semibandits.errors import BadArgument, EmptyFeasibleSet, InvalidSet, OracleFailed
from semibandits.oracle import describe_exception
from semibandits.sets.base import EXCLUDED, FIXED, FREE, Restrictable
from semibandits.types import Items, Weights, total


class MatroidSet(Restrictable):
    """The bases of a matroid or, with `bases=False`, all its independent sets.

    A subclass says which items are independent, what is left of the matroid under a restriction, and which item makes
    room for another. A restricted set of bases holds bases of the whole matroid, so that all its solutions are equally
    large. Of items that do not weigh more than 0, independent sets contain but those they must.
    """

    matroid = True
    bases: bool
    _fixed: Items
    _free: Items
    """The items that some solutions contain and others, perhaps, do not."""
    _rank = 0
    """The size of all bases of the whole matroid."""

    @abstractmethod
    def _independent(self, items: Items) -> bool:
        """Whether these ascending items, restricted or not, are independent."""

    @abstractmethod
    def _contract(self) -> int:
        """Prepares all that depends on the state, `_free` too; returns how many independent items join the fixed."""

    @abstractmethod
    def _weakest(self, w: Weights, items: Items) -> Items:
        """For every free item outside this solution, the lightest that must leave to let it in; n_items: none.

        The solution and its items' weights, which may be inf, need not fit each other. Other entries mean nothing.
        """

    def _set_up(self, bases: Any) -> None:
        """The end of a constructor."""
        if not isinstance(bases, bool):
            raise InvalidSet(f"bases must be True or False, got {bases!r:.100}")
        self.bases = bases
        self._set_free()
        self._rank = self.max_size

    def _resized(self) -> None:
        """After a change of how many items a solution has: restrictions are kept."""
        state, self._rank = self._state, 0
        self._set_up(self.bases)
        if (state != FREE).any():
            self._state = state
            self._prepare()

    def _prepare(self) -> None:
        self._fixed = np.flatnonzero(self._state == FIXED)
        if self._fixed.size and not self._independent(self._fixed):
            raise EmptyFeasibleSet("the items demanded depend on each other")
        size = self._fixed.size + self._contract()
        if self.bases and size < self._rank:
            raise EmptyFeasibleSet(f"a basis has {self._rank} items, but of those left at most {size} are independent")
        self.max_size = size

    def contains(self, items: Iterable[int]) -> bool:
        ordered = as_items(items)
        if ordered is None or not within(ordered, self.n_items):
            return False
        state = self._state[ordered]
        if (state == EXCLUDED).any() or np.count_nonzero(state == FIXED) < self._fixed.size:
            return False
        return (not self.bases or ordered.size == self._rank) and self._independent(ordered)

    def best_with_each(self, weights: ArrayLike) -> Weights:
        """An item outside the best solution takes the place of the weakest with which it is dependent."""
        w = check_weights(weights, self.n_items)
        items = self.argmax(w)
        value = total(w, items)
        best = np.full(self.n_items, -np.inf)
        outside = np.setdiff1d(self._free, items, assume_unique=True)
        best[outside] = (value - np.append(w, 0.0)[self._weakest(w, items)[outside]]) + w[outside]
        best[items] = value
        return best

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights | None:
        """One exchange away from a best solution with the item: the exchange that costs least, but above tolerance.

        Between two bases the items can be paired so that each pair is an exchange by itself (Brualdi 1969), so that
        what is worse than the best needs one exchange at a loss, and the least loss is that of a single one.
        """
        w = check_weights(weights, self.n_items)
        items = self.argmax(w)
        value = total(w, items)
        runner_up = np.full(self.n_items, -np.inf)
        loss, leaver = self._least_loss(w, items, tolerance)
        runner_up[items] = value - loss
        if leaver < self.n_items:
            runner_up[leaver] = value - self._least_loss(w, items, tolerance, kept=leaver)[0]
        weakest = self._weakest(w, items)
        outside = np.setdiff1d(self._free, items, assume_unique=True)
        losses = np.append(w, 0.0)[weakest[outside]] - w[outside]
        runner_up[outside] = value - losses
        for item, loss in zip(outside[losses <= tolerance].tolist(), losses[losses <= tolerance].tolist(), strict=True):
            other = np.sort(np.append(items[items != weakest[item]], item))
            runner_up[item] = value - (loss + self._least_loss(w, other, tolerance, kept=item)[0])
        return runner_up

    def _least_loss(self, w: Weights, items: Items, tolerance: float, kept: int | None = None) -> tuple[float, int]:
        """The least loss, above tolerance, of an exchange in this best solution, and the item that leaves in it."""
        held = np.append(w, 0.0)
        if kept is not None:
            held[kept] = np.inf
        outside = np.setdiff1d(self._free, items, assume_unique=True)
        leaves = self._weakest(held[:-1], items)[outside]
        losses = held[leaves] - w[outside]
        for level in np.unique(w[outside[losses <= tolerance]]).tolist():
            tied = (losses <= tolerance) & (w[outside] == level)
            above = held.copy()
            above[items[w[items] <= level + tolerance]] = np.inf
            leaves[tied] = self._weakest(above[:-1], items)[outside[tied]]
            losses[tied] = above[leaves[tied]] - level
        if not self.bases:
            leaves = np.append(leaves, np.setdiff1d(items, self._fixed, assume_unique=True))
            losses = np.append(losses, held[leaves[losses.size :]])
        losses[losses <= tolerance] = np.inf
        least = int(np.argmin(losses)) if losses.size else -1
        return (np.inf, self.n_items) if least < 0 else (float(losses[least]), int(leaves[least]))

    def uncovered(self) -> Items:
        covered = np.zeros(self.n_items, dtype=bool)
        covered[self._free] = covered[self._fixed] = True
        return np.flatnonzero(~covered)


class Matroid(MatroidSet):
    """The matroid that the user's test defines: `independent(items) -> bool` of an ascending array of items.

    The oracle is greedy (Edmonds 1971): it looks at the items in the order of their weights, of tied ones the lowest
    number first, and takes what is independent of those taken before: n_items calls of the test.

    Where a set is no matroid, greed fails silently. So the axioms are tried out at the beginning, on `trials` random
    parts of the items (from the `seed`), and what breaks them is named in the error; that all is well this can but make
    likely. An exception inside the test raises `OracleFailed`.

    >>> fruit_and_veg = Matroid(lambda items: (items < 3).sum() <= 1 and (items >= 3).sum() <= 1, n_items=5)
    >>> fruit_and_veg.argmax([0.1, 0.9, 0.5, 0.2, 0.3])
    array([1, 4])
    """

    def __init__(
        self,
        independent: Callable[[Any], bool],
        n_items: int,
        *,
        bases: bool = True,
        trials: int = 200,
        seed: int = 0,
    ) -> None:
        if not callable(independent):
            raise InvalidSet(f"independent must be callable, got {independent!r:.100}")
        self._test = independent
        self.n_items = check_n_items(n_items)
        if isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 0:
            raise BadArgument(f"trials must be an integer >= 0, got {trials!r:.100}")
        try:
            generator = np.random.default_rng(seed)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"seed must be an integer >= 0, got {seed!r:.100}") from error
        if not self._independent(np.empty(0, dtype=np.int64)):
            raise InvalidSet("this is no matroid: no items at all must be independent")
        self._set_up(bases)
        for _ in range(trials):
            self._try_axioms(generator)

    def _independent(self, items: Items) -> bool:
        try:
            return bool(self._test(items.copy()))
        except Exception as error:
            raise OracleFailed(f"independent() raised {describe_exception(error)}") from error

    def _joins(self, items: list[int], item: int) -> bool:
        return self._independent(np.array(sorted([*items, item]), dtype=np.int64))

    def _greedy(self, order: Iterable[int], begun: Iterable[int] = (), most: int | None = None) -> list[int]:
        """Takes from this order what is independent of what was taken before."""
        taken = list(begun)
        for item in order:
            if len(taken) == most:
                break
            if self._joins(taken, item):
                taken.append(item)
        return taken

    def _try_axioms(self, generator: np.random.Generator) -> None:
        """Of some of the items: what is found greedily in two orders must be equally large, and parts independent."""
        count = int((self.n_items + 1) ** generator.random())
        ground = generator.choice(self.n_items, size=count, replace=False)
        one, other = (self._greedy(generator.permutation(ground).tolist()) for _ in range(2))
        self._try_exchange(one, other)
        if self._independent(np.sort(ground)):
            self._try_exchange(one, other := ground.tolist())
        part = np.sort([item for item in other if generator.random() < 0.5]).astype(np.int64)
        if not self._independent(part):
            raise InvalidSet(
                f"this is no matroid: {sorted(other)!r:.200} is independent, but its part {part.tolist()!r:.200} is not"
            )

    def _try_exchange(self, one: list[int], other: list[int]) -> None:
        small, large = sorted((one, other), key=len)
        if len(small) < len(large) and not any(self._joins(small, item) for item in large if item not in small):
            raise InvalidSet(
                f"this is no matroid: {sorted(small)!r:.200} and {sorted(large)!r:.200} are independent, but no item "
                "of the larger can be added to the smaller"
            )

    def _contract(self) -> int:
        fixed = self._fixed.tolist()
        return len(self._greedy(np.flatnonzero(self._state == FREE).tolist(), fixed)) - len(fixed)

    @cached_property
    def _free(self) -> Items:  # type: ignore[override]
        fixed = self._fixed.tolist()
        free = [item for item in np.flatnonzero(self._state == FREE).tolist() if self._joins(fixed, item)]
        return np.array(free, dtype=np.int64)

    def argmax(self, weights: ArrayLike) -> Items:
        return self._best(check_weights(weights, self.n_items), self._state == FREE)

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        outside = check_items(exclude, self.n_items)
        free = self._state == FREE
        free[outside] = False
        items = self._best(check_weights(weights, self.n_items), free)
        if (self.bases and items.size < self._rank) or (self._state[outside] == FIXED).any():
            return super().argmax_without(weights, outside)
        return items

    def _best(self, w: Weights, free: NDArray[np.bool_]) -> Items:
        candidates = np.flatnonzero(free if self.bases else free & (w > 0.0))
        order = candidates[np.argsort(-w[candidates], kind="stable")].tolist()
        return np.sort(np.array(self._greedy(order, self._fixed.tolist(), self.max_size), dtype=np.int64))

    def _weakest(self, w: Weights, items: Items) -> Items:
        """By bisection: the last of the shortest beginning, heaviest first, with which the item is dependent."""
        weakest = np.full(self.n_items, self.n_items)
        fixed = self._fixed.tolist()
        rest = np.setdiff1d(items, self._fixed, assume_unique=True)
        order = rest[np.argsort(-w[rest], kind="stable")].tolist()
        for item in np.setdiff1d(self._free, items, assume_unique=True).tolist():
            low, high = 0, len(order) + 1  # independent of `low` of them, dependent with `high`
            while high - low > 1:
                middle = (low + high) // 2
                if self._joins(fixed + order[:middle], item):
                    low = middle
                else:
                    high = middle
            if high <= len(order):
                weakest[item] = order[high - 1]
        return weakest

    def __repr__(self) -> str:
        name = getattr(self._test, "__name__", type(self._test).__name__)
        kind = "" if self.bases else ", bases=False"
        return f"Matroid({name}, n_items={self.n_items}{kind}{self._restricted})"
