"""Line numbers of everything in a TOML file, which Python's own reader does not tell."""

import re
import tomllib
from bisect import bisect_left
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""The keys that lead to a value, and the numbers where the way goes through a list."""

BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
BARE = re.compile(r"[A-Za-z0-9_-]+")
DOT = re.compile(r"[ \t]*\.[ \t]*")
STRING = re.compile(  # nothing is tried twice: a long one would take much memory
    r'"""(?:[^"\\]++|\\[\s\S]|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'{3,5}"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'"
)
OTHER = re.compile(r"[^,\]}#\n]*")
"""A number, a date, true or false, and blanks behind it."""


def lines(text: str) -> dict[Path, int]:
    """The line, from 1, of every table and value, by its path. The text must be TOML that `tomllib` accepts.

    A table that is made by the way, by `[a.b]` say, is where it is first named; one with a header is there.

    >>> lines("[problem]\\nm = 4\\n\\n[[policies]]\\nname = 'CTS'\\n")
    {('problem',): 1, ('problem', 'm'): 2, ('policies',): 4, ('policies', 0): 4, ('policies', 0, 'name'): 5}
    """
    return _Scanner(text).found


def line_of_long_key(text: str, most: int) -> int | None:
    """The line of the first key with more parts than this, a.b.c and so on; None: there is none.

    For any text, in a time that grows with its length alone, which `tomllib` does not take for such keys.
    """
    part = rf"""(?>{BARE.pattern}|"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+')"""
    long = rf"(?P<long>(?:{part}{DOT.pattern}){{{most}}})"
    rest = rf"""{STRING.pattern}|#[^\n]*+|[A-Za-z0-9_-]++|[^"'#A-Za-z0-9_-]++|["']"""
    for found in re.finditer(f"{long}|{rest}", text):
        if found["long"]:
            return text.count("\n", 0, found.start()) + 1
    return None


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._lists: dict[Path, int] = {}
        """How many tables each array of tables has so far."""
        self.found: dict[Path, int] = {}
        self._skip(BLANK)
        table: Path = ()
        while self._at < len(text):
            if self._take("[["):
                table = self._header(several=True)
                self._take("]]")
            elif self._take("["):
                table = self._header(several=False)
                self._take("]")
            else:
                self._pair(table)
            self._skip(BLANK)

    def _header(self, several: bool) -> Path:
        line = self._line()
        keys = self._keys()
        path: Path = ()
        for key in keys[:-1]:
            path = (*path, key)
            self.found.setdefault(path, line)
            if path in self._lists:
                path = (*path, self._lists[path] - 1)
        path = (*path, keys[-1])
        if several:
            self.found.setdefault(path, line)
            number = self._lists.get(path, 0)
            self._lists[path] = number + 1
            path = (*path, number)
        self.found[path] = line
        return path

    def _pair(self, table: Path) -> None:
        """key = value"""
        line = self._line()
        path = table
        for key in self._keys():
            path = (*path, key)
            self.found.setdefault(path, line)
        self._take("=")
        self._skip(BLANK)
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._take("["):
            number = 0
            while not self._closed("]"):
                self.found[*path, number] = self._line()
                self._value((*path, number))
                number += 1
        elif self._take("{"):
            while not self._closed("}"):
                self._pair(path)
        elif not self._skip(STRING):
            self._skip(OTHER)

    def _closed(self, bracket: str) -> bool:
        """Whether a list or a table in braces ends here; else its next part begins here."""
        self._skip(BLANK)
        if self._take(","):
            self._skip(BLANK)
        return self._take(bracket)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(BLANK)
            began = self._at
            if self._skip(BARE):
                keys.append(self._text[began : self._at])
            else:
                self._skip(STRING)
                keys.append(tomllib.loads(f"key = {self._text[began : self._at]}")["key"])
            if not self._skip(DOT):
                self._skip(BLANK)
                return keys

    def _line(self) -> int:
        return bisect_left(self._ends, self._at) + 1

    def _take(self, what: str) -> bool:
        found = self._text.startswith(what, self._at)
        self._at += len(what) if found else 0
        return found

    def _skip(self, what: re.Pattern[str]) -> bool:
        """Whether anything was skipped."""
        match = what.match(self._text, self._at)
        began, self._at = self._at, self._at if match is None else match.end()
        return self._at > began
