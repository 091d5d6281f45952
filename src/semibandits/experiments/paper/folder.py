"""A reproduction as a folder: report.html, figures/, data/, and claims.json, which tells that it is one."""

import contextlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semibandits.errors import BadArgument, StoreFailed
from semibandits.experiments.paper.parts import Drawing, Part
from semibandits.files import replace_file

MARKER = "claims.json"
KIND = "semibandits reproduction"
OURS = re.compile(r"(figures|data)/[a-z0-9-]+\.(svg|png|csv|parquet)")
"""The files that may be listed in a marker."""


def prepare(out: Any) -> Path:
    """The folder, made and tried; one that holds anything but an older reproduction is refused."""
    try:
        folder = Path(out)
    except TypeError as error:
        raise BadArgument(f"out must be a folder, got {out!r:.200}") from error
    if folder.exists() and not folder.is_dir():
        raise BadArgument(f"{folder} is a file; a folder is wanted for the reproduction")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()) and _former(folder) is None:
            raise BadArgument(f"{folder} holds something else than a reproduction: choose another folder")
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise StoreFailed(f"{folder} cannot be written to: {error}") from error
    return folder


def write(folder: Path, parts: Sequence[Part], document: Mapping[str, Any]) -> None:
    """Everything, the claims last. What an older reproduction wrote here and this one does not is removed."""
    from semibandits.experiments.paper.page import report
    from semibandits.experiments.report.pictures import own_style, picture, save
    from semibandits.experiments.tables import write_table

    former = _former(folder) or {}
    tables = {name: columns for part in parts for name, columns in part.tables.items()}
    drawings = [one for part in parts for one in part.body if isinstance(one, Drawing)]
    planned = {f"figures/{one.name}.{form}" for one in drawings for form in ("svg", "png")}
    planned |= {f"data/{name}.{form}" for name in tables for form in ("csv", "parquet")}
    try:
        with own_style():
            pictures = {one.name: picture(one.name, one.draw(), one.alt) for one in drawings}
            _mark(folder, former, planned.union(former.get("files", ())))
            written = save(folder, pictures.values())
        for name, columns in tables.items():
            written += write_table(folder / "data", name, columns)
        files = {path.relative_to(folder).as_posix() for path in written}
        replace_file(folder / "report.html", report(parts, pictures, document).encode())
        for name in set(former.get("files", ())) - files:
            with contextlib.suppress(FileNotFoundError):
                (folder / name).unlink()
        _mark(folder, document, files)
    except OSError as error:
        raise StoreFailed(f"{folder} cannot be written to: {error}") from error


def _mark(folder: Path, document: Mapping[str, Any], files: set[str]) -> None:
    text = json.dumps({**document, "kind": KIND, "files": sorted(files)}, indent=1, ensure_ascii=False)
    replace_file(folder / MARKER, text.encode())


def _former(folder: Path) -> dict[str, Any] | None:
    """What the marker of the reproduction that is here says, its files first; None: there is none."""
    try:
        marker = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (FileNotFoundError, IsADirectoryError, ValueError, RecursionError):
        return None
    if not isinstance(marker, dict) or marker.get("kind") != KIND:
        return None
    listed = marker.get("files")
    files = [name for name in listed if OURS.fullmatch(str(name))] if isinstance(listed, list) else []
    return {**marker, "files": files}
