"""From a plain function to machine code, without writing it twice.

`compiled(f)` compiles a copy of `f` in which the primitives of `maths` stand in their compiled form and every plain
function that `f` calls is compiled too. `f` itself stays what it was. No fast-math: IEEE arithmetic as in NumPy.

`bound(f, bindings)` also puts functions and constants in the place of *placeholders*: so one text of a loop serves
every policy, set and environment. The number of lanes, `LANES`, is such a placeholder.
"""

import functools
import itertools
import math
import os
import weakref
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from semibandits._util import ownership
from semibandits._util.fingerprint import digest
from semibandits._util.fingerprint.bytecode import parts, read
from semibandits._util.fingerprint.dependencies import followed
from semibandits._util.forks import ForkLock
from semibandits._util.identity_cache import RecentCache
from semibandits._util.ownership import is_users_class, root
from semibandits.kernel import internals, maths
from semibandits.kernel.content import is_data, is_numbers_function, is_plain_data, wholly_seen

PACKAGE = f"{Path(__file__).parent.parent}{os.sep}"
SPECIAL_FUNCTIONS = (maths.betaincinv, maths.ndtri_exp, maths.xlogy)
PRIMITIVES = (
    maths.lowest_bit,
    maths.to_bits,
    maths.from_bits,
    maths.where,
    maths.sqrt,
    maths.log,
    maths.word,
    maths.as_word,
    maths.as_index,
)
KNOWN = frozenset((*PRIMITIVES, *SPECIAL_FUNCTIONS))
MOST_KEPT = 128
"""Pieces of machine code that are kept though nobody holds them: those that were asked for last."""


class _Lanes(int):
    """The number of lanes, told from other integers by being this very object."""


LANES = _Lanes(32)
"""How many runs a block holds: lane loops are `for lane in range(LANES)`, and LANES is a constant when compiled."""


def placeholder(name: str) -> Any:
    """A function or constant that is not there yet: `bound` puts another in its place."""

    def missing(*arguments: Any) -> Any:
        raise RuntimeError(f"{name} must be bound before it is called")

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
    internals.load_numba()
    import numba
    from numba import types
    from numba.extending import intrinsic

    @numba.njit(forceinline=True)
    def where(condition, a, b):  # type: ignore[no-untyped-def]
        return a if condition else b

    @intrinsic
    def lowest_bit(typing_context, word):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

        return types.uint64(types.uint64), generate

    @intrinsic
    def to_bits(typing_context, number):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.bitcast(arguments[0], context.get_value_type(types.int64))

        return types.int64(types.float64), generate

    @intrinsic
    def from_bits(typing_context, bits):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.bitcast(arguments[0], context.get_value_type(types.float64))

        return types.float64(types.int64), generate

    twins = (lowest_bit, to_bits, from_bits, where, math.sqrt, math.log, np.uint64, np.uint64, np.int64)
    return dict(zip(PRIMITIVES, twins, strict=True))


_LOCK = ForkLock()
_ALIVE: "weakref.WeakValueDictionary[str, Any]" = weakref.WeakValueDictionary()
"""All machine code that anybody holds, by token."""
_KEPT: RecentCache[str, Any] = RecentCache(MOST_KEPT)
_PARTS: "weakref.WeakValueDictionary[str, Any]" = weakref.WeakValueDictionary()
"""Functions that are called by others alone, by token: kernels share them."""
_UNSEEN = itertools.count()
"""Marks what is not made of anything that was there before, as far as can be seen."""
_MADE: set[str] = set()
"""The tokens of what may have come from the disk before."""


