"""Folders of ours: a marker, a JSON file in them, tells what they hold."""

import json
from pathlib import Path
from typing import Any

from semibandits._util.files import read_file


class MarkedFolder:
    """A folder, which need not be there yet, and the marker in it."""

    def __init__(self, path: Path, marker: str, most_bytes: int) -> None:
        self.path = path
        self.marker = path / marker
        self._most_bytes = most_bytes

    def listed(self) -> list[str]:
        """What is in it, but for files that are just being written: their names begin with a dot."""
        return sorted(file.name for file in self.path.iterdir() if not file.name.startswith("."))

    def read_marker(self) -> Any:
        """What the marker says; `OSError`, `ValueError` or `RecursionError` where it says nothing."""
        return json.loads(read_file(self.marker, self._most_bytes))
