"""Files that words in code name: which there are, and what is in them."""

import hashlib
import os
import stat

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
        self._words: dict[tuple[str, str], None] = {}

    def add(self, word: str, folder: str) -> None:
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
        bases = dict.fromkeys((*_here(), *(folder for _, folder in self._words if folder)))
        words = dict.fromkeys(word for word, _ in self._words)
        files: dict[str, list[str]] = {}
        new = {base: _names(base) for base in bases}
        for _ in range(DEEPEST):
            there = {".", "..", "~", "", *(name for names in new.values() for name in names)}  # "": of "/a/b"
            firsts = {word: word.replace("\\", "/").partition("/")[0].casefold() for word in words}
            near = [word for word, first in firsts.items() if first in there or first.endswith(":")]
            found = [(word, path) for word in near for path in _paths(word, new)]
            new = {}
            for word, path in found:
                if (
                    path not in bases
                    and len(bases) < MOST_FOLDERS
                    and _is_folder(path)
                    and os.path.dirname(path) != path
                ):
                    bases[path] = None
                    new[path] = _names(path)
                elif _is_file(path) and path not in files.setdefault(word, []):
                    files[word].append(path)
            if not new:
                break
        return {word: sorted(paths) for word, paths in files.items() if paths}


def _here() -> list[str]:
    """The working directory, if it is still there."""
    try:
        return [os.getcwd()]
    except OSError:
        return []


def _paths(word: str, bases: dict[str, set[str]]) -> list[str]:
    """Where a file of this name may be; `bases` are folders, with what is in them."""
    plain = os.path.expanduser(word) if word.startswith("~") else word
    inside = plain.lstrip("/\\")  # the end of a name that is put together
    first = inside.replace("\\", "/").partition("/")[0].casefold()
    paths = [os.path.join(base, inside) for base, names in bases.items() if first in names or first in (".", "..")]
    return [os.path.normpath(path) for path in ([plain, *paths] if os.path.isabs(plain) else paths)]


def _names(folder: str) -> set[str]:
    """Of all that is in a folder."""
    try:
        return {name.casefold() for name in os.listdir(folder)}
    except OSError:
        return set()


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
