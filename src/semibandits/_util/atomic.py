"""Atomic changes: made as a whole or not at all, also where a signal handler raises: Ctrl-C, a time limit.

Python runs signal handlers in the main thread, and looks for signals at certain points of its bytecode only: where a
function begins, where a loop goes back, and after a call. Unpacking an iterator written in C is no call. So a change is
worked out first, and nothing that others see is touched; then it is made in one such operation, down to the release
of the lock. What was interrupted before has changed nothing, and there is nothing to interrupt after it.
"""

from collections.abc import Callable, Iterable
from itertools import starmap
from operator import call, setitem
from typing import Any, TypeAlias, TypeVar

from semibandits._util.forks import ForkLock

T = TypeVar("T")
MOST = 1000
"""Attempts to make a change."""
Step: TypeAlias = tuple[Any, ...]
"""A function written in C and its arguments; it cannot fail."""


def take(steps: Iterable[Step]) -> None:
    """All of these steps, with nothing between them."""
    _ = [*starmap(call, steps)]


class Changes:
    """What is done to a thing, under its lock."""

    def __init__(self, lock: ForkLock) -> None:
        self._acquire, self._release = lock.acquire, lock.release
        self._made = [0]

    def make(
        self,
        read: Callable[..., tuple[Any, ...]] | None,
        work: Callable[..., tuple[T, list[Step]]],
        given: tuple[Any, ...],
    ) -> T:
        """Reads what is given, `read(*given)`, and takes the steps that `work` of that returns beside its result.

        Without `read`, `work` is given it as it is.

        These are worked out again if a signal handler, or code of the user's own, has made a change meanwhile; not for
        ever, as that code may do so every time.
        """
        _ = [*iter(self._acquire, True)]  # calls it once, and nobody looks for signals before `try`
        try:
            known = given if read is None else read(*given)
            made = self._made
            for _ in range(MOST):
                before = made[0]
                result, steps = work(*known)
                steps += ((setitem, made, 0, before + 1), (self._release,))
                whole = starmap(call, steps)
                if made[0] == before:
                    _ = [*whole]
                    return result
            raise RuntimeError(
                f"{MOST} times something was changed while this was worked out: a policy's formula may do that, or a "
                "signal handler"
            )
        except BaseException:
            self._release()
            raise
