"""Kernel functions while a learner is at work: plain code first, machine code later, with a way back."""

import copy
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from semibandits._util.identity_cache import RecentCache
from semibandits.errors import Unsupported
from semibandits.kernel.compiler import bound
from semibandits.kernel.interrupts import held_back

T = TypeVar("T")

PATIENCE = 0.5
"""Seconds that a kernel function may cost as plain code, in this process, before it is compiled."""
MOST_REMEMBERED = 1_000

_LOG = logging.getLogger("semibandits")
_SPENT: RecentCache[tuple[Any, ...], list[float]] = RecentCache(MOST_REMEMBERED)
"""Seconds of plain code, by kernel function and what it is bound to: of all who use it."""
_PLAIN: RecentCache[tuple[Any, ...], bool] = RecentCache(MOST_REMEMBERED)
"""What is not tried again."""
_SAID: set[str] = set()


class Warm:
    """A kernel function at work: plain code until that has cost `PATIENCE`, machine code from then on.

    Both give the same bits: once, at the change, both are at work, and machine code that does something else, or cannot
    be had, is not used. Compiling costs a second or two, once on a machine; so little use needs no compiler.
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
        """`costly`: seconds of a call, on average, below which compiling is not worth the wait."""
        self.code: Callable[..., Any] | None = None
        self.refused = False
        """Whether machine code was tried, and is not used."""
        self._function, self._bindings = function, bindings
        self._compilable, self._costly, self._patience = compilable, costly, patience
        key = (function, *bindings.items())
        self._spent = _SPENT.get(key, [0.0])
        _SPENT[key] = self._spent
        self._calls, self._seconds = 0, 0.0

    def run(self, plain: Callable[..., T], compiled: Callable[..., T], *arguments: Any) -> T:
        """`compiled(code, *arguments)` if there is machine code, else `plain(*arguments)`."""
        if self.code is not None:
            return compiled(self.code, *arguments)
        if not self._compilable or self.refused:
            return plain(*arguments)
        patience = PATIENCE if self._patience is None else self._patience
        if self._spent[0] >= patience and self._seconds >= self._costly * (self._calls or 1):
            return self._go_over(plain, compiled, arguments)
        began = time.perf_counter()
        result = plain(*arguments)
        seconds = time.perf_counter() - began
        self._spent[0] += seconds
        self._seconds += seconds
        self._calls += 1
        return result

    def _go_over(self, plain: Callable[..., T], compiled: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        others = copy.deepcopy(arguments)
        result = plain(*arguments)
        code = agreeing(self._function, self._bindings, lambda code: _alike(compiled(code, *others), result))
        self.code, self.refused = code, code is None
        return result


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
