"""Compiling in the background: nobody waits, nothing is decided otherwise, and nothing is left behind."""

import gc
import importlib
import logging
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits._util.identity_cache import RecentCache
from semibandits.agent import scores
from semibandits.kernel import background, warm
from semibandits.sets import base as sets_base
from semibandits.sets.base import WarmOracle
from semibandits.types import Items, Solver
from support.forking import in_child

LONG = 60.0


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if nothing had ever been compiled; all that runs is to be, in the background."""
    monkeypatch.setattr(sets_base.WarmOracle, "_warm", RecentCache(100))
    monkeypatch.setattr(sets_base, "is_ours", lambda function: True)
    monkeypatch.setattr(warm, "_SPENT", RecentCache(100))
    monkeypatch.setattr(warm, "_PLAIN", RecentCache(100))
    monkeypatch.setattr(warm, "_SAID", set())
    monkeypatch.setattr(warm, "PATIENCE", 1e-12)
    monkeypatch.setattr(scores, "COSTLY", 0.0)
    yield
    assert background.wait(LONG)


def first_item(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
    out[0] = 0
    return 1


def oracle(function: Callable[..., int] = first_item) -> WarmOracle:
    return WarmOracle(Solver(function, (np.zeros(3),), numbers=2, integers=2), 2)


def warm_of(one: WarmOracle) -> Any:
    return one._run.__self__  # type: ignore[attr-defined]


class Compiler:
    """In the place of the real one: it is done when it is told to, and notes which threads it and its code ran in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: Any = first_item) -> None:
        self.may_end, self.begun = threading.Event(), threading.Event()
        self.compiled: list[str] = []
        self.ran: list[str] = []
        self._code = code
        monkeypatch.setattr(warm, "bound", self._bound)

    def _bound(self, function: Any, bindings: Any) -> Any:
        self.begun.set()
        assert self.may_end.wait(LONG)
        self.compiled.append(threading.current_thread().name)

        def code(*arguments: Any) -> Any:
            self.ran.append(threading.current_thread().name)
            return self._code(*arguments)

        return code


def test_plain_code_goes_on_until_machine_code_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, one, w = Compiler(monkeypatch), oracle(), np.zeros(3)
    for _ in range(5):
        assert one(w).tolist() == [0]
    assert compiler.begun.wait(LONG)
    assert [one(w).tolist() for _ in range(5)] == [[0]] * 5
    assert warm_of(one).code is None
    compiler.may_end.set()
    assert background.wait(LONG)
    assert compiler.compiled == compiler.ran == ["semibandits-compiler"]  # its first call, too
    assert one(w).tolist() == [0]
    assert compiler.ran[1:] == [threading.current_thread().name]


