"""User code: functions and classes, named in an experiment file: this runs their code."""

import hashlib
import importlib
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from semibandits._util.files import read_file
from semibandits._util.fingerprint import SOURCE
from semibandits._util.suggestions import did_you_mean
from semibandits.errors import BadArgument
from semibandits.experiments.files.relative_paths import path_inside

Allowed = Literal["none", "files", "modules"]
"""Whose code an experiment may name: nobody's; that of files beside it; that of installed modules, too."""
REFUSED = "and no own code is to be run (--no-own-code; in Python, own_code='none')"
MOST_BYTES = 4_000_000
"""Of a file of code."""
REFERENCE = re.compile(r"(?P<where>.+\.py|[^\W\d]\w*(\.[^\W\d]\w*)*):(?P<name>[^\W\d]\w*)")


class Reference(NamedTuple):
    """What "solver.py:cheapest" or "package.module:function" names."""

    where: str
    """A file or a module."""
    name: str

    @classmethod
    def read(cls, reference: Any) -> "Reference":
        found = REFERENCE.fullmatch(reference) if isinstance(reference, str) else None
        if found is None:
            raise BadArgument(f"expected 'file.py:name' or 'package.module:name', got {reference!r:.200}")
        where = found["where"]
        return cls(Path(where).as_posix() if where.endswith(".py") else where, found["name"])

    @property
    def in_file(self) -> bool:
        return self.where.endswith(".py")

    def check(self, allowed: Allowed) -> None:
        """Raises where such code is not to be run."""
        means = f"run the file {self.where}" if self.in_file else f"import the module {self.where}"
        what = f"'{self.where}:{self.name}' would {means}"
        if allowed == "none":
            raise BadArgument(f"{what}, {REFUSED}")
        if allowed == "files" and not self.in_file:
            raise BadArgument(
                f"{what}, which may do anything: write a file beside the experiment that imports what you need, or "
                "allow it with --allow-modules (in Python, own_code='modules')"
            )


@contextmanager
def no_sys_exit() -> Iterator[None]:
    """The user's code does not end the program in silence."""
    try:
        yield
    except SystemExit as error:
        raise BadArgument(f"the experiment's own code must not end the program: sys.exit({error.code!r})") from error


def _exception_text(error: BaseException) -> str:
    """What an error of the user's code says of itself, where it can."""
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r:.100})"
    try:
        return f"{type(error).__name__}: {error!s:.200}"
    except Exception:
        return type(error).__name__


class OwnCode:
    """What the files of one folder, and installed modules, define; each file is run once."""

    def __init__(self, folder: Path, allowed: Allowed = "files") -> None:
        self._folder = folder
        self._allowed = allowed
        self._modules: dict[str, ModuleType] = {}
        self.files: dict[str, bytes] = {}
        """The text of every file that was run, by its name."""

    def load(self, reference: Any) -> Callable[..., Any]:
        """The function or class that "solver.py:cheapest" or "package.module:function" names."""
        wanted = Reference.read(reference)
        wanted.check(self._allowed)
        where, name = wanted
        if where not in self._modules:
            self._modules[where] = self._run(where) if wanted.in_file else _import(where)
        module = self._modules[where]
        there = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        made = vars(module).get(name)
        if made is None:
            raise BadArgument(f"{where} defines no {name!r}{did_you_mean(name, there)}")
        if not callable(made):
            raise BadArgument(f"{name} in {where} must be a function or a class, got {made!r:.100}")
        return made  # type: ignore[no-any-return]

    def _run(self, file: str) -> ModuleType:
        try:
            source = read_file(path_inside(self._folder, file), MOST_BYTES)
        except FileNotFoundError as error:
            raise BadArgument(f"{file} cannot be read: No such file in the folder {self._folder}") from error
        except OSError as error:
            raise BadArgument(f"{file} cannot be read: {error.strerror or error}") from error
        path = self._folder / file
        module = ModuleType(_module_name(file, source))
        module.__file__ = str(path)
        setattr(module, SOURCE, hashlib.sha256(source).hexdigest())  # runs are kept under another name when it changes
        sys.modules[module.__name__] = module
        try:
            exec(compile(source, str(path), "exec"), module.__dict__)
        except SyntaxError as error:
            raise BadArgument(f"{file}, line {error.lineno}: {error.msg}") from error
        except (Exception, SystemExit) as error:
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
            where = f"{file}, line {lines[-1]}" if lines else file
            raise BadArgument(f"{where}: {_exception_text(error)}{self._hint(error)}") from error
        import cloudpickle

        cloudpickle.register_pickle_by_value(module)  # workers need not have the file
        self.files[file] = source
        return module

    def _hint(self, error: BaseException) -> str:
        """Files are run one by one: they do not find each other."""
        name = str(error.name).partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
        if not name or not ((self._folder / f"{name}.py").exists() or (self._folder / name).is_dir()):
            return ""
        return f"; files beside it are found if the variable PYTHONPATH is their folder: PYTHONPATH={self._folder}"


def _module_name(file: str, source: bytes) -> str:
    """Of a file of this text, and of no other: a/x.py, b/x.py and what x.py was before are different modules."""
    digest = hashlib.sha256(file.encode("utf-8", "surrogatepass") + b"\0" + source).hexdigest()
    stem = re.sub(r"\W", "_", Path(file).stem)
    return f"experiment_{stem}_{digest[:16]}"


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise BadArgument(f"the module {name!r:.100} cannot be imported: {_exception_text(error)}") from error
