"""A policy's two kernel functions, to choose and to learn, which serve the learner and the engine.

They are plain Python on NumPy arrays. They run as they are at first, and as machine code later (`kernel.warm`); whole
simulations are compiled around them. Both give the same bits where nothing but arithmetic, the maths of
`semibandits.kernel` and the random numbers of `semibandits.draws` is used.
"""

import weakref
from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from semibandits._util.identity_cache import IdentityCache
from semibandits._util.ownership import ours
from semibandits.errors import InfeasibleSolution
from semibandits.kernel import is_ours, placeholder
from semibandits.kernel.warm import Warm, taken
from semibandits.oracle import compiled_oracle, solve
from semibandits.types import Arrays, FeasibleSet, Items, Note, Policy, Solver, State, Weights

F = TypeVar("F", bound=Callable[..., Any])

score_items = placeholder("score_items")
"""score_items(state, out, round, key, data) writes the scores of all items to `out`."""
best_of = placeholder("best_of")
"""best_of(weights, out, work) -> size: the set's oracle."""
score = placeholder("score")
oracle = placeholder("oracle")


class PolicyKernels(NamedTuple):
    """How a policy plays on one set, as kernel functions.

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


def best_by_kernel(weights: Any, out: Any, work: Any) -> Any:
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
    """What a kernel function needs beside the state: made anew for every run, or kept by a learner."""

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
        bound_to |= {best_of: best_by_kernel if trusted else best_of_users, oracle: solver.function}
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

    def __init__(self, kernels: PolicyKernels, feasible: FeasibleSet, patience: float | None = None) -> None:
        self.kernels = kernels
        self._set = weakref.ref(feasible)  # which keeps this, as long as it lives
        self._solver = compiled_oracle(feasible) if kernels.solves else None
        functions = [kernels.choose, kernels.learn]
        functions += filter(None, (kernels.score, self._solver and self._solver.function))
        own_set = self._solver is not None and ours(feasible)
        compilable = all(map(is_ours, functions)) and (own_set or not kernels.solves)
        bound_to = bindings(kernels, self._solver)
        self._choosing = Warm(kernels.choose, bound_to, compilable=compilable, patience=patience)
        self._learning = Warm(kernels.learn, bound_to, compilable=compilable, patience=patience)
        self._scoring = Warm(score_each, {score: kernels.score}, compilable=is_ours(kernels.score), patience=patience)
        """Of use where the oracle has no kernel function."""
        plainly = {score_items: self._score_items, best_of: self._best_of}
        self._plain_choose = substituted(kernels.choose, plainly)
        self._plain_learn = substituted(kernels.learn, plainly)
        self._numbers = np.arange(feasible.n_items, dtype=np.uint64)
        self._free: list[Room] = []
        """Work spaces that no call is using."""

    def _make_room(self) -> Room:
        feasible = self._set()
        assert feasible is not None
        return make_room(self.kernels, feasible, self._solver)

    @property
    def warm(self) -> tuple[Warm, ...]:
        """Its kernel functions: to choose, to learn and, where the oracle has none, to score."""
        return self._choosing, self._learning, self._scoring

    def choose(self, state: State, round: int, key: int) -> tuple[Items, Note]:
        room = taken(self._free, self._make_room)
        _, items, note = self._choosing.run(self._choose_plainly, self._choose_compiled, room, state, round, key)
        self._free.append(room)
        return items, note

    def _choose_plainly(self, room: Room, state: State, round: int, key: int) -> tuple[State, Items, Note]:
        with np.errstate(all="ignore"):
            return self._chosen(self._plain_choose, room, state, round, key)

    def _choose_compiled(self, code: Any, room: Room, state: State, round: int, key: int) -> tuple[State, Items, Note]:
        return self._chosen(code, room, state, round, np.uint64(key))

    def _chosen(self, choose: Any, room: Room, state: State, round: int, key: Any) -> tuple[State, Items, Note]:
        out, note, work = room
        size = choose(state, out, note, round, key, self.kernels.data, work)
        if not (isinstance(size, int | np.integer) and 0 <= size <= out.size):
            name = getattr(self.kernels.choose, "__name__", "choose")
            raise InfeasibleSolution(
                f"{name}() must return how many items it wrote, 0 to {out.size}, got {size!r:.100}"
            )
        kept = note if self.kernels.note == "all" else note[:size]
        return state, out[:size].copy(), None if self.kernels.note == "none" else kept.copy()

    def learn(self, state: State, round: int, items: Items, x: Weights, note: Note, key: int) -> State:
        noted = np.zeros(0) if note is None else np.asarray(note, dtype=np.float64)
        room, told = taken(self._free, self._make_room), (items, x, noted)
        after = self._learning.run(self._learn_plainly, self._learn_compiled, room, state, told, round, key)
        self._free.append(room)
        return after

    def _learn_plainly(self, room: Room, state: State, told: Arrays, round: int, key: int) -> State:
        with np.errstate(all="ignore"):
            return self._learned(self._plain_learn, room, state, told, round, key)

    def _learn_compiled(self, code: Any, room: Room, state: State, told: Arrays, round: int, key: int) -> State:
        return self._learned(code, room, state, told, round, np.uint64(key))

    def _learned(self, learn: Any, room: Room, state: State, told: Arrays, round: int, key: Any) -> State:
        after, (items, x, note) = copied(state), told
        learn(after, items.copy(), x.copy(), note.copy(), round, key, self.kernels.data, room.work)
        return after

    def warm_up(self, state: State, round: int, key: int, sums: bool) -> None:
        """Calls all that can be compiled, and changes nothing; `sums`: it is told the sum alone."""
        if self._choosing.compilable:
            items, note = self.choose(state, round, key)
            x = np.full(items.size, 0.5)
            self.learn(state, round, items, np.array([x.sum()]) if sums else x, note, key)
        elif self._scoring.compilable:
            self._score_items(state, np.empty(self._numbers.size), round, key, self.kernels.data)

    def scores(self, state: State, round: int, key: int) -> Weights:
        assert self.kernels.score is not None
        with np.errstate(all="ignore"):
            return np.array(self.kernels.score(state, round, key, self._numbers, self.kernels.data), dtype=np.float64)

    def _score_items(self, state: State, out: Weights, round: int, key: int, data: Arrays) -> None:
        """By NumPy; by machine code where the oracle has no kernel function, so that `choose` has none."""
        out[:] = self._scoring.run(self._score_plainly, self._score_compiled, state, round, key, data)

    def _score_plainly(self, state: State, round: int, key: int, data: Arrays) -> Weights:
        assert self.kernels.score is not None
        scores: Weights = self.kernels.score(state, round, key, self._numbers, data)
        return scores

    def _score_compiled(self, code: Any, state: State, round: int, key: int, data: Arrays) -> Weights:
        out = np.empty(self._numbers.size)
        code(state, out, round, np.uint64(key), data)
        return out

    def _best_of(self, weights: Weights, out: Items, work: Any) -> int:
        feasible = self._set()
        assert feasible is not None
        items = solve(feasible, weights)
        out[: items.size] = items
        return items.size


_LIVE: IdentityCache[IdentityCache[WarmPolicy]] = IdentityCache()
"""By set, then by policy."""


BY_KERNELS: set[Callable[..., Any]] = set()
"""Methods that call the kernels of a policy where it has any."""


def by_kernels(method: F) -> F:
    BY_KERNELS.add(method)
    return method


class CompiledPolicy(Policy):
    """A policy that is written as kernels. A user's own says itself if it is `verified`."""

    verified = True

    @abstractmethod
    def kernels(self, feasible: FeasibleSet) -> PolicyKernels | None:
        """How it plays on that set; None: not by kernels, but by `choose` and `learn` of its own."""

    def live(self, feasible: FeasibleSet) -> WarmPolicy:
        if feasible not in _LIVE:
            _LIVE[feasible] = IdentityCache()
        known = _LIVE[feasible]
        if self not in known:
            kernels = self.kernels(feasible)
            assert kernels is not None
            known[self] = WarmPolicy(kernels, feasible)
        return known[self]

    @by_kernels
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return self.live(feasible).choose(state, round, key)

    @by_kernels
    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        return self.live(feasible).learn(state, round, items, weights, note, key)


def warm_policy(policy: Policy, feasible: FeasibleSet) -> WarmPolicy | None:
    """The policy's kernels on that set, if it has any."""
    if not isinstance(policy, CompiledPolicy) or policy.kernels(feasible) is None:
        return None
    return policy.live(feasible)


def plays_by_kernels(policy: Policy) -> bool:
    """Whether its methods do nothing but call the kernels: none of the user's is in their place, by now."""
    kind, own = type(policy), vars(policy)
    return kind.choose in BY_KERNELS and kind.learn in BY_KERNELS and "choose" not in own and "learn" not in own
