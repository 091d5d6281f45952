"""Values of an experiment file that know where they are, so that errors can say it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

from semibandits._util.checks import whole
from semibandits._util.suggestions import did_you_mean
from semibandits.errors import BadExperiment, SemiBanditError
from semibandits.experiments.files.registry import WrongParameter
from semibandits.experiments.files.toml_lines import Path

NAMES = ("name", "kind", "class")
"""Keys that say what something is; all others are its parameters."""


@dataclass(frozen=True)
class Source:
    """A file, the lines of all that is in it, and what a sweep has put where."""

    name: str
    """Empty, and no lines, for what is in no file."""
    lines: Mapping[Path, int]
    origins: Mapping[Path, Path] = field(default_factory=dict)
    note: str = ""
    """What to add to errors."""

    def fail(self, path: Path, message: str) -> NoReturn:
        """Raises the error about what is, or should be, at this path."""
        for place, origin in self.origins.items():
            if path[: len(place)] == place:
                path = (*origin, *path[len(place) :])
        while path and path not in self.lines:
            path = path[:-1]
        where = f"{self.name}, line {self.lines[path]}: " if path else f"{self.name}: " if self.name else ""
        raise BadExperiment(f"{where}{message}{self.note}")


@dataclass(frozen=True)
class Located:
    """A value, its path, and the file it is in."""

    value: Any
    path: Path
    source: Source

    def __getitem__(self, key: str | int) -> "Located":
        return Located(self.value[key], (*self.path, key), self.source)

    def __contains__(self, key: str) -> bool:
        return key in self.value

    @property
    def name(self) -> str:
        """As people write it: [problem.set], or horizon."""
        text = ".".join(map(str, self.path))
        if not text:
            return "an experiment file"
        return f"[{text}]" if isinstance(self.value, dict) else text

    def fail(self, message: str, key: str | None = None) -> NoReturn:
        """The error about this value or, where it has this key, about what is there."""
        self.source.fail(self.path if key is None else (*self.path, key), message)

    def table(self) -> "Located":
        """Itself, if it is a table."""
        if not isinstance(self.value, dict):
            self.fail(f"{self.name} must be a table, got {self.value!r:.100}")
        return self

    def check_keys(self, known: Iterable[str]) -> None:
        for key in self.value:
            if key not in known:
                self.fail(f"{self.name} has no {key!r:.100}{did_you_mean(key, known)}", key)

    def text(self) -> str:
        """Itself, if it is a string."""
        if not isinstance(self.value, str):
            self.fail(f"{self.name} must be a string, got {self.value!r:.100}")
        return self.value

    def count(self, most: int) -> int:
        """Itself, if it is a whole number from 1 to `most`, also written 1e5."""
        value = whole(self.value)
        if type(value) is not int or value < 1:
            self.fail(f"{self.name} must be a whole number of at least 1, got {self.value!r:.100}")
        if value > most:
            self.fail(f"{self.name} must be at most {most:,}, got {value:,}"[:100])
        return value

    @contextmanager
    def locating_errors(self) -> Iterator[None]:
        """Errors are this value's or, where they name a parameter that it has, that parameter's."""
        try:
            yield
        except BadExperiment:
            raise
        except SemiBanditError as error:
            if isinstance(error, WrongParameter):
                self.fail(str(error), error.parameter)
            names = self._named_in(str(error))
            also = [f"{key}: line {line}" for key in names[1:] if (line := self._line_of_table(key))]
            self.fail(f"{error} ({', '.join(also)})" if also else str(error), names[0] if names else None)

    def _named_in(self, message: str) -> list[str]:
        """The keys of this table that the message names, in its order."""
        keys = [key for key in self.value if key not in NAMES] if isinstance(self.value, dict) else []
        found = [(match.start(), key) for key in keys if (match := re.search(rf"\b{re.escape(key)}\b", message))]
        return [key for _, key in sorted(found)]

    def _line_of_table(self, key: str) -> int | None:
        return self.source.lines.get((*self.path, key)) if isinstance(self.value[key], dict) else None
