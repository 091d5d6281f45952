"""A disk that forgets: what a power cut may leave of a folder, at any moment, if only what was synced is sure.

Of a file that was not synced, all, some or none of the bytes may be there, or zeros in their place. Of a folder that
was not synced, every name may lead to what it led to before, or to what came after. A name is its own: nothing says
that two of them change together, or in the order in which they did.
"""

import itertools
import math
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

CHANGING = ("fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir", "link", "symlink")

Tree = dict[str, bytes | None]
"""The files of a folder by their relative names, with what is in them; None for folders."""


class State(NamedTuple):
    """What a power cut may leave, and how much had been acknowledged by then."""

    acknowledged: int
    tree: Tree

    def restore(self, folder: Path) -> Path:
        folder.mkdir()
        for name, content in self.tree.items():
            if content is None:
                (folder / name).mkdir()
            else:
                (folder / name).write_bytes(content)
        return folder


class Moment(NamedTuple):
    """What is sure and what is not: for each name in each folder, what it may lead to; for each file, its bytes."""

    acknowledged: int
    names: dict[int, dict[str, tuple[int | None, ...]]]
    contents: dict[int, tuple[bytes, ...]]

    def states(self, most: int, generator: np.random.Generator) -> Iterator[State]:
        """All of them, or `most` at random."""
        names = [((folder, name), may) for folder, inside in self.names.items() for name, may in inside.items()]
        asked = [(key, may) for key, may in [*names, *self.contents.items()] if len(may) > 1]
        if math.prod(len(may) for _, may in asked) <= most:
            answers: Any = itertools.product(*(range(len(may)) for _, may in asked))
        else:
            answers = (generator.integers([len(may) for _, may in asked]) for _ in range(most))
        for answer in answers:
            chosen: dict[Any, Any] = {key: may[at] for (key, may), at in zip(asked, answer, strict=True)}
            yield State(self.acknowledged, dict(self._inside(0, "", chosen)))

    def _inside(self, folder: int, path: str, chosen: dict[Any, Any]) -> Iterator[tuple[str, bytes | None]]:
        for name, may in self.names[folder].items():
            leads_to = chosen.get((folder, name), may[0])
            if leads_to in self.names:
                yield path + name, None
                yield from self._inside(leads_to, f"{path}{name}/", chosen)
            elif leads_to is not None:
                yield path + name, chosen.get(leads_to, self.contents[leads_to][0])


class Disk:
    """The folder `root`, watched: whatever this process does to it through `os`, in Python."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        root.mkdir()
        self.root = root
        self.moments: list[Moment] = []
        self._acknowledged = 0
        self._turn = threading.RLock()
        self._ids: dict[int, int] = {}
        self._fresh = itertools.count()
        self._names: dict[int, dict[str, tuple[int | None, ...]]] = {}
        self._contents: dict[int, bytes] = {}
        self._synced: dict[int, bytes] = {}
        self._look()
        for name in CHANGING:
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))
        monkeypatch.delattr("fcntl.F_FULLFSYNC", raising=False)

    def acknowledge(self) -> None:
        """From now on, one thing more must not be lost."""
        with self._turn:
            self._look()
            self._acknowledged += 1
            self._note()

    def states(self, most: int = 200, seed: int = 0) -> list[State]:
        """What a power cut may leave, at every moment; each only once."""
        generator, seen = np.random.default_rng(seed), {}
        for moment in self.moments:
            for state in moment.states(most, generator):
                seen[state.acknowledged, frozenset(state.tree.items())] = state
        return list(seen.values())

    def _watched(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            with self._turn:
                self._look()
                self._note()
                result = original(*arguments, **options)
                if name == "fsync":
                    self._sync(os.fstat(arguments[0]).st_ino)
                self._look()
                self._note()
                return result

        return call

    def _look(self) -> None:
        """What is there now. A number that a file had may become another's when it is gone: ours never do."""
        there: dict[int, int] = {}
        folders: dict[int, dict[str, int]] = {}
        waiting = [self.root]
        while waiting:
            folder = waiting.pop()
            inside = folders.setdefault(self._id(there, folder), {})
            for path in folder.iterdir():
                inside[path.name] = self._id(there, path)
                if path.is_dir():
                    waiting.append(path)
                else:
                    self._contents[inside[path.name]] = path.read_bytes()
        self._ids = there
        for number, entries in folders.items():
            names = self._names.setdefault(number, {})
            for name in {*names, *entries}:
                may, now = names.get(name, (None,)), entries.get(name)
                names[name] = may if may[-1] == now else (*may, now)

    def _id(self, there: dict[int, int], path: Path) -> int:
        inode = path.lstat().st_ino
        if inode not in there:
            there[inode] = self._ids[inode] if inode in self._ids else next(self._fresh)
        return there[inode]

    def _sync(self, inode: int) -> None:
        number = self._ids.get(inode)
        if number in self._names:
            self._names[number] = {name: may[-1:] for name, may in self._names[number].items()}
        elif number is not None:
            self._synced[number] = self._contents[number]

    def _note(self) -> None:
        contents = {}
        for number, now in self._contents.items():
            sure = self._synced.get(number, b"")
            zeros = now[:4096] + bytes(max(0, len(now) - 4096)) if len(now) > 4096 else bytes(len(now))
            unsure = (sure, now[: len(now) // 2], zeros, now)
            contents[number] = (sure,) if sure == now else tuple(dict.fromkeys(unsure))
        names = {folder: dict(inside) for folder, inside in self._names.items()}
        self.moments.append(Moment(self._acknowledged, names, contents))
