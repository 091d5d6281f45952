"""From tasks to outcomes: which engine plays what, in which blocks, on which workers."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.answers import solve
from semibandits.errors import Unsupported, WorkerDied
from semibandits.kernel import LANES
from semibandits.simulation import loop
from semibandits.simulation.engine import Engine
from semibandits.simulation.parts import Cannot
from semibandits.simulation.progress import Progress
from semibandits.simulation.solo_engine import SoloEngine
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.sizes import memory
from semibandits.types import IndexPolicy, means_in

EngineName = Literal["auto", "compiled", "plain"]

FEW_ROUNDS = 2_000
"""So few rounds, of all runs together, a plain loop plays sooner than they are compiled."""
FEW_SECONDS = 2.0
"""Plain work that should be done in this time is not worth starting processes for."""
ROUND_SECONDS = 3e-5
"""What a plain round takes at least, besides its oracle."""


class Block(NamedTuple):
    """Consecutive runs of one policy."""

    policy: int
    first: int
    runs: int


class Choice(NamedTuple):
    """The engine for a task, and why it is not the compiled one."""

    engine: Engine | SoloEngine | None
    why: str = ""

    @property
    def name(self) -> str:
        return "compiled" if self.engine is not None else f"plain loop: {self.why}"


def choose(task: Task, wanted: EngineName, runs: int, progress: Progress) -> Choice:
    """The compiled engine wherever it can be had and is worth compiling."""
    if wanted == "plain":
        return Choice(None, "as asked")
    if wanted == "auto" and runs * task.horizon <= FEW_ROUNDS:
        return Choice(None, f"{runs * task.horizon:,} rounds are too few to compile for")
    try:
        engine = engine_of(task)
        progress.say("compiling")
        engine.prepare()
    except Cannot as reason:
        if wanted == "compiled":
            raise Unsupported(f"{task.policy!r} on {task.problem!r}: {reason}") from reason
        return Choice(None, str(reason))
    finally:
        progress.say("")
    return Choice(engine)


def engine_of(task: Task) -> Engine | SoloEngine:
    """Raises `Cannot` where part of the task is plain Python."""
    return Engine(task) if isinstance(task.policy, IndexPolicy) else SoloEngine(task)


def blocks(policy: int, missing: NDArray[np.bool_], lanes: bool) -> Iterator[Block]:
    """The runs that are missing: whole blocks for lanes, which play all of one for the price of its first; else one by
    one."""
    size = int(LANES) if lanes else 1
    for first in range(0, missing.size, size):
        if missing[first : first + size].any():
            yield Block(policy, first, min(size, missing.size - first))


def play_block(task: Task, first: int, runs: int, compiled: bool, tick: Tick | None = None) -> Outcome:
    """These runs, in this process: what workers are sent."""
    engine = engine_of(task) if compiled else None
    if engine is not None:
        with contextlib.suppress(Cannot):  # the plain loop takes over
            engine.compile()
    return play_with(engine, task, first, runs, tick)


def play_with(
    engine: Engine | SoloEngine | None, task: Task, first: int, runs: int, tick: Tick | None = None
) -> Outcome:
    """These runs, and how long they took: each its share of the block."""
    started = time.perf_counter()
    outcome = None if engine is None else engine.play(first, runs, tick)
    if outcome is None:
        parts = [loop.play(task, run, tick) for run in range(first, first + runs)]
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

    def play_here(block: Block, tick: Tick) -> Outcome:
        return play_with(choices[block.policy].engine, tasks[block.policy], block.first, block.runs, tick)

    def play_elsewhere(executor: Executor, blocks: list[Block]) -> None:
        def send(block: Block) -> Future[Outcome]:
            compiled = choices[block.policy].engine is not None
            return executor.submit(play_block, tasks[block.policy], block.first, block.runs, compiled)

        def keep_and_tell(block: Block, outcome: Outcome) -> None:
            keep(block, outcome)
            progress.advance(block.runs * tasks[block.policy].horizon)

        _collect(blocks, send, keep_and_tell)

    if executor is not None:
        play_elsewhere(executor, todo)
        return ""
    fast = [block for block in todo if choices[block.policy].engine is not None]
    slow = [block for block in todo if choices[block.policy].engine is None]
    if fast:
        rooms = [choice.engine.room for choice in choices if isinstance(choice.engine, Engine)]
        at_once = min(workers, len(fast), max(1, memory() // max([1, *rooms])))
        with _Threads(at_once, progress) as threads:
            _collect(fast, lambda block: threads.submit(play_here, block, threads.tick), keep)
    if not slow:
        return ""
    why = "" if min(workers, len(slow)) > 1 and _long(tasks[slow[0].policy], len(slow)) else "in one process"
    why = why or _cannot_be_sent([tasks[policy] for policy in {block.policy for block in slow}])
    if why:
        for block in slow:
            keep(block, play_here(block, progress.advance))
        return why
    from semibandits.simulation.processes import Processes

    count = min(workers, len(slow))
    with Processes(count) as pool:
        play_elsewhere(pool, slow)
    return f"in {count} processes"


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
    todo: list[Block], submit: Callable[[Block], Future[Outcome]], keep: Callable[[Block, Outcome], None]
) -> None:
    """Keeps the outcomes as they come; if something goes wrong, what has not begun is cancelled."""
    futures: dict[Future[Outcome], Block] = {}
    try:
        for block in todo:
            futures[submit(block)] = block
        for future in as_completed(list(futures)):
            block = futures.pop(future)  # and with it the outcome, once it is kept
            try:
                outcome = future.result()
            except WorkerDied as error:
                raise WorkerDied(f"run {block.first}: {error}") from error
            keep(block, outcome)
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
