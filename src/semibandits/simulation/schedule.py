"""From tasks to outcomes: which engine plays what, in which blocks, on which workers."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from semibandits._util.resources import memory
from semibandits.errors import Unsupported
from semibandits.oracle import solve
from semibandits.simulation.engines import plain
from semibandits.simulation.engines.base import CompiledEngine
from semibandits.simulation.engines.compilable import NotCompilable
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.engines.single_engine import SingleEngine
from semibandits.simulation.engines.watch import Fault
from semibandits.simulation.engines.widths import WIDE, widths
from semibandits.simulation.failures import completed, named_failures
from semibandits.simulation.parcel import Failed, Parcel, opened
from semibandits.simulation.progress import Progress
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import IndexPolicy, means_in

T = TypeVar("T")
EngineName = Literal["auto", "compiled", "plain"]

FEW_ROUNDS = 2_000
"""So few rounds, of all runs together, a plain loop plays sooner than they are compiled."""
FEW_SECONDS = 2.0
"""Plain work that should be done in this time is not worth starting processes for."""
ROUND_SECONDS = 3e-5
"""What a plain round takes at least, besides its oracle."""

PLAY = f"__import__({__name__!r}, fromlist=['play_parcel']).play_parcel(parcel, first, runs, lanes)"
"""What workers are sent: a string, since Dask's workers end without a word when they cannot read a task, as where this
package is not installed."""


class Block(NamedTuple):
    """Consecutive runs of one policy."""

    policy: int
    first: int
    runs: int


class Choice(NamedTuple):
    """The engine for a task, and why it is not the compiled one."""

    engine: CompiledEngine | None
    why: str = ""
    last: CompiledEngine | None = None
    """The engine for a last block of few runs, most often the same."""

    @property
    def lanes(self) -> int:
        """The runs of a block."""
        return 1 if self.engine is None else self.engine.lanes

    def playing(self, block: Block) -> CompiledEngine | None:
        """The engine for this block."""
        return self.last if self.last is not None and block.runs <= self.last.lanes else self.engine

    @property
    def name(self) -> str:
        return "compiled" if self.engine is not None else f"plain loop: {self.why}"


def choose(task: Task, wanted: EngineName, runs: int, progress: Progress, missing: int, workers: int) -> Choice:
    """The compiled engine wherever it can be had and is worth compiling, for the runs that are missing."""
    if wanted == "plain":
        return Choice(None, "as asked")
    if wanted == "auto" and runs * task.horizon <= FEW_ROUNDS:
        return Choice(None, f"{runs * task.horizon:,} rounds are too few to compile for")
    try:
        width, narrow = widths(task, missing or runs, workers)
        engine = engine_of(task, width)
        progress.say("compiling")
        engine.prepare()
        last = engine_of(task, narrow) if narrow < width else engine
        if last is not engine:
            last.prepare()
    except NotCompilable as reason:
        if wanted == "compiled":
            raise Unsupported(f"{task.policy!r} on {task.problem!r}: {reason}") from reason
        return Choice(None, str(reason))
    finally:
        progress.say("")
    return Choice(engine, last=last)


def engine_of(task: Task, lanes: int = WIDE) -> CompiledEngine:
    """Raises `NotCompilable` where part of the task is plain Python."""
    return LanesEngine(task, lanes=lanes) if isinstance(task.policy, IndexPolicy) else SingleEngine(task)


def blocks(policy: int, missing: NDArray[np.bool_], size: int) -> Iterator[Block]:
    """The runs that are missing, in whole blocks: lanes play all of one for the price of its first."""
    for first in range(0, missing.size, size):
        if missing[first : first + size].any():
            yield Block(policy, first, min(size, missing.size - first))


def play_block(task: Task, first: int, runs: int, lanes: int, tick: Tick | None = None) -> Outcome:
    """These runs, in this process. No lanes: by the plain loop."""
    engine = engine_of(task, lanes) if lanes else None
    if engine is not None:
        with contextlib.suppress(NotCompilable):  # the plain loop takes over
            engine.compile()
    return play_with(engine, task, first, runs, tick)


def play_parcel(parcel: Parcel[Task] | bytes, first: int, runs: int, lanes: int) -> Outcome | Failed:
    """What workers do. Whatever is raised elsewhere is the executor's failure, not the task's."""
    try:
        return play_block(opened(parcel), first, runs, lanes)
    except BaseException as error:
        return Failed(error)


def play_with(engine: CompiledEngine | None, task: Task, first: int, runs: int, tick: Tick | None = None) -> Outcome:
    """These runs, and how long they took: each its share of the block."""
    started = time.perf_counter()
    outcome = None if engine is None else engine.play(first, runs, tick)
    if isinstance(outcome, Fault):
        for run in range(outcome.first, outcome.last + 1):
            plain.play(task, run, rounds=outcome.round)
        raise outcome.differ()
    if outcome is None:
        parts = [plain.play(task, run, tick) for run in range(first, first + runs)]
        merged = {name: np.concatenate([part.arrays()[name] for part in parts]) for name in parts[0].arrays()}
        outcome = Outcome.of(merged, replayed=engine is not None)
    return outcome._replace(seconds=np.full(runs, (time.perf_counter() - started) / runs))


class _Stopped(Exception):
    """Something else failed, or the user has had enough."""


def play_all(
    tasks: list[Task],
    choices: list[Choice],
    todo: list[Block],
    keep: Callable[[Block, Outcome], None],
    *,
    workers: int,
    executor: Executor | None,
    progress: Progress,
) -> str:
    """Plays all blocks and hands each outcome to `keep`, in this thread. Returns what is to be said about it, if any.

    Whatever goes wrong, `keep` included, stops all the work before it is passed on.
    """
    play = _Play(tasks, choices, keep, progress)
    if executor is not None:
        play.elsewhere(todo, executor)
        return ""
    fast = [block for block in todo if choices[block.policy].engine is not None]
    slow = [block for block in todo if choices[block.policy].engine is None]
    if fast:
        play.in_threads(fast, workers)
    return play.in_processes(slow, workers) if slow else ""


class _Play(NamedTuple):
    """The ways to play blocks of runs."""

    tasks: list[Task]
    choices: list[Choice]
    keep: Callable[[Block, Outcome], None]
    progress: Progress

    def here(self, block: Block, tick: Tick) -> Outcome:
        engine = self.choices[block.policy].playing(block)
        return play_with(engine, self.tasks[block.policy], block.first, block.runs, tick)

    def in_threads(self, todo: list[Block], workers: int) -> None:
        """Machine code, as much of it at once as there is memory for."""
        room = max(choice.engine.room for choice in self.choices if choice.engine is not None)
        with _Threads(min(workers, len(todo), max(1, memory() // room)), self.progress) as threads:
            _collect(
                todo,
                threads,
                lambda block: threads.submit(self.here, block, threads.tick),
                lambda block, future: self.keep(block, future.result()),
            )

    def in_processes(self, todo: list[Block], workers: int) -> str:
        """Plain loops, where that is worth it and possible; else in this thread. Returns which, and why."""
        count = min(workers, len(todo))
        why = "" if count > 1 and _long(self.tasks[todo[0].policy], len(todo)) else "in one process"
        why = why or _cannot_be_sent([self.tasks[policy] for policy in {block.policy for block in todo}])
        if why:
            for block in todo:
                self.keep(block, self.here(block, self.progress.advance))
            return why
        from semibandits.simulation.engines.pool import Processes

        with Processes(count) as pool:
            self.elsewhere(todo, pool)
        return f"in {count} processes"

    def elsewhere(self, todo: list[Block], executor: Executor) -> None:
        parcels = [Parcel(task) for task in self.tasks]

        def naming(block: Block) -> AbstractContextManager[None]:
            return named_failures(self.tasks[block.policy], block.first, block.runs, parcels[block.policy])

        def send(block: Block) -> Future[Outcome | Failed]:
            engine = self.choices[block.policy].playing(block)
            with naming(block):
                arguments = {"parcel": parcels[block.policy], "first": block.first, "runs": block.runs}
                return executor.submit(eval, PLAY, {**arguments, "lanes": 0 if engine is None else engine.lanes})

        def take(block: Block, future: Future[Outcome | Failed]) -> None:
            with naming(block):
                answer = future.result()
            if isinstance(answer, Failed):
                raise answer.error
            self.keep(block, answer)
            self.progress.advance(block.runs * self.tasks[block.policy].horizon)

        _collect(todo, executor, send, take)


class _Threads(ThreadPoolExecutor):
    """Machine code runs beside other threads; between two chunks of rounds it looks whether it is to stop."""

    def __init__(self, workers: int, progress: Progress) -> None:
        super().__init__(workers)
        self._progress = progress
        self._stop = threading.Event()

    def tick(self, rounds: int) -> None:
        if self._stop.is_set():
            raise _Stopped
        self._progress.advance(rounds)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if kind is not None:
            self._stop.set()
        self.shutdown(cancel_futures=kind is not None)


def _collect(
    todo: list[Block],
    executor: Executor,
    submit: Callable[[Block], Future[T]],
    take: Callable[[Block, Future[T]], None],
) -> None:
    """Takes the outcomes as they come; if something goes wrong, what has not begun is cancelled."""
    futures: dict[Future[T], Block] = {}
    try:
        for block in todo:
            futures[submit(block)] = block
        for future in completed(futures, executor):
            take(futures.pop(future), future)  # and with it the outcome goes, once it is taken
    except BaseException:
        for future in futures:
            future.cancel()
        raise


def _long(task: Task, runs: int) -> bool:
    """Whether plain runs take long enough to start processes for them, judged by one call of the oracle."""
    for _ in range(2):  # the first call may have to warm up
        started = time.perf_counter()
        solve(task.problem.feasible, task.sign * means_in(task.problem.environment, 1))
    return (time.perf_counter() - started + ROUND_SECONDS) * task.horizon * runs > FEW_SECONDS


def _cannot_be_sent(tasks: list[Task]) -> str:
    """Why other processes cannot be given these tasks, if they cannot."""
    import cloudpickle

    try:
        cloudpickle.dumps(tasks)
    except Exception as error:
        return f"in one process, since it cannot be pickled ({type(error).__name__}: {error!s:.200})"
    return ""
