"""A reproduction as a folder: report.html, figures/, data/, and claims.json, which tells that it is one."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semibandits._util.files import NoPlainFile, make_folders, read_file, replace_file
from semibandits.errors import BadArgument, StoreFailed
from semibandits.experiments.manifest import Written, names_in, refuse_links
from semibandits.experiments.paper.claims import Drawing, Part

MARKER = "claims.json"
MOST_BYTES = 2**28
"""Of a marker."""
KIND = "semibandits reproduction"
FOLDERS = ("figures", "data")


def prepare(out: Any) -> Path:
    """The folder, made and tried; one that holds anything but an older reproduction is refused."""
    try:
        folder = Path(out)
    except TypeError as error:
        raise BadArgument(f"out must be a folder, got {out!r:.200}") from error
    if folder.exists() and not folder.is_dir():
        raise BadArgument(f"{folder} is a file; a folder is wanted for the reproduction")
    try:
        make_folders(folder)
        if any(not file.name.startswith(".") for file in folder.iterdir()) and _former(folder) is None:
            raise BadArgument(f"{folder} holds something else than a reproduction: choose another folder")
        refuse_links(folder, FOLDERS)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StoreFailed(f"{folder} cannot be written to: {error.strerror or error}") from error
    return folder


def write(folder: Path, parts: Sequence[Part], document: Mapping[str, Any]) -> None:
    """Everything, the claims last. What an older reproduction wrote here and this one does not is removed.

    Files of others are neither replaced nor removed: `BadState` where one is in the way.
    """
    from semibandits.experiments.paper.page import report
    from semibandits.experiments.report.pictures import files_of, own_style, picture, save
    from semibandits.experiments.table_files import can_write_parquet, write_table

    former = _former(folder)
    says: Mapping[str, Any] = former or {}
    ours = {"report.html", *says["files"]} if former else ()
    written = Written(folder, ours, lambda names: _mark(folder, says, names))
    tables = {name: columns for part in parts for name, columns in part.tables.items()}
    forms = ("csv", "parquet") if can_write_parquet() else ("csv",)
    drawings = [one for part in parts for one in part.body if isinstance(one, Drawing)]
    try:
        with own_style():
            pictures = {one.name: picture(one.name, one.draw(), one.alt) for one in drawings}
            files = ["report.html", *files_of(pictures.values())]
            files += [f"data/{name}.{form}" for name in tables for form in forms]
            written.add(files)
            save(folder, pictures.values())
        for name, columns in tables.items():
            write_table(folder / "data", name, columns)
        replace_file(folder / "report.html", report(parts, pictures, document).encode())
        written.remove_all_but(files)
        _mark(folder, document, sorted(files))
    except OSError as error:
        raise StoreFailed(f"{folder} cannot be written to: {error}") from error


def _mark(folder: Path, document: Mapping[str, Any], files: list[str]) -> None:
    text = json.dumps({**document, "kind": KIND, "files": files}, indent=1, ensure_ascii=False)
    replace_file(folder / MARKER, text.encode())


def _former(folder: Path) -> dict[str, Any] | None:
    """What the marker of the reproduction that is here says, its files first; None: there is none."""
    try:
        marker = json.loads(read_file(folder / MARKER, MOST_BYTES))
    except (FileNotFoundError, NoPlainFile, ValueError, RecursionError):
        return None
    if not isinstance(marker, dict) or marker.get("kind") != KIND:
        return None
    return {**marker, "files": sorted(names_in(marker.get("files")))}
