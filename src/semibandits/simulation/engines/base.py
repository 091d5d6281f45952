"""The base of the compiled engines: a task compiled, compared with the plain loop, and played in chunks of rounds."""

import contextlib
import hashlib
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.ownership import ours
from semibandits.agent import Agent
from semibandits.kernel.interrupts import held_back
from semibandits.simulation.engines import plain
from semibandits.simulation.engines.bindings import LoopBindings, of_all, of_each
from semibandits.simulation.engines.compilable import NotCompilable, not_compiled, plain_failed
from semibandits.simulation.engines.constants import Constants
from semibandits.simulation.engines.lanes import TRACED_FROM
from semibandits.simulation.engines.watch import Culprits, Fault, Watch
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import Solver

FIRST_CHUNK = 16
CHUNK_SECONDS = 0.02
"""How long the machine code runs before it comes up for air: to stop at Ctrl-C, to show progress."""
TRACE_CELLS = 1 << 22
MOST_KNOWN = 1_000
MOST_CELLS = 10**7
"""Of rounds times items, that are compared on large sets."""
STREAMS = (rng.WORLD, rng.POLICY, rng.FEEDBACK)


class LoopArguments(NamedTuple):
    """What a compiled loop is called with, after the first and the last round."""

    block: Any
    """What runs carry from round to round: `lanes.Block` or `single.Run`."""
    policy: Any
    """The parameters of an index policy, or the state of another, which changes."""
    constants: Constants
    tables: tuple[Any, ...]
    data: Any
    work: Any


class CompiledEngine(ABC):
    """A task made ready for machine code. Raises `NotCompilable` where part of it is plain Python."""

    lanes: int
    """How many runs are played side by side."""
    bindings: LoopBindings
    checked: frozenset[Callable[..., Any]]
    """Users' functions, in which every index is checked."""
    compared: ClassVar["Compared"]
    _code: Any
    """The loop as machine code, compiled when it is first called."""

    def __init__(
        self,
        task: Task,
        agent: Agent,
        solver: Solver | None,
        world: tuple[Callable[..., Any], Callable[..., Any]],
        *,
        parameters: Any,
        choose: Callable[..., Any] | None = None,
        lanes: int = 1,
    ) -> None:
        """`agent` is of no other use afterwards; `parameters` are what the policy's functions are given."""
        problem = task.problem
        draw, mean = world
        self._task, self._solver, self._parameters, self.lanes = task, solver, parameters, lanes
        self._constants = Constants.of(task, agent)
        self._tables = tuple(problem.environment.tables)
        self._watch = Watch(problem.feasible)
        self._culprits = Culprits.of(task.policy, problem, solver and solver.function, draw, mean, choose)
        self._own_policy, self._own_set = ours(task.policy), ours(problem.feasible)
        self._own_world = ours(problem.environment)
        self._shared_bindings: dict[str, Any] = {
            "draw": draw,
            "mean": mean,
            "to_unit": agent.scale.x_of_weight,
            "scale_at": of_each if agent.scale.per_item else of_all,
            "limit_at": of_each if agent.units.per_item else of_all,
            "REALISED": task.kind == "realised" and not task.drifts,
            "DRIFTS": task.drifts,
            "RECORDS": bool(task.record),
            "USERS_CODE": not (self._own_policy and self._own_set and self._own_world),
            "USERS_WORLD": not self._own_world,
        }

    @property
    def room(self) -> int:
        """About how many bytes runs in play take, where that is much."""
        return 1

    @abstractmethod
    def _begin(self, first_run: int, runs: int) -> LoopArguments:
        """For these runs, at most as many as there are lanes."""

    @abstractmethod
    def _same_state(self, arguments: LoopArguments, agent: Agent) -> bool:
        """Whether the first run has learnt what the agent has."""

    def compile(self) -> None:
        """Or finds the machine code of an earlier process."""
        arguments = self._begin(0, self.lanes)
        with held_back():
            try:
                self._code(1, 0, *arguments)
            except Exception as error:
                raise not_compiled(error) from error

    def prepare(self) -> None:
        """Compiles, and makes sure that machine code does what it should."""
        self.compile()
        problem = self._task.problem
        solver = () if self._solver is None else self._solver.data
        data = (problem.n_items, problem.max_size, self._tables, solver, self._parameters)
        users = data if self.bindings.USERS_CODE else ()
        self.compared.once(self._code, self._task, self._constants.init_rounds, users, self._compare)

    def _compare(self, rounds: int) -> None:
        """Plays a few rounds in both ways: not every function that compiles does the same then."""
        rounds = min(rounds, self._most_rounds)
        agent = self._task.agent(run=0)
        short = self._task._replace(checkpoints=np.array([rounds, 0]), record=frozenset())
        try:
            expected = plain.play(short, 0, agent=agent, rounds=rounds)
        except Exception as error:
            raise plain_failed(error) from error
        arguments = self._begin(0, self.lanes)
        arguments.block.cursor[TRACED_FROM] = 1
        played = 0
        with contextlib.suppress(Exception):  # whatever it is, it will come again
            played = self._code(1, rounds, *arguments)
        same = np.array_equal(arguments.block.regret[:1], expected.regret[0, :1], equal_nan=True)
        if played > rounds and not (same and self._same_state(arguments, agent)):
            raise NotCompilable("machine code and the plain loop do not agree on the first rounds")

    def play(self, first_run: int, runs: int, tick: Tick | None = None) -> Outcome | Fault | None:
        """Runs first_run, first_run + 1, ..., as many as asked; None: to be played by the plain loop.

        That is so where a score or a sum of scores is not finite: the plain loop knows what to do, or to say. A fault
        is what a user's function has done.
        """
        outcome = Outcome.empty(self._task, runs)
        for at in range(0, runs, self.lanes):
            part = Outcome.of({name: array[at : at + self.lanes] for name, array in outcome.arrays().items()})
            played = self._play_block(first_run + at, part, tick)
            if played is not True:
                return played
        return outcome

    def _play_block(self, first_run: int, outcome: Outcome, tick: Tick | None) -> Fault | Literal[True] | None:
        """Runs side by side, as many as the outcome has room for."""
        task, runs = self._task, len(outcome.regret)
        arguments = self._begin(first_run, runs)
        block = arguments.block
        for first, last in chunks(task.horizon, self._most_rounds):
            block.cursor[TRACED_FROM] = first
            played = self._play_rounds(arguments, first, last, first_run, runs)
            if played is not True:
                return played
            if task.record:
                keep(block.trace[: last - first + 1], first, outcome, task.problem.n_items)
            if tick is not None:
                tick((last - first + 1) * runs)
        outcome.regret[:] = block.curve[:, :runs].T
        if outcome.sums is not None:
            outcome.sums[:] = block.sums.reshape(-1, self.lanes)[: task.problem.n_items, :runs].T
        return True

    def _play_rounds(
        self, arguments: LoopArguments, first: int, last: int, first_run: int, runs: int
    ) -> Fault | Literal[True] | None:
        block = arguments.block
        while first <= last:
            try:
                first = self._code(first, last, *arguments)
            except Exception as error:
                return self._culprits.raised(error, block, first_run, runs)
            if block.faults.any():
                return self._culprits.fault(block, first, first_run)
            if wrong := self._watch.wrong(block.answers, runs):
                return self._culprits.infeasible(wrong, first_run)
            if first <= last and not self.bindings.LISTS:  # else it stops early for answers to be looked at
                return None
        return True

    @property
    def _most_rounds(self) -> int:
        return most_rounds(self._task, self.lanes)


