"""What kernel functions are made of, and whether all of it can be seen: if so, their machine code may be kept."""

import builtins
import math
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from semibandits._util.fingerprint.bytecode import read
from semibandits._util.fingerprint.dependencies import followed

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def is_data(value: Any) -> bool:
    """Numbers, words and arrays, and tuples of nothing else."""
    if isinstance(value, tuple):
        return all(map(is_data, value))
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic)


def is_plain_data(value: Any) -> bool:
    """The same, of Python's and NumPy's own types: their values say all there is."""
    if type(value) is tuple:
        return all(map(is_plain_data, value))
    if isinstance(value, np.ndarray | np.generic):
        own = type(value) is np.ndarray or type(value).__module__ == "numpy"
        return own and value.dtype.names is None and value.dtype.subdtype is None
    return type(value) in PLAIN


def is_numbers_function(value: Any) -> bool:
    """A function of `math` or NumPy that is not written in Python, and is there what it is called."""
    if not isinstance(value, BuiltinFunctionType | np.ufunc):
        return False
    return any(getattr(module, value.__name__, None) is value for module in (math, np))


def wholly_seen(function: FunctionType) -> bool:
    """Whether a user's function refers to nothing whose content is not looked at.

    What its names stand for is looked at one by one. That does not do for a module that is used as a whole, under
    another name perhaps; for defaults that are no numbers; and for functions of Python that were replaced.
    """
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    if not all(map(is_plain_data, defaults)):
        return False
    if any(isinstance(cell.cell_contents, ModuleType) for cell in function.__closure__ or ()):
        return False
    reading = read(function.__code__)
    if reading.imports:
        return False
    for chain in reading.chains:
        if chain[0] in function.__globals__:
            value, _ = followed(function.__globals__[chain[0]], chain[1:])
            if isinstance(value, ModuleType):
                return False
        elif getattr(getattr(builtins, chain[0], None), "__module__", None) != "builtins":
            return False
    return True
