"""A pool of processes: what comes back, what dies, and that nothing is left behind."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path

import numpy as np
import pytest

from semibandits.errors import BadArgument, WorkerDied
from semibandits.simulation.engines import pool as processes
from semibandits.simulation.engines.pool import Processes
from support.watching import nothing_is_left_behind, running, soon  # noqa: F401 (a fixture)


@pytest.fixture
def pool() -> Iterator[Processes]:
    with Processes(2) as pool:  # which starts nothing yet
        yield pool


def test_results_come_back(pool: Processes) -> None:
    factor = 3
    futures = [pool.submit(lambda x, y=1: factor * x + y, x, y=10) for x in range(5)]
    assert [future.result() for future in futures] == [10, 13, 16, 19, 22]
    assert list(pool.map(abs, range(-1000, 0))) == list(range(1000, 0, -1))


def test_large_payloads(pool: Processes) -> None:
    sent = np.random.default_rng(0).random(10 * 2**20 // 8)
    for back in pool.map(lambda array: array[::-1], [sent] * 3):
        np.testing.assert_array_equal(back, sent[::-1])


def test_several_threads_may_submit(pool: Processes) -> None:
    results: dict[int, list[int]] = {}

    def use(start: int) -> None:
        results[start] = [pool.submit(lambda x: x + 1, x).result() for x in range(start, start + 50)]

    threads = [threading.Thread(target=use, args=(1000 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {1000 * i: list(range(1000 * i + 1, 1000 * i + 51)) for i in range(4)}


def test_workers_start_when_needed() -> None:
    others = running("ppid", os.getpid())
    with Processes(8) as pool:
        assert running("ppid", os.getpid()) == others
        assert len({pool.submit(os.getpid).result() for _ in range(20)}) == 1
    with Processes(2) as pool:
        assert len(set(pool.map(lambda _: time.sleep(0.02) or os.getpid(), range(20)))) == 2


def test_workers_import_only_what_tasks_need(pool: Processes) -> None:
    loaded = pool.submit(lambda: set(sys.modules)).result()
    assert not loaded & {"semibandits", "numpy", "pytest"}


@pytest.mark.parametrize("workers", [0, -1, True, 2.0, "2", None])
def test_bad_input(workers: object) -> None:
    with pytest.raises(BadArgument, match="workers must be an integer >= 1"):
        Processes(workers)  # type: ignore[arg-type]


def test_modules_are_found_where_the_parent_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "with:colon"
    folder.mkdir()
    (folder / "only_here.py").write_text("def double(x): return 2 * x")
    (tmp_path / "pickle.py").write_text("raise RuntimeError('not the one of the standard library')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(folder)
    from only_here import double  # type: ignore[import-not-found]

    with Processes(1) as pool:
        assert pool.submit(double, 4).result() == 8


def test_one_thread_each_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    with Processes(1) as pool:
        assert pool.submit(os.getenv, "OMP_NUM_THREADS").result() == "1"
        assert pool.submit(os.getenv, "NUMBA_NUM_THREADS").result() == "3"


def test_prints_show_up_and_input_is_empty(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, pool: Processes
) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)

    def chatter() -> str:
        print("from print")
        print("an error", file=sys.stderr)
        os.system("echo from a program")
        return sys.stdin.read() + os.read(0, 100).decode()

    assert pool.submit(chatter).result() == ""
    printed = capfd.readouterr()
    assert sorted(printed.out.splitlines()) == ["from a program", "from print"]
    assert printed.err == "an error\n"


def test_exceptions_come_back(pool: Processes) -> None:
    class Mine(Exception):
        pass

    def fail() -> None:
        try:
            raise KeyError("deep")
        except KeyError as error:
            raise Mine("a", 2) from error

    with pytest.raises(Mine) as caught:
        pool.submit(fail).result()
    assert caught.value.args == ("a", 2)
    assert repr(caught.value.__cause__) == "KeyError('deep')"
    assert "in fail" in caught.value.__notes__[0]
    assert "KeyError: 'deep'" in caught.value.__notes__[0]
    with pytest.raises(SystemExit):
        pool.submit(sys.exit, 3).result()
    assert pool.submit(abs, -1).result() == 1


def test_exceptions_that_cannot_travel_are_quoted(pool: Processes) -> None:
    class Locked(Exception):
        def __init__(self) -> None:
            super().__init__("has a lock")
            self.lock = threading.Lock()

    class Demanding(Exception):
        def __init__(self, one: str, other: str) -> None:
            super().__init__(one + other)

    def fail(demanding: bool) -> None:
        raise Demanding("two", "words") if demanding else Locked

    with pytest.raises(RuntimeError, match=r"Locked: has a lock\nIn the worker"):
        pool.submit(fail, False).result()
    with pytest.raises(RuntimeError, match=r"Demanding: twowords\nIn the worker"):
        pool.submit(fail, True).result()


def test_what_cannot_be_pickled_fails_alone(pool: Processes) -> None:
    lock = threading.Lock()
    task = pool.submit(lambda: lock)
    result = pool.submit(threading.Lock)
    with pytest.raises(TypeError, match="cannot pickle"):
        task.result()
    with pytest.raises(TypeError, match="cannot pickle"):
        result.result()
    unknown = type("Unknown", (), {"__module__": "nowhere", "__reduce__": lambda self: (eval, ("__import__('gone')",))})
    with pytest.raises(ModuleNotFoundError, match="gone"):
        pool.submit(repr, unknown()).result()
    with pytest.raises(ModuleNotFoundError, match="gone"):
        pool.submit(unknown).result()
    assert pool.submit(abs, -1).result() == 1


@pytest.mark.parametrize(
    ("end", "how"),
    [
        (lambda: os._exit(7), "ended with status 7"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), r"killed by signal 9 \("),
        (lambda: __import__("ctypes").string_at(0), rf"killed by signal {signal.SIGSEGV} \("),
        (lambda: os.closerange(3, 100) or os._exit(0), "ended with status 0"),
    ],
    ids=["exit", "kill", "segfault", "close"],
)
def test_a_dead_worker_fails_its_task_alone(end: Callable[[], None], how: str) -> None:
    with Processes(1) as pool:
        before = pool.submit(os.getpid)
        dying = pool.submit(end)
        after = pool.submit(os.getpid)
        with pytest.raises(WorkerDied, match=how):
            dying.result()
        assert before.result() != after.result()


def test_a_worker_that_died_idle_is_replaced() -> None:
    with Processes(1) as pool:
        for _ in range(2):
            worker = pool.submit(os.getpid).result()
            os.kill(worker, signal.SIGKILL)
            assert soon(lambda worker=worker: worker not in running("ppid", os.getpid()))
        assert pool.submit(abs, -1).result() == 1


def test_a_death_is_noticed_although_a_fork_lives_on(tmp_path: Path) -> None:
    def fork_and_die() -> None:
        if child := os.fork():
            (tmp_path / "child").write_text(str(child))
            os._exit(3)
        time.sleep(60)

    with Processes(1) as pool:
        with pytest.raises(WorkerDied, match="status 3"):
            pool.submit(fork_and_die).result(timeout=20)
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


def test_a_worker_that_is_starting_ignores_ctrl_c() -> None:
    with Processes(1) as pool:
        future = pool.submit(abs, -1)
        assert soon(lambda: pool._workers)
        for worker in pool._workers:
            for _ in range(100):
                os.kill(worker.process.pid, signal.SIGINT)
                time.sleep(0.001)
        assert future.result() == 1


@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError])
def test_an_exception_kills_what_runs(kind: type[BaseException], tmp_path: Path) -> None:
    def busy(name: str) -> None:
        (tmp_path / name).touch()
        while True:
            pass

    others = running("ppid", os.getpid())
    for attempt in range(3):
        futures: list[Future[None]] = []
        with pytest.raises(kind), Processes(2) as pool:  # noqa: PT012
            futures += [pool.submit(busy, f"{attempt} {i}") for i in range(4)]
            assert soon(lambda attempt=attempt: len(list(tmp_path.glob(f"{attempt} *"))) == 2)
            raise kind
        assert running("ppid", os.getpid()) == others
        for future in futures[:2]:
            with pytest.raises(WorkerDied, match="signal 9"):
                future.result()
        assert all(future.cancelled() for future in futures[2:])
        with pytest.raises(RuntimeError, match="after shutdown"):
            pool.submit(abs, 1)


def test_killing_while_workers_start() -> None:
    for delay in np.linspace(0.0, 0.1, 6):
        futures: list[Future[None]] = []
        with pytest.raises(ZeroDivisionError), Processes(2) as pool:  # noqa: PT012
            futures += [pool.submit(time.sleep, 60) for _ in range(5)]
            time.sleep(delay)
            raise ZeroDivisionError
        assert all(future.cancelled() or isinstance(future.exception(), WorkerDied) for future in futures)


def test_shutdown_finishes_or_cancels() -> None:
    pool = Processes(1)
    futures = [pool.submit(time.sleep, 0.01) for _ in range(3)]
    pool.shutdown(wait=False)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(abs, 1)
    assert [future.result() for future in futures] == [None] * 3
    pool.shutdown()
    pool.shutdown()

    pool = Processes(1)
    futures = [pool.submit(time.sleep, 0.3) for _ in range(3)]
    assert soon(futures[0].running)
    pool.shutdown(cancel_futures=True)
    assert futures[0].result() is None
    for future in futures[1:]:
        with pytest.raises(CancelledError):
            future.result()
    Processes(3).shutdown()


def test_workers_end_in_good_order(tmp_path: Path) -> None:
    with Processes(1) as pool:
        pool.submit(lambda: __import__("atexit").register((tmp_path / "bye").touch)).result()
    assert (tmp_path / "bye").exists()


def test_workers_that_do_not_end_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.1)
    with Processes(1) as pool:
        pool.submit(lambda: threading.Thread(target=time.sleep, args=(60,)).start()).result()


def test_over_pipes(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """As on Windows, where a socket cannot be standard input: only that prints go to standard error."""
    monkeypatch.setattr(processes, "SOCKETS", False)
    with Processes(2) as pool:
        assert pool.submit(lambda: print("printed") or sys.stdin.read()).result() == ""
        assert len(pool.submit(lambda data: data * 2, b"x" * 10**7).result()) == 2 * 10**7
        with pytest.raises(WorkerDied, match="status 1"):
            pool.submit(os._exit, 1).result()
        assert list(pool.map(abs, range(-20, 0))) == list(range(20, 0, -1))
    with pytest.raises(KeyboardInterrupt), Processes(2) as pool:  # noqa: PT012
        pool.submit(time.sleep, 60)
        raise KeyboardInterrupt
    assert capfd.readouterr() == ("", "printed\n")


def test_pools_inside_workers(pool: Processes) -> None:
    assert pool.submit(lambda: Processes(1).__enter__().submit(abs, -2).result()).result() == 2
