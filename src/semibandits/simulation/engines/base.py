"""What both compiled engines are made of."""

import hashlib
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.agent import Agent
from semibandits.kernel import foreign, is_ours, outsized
from semibandits.kernel.own_entries import reads_own_entries
from semibandits.kernel.watching import outgrows
from semibandits.simulation.engines import lanes as text
from semibandits.simulation.engines import plain as loop
from semibandits.simulation.task import Outcome, Task
from semibandits.types import FeasibleSet, Solver, up_to_date

INDEX = np.uint32
FIRST_CHUNK = 16
CHUNK_SECONDS = 0.02
"""How long the machine code runs before it comes up for air: to stop at Ctrl-C, to show progress."""
TRACE_CELLS = 1 << 22
NONE = np.empty(0, dtype=np.int64)
MOST_KNOWN = 1_000
MOST_CELLS = 10**7
"""Of rounds times items, that are compared on large sets."""
TABLE_TYPES = (np.float64, np.int64, np.uint64, np.bool_)


class NotCompilable(Exception):
    """Why something cannot be compiled."""


def world(task: Task) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions that draw a weight and, where the means drift, say the mean of one."""
    environment = task.problem.environment
    draw = form(environment, "drawing", "weights")
    if draw is None:
        raise NotCompilable(f"{environment!r} draws its weights in Python")
    if not isinstance(environment.tables, tuple | list):
        raise NotCompilable(
            f"{environment!r} has tables that are no tuple of arrays, but {type(environment.tables).__name__}"
        )
    for table in environment.tables:
        kind = table.dtype if isinstance(table, np.ndarray) else type(table).__name__
        if kind not in TABLE_TYPES:
            raise NotCompilable(f"{environment!r} has a table of {kind}, not an array of float64 or int64")
    mean = getattr(environment, "mean", None) if task.drifts else draw  # which is not called then
    if mean is None:
        raise NotCompilable(f"{environment!r} has no mean(round, item, tables) for the compiler")
    if why := foreign(draw) or foreign(mean):
        raise NotCompilable(why)
    last, item = task.horizon, task.problem.n_items - 1
    check_word(draw, task, last, 0, item, environment.tables)
    if task.drifts:
        check_word(mean, task, last, item, environment.tables)
    return draw, mean


def check_oracle(solver: Solver | None, feasible: FeasibleSet) -> Solver:
    if solver is None:
        raise NotCompilable(f"{feasible!r} has no oracle for the compiler")
    if why := outsized(solver.function):
        raise NotCompilable(why)
    return solver


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


def draws_within(task: Task, draw: Callable[..., Any]) -> bool:
    """Whether it is plain that a user's function reads no table beyond its end: only the entries of the item itself."""
    texts = [(draw, 2, 3)]
    if is_ours(draw):  # it calls what the environment gives as its quantile
        texts = [(cell.cell_contents, 1, 2) for cell in draw.__closure__ or ()]
    tables: Any = task.problem.environment.tables
    enough = all(table.ndim == 1 and table.size >= task.problem.n_items for table in tables)
    return enough and bool(texts) and all(reads_own_entries(*text) for text in texts)


def check_word(function: Callable[..., Any], task: Task, *arguments: Any) -> None:
    """Whether all whole numbers that a user's function works out of these fit into a word of the machine."""
    if not is_ours(function) and outgrows(function, *arguments):
        raise NotCompilable(
            f"{function.__name__}() works out whole numbers of 2^63 or more by round {task.horizon:,}, which machine "
            "code cannot: begin with float(round)"
        )


def facts(task: Task, agent: Agent) -> text.Facts:
    problem = task.problem
    plan = agent.init_plan(task.horizon)
    items = np.concatenate([*plan, np.empty(0, dtype=np.int64)]).astype(INDEX)
    seen, before = np.zeros(problem.n_items, dtype=np.int64), [np.empty(0, dtype=np.int64)]
    for round, solution in enumerate(plan, start=1):
        before.append(seen[solution])
        seen[solution] = round
    return text.Facts(
        checkpoints=np.append(task.checkpoints, 0),
        means=np.zeros(problem.n_items + 1) if task.drifts else np.append(problem.means, 0.0),
        optimum=(NONE if task.drifts else problem.optimum).astype(INDEX),
        reference=task.references() if task.drifts else np.empty(0),
        init_first=np.cumsum([0, *(solution.size for solution in plan)], dtype=np.int64),
        init_items=items,
        init_before=np.concatenate(before),
        scale=(*problem.bounds, task.sign),
        limits=loop.limits(problem.bounds),
    )


def form(thing: Any, compiled: str, plain: str) -> Any:
    """What the compiler is to be given of a set or an environment; None: nothing."""
    if not up_to_date(thing, compiled, plain):
        return None
    try:
        return getattr(thing, compiled)()
    except Exception as error:
        raise NotCompilable(f"{compiled}() of {thing!r} raised {type(error).__name__}: {error!s:.200}") from error


def not_compiled(error: Exception) -> NotCompilable:
    """No round was played: it is the compiler that failed."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    says = next((line for line in lines if not line.startswith("Failed in nopython")), type(error).__name__)
    return NotCompilable(f"it cannot be compiled: {says}")


def plain_failed(error: Exception) -> NotCompilable:
    """In the rounds that are played in both ways at first: so there is nothing to be compiled."""
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return NotCompilable(f"the plain loop raises {type(error).__name__}: {error!s:.200}{notes}")


def most_rounds(task: Task, lanes: int) -> int:
    """In one call of machine code, so that what is recorded of them stays small."""
    return max(1, TRACE_CELLS // (lanes * max(1, task.problem.max_size))) if task.record else task.horizon


def in_chunks(horizon: int, most: int, play: Callable[[int, int], bool], tick: Callable[[int], None] | None) -> bool:
    """Plays all rounds by `play(first, last)`, some at a time; False as soon as it could not."""
    next_round, chunk = 1, FIRST_CHUNK
    while next_round <= horizon:
        last = min(next_round + min(chunk, most) - 1, horizon)
        started = time.perf_counter()
        if not play(next_round, last):
            return False
        taken = time.perf_counter() - started
        if tick is not None:
            tick(last - next_round + 1)
        faster = min(4.0, CHUNK_SECONDS / max(taken, 1e-9))
        chunk = max(FIRST_CHUNK, int((last - next_round + 1) * faster))
        next_round = last + 1
    return True


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
