"""A store notices when the code or the data that its runs come from have changed."""

import ctypes
import enum
import functools
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, errors, policies, problems, sets, simulate
from semibandits._util.fingerprint import Fingerprint, digest, fingerprint
from semibandits.simulation import store as store_module
from support import users_project


def made_of(folder: Path, solver: str, edit: tuple[str, str, str] | None = None) -> Fingerprint:
    users_project.write(folder, edit)
    with users_project.imported(folder) as plan:
        problem = plan.problem(plan.solvers()[solver])
        return fingerprint((problem.feasible, problem.environment))


@pytest.mark.parametrize("name", users_project.EDITS)
def test_edits_are_noticed(tmp_path: Path, name: str) -> None:
    solver = name.partition(" #")[0]
    before = made_of(tmp_path, solver)
    assert before.unseen == ()
    assert made_of(tmp_path, solver) == before
    after = made_of(tmp_path, solver, users_project.EDITS[name])
    assert after.digest != before.digest
    assert after.parts != before.parts or solver == "partial"


@pytest.mark.parametrize("name", users_project.NO_EDITS)
def test_what_changes_nothing_is_not_noticed(tmp_path: Path, name: str) -> None:
    for solver in ("imported_function", "in_function", "a_file", "a_file_in_a_folder", "instance", "partial"):
        before = made_of(tmp_path, solver)
        assert made_of(tmp_path, solver, users_project.NO_EDITS[name]).digest == before.digest


SCRIPT = """
import sys
import warnings
import semibandits as sb
import plan
warnings.simplefilter("error")
result = sb.simulate(plan.problem(plan.solvers()[sys.argv[2]]), sb.policies.CombUCB1(), horizon=30, runs=2, seed=1,
                     store=sys.argv[1])
print(result.regret.sum())
"""


def started(folder: Path, cwd: Path, *arguments: str, seed: str = "0") -> str:
    """What a process of its own says, or raises in the end."""
    known = f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    here = {**os.environ, "PYTHONPATH": known, "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    script = [sys.executable, str(folder / "script.py"), *arguments]
    done = subprocess.run(script, capture_output=True, text=True, cwd=cwd, env=here, check=False)
    return done.stdout or done.stderr.splitlines()[-1]


@pytest.mark.parametrize("solver", ["instance", pytest.param("a_file", marks=pytest.mark.long)])
def test_another_process_knows_what_has_changed(tmp_path: Path, solver: str) -> None:
    folder, store = tmp_path / "project", str(tmp_path / "store")
    users_project.write(folder)
    (folder / "script.py").write_text(SCRIPT)
    first = started(folder, folder, store, solver)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder, elsewhere)
    assert started(elsewhere, tmp_path, store, solver, seed="77") == first
    assert float(first) > 0.0
    users_project.write(folder, users_project.EDITS["instance" if solver == "instance" else "a_file"])
    what = "plan.Solver.table" if solver == "instance" else "the file prices.csv"
    assert f"{what} is changed since" in started(folder, folder, store, solver)


class Everything:
    """As users' objects are: they know each other, and remember."""

    def __init__(self) -> None:
        self.me = self
        self.others = [self, {"me": self}, (self,)]
        self.lock = threading.RLock()
        self.chances = random.Random(3), np.random.default_rng(3)
        self.nodes = {Node(1, self), Node(2, self)}

    @cached_property
    def total(self) -> float:
        return 3.0

    @staticmethod
    @lru_cache
    def remembered(x: float) -> float:
        return x

    def __call__(self, w: Any) -> list[int]:
        return [int(np.argmax(w * self.total * self.remembered(2.0)))]


class Node:
    def __init__(self, number: int, owner: object) -> None:
        self.number, self.owner = number, owner


def test_objects_are_the_same_after_use() -> None:
    fresh, used = Everything(), Everything()
    assert used(np.ones(3)) == [0]
    with used.lock:
        assert digest(fresh) == digest(used)
    used.chances[1].random()
    assert digest(fresh) != digest(used)


def test_long_chains_are_followed_to_their_end() -> None:
    def chained(last: float) -> Any:
        known: dict[str, Any] = {"__name__": "chained"}
        lines = [f"def f{i}(x):\n    return f{i + 1}(x)\n" for i in range(400)]
        exec("".join(lines) + f"def f400(x):\n    return x * {last}\n", known)
        return known["f0"]

    def linked(last: float) -> Any:
        node = Node(0, last)
        for number in range(1500):
            node = Node(number, node)
        return node

    for make in (chained, linked):
        assert digest(make(0.5)) == digest(make(0.5)) != digest(make(0.25))


