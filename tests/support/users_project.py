"""A small project as users have them: a script with policies, solvers and worlds, modules beside it, data files."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

FILES = {
    "config.py": '''
"""Settings."""
BONUS = 0.25
WEIGHTS = [0.1, 0.2, 0.3, 0.4]
ORDER = {"first": 1, "second": 2}
UNUSED = 7


class Limits:
    top = 2
    steps = (1, 2)
''',
    "deep/__init__.py": "",
    "deep/settings.py": "RATE = 0.5\nOTHER = 1\n",
    "helper.py": '''
import functools
import math
from enum import Enum

import numpy as np

import config


def lift(w):
    """Adds a bonus."""
    return w + config.BONUS


def twice(function):
    @functools.wraps(function)
    def wrapped(*arguments):
        return 2.0 * function(*arguments)

    return wrapped


class Mood(Enum):
    LOW = 0.5
    HIGH = 1.5


class Base:
    push = 0.125

    def pushed(self, w):
        return w + self.push


@functools.lru_cache
def remembered(x):
    return x * 3.0


def unused():
    return 1
''',
    "late.py": "import later\n\nSHIFT = 0.5\n\n\ndef shift(w):\n    return w + SHIFT + later.MORE\n",
    "later.py": "MORE = 0.25\n",
    "prices.csv": "1.0,2.0,3.0,4.0\n",
    "data/costs.txt": "4.0 3.0 2.0 1.0\n",
    "data/more.txt": "1 2\n",
    "plan.py": """
import functools
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

import config
import deep.settings
import helper
from config import BONUS as EXTRA
from helper import Base, Mood, lift, remembered, twice
from semibandits import Problem, environments, policies, sets

HERE = Path(__file__).parent
WORDS = re.compile("a+")
POWERS = np.array([1.0, 2.0, 4.0, 8.0])


def best(w, k=2):
    # the largest ones
    return np.sort(np.argsort(-w, kind="stable")[:k])


def imported_function(w):
    return best(lift(w))


def module_number(w):
    return best(w * config.BONUS)


def nested_module(w):
    return best(w * deep.settings.RATE)


def imported_number(w):
    return best(w + EXTRA)


def module_list(w):
    return best(w + np.array(config.WEIGHTS))


def order_of_dict(w):
    return best(w * list(config.ORDER.values())[0])


def class_attribute(w):
    return best(w, config.Limits.top)


def enum_member(w):
    return best(w * Mood.HIGH.value)


def global_array(w):
    return best(w * POWERS)


def regex(w):
    return best(w) if WORDS.match("aab") else best(-w)


def remembers(w):
    return best(w * remembered(2.0))


def in_function(w):
    import late

    return best(late.shift(w))


def default(w, factor=0.5):
    return best(w * factor)


def closure(factor=0.75):
    def inner(w):
        return best(w * factor)

    return inner


@twice
def sized(w):
    return float(w.sum())


def decorated(w):
    return best(w * sized(w))


def a_file(w):
    return best(w * np.loadtxt(HERE / "prices.csv", delimiter=","))


def a_file_in_a_folder(w):
    with open(f"{HERE}/data/costs.txt") as file:
        return best(w * np.array([float(x) for x in file.read().split()]))


def nested(w):
    return best(np.array([(lambda y: y * config.BONUS)(x) for x in w]))


def tries(w):
    try:
        return best(w)
    except ValueError:
        return best(-w)


def whole_module(w):
    return best(w * getattr(config, "BO" + "NUS"))


class Solver(Base):
    __slots__ = ("table", "friend")
    factor = 1.0

    def __init__(self, table):
        self.table = np.array(table)
        self.friend = self  # objects may know each other

    def __call__(self, w):
        return self.solve(w)

    def solve(self, w):
        return best(self.pushed(w * self.table * self.factor * self.scale) + self.offset())

    @cached_property
    def total(self):
        return float(self.table.sum())

    @property
    def scale(self):
        return 0.5

    @staticmethod
    def offset():
        return 0.25


class Reader:
    def __init__(self, path):
        self.path = path

    def __call__(self, w):
        return best(w * self.reading())

    def reading(self):
        return float(self.path.read_text().split(",")[0])


@dataclass
class Parts:
    numbers: list = field(default_factory=lambda: [1.0, 2.0])
    name: str = "parts"

    def __call__(self, w):
        return best(w * self.numbers[0])


class Mine(policies.CombUCB1):
    boost = 0.5

    @staticmethod
    def score(s, c, key, item, p):
        return s[1] / s[0] + Mine.boost


def sample(generator):
    return generator.random(4) * 0.5 + np.array(config.WEIGHTS) * 0.1


def solvers():
    return {
        **{one.__name__: one for one in FUNCTIONS},
        "partial": functools.partial(default, factor=0.25),
        "instance": Solver([1.0, 2.0, 1.0, 2.0]),
        "bound method": Solver([2.0, 2.0, 1.0, 2.0]).solve,
        "dataclass": Parts(),
        "closure": closure(),
        "path attribute": Reader(HERE / "prices.csv"),
    }


