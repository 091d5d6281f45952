"""Learners where there is no compiler, or one that fails or errs: plain code goes on, with the same decisions."""

import logging
import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, policies, sets
from semibandits._util.identity_cache import RecentCache
from semibandits.agent import scores
from semibandits.kernel import warm
from semibandits.kernel.interrupts import held_back
from semibandits.sets import base as sets_base

SCRIPT = """
import sys
if sys.argv[1] == "missing":
    sys.modules["numba"] = None
import numpy as np
import semibandits as sb
from semibandits import errors
from semibandits.agent import scores
from semibandits.kernel import warm

def play(feasible, policy):
    learner, generator, seen = sb.Learner(feasible, policy, seed=3), np.random.default_rng(0), []
    for _ in range(4):
        decision = learner.ask()
        seen.append(decision.items.tolist())
        learner.tell(decision.id, generator.random(decision.items.size))
    return seen

top, large, grid = sb.sets.TopK(6, 2), sb.sets.TopK(300, 2), sb.sets.GridPaths(2)
own = sb.sets.Oracle(top.argmax, 6, 2, contains=top.contains)
kinds = [sb.policies.FPL(eta=0.2), sb.policies.OSMD(eta=0.2), sb.policies.HYBRID(), sb.policies.CTS()]
games = [(feasible, policy) for feasible in (top, own, large, grid) for policy in kinds]
games = [(f, p) for f, p in games if f in (top, large) or not isinstance(p, (sb.policies.OSMD, sb.policies.HYBRID))]
outcomes = []
for patience in (float("inf"), 0.0):
    warm.PATIENCE = patience
    scores.COSTLY = 0.0
    outcomes.append([play(feasible, policy) for feasible, policy in games])
assert outcomes[0] == outcomes[1]
for policy in kinds[0], kinds[3]:
    task = dict(horizon=1001, runs=2, seed=0)
    result = sb.simulate(sb.problems.grid_path(2, 0.4), policy, **task)
    print(result.engine)
    try:
        sb.simulate(sb.problems.grid_path(2, 0.4), policy, engine="compiled", **task)
    except errors.Unsupported as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("missing", "numba cannot be imported (ModuleNotFoundError: import of numba halted; None in sys.modules)"),
        ("switched off", "numba is told not to compile (NUMBA_DISABLE_JIT)"),
    ],
)
def test_learners_and_simulations_without_numba(how: str, why: str) -> None:
    env = {**os.environ, **({"NUMBA_DISABLE_JIT": "1"} if how == "switched off" else {})}
    command = [sys.executable, "-W", "error", "-c", SCRIPT, how]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"plain Python code goes on, more slowly: {why}\n"
    auto, compiled, *others = done.stdout.splitlines()
    assert auto == f"plain loop: it cannot be compiled: {why}, in one process"
    assert compiled.endswith(f": it cannot be compiled: {why}")
    assert len(others) == 2


def play(feasible: Any, policy: Any, rounds: int = 6) -> list[list[int]]:
    learner, generator, seen = Learner(feasible, policy, seed=3), np.random.default_rng(0), []
    for _ in range(rounds):
        decision = learner.ask()
        seen.append(decision.items.tolist())
        learner.tell(decision.id, generator.random(decision.items.size))
    return seen


class Own(sets.Oracle):
    """Its oracle is no text, so that only scores are compiled."""

    def __init__(self) -> None:
        top = sets.TopK(6, 2)
        super().__init__(top.argmax, 6, 2, contains=top.contains)


GAMES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "scores": lambda: (sets.TopK(6, 2), policies.KLUCB()),
    "moves": lambda: (sets.TopK(6, 2), policies.FPL(eta=0.2)),
    "moves without an oracle": lambda: (sets.TopK(6, 2), policies.OSMD(eta=0.2)),
    "scores of moves": lambda: (Own(), policies.FPL(eta=0.2)),
    "oracle": lambda: (sets.GridPaths(2), policies.Random()),
    "oracle by NumPy": lambda: (sets.TopK(300, 2), policies.Random()),
}


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nothing had ever been compiled; plain code is tried once, and then what is quicker."""
    monkeypatch.setattr(sets_base.WarmOracle, "_warm", RecentCache(100))
    monkeypatch.setattr(warm, "_SPENT", RecentCache(100))
    monkeypatch.setattr(warm, "_PLAIN", RecentCache(100))
    monkeypatch.setattr(warm, "_SAID", set())
    patient(monkeypatch, 0.0)


