"""Executors that fail, and what their failures are called."""

import io
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, TimeoutError
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits.errors import ExecutorFailed, OracleFailed, Unsupported, WorkerDied
from semibandits.simulation import failures, parcel


class KilledWorker(Exception):
    """As Dask's."""

    allowed_failures = 3


class Stranger(pickle.Unpickler):
    """One that has not this package, such as a scheduler, reads what is sent."""

    def find_class(self, module: str, name: str) -> Any:
        assert not module.startswith("semibandits")
        return super().find_class(module, name)


class Here(Executor):
    """Plays in this thread, on a copy, as if it were far away; from one task on it fails."""

    def __init__(self, failure: Exception | None = None, after: int = 10**9, at_once: bool = False) -> None:
        self._failure, self._left, self._at_once = failure, after, at_once

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._left -= 1
        if self._left < 0 and self._at_once and self._failure is not None:
            raise self._failure
        if self._left < 0:
            if isinstance(self._failure, CancelledError):
                future.cancel()
                future.set_running_or_notify_cancel()
            else:
                future.set_exception(self._failure)
            return future
        function, arguments, named = Stranger(io.BytesIO(pickle.dumps((function, arguments, named)))).load()
        future.set_result(pickle.loads(pickle.dumps(function(*arguments, **named))))
        return future


def best(weights: Any) -> list[int]:
    return [int(np.argmax(weights))]


def problem(solver: Callable[..., Any] = best) -> sb.Problem:
    return sb.Problem(sb.sets.Oracle(solver, n_items=3, max_size=1), sb.environments.Bernoulli([0.1, 0.5, 0.9]))


def play(executor: Executor | None, solver: Callable[..., Any] = best, **options: Any) -> sb.SimulationResult:
    return sb.simulate(
        problem(solver), sb.policies.CombUCB1(), horizon=20, runs=4, seed=2, executor=executor, **options
    )


FAILURES = {
    "cancelled": (CancelledError(), ExecutorFailed, "cancelled it, as it was shut down or lost its scheduler"),
    "pool": (BrokenProcessPool("terminated abruptly"), WorkerDied, "a process of the pool ended.*takes a new pool"),
    "killed": (KilledWorker(), WorkerDied, "4 workers, one after the other, died while playing it"),
    "timeout": (TimeoutError("no answer"), ExecutorFailed, r"the executor failed \(TimeoutError: no answer\)"),
    "connection": (OSError("stream is closed"), ExecutorFailed, r"the executor failed \(OSError: stream is closed\)"),
    "shutdown": (RuntimeError("after shutdown"), ExecutorFailed, "RuntimeError: after shutdown.*takes a new one"),
    "missing": (ModuleNotFoundError("No module named 'semibandits'"), ExecutorFailed, "same version of semibandits"),
}


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_executor_is_named_with_the_runs_and_what_is_kept(name: str, at_once: bool, tmp_path: Path) -> None:
    failure, kind, text = FAILURES[name]
    executor = Here(failure, after=2, at_once=at_once)
    with pytest.raises(kind, match=rf"^CombUCB1\(.*\), run \d: .*{text}.*\. Nothing is kept") as caught:
        play(executor)
    assert isinstance(caught.value.__cause__, type(failure))
    with pytest.raises(kind, match=r" of 4 runs are finished and kept in .*store: the same call, made again"):
        play(Here(failure, after=2, at_once=at_once), store=tmp_path / "store")
    np.testing.assert_array_equal(play(Here(), store=tmp_path / "store").regret, play(None).regret)


def test_an_executor_that_was_shut_down() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ExecutorFailed, match="RuntimeError: cannot schedule new futures after shutdown"):
        play(executor)


def test_what_the_task_raises_is_not_the_executors_failure() -> None:
    def late(weights: Any) -> list[int]:
        raise TimeoutError("licence server")

    for executor in (Here(), ThreadPoolExecutor(1)):
        with pytest.raises(OracleFailed, match="TimeoutError: licence server") as caught:
            play(executor, late)
        assert isinstance(caught.value.__cause__, TimeoutError)


def test_an_error_of_plain_python_comes_back_as_it_is() -> None:
    class Mine(Exception):
        pass

    def sample(generator: np.random.Generator) -> Any:
        raise Mine("no weights")

    world = sb.environments.Custom(sample, means=[0.1, 0.9])
    task = sb.Problem(sb.sets.TopK(2, 1), world)
    for executor in (Here(), ThreadPoolExecutor(1)):
        with pytest.raises(Mine, match="no weights") as caught:
            sb.simulate(task, sb.policies.CombUCB1(), horizon=5, runs=1, seed=0, executor=executor)
        assert "in run 0, round 1" in caught.value.__notes__


def test_what_cannot_be_pickled_is_said_to_be_so() -> None:
    lock = threading.Lock()

    def locked(weights: Any) -> list[int]:
        with lock:
            return best(weights)

    with pytest.raises(Unsupported, match=r"cannot be sent to the executor's workers.*cannot pickle '_thread.lock'"):
        play(Here(), locked)
    np.testing.assert_array_equal(play(ThreadPoolExecutor(1), locked).regret, play(None).regret)


def test_a_client_that_lost_its_scheduler_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(Executor):
        __module__ = "distributed.cfexecutor"
        _client = SimpleNamespace(status="connecting")

        def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            return Future()  # as Dask's, when the connection is lost while a result travels

    monkeypatch.setattr(failures, "PATIENCE", 0.01)
    with pytest.raises(ExecutorFailed, match="lost its scheduler, and 4 blocks of runs"):
        play(Lost())


def test_an_executor_that_takes_its_time_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "PATIENCE", 0.001)
    with ThreadPoolExecutor(1) as executor:
        np.testing.assert_array_equal(play(executor, slow).regret, play(None).regret)


def slow(weights: Any) -> list[int]:
    threading.Event().wait(0.001)
    return best(weights)


def test_a_worker_with_another_version_does_not_play(monkeypatch: pytest.MonkeyPatch) -> None:
    class Older(Here):
        def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
            data = pickle.dumps((function, arguments, named))
            with monkeypatch.context() as patch:
                patch.setattr(parcel, "edition", lambda: {"semibandits": "0.0.9 (code 1234abcd)", "Python": "3.10"})
                function, arguments, named = pickle.loads(data)
                future: Future[Any] = Future()
                future.set_result(function(*arguments, **named))
            return future

    with pytest.raises(Unsupported, match=r"has semibandits 0.0.9 \(code 1234abcd\) and Python 3.10, and .* from semi"):
        play(Older())
