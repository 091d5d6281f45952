"""Children that are forked, and threads that are in the midst of something."""

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from semibandits import sets
from semibandits.types import Weights

MARKS = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]
PATIENCE = 60.0


def forked(test: Any) -> Any:
    """A test of another file that forks."""
    for mark in MARKS:
        test = mark(test)
    return test


def in_child(work: Callable[[], object]) -> str:
    """What the work gives in a forked child; fails where the child hangs."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            said = repr(work())
        except BaseException as error:
            said = f"raised {error!r}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], PATIENCE)
    if not ready:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    said = os.read(reading, 1 << 16).decode()
    os.close(reading)
    assert ready, "the child hangs"
    return said


@contextmanager
def meanwhile(work: Callable[[Callable[[], object]], object]) -> Iterator[None]:
    """Another thread is in the midst of work(pause)."""
    inside, go_on = threading.Event(), threading.Event()

    def pause() -> None:
        inside.set()
        go_on.wait(PATIENCE)

    thread = threading.Thread(target=work, args=(pause,), daemon=True)
    thread.start()
    assert inside.wait(PATIENCE)
    try:
        yield
    finally:
        go_on.set()
        thread.join(PATIENCE)


def slow_set(pauses: list[Callable[[], object]]) -> sets.Oracle:
    """The first two items of three; its solver pauses once for each that is listed."""

    def solve(weights: Weights) -> list[int]:
        if pauses and threading.current_thread() is not threading.main_thread():
            pauses.pop()()
        return [0, 1]

    return sets.Oracle(solve, n_items=3, max_size=2)
