"""From plain code to machine code while a learner is at work, with a way back."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from semibandits._util.identity_cache import RecentCache
from semibandits.errors import Unsupported
from semibandits.kernel.compiler import bound
from semibandits.kernel.interrupts import held_back

MOST_REMEMBERED = 1_000

_LOG = logging.getLogger("semibandits")
_PLAIN: RecentCache[tuple[Any, ...], bool] = RecentCache(MOST_REMEMBERED)
"""What is not tried again."""
_SAID: set[str] = set()


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


def _say(why: str) -> None:
    if why not in _SAID:
        _SAID.add(why)
        _LOG.warning("plain Python code goes on, more slowly: %s", why)