class _Compiler:
    """Compiles a function, and all it calls, under bindings."""

    def __init__(
        self,
        function: Callable[..., Any],
        bindings: Mapping[Any, Any],
        lanes: bool,
        checked: Collection[Any],
        strict: Collection[Any] = (),
    ) -> None:
        self._checked, self._strict = frozenset(checked), frozenset(strict)
        self._bound = {id(name): value for name, value in bindings.items()}
        self._lanes = lanes and internals.pipeline(True, True) is not None
        self._made_of: dict[tuple[FunctionType, bool], list[object]] = {}
        self._done: dict[tuple[FunctionType, bool], Any] = {}
        self.ours = self.known = True
        """Whether all functions belong to this package; whether the token says all that they are made of."""
        self.token = digest(self._examined(function))

    def result(self, function: Any) -> Any:
        """The compiled function; the same one again if nothing that it is made of has changed."""
        internals.load_numba()
        with _LOCK:
            result = _ALIVE.get(self.token)
            if result is None:
                result = _ALIVE[self.token] = self._compile(function)
                if self.known and self.token not in _MADE:
                    internals.keep_on_disk(result, self.token, self.ours)
                    _MADE.add(self.token)
            _KEPT[self.token] = result
        return result

    def _examined(self, function: Any, checked: bool = False) -> list[object]:
        """What the function is made of. `checked`: every index is, in this function and all it calls."""
        if not isinstance(function, FunctionType):
            raise TypeError(f"expected a plain Python function, got {function!r}")
        checked = checked or function in self._checked
        which = (function, checked)
        if which in self._made_of:
            return self._made_of[which]
        self._made_of[which] = ["calls itself"]
        self.ours &= is_ours(function)
        made_of: list[object] = [self._lanes, _kernel(), checked, function in self._strict, _has_lane_loops(function)]
        if not (is_ours(function) or wholly_seen(function)):
            if any(chain[0] == "getattr" for chain in read(function.__code__).chains):
                raise TypeError("getattr() may find what changes, and cannot be compiled")  # numba remembers the answer
            self.known = False
            made_of.append(next(_UNSEEN))
        made_of += [function.__code__, function.__defaults__, function.__kwdefaults__]
        for name, value in (*self._globals(function).items(), *enumerate(self._cells(function))):
            is_function = isinstance(value, FunctionType) and not is_primitive(value)
            made_of += [name, self._examined(value, checked) if is_function else self._described(str(name), value)]
        for chain in read(function.__code__).chains:
            value, rest = followed(function.__globals__.get(chain[0]), chain[1:])
            if len(rest) < len(chain) - 1:  # a module's, which machine code takes as it is now
                made_of += [chain, self._described(".".join(chain), value)]
        self._made_of[which] = made_of
        return made_of

    def _described(self, name: str, value: Any) -> object:
        """Machine code takes values as they are now: they count."""
        if value is getattr:
            raise TypeError(f"{name} is getattr, which may find what changes, and cannot be compiled")
        if is_primitive(value) or isinstance(value, ModuleType) or _is_known_class(value):
            return "known", value.__name__, getattr(value, "_fields", ())
        if is_data(value):
            self.known &= is_plain_data(value)
            return "data", value
        if is_numbers_function(value):
            return "known", value.__module__ if hasattr(value, "__module__") else "numpy", value.__name__
        if isinstance(value, list | dict | set | bytearray) or is_users_class(type(value)):
            raise TypeError(f"{name} is a {type(value).__name__}, which may change and cannot be compiled")
        self.ours = self.known = False  # known to numba, perhaps, but not to us
        return "object", id(value)

    def _compile(self, function: FunctionType, checked: bool = False) -> Any:
        internals.load_numba()
        checked = checked or function in self._checked
        which = (function, checked)
        if which in self._done:
            if self._done[which] is None:
                raise TypeError(f"{function.__name__} calls itself, which cannot be compiled")
            return self._done[which]
        within = bool(self._done)
        token = digest(self._made_of[which]) if within else self.token
        part = _PARTS.get(token) if within and self._lanes else None
        if part is None:
            self._done[which] = None
            part = self._jitted(function, checked, token, within)
            if within and self._lanes:
                _PARTS[token] = part
        self._done[which] = part
        return part

    def _jitted(self, function: FunctionType, checked: bool, token: str, within: bool) -> Any:
        import numba

        names = {name: self._twin(value, checked) for name, value in self._globals(function).items()}
        cells = tuple(CellType(self._twin(value, checked)) for value in self._cells(function))
        # The linker takes functions of the same name to be the same, so what it is made of is part of a function's
        # name: machine code from the cache may have been made in any process. It never leaves the linker, so what is
        # made again has another name.
        name = f"{function.__name__}_{'checked_' if checked else ''}{token[:16]}{'_again' * (token in _MADE)}"
        code = function.__code__.replace()  # numba changes the flags of a function that it calls under a profiler
        twin = FunctionType(code, {**function.__globals__, **names}, name, function.__defaults__, cells or None)
        twin.__qualname__ = name
        twin.__kwdefaults__ = function.__kwdefaults__
        # Python calls the outermost function only: doors for it into the others would cost a third of the time.
        doors = {"no_cfunc_wrapper": True, "no_cpython_wrapper": within}
        options: dict[str, Any] = {"error_model": "numpy", "nogil": True, **doors}
        if not _has_lane_loops(function):
            options["forceinline"] = True
        if self._lanes:
            options["pipeline_class"] = internals.pipeline(_has_lane_loops(function), not within)
        if function in self._strict:
            options["error_model"] = "python"
        if checked:
            options["boundscheck"] = True
        return numba.njit(**options)(twin)

    def _globals(self, function: FunctionType) -> dict[str, Any]:
        """The globals that the function names, with bound things in the place of placeholders."""
        known = function.__globals__
        names = dict.fromkeys(name for part in parts(function.__code__) for name in part.co_names if name in known)
        return {name: self._resolved(known[name]) for name in names}

    def _cells(self, function: FunctionType) -> list[Any]:
        return [self._resolved(cell.cell_contents) for cell in function.__closure__ or ()]

    def _resolved(self, value: Any) -> Any:
        value = self._bound.get(id(value), value)
        return int(value) if value is LANES else value

    def _twin(self, value: Any, checked: bool) -> Any:
        """What stands for this value in machine code."""
        if is_primitive(value):
            return _primitives().get(value) or internals.scipy_function(value.__name__)
        return self._compile(value, checked) if isinstance(value, FunctionType) else value


