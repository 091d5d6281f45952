"""A policy's two kernels, to choose and to learn, as text for the compiler: it serves the learner and the engine.

The text is plain Python on NumPy arrays. It runs as it is at first, and as machine code once it has cost `PATIENCE`;
whole simulations are compiled around it. Both give the same bits where nothing but arithmetic, the maths of
`semibandits.kernel` and the random numbers of `semibandits.draws` is used.
"""

import copy
import time
import weakref
from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util.forks import ForkLock
from semibandits._util.identity_cache import IdentityCache, RecentCache
from semibandits._util.ownership import ours
from semibandits.errors import InfeasibleSolution
from semibandits.kernel import is_ours, placeholder
from semibandits.kernel.warm import agreeing
from semibandits.oracle import compiled_oracle, solve
from semibandits.types import Arrays, FeasibleSet, Items, Note, Policy, Solver, State, Weights

PATIENCE = 0.5
"""Seconds that a text may cost as plain Python, in this process, before it is compiled."""

score_items = placeholder("score_items")
"""score_items(state, out, round, key, data) writes the scores of all items to `out`."""
best_of = placeholder("best_of")
"""best_of(weights, out, work) -> size: the set's oracle."""
score = placeholder("score")
oracle = placeholder("oracle")


class PolicyKernels(NamedTuple):
    """How a policy plays on one set, as text.

    `choose(state, out, note, round, key, data, work) -> size` writes a solution's items, ascending, to out[:size].
    `learn(state, items, x, note, round, key, data, work)` changes the arrays of the state. Where the policy is given
    the sum alone, x holds just that.

    `data` are arrays that never change; `work` is room to work in: (numbers, integers, one number per item, ...).
    """

    choose: Callable[..., Any]
    learn: Callable[..., Any]
    data: Arrays = ()
    note: Literal["none", "chosen", "all"] = "none"
    """The note holds nothing, a number for each chosen item, or a number for every item there is."""
    score: Callable[..., Any] | None = None
    """score(state, round, key, item, data), array-safe in the item: what `score_items` maps over them."""
    numbers: int = 0
    integers: int = 0
    solves: bool = False
    """Whether `choose` calls `best_of`."""


def best_by_text(weights: Any, out: Any, work: Any) -> Any:
    return oracle(weights, out, work[3], work[4], work[5])


def best_of_users(weights: Any, out: Any, work: Any) -> Any:
    """The same where the set is a user's, so that who reads the answer need not fear for it."""
    size = oracle(weights, out, work[3], work[4], work[5])
    if not 0 <= size <= len(out):
        raise ValueError("the set's oracle must say how many items it wrote, at most max_size")
    for k in range(size):
        if not (0 <= out[k] < len(weights) and (k == 0 or out[k - 1] < out[k])):
            raise ValueError("the set's oracle must write items of the set, ascending")
    return size


def score_each(state: Any, out: Any, round: int, key: Any, data: Any) -> None:
    for item in range(len(out)):
        out[item] = score(state, round, key, np.uint64(item), data)


class Room(NamedTuple):
    """What a text needs beside the state: made anew for every run, or kept by a learner."""

    out: Items
    note: Weights
    work: tuple[Any, ...]


def make_room(kernels: PolicyKernels, feasible: FeasibleSet, solver: Solver | None) -> Room:
    size = {"none": 0, "chosen": feasible.max_size, "all": feasible.n_items}[kernels.note]
    own: tuple[Any, ...] = (
        np.zeros(kernels.numbers),
        np.zeros(kernels.integers, dtype=np.int64),
        np.zeros(feasible.n_items),
    )
    if solver is not None:
        own = (*own, solver.data, np.zeros(solver.numbers), np.zeros(solver.integers, dtype=np.int64))
    return Room(np.zeros(feasible.max_size, dtype=np.int64), np.zeros(size), own)


