"""Writing files so that nobody ever sees half of one."""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

HALF = re.compile(r"\.(.+)\.[0-9a-f]{8}")
"""The name of a file that is just being written, with the name it will have."""


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


def half_written(folder: Path, whole: Callable[[str], object]) -> Iterator[Path]:
    """What a process that was killed has left in this folder, of files whose names `whole` knows; links are not."""
    for path in folder.glob(".*"):
        found = HALF.fullmatch(path.name)
        if found and whole(found[1]) and path.is_file() and not path.is_symlink():
            yield path
