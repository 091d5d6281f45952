"""Machine code of users' functions on disk: found by later processes, and never stale."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = "BONUS, TABLE = 2.0, (1.0, 3.0)"
HELPER = """
import numpy as np
import config
FACTOR = 3.0
def deepest(x):
    return x * FACTOR
def deep(x):
    return deepest(x) + 1.0
ROWS = np.array([1.0, 2.0])
"""
STRATEGY = """
import math
import numpy as np
import numba
from numba.extending import intrinsic
import config, helper
from helper import deep
OFFSET = 10
def of_global(x): return x + OFFSET
def two_levels_down(x): return deep(x)
def of_module(x): return x * config.BONUS
def of_modules_module(x): return x * helper.config.TABLE[1]
def enclosing(n):
    def closed(x): return x * n
    return closed
of_closure = enclosing(4.0)
def of_default(x, n=5.0): return x * n
def of_array(x): return x * helper.ROWS[1]
def of_math(x): return math.log(x) + np.sqrt(x) + abs(x)
def inside(x): return (lambda y: y * OFFSET)(x)
def under_another_name(x):
    c = config
    return x * c.BONUS
def closing_over(module):
    def closed(x): return x * module.BONUS
    return closed
of_closed_module = closing_over(config)
@numba.njit
def jitted(x): return x + 7.0
def calls_jitted(x): return jitted(x)
@intrinsic
def made(context, x):
    return x(x), lambda context, builder, signature, given: given[0]
def calls_intrinsic(x): return made(x)
"""
KEPT = {
    "of_global": 12.0,
    "two_levels_down": 7.0,
    "of_module": 4.0,
    "of_modules_module": 6.0,
    "of_closure": 8.0,
    "of_default": 10.0,
    "of_array": 4.0,
    "of_math": 2.0 + 2.0**0.5 + 0.6931471805599453,
    "inside": 20.0,
}
NOT_KEPT = {"under_another_name": 4.0, "of_closed_module": 4.0, "calls_jitted": 9.0, "calls_intrinsic": 2.0}
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
exec(sys.argv[2])
import strategy
from semibandits.kernel import compiled
for name in sys.argv[3:]:
    code = compiled(getattr(strategy, name))
    print(name, repr(code(2.0)), "found" if sum(code._cache_hits.values()) else "compiled")
"""


class Project:
    """A user's modules, and a cache."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        for name, text in {"config": CONFIG, "helper": HELPER, "strategy": STRATEGY}.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text)

    def run(self, *names: str, first: str = "") -> dict[str, tuple[float, str]]:
        environment = {**os.environ, "SEMIBANDITS_CACHE": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-c", SCRIPT, str(self.folder), first, *names]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr
        lines = [line.split() for line in done.stdout.splitlines()]
        return {name: (float(value), how) for name, value, how in lines}


def test_later_processes_find_it_and_nothing_stale(tmp_path: Path) -> None:
    project, every = Project(tmp_path), {**KEPT, **NOT_KEPT}
    for how in ("compiled", "found"):
        expected = {name: (value, how if name in KEPT else "compiled") for name, value in every.items()}
        assert project.run(*every) == expected
    project.write("config", "BONUS, TABLE = 3.0, (1.0, 5.0)")
    project.write("helper", HELPER.replace("FACTOR = 3.0", "FACTOR = 4.0").replace("1.0, 2.0", "1.0, 9.0"))
    changed = STRATEGY.replace("OFFSET = 10", "OFFSET = 20").replace("enclosing(4.0)", "enclosing(6.0)")
    project.write("strategy", changed.replace("n=5.0", "n=7.0").replace("x + 7.0", "x + 8.0"))
    found = project.run(*every)
    now = {
        "of_global": 22.0,
        "two_levels_down": 9.0,
        "of_module": 6.0,
        "of_modules_module": 10.0,
        "of_closure": 12.0,
        "of_default": 14.0,
        "of_array": 18.0,
        "of_math": KEPT["of_math"],
        "inside": 40.0,
        "under_another_name": 6.0,
        "of_closed_module": 6.0,
        "calls_jitted": 10.0,
        "calls_intrinsic": 2.0,
    }
    assert found == {name: (value, "found" if name == "of_math" else "compiled") for name, value in now.items()}


OVERLOAD = """
import numpy as np, numba
from numba.extending import overload
@overload(np.sqrt)
def wrong(x):
    return lambda x: 100.0
"""


@pytest.mark.long
def test_what_numba_was_told_by_others_is_neither_used_nor_kept(tmp_path: Path) -> None:
    """A user's overload changes what functions mean, and no code of theirs says so."""
    project = Project(tmp_path)
    assert project.run("of_math", first=OVERLOAD)["of_math"][1] == "compiled"
    assert list(project.cache.iterdir()) == []
    assert project.run("of_math")["of_math"] == (KEPT["of_math"], "compiled")
    assert project.run("of_math")["of_math"] == (KEPT["of_math"], "found")
    assert project.run("of_math", first=OVERLOAD)["of_math"][1] == "compiled"


@pytest.mark.long
def test_a_function_of_the_same_name_in_another_file(tmp_path: Path) -> None:
    project = Project(tmp_path)
    assert project.run("of_global") == {"of_global": (12.0, "compiled")}
    other = Project(tmp_path / "other") if (tmp_path / "other").mkdir() is None else project
    other.cache = project.cache
    other.write("strategy", "def of_global(x): return x - 1.0")
    assert other.run("of_global") == {"of_global": (1.0, "compiled")}
    other.write("strategy", "OFFSET = 10\n\n\ndef of_global(x): return x + OFFSET")
    assert other.run("of_global") == {"of_global": (12.0, "found")}
