"""The content hash, by which things are told apart: what they are made of.

Numbers, arrays and containers count by value, and objects by their attributes. The user's own functions and classes
(see `ownership.py`) count by their code and by all that this names: other functions, values of modules, files that are
there. What belongs to Python, to installed packages or to this package counts by its name.
"""

import hashlib
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from functools import cached_property, partial
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

from semibandits._util.fingerprint.bytecode import code_of
from semibandits._util.fingerprint.dependencies import Dependencies, Scope, cells, is_shared_chance
from semibandits._util.fingerprint.former_names import TODAY, Former
from semibandits._util.fingerprint.named_files import content
from semibandits._util.fingerprint.objects import kind_of, made_of, patches, reduced
from semibandits._util.forks import ForkLock
from semibandits._util.identity_cache import IdentityCache, RecentCache
from semibandits._util.ownership import file_of, folder_of, is_users, is_users_class, is_users_function, root
from semibandits.errors import Unsupported

SOURCE = "__semibandits_source__"
"""In a module: the digest of the text it was made of."""
MANY = 100
NUMBERS_AND_WORDS = (bool, int, float, complex, str, bytes, np.generic, type(None), type(...), type(NotImplemented))
NATIVE = (
    BuiltinFunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
KEPT = ("_thread.", "weakref.", "_weakref.", "_weakrefset.", "threading.")
OURS_KEPT = (ForkLock, IdentityCache, RecentCache)
"""Kinds of objects that hold nothing but what others hold, too: locks, and what is remembered of them."""
ALIVE = (
    "threading.Thread",
    "threading.Timer",
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
    *(
        "__dataclass_fields__",
        "__dataclass_params__",
        "_abc_impl",
        "_value2member_map_",
        "__slotnames__",
        "__parameters__",
        "__orig_bases__",
    ),
}


class Fingerprint(NamedTuple):
    """What something is made of."""

    digest: str
    unseen: tuple[str, ...]
    """What of it cannot be seen, in words."""
    parts: dict[str, str]
    """The user's functions, values and files in it, by name: what tells where a difference is."""


def fingerprint(value: object, former: Former = TODAY) -> Fingerprint:
    """The same for the same data and code, in any process.

    `former` tells what classes of this package were in an earlier edition: then it is that edition's.
    """
    describer = _Describer(former)
    try:
        whole = describer.whole(value)
    except RecursionError as error:
        raise Unsupported("what is to be told from others is nested too deeply") from error
    files = describer.uses.files_found()
    beside = {**describer.uses.texts, **files}
    together = hashlib.sha256(whole + repr(sorted(beside.items())).encode())
    parts = {**describer.parts, **beside}
    return Fingerprint(together.hexdigest(), tuple(dict.fromkeys(describer.uses.unseen)), parts)


def digest(value: object) -> str:
    """The fingerprint of what can be seen wholly."""
    found = fingerprint(value)
    if found.unseen:
        raise Unsupported(f"this cannot be told from others: {'; '.join(found.unseen)}")
    return found.digest


class _Describer:
    """Things are numbered as they are first met, so that they may refer to each other, and are described in turn."""

    def __init__(self, former: Former) -> None:
        self.uses = Dependencies(self.describe)
        self._former = former
        self.parts: dict[str, str] = {}
        self._numbers: dict[int, int] = {}
        self._alive: list[object] = []
        self._tuples: dict[tuple[int, Scope], bytes] = {}
        self._waiting: deque[tuple[Any, Scope, str]] = deque()
        self._name = ""
        """Under which a difference in what is met is noted."""

    def whole(self, value: object) -> bytes:
        """The value, and all that it leads to."""
        result = hashlib.sha256(self.describe(value))
        while self._waiting:
            one, scope, self._name = self._waiting.popleft()
            with self.uses.within(scope):
                described = _hashed(self._named(type(one)), *self._compound(one))
            if self._name:
                self._note(self._name, described)
            result.update(described)
        self._name = ""
        return result.digest()

    def _named(self, kind: type) -> str:
        name = kind_of(kind)
        return self._former.names.get(name, name)

    def describe(self, value: Any) -> bytes:
        """Words and numbers in full, and other things by their numbers."""
        kind = type(value)
        if isinstance(value, NUMBERS_AND_WORDS) and not is_users_class(kind):
            return _hashed(self._named(kind), self._said(value))
        if isinstance(value, CodeType):
            return _hashed(self._named(kind), *map(self.describe, code_of(value)))
        if isinstance(value, PurePath):
            return _hashed(self._named(kind), self._said(str(value)))
        if kind is tuple:
            known = (id(value), self.uses.scope)
            if known not in self._tuples:
                self._tuples[known] = _hashed(self._named(kind), *map(self.describe, value))
                self._alive.append(value)
            return self._tuples[known]
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._numbers)
            self._alive.append(value)  # or another could have its id
            scope = _scope(value)
            name = "" if scope is not None or isinstance(value, FunctionType | type | ModuleType) else self._name
            self._waiting.append((value, scope or self.uses.scope, name))
        return f"#{self._numbers[id(value)]}".encode()

    def _said(self, value: Any) -> str:
        """In a user's code, what a word says of the place where that lies does not count."""
        if type(value) is str:
            return repr(self.uses.word(value))
        return hex(value) if type(value) is int else repr(value)  # which has as many digits as it likes

    def _compound(self, value: Any) -> Iterator[bytes]:
        describe = self.describe
        if isinstance(value, np.ndarray):
            yield f"{value.dtype.str}{value.dtype.names}{value.shape}".encode()
            yield describe(value.tolist()) if value.dtype.hasobject else np.ascontiguousarray(value).tobytes()
            if type(value) is not np.ndarray and hasattr(value, "__dict__"):
                yield from self._attributes(value, dict(vars(value)))
        elif root(type(value).__module__) == "scipy" and hasattr(value, "indptr"):  # a sparse matrix
            yield from map(describe, (value.shape, value.indptr, value.indices, value.data))
        elif type(value) is list:
            said = self._simple(value) if len(value) > MANY else ""
            yield from [said.encode("utf-8", "surrogatepass")] if said else map(describe, value)
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

    def _simple(self, values: list[Any]) -> str:
        """A long list of nothing but words and numbers, at once; "": it is not, or has to be gone through."""
        if not all(type(value) in (str, float, bool) for value in values):
            return ""
        return repr(values) if self.uses.words([value for value in values if type(value) is str]) else ""

    def _apart(self, value: object) -> bytes:
        """Of one of several in no order: what is met in it is not known to the others."""
        waiting, name, met, tuples = self._waiting, self._name, len(self._numbers), self._tuples
        self._waiting, self._tuples = deque(), {}
        with self.uses.within(self.uses.scope):
            result = self.whole(value)
        self._waiting, self._name, self._tuples = waiting, name, tuples
        while len(self._numbers) > met:
            self._numbers.popitem()
        return result

    def _function(self, function: FunctionType) -> Iterator[bytes]:
        if hasattr(function, "registry") and hasattr(function, "dispatch"):  # functools.singledispatch
            yield from map(self.describe, function.registry.items())
            return
        name = f"{function.__module__}.{function.__qualname__}" if is_users_function(function) else ""
        for value in (function.__code__, function.__defaults__, function.__kwdefaults__, *cells(function)):
            yield self._noted(name, value)
        yield from self._attributes(function, dict(vars(function)))
        if name:
            yield repr(function.__globals__.get(SOURCE)).encode()
            for named, value in self.uses.of_function(function):
                yield named.encode() + self._noted(f"{function.__module__}.{named}", value)
            self.uses.read_imports(function.__code__, function.__globals__.get("__package__"))

    def _class(self, kind: type) -> Iterator[bytes]:
        yield self._named(kind).encode()
        if not is_users_class(kind):
            yield from map(self.describe, patches(self._former.shapes.get(kind_of(kind), kind)))
            return
        yield repr(getattr(sys.modules.get(kind.__module__), SOURCE, None)).encode()
        yield self.describe(type(kind))
        yield from map(self.describe, kind.__bases__)
        for name, value in sorted(vars(kind).items()):
            if name not in NOT_OF_A_CLASS:
                yield name.encode() + self._noted(f"{kind_of(kind)}.{name}", value)

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
        name = kind_of(kind)
        if name.startswith(ALIVE) or (isinstance(value, np.ufunc) and value.__name__.endswith("(vectorized)")):
            self.uses.hold(name)
        elif name.startswith(KEPT) or isinstance(value, (*OURS_KEPT, weakref.ref)) or is_shared_chance(value):
            return
        elif (parts := made_of(value)) is not None:
            yield from map(self.describe, parts)
        elif kind is object:
            return
        else:
            try:
                pickled = reduced(value)
            except Exception:
                self.uses.hold(name)
                return
            yield from self._reduced(value, pickled)
        yield self.describe(kind)

    def _reduced(self, value: object, pickled: Any) -> Iterator[bytes]:
        """What pickling would take to make it anew."""
        if isinstance(pickled, str):
            yield pickled.encode()
            yield self._library(value)
            return
        whole: list[Any] = [*pickled, None, None, None]
        state, items, pairs = whole[2:5]
        for part in whole[:2]:
            yield self._noted(kind_of(type(value)) if is_users_class(type(value)) else self._name, part)
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
        users = is_users_function(value) if isinstance(value, FunctionType) else is_users_class(kind)
        for name in sorted(known):
            kept = isinstance(getattr(kind, name, None), cached_property) or (not users and "cache" in name)
            if not kept:
                described = self._noted(f"{kind_of(kind)}.{name}", known[name]) if users else self.describe(known[name])
                yield name.encode() + described

    def _noted(self, name: str, value: Any) -> bytes:
        """The value, and a note of it for who wants to know where a difference is."""
        before, self._name = self._name, name
        described = self.describe(value)
        self._name = before
        if name and value is not None and not described.startswith(b"#"):
            self._note(name, described)
        return described

    def _note(self, name: str, described: bytes) -> None:
        self.parts[name] = _hashed(self.parts.get(name, ""), described).hex()[:16]


def _hashed(*parts: bytes | str) -> bytes:
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.digest()


def _scope(value: Any) -> Scope | None:
    """The user's code that this is part of; None: it is part of what it is in."""
    if isinstance(value, partial):
        return _scope(value.func)
    if isinstance(value, MethodType):
        return _scope(value.__func__)
    if isinstance(value, FunctionType) and is_users_function(value):
        file = os.path.basename(value.__code__.co_filename)
        return Scope(folder_of(value.__globals__) or "", f"{value.__qualname__}() in {file}")
    kind = value if isinstance(value, type) else type(value)
    if kind is type or not is_users_class(kind):
        return None
    return Scope(folder_of({"__file__": file_of(kind.__module__)}) or "", kind_of(kind))