class Shade(enum.Flag):
    RED = 1
    BLUE = 2


class Metres(float):
    """A number with ways of its own."""

    factor = 0.5

    def __mul__(self, other: Any) -> float:
        return float(self) * other * self.factor


def test_kinds_of_numbers_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(Shade.RED)
    assert Shade.RED | Shade.BLUE  # which is remembered
    assert digest(Shade.RED) == before != digest(Shade.BLUE)
    before = digest(Metres(3.0))
    monkeypatch.setattr(Metres, "factor", 0.25)
    assert digest(Metres(3.0)) != before


def test_what_is_put_into_classes_of_this_package_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest(policies.CombUCB1())
    monkeypatch.setattr(policies.CombUCB1, "score", staticmethod(lambda s, c, key, item, p: s[1]))
    assert digest(policies.CombUCB1()) != before
    one = sets.TopK(6, 2)
    before = digest(one)
    one.argmax = lambda weights: np.array([0, 1])  # type: ignore[method-assign]
    assert digest(one) != before


def test_what_a_function_chooses_by_kind_counts() -> None:
    def choosing(factor: float) -> Any:
        @functools.singledispatch
        def choose(x: Any) -> Any:
            return x

        @choose.register
        def _(x: int) -> float:
            return x * factor

        return choose

    used = choosing(0.5)
    assert used(2) == 1.0
    assert digest(used) == digest(choosing(0.5)) != digest(choosing(0.25))


def reads_the_clock(w: Any) -> list[int]:
    return [int(time.time()) % 3]


def reads_the_environment(w: Any) -> list[int]:
    return [len(os.environ.get("MODE", ""))]


def draws(w: Any) -> list[int]:
    return [random.randrange(3)]


def draws_afresh(w: Any) -> list[int]:
    return [int(np.random.default_rng().integers(3))]


def opens(w: Any, number: int = 3) -> list[int]:
    with open(f"weights_{number}.txt") as file:
        return [int(file.read())]


def lists(w: Any) -> list[int]:
    return [len(list(Path(".").glob("*.csv")))]


def calls(w: Any) -> list[int]:
    import subprocess

    return [len(subprocess.run(["true"], check=False).args)]


def writes(w: Any) -> list[int]:
    with open("answers.log", "a") as file:
        file.write("asked")
    return [0]


class Holder:
    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __call__(self, w: Any) -> list[int]:
        return [0]


@pytest.mark.parametrize(
    ("solver", "says"),
    [
        (reads_the_clock, "reads_the_clock() in test_stale_code.py uses time.time"),
        (reads_the_environment, "reads_the_environment() in test_stale_code.py uses os.environ.get"),
        (draws, "uses random.randrange"),
        (draws_afresh, "uses numpy.random.default_rng() without a seed"),
        (opens, "opens() in test_stale_code.py opens a file whose name is not seen (builtins.open)"),
        (partial(opens, number=4), "opens a file whose name is not seen"),
        (lists, "lists a folder"),
        (calls, "uses subprocess"),
        (Holder(ctypes.CDLL(None)), "Holder holds a ctypes.CDLL"),
        (Holder(threading.Thread()), "Holder holds a threading.Thread"),
        (Holder(number for number in range(3)), "Holder holds a builtins.generator"),
    ],
)
def test_what_cannot_be_seen_is_said(tmp_path: Path, solver: Any, says: str) -> None:
    assert says in "; ".join(fingerprint(solver).unseen)


def test_the_environment_is_said_and_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(reads_the_environment)
    monkeypatch.setenv("MODE", "other")
    assert fingerprint(reads_the_environment) == before


def load(name: str) -> Any:
    return np.loadtxt(name)


def loads_what_is_named(w: Any) -> Any:
    return load("named.txt")


def loads_what_is_put_together(w: Any) -> Any:
    Path("named.txt").read_text()
    return load("named" + str(len(w)))


def test_a_file_that_another_function_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.txt").write_text("1.0")
    before = fingerprint(loads_what_is_named)
    assert before.unseen == ()
    (tmp_path / "named.txt").write_text("2.0")
    assert fingerprint(loads_what_is_named).digest != before.digest
    assert fingerprint(loads_what_is_put_together).unseen == (
        "load() in test_stale_code.py opens a file whose name is not seen (numpy.loadtxt)",
    )


def test_large_things_of_all_kinds() -> None:
    def numbered(values: list[Any]) -> Any:
        return lambda w: values[0]

    for other in (10**6000, "b", -0.0, True, 1):
        assert digest(numbered(["a"] * 300 + [0.0])) != digest(numbered(["a"] * 300 + [other]))


