"""The folder that an experiment's results are written to: one experiment, one process at a time."""

import errno
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from semibandits._util.files import make_folders, read_file, remove_half_written, replace_file
from semibandits.errors import BadState, StoreFailed
from semibandits.experiments.files.document import Experiment
from semibandits.experiments.manifest import Written, names_in, refuse_links
from semibandits.simulation.store import is_stored

FORMAT = "semibandits.experiment"
VERSION = 1
MANIFEST = "experiment.json"
MOST_BYTES = 2**28
"""Of a manifest."""
LOCK = ".lock"
FOLDERS = ("data", "results", "figures")
"""What is in it, beside the runs."""
COPY = "experiment.toml"
SHOWN = 5
"""So many files or differences an error names."""
ELSEWHERE = "give another folder, or remove this one"


@contextmanager
def claimed(folder: Path, experiment: Experiment) -> Iterator[Written]:
    """The folder is this experiment's, and this process's alone, until the `with` block is left.

    Gives what was written in it before. Raises `BadState` where it holds something else, and `StoreFailed` where it
    cannot be written.
    """
    _refuse_foreign(folder)
    try:
        make_folders(folder)
        if os.path.lexists(folder / LOCK) and not stat.S_ISREG((folder / LOCK).lstat().st_mode):
            raise BadState(f"{folder / LOCK} is no file; give another folder")
        lock = (folder / LOCK).open("a")
    except OSError as error:
        raise StoreFailed(f"{folder} cannot be written: {error.strerror or error}") from error
    with lock:
        if not _locked(lock):
            raise StoreFailed(f"another process is playing in {folder}: wait for its end, or give another folder")
        runs = sorted(path.relative_to(folder).as_posix() for path in folder.glob("runs/*"))
        refuse_links(folder, (*FOLDERS, "runs", *runs))
        written = _check(folder, experiment)
        _tidy(folder, written.names, runs)
        yield written


def _tidy(folder: Path, names: set[str], runs: list[str]) -> None:
    """What a process that was killed has left is removed."""
    ours = {MANIFEST, COPY, *names}
    for inside in ("", *FOLDERS):
        here = {os.path.basename(name) for name in ours if os.path.dirname(name) == inside}
        remove_half_written(folder / inside, here.__contains__)
    for store in runs:
        remove_half_written(folder / store, is_stored)


def write(path: Path, data: bytes) -> None:
    """A file of the folder, whole or not at all."""
    try:
        make_folders(path.parent)
        replace_file(path, data)
    except OSError as error:
        raise StoreFailed(f"{path} could not be written: {error.strerror or error}") from error


def _locked(lock: IO[Any]) -> bool:
    """Whether this process has the lock now: the system takes it back when the process ends, however it ends."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)  # some file systems know no locks
    return True


def _check(folder: Path, experiment: Experiment) -> Written:
    """Whether it holds this experiment or nothing; then the manifest and the experiment's own file are (re)written."""
    path = folder / MANIFEST
    files = experiment.files
    written: set[str] = set()
    if path.exists():
        found = _read(path)
        differences = list(_differences(found, experiment))
        if differences:
            more = f" and {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
            raise BadState(
                f"{folder} holds another experiment, {found['title']!r:.100}: {'; '.join(differences[:SHOWN])}{more}. "
                f"{ELSEWHERE.capitalize()}"
            )
        files = found["files"] | files
        written = found["written"]

    def mark(names: list[str]) -> None:
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "title": experiment.title,
            "description": experiment.description,
            "identity": experiment.identity,
            "files": files,
            "written": names,
        }
        write(path, (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())

    mark(sorted(written))
    write(folder / COPY, experiment.text.encode())
    return Written(folder, written, mark)


def _refuse_foreign(folder: Path) -> None:
    """A folder with files of others is left as it is."""
    try:
        others = sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))
    except OSError:  # it is not there, or is none: said later
        return
    if others and MANIFEST not in others:
        more = ", ..." if len(others) > SHOWN else ""
        listed = ", ".join(others[:SHOWN])
        raise BadState(f"{folder} holds no experiment, but other files: {listed}{more}. Give another folder")


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(read_file(path, MOST_BYTES))
        if found["format"] != FORMAT or found["version"] != VERSION:
            raise BadState(f"{path} is no manifest of version {VERSION} of an experiment; {ELSEWHERE}")
        found = {
            "title": str(found["title"]),
            "identity": dict(found["identity"]),
            "files": dict(found["files"]),
            "written": names_in(found.get("written")),
        }
    except BadState:
        raise
    except OSError as error:
        raise StoreFailed(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadState(f"{path} is damaged ({error!s:.100}); {ELSEWHERE}") from error
    return found


def _differences(found: dict[str, Any], experiment: Experiment) -> Iterator[str]:
    """What sets the two apart, in words."""
    there, here = found["identity"], experiment.identity
    for name in dict.fromkeys([*there, *here]):
        if there.get(name) != here.get(name):
            yield f"{name} is {there.get(name, 'not set')!s:.60} there and {here.get(name, 'not set')!s:.60} here"
    for file, digest in experiment.files.items():
        if found["files"].get(file, digest) != digest:
            yield f"{file} has changed since"
