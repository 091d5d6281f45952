"""The package as a whole: quick to import, small in memory, one version."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tracemalloc
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import semibandits as sb
from semibandits._util.versions import versions
from semibandits.kernel import warm

ROOT = Path(__file__).parent.parent

HEAVY = {"numba", "scipy", "matplotlib", "rich", "polars", "click"}


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_a_first_ask_needs_no_compiler_and_no_heavy_import() -> None:
    loaded = run(
        "import sys, semibandits as sb\n"
        "for feasible in (sb.sets.TopK(1000, 5), sb.sets.Enumerated([[0, 1], [2]]), sb.sets.GridPaths(3)):\n"
        "    learner = sb.Learner(feasible, sb.policies.CombUCB1())\n"
        "    for _ in range(5):\n"
        "        decision = learner.ask()\n"
        "        learner.tell(decision.id, [0.5] * len(decision.items))\n"
        f"print(*({HEAVY} & sys.modules.keys()))"
    )
    assert loaded == ""


def test_help_is_light() -> None:
    loaded = run(
        "import sys\nfrom semibandits.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"print('loaded:', *({HEAVY - {'click'}} & sys.modules.keys()))"
    )
    assert "reproduce" in loaded
    assert loaded.endswith("loaded:")


def test_versions_agree() -> None:
    assert sb.__version__ == version("semibandits") == versions()["semibandits"]
    assert f"\nversion: {sb.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert versions("numpy", "scipy", "no_such_package") == {
        **versions(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
    }


UNINSTALLED = """
from importlib.metadata import PackageNotFoundError, version
try:
    print("installed", version("semibandits"))
except PackageNotFoundError:
    pass
import semibandits as sb
from semibandits.cli.version import version as command
result = sb.simulate(sb.problems.grid_path(1, 0.4), sb.policies.CombUCB1(), horizon=5, runs=1, seed=0, threads=1)
versions = result.provenance["versions"]
print(sb.__file__, result.version, *versions)
command(["--json"])
"""


@pytest.mark.parametrize("form", ["folder", pytest.param("zip", marks=pytest.mark.long)])
def test_a_package_that_only_lies_on_the_path(tmp_path: Path, form: str) -> None:
    """Of this package no metadata, such as an installation leaves, is to be found; with the zip, of no other either."""
    left_out = (".pth", ".dist-info") if form == "zip" else (".pth",)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for path in map(Path, sysconfig.get_paths().values()):
        for inside in path.iterdir() if path.name == "site-packages" else ():
            if not inside.name.startswith("semibandits") and inside.suffix not in left_out:
                with contextlib.suppress(FileExistsError):
                    (elsewhere / inside.name).symlink_to(inside)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(sb.__file__).parent, tmp_path / "copy" / "semibandits", ignore=ignored)
    place = tmp_path / "copy"
    if form == "zip":
        place = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "copy"))
    path = os.pathsep.join(map(str, (place, elsewhere)))
    ended = subprocess.run(
        [sys.executable, "-S", "-c", UNINSTALLED],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    first, *rest = ended.stdout.splitlines()
    assert first == f"{place / 'semibandits' / '__init__.py'} {sb.__version__} python semibandits numpy scipy numba"
    assert json.loads("".join(rest)) == {"version": sb.__version__}


def growth(rounds: int) -> int:
    """How much memory a learner gains over these rounds, after it has settled."""
    learner = sb.Learner(sb.sets.TopK(30, 5), sb.policies.CombUCB1())
    weights = np.full(5, 0.5)

    def play(count: int) -> None:
        for _ in range(count):
            learner.tell(learner.ask().id, weights)

    tracemalloc.start()
    try:
        play(3000)
        before = tracemalloc.get_traced_memory()[0]
        play(rounds)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need half a second for few rounds, and machine code takes memory."""
    monkeypatch.setattr(warm, "PATIENCE", np.inf)


@pytest.mark.usefixtures("uncompiled")
def test_memory_is_flat() -> None:
    assert growth(10_000) < 10_000  # less than a byte per round


@pytest.mark.long
def test_memory_is_flat_over_a_million_rounds() -> None:
    assert growth(1_000_000) < 100_000


def test_files_named_in_the_makefile_hold_long_tests() -> None:
    named = re.findall(r"(?:\w+/)?test_\w+\.py", (ROOT / "Makefile").read_text())
    assert len(named) > 15
    for name in named:
        paths = [path for folder in ("", "simulation") if (path := ROOT / "tests" / folder / name).exists()]
        assert len(paths) == 1, name
        assert "long" in paths[0].read_text(), name
