"""A pool of fresh Python processes for work that is plain Python.

loky was tried in its place: there a worker that dies fails all other tasks too, and a death is not noticed while a fork
lives on.
"""

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import IO, ParamSpec, TypeVar, cast

import cloudpickle

from semibandits._util.checks import check_count
from semibandits._util.forks import ForkLock
from semibandits.errors import BadArgument, WorkerDied
from semibandits.simulation.engines.pool_worker import STOP, receive, send

P = ParamSpec("P")
T = TypeVar("T")

SOCKETS = sys.platform != "win32"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1"}
"""Unless the user says otherwise: the workers share the cores already. OpenBLAS and MKL heed the first."""
PATIENCE = 5.0
"""Seconds a worker has to end after it was told to."""


class Processes(Executor):
    """At most `workers` processes, each started when there is work for it.

    Unlike those of `ProcessPoolExecutor` they do not run the user's script again, so it needs no `__main__` guard, and
    lambdas and functions of the script can be sent. A task is pickled when its turn comes; if that fails, or the
    pickling of its result, its future fails with the pickling error. An exception in a task comes back with its cause,
    and with the worker's traceback as a note; as a RuntimeError that quotes it where it cannot be pickled.

    A worker that dies fails the task it was at with `WorkerDied`; a fresh one takes the next. Leaving the `with` block
    by an exception kills the workers at once. They end by themselves when this process does.

    >>> with Processes(2) as pool:
    ...     list(pool.map(lambda x: x * x, range(4)))
    [0, 1, 4, 9]
    """

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(check_count("workers", workers, BadArgument), initializer=_shield)
        self._lock = ForkLock()
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._killed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._threads.submit(self._perform, partial(fn, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        try:
            self._threads.shutdown(wait, cancel_futures=cancel_futures)
            if wait:
                self._retire(*self._workers)
            else:
                Thread(target=self.shutdown).start()
        except BaseException:
            self.kill()
            raise

    def kill(self) -> None:
        """Ends all at once: waiting tasks are cancelled, running ones fail with `WorkerDied`."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._killed = True
            for worker in self._workers:
                worker.process.kill()
        self.shutdown()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.shutdown()
        else:
            self.kill()

    def _perform(self, call: Callable[[], T]) -> T:
        task = cloudpickle.dumps(call)
        worker = self._pop() or self._start()
        try:
            answer = worker.ask(task)
        except BaseException:
            worker.process.kill()
            self._retire(worker)
            raise
        with self._lock:
            self._idle.append(worker)
        return cast(T, _read(answer))

    def _pop(self) -> "_Worker | None":
        """A living worker with nothing to do, if there is one."""
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None or worker.process.poll() is None:
                return worker
            self._retire(worker)

    def _start(self) -> "_Worker":
        worker = _Worker()
        with self._lock:
            self._workers.add(worker)
            if self._killed:
                worker.process.kill()
        return worker

    def _retire(self, *workers: "_Worker") -> None:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.end()
        with self._lock:
            self._workers.difference_update(workers)


def _shield() -> None:
    """Processes inherit this from the thread that starts them: Ctrl-C must not hit one that is only starting."""
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


class _Worker:
    """A process that runs `pool_worker.py`, and the way to talk to it."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("pool_worker.py"))]
        popen = partial(subprocess.Popen[bytes], command, env={**ONE_THREAD, **os.environ})
        if SOCKETS:  # standard input, both ways, so that what a task prints goes where all output goes
            ours, theirs = socket.socketpair()
            with ours, theirs:
                self.process = popen(stdin=theirs.fileno())
                self._tasks = self._answers = cast(IO[bytes], ours.makefile("rwb"))
        else:
            self.process = popen(stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._tasks, self._answers = cast(IO[bytes], self.process.stdin), cast(IO[bytes], self.process.stdout)
        with contextlib.suppress(OSError):  # it is dead already: the first task finds out
            send(self._tasks, pickle.dumps(sys.path))

    def ask(self, task: bytes) -> bytes:
        try:
            send(self._tasks, task)
            return receive(self._answers)
        except (EOFError, OSError):
            code = self.end()
        how = f"was killed by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"ended with status {code}"
        raise WorkerDied(f"the worker process {how} in the middle of a task")

    def stop(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # it is dead, or was stopped before
            send(self._tasks, STOP)

    def end(self) -> int:
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        for file in (self._tasks, self._answers):
            with contextlib.suppress(OSError):  # what could not be sent
                file.close()
        return code


def _read(answer: bytes) -> object:
    """The result, or raises what the task raised."""
    done, *outcome = pickle.loads(answer)
    if done:
        return outcome[0]
    raise rebuilt(*outcome)


def rebuilt(chain: list[tuple[bytes, str]], traceback: str) -> BaseException:
    """What `packed` has packed."""
    error, *cause = (_rebuilt(*one) for one in chain)
    if cause:
        error.__cause__ = cause[0]
    error.add_note(f"In the worker process:\n{traceback}")
    return error


def _rebuilt(data: bytes, text: str) -> BaseException:
    try:
        error = pickle.loads(data)
    except Exception:
        error = None
    return error if isinstance(error, BaseException) else RuntimeError(text)
