"""Code of the user's own that is sent to where its files are not."""

import pickle
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import semibandits as sb
from semibandits.errors import Unsupported
from semibandits.simulation import by_value, schedule
from semibandits.simulation.parcel import Parcel, opened

NAMES = ("byv_solver", "byv_helpers", "byv_package", "byv_package.inner")

SOLVER = """
import functools
import byv_helpers
import byv_package.inner
from byv_helpers import Chooser

SCALE = 2.0

class Best(Chooser):
    def __call__(self, weights):
        return [super().pick([SCALE * weight for weight in weights])]

def best(weights):
    byv_helpers.count()
    assert byv_helpers.calls == byv_helpers.how_many() == byv_package.inner.counted() > 0
    return [names().index(byv_helpers.largest(weights))]

@functools.lru_cache(maxsize=7)
def names():
    return (0, 1, 2)
"""
HELPERS = """
import byv_solver

calls = 0

def count():
    global calls
    calls += 1

def how_many():
    return calls

def largest(weights):
    return max(byv_solver.names(), key=lambda item: weights[item])

class Chooser:
    def pick(self, weights):
        return weights.index(max(weights))
"""
INNER = """
from byv_helpers import how_many

def counted():
    return how_many()
"""


def forget() -> None:
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.fixture
def solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Modules that name each other."""
    (tmp_path / "byv_package").mkdir()
    files = {"byv_solver": SOLVER, "byv_helpers": HELPERS, "byv_package/__init__": "", "byv_package/inner": INNER}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import byv_solver  # type: ignore[import-not-found]

    yield byv_solver
    forget()


def sent(thing: object, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The thing as it is opened where these modules are not."""
    data = pickle.dumps(Parcel(thing))
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not (Path(path) / "byv_solver.py").exists()])
    forget()
    return opened(pickle.loads(data))


def test_modules_travel_with_the_functions_and_classes_that_name_them(
    solver: types.ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cloudpickle.list_registry_pickle_by_value()
    best, chooser, names = sent((solver.best, solver.Best(), solver.names), monkeypatch)
    assert [best([0.1, 0.9, 0.3]), best([0.9, 0.1, 0.3]), chooser([0.1, 0.2, 0.9])] == [[1], [0], [2]]
    assert names() == (0, 1, 2)
    assert names.cache_parameters()["maxsize"] == 7
    assert not set(NAMES) & set(sys.modules)
    assert cloudpickle.list_registry_pickle_by_value() == before


def test_a_problem_made_of_them_is_played_alike(solver: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = sb.sets.Oracle(solver.best, n_items=3, max_size=1)
    problem = sb.Problem(oracle, sb.environments.Bernoulli([0.1, 0.5, 0.9]))

    def play(problem: sb.Problem) -> Any:
        return sb.simulate(problem, sb.policies.CombUCB1(), horizon=30, runs=2, seed=0).regret

    here = play(problem)
    np.testing.assert_array_equal(play(sent(problem, monkeypatch)), here)


def test_code_that_cannot_travel_must_be_there(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import byv_helpers  # type: ignore[import-not-found]

    byv_helpers.file = sys.stdout  # which cannot be pickled, like anything that is open
    assert opened(pickle.loads(pickle.dumps(Parcel(solver.best)))) is solver.best
    with pytest.raises(Unsupported, match=r"No module named 'byv_solver'. Code of your own could not be sent along \("):
        sent(solver.best, monkeypatch)


def test_much_data_does_not_travel_with_the_code(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_value, "LARGE", 2**20)
    import byv_helpers

    byv_helpers.table = np.zeros(2**18)
    assert opened(pickle.loads(pickle.dumps(Parcel(solver.best)))) is solver.best
    with pytest.raises(Unsupported, match=r"could not be sent along \(it takes 2 MiB\): it must be importable there"):
        sent(solver.best, monkeypatch)


def test_what_is_installed_travels_by_name() -> None:
    assert opened(pickle.loads(pickle.dumps(Parcel(np.linalg.norm)))) is np.linalg.norm
    assert opened(pickle.loads(pickle.dumps(Parcel(sb.problems.grid_path)))) is sb.problems.grid_path


def test_it_is_packed_once_and_only_where_it_leaves() -> None:
    class Thing:
        packed = 0

        def __getstate__(self) -> dict[str, Any]:
            Thing.packed += 1
            return {}

    thing = Thing()
    parcel = Parcel(thing)
    assert opened(parcel) is thing
    assert Thing.packed == 0
    copies = [pickle.loads(pickle.dumps(parcel)) for _ in range(3)]
    assert Thing.packed == 1
    again = pickle.loads(pickle.dumps(copies[0]))  # as a scheduler passes it on
    assert type(opened(again)).__name__ == "Thing"
    assert Thing.packed == 1
    assert parcel.__dask_tokenize__() == parcel.__dask_tokenize__() != Parcel(thing).__dask_tokenize__()


def test_what_a_module_holds_now_is_played_in_processes_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Processes of our own would find the module's file, and in it what the module held at first."""
    (tmp_path / "byv_moving.py").write_text(
        "SCALE = 1.0\n\ndef best(weights):\n    return [int((SCALE * weights).argmax())]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    moving = __import__("byv_moving")
    monkeypatch.setattr(schedule, "FEW_SECONDS", 0.0)
    problem = sb.Problem(sb.sets.Oracle(moving.best, n_items=3, max_size=1), sb.environments.Bernoulli([0.2, 0.5, 0.9]))
    moving.SCALE = np.array([3.0, 1.0, 1.0])
    options: dict[str, Any] = {"horizon": 30, "runs": 2, "seed": 0}
    here, there = (sb.simulate(problem, sb.policies.CTS(), threads=threads, **options) for threads in (1, 2))
    assert there.engine.endswith("in 2 processes")
    np.testing.assert_array_equal(there.regret, here.regret)
