"""Writing files so that nobody ever sees half of one."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

HALF = re.compile(r"\..+\.[0-9a-f]{8}")
"""The name of a file that is just being written."""


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
        if isinstance(error, OSError) and error.filename == str(beside):
            error.filename, error.filename2 = str(path), None
        beside.unlink(missing_ok=True)
        raise


def half_written(folder: Path) -> Iterator[Path]:
    """What a process that was killed has left in this folder."""
    for path in folder.glob(".*"):
        if HALF.fullmatch(path.name) and path.is_file():
            yield path
