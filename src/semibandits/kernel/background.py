"""One thread of the process that compiles while all others go on.

numba's compiler is Python code: it holds the interpreter's lock, and takes five milliseconds of it at a time where
others want it. So this thread lets go of the lock every `SLICE`, by a hook that Python calls at every call of a
function in this thread alone, and rests for `REST`: whoever wants the lock has it by then. Meanwhile no full
collection of garbage begins, which would go through all that the compiler has made and holds the lock all along;
garbage that is young is collected as ever, and what was set is put back.

A fork waits for what is being compiled, as for all compilers (`internals.load_numba`): then, and whenever somebody
waits, there are no rests. When the interpreter ends, the thread stops at the next call of a function, for good.
"""

import atexit
import contextlib
import gc
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any, TypeAlias

from semibandits._util import forks
from semibandits.kernel import internals, mends
from semibandits.kernel.interrupts import held_back

SLICE = 2e-4
"""Seconds for which the lock is kept, at most: as far as Python functions call each other."""
REST = 2e-4
LAST = 30.0
"""Seconds that the end of the interpreter waits, at most, until the compiler has stopped."""
NEVER = 2**31 - 1

Job: TypeAlias = Callable[[], None]

_LOG = logging.getLogger("semibandits")


class _Worker:
    """The thread, and what it has to do, one thing after the other."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job] = SimpleQueue()
        self.at_work = threading.RLock()
        self.waiting: list[None] = []
        """One for each who waits for it."""
        self.ending = self.halted = False
        self.stopped = threading.Event()
        self.thresholds: tuple[int, int, int] | None = None
        """Of the garbage collector, to be put back."""
        self.thread = threading.Thread(target=self._run, name="semibandits-compiler", daemon=True)

    def _run(self) -> None:
        mends.beside.add(threading.get_ident())
        while not self.ending:
            job = self.jobs.get()
            with self.at_work:
                self._do(job)
        self.stopped.set()

    def _do(self, job: Job) -> None:
        if self.ending:
            return
        hook, before = _hooks()
        try:
            with self._no_full_collection():
                hook(self._considerate())
                try:
                    job()
                finally:
                    hook(before)
        except BaseException as error:  # a job says itself what it cannot do
            _LOG.warning("compiling in the background failed (%s: %.200s)", type(error).__name__, error)

    def _considerate(self) -> Callable[..., None]:
        end = time.perf_counter() + SLICE
        clock = time.perf_counter

        def hook(frame: Any, event: str, argument: Any) -> None:
            nonlocal end
            if clock() > end:
                if self.ending and not internals.holds_llvm():
                    self.halted = True
                    self.stopped.set()
                    threading.Event().wait()
                if not self.waiting:
                    time.sleep(REST)
                end = clock() + SLICE

        return hook

    @contextlib.contextmanager
    def _no_full_collection(self) -> Iterator[None]:
        before = gc.get_threshold()
        gc.set_threshold(before[0], before[1], NEVER)
        self.thresholds = before
        try:
            yield
        finally:
            self.collect_again()

    def collect_again(self) -> None:
        before, self.thresholds = self.thresholds, None
        if before is not None and gc.get_threshold() == (before[0], before[1], NEVER):  # nobody else has set it
            gc.set_threshold(*before)

    def end(self) -> None:
        self.ending = True
        self.jobs.put(lambda: None)
        try:
            self.stopped.wait(LAST)
        except KeyboardInterrupt:  # somebody wants the end at once
            self.halted |= not self.stopped.is_set()
        if self.halted:  # with locks of the compiler in its hands
            internals.over = "the interpreter is ending"


def _hooks() -> tuple[Callable[[Any], None], Any]:
    """What sets a function that this thread calls at every call, and what was set before.

    Up to Python 3.11 tracing is cheaper, as it is for calls of Python functions alone; from 3.12 on it would mark the
    lines of all code for all threads.
    """
    kind = "trace" if sys.version_info < (3, 12) else "profile"
    return getattr(sys, f"set{kind}"), getattr(sys, f"get{kind}")()


_STARTING = forks.ForkLock()
_worker: _Worker | None = None


def submit(job: Job) -> bool:
    """Has this done in the background; False: there can be no thread (any more)."""
    global _worker
    try:
        with _STARTING:
            worker = _worker
            if worker is None:
                worker = _Worker()
                with held_back():
                    worker.thread.start()
                    _worker = worker
    except RuntimeError:  # no thread can be started: the interpreter is ending, or there are too many
        return False
    if worker.ending:
        return False
    worker.jobs.put(job)
    return True


def wait(seconds: float | None = None) -> bool:
    """Waits until all that was submitted is done; whether it is. Nobody needs to, and all is done sooner then."""
    worker, done = _worker, threading.Event()
    if worker is None or threading.current_thread() is worker.thread:
        return True
    with hurried():
        worker.jobs.put(done.set)
        return done.wait(seconds)


@contextlib.contextmanager
def hurried() -> Iterator[None]:
    """Meanwhile the compiler takes no rests: somebody waits for it."""
    worker = _worker
    if worker is None:
        yield
        return
    worker.waiting.append(None)
    try:
        yield
    finally:
        worker.waiting.pop()


class _AtWork:
    """For forks: a lock that is free when nothing is being compiled here."""

    def __init__(self) -> None:
        self._taken: list[Any] = []

    def acquire(self, timeout: float) -> bool:
        worker = _worker
        if worker is None:
            return False
        with hurried():
            taken = worker.at_work.acquire(timeout=timeout)
        if taken:
            self._taken.append(worker.at_work)
        return taken

    def release(self) -> None:
        self._taken.pop().release()


def _end() -> None:
    if _worker is not None:
        _worker.end()


def _begin_anew() -> None:
    """In a child, which has no such thread."""
    global _worker
    worker, _worker = _worker, None
    if worker is not None:
        worker.collect_again()


atexit.register(_end)
forks.awaited(_AtWork())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
