"""Locks of files and folders between processes: who dies lets go of them."""

import errno
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")

_HELD: set[tuple[int, int, int]] = set()
"""The folders in which threads are at work alone: thread, device, number."""


def try_lock(handle: int) -> bool | None:
    """Whether an open file is this process's alone from now on; None where there are no such locks."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        held = (errno.EWOULDBLOCK, errno.EAGAIN) if os.name == "posix" else (errno.EACCES, errno.EDEADLK)
        return False if error.errno in held else None  # some file systems know no locks
    except AttributeError:  # nor do some systems
        return None
    return True


def alone(folder: Path, work: Callable[[], T]) -> T:
    """What the work gives, done while nobody else, in any thread or process, does such work in this folder.

    Where the system cannot do that, a network's file system perhaps, nobody waits; nor does a signal handler that came
    in the midst of such work of its own thread.
    """
    handle = _opened(folder)
    if handle is None:
        return work()
    about = os.fstat(handle)
    held = (threading.get_ident(), about.st_dev, about.st_ino)
    if held in _HELD:
        os.close(handle)
        return work()
    _HELD.add(held)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        return work()
    finally:
        try:
            fcntl.flock(handle, fcntl.LOCK_UN)  # closing is not enough where a child was forked meanwhile
        except OSError:
            pass
        finally:
            _HELD.discard(held)
            os.close(handle)


def _opened(folder: Path) -> int | None:
    try:
        return None if fcntl is None else os.open(folder, os.O_RDONLY)
    except OSError:
        return None
