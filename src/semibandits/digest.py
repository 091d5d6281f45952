"""Telling things apart by what they are made of.

Numbers, arrays and containers count by value, and objects by their attributes. The user's own functions and classes
(see `whose.py`) count by their code and by all that this names: other functions, values of modules, files that are
there. What belongs to Python, to installed packages or to this package counts by its name.
"""

import copyreg
import hashlib
import os
import sys
import warnings
import weakref
from collections.abc import Iterator
from functools import _lru_cache_wrapper, cached_property, partial
from pathlib import PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

import numpy as np

from semibandits.errors import Unsupported
from semibandits.named_files import content
from semibandits.reached import Reached, cells, is_shared_chance
from semibandits.whose import PACKAGE, file_of, folder_of, is_users, is_users_class, is_users_function, root

SOURCE = "__semibandits_source__"
"""In a module: the digest of the text it was made of."""
NUMBERS_AND_WORDS = (bool, int, float, complex, str, bytes, np.generic, type(None), type(...), type(NotImplemented))
NATIVE = (
    BuiltinFunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
KEPT = ("_thread.", "weakref.", "_weakref.", "_weakrefset.", "threading.", "semibandits.forks.", "semibandits.kept.")
"""Kinds of objects that hold nothing but what others hold, too: locks, and what is remembered of them."""
ALIVE = (
    "threading.Thread",
    "_ctypes.",
    "ctypes.",
    "subprocess.",
    "multiprocessing.",
    "concurrent.",
    "asyncio.",
    "mmap.",
)
"""Kinds of objects that reach out of this process, or into memory."""
NOT_OF_A_CLASS = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__abstractmethods__"),
    *("__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
    *("__dataclass_fields__", "__dataclass_params__", "_abc_impl", "__slotnames__", "__parameters__", "__orig_bases__"),
}


class Fingerprint(NamedTuple):
    """What something is made of."""

    digest: str
    unseen: tuple[str, ...]
    """What of it cannot be seen, in words."""
    parts: dict[str, str]
    """The user's functions, values and files in it, by name: what tells where a difference is."""


def fingerprint(value: object) -> Fingerprint:
    """The same for the same data and code, in any process."""
    describer = _Describer()
    try:
        whole = describer.describe(value)
    except RecursionError as error:
        raise Unsupported("what is to be told from others is nested too deeply") from error
    files = describer.reached.files_found()
    beside = {**describer.reached.texts, **files}
    made_of = hashlib.sha256(whole + repr(sorted(beside.items())).encode())
    parts = {**describer.parts, **beside}
    return Fingerprint(made_of.hexdigest(), tuple(dict.fromkeys(describer.reached.unseen)), parts)


def digest(value: object) -> str:
    """The fingerprint of what can be seen wholly."""
    found = fingerprint(value)
    if found.unseen:
        raise Unsupported(f"this cannot be told from others: {'; '.join(found.unseen)}")
    return found.digest


class _Describer:
    """Things are numbered as they are first met, so that they may refer to each other."""

    def __init__(self) -> None:
        self.reached = Reached(self.describe)
        self.parts: dict[str, str] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[object] = []

    def describe(self, value: Any) -> bytes:
        kind = _kind(type(value)).encode()
        if isinstance(value, NUMBERS_AND_WORDS):
            return _hashed(kind, self._word(value) if type(value) is str else repr(value))
        if isinstance(value, CodeType):
            return _hashed(kind, *map(self.describe, _code(value)))
        if isinstance(value, PurePath):
            return _hashed(kind, self._word(str(value)))
        if type(value) is tuple:
            return _hashed(kind, *map(self.describe, value))
        if id(value) in self._numbers:
            return f"#{self._numbers[id(value)]}".encode()
        self._numbers[id(value)] = len(self._numbers)
        self._alive.append(value)  # or another could have its id
        with self.reached.within(*_scope(value)):
            return _hashed(kind, *self._compound(value))

    def _word(self, word: str) -> str:
        """In a user's code, what it says of the place where that lies does not count."""
        return repr(self.reached.word(word))

    def _compound(self, value: Any) -> Iterator[bytes]:
        describe = self.describe
        if isinstance(value, np.ndarray):
            yield f"{value.dtype.str}{value.dtype.names}{value.shape}".encode()
            yield describe(value.tolist()) if value.dtype.hasobject else np.ascontiguousarray(value).tobytes()
            if type(value) is not np.ndarray and hasattr(value, "__dict__"):
                yield from self._attributes(value, dict(vars(value)))
        elif hasattr(value, "indptr") and hasattr(value, "indices"):  # a sparse matrix
            yield from map(describe, (value.shape, value.indptr, value.indices, value.data))
        elif type(value) is list:
            yield from map(describe, value)
        elif isinstance(value, set | frozenset):
            yield from sorted(map(self._apart, value))
        elif type(value) in (dict, MappingProxyType):
            for key, part in value.items():
                yield describe(key)
                yield describe(part)
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, FunctionType):
            yield from self._function(value)
        elif isinstance(value, ModuleType):
            yield from self._module(value)
        elif isinstance(value, NATIVE):
            yield from self._native(value)
        else:
            yield from self._object(value)

    def _apart(self, value: object) -> bytes:
        """Of one of several in no order: what is met in it is not known to the others."""
        before = dict(self._numbers)
        result = self.describe(value)
        self._numbers = before
        return result

    def _function(self, function: FunctionType) -> Iterator[bytes]:
        own = [function.__code__, function.__defaults__, function.__kwdefaults__]
        described = [self.describe(part) for part in own]
        for value in cells(function):
            described.append(self.describe(value))
            own.append(value)
        yield from described
        yield from self._attributes(function, dict(vars(function)))
        if is_users_function(function):
            name = f"{function.__module__}.{function.__qualname__}"
            self._note(name, *(one for one, part in zip(described, own, strict=True) if not callable(part)))
            yield repr(function.__globals__.get(SOURCE)).encode()
            for name, value in self.reached.of_function(function):
                yield name.encode() + self._noted(f"{function.__module__}.{name}", value)
            self.reached.read_imports(function.__code__, function.__globals__.get("__package__"))

    def _class(self, kind: type) -> Iterator[bytes]:
        yield _kind(kind).encode()
        if not is_users_class(kind):
            yield from map(self.describe, _patches(kind))
            return
        yield repr(getattr(sys.modules.get(kind.__module__), SOURCE, None)).encode()
        yield self.describe(type(kind))
        yield from map(self.describe, kind.__bases__)
        for name, value in sorted(vars(kind).items()):
            if name not in NOT_OF_A_CLASS:
                yield name.encode() + self._noted(f"{_kind(kind)}.{name}", value)

    def _module(self, module: ModuleType) -> Iterator[bytes]:
        """A user's module that is used as a whole counts by all that is in it."""
        yield module.__name__.encode()
        if is_users(module.__name__, getattr(module, "__file__", None)):
            for name, value in sorted(vars(module).items()):
                if not name.startswith("__"):
                    yield name.encode() + self._noted(f"{module.__name__}.{name}", value)

    def _native(self, function: Any) -> Iterator[bytes]:
        """A function that is not written in Python."""
        owner = getattr(function, "__self__", None)
        yield str(getattr(function, "__qualname__", function)).encode()
        yield str(getattr(function, "__module__", None)).encode()
        if owner is not None and not isinstance(owner, ModuleType) and not is_shared_chance(owner):
            yield self.describe(owner)
        yield self._library(function)

    def _library(self, thing: Any) -> bytes:
        """The machine code of a user's own extension."""
        module = getattr(thing, "__module__", None)
        file = file_of(module)
        return content(file).encode() if file is not None and is_users(module, file) and os.path.isfile(file) else b""

    def _object(self, value: Any) -> Iterator[bytes]:
        kind = type(value)
        name = _kind(kind)
        if name.startswith(ALIVE):
            self.reached.hold(name)
        elif name.startswith(KEPT) or isinstance(value, weakref.ref) or is_shared_chance(value):
            return
        elif (made_of := _made_of(value)) is not None:
            yield from map(self.describe, made_of)
        elif kind is object:
            return
        else:
            try:
                reduced: Any = _reduce(value)
            except Exception:
                self.reached.hold(name)
                return
            yield from self._reduced(value, reduced)
        yield self.describe(kind)

    def _reduced(self, value: object, reduced: Any) -> Iterator[bytes]:
        """What pickling would take to make it anew."""
        if isinstance(reduced, str):
            yield reduced.encode()
            yield self._library(value)
            return
        whole: list[Any] = [*reduced, None, None, None]
        state, items, pairs = whole[2:5]
        yield from map(self.describe, whole[:2])
        states = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        for one in states:
            if isinstance(one, dict) and all(isinstance(name, str) for name in one):
                yield from self._attributes(value, one)
            else:
                yield self.describe(one)
        yield self.describe(list(items) if items is not None else None)
        yield self.describe(list(pairs) if pairs is not None else None)

    def _attributes(self, value: object, known: dict[str, Any]) -> Iterator[bytes]:
        """Without what is but kept to be quicker."""
        kind = type(value)
        users = is_users_class(kind)
        for name in sorted(known):
            kept = isinstance(getattr(kind, name, None), cached_property) or (not users and "cache" in name)
            if not kept:
                described = self._noted(f"{_kind(kind)}.{name}", known[name]) if users else self.describe(known[name])
                yield name.encode() + described

    def _noted(self, name: str, value: Any) -> bytes:
        described = self.describe(value)
        if value is not None and not callable(value) and not isinstance(value, ModuleType | staticmethod | property):
            self._note(name, described)
        return described

    def _note(self, name: str, *described: bytes) -> None:
        """For who wants to know where a difference is."""
        self.parts[name] = _hashed(self.parts.get(name, ""), *described).hex()[:16]


