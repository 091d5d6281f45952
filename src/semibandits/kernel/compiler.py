"""From a plain function to machine code, without writing it twice.

`compiled(f)` compiles a copy of `f` in which the primitives of `maths` stand in their compiled form and every plain
function that `f` calls is compiled too. `f` itself stays what it was. No fast-math: IEEE arithmetic as in NumPy.
"""

import functools
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from semibandits.kernel import maths


@functools.cache
def _primitives() -> dict[Any, Any]:
    import numba

    @numba.njit(forceinline=True)
    def where(condition, a, b):  # type: ignore[no-untyped-def]
        return a if condition else b

    return {
        maths.where: where,
        maths.sqrt: math.sqrt,
        maths.log: math.log,
        maths.word: np.uint64,
        maths.as_word: np.uint64,
    }


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code; array-safe functions become functions of single numbers."""
    import numba

    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a plain Python function, got {function!r}")
    names: dict[str, Any] = {}
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, FunctionType) and value not in _primitives():
            names[name] = compiled(value)
        elif value.__hash__ is not None and value in _primitives():
            names[name] = _primitives()[value]
    twin = FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    result: Callable[..., Any] = numba.njit(error_model="numpy", forceinline=True)(twin)
    return result
