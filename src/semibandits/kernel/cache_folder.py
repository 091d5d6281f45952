"""The folder of machine code. To load machine code is to run it, so nothing is read that others could have put there.

The folder is opened step by step from the root, and everything is looked at once it is open: what is checked is what is
used. Every folder on the way belongs to root or to the user, and nobody else can write to it, as ssh wants it of its
keys; but a folder like /tmp is passed, where all can write and none can remove or rename what is another's. A group
that has the user as its only member is no other.

Windows has no such owners and modes; there, the folder is used as it is.

So files are not written by `_util.files`, which goes by paths: all that is done here is done to what was opened and
checked. What a power cut takes from a cache is compiled again.
"""

import contextlib
import errno
import functools
import logging
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 1 << 26
LEFT_AFTER = 86_400.0
"""Seconds after which a file that is still being written never will be."""
HALF = re.compile(r"[0-9a-f]{64}\.[0-9a-f]{16}")
"""The name of a file that is being written."""
POSIX = os.name == "posix"
FOLDER = (getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW) if POSIX else 0
"""How folders on the way are opened: not to be read, where the system knows such a thing."""
MOST_LINKS = 40

_LOG = logging.getLogger("semibandits")
_SAID: set[str] = set()


class Refused(OSError):
    """Something that is not to be trusted."""


def cache_folder() -> Path | None:
    """Where machine code is kept: the folder named by SEMIBANDITS_CACHE, else the user's cache; None: nowhere.

    Why it is nowhere is said once, in the log of this package (level INFO).
    """
    try:
        folder = _wanted()
        with _opened(folder):
            return folder
    except (OSError, RuntimeError, ValueError) as error:
        if str(error) not in _SAID:
            _SAID.add(str(error))
            _LOG.info("machine code is not kept on disk: %s", error)
        return None


def read(folder: Path, name: str) -> bytes:
    """A file of this folder. Raises `OSError`, `Refused` for one that others may have written."""
    with _opened(folder) as door:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        number = os.open(door.path(name), flags, dir_fd=door.number)
        try:
            found = os.fstat(number)
            _check_file(found, name)
            with os.fdopen(number, "rb", closefd=False) as file:
                return file.read(found.st_size)
        finally:
            os.close(number)


def write(folder: Path, name: str, data: bytes) -> None:
    """Puts a whole file there, or none; removes what writers that were killed have left."""
    with _opened(folder) as door:
        _tidy(door)
        beside = f"{name.partition('.')[0]}.{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            with os.fdopen(os.open(door.path(beside), flags, 0o600, dir_fd=door.number), "wb") as file:
                file.write(data)
            os.replace(door.path(beside), door.path(name), src_dir_fd=door.number, dst_dir_fd=door.number)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(door.path(beside), dir_fd=door.number)
            raise


class _Door:
    """An open folder: `number` is its descriptor; None on Windows, where files go by their whole paths."""

    def __init__(self, folder: Path, number: int | None) -> None:
        self._folder, self.number = folder, number

    def path(self, name: str) -> str:
        return name if self.number is not None else str(self._folder / name)

    def names(self) -> list[str]:
        return os.listdir(self._folder if self.number is None else self.number)


def _wanted() -> Path:
    named = os.environ.get("SEMIBANDITS_CACHE")
    if named:
        folder = Path(named).expanduser()
        if not folder.is_absolute():
            raise Refused(f"SEMIBANDITS_CACHE must be an absolute path, got {named!r:.200}")
        return folder
    usual = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not usual.is_absolute():  # to be ignored, says the XDG specification
        usual = Path("~/.cache").expanduser()
    if not usual.is_absolute():
        raise Refused(f"the home folder must be an absolute path, got {os.environ.get('HOME')!r:.200}")
    return usual / "semibandits"


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[_Door]:
    """The folder, made if it is not there, and all that leads to it checked."""
    if not POSIX:
        folder.mkdir(parents=True, exist_ok=True)
        yield _Door(folder, None)
        return
    way = _Way(folder)
    try:
        while way.ahead:
            way.step()
        _check_own(os.fstat(way.here), folder)
        yield _Door(folder, way.here)
    finally:
        os.close(way.here)


class _Way:
    """The way to a folder: `here` is the descriptor of the folder it has led to so far, `ahead` are the steps left.

    A link is followed where it lies in a trusted folder and belongs to root or to the user; it leads through folders
    that are checked like all others.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._links = folder, 0
        self.ahead = list(reversed(folder.parts))
        self.here = os.open("/", FOLDER)

    def step(self) -> None:
        name = self.ahead.pop()
        try:
            inside = self._enter(name)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK) or not self._follow(name):
                raise Refused(f"{self._folder}: {name}: {error.strerror}") from error
            return
        os.close(self.here)
        self.here = inside
        found = os.fstat(inside)
        _check_owner(found, f"{self._folder}: the folder {name}")
        if _others_write(found) and not (found.st_mode & stat.S_ISVTX and self.ahead):
            raise Refused(f"{self._folder}: others can write to {name} (mode {stat.S_IMODE(found.st_mode):04o})")

    def _enter(self, name: str) -> int:
        flags = FOLDER if self.ahead else os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        try:
            return os.open(name, flags, dir_fd=self.here)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self.here)
            return os.open(name, flags, dir_fd=self.here)

    def _follow(self, name: str) -> bool:
        """Puts what a link says before the steps ahead; False: it is no link."""
        found = os.stat(name, dir_fd=self.here, follow_symlinks=False)
        if not stat.S_ISLNK(found.st_mode):
            return False
        _check_owner(found, f"{self._folder}: the link {name}")
        self._links += 1
        if self._links > MOST_LINKS:
            raise Refused(f"{self._folder}: more than {MOST_LINKS} links on the way")
        self.ahead.extend(reversed(Path(os.readlink(name, dir_fd=self.here)).parts))
        return True


def _check_owner(found: os.stat_result, what: str) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise Refused(f"{what} belongs to another user (number {found.st_uid})")


def _check_own(found: os.stat_result, what: object) -> None:
    if found.st_uid != os.geteuid():
        raise Refused(f"{what} belongs to another user (number {found.st_uid})")


def _check_file(found: os.stat_result, name: str) -> None:
    """A regular file of a sensible size that nobody but the user has written, under this name only."""
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        raise Refused(f"{name} is no file of at most {MOST_BYTES:,} bytes")
    if POSIX:
        _check_own(found, name)
        if _others_write(found) or found.st_nlink != 1:
            raise Refused(f"others can write to {name}, or it has another name")


def _others_write(found: os.stat_result) -> bool:
    by_group = bool(found.st_mode & stat.S_IWGRP) and not _is_private(found.st_gid, os.geteuid())
    return by_group or bool(found.st_mode & stat.S_IWOTH)


@functools.cache
def _is_private(group: int, user: int) -> bool:
    """Whether this user, and nobody else, is in the group: many systems give one to every user, and let it write."""
    import grp
    import pwd

    try:
        named = {pwd.getpwnam(name).pw_uid for name in grp.getgrgid(group).gr_mem}
    except KeyError:  # a group or a member that nobody knows
        return False
    return named | {one.pw_uid for one in pwd.getpwall() if one.pw_gid == group} == {user}


def _tidy(door: _Door) -> None:
    """Removes what writers that were killed have left."""
    for name in door.names():
        if HALF.fullmatch(name):
            with contextlib.suppress(OSError):
                found = os.stat(door.path(name), dir_fd=door.number, follow_symlinks=False)
                if time.time() - found.st_mtime > LEFT_AFTER:
                    os.unlink(door.path(name), dir_fd=door.number)
