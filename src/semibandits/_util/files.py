"""Files: read if they are files and not too large, written so that nobody ever sees half of one."""

import errno
import io
import math
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits._util.locks import try_lock
from semibandits.errors import SemiBanditError

POSIX = os.name == "posix"
"""False on Windows, where files have no owners, folders are not synced, and what is open can be neither moved nor
removed."""
HALF = re.compile(r"\.(.+)\.(?=[0-9]*[a-f])[0-9a-f]{8}")
"""The name of a file that is just being written, with the name it will have. A date is no such name."""
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
NEW, PRIVATE = 0o666, 0o600
"""Rights to begin with: what the user's umask leaves of these, or only one's own."""
OLD = 24 * 60 * 60
"""Seconds after which a half-written file is taken for one that was left, where there are no locks to tell."""
LARGE, WRITERS, MOST_WRITERS = 2**16, 8, 1000
"""Bytes of a folder, the list itself, above which it is not read for every file; how many half-written files are looked
for instead; how many there may be of one file."""
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
AT_ONCE = 1 << 20
MOST_AT_ONCE = 1 << 30
"""Bytes that are read, and written, in one go."""


class NoPlainFile(OSError):
    """What was to be read is no file, or one that is too large."""

    def __init__(self, path: str | os.PathLike[str], why: str) -> None:
        super().__init__(errno.EINVAL, why, os.fspath(path))

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a regular file, or of one that a link leads to, of at most so many.

    Anything else, which might never end, is not even opened. Raises `OSError`; `NoPlainFile` for what was refused.
    """
    try:
        _check_plain(path, os.stat(path), most)
    except ValueError as error:  # of a name that can be none
        raise NoPlainFile(path, str(error)) from error
    with open(path, "rb", opener=_without_waiting) as file:
        size = _check_plain(path, os.fstat(file.fileno()), most)
        data = bytearray(file.read(size + 1))
        while len(data) <= most and (more := file.read(AT_ONCE)):
            data += more
    if len(data) > most:
        raise NoPlainFile(path, f"it has more than the {most:,} bytes that are read at most")
    return bytes(data)


def _without_waiting(path: str | os.PathLike[str], flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_plain(path: str | os.PathLike[str], found: os.stat_result, most: int) -> int:
    """How large it says it is."""
    if not stat.S_ISREG(found.st_mode):
        raise NoPlainFile(path, f"it is {KINDS.get(stat.S_IFMT(found.st_mode), 'no file')}, and a file is expected")
    if found.st_size > most:
        raise NoPlainFile(path, f"it has {found.st_size:,} bytes; at most {most:,} are read")
    return found.st_size


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file; of what is there and none, `NoPlainFile`."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise NoPlainFile(path, "it is no file")
    handle = _without_waiting(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))  # no file object, which warns if a signal
    try:  # handler raises before it is closed
        return os.read(handle, size)
    finally:
        os.close(handle)


def read_npy(data: bytes) -> NDArray[Any]:
    """The array that the bytes of an .npy file hold; `ValueError` for others, before memory is asked for."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in headers:
        raise ValueError(f"version {version} of the format is not read")
    shape, by_columns, kind = headers[version](file)
    there = len(data) - file.tell()
    if kind.hasobject or not kind.itemsize:
        raise ValueError(f"expected an array of numbers or of words, got {kind}")
    if math.prod(shape) * kind.itemsize != there or max(shape, default=1) > len(data):
        raise ValueError(
            f"the header tells of {kind} of shape {shape!r:.100}, which are not the {there:,} bytes there are"
        )
    values = np.frombuffer(data, dtype=kind, offset=file.tell())
    return values.reshape(shape, order="F" if by_columns else "C").copy()


