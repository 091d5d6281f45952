"""The user's own solver as a feasible set."""

import copy
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import (
    as_items,
    check_count,
    check_items,
    check_n_items,
    check_restriction,
    check_weights,
    within,
)
from semibandits._util.forks import ForkLock
from semibandits.errors import BadArgument, BadWeights, EmptyFeasibleSet, InfeasibleSolution, OracleFailed, Unsupported
from semibandits.oracle import check_answer, describe_exception
from semibandits.sets.base import NO_ITEMS, BuiltIn, restriction
from semibandits.types import Items, Weights

Solve: TypeAlias = Callable[[Any], Iterable[int]]
"""From a vector of weights, or costs, to the items of a best solution."""


class Turn(ForkLock):  # type: ignore[misc]
    """The turn of a thread to call a solver: restricted sets share it with the whole one, other processes do not."""

    def __reduce__(self) -> Any:
        return Turn, ()


class Oracle(BuiltIn):
    """Any Python callable that maximises, `function(weights) -> items`, or one that minimises, `minimise(costs)`.

    The latter is handed the weights negated, and so the costs themselves where a learner has `sense="min"`.

    Every answer is checked before it is used: known items, none twice, at most `max_size`, and feasible by `contains`
    where the user gives it. A wrong one raises `InfeasibleSolution`, an exception inside the solver `OracleFailed`.

    `ratio` < 1 declares an approximate solver; `signed=False` one that needs weights <= 0, that is costs >= 0, such as
    a shortest-path algorithm.

    Threads that ask at the same time call the solver at the same time. `one_at_a_time=True` makes them take turns: for
    a solver that keeps a model and changes it, or is otherwise not made for several threads.

    `restrict` (and so `ask(available=...)`, gaps, ...) adds a reward or penalty to the items' weights that outweighs
    all others, after one call of the solver to see that anything is left.

    Learners and simulations ask a solver for a few solutions before the first round: one that does the opposite of what
    it should is found out by its own answers (`MinimisingOracle`).

    >>> cheapest = Oracle(minimise=lambda costs: [int(costs.argmin())], n_items=3, max_size=1)
    >>> cheapest.argmax([-5.0, -2.0, -9.0])
    array([1])
    """

    foreign = True
    _turn: AbstractContextManager[Any] = nullcontext()

    @overload
    def __init__(
        self,
        function: Solve,
        n_items: int,
        max_size: int,
        ratio: float = 1.0,
        contains: Callable[[Any], bool] | None = None,
        *,
        signed: bool = True,
        one_at_a_time: bool = False,
    ) -> None: ...

    @overload
    def __init__(
        self,
        *,
        minimise: Solve,
        n_items: int,
        max_size: int,
        ratio: float = 1.0,
        contains: Callable[[Any], bool] | None = None,
        signed: bool = True,
        one_at_a_time: bool = False,
    ) -> None: ...

    def __init__(
        self,
        function: Solve | None = None,
        n_items: Any = None,
        max_size: Any = None,
        ratio: float = 1.0,
        contains: Callable[[Any], bool] | None = None,
        *,
        signed: bool = True,
        minimise: Solve | None = None,
        one_at_a_time: bool = False,
    ) -> None:
        if (function is None) == (minimise is None):
            raise BadArgument("give one solver: a function that maximises, or minimise=, one that minimises")
        solver = minimise if function is None else function
        if not callable(solver):
            raise BadArgument(f"the solver must be callable, got {solver!r}")
        if contains is not None and not callable(contains):
            raise BadArgument(f"contains must be callable, got {contains!r}")
        for name, given, what in (
            ("n_items", n_items, "items"),
            ("max_size", max_size, "items of the largest solution"),
        ):
            if given is None:
                raise BadArgument(f"Oracle() needs {name!r}, the number of {what}: it cannot be told from a solver")
        self.n_items = check_n_items(n_items)
        self.max_size = check_count("max_size", max_size)
        if self.max_size > self.n_items:
            raise BadArgument(f"max_size must be at most n_items={self.n_items}, got {self.max_size}")
        if isinstance(ratio, bool) or not isinstance(ratio, int | float | np.floating) or not 0.0 < ratio <= 1.0:
            raise BadArgument(f"ratio must be in (0, 1], got {ratio!r}")
        self.ratio = float(ratio)
        if not isinstance(signed, bool):
            raise BadArgument(f"signed must be True or False, got {signed!r:.100}")
        if not isinstance(one_at_a_time, bool):
            raise BadArgument(f"one_at_a_time must be True or False, got {one_at_a_time!r:.100}")
        if one_at_a_time:
            self._turn = Turn()
        self.signed = signed
        self._function: Solve = solver
        self._minimises = minimise is not None
        self._contains = contains
        self._include: Items = NO_ITEMS
        self._exclude: Items = NO_ITEMS

    def argmax(self, weights: ArrayLike) -> Items:
        w = check_weights(weights, self.n_items).copy()
        if not self.signed and (w > 0.0).any():
            item = int(np.argmax(w))
            raise Unsupported(
                f"this solver needs weights <= 0, costs negated (signed=False), got {w[item]} for item {item}"
            )
        if self._include.size or self._exclude.size:
            with np.errstate(over="ignore"):
                penalty = 4.0 * float(np.abs(w).sum()) or 1.0  # outweighs every difference between two solutions
            if not np.isfinite(penalty):
                raise BadWeights(f"weights up to {np.abs(w).max()} are too large for a restricted solver")
            w[self._include] += penalty
            w[self._exclude] -= max(penalty, 1.0)  # more than a solver's tolerance, though all weights may be tiny
        if self._minimises:
            w = 0.0 - w
        with self._turn:
            answer = self._call("the solver", self._function, w, self._hint(w))
            items = check_answer(answer, self.n_items, self.max_size)  # a copy: the solver may use its array again
            feasible = self._contains is None or self._call("contains()", self._contains, items.copy())
        if not feasible:
            raise InfeasibleSolution(
                f"the solver returned {items.tolist()!r:.200}, which contains() says is not feasible"
            )
        if not self._obeys(items):
            raise EmptyFeasibleSet(f"the solver found no solution {restriction(self._include, self._exclude)}")
        return items

    def contains(self, items: Iterable[int]) -> bool:
        """Asks the user's `contains`; without one, asks the solver whether it would choose exactly these items."""
        ordered = as_items(items)
        if ordered is None or not within(ordered, self.n_items) or ordered.size > self.max_size:
            return False
        if not self._obeys(ordered):
            return False
        if self._contains is not None:
            with self._turn:
                return bool(self._call("contains()", self._contains, ordered.copy()))
        if self.ratio < 1.0 or not self.signed:
            raise Unsupported("whether a solution is feasible cannot be asked of this solver: pass contains=")
        wanted = np.full(self.n_items, -1.0)
        wanted[ordered] = 1.0
        return np.array_equal(self._unrestricted().argmax(wanted), ordered)

    def best_with_each(self, weights: ArrayLike) -> Weights:
        return super().best_with_each(check_weights(weights, self.n_items))

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        """One call of the solver, which `restrict` asks once more, to tell at once that nothing is left."""
        without = copy.copy(self)
        without._exclude = np.union1d(self._exclude, check_items(exclude, self.n_items))
        return without.argmax(weights)

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "Oracle":
        inside, outside = check_restriction(include, exclude, self.n_items)
        if inside.size and not self.signed:
            raise Unsupported("a solver that needs weights <= 0 cannot be made to include an item")
        restricted = copy.copy(self)
        restricted._include = np.union1d(self._include, inside)
        restricted._exclude = np.union1d(self._exclude, outside)
        restricted.argmax(np.zeros(self.n_items))  # raises where nothing is left
        return restricted

    @staticmethod
    def _call(name: str, function: Callable[[Any], Any], argument: Any, hint: str = "") -> Any:
        try:
            return function(argument)
        except Exception as error:
            if not hint and "negative" in str(error).lower():
                hint = (
                    ". Weights are of either sign: if it makes costs of them and takes none below 0, say signed=False"
                )
            raise OracleFailed(f"{name} raised {describe_exception(error)}{hint}") from error

    def _hint(self, handed: Weights) -> str:
        """What may be wrong with a solver that fails on these weights, or costs."""
        if self._minimises and self.signed and (handed < 0.0).any():
            return ". It was handed costs below 0: if it takes none, say signed=False"
        if not self._minimises and not self.signed:
            return ". It was handed weights <= 0, costs negated: one that takes costs >= 0 is given as minimise="
        return ""

    def _obeys(self, items: Items) -> bool:
        return bool(np.isin(self._include, items).all()) and not np.isin(self._exclude, items).any()

    def _unrestricted(self) -> "Oracle":
        free = copy.copy(self)
        free._include = free._exclude = NO_ITEMS
        return free

    def _restriction(self) -> tuple[Items, Items]:
        return self._include, self._exclude

    def __repr__(self) -> str:
        name = getattr(self._function, "__name__", type(self._function).__name__)
        name = f"minimise={name}" if self._minimises else name
        kind = "" if self.ratio == 1.0 else f", ratio={self.ratio}"
        kind += ", restricted" if self._include.size or self._exclude.size else ""
        return f"Oracle({name}, n_items={self.n_items}, max_size={self.max_size}{kind})"
