"""Telling things apart by what they are made of."""

import hashlib
import sys
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from semibandits.errors import Unsupported

PACKAGE = __name__.partition(".")[0]
SOURCE = "__semibandits_source__"
"""In a module: the digest of the text it was made of."""


def digest(value: object) -> str:
    """The same for the same data, in any process.

    Numbers, arrays and containers count by value; functions by their code, what they enclose, and the functions,
    classes, numbers and containers of numbers of their own package that they name; objects by their attributes and,
    where their class is a user's, by what that defines. What comes from a file whose text is known counts by that, too.
    """
    return hashlib.sha256(_Describer().describe(value)).hexdigest()


class _Describer:
    def __init__(self) -> None:
        self._depth = 0
        self._seen: dict[FunctionType | type, int] = {}

    def _inside(self, part: object) -> bytes:
        self._depth += 1
        if self._depth > 100:
            raise Unsupported("what is to be told from others refers to itself")
        result = hashlib.sha256(self.describe(part)).digest()
        self._depth -= 1
        return result

    def describe(self, value: Any) -> bytes:
        inside = self._inside
        kind = f"{type(value).__module__}.{type(value).__qualname__}:".encode()
        if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
            return kind + repr(value).encode("utf-8", "surrogatepass")
        if isinstance(value, np.ndarray):
            return kind + f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
        if hasattr(value, "indptr"):  # a sparse matrix
            return kind + inside((value.shape, value.indptr, value.indices, value.data))
        if isinstance(value, tuple | list):
            return kind + b"".join(inside(part) for part in value)
        if isinstance(value, set | frozenset):
            return kind + b"".join(sorted(inside(part) for part in value))
        if isinstance(value, dict):
            return kind + b"".join(sorted(inside(key) + inside(part) for key, part in value.items()))
        if isinstance(value, type):
            return kind + f"{value.__module__}.{value.__qualname__}".encode() + self._class(value)
        if isinstance(value, MethodType):
            return kind + inside(value.__func__) + inside(value.__self__)
        if isinstance(value, FunctionType):
            return kind + self._function(value)
        if isinstance(value, CodeType):
            return kind + value.co_code + inside((value.co_names, value.co_consts))
        if "__reduce__" in {name for one in type(value).__mro__[:-1] for name in vars(one)}:
            return kind + inside(value.__reduce__())
        if not hasattr(value, "__dict__"):
            raise Unsupported(f"{value!r:.200} cannot be told from others, so that its runs cannot be stored")
        return kind + inside(_attributes(value)) + self._class(type(value))

    def _function(self, function: FunctionType) -> bytes:
        if function in self._seen:  # it calls itself, or is called twice
            return str(self._seen[function]).encode()
        self._seen[function] = len(self._seen)
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        named = dict(_named(function, function.__code__))
        text = function.__globals__.get(SOURCE)
        return self._inside((function.__code__, function.__defaults__, function.__kwdefaults__, cells, named, text))

    def _class(self, kind: type) -> bytes:
        if kind in self._seen:
            return str(self._seen[kind]).encode()
        self._seen[kind] = len(self._seen)
        return self._inside(_defined(kind))


def _attributes(thing: object) -> dict[str, object]:
    """Without what is but kept to be quicker, and what does not travel."""
    kind = type(thing)
    travels = thing.__getstate__()
    own = travels if isinstance(travels, dict) else vars(thing)
    return {name: value for name, value in own.items() if not isinstance(getattr(kind, name, None), cached_property)}


def _defined(kind: type) -> dict[str, object]:
    """The code of a user's class, and its attributes as far as they are numbers or made of them."""
    found: dict[str, object] = {}
    for one in reversed(kind.__mro__):
        if one is object or _root(one.__module__) == PACKAGE:
            continue
        found[one.__module__] = getattr(sys.modules.get(one.__module__), SOURCE, None)
        for name, value in vars(one).items():
            method = getattr(value, "__func__", getattr(value, "fget", value))
            if isinstance(method, FunctionType) or (not name.startswith("__") and _is_data(method)):
                found[name] = method
    return found


def _is_data(value: object) -> bool:
    """Numbers, words, and what is made of nothing else."""
    if isinstance(value, dict):
        return all(map(_is_data, (*value.keys(), *value.values())))
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_data, value))
    return value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.ndarray)


def _named(function: FunctionType, code: CodeType) -> Iterator[tuple[str, object]]:
    """The globals a function names, as far as they are its own package's and can be told from others."""
    for name in code.co_names:
        value = function.__globals__.get(name)
        own = isinstance(value, FunctionType | type) and _root(value.__module__) == _root(function.__module__)
        alone = isinstance(value, bool | int | float | str | bytes | np.generic | np.ndarray)
        users = _root(function.__module__) != PACKAGE
        if own or alone or (users and value is not None and _is_data(value)):
            yield name, value
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _named(function, part)


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]