class Compared:
    """Machine code that did the same as the plain loop, in this process: with which data of the user's."""

    def __init__(self, most_rounds: int) -> None:
        self._most = most_rounds
        self._known: weakref.WeakKeyDictionary[Any, set[Any]] = weakref.WeakKeyDictionary()

    def once(
        self, code: Callable[..., Any], task: Task, init: int, users: tuple[Any, ...], compare: Callable[[int], None]
    ) -> None:
        """Calls `compare` with some rounds, unless it did so before; `users` are the user's data, where code is his.

        Code of ours on sets that need many rounds of Init has been compared on others.
        """
        rounds = min(task.horizon, init + 20, most_rounds(task, 1))
        if rounds > self._most:
            rounds = min(self._most, max(20, MOST_CELLS // task.problem.n_items)) if users else 0
        known = self._known.setdefault(code, set())
        key = _content((rounds, *users)) if users else ()
        if rounds and key not in known:
            compare(rounds)
            if len(known) >= MOST_KNOWN:
                known.clear()
            known.add(key)


def _content(data: Any) -> Any:
    if isinstance(data, tuple | list):
        return tuple(map(_content, data))
    if isinstance(data, np.ndarray):
        return data.dtype.str, data.shape, data.strides, hashlib.sha256(data.tobytes()).digest()
    return type(data), repr(data)


def most_rounds(task: Task, lanes: int) -> int:
    """In one call of machine code, so that what is recorded of them stays small."""
    return max(1, TRACE_CELLS // (lanes * max(1, task.problem.max_size))) if task.record else task.horizon


def chunks(horizon: int, most: int) -> Iterator[tuple[int, int]]:
    """The first and the last of some rounds at a time, as many as are played in `CHUNK_SECONDS`, until all are."""
    first, chunk = 1, FIRST_CHUNK
    while first <= horizon:
        last = min(first + min(chunk, most) - 1, horizon)
        started = time.perf_counter()
        yield first, last
        taken = time.perf_counter() - started
        faster = min(4.0, CHUNK_SECONDS / max(taken, 1e-9))
        chunk = max(FIRST_CHUNK, int((last - first + 1) * faster))
        first = last + 1


def keep(trace: NDArray[np.uint32], first_round: int, outcome: Outcome, n_items: int) -> None:
    """Takes over the solutions of these rounds: (rounds, max_size, lanes), as many lanes as the outcome has runs."""
    for run, rows in enumerate(trace.transpose(2, 0, 1)[: outcome.regret.shape[0]]):
        if outcome.counts is not None:
            outcome.counts[run] += np.bincount(rows.ravel(), minlength=n_items + 1)[:n_items]
        if outcome.solutions is not None:
            part = outcome.solutions[run, first_round - 1 : first_round - 1 + len(rows)]
            part[:] = np.where(rows < n_items, rows.astype(np.int32), -1)


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that begins at a multiple of 64 bytes, as vector instructions like it."""
    raw = np.empty(array.nbytes + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
