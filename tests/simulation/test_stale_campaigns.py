"""Random edits in generated projects: where the numbers of a plain simulation change, a store's key must, too."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semibandits import environments, policies, sets, simulate
from semibandits._util.fingerprint import fingerprint
from semibandits.problem import Problem
from support import users_project

HEAD = "import functools\nimport json\nfrom pathlib import Path\n\nimport numpy as np\n\nHERE = Path(__file__).parent\n"
MODULES = ("alpha", "beta", "gamma", "plan")
# How a function gets its number: what stands in the module's settings, in the module, and in the function.
# V is the number, I the function's own, M its module.
WAYS = {
    "module": ("NI = V\n", "", "own.NI"),
    "imported": ("NI = V\n", "", "NI"),
    "late": ("NI = V\n", "def lateI():\n    from M_settings import NI as it\n    return it\n", "lateI()"),
    "list": ("NI = [0, [V]]\n", "", "own.NI[1][0]"),
    "dict": ("NI = {'a': {'b': V}}\n", "", "NI['a']['b']"),
    "class": ("class NI:\n    value = V\n", "", "own.NI.value"),
    "instance": ("class KI:\n    pass\nNI = KI()\nNI.value = V\n", "", "NI.value"),
    "partial": ("", "PI = functools.partial(max, V)\n", "PI(0.0)"),
    "method": ("class KI:\n    def get(self):\n        return V\n", "MI = KI().get\n", "MI()"),
    "default": ("", "def dI(x=V):\n    return x\n", "dI()"),
    "closure": ("def cI(x):\n    return lambda: x\nNI = cI(V)\n", "", "NI()"),
    "file": ("", "", "float((HERE / 'MI.txt').read_text())"),
    "json": ("", "FI = HERE / 'MI.json'\n", "json.loads(FI.read_text())['value'][0]"),
    "tuple": ("NI = (1, (V,))\n", "", "NI[1][0]"),
    "array": ("import numpy\nNI = numpy.array([V])\n", "", "float(own.NI[0])"),
    "wrapped": (
        "import functools\ndef wI(f):\n    @functools.wraps(f)\n    def g():\n        return f() * V\n    return g\n",
        "@wI\ndef oneI():\n    return 1.0\n",
        "oneI()",
    ),
    "cached": ("", "@functools.cache\ndef kI():\n    return V\n", "kI()"),
    "lambda": ("", "LI = lambda: V\n", "LI()"),
    "nested": ("NI = V\n", "", "sum([own.NI for _ in range(1)])"),
    "property": ("class KI:\n    @property\n    def v(self):\n        return V\nNI = KI()\n", "", "NI.v"),
    "base": ("class BI:\n    v = V\nclass KI(BI):\n    pass\n", "", "KI.v"),
    "slots": ("class KI:\n    __slots__ = ('v',)\nNI = KI()\nNI.v = V\n", "", "NI.v"),
    "enum": ("import enum\nclass KI(enum.Enum):\n    ONE = V\n", "", "KI.ONE.value"),
    "called": ("class KI:\n    def __call__(self):\n        return V\nNI = KI()\n", "", "NI()"),
    "constant": ("", "", "V"),
}


class Project:
    """Modules of functions of one number, each built on others and on a number that it gets in one of many ways."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.numbers: dict[tuple[str, int], float] = {}
        self.ways: dict[tuple[str, int], str] = {}
        self.calls: dict[tuple[str, int], list[tuple[str, int]]] = {}
        self.signs: dict[tuple[str, int], str] = {}
        known: list[tuple[str, int]] = []
        for module in MODULES:
            for number in range(4):
                one = (module, number)
                self.numbers[one] = round(draw.uniform(0.5, 2.0), 3)
                self.ways[one] = draw.choice(list(WAYS))
                self.calls[one] = draw.sample(known, min(len(known), 1 + draw.randrange(3)))
                self.signs[one] = draw.choice("+-*")
                known.append(one)
        self.comments = 0

    def edited(self) -> str:
        """One more edit, and what it is."""
        one = self._draw.choice(list(self.numbers))
        kind = self._draw.choice(("number", "number", "sign", "call", "way", "comment"))
        if kind == "number":
            self.numbers[one] = round(self._draw.uniform(0.5, 2.0), 3)
        elif kind == "sign":
            self.signs[one] = self._draw.choice("+-*")
        elif kind == "call":
            earlier = [other for other in self.numbers if other < one and other[0] != "plan"]
            self.calls[one] = self._draw.sample(earlier, min(len(earlier), 1 + self._draw.randrange(3)))
        elif kind == "way":
            self.ways[one] = self._draw.choice(list(WAYS))
        else:
            self.comments += 1
        return f"{kind} of {one[0]}.f{one[1]} ({self.ways[one]})"

    def write(self, folder: Path) -> None:
        for module in MODULES:
            text = f"# {'x' * self.comments}\n" * self.comments + HEAD
            for other in MODULES[: MODULES.index(module)]:
                text += f"import {other}\nfrom {other} import f0 as {other}_f0\n"
            text += "\n\ndef sample(generator):\n    return abs(f3(generator.random(4))) % 1.0\n\n\n"
            settings = ""
            for number in range(4):
                extra, body = self._written((module, number), folder)
                text += body
                settings += extra
            (folder / f"{module}_settings.py").write_text(settings + "UNUSED = 1\n")
            (folder / f"{module}.py").write_text(
                f"import {module}_settings as own\nfrom {module}_settings import *\n{text}"
            )

    def _written(self, one: tuple[str, int], folder: Path) -> tuple[str, str]:
        module, number = one
        value = self.numbers[one]
        (folder / f"{module}{number}.txt").write_text(str(value))
        (folder / f"{module}{number}.json").write_text(f'{{"value": [{value}]}}')
        settings, before, got = (
            re.sub(r"(?<![A-Z])V", str(value), text)
            .replace("I", str(number))
            .replace("M_settings", f"{module}_settings")
            for text in WAYS[self.ways[one]]
        )
        got = got.replace(f"'M{number}.txt'", f"'{module}{number}.txt'")
        before = before.replace(f"'M{number}.json'", f"'{module}{number}.json'")
        called = [
            f"f{at}(x)" if other == module else f"{other}.f{at}(x)" if at else f"{other}_f0(x)"
            for other, at in self.calls[one]
        ]
        sum_of = " + ".join(["x", *(f"0.3 * {one}" for one in called)])
        return settings, f"{before}\n\ndef f{number}(x):\n    return ({sum_of}) {self.signs[one]} {got}\n\n\n"


