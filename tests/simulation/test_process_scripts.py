"""A pool of processes in scripts of all kinds, which are stopped in all ways."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.watching import nothing_is_left_behind, running, soon  # noqa: F401 (a fixture)

SCRIPT = """
import os
from semibandits.simulation.engines.pool import Processes
import beside

class Mine(Exception):
    pass

class Point:
    def __init__(self, x):
        self.x = x

def work(x):
    os.write(1, b"working\\n")
    os.write(2, b"noise\\n")
    if x == 3:
        raise Mine("three")
    return Point(beside.double(x))

print("once")
with Processes(2) as pool:
    print(list(pool.map(lambda x: x + 1, range(3))))
    point = pool.submit(work, 2).result()
    print(isinstance(point, Point), point.x)
    try:
        pool.submit(work, 3).result()
    except Mine as error:
        print("caught", error)
"""


@pytest.mark.parametrize("how", ["file", "-c", "stdin", "stdin closed", "all closed"])
def test_scripts_need_no_guard(tmp_path: Path, how: str) -> None:
    (tmp_path / "beside.py").write_text("def double(x): return 2 * x")
    (tmp_path / "script.py").write_text(SCRIPT)
    python = f"exec '{sys.executable}'"
    command = {
        "file": f"{python} script.py",
        "-c": f'{python} -c "$(cat script.py)"',
        "stdin": f"{python} - < script.py",
        "stdin closed": f"{python} script.py <&-",
        "all closed": f"{python} script.py <&- >&- 2>&-",
    }[how]
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    if how == "all closed":
        assert (done.stdout, done.stderr) == ("", "")
    else:
        expected = ["once", "[1, 2, 3]", "working", "True 4", "working", "caught three"]
        assert sorted(done.stdout.splitlines()) == sorted(expected)
        assert done.stderr == "noise\n" * 2


BUSY = """
import sys, time
from semibandits.simulation.engines.pool import Processes

def busy():
    sys.stdout.write("busy\\n")
    sys.stdout.flush()
    while True:
        pass

with Processes(2) as pool:
    futures = [pool.submit(busy) for _ in range(4)]
    if sys.argv[1] == "body":
        futures[0].result()
"""


@contextmanager
def busy_script(where: str) -> "Iterator[subprocess.Popen[str]]":
    """The script, in a process group of its own, when both workers are at work."""
    command = [sys.executable, "-c", BUSY, where]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, start_new_session=True, **pipes) as script:
        try:
            assert script.stdout is not None
            assert [script.stdout.readline() for _ in range(2)] == ["busy\n"] * 2
            yield script
        finally:
            with suppress(ProcessLookupError):  # they are all gone
                os.killpg(script.pid, signal.SIGKILL)


@pytest.mark.parametrize("where", ["body", "on the way out"])
def test_ctrl_c(where: str) -> None:
    with busy_script(where) as script:
        os.killpg(script.pid, signal.SIGINT)
        printed, said = script.communicate(timeout=20)
        assert running("pgid", script.pid) == set()
    assert script.returncode == -signal.SIGINT
    assert printed == ""
    assert said.count("Traceback") == 1
    assert said.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(number: int) -> None:
    with busy_script("body") as script:
        assert len(running("pgid", script.pid)) == 3
        script.send_signal(number)
        printed, said = script.communicate(timeout=20)  # until the last of them closes its output
        assert soon(lambda: not running("pgid", script.pid))
    assert (printed, said) == ("", "")


def test_a_pool_that_was_never_shut_down() -> None:
    script = (
        "import time\nfrom semibandits.simulation.engines.pool import Processes\n"
        "pool = Processes(2)\nprint(pool.submit(abs, -3).result())\npool.submit(time.sleep, 0.2)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=20, check=True)
    assert (done.stdout, done.stderr) == ("3\n", "")
