"""Telling things apart by what they are made of."""

import hashlib
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from semibandits.errors import Unsupported


def digest(value: object) -> str:
    """The same for the same data, in any process: numbers, arrays, containers, functions by their code, and objects by
    their class and attributes."""
    return hashlib.sha256(_describe(value, depth=0)).hexdigest()


def _describe(value: Any, depth: int) -> bytes:
    def inside(part: object) -> bytes:
        return hashlib.sha256(_describe(part, depth + 1)).digest()

    kind = f"{type(value).__module__}.{type(value).__qualname__}:".encode()
    if depth > 50:
        raise Unsupported("what is to be stored refers to itself")
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return kind + repr(value).encode("utf-8", "surrogatepass")
    if isinstance(value, np.ndarray):
        return kind + f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, tuple | list):
        return kind + b"".join(inside(part) for part in value)
    if isinstance(value, set | frozenset):
        return kind + b"".join(sorted(inside(part) for part in value))
    if isinstance(value, dict):
        return kind + b"".join(sorted(inside(key) + inside(part) for key, part in value.items()))
    if isinstance(value, type):
        return kind + f"{value.__module__}.{value.__qualname__}".encode()
    if isinstance(value, MethodType):
        return kind + inside(value.__func__) + inside(value.__self__)
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return kind + inside((value.__code__, value.__defaults__, value.__kwdefaults__, cells))
    if isinstance(value, CodeType):
        return kind + value.co_code + inside((value.co_names, value.co_consts))
    if not hasattr(value, "__dict__"):
        raise Unsupported(f"{value!r:.200} cannot be told from others, so that its runs cannot be stored")
    return kind + inside(vars(value))