def bindings(kernels: PolicyKernels, solver: Solver | None, trusted: bool = True) -> dict[Any, Any]:
    """For the compiler. `trusted`: the set is ours, and so its oracle."""
    bound_to: dict[Any, Any] = {}
    if kernels.score is not None:
        bound_to |= {score_items: score_each, score: kernels.score}
    if kernels.solves and solver is not None:
        bound_to |= {best_of: best_by_text if trusted else best_of_users, oracle: solver.function}
    return bound_to


def remade(state: State, arrays: list[NDArray[Any]]) -> State:
    """A state of the same kind, with these arrays."""
    return state._make(arrays) if hasattr(state, "_make") else tuple(arrays)


def copied(state: State) -> State:
    return remade(state, [array.copy() for array in state])


def substituted(function: Any, bound_to: Mapping[Any, Any]) -> Any:
    """The same plain function with other functions in the place of placeholders."""
    if not isinstance(function, FunctionType):
        return function
    if function in bound_to:
        return bound_to[function]
    known = function.__globals__
    named = {name: known[name] for name in function.__code__.co_names if name in known}
    changed = {
        name: twin
        for name, value in named.items()
        if isinstance(value, FunctionType) and (twin := substituted(value, bound_to)) is not value
    }
    if not changed:
        return function
    twin = FunctionType(function.__code__, {**known, **changed}, function.__name__, function.__defaults__)
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


