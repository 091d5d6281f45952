"""Import paths of the version before, keywords and pickles: known for one more release."""

import base64
import importlib
import json
import pickle
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits._util import checks, moved
from semibandits.policies.solution import CompiledPolicy, PolicyKernels
from semibandits.types import Solver

BEFORE = Path(__file__).parent / "data" / "before"
PICKLES = json.loads((BEFORE / "pickles.json").read_text())
OLD = [moved.PREFIX + name for name in moved.MOVED]


@pytest.fixture(autouse=True)
def _as_if_never_imported() -> None:
    for name in OLD:
        if sys.modules.pop(name, None) is not None:
            home, _, last = name.rpartition(".")
            vars(sys.modules[home]).pop(last, None)


def old_module(name: str) -> Any:
    with pytest.warns(DeprecationWarning, match=f"{name} is now semibandits") as seen:
        found = importlib.import_module(name)
    assert len(seen) == 1
    return found


@pytest.mark.parametrize("name", OLD)
def test_a_moved_module_is_found(name: str) -> None:
    found = old_module(name)
    new = importlib.import_module(moved.PREFIX + moved.MOVED[name.removeprefix(moved.PREFIX)])
    if found is not new:
        public = [one for one in vars(new) if not one.startswith("_")]
        renamed = {old.rpartition(".")[2] for old in moved.RENAMED}
        assert all(getattr(found, one) is getattr(new, one) for one in public if one not in renamed)
    assert new.__spec__.name == new.__name__ != name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert importlib.import_module(name) is found  # said once


def test_no_moved_module_hides_one_that_is_there() -> None:
    for name in OLD:
        home = importlib.import_module(name.rpartition(".")[0])
        last = name.rpartition(".")[2]
        assert not any((Path(folder) / f"{last}.py").exists() for folder in home.__path__), name


def test_names_that_users_may_have_imported() -> None:
    """With modules that are where they were."""
    said = """
        learner:Learner testing:check_set,check_environment,check_policy moves:Moved,Moves,best_of,score_items
        types:Solver,Quotas,TradeOffs,FeasibleSet,IndexPolicy,Policy,Environment,Decision,Game,Clock,Init,total
        structure:Solver,Quotas,TradeOffs,NEVER,ALWAYS,Arrays policies.combucb1:CombUCB1 policies.hybrid:HYBRID
        policies.recommendation:recommend policies.random_solutions:Random sets.network:Network sets.built_in:BuiltIn
        sets.paths:DagPaths sets.oracle:Oracle environments.base:Independent hard_problems:Player problem:Problem
        simulation.result:SimulationResult simulation.simulate:simulate simulation.progress:Progress
        theory.graves_lai:graves_lai_constant,Bracket theory.applicable:bounds,Bounds theory.explanation:explain
        experiments.document:read experiments.running:run experiments.constants:table experiments.lemma_1:measure
        experiments.tightness:run experiments.point:Point experiments.report.experiment:write_report
        experiments.paper:reproduce kernel:log,sqrt,where draws:beta rng:uniform
        environments.base:check_vector,check_vectors,check_bounds sets.base:check_items,check_count,check_n_items
        policies.checks:positive,not_negative,share,rounds,begin
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for module, _, names in (one.partition(":") for one in said.split()):
            found = importlib.import_module(moved.PREFIX + module)
            for name in names.split(","):
                assert hasattr(found, name), f"{module}.{name}"


def test_a_name_that_has_moved_alone() -> None:
    """As in a user's copy of environments/uniform.py, the model of own ones."""
    with pytest.warns(
        DeprecationWarning, match=r"environments.base.check_vectors is now semibandits._util.checks"
    ) as seen:
        from semibandits.environments.base import check_vectors
    assert check_vectors is checks.check_vectors
    assert seen[0].filename == __file__
    for room in (sb.environments.base, sb.sets.base):
        assert not hasattr(room, "nothing")


def test_the_warning_is_the_users() -> None:
    script = (
        "import warnings; warnings.simplefilter('error'); import semibandits as sb, semibandits.experiments.running"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    script = "from semibandits.learner import Learner; import semibandits as sb; assert Learner is sb.Learner"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stderr.startswith("<string>:1: DeprecationWarning: semibandits.learner is now semibandits.live.learner")


def test_what_never_was_is_not_found() -> None:
    for name in ("semibandits.nowhere", "semibandits.policies.nowhere", "learner", "moves"):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)
    with pytest.raises(AttributeError, match="nothing"):
        _ = old_module("semibandits.moves").nothing