def numbers_and_digest(folder: Path) -> tuple[Any, str, tuple[str, ...]]:
    """What a plain simulation comes to, and what a store would go by."""
    with users_project.imported(folder) as plan:
        world = environments.Custom(plan.sample, [0.2, 0.4, 0.6, 0.8])
        problem = Problem(sets.TopK(4, 2), world)
        known = fingerprint((problem.feasible, problem.environment))
        played = simulate(problem, policies.CombUCB1(), horizon=12, runs=1, seed=0, record=["sums"], engine="plain")
        again = fingerprint((problem.feasible, problem.environment))
        assert played.sums is not None
        return (played.sums.tolist(), known.digest, (*known.unseen, *(["differs after use"] if again != known else [])))


@pytest.mark.parametrize(("projects", "edits"), [(1, 3), pytest.param(40, 8, marks=pytest.mark.long)])
def test_random_edits(tmp_path: Path, projects: int, edits: int, campaign: Callable[[str, list[str]], None]) -> None:
    broke: list[str] = []
    tried = changed = needless = 0
    for seed in range(projects):
        folder = tmp_path / str(seed)
        folder.mkdir()
        project = Project(random.Random(seed))
        project.write(folder)
        before = numbers_and_digest(folder)
        for _ in range(edits):
            what = project.edited()
            project.write(folder)
            after = numbers_and_digest(folder)
            tried += 1
            changed += after[0] != before[0]
            needless += after[0] == before[0] and after[1] != before[1]
            if after[0] != before[0] and after[1] == before[1]:
                broke.append(f"project {seed}: {what} was not noticed")
            if what.startswith("comment") and after[1] != before[1]:
                broke.append(f"project {seed}: a comment was noticed")
            if after[2]:
                broke.append(f"project {seed}: {after[2]}")
            before = after
    campaign(
        f"stale code: {tried} random edits in {projects} projects, {changed} of which changed numbers (and {needless} "
        "were noticed that did not)",
        broke,
    )
    assert changed > tried // 10
