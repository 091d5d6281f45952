"""The folder that an experiment's results are written to: one experiment, one process at a time."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from semibandits._util.files import make_folders, os_errors_as, remove_half_written
from semibandits._util.locks import try_lock
from semibandits.errors import BadState, StoreFailed
from semibandits.experiments.files.document import Experiment
from semibandits.experiments.result_folder import SHOWN, ResultFolder, known_names, write_file
from semibandits.simulation.store import is_stored

FORMAT = "semibandits.experiment"
VERSION = 1
MANIFEST = "experiment.json"
LOCK = ".lock"
FOLDERS = ("data", "results", "figures")
"""What is in it, beside the runs."""
COPY = "experiment.toml"
ELSEWHERE = "give another folder, or remove this one"


@contextmanager
def claimed(folder: Path, experiment: Experiment) -> Iterator[ResultFolder]:
    """The folder is this experiment's, and this process's alone, until the `with` block is left.

    Gives what was written in it before. Raises `BadState` where it holds something else, and `StoreFailed` where it
    cannot be written.
    """
    ours = ExperimentFolder(folder)
    ours.refuse_foreign()
    with os_errors_as(StoreFailed, f"{folder} cannot be written"):
        make_folders(folder)
        if os.path.lexists(folder / LOCK) and not stat.S_ISREG((folder / LOCK).lstat().st_mode):
            raise BadState(f"{folder / LOCK} is no file; give another folder")
        lock = (folder / LOCK).open("a")
    with lock:
        if try_lock(lock.fileno()) is False:
            raise StoreFailed(f"another process is playing in {folder}: wait for its end, or give another folder")
        runs = sorted(path.relative_to(folder).as_posix() for path in folder.glob("runs/*"))
        ours.refuse_links((*FOLDERS, "runs", *runs))
        ours.begin(experiment)
        ours.tidy(runs)
        yield ours


class ExperimentFolder(ResultFolder):
    """The folder of one experiment, which its manifest describes."""

    list_key = "written"

    def __init__(self, path: Path) -> None:
        super().__init__(path, MANIFEST)

    def refuse_foreign(self) -> None:
        """A folder with files of others is left as it is."""
        try:
            others = self.listed()
        except OSError:  # it is not there, or is none: said later
            return
        if others and MANIFEST not in others:
            more = ", ..." if len(others) > SHOWN else ""
            listed = ", ".join(others[:SHOWN])
            raise BadState(f"{self.path} holds no experiment, but other files: {listed}{more}. Give another folder")

    def begin(self, experiment: Experiment) -> None:
        """Checks that it holds this experiment or nothing; then manifest and the experiment's file are (re)written."""
        files = experiment.files
        if self.marker.exists():
            found = self._read()
            differences = list(_differences(found, experiment))
            if differences:
                more = f" and {len(differences) - SHOWN} more" if len(differences) > SHOWN else ""
                raise BadState(
                    f"{self.path} holds another experiment, {found['title']!r:.100}: "
                    f"{'; '.join(differences[:SHOWN])}{more}. {ELSEWHERE.capitalize()}"
                )
            files = found["files"] | files
            self.names = found["written"]
        self.about = {
            "format": FORMAT,
            "version": VERSION,
            "title": experiment.title,
            "description": experiment.description,
            "identity": experiment.identity,
            "files": files,
        }
        self.mark()
        write_file(self.path / COPY, experiment.text.encode())

    def tidy(self, runs: list[str]) -> None:
        """Removes what a process that was killed has left."""
        ours = {MANIFEST, COPY, *self.names}
        for inside in ("", *FOLDERS):
            here = {os.path.basename(name) for name in ours if os.path.dirname(name) == inside}
            remove_half_written(self.path / inside, here.__contains__)
        for store in runs:
            remove_half_written(self.path / store, is_stored)

    def _read(self) -> dict[str, Any]:
        path = self.marker
        try:
            found: dict[str, Any] = self.read_marker()
            if found["format"] != FORMAT or found["version"] != VERSION:
                raise BadState(f"{path} is no manifest of version {VERSION} of an experiment; {ELSEWHERE}")
            return {
                "title": str(found["title"]),
                "identity": dict(found["identity"]),
                "files": dict(found["files"]),
                "written": known_names(found.get("written")),
            }
        except BadState:
            raise
        except OSError as error:
            raise StoreFailed(f"{path} cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadState(f"{path} is damaged ({error!s:.100}); {ELSEWHERE}") from error


def _differences(found: dict[str, Any], experiment: Experiment) -> Iterator[str]:
    """What sets the two apart, in words."""
    there, here = found["identity"], experiment.identity
    for name in dict.fromkeys([*there, *here]):
        if there.get(name) != here.get(name):
            yield f"{name} is {there.get(name, 'not set')!s:.60} there and {here.get(name, 'not set')!s:.60} here"
    for file, digest in experiment.files.items():
        if found["files"].get(file, digest) != digest:
            yield f"{file} has changed since"