FUNCTIONS = [
    imported_function, module_number, nested_module, imported_number, module_list, order_of_dict, class_attribute,
    enum_member, global_array, regex, remembers, in_function, default, decorated, a_file, a_file_in_a_folder, nested,
    tries, whole_module,
]


def problem(solver):
    return Problem(sets.Oracle(solver, 4, 2), environments.Custom(sample, [0.26, 0.27, 0.28, 0.29]))
""",
}

EDITS = {
    "imported_function": ("helper.py", "return w + config.BONUS", "return w - config.BONUS"),
    "module_number": ("config.py", "BONUS = 0.25", "BONUS = -0.25"),
    "nested_module": ("deep/settings.py", "RATE = 0.5", "RATE = -0.5"),
    "imported_number": ("config.py", "BONUS = 0.25", "BONUS = 0.26"),
    "module_list": ("config.py", "[0.1, 0.2,", "[0.9, 0.2,"),
    "order_of_dict": ("config.py", '{"first": 1, "second": 2}', '{"second": 2, "first": 1}'),
    "class_attribute": ("config.py", "top = 2", "top = 1"),
    "enum_member": ("helper.py", "HIGH = 1.5", "HIGH = -1.5"),
    "global_array": ("plan.py", "[1.0, 2.0, 4.0, 8.0]", "[8.0, 2.0, 4.0, 8.0]"),
    "regex": ("plan.py", 're.compile("a+")', 're.compile("b+")'),
    "remembers": ("helper.py", "x * 3.0", "x * -3.0"),
    "in_function": ("late.py", "w + SHIFT", "w - SHIFT"),
    "in_function #2": ("later.py", "MORE = 0.25", "MORE = 0.5"),
    "default": ("plan.py", "factor=0.5", "factor=-0.5"),
    "decorated": ("helper.py", "2.0 * function", "-2.0 * function"),
    "decorated #2": ("plan.py", "float(w.sum())", "float(w.max())"),
    "a_file": ("prices.csv", "1.0,2.0", "9.0,2.0"),
    "a_file_in_a_folder": ("data/costs.txt", "4.0 3.0", "4.0 9.0"),
    "nested": ("config.py", "BONUS = 0.25", "BONUS = -0.25"),
    "tries": ("plan.py", "except ValueError", "except TypeError"),
    "tries #2": ("plan.py", "[:k])", "[-k:])"),
    "whole_module": ("config.py", "BONUS = 0.25", "BONUS = -0.25"),
    "partial": ("plan.py", "factor=0.25", "factor=-0.25"),
    "instance": ("plan.py", "[1.0, 2.0, 1.0, 2.0]", "[1.0, 2.0, 1.0, 3.0]"),
    "instance #2": ("plan.py", "return 0.25", "return 0.5"),
    "instance #3": ("plan.py", "factor = 1.0", "factor = -1.0"),
    "instance #4": ("helper.py", "push = 0.125", "push = 0.25"),
    "instance #5": ("helper.py", "return w + self.push", "return w - self.push"),
    "instance #6": ("plan.py", "return 0.5", "return -0.5"),
    "instance #7": ("plan.py", "return self.solve(w)", "return self.solve(-w)"),
    "bound method": ("plan.py", "[2.0, 2.0, 1.0, 2.0]", "[2.0, 2.0, 1.0, 3.0]"),
    "dataclass": ("plan.py", "lambda: [1.0, 2.0]", "lambda: [-1.0, 2.0]"),
    "closure": ("plan.py", "factor=0.75", "factor=-0.75"),
    "path attribute": ("prices.csv", "1.0,2.0", "9.0,2.0"),
}
"""What each solver would have to notice: a file, and what is put in the place of what."""

NO_EDITS = {
    "a comment": ("plan.py", "# the largest ones", "# the k largest ones\n    # of them"),
    "lines": ("plan.py", "def best(", "\n\n\ndef best("),
    "a function that is not used": ("helper.py", "return 1\n", "return 2\n"),
    "a number that is not used": ("deep/settings.py", "OTHER = 1", "OTHER = 2"),
    "a file that is not used": ("data/more.txt", "1 2", "3 4"),
    "another solver": ("plan.py", "[2.0, 2.0, 1.0, 2.0]", "[7.0, 2.0, 1.0, 2.0]"),
    "spaces": ("config.py", "BONUS = 0.25", "BONUS   =   0.25"),
    "an import": ("helper.py", "import math", "import math\nimport string"),
}
"""With these, nothing changes for a solver but for "whole_module"."""


def write(folder: Path, edit: tuple[str, str, str] | None = None) -> None:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if edit is not None and edit[0] == name:
            assert edit[1] in text
            text = text.replace(edit[1], edit[2])
        path.write_text(text)


@contextmanager
def imported(folder: Path, name: str = "plan") -> Iterator[ModuleType]:
    """The project's script, as a fresh process would import it."""
    sys.path.insert(0, str(folder))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    importlib.invalidate_caches()
    known = set(sys.modules)
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = before
        for one in set(sys.modules) - known:
            if str(folder) in str(getattr(sys.modules[one], "__file__", "")):
                del sys.modules[one]