def test_open_files_and_sockets_cannot_be_seen(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (tmp_path / "file").open() as file, socket.socket() as connection:
        assert "holds a _io.TextIOWrapper" in fingerprint(Holder(file)).unseen[0]
        assert "holds a socket.socket" in fingerprint(Holder(connection)).unseen[0]


def test_a_file_that_is_but_written_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before = fingerprint(writes)
    assert before.unseen == ()
    writes(None)
    assert fingerprint(writes) == before


def world(solver: Any) -> Problem:
    return Problem(sets.Oracle(solver, 3, 1), environments.Bernoulli([0.2, 0.5, 0.9]))


def unsteady(w: Any) -> list[int]:
    return [int(np.argmax(w + 0.0 * time.time()))]


def play(problem: Problem, store: Path, policy: Any = None, seed: int = 0) -> Any:
    one = policies.CombUCB1() if policy is None else policy
    return simulate(problem, one, horizon=20, runs=2, seed=seed, store=store, checkpoints=[20])


def test_a_store_says_what_it_cannot_see(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.warns(errors.UnseenCode, match=r"unsteady\(\) in test_stale_code\.py uses time\.time") as said:
            play(world(unsteady), tmp_path)
        assert len(said) == 1
        note = json.loads((tmp_path / "experiment.json").read_text())
        assert note["unseen"] == ["unsteady() in test_stale_code.py uses time.time"]


def test_what_a_later_policy_hides_is_added_to_the_note(tmp_path: Path) -> None:
    class Timed(policies.CombUCB1):
        @staticmethod
        def score(s: Any, c: Any, key: Any, item: Any, p: Any) -> Any:
            return s[1] / s[0] + 0.0 * time.time()

    play(problems.grid_path(2, 0.4), tmp_path)
    assert json.loads((tmp_path / "experiment.json").read_text())["unseen"] == []
    with pytest.warns(errors.UnseenCode, match="Timed"):
        play(problems.grid_path(2, 0.4), tmp_path, Timed())
    assert "Timed" in json.loads((tmp_path / "experiment.json").read_text())["unseen"][0]


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = problems.grid_path(2, 0.4)
    play(grid, tmp_path)
    monkeypatch.setattr(store_module, "edition", lambda: {"semibandits": "0.2.0 (code 12345678)"})
    with pytest.raises(
        errors.BadState,
        match=r"was written by semibandits 0.* \(code .*\), this is semibandits 0\.2\.0 .*another folder",
    ):
        play(grid, tmp_path)
    note = json.loads((tmp_path / "experiment.json").read_text())
    del note["written_by"]
    (tmp_path / "experiment.json").write_text(json.dumps(note))
    with pytest.raises(errors.BadState, match="was written by an earlier version of semibandits, this is"):
        play(grid, tmp_path)


def test_blocks_of_another_seed_are_refused(tmp_path: Path) -> None:
    grid = problems.grid_path(2, 0.4)
    play(grid, tmp_path / "a")
    play(grid, tmp_path / "b", seed=1)
    for file in (tmp_path / "b").glob("*.npz"):
        shutil.copy(file, tmp_path / "a")
    with pytest.raises(errors.BadState, match=r"-0\.npz holds runs of another experiment: was it copied or renamed"):
        play(grid, tmp_path / "a")


def test_blocks_of_another_policy_are_refused(tmp_path: Path) -> None:
    grid = problems.grid_path(2, 0.4)
    play(grid, tmp_path)
    mine = {file.name[:16] for file in tmp_path.glob("*.npz")}.pop()
    play(grid, tmp_path, policies.CombUCB1(alpha=0.5))
    other = next(file for file in tmp_path.glob("*-0.npz") if not file.name.startswith(mine))
    shutil.copy(other, tmp_path / f"{mine}-0.npz")
    with pytest.raises(errors.BadState, match="holds runs of another policy"):
        play(grid, tmp_path)


def test_renamed_blocks_are_refused(tmp_path: Path) -> None:
    grid = problems.grid_path(2, 0.4)
    whole = play(grid, tmp_path)
    first = next(tmp_path.glob("*-0.npz"))
    first.rename(first.with_name(first.name.replace("-0", "-7")))
    with pytest.raises(errors.BadState, match="holds runs from 0 on, not from 7"):
        play(grid, tmp_path)
    (tmp_path / first.name.replace("-0", "-7")).unlink()
    np.testing.assert_array_equal(play(grid, tmp_path).regret, whole.regret)
