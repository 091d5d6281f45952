"""The failures of an executor under names of ours, whichever executor it is."""

from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from contextlib import contextmanager
from typing import TypeVar

from semibandits.errors import ExecutorFailed, SemiBanditError, Unsupported, WorkerDied
from semibandits.simulation.parcel import Parcel
from semibandits.simulation.task import Task

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds without news after which an executor is looked at."""


def completed(futures: Iterable[Future[T]], executor: Executor) -> Iterator[Future[T]]:
    """The futures, as they are done. Those of a Dask client that has lost its scheduler may never be: that raises."""
    waiting = set(futures)
    while waiting:
        done = as_completed(waiting.copy(), timeout=PATIENCE)
        while waiting:
            try:
                future = next(done)
            except TimeoutError:
                break
            waiting.discard(future)
            yield future
            del future
        if waiting and _lost(executor):
            lost = "one block" if len(waiting) == 1 else f"{len(waiting)} blocks"
            raise ExecutorFailed(f"the executor lost its scheduler, and {lost} of runs. It takes a new one to go on")


def _lost(executor: Executor) -> bool:
    """Whether it is a Dask client's that is not connected: all its tasks are lost then."""
    if type(executor).__module__.partition(".")[0] != "distributed":
        return False
    return getattr(getattr(executor, "_client", None), "status", "running") != "running"


@contextmanager
def named_failures(task: Task, first: int, runs: int, parcel: Parcel[Task]) -> Iterator[None]:
    """For what is asked of an executor about these runs: its errors are named, and name them."""
    try:
        yield
    except Exception as error:
        if parcel.failure:
            raise Unsupported(
                f"{task.policy!r:.200} on {task.problem!r:.200} cannot be sent to the executor's workers, as it cannot "
                f"be pickled: {parcel.failure}"
            ) from error
        named = _named(error)
        which = f"run {first}" if runs == 1 else f"runs {first} to {first + runs - 1}"
        named.say_where(f"{task.policy!r:.200}, {which}")
        raise named from error


def _named(error: Exception) -> SemiBanditError:
    said = f"{type(error).__name__}: {error!s:.300}".strip(": \n")
    if isinstance(error, WorkerDied):
        return WorkerDied(str(error))
    if type(error).__name__ == "KilledWorker":  # Dask's, which need not be installed
        died = int(getattr(error, "allowed_failures", 0)) + 1
        who = f"{died} workers, one after the other," if died > 1 else "a worker"
        return WorkerDied(f"{who} died while playing it, for want of memory perhaps: see the logs of the workers")
    if isinstance(error, BrokenExecutor):
        return WorkerDied(
            f"a process of the pool ended while playing it or another block ({said}): killed for want of memory "
            "perhaps, or started by a script without `if __name__ == '__main__'`. It takes a new pool to go on"
        )
    if "Cancelled" in type(error).__name__:  # that of Python, or Dask's
        return ExecutorFailed(
            "the executor cancelled it, as it was shut down or lost its scheduler. It takes a new one to go on"
        )
    if isinstance(error, ImportError | AttributeError) or "deserializ" in str(error):
        return ExecutorFailed(
            f"a worker cannot read what it was sent ({said}): the same version of semibandits must be installed there"
        )
    return ExecutorFailed(f"the executor failed ({said}). If it is shut down or broken, it takes a new one to go on")