@contextmanager
def os_errors_as(kind: type[SemiBanditError], what: str) -> Iterator[None]:
    """An `OSError` becomes an error of ours, which says what could not be done, and why."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from error


def replace_file(path: Path, data: bytes) -> None:
    """Writes beside the old file, then puts the new one in its place, to stay there.

    A crash or a power cut leaves one of the two, whole, and once this has returned, the new one. It has the rights of
    the old one before anything is in it. What writers of this file that were killed have left beside it is removed.
    Every `OSError` names this file. A pipe, a socket or a device in its place is left as it is: `NoPlainFile`.
    """
    _refuse_special(path)
    with _naming(path):
        _remove_left(path)
        old = _status(path)
        with _beside(path, NEW if old is None else PRIVATE) as handle:
            if old is not None and POSIX:
                _take_rights(handle, old)
            _write(handle, data)
            _sync(handle)
        sync_folder(path.parent)


def make_folders(folder: Path) -> None:
    """The folder, with those above it that are missing, to stay there; it may be there already."""
    if folder.is_dir():
        with suppress(OSError):
            sync_folder(folder.parent)  # another process may have made it a moment ago
        return
    above = folder.parent
    if above != folder and (above.is_dir() or not os.path.lexists(above)):
        make_folders(above)
    folder.mkdir(exist_ok=True)
    sync_folder(above)


def sync_folder(folder: Path) -> None:
    """What was put into this folder or removed from it stays so, even if the power is cut now."""
    if not POSIX:
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # it may be written to, and not read
        os.sync()
        return
    try:
        _sync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP):  # of file systems that do not know this
            raise
    finally:
        os.close(handle)


def remove_half_written(folder: Path, whole: Callable[[str], object]) -> None:
    """Removes what was left in this folder by processes that were killed, of files whose names `whole` knows."""
    with suppress(OSError):
        for name in os.listdir(folder):
            found = HALF.fullmatch(name)
            if found and whole(found[1]):
                _remove_dead(folder / name)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors name the file that was asked for, and not one beside it, nor none at all."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def _refuse_special(path: Path) -> None:
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return
    if kind not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFDIR):
        raise NoPlainFile(path, f"it is {KINDS.get(kind, 'no file')}, and would be replaced by a file")


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _half(path: Path, number: int) -> Path:
    return path.with_name(f".{path.name}.{0xF0000000 + number:x}")


@contextmanager
def _beside(path: Path, rights: int) -> Iterator[int]:
    """A new file to be written, which takes the place of this one at the end. It is locked while its writer lives."""
    for number in range(MOST_WRITERS):
        half = _half(path, number)
        try:
            handle = os.open(half, CREATE, rights)
        except FileExistsError:  # of another writer
            continue
        with os.fdopen(handle, "wb", buffering=0) as file:
            try:
                if POSIX and (try_lock(handle) is False or not _is_at(half, handle)):
                    continue  # another writer has taken it for one that was left
                yield handle
                if not POSIX:
                    file.close()
                os.replace(half, path)
            except BaseException:
                with suppress(OSError):
                    if not POSIX:
                        file.close()
                        os.unlink(half)
                    elif _is_at(half, handle):
                        os.unlink(half)
                raise
        return
    raise FileExistsError(errno.EEXIST, f"{MOST_WRITERS:,} half-written files stand beside it")


def _is_at(path: Path, handle: int) -> bool:
    """Whether this is still the name of an open file."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        return False


def _take_rights(handle: int, old: os.stat_result) -> None:
    """Those of the old file, and its owner and group where that is allowed; nobody gets more than he had."""
    new = os.fstat(handle)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(handle, old.st_uid, old.st_gid)
        except OSError:
            with suppress(OSError):
                os.fchown(handle, -1, old.st_gid)
        new = os.fstat(handle)
    rights = old.st_mode & 0o777
    if new.st_gid != old.st_gid:
        rights &= 0o707 | (rights & 0o007) << 3
    if stat.S_IMODE(new.st_mode) != rights:
        os.fchmod(handle, rights)


def _write(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left[:MOST_AT_ONCE]) :]


def _sync(handle: int) -> None:
    if sys.platform == "darwin":  # where fsync leaves it to the disk
        import fcntl

        with suppress(OSError, AttributeError):
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def _remove_left(path: Path) -> None:
    """Of a folder that is too large to be listed every time, only the names that writers take first are tried."""
    folder = path.parent
    about = _status(folder)
    if about is not None and about.st_size <= LARGE:
        remove_half_written(folder, path.name.__eq__)
    else:
        for number in range(WRITERS):
            _remove_dead(_half(path, number))


def _remove_dead(left: Path) -> None:
    """Removes a half-written file, unless its writer lives."""
    with suppress(OSError):
        if not POSIX:
            if _is_old(left.lstat()):
                left.unlink()
            return
        handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            about = os.fstat(handle)
            locked = try_lock(handle) if stat.S_ISREG(about.st_mode) else False
            dead = _is_old(about) if locked is None else locked
            if dead and _is_at(left, handle):  # which stays so while we have the lock
                left.unlink()
        finally:
            os.close(handle)


def _is_old(about: os.stat_result) -> bool:
    return stat.S_ISREG(about.st_mode) and about.st_mtime < time.time() - OLD
