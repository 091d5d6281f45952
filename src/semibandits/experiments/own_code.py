"""The user's own functions and classes, named in an experiment file: this runs their code."""

import hashlib
import importlib
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from semibandits.digest import SOURCE
from semibandits.errors import BadArgument, meant
from semibandits.files import read_file

MOST_BYTES = 4_000_000
"""Of a file of code."""
REFERENCE = re.compile(r"(?P<where>.+):(?P<name>[^\W\d]\w*)")


@contextmanager
def staying() -> Iterator[None]:
    """The user's code does not end the program in silence."""
    try:
        yield
    except SystemExit as error:
        raise BadArgument(f"the experiment's own code must not end the program: sys.exit({error.code!r})") from error


def said(error: BaseException) -> str:
    """What an error of the user's code says of itself, where it can."""
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r:.100})"
    try:
        return f"{type(error).__name__}: {error!s:.200}"
    except Exception:
        return type(error).__name__


class OwnCode:
    """What the files of one folder, and installed packages, define; each file is run once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: dict[str, ModuleType] = {}
        self.files: dict[str, bytes] = {}
        """The text of every file that was run, by its name."""

    def load(self, reference: Any) -> Callable[..., Any]:
        """The function or class that "solver.py:cheapest" or "package.module:function" names."""
        found = REFERENCE.fullmatch(reference) if isinstance(reference, str) else None
        if found is None:
            raise BadArgument(f"expected 'file.py:name' or 'package.module:name', got {reference!r:.200}")
        where, name = found["where"], found["name"]
        if where not in self._modules:
            self._modules[where] = self._run(where) if where.endswith(".py") else _import(where)
        module = self._modules[where]
        there = [one for one, value in vars(module).items() if callable(value) and not one.startswith("_")]
        made = vars(module).get(name)
        if made is None:
            raise BadArgument(f"{where} defines no {name!r}{meant(name, there)}")
        if not callable(made):
            raise BadArgument(f"{name} in {where} must be a function or a class, got {made!r:.100}")
        return made  # type: ignore[no-any-return]

    def _run(self, file: str) -> ModuleType:
        path = self._folder / file
        try:
            source = read_file(path, MOST_BYTES)
        except OSError as error:
            raise BadArgument(f"{file} cannot be read: {error.strerror or error}") from error
        module = ModuleType("experiment_" + re.sub(r"\W", "_", path.stem))  # shadows no other
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
            raise BadArgument(f"{where}: {said(error)}{self._hint(error)}") from error
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


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise BadArgument(f"the package {name!r:.100} cannot be imported: {said(error)}") from error
