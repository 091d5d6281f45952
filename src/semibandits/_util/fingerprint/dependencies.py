"""Dependencies of a user's code: by the names in it, by its imports, by words that name files; and what is not seen."""

import builtins
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import PurePath
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from semibandits._util.fingerprint.bytecode import Import, Reading, code_of, read, stated
from semibandits._util.fingerprint.impure_calls import lists_folders, reaches, reads_files
from semibandits._util.fingerprint.named_files import NamedFiles, content
from semibandits._util.ownership import file_of, is_users, is_users_class

Names = dict[tuple[str, ...], str]
"""What the names in some code stand for: ("np", "load") for "numpy.load"."""


class Scope(NamedTuple):
    """Of which code something is part."""

    folder: str | None
    """Where the user's code lies; "": nowhere. None: it is no code of the user's."""
    where: str
    """What it is called."""


class Opener(NamedTuple):
    """Code that opens a file."""

    where: str
    how: str
    words: frozenset[str]
    """That may be the file's name."""
    files: int
    """How many it may open, at least."""
    is_told: bool
    """Whether the name may be handed to it."""


class Dependencies:
    """What one thing depends on, found while `describe` describes it."""

    def __init__(self, describe: Callable[[Any], bytes]) -> None:
        self.unseen: list[str] = []
        self.texts: dict[str, str] = {}
        """The modules that were read, by name."""
        self._describe = describe
        self._files = NamedFiles()
        self.scope = Scope(None, "an attribute")
        self._openers: list[Opener] = []
        self._log: list[str] = []
        self._written: set[str] = set()
        self._read: set[str] = set()

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        before, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = before

    def word(self, word: str) -> str:
        """The word, without the place where the user's code lies."""
        folder = self.scope.folder
        if folder is None:
            return word
        self._log.append(word)
        self._files.add(word, folder)
        return _placed(word, folder)

    def words(self, words: list[str]) -> bool:
        """As many at once; whether none of them tells of the place."""
        folder = self.scope.folder
        if folder is None:
            return True
        self._log += words
        for word in words:
            self._files.add(word, folder)
        return not folder or not any(word.startswith(folder) for word in words)

    def hold(self, kind: str) -> None:
        """There is an object of which nothing can be told."""
        self.unseen.append(f"{self.scope.where} holds a {kind}")

    def of_function(self, function: FunctionType) -> Iterator[tuple[str, Any]]:
        """The values that a user's function names: globals, and what it takes of modules."""
        reading, known = read(function.__code__), function.__globals__
        began = len(self._log)
        names: Names = {}
        for chain in reading.chains:
            if chain[0] not in known:
                if hasattr(builtins, chain[0]):
                    names[chain] = ".".join(("builtins", *chain))
                yield ".".join(chain), None
                continue
            if chain[0] == "__file__":
                continue
            first = known[chain[0]]
            value, rest = followed(first, chain[1:])
            if name := _name(value):
                names[chain] = ".".join((name, *rest))
                value = None if value is os.environ else value
            elif isinstance(first, ModuleType) and _name(first) and not callable(value):
                names[chain] = ".".join((_name(first), *chain[1:]))
                value = value if isinstance(value, int | float | str) else None  # sys.modules, and the like
            yield ".".join(chain), value
        named = [known.get(name, name) for name in reading.written]
        self._written |= {str(word) for word in named if isinstance(word, str | PurePath)}
        held = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *cells(function))
        words = {*reading.words, *self._log[began:], *(str(one) for one in held if isinstance(one, str | PurePath))}
        is_told = function.__code__.co_argcount + function.__code__.co_kwonlyargcount > 0
        self._judge(reading, names, frozenset(words), is_told and not reading.builds_words)

    def _judge(self, reading: Reading, names: Names, words: frozenset[str], is_told: bool) -> None:
        """Notes what the code does with the world outside."""
        asked: Names = {}
        for one in reading.imports:
            asked[(one.name,)] = one.name
            asked |= {(one.name, this): f"{one.name}.{this}" for this in one.these}
            if one.alias and not one.these:  # as a local name, of which it is not seen what is asked of it
                asked |= {(one.alias, this): f"{one.name}.{this}" for this in reading.attributes}
        names = {**names, **asked}
        self.unseen += [f"{self.scope.where} uses {name}" for name in reaches(reading, names)]
        how, count = reads_files(reading, names)
        if how and lists_folders(reading):
            self.unseen.append(f"{self.scope.where} lists a folder")
        elif how:
            self._openers.append(Opener(self.scope.where, how, words, count, is_told))

    def read_imports(self, code: CodeType, package: str | None) -> None:
        """The user's modules that the code imports when it runs: by their text, as they may not be there yet."""
        for one in read(code).imports:
            for name in _modules(one, package):
                file = _file(name)
                if name not in self._read and file is not None and file.endswith(".py") and is_users(name, file):
                    self._read.add(name)
                    self._read_module(name, file)

    def _read_module(self, name: str, file: str) -> None:
        try:
            with open(file, "rb") as text:
                code = compile(text.read(), "", "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError):
            self.unseen.append(f"the module {name} cannot be read")
            return
        with self.within(Scope(os.path.dirname(os.path.abspath(file)), f"the module {name}")):
            self.texts[f"the module {name}"] = self._describe(code).hex()
            reading = read(code)
            aliases = {one.alias: one.name for one in reading.imports if one.alias}
            names = {
                chain: ".".join((aliases.get(chain[0], "builtins." + chain[0]), *chain[1:])) for chain in reading.chains
            }
            self._judge(reading, names, frozenset(reading.words), False)
            for said, value in _otherwise(name, code):
                self.texts[f"{name}.{said}"] = self._describe(value).hex()
        self.read_imports(code, name if os.path.basename(file) == "__init__.py" else name.rpartition(".")[0])

    def files_found(self) -> dict[str, str]:
        """What is in the files that are named, by their names; and what is opened and not among them is not seen."""
        found = {word: paths for word, paths in self._files.found().items() if word not in self._written}
        left = found.keys() - {word for opener in self._openers for word in opener.words}
        for opener in self._openers:
            if len(opener.words & found.keys()) < opener.files and not (opener.is_told and left):
                self.unseen.append(f"{opener.where} opens a file whose name is not seen ({opener.how})")
        files: dict[str, str] = {}
        for word, paths in sorted(found.items()):
            try:
                contents = sorted(map(content, paths))
            except OSError as error:
                self.unseen.append(f"{word} cannot be read ({error.strerror or error})")
                continue
            name = f"the file {self._files.place(word)}"
            files[name] = hashlib.sha256("".join((files.get(name, ""), *contents)).encode()).hexdigest()
        return files


def _otherwise(name: str, code: CodeType) -> Iterator[tuple[str, Any]]:
    """What a module that is loaded has under the names in its text, where it is not what the text says.

    A number was changed by other code, or the text since it was loaded.
    """
    if name not in sys.modules:
        return
    known = vars(sys.modules[name])
    for said, value in stated(code).items():
        found = known.get(said)
        if isinstance(value, CodeType):
            of_text = found.__code__ if isinstance(found, FunctionType) else None
            same = of_text is None or code_of(of_text) == code_of(value)
        else:
            same = type(found) is type(value) and found == value
        if not same:
            yield said, found


def _placed(word: str, folder: str) -> str:
    if folder and (word == folder or word.startswith(os.path.join(folder, ""))):
        return f"<here>{word[len(folder) :]}"
    return word


def followed(value: Any, names: tuple[str, ...]) -> tuple[Any, tuple[str, ...]]:
    """What a module's attribute stands for, and which names are left."""
    while names and isinstance(value, ModuleType) and hasattr(value, names[0]):
        value, names = getattr(value, names[0]), names[1:]
    return value, names


def is_shared_chance(value: object) -> bool:
    """Whether it is one of the generators that everybody draws from, which begin anywhere."""
    random = sys.modules.get("random")
    return value is np.random.mtrand._rand or (random is not None and value is getattr(random, "_inst", None))


def _name(value: Any) -> str:
    """Under which name something of Python or of a package is known; "" for the user's."""
    if value is os.environ:
        return "os.environ"
    if is_users_class(type(value)):
        return ""
    if isinstance(value, ModuleType):
        return "" if is_users(value.__name__, getattr(value, "__file__", None)) else value.__name__
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    owner = getattr(value, "__self__", None)
    if is_shared_chance(owner):
        return f"{'random' if type(owner).__module__ == 'random' else 'numpy.random'}.{str(name).rpartition('.')[2]}"
    module = getattr(value, "__module__", None)
    if not isinstance(name, str) or not isinstance(module, str) or is_users(module, file_of(module)):
        return ""
    return f"{module}.{name}"


def cells(function: FunctionType) -> Iterator[Any]:
    """What the function encloses."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            yield None  # it is empty yet


def _modules(one: Import, package: str | None) -> Iterator[str]:
    """All modules that an import runs, or may."""
    try:
        name = resolve_name("." * one.level + one.name, package or "")
    except ImportError:
        return
    parts = name.split(".")
    yield from (".".join(parts[: count + 1]) for count in range(len(parts)))
    yield from (f"{name}.{this}" for this in one.these)


def _file(name: str) -> str | None:
    """The file of a module that may not have been imported; nothing is imported for it."""
    if name in sys.modules:
        return file_of(name)
    path = None
    spec: ModuleSpec | None = None
    parts = name.split(".")
    try:
        for count in range(len(parts)):
            spec = PathFinder.find_spec(".".join(parts[: count + 1]), path)
            if spec is None:
                return None
            path = spec.submodule_search_locations
    except Exception:  # of finders that others have put there
        return None
    return spec.origin if spec is not None else None
