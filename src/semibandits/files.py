"""Writing files so that nobody ever sees half of one."""

import os
import secrets
import shutil
from pathlib import Path


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
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
