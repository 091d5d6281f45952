"""Files that several processes may want to replace."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from semibandits.files import NoPlainFile

try:
    import fcntl
except ImportError:  # on systems that have no such locks
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")


def alone(folder: Path, work: Callable[[], T]) -> T:
    """What the work gives, done while nobody else, in any thread or process, does such work in this folder.

    Who dies lets go of it. Where the system cannot do that, a network's file system perhaps, nobody waits.
    """
    handle = _opened(folder)
    if handle is None:
        return work()
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
            os.close(handle)


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
