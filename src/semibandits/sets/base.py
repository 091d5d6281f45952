"""Bases of the built-in sets: restrictions, specifications, drawings, one oracle for all uses."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_items, check_restriction, check_weights
from semibandits._util.forks import cached_property
from semibandits._util.identity_cache import RecentCache
from semibandits._util.moved import former_names
from semibandits._util.showing import above
from semibandits.errors import EmptyFeasibleSet, Unsupported
from semibandits.kernel import is_ours
from semibandits.kernel.warm import MOST_REMEMBERED, Warm, kind_of, taken
from semibandits.types import Arrays, FeasibleSet, Items, Solver, Weights

if TYPE_CHECKING:
    from semibandits.sets.programs.program import Program
else:
    __getattr__ = former_names(__name__)

EDGE_BYTES = 800
"""What an edge of a graph takes at least."""
NO_ITEMS: Items = np.empty(0, dtype=np.int64)
EXCLUDED, FREE, FIXED = 0, 1, 2
"""What a restriction makes of an item: in no solution, in some, in every one."""


class BuiltIn(FeasibleSet):
    """A set of this package. Its answers are right by construction."""

    verified = True

    def _parameters(self) -> dict[str, Any]:
        """The arguments of the constructor, as JSON can say them."""
        raise Unsupported(f"{self!r} is made of Python code, which a specification cannot hold")

    def _restriction(self) -> tuple[Items, Items]:
        """Items in every solution, and items in none, by `restrict`."""
        return NO_ITEMS, NO_ITEMS

    def to_spec(self, folder: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """The set as a JSON document, of which `sets.from_spec` makes it again.

        With a `folder`, long lists are written to files in it, and the document names them with their digests.
        """
        from semibandits.sets.specification import to_spec

        return to_spec(self, folder)

    def draw(self, items: Iterable[int] = (), estimates: ArrayLike | None = None, ax: Any = None) -> Any:
        """Draws the set with these items chosen; `estimates`, one number per item, are shown where given.

        Needs Matplotlib. Returns the axes.
        """
        return above("plotting.sets").draw(self, items, estimates, ax)

    def program(self) -> "Program | None":
        """The set as a mixed integer program; None: it cannot be written as one."""
        return None

    def warm_up(self) -> None:
        """Has its oracle compiled, where that can be: `kernel.warm.at_once` says when."""
        oracle = getattr(self, "_live", None)
        if isinstance(oracle, WarmOracle):
            weights = np.random.default_rng(0).random(self.n_items)
            oracle(weights if self.signed else -weights)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is but kept to be quicker: a copy may be changed, and a lock cannot travel."""
        kind = type(self)
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }


class Restrictable(BuiltIn):
    """A built-in set that keeps, for every item, what restrictions have made of it.

    A subclass calls `_set_free()` at the end of its constructor and writes `_prepare`, which works out all that depends
    on `_state`, and raises `EmptyFeasibleSet` where nothing is left.
    """

    _state: NDArray[np.int8]

    @abstractmethod
    def _prepare(self) -> None: ...

    def _set_free(self) -> None:
        self._state = np.full(self.n_items, FREE, dtype=np.int8)
        self._prepare()

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> Self:
        inside, outside = check_restriction(include, exclude, self.n_items)
        restricted = copy(self)
        state = self._state.copy()
        impossible = (state[inside] == EXCLUDED).any()
        state[inside] = FIXED
        impossible |= (state[outside] == FIXED).any()
        state[outside] = EXCLUDED
        try:
            if impossible:
                raise EmptyFeasibleSet("an item is both demanded and excluded")
            restricted._state = state
            restricted._prepare()
        except EmptyFeasibleSet as error:
            raise EmptyFeasibleSet(f"{self!r} has no solution {restriction(inside, outside)}: {error}") from None
        return restricted

    def _restriction(self) -> tuple[Items, Items]:
        return np.flatnonzero(self._state == FIXED), np.flatnonzero(self._state == EXCLUDED)

    @property
    def _restricted(self) -> str:
        """To be added to what the set prints."""
        return "" if (self._state == FREE).all() else ", restricted"


