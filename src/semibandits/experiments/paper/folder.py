"""A reproduction as a folder: report.html, figures/, data/, and claims.json, which tells that it is one."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semibandits._util.files import NoPlainFile, make_folders, os_errors_as, replace_file
from semibandits.errors import BadArgument, StoreFailed
from semibandits.experiments.paper.claims import Part
from semibandits.experiments.result_folder import ResultFolder, known_names

MARKER = "claims.json"
KIND = "semibandits reproduction"
FOLDERS = ("figures", "data")


class ReproductionFolder(ResultFolder):
    """A folder that holds a reproduction, an older one, or nothing yet."""

    list_key = "files"

    def __init__(self, path: Path) -> None:
        super().__init__(path, MARKER)
        self.about = {"kind": KIND}
        self.is_marked = self._read()

    def _read(self) -> bool:
        """Takes up what the marker of the reproduction that is here says, if there is one."""
        try:
            found = self.read_marker()
        except (FileNotFoundError, NoPlainFile, ValueError, RecursionError):
            return False
        if not isinstance(found, dict) or found.get("kind") != KIND:
            return False
        self.about = found
        self.names = {"report.html", *known_names(found.get(self.list_key))}
        return True


def prepare(out: Any) -> Path:
    """The folder, made and tried; one that holds anything but an older reproduction is refused."""
    try:
        folder = Path(out)
    except TypeError as error:
        raise BadArgument(f"out must be a folder, got {out!r:.200}") from error
    if folder.exists() and not folder.is_dir():
        raise BadArgument(f"{folder} is a file; a folder is wanted for the reproduction")
    with os_errors_as(StoreFailed, f"{folder} cannot be written to"):
        make_folders(folder)
        ours = ReproductionFolder(folder)
        if ours.listed() and not ours.is_marked:
            raise BadArgument(f"{folder} holds something else than a reproduction: choose another folder")
        ours.refuse_links(FOLDERS)
        with tempfile.TemporaryFile(dir=folder):
            pass
    return folder


def write(folder: Path, parts: Sequence[Part], document: Mapping[str, Any]) -> None:
    """Everything, the claims last. What an older reproduction wrote here and this one does not is removed.

    Files of others are neither replaced nor removed: `BadState` where one is in the way.
    """
    from semibandits.experiments.paper.page import report
    from semibandits.experiments.report.pictures import files_of, own_style, picture, save
    from semibandits.experiments.table_files import can_write_parquet, write_table

    ours = ReproductionFolder(folder)
    tables = {name: columns for part in parts for name, columns in part.tables.items()}
    forms = ("csv", "parquet") if can_write_parquet() else ("csv",)
    drawings = [one for part in parts for one in part.drawings]
    try:
        with own_style():
            pictures = {
                one.name: picture(one.name, one.draw(), one.alt, one.narrow and one.narrow()) for one in drawings
            }
            files = ["report.html", *files_of(pictures.values())]
            files += [f"data/{name}.{form}" for name in tables for form in forms]
            ours.add(files)
            save(folder, pictures.values())
        for name, columns in tables.items():
            write_table(folder / "data", name, columns)
        replace_file(folder / "report.html", report(parts, pictures, document).encode())
        ours.remove_all_but(files)
        ours.about = {**document, "kind": KIND}
        ours.mark()
    except OSError as error:
        raise StoreFailed(f"{folder} cannot be written to: {error}") from error
