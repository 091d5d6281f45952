"""Writing files so that nobody ever sees half of one, and reading those that are files, and not too large."""

import errno
import io
import math
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HALF = re.compile(r"\.(.+)\.[0-9a-f]{8}")
"""The name of a file that is just being written, with the name it will have."""
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
AT_ONCE = 1 << 20


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


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _check_plain(path: str | os.PathLike[str], found: os.stat_result, most: int) -> int:
    """How large it says it is."""
    if not stat.S_ISREG(found.st_mode):
        raise NoPlainFile(path, f"it is {KINDS.get(stat.S_IFMT(found.st_mode), 'no file')}, and a file is expected")
    if found.st_size > most:
        raise NoPlainFile(path, f"it has {found.st_size:,} bytes; at most {most:,} are read")
    return found.st_size


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


def replace_file(path: Path, data: bytes) -> None:
    """Writes beside the old file, then puts the new one in its place: a crash leaves one of the two, whole."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(beside):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def half_written(folder: Path, whole: Callable[[str], object]) -> Iterator[Path]:
    """What a process that was killed has left in this folder, of files whose names `whole` knows; links are not."""
    for path in folder.glob(".*"):
        found = HALF.fullmatch(path.name)
        if found and whole(found[1]) and path.is_file() and not path.is_symlink():
            yield path
