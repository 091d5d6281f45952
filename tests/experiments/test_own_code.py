"""Whose code an experiment file may name: that of files beside it, of modules if that is allowed, or nobody's."""

import sys
from pathlib import Path
from typing import Any

import pytest

from semibandits._util.fingerprint import digest
from semibandits.errors import BadArgument, BadExperiment
from semibandits.experiments.files.document import read
from semibandits.experiments.files.user_code import Allowed, OwnCode
from semibandits.experiments.running import run
from support.experiment_files import GRID, MINE, OWN, of, write

CANARY = "from pathlib import Path\n\nPath(__file__).with_name('canary').touch()\n\n"


def named(reference: str) -> str:
    return GRID.replace('name = "CTS"', f'class = "{reference}"')


def refused(path: Path, own_code: Allowed = "files") -> str:
    with pytest.raises(BadExperiment) as caught:
        read(path, own_code=own_code)
    return str(caught.value).replace(f"{path.parent}/", "")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module that Python finds, and that leaves a trace where it is imported."""
    folder = tmp_path / "installed"
    folder.mkdir()
    (folder / "installed_canary.py").write_text(f"{CANARY}{MINE}")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "installed_canary", raising=False)
    return folder


def test_class_os_system_runs_no_command(tmp_path: Path) -> None:
    text = named("os:system").replace("os:system", f'os:system"\ncommand = "touch {tmp_path}/canary')
    assert refused(write(tmp_path, text)) == (
        "grid.toml, line 16: 'os:system' would import the module os, which may do anything: write a file beside the "
        "experiment that imports what you need, or allow it with --allow-modules (in Python, own_code='modules')"
    )
    assert not (tmp_path / "canary").exists()


def test_modules_are_imported_where_that_is_allowed(tmp_path: Path, installed: Path) -> None:
    path = write(tmp_path, named("installed_canary:Mine"))
    for own_code in ("none", "files"):
        assert "would import the module installed_canary" in refused(path, own_code)  # type: ignore[arg-type]
    assert "installed_canary" not in sys.modules
    assert not (installed / "canary").exists()
    assert repr(read(path, own_code="modules").plans[0].policies[1]) == "Mine(alpha=1.5, init='paper')"
    write(tmp_path, named("no_such_package:Mine"))
    assert refused(path, "modules").startswith("grid.toml, line 16: the module 'no_such_package' cannot be imported: ")
    outside = write(tmp_path, named(f"{installed}/installed_canary.py:Mine"))
    assert "leads out of the folder" in refused(outside, "modules")
    with pytest.raises(BadArgument, match="own_code must be 'none' or 'files' or 'modules', got 'all'"):
        read(path, own_code="all")  # type: ignore[arg-type]


FIRST = named("mine.py:Mine")
ORACLE = OWN.replace('kind = "TopK"', 'kind = "Oracle"\nfunction = "mine.py:best"').replace("k = 2", "max_size = 2")
REFERRING = {
    "a policy": FIRST,
    "a solver": ORACLE,
    "a check": ORACLE.replace('"mine.py:best"', '"mine.py:best"\ncontains = "mine.py:best"'),
    "a set": OWN.replace('kind = "TopK"', 'class = "mine.py:best"'),
    "a part": OWN.replace(
        'kind = "TopK"\nn_items = 4\nk = 2', 'kind = "Product"\nblocks = [{class = "mine.py:best", weights = [1]}]'
    ),
    "a matroid": OWN.replace('kind = "TopK"', 'kind = "Matroid"\nindependent = "mine.py:best"'),
    "a sample": OWN.replace('"Bernoulli"', '"Custom"\nsample = "mine.py:coins"'),
    "a world": OWN.replace('kind = "Bernoulli"\nmeans = [0.1, 0.9, 0.2, 0.8]', 'class = "mine.py:World"\nsize = 4'),
    "a problem": 'horizon = 2\nruns = 1\n[problem]\nclass = "mine.py:whole"\nm = 3\n[[policies]]\nname = "CTS"\n',
    "a sweep": f'{GRID}[sweep]\npolicies.1 = [{{name = "CTS"}}, {{class = "mine.py:Mine"}}]\n',
    "a later problem": f"{GRID}[sweep]\nproblem.parts = [[1], [{{class = 'mine.py:whole'}}]]\n",
}


@pytest.mark.parametrize("text", REFERRING.values(), ids=REFERRING)
def test_no_own_code_runs_none(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text, mine_py=f"{CANARY}{MINE}")
    assert "' would run the file mine.py, and no own code is to be run (--no-own-code; in " in refused(path, "none")
    assert "grid.toml, line " in refused(path, "none")
    assert not (tmp_path / "canary").exists()


def test_nothing_is_run_before_all_that_is_named_is_allowed(tmp_path: Path) -> None:
    text = f'{FIRST}[sweep]\npolicies.1 = [{{class = "mine.py:Mine"}}, {{class = "os:system"}}]\n'
    assert refused(write(tmp_path, text, mine_py=f"{CANARY}{MINE}")).startswith("grid.toml, line 18: 'os:system' would")
    assert not (tmp_path / "canary").exists()


def test_a_cluster_may_answer_with_code(tmp_path: Path) -> None:
    path = write(tmp_path, f'{GRID}[executor]\nkind = "dask"\naddress = "tcp://stranger:1"\n')
    assert refused(path, "none").startswith("grid.toml, line 18: a cluster may answer with code, and no own code is")
    assert read(path).where.address == "tcp://stranger:1"


def test_what_is_run_is_said_once_and_before(tmp_path: Path) -> None:
    text = ORACLE.replace('name = "CTS"', 'class = "./mine.py:Mine"') + "[sweep]\npolicies.0.alpha = [1, 2]\n"
    text += 'problem.set.contains = ["mine.py:len", "more.py:best", "mine.py:number"]\n'
    said: list[Any] = []

    def say(code: Any) -> None:
        said.append(code)
        assert not (tmp_path / "canary").exists()

    path = write(tmp_path, text, mine_py=f"{CANARY}{MINE}\ndef len(items):\n    return True\n")
    with pytest.raises(BadExperiment, match=r"more\.py cannot be read: No such file in the folder"):
        read(path, say=say)
    assert said == [{"mine.py": ["best", "len", "Mine", "number"], "more.py": ["best"]}]
    read(write(tmp_path, GRID), say=said.append)
    assert len(said) == 1


@pytest.mark.parametrize("name", ["mine.py", "./mine.py", "in/mine.py", "in//mine.py", "link.py", "linked/mine.py"])
def test_files_in_the_folder_and_below_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    for path in (tmp_path, tmp_path / "in"):
        (path / "mine.py").write_text(MINE)
        (path / "a.csv").write_text("mean\n0.1\n0.9\n0.2\n0.8\n")
    (tmp_path / "link.py").symlink_to("in/mine.py")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    (tmp_path / "linked").symlink_to("in")
    assert of(tmp_path, named(f"{name}:Mine")).plans
    data = name.replace("mine.py", "a.csv").replace(".py", ".csv")
    text = OWN.replace("[0.1, 0.9, 0.2, 0.8]", f'{{file = "{data}", column = "mean"}}')
    assert of(tmp_path, text).plans[0].problem.means.tolist() == [0.1, 0.9, 0.2, 0.8]


@pytest.mark.parametrize("kind", ["data", "code"])
@pytest.mark.parametrize(
    "where", ["{outside}/x", "../outside/x", "in/../x", "in/../../outside/x", "link", "linked/x", "loop", "a\\u0000"]
)
def test_files_of_other_folders_are_not_read(tmp_path: Path, where: str, kind: str) -> None:
    here, outside = tmp_path / "here", tmp_path / "outside"
    (here / "in").mkdir(parents=True)
    outside.mkdir()
    end = {"data": ".csv", "code": ".py"}[kind]
    content = "mean\n0.1\n0.9\n0.2\n0.8\n" if kind == "data" else f"{CANARY}{MINE}"
    for folder in (here, outside):
        (folder / f"x{end}").write_text(content)
    (here / f"link{end}").symlink_to(outside / f"x{end}")
    (here / "linked").symlink_to(outside)
    (here / f"loop{end}").symlink_to(here / f"loop{end}")
    name = where.format(outside=outside) + end
    table = OWN.replace("[0.1, 0.9, 0.2, 0.8]", f'{{file = "{name}", column = "mean"}}')
    said = refused(write(here, table if kind == "data" else named(f"{name}:Mine")))
    assert "leads out of the folder: an experiment names files of its own folder" in said or "cannot be read" in said
    assert f"line {14 if kind == 'data' else 16}: " in said
    assert not (outside / "canary").exists()


def test_files_are_found_in_another_folder_if_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.py").write_text(MINE)
    path = write(tmp_path, FIRST)
    assert "No such file in the folder" in refused(path)
    assert read(path, files=tmp_path / "there").plans


TWINS = """
from functools import partialmethod