class WarmOracle:
    """An oracle's kernel function (see `types.Solver`) for one set, live: plain Python on lists, and machine code.

    Every call takes a work space from those that are free, and puts it back at its end: calls in several threads do not
    wait for each other, and what a signal handler interrupts, or a fork leaves behind, is not used again.
    """

    _warm: ClassVar[RecentCache[Any, Warm]] = RecentCache(MOST_REMEMBERED)
    """By function, and the types of its data: for all sets together."""

    def __init__(self, solver: Solver, max_size: int) -> None:
        self._solver = solver
        self._max_size = max_size
        key = solver.function, kind_of(solver.data)
        warm = self._warm.get(key, None) or Warm(solver.function, {}, compilable=is_ours(solver.function))
        self._warm[key] = warm
        self._run = warm.run
        self._free_lists: list[tuple[Any, ...]] = []
        self._free_arrays: list[Arrays] = []

    def __call__(self, w: Weights) -> Items:
        return self._run(self._plain, self._compiled, w if w.flags.writeable else w.copy())

    def _compiled(self, code: Any, w: Weights) -> Items:
        room = taken(self._free_arrays, self._arrays)
        out, numbers, integers = room
        size = code(w, out, self._solver.data, numbers, integers)
        items: Items = out[:size].copy()
        self._free_arrays.append(room)
        return items

    def _plain(self, w: Weights) -> Items:
        room = taken(self._free_lists, self._lists)
        out, numbers, integers = room
        size = self._solver.function(w.tolist(), out, self._data, numbers, integers)
        items = np.array(out[:size], dtype=np.int64)
        self._free_lists.append(room)
        return items

    @cached_property
    def _data(self) -> tuple[list[Any], ...]:
        return tuple([array.tolist() for array in self._solver.data])

    def _lists(self) -> tuple[Any, ...]:
        return [0] * self._max_size, [0.0] * self._solver.numbers, [0] * self._solver.integers

    def _arrays(self) -> Arrays:
        solver = self._solver
        return (
            np.zeros(self._max_size, dtype=np.int64),
            np.zeros(solver.numbers),
            np.zeros(solver.integers, dtype=np.int64),
        )


def check_oracle_weights(feasible: FeasibleSet, weights: ArrayLike) -> Weights:
    """Finite weights of the right sign, contiguous, and small enough for any sum of them to be finite."""
    w = weights
    if not (isinstance(w, np.ndarray) and w.dtype == np.float64 and w.shape == (feasible.n_items,)):
        w = check_weights(w, feasible.n_items)
    # Huge, or not finite? Unlike w.dot(w) this does not warn. Of longer vectors BLAS makes work for several threads,
    # which may wait for each other for milliseconds on a busy machine.
    if not (np.vdot(w, w) < 1e300 if w.size <= 10_000 else max(w.max(), -w.min()) < 1e150):
        w = scaled_down(check_weights(w, feasible.n_items))
    if not feasible.signed and w.max() > 0.0:
        item = int(np.argmax(w))
        raise Unsupported(f"{feasible!r} needs weights <= 0 (costs, negated), got {w[item]} for item {item}")
    return np.ascontiguousarray(w)


def best_without(
    feasible: FeasibleSet, argmax: Callable[[Weights], Items], weights: ArrayLike, exclude: Iterable[int]
) -> Items:
    """The answer of an oracle that takes an item of weight minus infinity only where it must, or rather takes too few.

    Then `restrict` says what is wrong.
    """
    outside = check_items(exclude, feasible.n_items)
    w = check_oracle_weights(feasible, weights).copy()
    w[outside] = -np.inf
    items = argmax(w)
    too_few = getattr(feasible, "bases", False) and items.size < feasible.max_size
    if too_few or (w[items] == -np.inf).any():
        return feasible.restrict(exclude=outside).argmax(weights)
    return items


class Solved(Restrictable):
    """A built-in set whose oracle is one kernel function for one run, used live and in simulations."""

    @abstractmethod
    def solver(self) -> Solver: ...

    @cached_property
    def _live(self) -> WarmOracle:
        return WarmOracle(self.solver(), self.max_size)

    def argmax(self, weights: ArrayLike) -> Items:
        return self._live(check_oracle_weights(self, weights))

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        return best_without(self, self._live_without, weights, exclude)

    @cached_property
    def _live_without(self) -> WarmOracle:
        """One of its own, since some keep the order of the items from call to call, which other weights would undo."""
        return WarmOracle(self.solver(), self.max_size)


def scaled_down(weights: ArrayLike) -> Weights:
    """The same weights for the same best solution, small enough for any sum of them to be finite."""
    return np.asarray(weights, dtype=np.float64) * 2.0**-64


def restriction(include: Items, exclude: Items) -> str:
    """Says in an error what was demanded of a solution."""
    parts = [f"with items {include.tolist()!r:.100}"] if include.size else []
    parts += [f"without items {exclude.tolist()!r:.100}"] if exclude.size else []
    return " and ".join(parts) or "at all"
