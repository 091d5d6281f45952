"""From a plain function to machine code, without writing it twice.

`compiled(f)` compiles a copy of `f` in which the primitives of `maths` stand in their compiled form and every plain
function that `f` calls is compiled too. `f` itself stays what it was. No fast-math: IEEE arithmetic as in NumPy.

`compiled(f, bindings)` also puts functions and constants in the place of *placeholders*: so one text of a loop serves
every policy, set and environment. The number of lanes, `LANES`, is such a placeholder.
"""

import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

import numpy as np

from semibandits.digest import digest
from semibandits.kernel import internals, maths

PACKAGE = Path(__file__).parent.parent


class _Lanes(int):
    """The number of lanes, told from other integers by being this very object."""


LANES = _Lanes(32)
"""How many runs a block holds: lane loops are `for lane in range(LANES)`, and LANES is a constant when compiled."""


def placeholder(name: str) -> Callable[..., Any]:
    """A function that is not there yet: `compiled` binds another in its place."""

    def missing(*arguments: Any) -> Any:
        raise NotImplementedError(f"{name} must be bound before it is called")

    missing.__name__ = name
    return missing


def lane_loops(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function whose innermost loops are all loops over lanes, and whose arrays never overlap.

    The compiler takes both on trust, see `internals`.
    """
    function.__dict__["lane_loops"] = True
    return function


@functools.cache
def _primitives() -> dict[Any, Any]:
    import numba
    from numba import types
    from numba.extending import intrinsic

    @numba.njit(forceinline=True)
    def where(condition, a, b):  # type: ignore[no-untyped-def]
        return a if condition else b

    @intrinsic  # type: ignore[untyped-decorator]
    def lowest_bit(typing_context, word):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

        return types.uint64(types.uint64), generate

    return {
        maths.lowest_bit: lowest_bit,
        maths.where: where,
        maths.sqrt: math.sqrt,
        maths.log: math.log,
        maths.word: np.uint64,
        maths.as_word: np.uint64,
        maths.as_index: np.int64,
    }


class _Compiler:
    """Compiles functions that share bindings, and remembers what went into them."""

    def __init__(self, bindings: Mapping[Any, Any], lanes: bool) -> None:
        self._bound = {id(name): value for name, value in bindings.items()}
        self._pipeline = internals.lane_pipeline() if lanes else None
        self._done: dict[FunctionType, Any] = {}
        self.made_of: list[object] = [lanes and self._pipeline is not None]
        self.ours = True
        """Whether all functions belong to this package."""

    def function(self, function: Callable[..., Any]) -> Any:
        import numba

        if not isinstance(function, FunctionType):
            raise TypeError(f"expected a plain Python function, got {function!r}")
        if function in self._done:
            return self._done[function]
        code = function.__code__
        self.ours &= Path(code.co_filename).is_relative_to(PACKAGE)
        self.made_of += [code, function.__defaults__]
        names = {name: self._twin(function.__globals__[name]) for name in code.co_names if name in function.__globals__}
        cells = tuple(CellType(self._twin(cell.cell_contents)) for cell in function.__closure__ or ())
        twin = FunctionType(
            code, {**function.__globals__, **names}, function.__name__, function.__defaults__, cells or None
        )
        options: dict[str, Any] = {"error_model": "numpy", "nogil": True}
        if not getattr(function, "lane_loops", False):
            options["forceinline"] = True
        elif self._pipeline is not None:
            options["pipeline_class"] = self._pipeline
        self._done[function] = numba.njit(**options)(twin)
        return self._done[function]

    def _twin(self, value: Any) -> Any:
        """What stands for this global in machine code."""
        value = self._bound.get(id(value), value)
        if value is LANES:
            value = int(LANES)
        if value.__hash__ is not None and value in _primitives():
            return _primitives()[value]
        if value in (maths.betaincinv, maths.ndtri_exp, maths.xlogy):
            return internals.scipy_function(value.__name__)
        if isinstance(value, FunctionType):
            return self.function(value)
        if isinstance(value, bool | int | float | str | tuple):
            self.made_of.append(value)
        return value


@functools.cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code; array-safe functions become functions of single numbers."""
    result: Callable[..., Any] = _Compiler({}, lanes=True).function(function)
    return result


def bound(function: Callable[..., Any], bindings: Mapping[Any, Any], *, lanes: bool = True) -> Callable[..., Any]:
    """The function as machine code with other functions and constants in the place of placeholders.

    `lanes=False` compiles lane loops by plain njit: slower, with the same results. Where all functions belong to this
    package the machine code is kept on disk, under a name made from the functions' own code, so that it is never stale.
    """
    compiler = _Compiler(bindings, lanes)
    result: Callable[..., Any] = compiler.function(function)
    if compiler.ours:
        internals.keep_on_disk(result, digest((compiler.made_of, _kernel())))
    return result


@functools.cache
def _kernel() -> list[bytes]:
    """The text of this room: the primitives and the pipeline."""
    return [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
