"""Locks, and properties worked out once, that a fork does not break.

A forked child has one thread, the one that forked. A lock that another thread held at that time is held for ever.
"""

import _thread
import contextlib
import functools
import logging  # noqa: F401 (which minds forks too, and must not begin to while one of ours waits)
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

GRACE = 1.0
"""Seconds that a fork waits, at most, for what other threads do under locks of ours."""
PATIENCE = 60.0
"""The same for compilers and imports, of which a child could make nothing if they were left half-done."""


if TYPE_CHECKING:
    from functools import cached_property as cached_property  # which type checkers know
else:

    class cached_property(functools.cached_property):  # noqa: N801
        """As that of functools, without its lock, which in Python 3.11 is one for all objects of a class.

        Two threads may both work out the value; the first that is done decides it for all.
        """

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            known, name = instance.__dict__, self.attrname
            return known[name] if name in known else known.setdefault(name, self.func(instance))


class ForkLock(_thread.RLock):  # type: ignore[misc]
    """A lock for `with`, reentrant, that no child finds held by a thread which it does not have.

    A fork takes all of these locks first, so that what they protect is whole in the child. It waits `GRACE` seconds in
    all, so it never waits for a thread that waits for it. A call that takes longer (a slow solver's) is not waited for:
    the child has a fresh lock then, finds things as they were at that moment, and calls `renew`, a method, to replace
    what such a call works in. So a call that may take long changes what others see at its end, and in no time.

    What the forking thread itself holds, it holds in the child too.

    Entering and leaving are Python's own, in C: a signal handler that raises finds no moment in which the lock is held
    and nobody is to release it.
    """

    def __new__(cls, renew: Callable[[], None] | None = None) -> "ForkLock":
        return super().__new__(cls)

    def __init__(self, renew: Callable[[], None] | None = None) -> None:
        self._renew = None if renew is None else weakref.WeakMethod(renew)
        self._taken = False
        _LOCKS.add(weakref.ref(self, _LOCKS.discard))

    def take(self, seconds: float) -> None:
        """Before a fork, if it can be."""
        self._held: bool = self._is_owned()  # type: ignore[attr-defined]
        self._taken = self.acquire(timeout=seconds)

    def give_back(self) -> None:
        """After it, in the parent."""
        if self._taken:
            self._taken = False
            self.release()

    def begin_anew(self) -> None:
        """After it, in the child."""
        taken, self._taken = self._taken, False
        if taken:
            self.release()
            if self._held:  # by the forking thread, which is the one we have
                return
        self._at_fork_reinit()  # type: ignore[attr-defined]
        renew = self._renew and self._renew()
        if renew is not None and not taken:
            renew()


_LOCKS: set[weakref.ref[ForkLock]] = set()
_AWAITED: list[Any] = []
"""Reentrant locks of others."""


def awaited(lock: T) -> T:
    """Makes every fork wait until nobody holds this reentrant lock, for `PATIENCE` seconds at most."""
    _AWAITED.append(lock)
    return lock


generation = 0
"""How many forks lead to this process: another number in a child than in its parent."""
_TURN = threading.RLock()
"""Of threads that fork: one at a time."""
_HELD: list[tuple[list[ForkLock], list[Any]]] = []
"""For a fork in progress: our locks, and those of others that were taken."""


def _before() -> None:
    """Python goes on with the fork whatever is raised here, by a signal handler say."""
    _TURN.acquire()
    locks = [lock for reference in list(_LOCKS) if (lock := reference()) is not None]
    others: list[Any] = []
    _HELD.append((locks, others))
    left = _countdown(PATIENCE)
    for other in _AWAITED:
        with contextlib.suppress(BaseException):
            if other.acquire(timeout=left()):
                others.append(other)
    left = _countdown(GRACE)
    for lock in locks:
        with contextlib.suppress(BaseException):
            lock.take(left())


def _countdown(seconds: float) -> Callable[[], float]:
    end = time.monotonic() + seconds
    return lambda: max(0.0, end - time.monotonic())


def _after(in_child: bool) -> None:
    global generation
    generation += in_child
    locks, others = _HELD.pop()
    for lock in locks:
        if in_child:
            lock.begin_anew()
        else:
            lock.give_back()
    for other in others:
        other.release()
    _TURN.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before,
        after_in_parent=functools.partial(_after, in_child=False),
        after_in_child=functools.partial(_after, in_child=True),
    )
