"""The start of the thread that compiles, in the midst of which a signal comes."""

import os
import signal
import threading
from typing import Any

import pytest

from semibandits.kernel import background, internals


def test_a_signal_that_comes_while_the_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its handler's exception is raised as it is, and the thread is known: the next job is done by it."""

    class TimeIsUp(Exception):
        pass

    def handle(number: int, frame: Any) -> None:
        raise TimeIsUp

    name = "_start_new_thread" if hasattr(threading, "_start_new_thread") else "_start_joinable_thread"
    real, started, done = getattr(threading, name), [], threading.Event()

    def start(*arguments: Any, **others: Any) -> Any:
        started.append(real(*arguments, **others))
        os.kill(os.getpid(), signal.SIGALRM)
        return started[-1]

    monkeypatch.setattr(background, "_worker", None)
    before = signal.signal(signal.SIGALRM, handle)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(threading, name, start)
            with pytest.raises(TimeIsUp):
                background.submit(lambda: None)
        assert background.submit(done.set)
        assert done.wait(30)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(started) == 1


def test_an_end_that_is_interrupted_is_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the interpreter waits for the compiler: nothing is printed, and nothing is compiled any more."""

    def interrupted(seconds: float) -> bool:
        raise KeyboardInterrupt

    worker = background._Worker()
    monkeypatch.setattr(worker.stopped, "wait", interrupted)
    monkeypatch.setattr(internals, "over", "")
    worker.end()
    assert internals.over == "the interpreter is ending"