def patient(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(warm, "PATIENCE", seconds)
    monkeypatch.setattr(scores, "COSTLY", 0.0)


def plainly(game: str) -> list[list[int]]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        patient(monkeypatch, math.inf)
        return play(*GAMES[game]())


FAILURES = {
    "import": ImportError("Numba needs NumPy 2.4 or less"),
    "memory": MemoryError(),
    "compiler": RuntimeError("LLVM"),
    "typing": TypeError("no such thing"),
    "depth": RecursionError("maximum recursion depth exceeded"),
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("game", GAMES)
def test_a_compiler_that_fails(
    game: str, failure: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether it does so at once, or when the code is first called; it is asked once for every text."""
    expected = plainly(game)
    for at_once in (True, False):
        asked = []

        def failing(function: Any, bindings: Any, asked: list[Any] = asked, at_once: bool = at_once) -> Any:
            asked.append((function, *bindings.items()))

            def code(*arguments: Any) -> Any:
                raise FAILURES[failure]

            return code() if at_once else code

        monkeypatch.setattr(warm, "bound", failing)
        monkeypatch.setattr(warm, "_PLAIN", RecentCache(100))
        monkeypatch.setattr(sets_base.WarmOracle, "_warm", RecentCache(100))
        assert play(*GAMES[game]()) == expected
        assert play(*GAMES[game]()) == expected
        assert 0 < len(asked) == len(set(asked))
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert len(caplog.records) == len(asked)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("game", GAMES)
def test_machine_code_that_errs(game: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """It is compared with plain code before it is trusted."""
    expected, called = plainly(game), []

    def wrong(function: Any, bindings: Any) -> Any:
        def code(*arguments: Any) -> int:
            called.append(function)
            for array in arguments[1:]:
                if isinstance(array, np.ndarray) and array.dtype == np.float64:
                    array[...] = 0.5
            if function.__name__ in ("_learn", "learn"):
                arguments[0][0][...] = 7.0
            return 1

        return code

    monkeypatch.setattr(warm, "bound", wrong)
    assert play(*GAMES[game]()) == expected
    assert 0 < len(called) == len(caplog.records)
    assert all("does not do the same as machine code" in record.getMessage() for record in caplog.records)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("game", GAMES)
def test_ctrl_c_while_it_compiles(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call ends there; a later one tries again."""
    expected, asked = plainly(game), []

    def interrupted(function: Any, bindings: Any) -> Any:
        asked.append(function)
        if len(asked) == 1:
            raise KeyboardInterrupt
        raise TypeError("no such thing")

    monkeypatch.setattr(warm, "bound", interrupted)
    feasible, policy = GAMES[game]()
    learner, generator = Learner(feasible, policy, seed=3), np.random.default_rng(0)
    seen: list[list[int]] = []
    told: list[Any] = []
    interruptions = 0
    while len(seen) < 6:
        try:
            decision = learner.outstanding[0] if learner.outstanding else learner.ask()
            if len(told) == len(seen):
                told.append(generator.random(decision.items.size))
            learner.tell(decision.id, told[-1])
            seen.append(decision.items.tolist())
        except KeyboardInterrupt:
            interruptions += 1
    assert interruptions == 1
    assert len(asked) > 1
    assert seen == expected


class TimeIsUp(Exception):
    """What a user's handler of a signal may raise."""


def times_up(number: int, frame: Any) -> None:
    raise TimeIsUp


@pytest.fixture
def handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, times_up)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("fresh", "handler")
def test_the_compiler_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would not bear it; what a handler raises is no failure of the compiler."""
    done = []

    def interrupted(function: Any, bindings: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        done.append(function)
        return lambda w, out, *others: 0

    monkeypatch.setattr(warm, "bound", interrupted)
    with pytest.raises(TimeIsUp):
        warm.agreeing(plainly, {}, lambda code: True)
    assert done == [plainly]
    assert len(warm._PLAIN) == 0
    assert signal.getsignal(signal.SIGINT) is times_up


@pytest.mark.usefixtures("handler")
def test_errors_pass_through_and_other_threads_are_left_alone() -> None:
    with pytest.raises(ZeroDivisionError), held_back():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is times_up
    seen = []

    def work() -> None:
        with held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [times_up]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it may raise anywhere
def test_handlers_are_put_back_though_one_of_them_raises() -> None:
    def late(number: int, frame: object) -> None:
        raise TimeoutError

    before = [signal.signal(number, late) for number in (signal.SIGALRM, signal.SIGTERM)]
    try:
        for attempt in range(500):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + 1e-6 * (attempt % 300))
                with held_back():
                    pass
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except TimeoutError:
                pass
            assert (signal.getsignal(signal.SIGALRM), signal.getsignal(signal.SIGTERM)) == (late, late)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in zip((signal.SIGALRM, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