def _hashed(*parts: bytes | str) -> bytes:
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.digest()


def _kind(kind: type) -> str:
    module = "__main__" if kind.__module__ == "__mp_main__" else kind.__module__
    return f"{module}.{kind.__qualname__}"


def _code(code: CodeType) -> tuple[Any, ...]:
    """What code does: not on which lines it stands, nor what its functions are called."""
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_exceptiontable)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, code.co_consts, names, counts)


def _scope(value: Any) -> tuple[str | None, str]:
    """Where the user's code lies that this is part of, and what it is called; None: it is part of what it is in."""
    if isinstance(value, partial):
        return _scope(value.func)
    if isinstance(value, MethodType):
        return _scope(value.__func__)
    if isinstance(value, FunctionType) and is_users_function(value):
        file = os.path.basename(value.__code__.co_filename)
        return folder_of(value.__globals__) or "", f"{value.__qualname__}() in {file}"
    kind = value if isinstance(value, type) else type(value)
    if kind is type or not is_users_class(kind):
        return None, ""
    return folder_of({"__file__": file_of(kind.__module__)}) or "", _kind(kind)


def _patches(kind: type) -> Iterator[Any]:
    """What a user has put into classes of this package."""
    for one in kind.__mro__:
        if root(one.__module__) == PACKAGE:
            for name, value in sorted(vars(one).items()):
                function = getattr(value, "__func__", getattr(value, "fget", value))
                if isinstance(function, FunctionType) and is_users_function(function):
                    yield name, function


