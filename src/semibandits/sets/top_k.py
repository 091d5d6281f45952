"""Any k of the items: the uniform matroid."""

from collections.abc import Iterable
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_count, check_n_items, check_weights
from semibandits._util.forks import cached_property
from semibandits.errors import InvalidSet
from semibandits.sets.base import EXCLUDED, FIXED, FREE, WarmOracle, best_without, check_oracle_weights
from semibandits.sets.matroid import MatroidSet
from semibandits.sets.oracles import top_k, top_k_lanes, top_k_trade_offs
from semibandits.sets.programs.program import Program
from semibandits.types import ALWAYS, NEVER, Items, Quotas, Solver, TradeOffs, Weights, total

WORTH_COMPILING = 256
"""From fewer items NumPy selects almost as quickly as machine code."""


class TopK(MatroidSet):
    """Every subset of exactly k items or, with `bases=False`, of at most k.

    The oracle takes the k largest weights by selection, O(n_items), and of tied items those with the lowest numbers;
    with `bases=False` it takes only positive ones.

    >>> TopK(5, 2).argmax([0.1, 0.9, 0.5, 0.5, 0.5])
    array([1, 2])
    >>> TopK(5, 2, bases=False).argmax([-0.1, -0.9, -0.5, 0.5, 0.0])
    array([3])
    """

    def __init__(self, n_items: int, k: int, *, bases: bool = True) -> None:
        self.n_items = check_n_items(n_items)
        self._set_k(k)
        self._set_up(bases)

    def with_k(self, k: int) -> Self:
        """The same items, restrictions included, and another size of the slate.

        >>> TopK(5, 2).with_k(3)
        TopK(5, 3)
        """
        other = copy(self)
        other._set_k(k)
        other._resized()
        return other

    def _set_k(self, k: int) -> None:
        self.k = check_count("k", k)
        if self.k > self.n_items:
            raise InvalidSet(f"k must be at most n_items={self.n_items}, got {self.k}")

    def _independent(self, items: Items) -> bool:
        return items.size <= self.k

    def _contract(self) -> int:
        self._room = self.k - self._fixed.size
        self._free = np.flatnonzero(self._state == FREE) if self._room else self._fixed[:0]
        return min(self._room, self._free.size)

    def argmax(self, weights: ArrayLike) -> Items:
        return self._best(check_oracle_weights(self, weights))

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        return best_without(self, self._best, weights, exclude)

    def _best(self, w: Weights) -> Items:
        return self._select(w) if self.n_items < WORTH_COMPILING else self._live(w)

    def _select(self, w: Weights) -> Items:
        if self._free.size == self.n_items:
            return _largest(w, self._room, self.bases)
        chosen = self._free[_largest(w[self._free], self.max_size - self._fixed.size, self.bases)]
        return np.sort(np.concatenate((self._fixed, chosen)))

    @cached_property
    def _live(self) -> "_Live":
        return _Live(self)

    def warm_up(self) -> None:
        if self.n_items >= WORTH_COMPILING:
            super().warm_up()

    def _weakest(self, w: Weights, items: Items) -> Items:
        weakest = np.full(self.n_items, self.n_items)
        leaves = items[self._state[items] == FREE]
        if items.size == self.k and leaves.size:
            weakest[self._free] = leaves[np.argmin(w[leaves])]
        return weakest

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights:
        """One exchange away from a best solution with the item: the exchange that costs least, but above tolerance."""
        w = check_weights(weights, self.n_items)
        items = self.argmax(w)
        value = total(w, items)
        free, inside = self._free, items[self._state[items] == FREE]
        if not self.bases:  # nothing, of weight 0, may take any place
            w = np.append(w, np.zeros(self._room))
            nothing = np.arange(self.n_items, w.size)
            free, inside = np.append(free, nothing), np.append(inside, nothing[inside.size :])
        outside = np.setdiff1d(free, inside, assume_unique=True)
        runner_up = np.full(w.size, -np.inf)
        if inside.size == 0 or outside.size == 0:
            return runner_up[: self.n_items]
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
        return runner_up[: self.n_items]

    def solver(self) -> Solver:
        """In lanes; for at most k items, one run at a time."""
        if not self.bases:
            return self.single()
        lift = np.zeros(self.n_items)
        lift[self._state == EXCLUDED] = -np.inf
        lift[self._state == FIXED] = np.inf
        return top_k_lanes.solver(lift, self.k)

    def single(self) -> Solver:
        return top_k.solver(self._free, self._fixed, self._room, self.bases)

    def trade_offs(self) -> TradeOffs | None:
        return top_k_trade_offs.trade_offs(self._free, self._fixed, self._room) if self.bases else None

    def quotas(self) -> Quotas:
        group = np.full(self.n_items, NEVER)
        group[self._free] = 0
        group[self._fixed] = ALWAYS
        return Quotas(group, np.array([min(self._room, self._free.size)]), self.bases)

    def program(self) -> Program:
        program = Program(self.n_items)
        program.add_row(range(self.n_items), 1.0, self.k if self.bases else 0, self.k)
        return program

    def _parameters(self) -> dict[str, Any]:
        return {"n_items": self.n_items, "k": self.k, "bases": self.bases}

    def __repr__(self) -> str:
        return f"TopK({self.n_items}, {self.k}{'' if self.bases else ', bases=False'}{self._restricted})"


class _Live(WarmOracle):
    """What other sets do in plain Python at first, NumPy does here."""

    def __init__(self, feasible: TopK) -> None:
        super().__init__(feasible.single(), feasible.max_size)
        self._select = feasible._select

    def _plain(self, w: Weights) -> Items:
        return self._select(w)


def _largest(w: Weights, k: int, bases: bool) -> Items:
    """The indices of the k largest, ascending; of tied ones the first. If not `bases`, of positive ones only."""
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(w, w.size - k)[w.size - k]
    if not bases and threshold <= 0.0:
        return np.flatnonzero(w > 0.0)
    chosen = np.flatnonzero(w >= threshold)
    if chosen.size > k:
        tied = np.flatnonzero(w[chosen] == threshold)
        chosen = np.delete(chosen, tied[k - chosen.size :])
    return chosen