class WarmPolicy:
    """A policy's kernels on one set: plain Python at first, machine code in the end."""

    _spent: ClassVar[RecentCache[Any, float]] = RecentCache(1_000)
    """Seconds, by text: of all policies together."""

    def __init__(self, kernels: PolicyKernels, feasible: FeasibleSet, patience: float | None = None) -> None:
        self._patience = patience
        self.kernels = kernels
        self._set = weakref.ref(feasible)  # which keeps this, as long as it lives
        self._solver = compiled_oracle(feasible) if kernels.solves else None
        texts = [kernels.choose, kernels.learn, *filter(None, (kernels.score, self._solver and self._solver.function))]
        own_set = self._solver is not None and ours(feasible)
        self._compilable = all(map(is_ours, texts)) and (own_set or not kernels.solves)
        self._begin_anew()
        self._numbers = np.arange(feasible.n_items, dtype=np.uint64)
        self._plain = {text: substituted(text, self._plainly()) for text in (kernels.choose, kernels.learn)}
        self._codes: dict[Any, Any] = {}
        """Machine code, by text; None: it stays plain Python."""
        self._lock = ForkLock(self._begin_anew)

    def _begin_anew(self) -> None:
        feasible = self._set()
        if feasible is not None:
            self._room = make_room(self.kernels, feasible, self._solver)

    def choose(self, state: State, round: int, key: int) -> tuple[Items, Note]:
        with self._lock:  # the work space is shared
            out, note, work = self._room
            size = self._run(self.kernels.choose, state, out, note, round, key, self.kernels.data, work)
            if not (isinstance(size, int | np.integer) and 0 <= size <= out.size):
                name = getattr(self.kernels.choose, "__name__", "choose")
                raise InfeasibleSolution(
                    f"{name}() must return how many items it wrote, 0 to {out.size}, got {size!r:.100}"
                )
            kept = note if self.kernels.note == "all" else note[:size]
            return out[:size].copy(), None if self.kernels.note == "none" else kept.copy()

    def learn(self, state: State, round: int, items: Items, x: Weights, note: Note, key: int) -> State:
        after = copied(state)
        told = np.zeros(0) if note is None else np.array(note, dtype=np.float64)
        with self._lock:
            own = (items.copy(), x.copy(), told)  # the text may write into what it is given
            self._run(self.kernels.learn, after, *own, round, key, self.kernels.data, self._room.work)
        return after

    def scores(self, state: State, round: int, key: int) -> Weights:
        assert self.kernels.score is not None
        with np.errstate(all="ignore"):
            return np.array(self.kernels.score(state, round, key, self._numbers, self.kernels.data), dtype=np.float64)

    @property
    def _limit(self) -> float:
        return PATIENCE if self._patience is None else self._patience

    def _run(self, text: Callable[..., Any], *arguments: Any) -> Any:
        """The text; the last of its arguments are key, data and work."""
        code = self._codes.get(text)
        if code is not None:
            return _called(code, arguments)
        if not self._compilable or text in self._codes:
            return self._run_plainly(text, arguments)
        token = (text, self.kernels.score, None if self._solver is None else self._solver.function)
        if self._spent.get(token, 0.0) >= self._limit:
            return self._go_over(text, arguments)
        began = time.perf_counter()
        result = self._run_plainly(text, arguments)
        self._spent[token] = self._spent.get(token, 0.0) + time.perf_counter() - began
        return result

    def _run_plainly(self, text: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        with np.errstate(all="ignore"):
            return self._plain[text](*arguments)

    def _go_over(self, text: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """To machine code, if it does the same; this once both are at work."""
        *first, data, work = arguments
        others = (*copy.deepcopy(first), data, copy.deepcopy(work))
        result = self._run_plainly(text, arguments)

        def same(code: Callable[..., Any]) -> bool:
            return _called(code, others) == result and _equal(_told(arguments, result), _told(others, result))

        self._codes[text] = agreeing(text, bindings(self.kernels, self._solver), same)
        return result

    def _plainly(self) -> dict[Any, Any]:
        def scores_by_numpy(state: State, out: Weights, round: int, key: int, data: Arrays) -> None:
            score_one = self.kernels.score
            assert score_one is not None
            code = self._codes.get(score_one)
            if code is not None:
                code(state, out, round, np.uint64(key), data)
                return
            began = time.perf_counter()
            out[:] = score_one(state, round, key, self._numbers, data)
            if score_one in self._codes or not is_ours(score_one):
                return
            spent = self._spent[score_one] = self._spent.get(score_one, 0.0) + time.perf_counter() - began
            if spent > self._limit:  # the oracle has no text, then

                def same(code: Callable[..., Any]) -> bool:
                    other = np.empty_like(out)
                    code(state, other, round, np.uint64(key), data)
                    return np.array_equal(other, out, equal_nan=True)

                self._codes[score_one] = agreeing(score_each, {score: score_one}, same)

        def best_by_oracle(weights: Weights, out: Items, work: Any) -> int:
            feasible = self._set()
            assert feasible is not None
            items = solve(feasible, weights)
            out[: items.size] = items
            return items.size

        return {score_items: scores_by_numpy, best_of: best_by_oracle}


def _called(code: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    *first, key, data, work = arguments
    return code(*first, np.uint64(key), data, work)


def _told(arguments: tuple[Any, ...], size: int | None) -> list[NDArray[Any]]:
    """What a text has written: the state and, if it has chosen so many items, these and their notes."""
    state, items, note = arguments[0], arguments[1], arguments[2]
    if size is None:
        return list(state)
    return [*state, items[:size], note[:size] if note.size == items.size else note]


def _equal(some: list[NDArray[Any]], others: list[NDArray[Any]]) -> bool:
    return all(np.array_equal(one, other, equal_nan=True) for one, other in zip(some, others, strict=True))


_LIVE: IdentityCache[IdentityCache[WarmPolicy]] = IdentityCache()
"""By set, then by policy."""


class CompiledPolicy(Policy):
    """A policy that is written as kernels. A user's own says itself if it is `verified`."""

    verified = True

    @abstractmethod
    def kernels(self, feasible: FeasibleSet) -> PolicyKernels | None:
        """How it plays on that set; None: not by text, but by `choose` and `learn` of its own."""

    def live(self, feasible: FeasibleSet) -> WarmPolicy:
        if feasible not in _LIVE:
            _LIVE[feasible] = IdentityCache()
        known = _LIVE[feasible]
        if self not in known:
            kernels = self.kernels(feasible)
            assert kernels is not None
            known[self] = WarmPolicy(kernels, feasible)
        return known[self]

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return self.live(feasible).choose(state, round, key)

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        return self.live(feasible).learn(state, round, items, weights, note, key)
