"""Lines against a writer that notes down where it puts what, and against Python's own reader."""

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semibandits.experiments.files.toml_lines import lines

KEYS = ["a", "b", "name", "7", "x-y", "two words", 'quo"te', "dot.ted", "", "ü", "[x]", "a=b", "#no"]
SCALARS = [
    "1", "-2_000", "0x1F", "1e5", "inf", "nan", "true", "1979-05-27 07:32:00", "1979-05-27T07:32:00-08:00", "07:32:00",
    '"plain"', '"an \\" escaped quote # and [brackets]"', "'literal \\'", "''", '""', "'a # b'",
    '"""one\ntwo ] # three\n"""', "'''\n[not]\n= a table'''", '"""ends with two quotes"""""', '"""\\""" and on"""',
    "'''it''s''''", '"""\\\n   continued"""',
]  # fmt: skip


class Writer:
    """Random TOML, and the line of everything in it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.text = ""
        self.lines: dict[tuple[str | int, ...], int] = {}

    @property
    def line(self) -> int:
        return self.text.count("\n") + 1

    def key(self, key: str) -> str:
        bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
        quoted = '"' + key.replace('"', '\\"').replace("ü", "\\u00fc") + '"'
        return self.random.choice([quoted, f"'{key}'", *([key] * 4 if bare else [])])

    def dotted(self, keys: list[str]) -> str:
        return self.random.choice([".", " . ", "\t."]).join(map(self.key, keys))

    def blank(self, newlines: bool) -> None:
        self.text += self.random.choice(["", " ", *(["\n", " # a comment ] }\n", "\n\n  "] if newlines else [])])

    def value(self, path: tuple[str | int, ...], depth: int) -> None:
        kind = self.random.random()
        if depth and kind < 0.25:
            self.text += "["
            count = self.random.randrange(4)
            for number in range(count):
                self.blank(newlines=True)
                self.lines[*path, number] = self.line
                self.value((*path, number), depth - 1)
                self.blank(newlines=True)
                self.text += "," if number < count - 1 or self.random.random() < 0.5 else ""
            self.blank(newlines=True)
            self.text += "]"
        elif depth and kind < 0.5:
            self.text += "{"
            for number, key in enumerate(self.random.sample(KEYS, self.random.randrange(3))):
                self.text += "," if number else ""
                self.blank(newlines=False)
                self.pair(path, key, depth - 1)
                self.blank(newlines=False)
            self.text += "}"
        else:
            self.text += self.random.choice(SCALARS)

    def pair(self, table: tuple[str | int, ...], key: str, depth: int) -> None:
        keys = [key, *self.random.sample(KEYS, self.random.choice([0, 0, 1, 2]))]
        line = self.line
        for end in range(1, len(keys) + 1):
            self.lines[*table, *keys[:end]] = line
        self.text += self.dotted(keys) + self.random.choice(["=", " = "])
        self.value((*table, *keys), depth)

    def body(self, table: tuple[str | int, ...], taken: set[str]) -> None:
        for key in self.random.sample([key for key in KEYS if key not in taken], self.random.randrange(4)):
            self.blank(newlines=True)
            self.pair(table, key, depth=3)
            self.text += self.random.choice(["\n", "  # why\n", "\n\n"])

    def document(self) -> None:
        names = self.random.sample(KEYS, 3)
        self.body((), set(names))
        # An array of tables with tables below each, then a table made by the way that gets a header later.
        for number in range(self.random.randrange(1, 4)):
            self.lines.setdefault((names[0],), self.line)
            self.lines[names[0], number] = self.line
            self.text += f"[[{self.dotted(names[:1])}]]\n"
            self.body((names[0], number), {"sub"})
            if self.random.random() < 0.5:
                self.lines[names[0], number, "sub"] = self.lines[names[0], number, "sub", "deep"] = self.line
                self.text += f"[ {self.dotted([names[0], 'sub', 'deep'])} ] # header\n"
                self.body((names[0], number, "sub", "deep"), set())
                self.lines[names[0], number, "sub"] = self.line
                self.text += f"[{self.dotted([names[0], 'sub'])}]\n"
                self.body((names[0], number, "sub"), {"deep"})
        self.lines[names[1],] = self.lines[names[1], names[2]] = self.line
        self.text += f"[{self.dotted(names[1:])}]\n"
        self.body((names[1], names[2]), set())


def paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {path} - {()} | {found for key, part in inside for found in paths(part, (*path, key))}


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
@example(0)
def test_every_line_is_where_it_was_written(seed: int) -> None:
    writer = Writer(seed)
    writer.document()
    parsed = tomllib.loads(writer.text)
    found = lines(writer.text)
    assert found == writer.lines
    assert found.keys() == paths(parsed)
    assert lines(writer.text.replace("\n", "\r\n")) == found


def test_an_ordinary_file() -> None:
    text = """title = "Grid"

[problem] # a comment
name = "grid_path"
m = 4

[[policies]]
name = "CTS"
[[policies]]
name = "CombUCB1"
alpha = 1.5

[sweep]
"problem.m" = [
  2,
  # three is left out
  4,
]
policies.CombUCB1.alpha = [0.5, {file = "x",
}]
"""
    text = text.replace(",\n}]", "}]")
    found = lines(text)
    assert found["problem", "m"] == 5
    assert (found["policies",], found["policies", 1], found["policies", 1, "alpha"]) == (7, 9, 11)
    assert (found["sweep", "problem.m"], found["sweep", "problem.m", 1]) == (14, 17)
    assert found["sweep", "policies", "CombUCB1", "alpha", 1, "file"] == 19
    assert found.keys() == paths(tomllib.loads(text))


def test_nothing_and_comments_only() -> None:
    assert lines("") == lines("# nothing here") == {}


@pytest.mark.parametrize("name", ["pyproject.toml"])
def test_files_of_this_project(name: str) -> None:
    text = (Path(__file__).parents[2] / name).read_text(encoding="utf-8")
    found = lines(text)
    assert found.keys() == paths(tomllib.loads(text))
    rows = text.splitlines()
    assert all(str(path[-1]) in rows[line - 1] for path, line in found.items() if isinstance(path[-1], str))
