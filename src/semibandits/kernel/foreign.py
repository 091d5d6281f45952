"""Differences between a user's function as plain Python and as machine code, found before it is compiled."""

import dis
import math
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from semibandits._util.fingerprint.bytecode import BESIDE, parts
from semibandits.kernel import maths
from semibandits.kernel.compiler import is_ours, is_primitive
from semibandits.kernel.content import is_data

SAFE_BUILTINS = {"abs", "bool", "float", "int", "len", "max", "min", "range"}
SAFE_ATTRIBUTES = {
    (math, "log"),
    (math, "sqrt"),
    (np, "abs"),
    (np, "floor"),
    (np, "maximum"),
    (np, "minimum"),
    (np, "sqrt"),
}
LARGE = 2**31
"""Products of smaller whole numbers fit into a word of the machine; Python's have no end."""
NUMBERS = (np.float64, np.int64, np.bool_)
"""Of NumPy, that go with others as Python's do."""
ARRAYS = (*NUMBERS, np.uint64)
CONSTANTS = ("LOAD_CONST", "RETURN_CONST")
WORDS = (maths.word, maths.as_word)
"""What makes a word of a whole number, however large."""


def foreign(function: Any, seen: frozenset[Any] = frozenset()) -> str:
    """What in this function may round otherwise in machine code than in NumPy, or wrap around; nothing: "".

    The compiler knows many functions, but of most of them NumPy has versions of its own.
    """
    if not isinstance(function, FunctionType):
        return f"{function!r:.100} is not a plain function"
    if function in seen:
        return ""
    seen |= {function}
    where = f"{function.__name__}() uses"
    if not is_ours(function):
        for part in parts(function.__code__):
            if why := _foreign_steps(function, part, seen):
                return why
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            if why := _foreign_value(value, seen):
                return f"{where} the default {value!r:.50}, {why}"
    for cell in function.__closure__ or ():
        if why := _foreign_value(cell.cell_contents, seen):
            return why if isinstance(cell.cell_contents, FunctionType) else f"{where} {why}"
    return ""


def _foreign_steps(function: FunctionType, code: CodeType, seen: frozenset[Any]) -> str:
    where = f"{function.__name__}() uses"
    before: Any = None
    module: Any = None
    in_word = False
    for step in dis.get_instructions(code):
        if step.opname in BESIDE:
            continue
        value: Any = None
        if step.argrepr in ("**", "**="):
            if before is None or before.argval != 2:
                return f"{where} a power: write products, or a square as x ** 2"
        elif step.argrepr in ("<<", "<<="):
            return f"{where} a shift to the left, which has no end in Python: write a product with a float"
        elif module is not None:
            name, value = f"{module.__name__}.{step.argval}", getattr(module, str(step.argval), None)
            if not isinstance(value, int | float) and (module, step.argval) not in SAFE_ATTRIBUTES:
                ours = module.__name__.startswith("semibandits")
                why = "which must be imported by its own name" if ours else "which is not in semibandits.kernel"
                return f"{where} {name}, {why}"
            if isinstance(value, int | float) and not in_word and (why := _foreign_value(value, seen)):
                return f"{where} {name}, {why}"
        elif step.opname in CONSTANTS and not in_word and (why := _foreign_constant(step.argval, seen)):
            return f"{where} {step.argval!r:.50}, {why}"
        known = step.opname == "LOAD_GLOBAL" and step.argval in function.__globals__
        value = function.__globals__[step.argval] if known else None
        module = value if isinstance(value, ModuleType) else None
        if known and module is None and not (in_word and isinstance(value, int)):
            if why := _foreign_value(value, seen):
                return why if isinstance(value, FunctionType) else f"{where} {step.argval}, {why}"
        elif step.opname == "LOAD_GLOBAL" and not known and step.argval not in SAFE_BUILTINS:
            return f"{where} {step.argval}, which is not in semibandits.kernel"
        in_word = any(value is one for one in WORDS) or (in_word and module is not None)
        before = step
    return ""


def outsized(function: Any, seen: frozenset[Any] = frozenset()) -> str:
    """What in a user's function, or in those that it calls, is a whole number that no word of the machine holds."""
    if not isinstance(function, FunctionType) or is_ours(function) or function in seen:
        return ""
    names = [name for part in parts(function.__code__) for name in part.co_names]
    values = [function.__globals__.get(name) for name in names]
    values += [getattr(module, name, None) for module in values if isinstance(module, ModuleType) for name in names]
    values += [constant for part in parts(function.__code__) for constant in part.co_consts]
    values += [*(function.__defaults__ or ()), *(cell.cell_contents for cell in function.__closure__ or ())]
    for value in values:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            return f"{function.__name__}() uses a whole number of {value.bit_length()} bits, and the machine's have 64"
        if why := outsized(value, seen | {function}):
            return why
    return ""


def _foreign_constant(value: Any, seen: frozenset[Any]) -> str:
    if isinstance(value, tuple | frozenset):
        return next((why for part in value if (why := _foreign_constant(part, seen))), "")
    return _foreign_value(value, seen) if isinstance(value, int | complex) else ""


def _foreign_value(value: Any, seen: frozenset[Any]) -> str:
    if is_primitive(value):
        return ""
    if isinstance(value, FunctionType):
        return foreign(value, seen)
    if isinstance(value, tuple):
        return next((why for part in value if (why := _foreign_value(part, seen))), "")
    if isinstance(value, np.ndarray | np.generic) and value.dtype.type not in (
        ARRAYS if isinstance(value, np.ndarray) else NUMBERS
    ):
        return f"of {value.dtype}, which goes with other numbers otherwise in machine code"
    if isinstance(value, int | np.int64) and not -LARGE < value < LARGE:
        return "a whole number of 2^31 or more: its products might not fit into a word; write a float, or word(...)"
    return "" if is_data(value) and not isinstance(value, complex) else "which is not in semibandits.kernel"