from semibandits.policies import CombUCB1

def fixed(self, game, alpha):
    return (alpha,)

class Mine(CombUCB1):
    params = partialmethod(fixed, alpha={alpha})
"""


@pytest.mark.parametrize("names", [("a/x.py", "b/x.py"), ("x-y.py", "x_y.py"), ("a/x.py", "a_x.py")])
def test_files_of_the_same_name_are_told_apart(tmp_path: Path, names: tuple[str, str]) -> None:
    """Nothing but the texts of the two files tells these policies apart."""
    for name, alpha in zip(names, (0.01, 9.0), strict=True):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TWINS.format(alpha=alpha))
    code = OwnCode(tmp_path)
    both = [code.load(f"{name}:Mine") for name in names]
    assert both[0].__module__ != both[1].__module__
    assert sys.modules[both[0].__module__].Mine is both[0]
    assert digest(both[0]()) != digest(both[1]())
    alone = [OwnCode(tmp_path).load(f"{name}:Mine") for name in names]
    assert [digest(one()) for one in alone] == [digest(one()) for one in both]


def test_twins_play_runs_of_their_own(tmp_path: Path) -> None:
    for name, alpha in (("a", 0.01), ("b", 9.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.py").write_text(TWINS.format(alpha=alpha))
    text = GRID.replace('name = "CombUCB1"\nalpha = 1.5', 'class = "a/x.py:Mine"')
    text = text.replace('name = "CTS"', 'class = "b/x.py:Mine"').replace("horizon = 50", "horizon = 300")
    results = [run(of(tmp_path, text), tmp_path / "out").points[0].result for _ in range(2)]
    assert (results[0].regret[0, :, -1] != results[0].regret[1, :, -1]).all()
    assert (results[0].regret == results[1].regret).all()


def test_a_file_is_run_once_however_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"from pathlib import Path\n\nPath(__file__).with_name('log').mkdir()\n{MINE}")
    code = OwnCode(tmp_path)
    assert code.load("mine.py:Mine") is code.load("./mine.py:Mine")
