"""Kernel functions while a learner is at work: plain code first, machine code later, with a way back."""

import contextlib
import copy
import logging
import time
import weakref
from collections.abc import Callable, Hashable, Mapping
from contextvars import ContextVar, Token
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np

from semibandits._util import forks
from semibandits._util.identity_cache import RecentCache
from semibandits.errors import Unsupported
from semibandits.kernel import background
from semibandits.kernel.compiler import bound
from semibandits.kernel.interrupts import held_back

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that a kernel function may cost as plain code, in this process, before it is compiled; 0: it is at once, and
the call waits for it."""
MOST_REMEMBERED = 1_000
MOST_KINDS = 8
"""Of arguments of other types, for which a function is compiled anew."""

_LOG = logging.getLogger("semibandits")
_SPENT: RecentCache[tuple[Any, ...], list[float]] = RecentCache(MOST_REMEMBERED)
"""Seconds of plain code, by kernel function and what it is bound to: of all who use it."""
_PLAIN: RecentCache[tuple[Any, ...], bool] = RecentCache(MOST_REMEMBERED)
"""What is not tried again."""
_SAID: set[str] = set()


class Manner:
    """How kernel functions are had within `with`, in this thread: as machine code at once, or as plain code alone.

    It is in force for as long as this object lives, so that a signal handler that raises cannot leave it behind.
    """

    def __init__(self, now: bool) -> None:
        self.now = now
        self.had: list[str] = []
        """The names of those that are machine code by now."""

    def __enter__(self) -> Self:
        self._token: Token[Any] = _MANNER.set(weakref.ref(self))
        return self

    def __exit__(self, *error: object) -> None:
        _MANNER.reset(self._token)


_MANNER: ContextVar[Callable[[], Manner | None]] = ContextVar("semibandits_manner", default=lambda: None)


def at_once() -> Manner:
    """Within, all that can be compiled is, and who calls it waits."""
    return Manner(now=True)


def plain_code() -> Manner:
    """Within, nothing is compiled, and no machine code is used."""
    return Manner(now=False)


class Warm:
    """A kernel function at work: plain code until that has cost `PATIENCE`, machine code from then on.

    It is compiled in the background (`kernel.background`) while plain code goes on, and nobody waits for it. Both give
    the same bits: once, both are at work on the same arguments, and machine code that does something else, or cannot
    be had, is not used. It is used for arguments of those types alone for which it was compiled, or the call would
    compile.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        bindings: Mapping[Any, Any],
        *,
        compilable: bool = True,
        costly: float = 0.0,
        patience: float | None = None,
    ) -> None:
        """`costly`: seconds of a call, on average, below which compiling is not worth the work."""
        self.code: Callable[..., Any] | None = None
        self.refused = False
        """Whether machine code was tried, and is not used."""
        self._function, self._bindings = function, bindings
        self.compilable, self._costly, self._patience = compilable, costly, patience
        self._ready: frozenset[Hashable] = frozenset()
        """The kinds of arguments for which the machine code is there, and was compared."""
        self._asked: set[Hashable] = set()
        key = (function, *bindings.items())
        self._spent = _SPENT.get(key, [0.0])
        _SPENT[key] = self._spent
        self._calls, self._seconds = 0, 0.0

    def run(self, plain: Callable[..., T], compiled: Callable[..., T], *arguments: Any) -> T:
        """`compiled(code, *arguments)` if there is machine code, else `plain(*arguments)`."""
        manner = _MANNER.get()()
        if not self.compilable or self.refused or (manner is not None and not manner.now):
            return plain(*arguments)
        code = self.code
        if code is not None:
            kind = kind_of(arguments)
            if kind in self._ready:
                if manner is not None:
                    manner.had.append(self._function.__name__)
                return compiled(code, *arguments)
        patience = PATIENCE if self._patience is None else self._patience
        if manner is not None or (patience == 0.0 and self._is_costly()):
            return self._go_over(plain, compiled, arguments, manner)
        if self._spent[0] >= patience and self._is_costly() and self._may_ask(kind := kind_of(arguments)):
            return self._ask(plain, compiled, arguments, kind)
        began = time.perf_counter()
        result = plain(*arguments)
        seconds = time.perf_counter() - began
        self._spent[0] += seconds
        self._seconds += seconds
        self._calls += 1
        return result

    def _is_costly(self) -> bool:
        return self._seconds >= self._costly * (self._calls or 1)

    def _may_ask(self, kind: Hashable) -> bool:
        return (forks.generation, kind) not in self._asked and len(self._asked) < MOST_KINDS

    def _ask(
        self, plain: Callable[..., T], compiled: Callable[..., T], arguments: tuple[Any, ...], kind: Hashable
    ) -> T:
        """The plain result, with which machine code will be compared in the background."""
        others = copy.deepcopy(arguments)
        result = plain(*arguments)
        expected = copy.deepcopy(result)
        background.submit(partial(self._try, compiled, others, expected, kind))
        self._asked.add((forks.generation, kind))
        return result

    def _go_over(
        self, plain: Callable[..., T], compiled: Callable[..., T], arguments: tuple[Any, ...], manner: Manner | None
    ) -> T:
        """The same here and now."""
        others, kind = copy.deepcopy(arguments), kind_of(arguments)
        with plain_code() if manner is not None else contextlib.nullcontext():  # what it calls is not by itself
            result = plain(*arguments)
        with background.hurried():
            self._try(compiled, others, result, kind)
        if manner is not None and not self.refused:
            manner.had.append(self._function.__name__)
        return result

    def _try(self, compiled: Callable[..., T], arguments: tuple[Any, ...], expected: T, kind: Hashable) -> None:
        if self.refused or kind in self._ready:
            return
        code = agreeing(self._function, self._bindings, lambda code: _alike(compiled(code, *arguments), expected))
        if code is None:
            self.refused = True
        else:
            self._ready |= {kind}
            self.code = code


def kind_of(value: Any) -> Any:
    """What the compiler makes of a value, or more: where this is the same, the same machine code serves."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num & ~_OWN
    if isinstance(value, tuple):
        return type(value), *map(kind_of, value)
    return type(value)


_OWN = 0x4
"""NumPy's flag of an array that owns its numbers, which makes no difference."""


def taken(free: list[T], make: Callable[[], T]) -> T:
    """One of the free work spaces, or a new one."""
    try:
        return free.pop()
    except IndexError:
        return make()


def agreeing(
    function: Callable[..., Any], bindings: Mapping[Any, Any], agrees: Callable[[Callable[..., Any]], bool]
) -> Callable[..., Any] | None:
    """The function as machine code, where `agrees` finds that this does what the plain code does.

    None: it does something else, or cannot be had, so that plain code is to go on. Why is said once, as a warning in
    the log of this package, and no second attempt is made in this process.
    """
    key = (function, *bindings.items())
    if key in _PLAIN:
        return None
    with held_back():
        try:
            code = bound(function, bindings)
            if agrees(code):
                return code
            why = f"{function.__name__}() does not do the same as machine code"
        except Unsupported as error:  # there is no compiler
            why = str(error)
        except Exception as error:
            why = f"{function.__name__}() cannot be compiled ({type(error).__name__}: {error!s:.200})"
        _PLAIN[key] = True
    _say(why)
    return None


def _alike(one: Any, other: Any) -> bool:
    """The same bits, array by array."""
    if isinstance(one, tuple):
        return all(map(_alike, one, other)) and len(one) == len(other)
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other, equal_nan=True)


def _say(why: str) -> None:
    if why not in _SAID:
        _SAID.add(why)
        _LOG.warning("plain Python code goes on, more slowly: %s", why)