@pytest.mark.filterwarnings("ignore:semibandits.moves.Move:DeprecationWarning")
def test_a_policy_says_moves() -> None:
    moves = old_module("semibandits.moves")
    assert moves.Moves is PolicyKernels
    assert moves.Moved is moves.Moved
    assert issubclass(moves.Moved, CompiledPolicy)

    class Mine(moves.Moved):  # type: ignore[misc, name-defined]
        def start(self, game: Any, feasible: Any) -> Any:
            return (np.zeros(game.n_items),)

        def moves(self, feasible: Any) -> Any:
            return moves.Moves(choose_first, learn_sums)

    problem = sb.Problem(sb.sets.TopK(4, 2), sb.environments.Bernoulli([0.9, 0.1, 0.5, 0.5]))
    played = {
        engine: sb.simulate(problem, Mine(), horizon=30, runs=3, seed=2, engine=engine, record="counts")
        for engine in ("plain", "compiled")
    }
    assert played["plain"].counts is not None
    assert played["plain"].counts[0].tolist() == [[30, 30, 0, 0]] * 3
    np.testing.assert_array_equal(played["plain"].regret, played["compiled"].regret)
    sb.testing.check_policy(Mine(), feasible=sb.sets.TopK(4, 2))
    assert sb.Learner(sb.sets.TopK(4, 2), Mine()).ask().items.tolist() == [0, 1]


def choose_first(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> int:
    for k in range(2):
        out[k] = k
    return 2


def learn_sums(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    for k in range(len(items)):
        state[0][items[k]] += x[k]


def test_former_keywords_of_a_solver() -> None:
    today = Solver(len, (), reads_once=True, variable_size=False)
    with pytest.warns(DeprecationWarning, match=r"Solver\(ragged=...\) is now Solver\(variable_size=...\)") as seen:
        former = Solver(len, (), ragged=False, reads_once=True)  # type: ignore[call-arg]
    assert seen[0].filename == __file__
    assert former == today == Solver(len, (), None, True, False) == pickle.loads(pickle.dumps(today))
    with pytest.warns(DeprecationWarning, match=r"Solver.once is now Solver.reads_once"):
        assert former.once is True  # type: ignore[attr-defined]
    assert former._replace(reads_once=False).reads_once is False
    with pytest.raises(TypeError, match="unexpected keyword argument 'twice'"):
        Solver(len, (), twice=True)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", PICKLES)
def test_a_pickle_of_the_version_before_is_read(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found: Any = pickle.loads(base64.b64decode(PICKLES[name]))
    again = pickle.dumps(found) if name != "own policy" else b""
    assert not any(f"{old}\n".encode() in again or f"{old}\x94".encode() in again for old in OLD)
    if isinstance(found, sb.FeasibleSet):
        assert found.contains(found.argmax(-np.linspace(0.1, 0.9, found.n_items)))
    elif isinstance(found, sb.Problem):
        assert repr(found) == repr(sb.problems.grid_path(2, 0.4))
        assert found.means.tolist() == sb.problems.grid_path(2, 0.4).means.tolist()
    elif isinstance(found, sb.SimulationResult):
        assert found.regret.shape == (1, 2, len(found.rounds))
    elif name == "own policy":
        assert sb.Learner(sb.sets.TopK(4, 2), found).ask().items.tolist() == [0, 1]
    else:
        assert isinstance(found, sb.IndexPolicy | sb.Policy | sb.Environment | sb.errors.BadArgument)


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="a user's code is told apart by its bytecode")
def test_a_store_of_a_users_own_code_is_taken_up(tmp_path: Path) -> None:
    """His script runs as it stands, and finds its runs."""
    shutil.copy(BEFORE / "users_script.py", tmp_path)
    shutil.copytree(BEFORE / "users_stores", tmp_path / "stores")

    def play(*arguments: str) -> str:
        script = [sys.executable, tmp_path / "users_script.py", *arguments]
        return subprocess.run(script, cwd=tmp_path, check=True, stdout=subprocess.PIPE, text=True).stdout

    assert play("stores", "nobody") == play("anew")
    assert len(list((tmp_path / "stores").rglob("*.npz"))) == 12
