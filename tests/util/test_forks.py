"""Children forked while other threads are at work: they find no lock held for ever, and nothing half-done."""

import functools
import gc
import importlib
import os
import pkgutil
import signal
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semibandits
from semibandits import Learner, Problem, environments, policies, sets
from semibandits._util import forks
from semibandits._util.forks import ForkLock, cached_property
from semibandits.kernel.warm import taken
from support.forking import MARKS, PATIENCE, in_child, meanwhile, slow_set

pytestmark = MARKS


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "GRACE", 0.02)


def test_a_property_that_another_thread_works_out() -> None:
    pauses: list[Callable[[], object]] = []
    slow = Problem(slow_set(pauses), environments.Bernoulli([0.9, 0.8, 0.1]))
    other = Problem(sets.TopK(3, 2), environments.Bernoulli([0.1, 0.8, 0.9]))

    def work(pause: Callable[[], object]) -> None:
        pauses.append(pause)
        _ = slow.optimum

    with meanwhile(work):
        assert in_child(lambda: (other.optimum.tolist(), slow.optimum.tolist())) == "([1, 2], [0, 1])"
    assert slow.optimum.tolist() == [0, 1]


def test_an_ask_that_waits_for_a_slow_solver() -> None:
    pauses: list[Callable[[], object]] = []
    learner = Learner(slow_set(pauses), policies.CombUCB1(init="optimistic"), seed=0)
    learner.tell(learner.ask().id, [0.5, 0.25])

    def work(pause: Callable[[], object]) -> None:
        pauses.append(pause)
        learner.ask()

    def play() -> object:
        decision = learner.ask()
        return decision.items.tolist(), learner.tell(decision.id, [0.5, 0.25]), learner.round, learner.counts.tolist()

    with meanwhile(work):
        assert in_child(play) == "([0, 1], 2, 2, [2, 2, 0])"
    assert learner.round == 2  # that of the other thread
    assert learner.counts.tolist() == [1, 1, 0]


