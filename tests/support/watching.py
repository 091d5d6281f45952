"""What runs on this machine, and that nothing is left of a test."""

import gc
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest


def running(column: str, number: int) -> set[int]:
    """The processes with this parent (`ppid`) or group (`pgid`), without those that have ended."""
    with subprocess.Popen(["ps", "-A", "-o", f"pid=,stat=,{column}="], stdout=subprocess.PIPE, text=True) as ps:
        assert ps.stdout is not None
        rows = [line.split() for line in ps.stdout]
    return {int(pid) for pid, state, of in rows if int(of) == number and state[0] != "Z"} - {ps.pid}


def soon(condition: Callable[[], object], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(condition())


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    def held() -> tuple[set[threading.Thread], set[str], set[int]]:
        return set(threading.enumerate()), set(os.listdir("/dev/fd")), running("ppid", os.getpid())

    before = held()
    yield
    gc.collect()
    soon(lambda: held() == before)
    assert held() == before
