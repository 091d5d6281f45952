"""Folders of results. The marker lists the files that were written: only these are replaced, and no link followed."""

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from semibandits._util.files import make_folders, os_errors_as, replace_file, sync_folder
from semibandits._util.marked_folder import MarkedFolder
from semibandits.errors import BadState, StoreFailed

NAME = re.compile(r"report\.html|(data|results|figures)/[a-z0-9_-]+\.(csv|parquet|svg|png|pdf)")
"""What a marker may list: it is a file that anybody may have changed."""
MOST_BYTES = 2**28
"""Of a marker."""
SHOWN = 5
"""So many files an error names."""


class ResultFolder(MarkedFolder):
    """A folder with a report, figures and data."""

    list_key: str
    """Under which the marker lists the files."""

    def __init__(self, path: Path, marker: str) -> None:
        super().__init__(path, marker, MOST_BYTES)
        self.about: dict[str, Any] = {}
        """What the marker says besides."""
        self.names: set[str] = set()
        """The files that are ours."""

    def mark(self) -> None:
        """Writes the marker, with the list of the files."""
        document = {**self.about, self.list_key: sorted(self.names)}
        write_file(self.marker, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())

    def check(self, names: Iterable[str]) -> None:
        """Whether these may be written: no file of somebody else's is replaced."""
        wanted = set(names)
        self.refuse_links(sorted({os.path.dirname(name) for name in wanted} - {""}))
        others = sorted(name for name in wanted - self.names if os.path.lexists(self.path / name))
        if others:
            more = ", ..." if len(others) > SHOWN else ""
            raise BadState(
                f"{self.path} holds files that were not written here, or by a version that kept no list of them, "
                f"where results are to be written: {', '.join(others[:SHOWN])}{more}. Move them elsewhere, or "
                "give another folder"
            )

    def add(self, names: Iterable[str]) -> None:
        """These are about to be written: they are listed first, so that they are known after a crash."""
        wanted = set(names)
        self.check(wanted)
        self.names |= wanted
        self.mark()

    def remove_all_but(self, names: Iterable[str]) -> None:
        """What is listed and not one of these: of a longer sweep, or of numbers that are no more."""
        kept = self.names.intersection(names)
        changed: set[Path] = set()
        for name in self.names - kept:
            path = self.path / name
            self.refuse_links([part for part in (os.path.dirname(name),) if part])
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if not stat.S_ISDIR(path.lstat().st_mode):
                    path.unlink()
                    changed.add(path.parent)
        for inside in changed:  # before they are listed no more
            sync_folder(inside)
        self.names = kept
        self.mark()

    def refuse_links(self, names: Iterable[str]) -> None:
        """What is inside must not lie elsewhere; the folder itself may."""
        for name in names:
            if (self.path / name).is_symlink():
                raise BadState(
                    f"{self.path / name} is a link, and nothing is written or removed behind a link in a folder of "
                    "results: replace it by a folder, or give another folder for the results"
                )


def write_file(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all, and its folder where that is missing; `StoreFailed` where it cannot be."""
    with os_errors_as(StoreFailed, f"{path} could not be written"):
        make_folders(path.parent)
        replace_file(path, data)


def known_names(listed: Any) -> set[str]:
    """Those of a list in a marker that can be ours."""
    names = listed if isinstance(listed, list) else []
    return {name for name in names if isinstance(name, str) and NAME.fullmatch(name)}
