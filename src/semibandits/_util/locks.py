"""Locks of files and folders that several processes may want to replace."""

import os
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from semibandits._util.files import NoPlainFile

try:
    import fcntl
except ImportError:  # on systems that have no such locks
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")

_HELD: set[tuple[int, int, int]] = set()
"""The folders in which threads are at such work."""


def alone(folder: Path, work: Callable[[], T]) -> T:
    """What the work gives, done while nobody else, in any thread or process, does such work in this folder.

    Who dies lets go of it. Where the system cannot do that, a network's file system perhaps, nobody waits; nor does a
    signal handler that came in the midst of such work of its own thread.
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


def try_lock(handle: int) -> bool | None:
    """Whether an open file is this process's alone from now on: who dies lets go of it. None where files cannot be."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except (OSError, AttributeError):  # some file systems know no locks, nor do some systems
        return None
    return True


def _opened(folder: Path) -> int | None:
    try:
        return None if fcntl is None else os.open(folder, os.O_RDONLY)
    except OSError:
        return None


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file; of what is there and none, `NoPlainFile`."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NoPlainFile(path, "it is no file")
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        return os.read(handle, size)
    finally:
        os.close(handle)
