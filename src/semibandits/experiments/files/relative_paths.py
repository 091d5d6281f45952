"""Relative paths of the files that an experiment file names: in its own folder, or in one in that."""

from pathlib import Path

from semibandits.errors import BadArgument

EXPECTED = "an experiment names files of its own folder, or of one in that"


def path_inside(folder: Path, name: str) -> Path:
    """Where the file of this name is: below the folder, and not behind a link that leads out of it."""
    path = Path(name)
    if path.anchor or ".." in path.parts:
        raise BadArgument(f"{name!r:.200} leads out of the folder: {EXPECTED}")
    try:
        found = (folder / path).resolve()
        inside = found.is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # links in a circle, a name that can be none
        raise BadArgument(f"{name!r:.200} cannot be read: {error!s:.200}") from error
    if not inside:
        raise BadArgument(f"{name!r:.200} is behind a link that leads out of the folder: {EXPECTED}")
    return found