def _has_lane_loops(function: FunctionType) -> bool:
    return getattr(function, "lane_loops", False) is True


def is_ours(function: Any) -> bool:
    """Whether it is a plain function of this package."""
    return isinstance(function, FunctionType) and function.__code__.co_filename.startswith(PACKAGE)


def is_primitive(value: Any) -> bool:
    try:
        return value in KNOWN
    except (TypeError, ValueError):  # it has no hash, or is an array
        return False


def _is_known_class(value: Any) -> bool:
    """One of Python's, NumPy's or this package's, which stays what it is."""
    return isinstance(value, type) and root(value.__module__) in ("builtins", "numpy", ownership.PACKAGE)


def compiled(function: Callable[..., Any], *, checked: bool = False) -> Callable[..., Any]:
    """The function as machine code; array-safe functions become functions of single numbers."""
    return bound(function, {}, checked=(function,) if checked else ())


def bound(
    function: Callable[..., Any],
    bindings: Mapping[Any, Any],
    *,
    lanes: bool = True,
    checked: Collection[Callable[..., Any]] = (),
    strict: Collection[Callable[..., Any]] = (),
) -> Callable[..., Any]:
    """The function as machine code with other functions and constants in the place of placeholders.

    In the functions `checked`, and all they call, an index beyond the end of an array raises IndexError, as in NumPy;
    elsewhere it reads or writes what is not there, and lane loops with such checks are no vector instructions. In the
    functions `strict`, which plain code calls with single numbers, a division by zero raises as in Python.

    `lanes=False` compiles lane loops by plain njit: slower, with the same results. Where all that the functions are
    made of can be seen (`content`) machine code is kept on disk, under a name made from that: so it is never stale.
    """
    result: Callable[..., Any] = _Compiler(function, bindings, lanes, checked, strict).result(function)
    return result


@functools.cache
def _kernel() -> str:
    """The source of the kernel: the primitives and the pipeline."""
    from importlib.resources import files  # finds them in a zip, too

    here = sorted(files(__package__).iterdir(), key=lambda path: path.name)
    return digest([path.read_bytes() for path in here if path.name.endswith(".py")])
