"""Files that are named somewhere: which there are, and what is in them."""

import hashlib
import os
import stat
from collections.abc import Iterable

LONGEST = 1000
"""Characters of a name."""
DEEPEST = 3
"""Folders that are put together from parts."""
MOST_FOLDERS = 100
READ_WHOLE = 4 * 2**30
"""Bytes; of larger files the size and the time count."""


class NamedFiles:
    """Words that may name files, and the folders in which these may lie."""

    def __init__(self) -> None:
        self._words: dict[tuple[str, str | None], None] = {}

    def add(self, word: str, folder: str | None) -> None:
        """A word of code that lies in this folder."""
        if 0 < len(word) <= LONGEST and word.isprintable() and word.strip(". "):
            self._words[word, folder] = None

    def place(self, word: str) -> str:
        """The word, or where the file lies from the code that names it."""
        folders = [folder for one, folder in self._words if one == word and folder]
        inside = [folder for folder in folders if word.startswith(os.path.join(folder, ""))]
        return os.path.relpath(word, inside[0]) if inside else word

    def found(self) -> dict[str, list[str]]:
        """The files that these words name: by word, paths."""
        bases = dict.fromkeys((os.getcwd(), *(folder for _, folder in self._words if folder)))
        words = dict.fromkeys(word for word, _ in self._words)
        files: dict[str, list[str]] = {}
        new = list(bases)
        for _ in range(DEEPEST):
            found = [(word, path) for word in words for path in _paths(word, new)]
            new = []
            for word, path in found:
                if (
                    path not in bases
                    and len(bases) < MOST_FOLDERS
                    and _is_folder(path)
                    and os.path.dirname(path) != path
                ):
                    bases[path] = None
                    new.append(path)
                elif _is_file(path) and path not in files.setdefault(word, []):
                    files[word].append(path)
            if not new:
                break
        return {word: sorted(paths) for word, paths in files.items() if paths}


def _paths(word: str, bases: Iterable[str]) -> list[str]:
    """Where a file of this name would be."""
    plain = os.path.expanduser(word)
    paths = [os.path.normpath(plain)] if os.path.isabs(plain) else []
    inside = plain.lstrip("/\\")  # the end of a name that is put together
    return paths + [os.path.normpath(os.path.join(base, inside)) for base in bases if inside]


def _is_file(path: str) -> bool:
    return _kind(path, stat.S_ISREG)


def _is_folder(path: str) -> bool:
    return _kind(path, stat.S_ISDIR)


def _kind(path: str, is_kind: object) -> bool:
    try:
        return bool(is_kind(os.stat(path).st_mode))  # type: ignore[operator]
    except (OSError, ValueError):
        return False


def content(path: str) -> str:
    """What tells this file from others: what is in it."""
    size = os.stat(path).st_size
    if size > READ_WHOLE:
        return f"{size} bytes of {os.stat(path).st_mtime_ns}"
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