def test_a_learner_that_is_just_being_saved(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(sets.TopK(3, 2), policies.CombUCB1(), seed=0)

    def work(pause: Callable[[], object]) -> None:
        with learner._saving:
            pause()

    with meanwhile(work):
        assert in_child(lambda: learner.save(tmp_path / "child.json")) == "None"
    assert Learner.load(tmp_path / "child.json", sets.TopK(3, 2)).round == 0


def test_an_oracle_in_the_midst_of_its_work_space() -> None:
    """The space that another thread works in is not among the free ones: the child never sees it."""
    feasible = sets.GraphicMatroid([(0, 1), (1, 2), (0, 2), (2, 3)])
    weights = np.array([0.3, 0.2, 0.4, 0.1])
    expected = feasible.argmax(weights).tolist()
    live = feasible._live
    solver = live._solver

    def work(pause: Callable[[], object]) -> None:
        def pausing(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
            integers[:] = [3] * len(integers)
            pause()
            return 0

        live._solver = solver._replace(function=pausing)
        live._plain(weights)

    with meanwhile(work):
        live._solver = solver
        assert live._free_lists == []
        assert in_child(lambda: feasible.argmax(weights).tolist()) == repr(expected)
        assert feasible.argmax(weights).tolist() == expected


def test_moves_in_the_midst_of_their_work_space() -> None:
    feasible, policy = sets.TopK(4, 2), policies.FPL(eta=0.1)
    learner = Learner(feasible, policy, seed=0)
    twin = Learner(feasible, policies.FPL(eta=0.1), seed=0)
    moves = policy.live(feasible)

    def work(pause: Callable[[], object]) -> None:
        def pausing(*arguments: Any) -> int:
            arguments[1][:] = 77
            pause()
            return 0

        moves._chosen(pausing, taken(moves._free, moves._make_room), (), 1, 1)

    with meanwhile(work):
        assert in_child(lambda: learner.ask().items.tolist()) == repr(twin.ask().items.tolist())


def test_a_search_of_highs_in_the_midst_of_its_work() -> None:
    pytest.importorskip("highspy")
    feasible = sets.MILP(np.ones((1, 3)), upper=[2.0])
    expected = feasible.argmax([0.3, 0.2, 0.4]).tolist()

    def work(pause: Callable[[], object]) -> None:
        with feasible._search.lock:
            feasible._search._model.clear()
            pause()

    with meanwhile(work):
        assert in_child(lambda: feasible.argmax([0.3, 0.2, 0.4]).tolist()) == repr(expected)


def test_what_the_forking_thread_holds_it_holds_in_the_child_too() -> None:
    lock = ForkLock()

    def takes_it() -> bool:
        done = []
        thread = threading.Thread(target=lambda: done.append(lock.acquire(timeout=0.05)), daemon=True)
        thread.start()
        thread.join(PATIENCE)
        return done[0]  # type: ignore[no-any-return]

    with lock, lock:
        child = in_child(lambda: (takes_it(), lock.__exit__(), takes_it(), lock.__exit__(), takes_it()))
        assert child == "(False, None, False, None, True)"
        assert not takes_it()
    assert takes_it()


def test_what_others_hold_for_a_moment_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "GRACE", PATIENCE)
    lock, whole = ForkLock(), []

    def work(pause: Callable[[], object]) -> None:
        with lock:
            whole.append(1)
            threading.Timer(0.1, go_on.set).start()
            pause()
            go_on.wait(PATIENCE)
            whole.append(2)

    go_on = threading.Event()
    inside = threading.Event()
    thread = threading.Thread(target=work, args=(inside.set,))
    thread.start()
    inside.wait(PATIENCE)
    assert in_child(lambda: whole) == "[1, 2]"
    thread.join()


def test_a_compiler_at_work_is_waited_for() -> None:
    from semibandits.kernel import compiler

    compiler._primitives()  # imports numba
    from numba.core.compiler_lock import global_compiler_lock

    inside, go_on = threading.Event(), threading.Event()

    def work() -> None:
        with global_compiler_lock:
            inside.set()
            threading.Timer(0.1, go_on.set).start()
            go_on.wait(PATIENCE)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(PATIENCE)
    assert in_child(lambda: global_compiler_lock._lock.acquire(timeout=1.0)) == "True"
    thread.join()
    with global_compiler_lock:  # and is free again
        pass


def test_threads_that_fork_at_the_same_time() -> None:
    learner = Learner(sets.TopK(3, 2), policies.CombUCB1(), seed=0)
    said: list[str] = []
    threads = [
        threading.Thread(target=lambda: said.append(in_child(lambda: learner.ask().items.tolist()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == ["[0, 1]"] * 4
    assert learner.round == 0


def test_locks_are_forgotten_with_their_owners() -> None:
    gc.collect()
    before = len(forks._LOCKS)
    learner = Learner(sets.TopK(3, 2), policies.CombUCB1(), seed=0)
    learner.ask()
    assert len(forks._LOCKS) > before
    gone = weakref.ref(learner)
    del learner
    gc.collect()
    assert gone() is None
    assert len(forks._LOCKS) == before


def test_two_threads_that_work_out_a_property_agree() -> None:
    class Thing:
        @cached_property
        def value(self) -> object:
            barrier.wait(PATIENCE)
            return object()

    barrier, thing, found = threading.Barrier(2), Thing(), []
    threads = [threading.Thread(target=lambda: found.append(thing.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is thing.value
    assert isinstance(Thing.value, functools.cached_property)


def test_nothing_in_the_package_has_a_lock_of_another_kind() -> None:
    names = [module.name for module in pkgutil.walk_packages(semibandits.__path__, "semibandits.")]
    wrong = []
    for name in names:
        if name.endswith("__main__"):
            continue
        module = importlib.import_module(name)
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == name]
        wrong += [kind for kind in kinds for value in vars(kind).values() if type(value) is functools.cached_property]
    assert wrong == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
def test_a_fork_that_a_signal_handler_interrupts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python goes on with the fork: the child's locks are free nevertheless."""
    begun, over = threading.Event(), threading.Event()

    def best(weights: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            over.wait(PATIENCE)
        return np.argsort(-weights, kind="stable")[:2]

    def late(number: int, frame: object) -> None:
        raise TimeoutError

    learner = Learner(sets.Oracle(best, n_items=5, max_size=2), policies.CombUCB1(), seed=1)
    learner.tell(learner.ask().id, [0.5, 0.5])
    thread = threading.Thread(target=learner.ask)
    before = signal.signal(signal.SIGALRM, late)
    hook = sys.unraisablehook
    sys.unraisablehook = lambda said: None
    thread.start()
    assert begun.wait(PATIENCE)
    monkeypatch.setattr(forks, "GRACE", PATIENCE)  # it is the signal that ends the wait
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(PATIENCE))  # against hanging
            learner.ask()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
        over.set()
        thread.join()