def test_code_that_does_something_else_is_never_used(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def wrong(w: Any, out: Any, *others: Any) -> int:
        out[0] = 1
        return 1

    compiler, one = Compiler(monkeypatch, wrong), oracle()
    compiler.may_end.set()
    for _ in range(3):
        for _ in range(3):
            assert one(np.zeros(3)).tolist() == [0]
        assert background.wait(LONG)
    assert warm_of(one).refused
    assert len(compiler.ran) == 1
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "first_item() does not do the same as machine code" in caplog.text


def test_what_is_compared_is_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller may change the arguments and the answer before the comparison."""
    compiler = Compiler(monkeypatch, lambda w, out, *others: out.__setitem__(0, int(w.argmax())) or 1)

    def largest(w: Any, out: Any, *others: Any) -> int:
        out[0] = w.index(max(w))
        return 1

    one, w = oracle(largest), np.array([0.0, 2.0, 1.0])
    for _ in range(2):
        items = one(w)
    assert items.tolist() == [1]
    items[0], w[:] = 2, [3.0, 0.0, 0.0]
    compiler.may_end.set()
    assert background.wait(LONG)
    assert warm_of(one).code is not None


def test_no_call_compiles_for_arguments_of_other_types(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, seen = Compiler(monkeypatch), warm.Warm(first_item, {})
    compiler.may_end.set()

    def plain(x: Any) -> Any:
        return x + 1

    def compiled(code: Any, x: Any) -> Any:
        compiler.ran.append(threading.current_thread().name)
        return x + 1

    for x in (np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)).T, np.zeros(4)[::2], 1.0, 1):
        compiler.ran.clear()
        for _ in range(3):
            seen.run(plain, compiled, x)
        assert background.wait(LONG)
        assert compiler.ran[:1] == ["semibandits-compiler"]
        seen.run(plain, compiled, x)
        assert compiler.ran[-1] == threading.current_thread().name


def test_weights_that_cannot_be_written_to_are_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, one, w = Compiler(monkeypatch), oracle(), np.zeros(3)
    compiler.may_end.set()
    fixed = w.copy()
    fixed.setflags(write=False)
    for _ in range(2):
        one(w)
    assert background.wait(LONG)
    one(fixed)
    assert compiler.ran == ["semibandits-compiler", threading.current_thread().name]


def test_four_threads_run_four_oracles_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in a work space of its own: one that waited for another would wait for ever."""
    monkeypatch.setattr(warm, "PATIENCE", float("inf"))
    together = threading.Barrier(4)

    def meeting(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
        out[0] = integers[0] = int(w[0])
        together.wait(LONG)
        assert integers[0] == w[0]
        return 1

    one, answers = oracle(meeting), {}
    for _ in range(3):
        threads = [
            threading.Thread(target=lambda n=n: answers.__setitem__(n, one(np.full(3, float(n))).tolist()))  # type: ignore[misc]
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        assert answers == {n: [n] for n in range(4)}
    assert len(one._free_lists) == 4


def test_an_interrupted_work_space_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", float("inf"))
    fails = [True]

    def failing(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
        assert integers == [0, 0]
        integers[0] = 7
        if fails:
            raise KeyboardInterrupt
        integers[0] = 0
        return 0

    one = oracle(failing)
    with pytest.raises(KeyboardInterrupt):
        one(np.zeros(3))
    fails.clear()
    assert one(np.zeros(3)).size == 0


def test_nothing_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The garbage collector is as it was, and what somebody else sets meanwhile stays."""
    before = gc.get_threshold()
    inside = []

    def looking() -> None:
        inside.append((gc.get_threshold(), sys.gettrace() is not None or sys.getprofile() is not None))

    assert background.submit(looking)
    assert background.wait(LONG)
    assert inside == [((*before[:2], background.NEVER), True)]
    assert gc.get_threshold() == before
    background.submit(lambda: gc.set_threshold(900, 9, 9))
    assert background.wait(LONG)
    assert gc.get_threshold() == (900, 9, 9)
    gc.set_threshold(*before)


def test_a_job_that_fails_is_not_the_last(caplog: pytest.LogCaptureFixture) -> None:
    done: list[int] = []
    background.submit(lambda: sys.exit(3))
    background.submit(lambda: done.append(1))
    assert background.wait(LONG)
    assert done == [1]
    assert "SystemExit" in caplog.text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_compiles_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, one = Compiler(monkeypatch), oracle()
    compiler.may_end.set()
    for _ in range(2):
        one(np.zeros(3))
    assert background.wait(LONG)
    other = oracle(lambda *arguments: first_item(*arguments))
    before = gc.get_threshold()

    def work() -> Any:
        for _ in range(2):
            other(np.zeros(3))
        waited = background.wait(LONG)
        return [waited, warm_of(other).code is not None, gc.get_threshold() == before, one(np.zeros(3)).tolist()]

    assert in_child(work) == repr([True, True, True, [0]])


EXIT = """
import os, sys, threading
import numpy as np
import semibandits as sb
from semibandits.kernel import background, warm
warm.PATIENCE = 1e-12
edges = [(node, node - 1) for node in range(1, 60)] + [(node, 0) for node in range(2, 60)]
learner = sb.Learner(sb.sets.GraphicMatroid(edges), seed=1)
passed, limit, met = [0], int(sys.argv[1]), threading.Event()
pause = background.time.sleep
def counted(seconds):
    passed[0] += 1
    if passed[0] >= limit:
        met.set()
    pause(0.0)
class Time:
    sleep = staticmethod(counted)
    perf_counter = staticmethod(background.time.perf_counter)
background.time = Time
for _ in range(3):
    learner.ask()
met.wait(60)
print("the end")
"""


@pytest.mark.parametrize(
    "rests", [1, *[pytest.param(n, marks=pytest.mark.long) for n in (50, 500, 2000, 5000, 10_000)]]
)
def test_the_interpreter_may_end_in_the_midst(rests: int, tmp_path: Any) -> None:
    environment = {**os.environ, "SEMIBANDITS_CACHE": str(tmp_path)}
    command = [sys.executable, "-X", "dev", "-c", EXIT, str(rests)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the end\n", "")


# Learners


def play(learner: Learner, rounds: int) -> list[list[int]]:
    generator, seen = np.random.default_rng(0), []
    for _ in range(rounds):
        decision = learner.ask()
        seen.append(decision.items.tolist())
        learner.tell(decision.id, generator.random(decision.items.size))
    return seen


GAMES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "scores": lambda: (sets.TopK(6, 2), policies.KLUCB()),
    "kernels": lambda: (sets.TopK(6, 2), policies.FPL(eta=0.2)),
    "oracle": lambda: (sets.GridPaths(2), policies.CTS()),
}
MACHINE_CODE = {
    "scores": ("score_items",),
    "kernels": ("_choose", "_learn"),
    "oracle": ("score_items", "best_path"),
}


@pytest.mark.parametrize("game", GAMES)
def test_the_change_is_not_noticed(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    never, soon = (Learner(*GAMES[game](), seed=4, compile=compile) for compile in (False, True))
    expected, seen = play(never, 12), play(soon, 6)
    assert background.wait(LONG)
    assert seen == expected[:6]
    assert soon.warm_up() == MACHINE_CODE[game]
    assert soon.round == 6
    monkeypatch.setattr(warm, "bound", None)  # all is there
    again = Learner(*GAMES[game](), seed=4)
    assert play(again, 12) == expected


@pytest.mark.parametrize("game", GAMES)
def test_warmed_up_it_decides_alike(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, ready = (Learner(*GAMES[game](), seed=4, compile=compile) for compile in (False, True))
    assert play(plain, 4) == play(ready, 4)
    before = ready._snapshot()
    assert ready.warm_up() == ready.warm_up() == MACHINE_CODE[game]
    after = ready._snapshot()
    assert msgspec.json.encode(before) == msgspec.json.encode(after)
    monkeypatch.setattr(background, "submit", None)  # nothing is left to be compiled
    assert play(plain, 12) == play(ready, 12)
    assert plain.warm_up() == ()


class Own(sets.Oracle):
    """A user's solver, which counts how often it is asked."""

    def __init__(self) -> None:
        self.asked, top = 0, sets.TopK(6, 2)

        def solver(weights: Any) -> Items:
            self.asked += 1
            return top.argmax(weights)

        super().__init__(solver, 6, 2, contains=top.contains)


def test_a_users_solver_is_not_called_to_warm_up() -> None:
    for policy, had in ((policies.CTS(), ("score_items",)), (policies.FPL(eta=0.1), ("score_each",))):
        learner = Learner(own := Own(), policy, seed=1)
        asked = own.asked
        assert learner.warm_up() == had
        assert own.asked == asked
    assert Learner(sets.TopK(5, 2), policies.Fixed([1, 2]), seed=1).warm_up() in ((), ("score_items",))


def test_one_learner_compiles_and_another_on_the_same_set_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, feasible = Compiler(monkeypatch), sets.GridPaths(2)
    compiler.may_end.set()
    never = Learner(feasible, policies.Random(), seed=1, compile=False)
    play(never, 10)
    never.best(), never.scores()
    assert background.wait(LONG)
    assert not compiler.begun.is_set()
    ready = Learner(feasible, policies.Random(), seed=1)
    monkeypatch.undo()
    ready.warm_up()
    code, used = warm_of(feasible._live).code, []
    warm_of(feasible._live).code = lambda *arguments: used.append(1) or code(*arguments)
    play(never, 10)
    assert not used
    play(ready, 3)
    assert used


def test_never_is_never(tmp_path: Any) -> None:
    """No compiler is imported, neither for the set nor to save and load."""
    script = """
import sys
import semibandits as sb
from semibandits.kernel import warm
warm.PATIENCE = 0.0
learner = sb.Learner(sb.sets.GridPaths(3), seed=1, compile=False)
for policy in (sb.policies.CTS(), sb.policies.FPL(eta=0.1)):
    for feasible in (sb.sets.GridPaths(3), sb.sets.TopK(300, 2)):
        learner = sb.Learner(feasible, policy, seed=1, compile=False)
        for _ in range(5):
            decision = learner.ask()
            learner.tell(decision.id, [0.5] * decision.items.size)
        learner.best(), learner.estimates, learner.warm_up()
        if isinstance(policy, sb.policies.CTS):
            learner.scores()
        learner.save(sys.argv[1], overwrite=True)
        learner = sb.Learner.load(sys.argv[1], feasible, compile=False)
        learner.ask(available=list(range(feasible.n_items)))
        learner.ask(n=2)
        assert "numba" not in sys.modules
"""
    command = [sys.executable, "-c", script, str(tmp_path / "learner.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_bad_input(tmp_path: Any) -> None:
    with pytest.raises(errors.BadArgument, match="compile must be True or False, got 'no'"):
        Learner(sets.TopK(3, 1), compile="no")  # type: ignore[arg-type]
    Learner(sets.TopK(3, 1), seed=1).save(tmp_path / "one")
    with pytest.raises(errors.BadArgument, match="compile must be True or False, got 1"):
        Learner.load(tmp_path / "one", sets.TopK(3, 1), compile=1)  # type: ignore[arg-type]


def test_warnings_are_left_to_others() -> None:
    """Filters that another thread has set meanwhile are not undone, nor do they stay when it has taken them back."""
    warm_up = Learner(sets.TopK(4, 2), policies.CTS(), seed=0)
    warm_up.warm_up()  # numba is there
    fixers = importlib.import_module("numba.core.errors")
    begun, go_on = threading.Event(), threading.Event()

    def collects() -> None:
        with fixers.WarningsFixer(fixers.NumbaWarning).catch_warnings("file", 1):
            begun.set()
            go_on.wait(LONG)

    before = list(warnings.filters), warnings.showwarning
    assert background.submit(collects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun.wait(LONG)
    go_on.set()
    assert background.wait(LONG)
    assert (list(warnings.filters), warnings.showwarning) == before
    with warnings.catch_warnings():
        background.submit(collects)
        warnings.simplefilter("ignore", ResourceWarning)
        assert background.wait(LONG)
        assert warnings.filters[0][2] is ResourceWarning
    assert (list(warnings.filters), warnings.showwarning) == before
