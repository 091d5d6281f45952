"""What was written into a folder, as its manifest lists it: only that is replaced or removed, and no link followed."""

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from semibandits._util.files import sync_folder
from semibandits.errors import BadState

NAME = re.compile(r"report\.html|(data|results|figures)/[a-z0-9_-]+\.(csv|parquet|svg|png)")
"""What a manifest may list: it is a file that anybody may have changed."""
SHOWN = 5
"""So many files an error names."""


def names_in(manifest: Any) -> set[str]:
    """Those of a list in a manifest that can be ours."""
    listed = manifest if isinstance(manifest, list) else []
    return {name for name in listed if isinstance(name, str) and NAME.fullmatch(name)}


def refuse_links(folder: Path, names: Iterable[str]) -> None:
    """What is inside must not lie elsewhere; the folder itself may."""
    for name in names:
        if (folder / name).is_symlink():
            raise BadState(
                f"{folder / name} is a link, and nothing is written or removed behind a link in a folder of results: "
                "replace it by a folder, or give another folder for the results"
            )


class Written:
    """The files of a folder that are ours. `mark` writes the manifest, with the list of them."""

    def __init__(self, folder: Path, names: Iterable[str], mark: Callable[[list[str]], None]) -> None:
        self._folder = folder
        self._mark = mark
        self.names = set(names)

    def check(self, names: Iterable[str]) -> None:
        """Whether these may be written: no file of somebody else's is replaced."""
        wanted = set(names)
        refuse_links(self._folder, sorted({os.path.dirname(name) for name in wanted} - {""}))
        others = sorted(name for name in wanted - self.names if os.path.lexists(self._folder / name))
        if others:
            more = ", ..." if len(others) > SHOWN else ""
            raise BadState(
                f"{self._folder} holds files that were not written here, or by a version that kept no list of them, "
                f"where results are to be written: {', '.join(others[:SHOWN])}{more}. Move them elsewhere, or "
                "give another folder"
            )

    def add(self, names: Iterable[str]) -> None:
        """These are about to be written: they are listed first, so that they are known after a crash."""
        wanted = set(names)
        self.check(wanted)
        self.names |= wanted
        self._mark(sorted(self.names))

    def remove_all_but(self, names: Iterable[str]) -> None:
        """What is listed and not one of these: of a longer sweep, or of numbers that are no more."""
        kept = self.names.intersection(names)
        changed: set[Path] = set()
        for name in self.names - kept:
            path = self._folder / name
            refuse_links(self._folder, [part for part in (os.path.dirname(name),) if part])
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if not stat.S_ISDIR(path.lstat().st_mode):
                    path.unlink()
                    changed.add(path.parent)
        for inside in changed:  # before they are listed no more
            sync_folder(inside)
        self.names = kept
        self._mark(sorted(self.names))
