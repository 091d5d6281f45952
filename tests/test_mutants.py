"""Wrong constants and steps must turn tests red: each mutant is planted in a copy of the package and hunted there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
POLICY = "policies/combucb1.py"

MUTANTS = {
    "t for t-1 in the radius": (POLICY, "log(max(round - 1, 1))", "log(max(round, 1))"),
    "alpha 1.4": (POLICY, "alpha: float = 1.5", "alpha: float = 1.4"),
    "Init averages": ("agent.py", 'overwrites = initial and self.init == "paper"', "overwrites = False"),
    "counts start at 0 after Init": (
        "agent.py",
        "            self.init_x[items] = x\n",
        "            self.init_x[items] = x\n            self.stats[0, items] = 0.0\n",
    ),
    "maximise 1 - w": (
        "agent.py",
        'return -self.from_unit(x) if self.sense == "min" else self.from_unit(x)',
        "return x",
    ),
    "one stream for world and policy": ("rng.py", "POLICY = 1", "POLICY = 0"),
    "natural log to base 2": (POLICY, "sqrt(p[0] * log(", "sqrt(p[0] * 1.4427 * log("),
    "width 1/count": (POLICY, "sum_ / count, 1.0 / sqrt(count))", "sum_ / count, 1.0 / count)"),
    "the oldest of Init's observations wins": (
        "agent.py",
        "self.init_round[items] < round",
        "self.init_round[items] == 0",
    ),
    "costs not negated": ("agent.py", "return -self.from_unit(x)", "return self.from_unit(x)"),
    "last of tied solutions": (
        "sets/enumerated.py",
        "best = int(np.argmax(totals))",
        "best = totals.size - 1 - int(np.argmax(totals[::-1]))",
    ),
}
HUNTERS = ["tests/policies", "tests/test_learner.py", "tests/test_rng.py", "tests/sets/test_ties.py"]


def hunt(folder: Path, mutant: tuple[str, str, str] | None) -> "subprocess.CompletedProcess[str]":
    """Runs the hunters on a copy of the package with this mutant in it."""
    for part in ("src", "tests"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    if mutant is not None:
        file, old, new = mutant
        path = folder / "src" / "semibandits" / file
        path.write_text(path.read_text().replace(old, new))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-m", "not long", *HUNTERS]
    env = {**os.environ, "PYTHONPATH": str(folder / "src")}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_have_their_place(mutant: str) -> None:
    file, old, _ = MUTANTS[mutant]
    assert (ROOT / "src" / "semibandits" / file).read_text().count(old) == 1


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_caught(mutant: str, tmp_path: Path) -> None:
    result = hunt(tmp_path, MUTANTS[mutant])
    assert result.returncode == 1, f"survived:\n{result.stdout[-3000:]}"


@pytest.mark.long
def test_the_hunters_leave_sound_code_alone(tmp_path: Path) -> None:
    result = hunt(tmp_path, None)
    assert result.returncode == 0, result.stdout[-3000:]