def _made_of(value: Any) -> tuple[Any, ...] | None:
    """What counts of objects that pickling cannot take apart, or into what differs from use to use."""
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, _lru_cache_wrapper):
        return value.__wrapped__, sorted(value.cache_parameters().items())
    if isinstance(value, staticmethod | classmethod):
        return (value.__func__,)
    if isinstance(value, property):
        return value.fget, value.fset, value.fdel
    if isinstance(value, cached_property):
        return (value.func,)
    if isinstance(value, np.vectorize):
        return value.pyfunc, value.otypes, value.signature, value.excluded
    if hasattr(type(value), "py_func") or "py_func" in getattr(value, "__dict__", ()):  # compiled by numba
        return (value.py_func,)
    if type(value).__module__.partition(".")[0] == "pandas":
        return _table(value)
    return None


def _reduce(value: Any) -> Any:
    """What pickling takes of it."""
    reduce: Any = copyreg.dispatch_table.get(type(value))
    if reduce is not None:
        return reduce(value)
    if type(value).__module__ != "itertools":
        return value.__reduce_ex__(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it will not always be so
        return value.__reduce_ex__(4)


def _table(value: Any) -> tuple[Any, ...] | None:
    """What is in a table, a column or an index of pandas."""
    name = type(value).__name__
    if name == "DataFrame":
        return value.columns, value.index, [value.iloc[:, column] for column in range(value.shape[1])]
    if name == "Series":
        return value.name, value.index, str(value.dtype), np.asarray(value)
    if name.endswith("Index"):
        return list(value.names), str(value.dtype), np.asarray(value)
    return None
