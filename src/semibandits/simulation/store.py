"""Finished blocks in a folder, so that a simulation that was killed goes on where it stopped."""

import io
import json
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.digest import digest
from semibandits.errors import BadState, StoreFailed
from semibandits.files import make_folders, read_file, read_npy, remove_half_written, replace_file
from semibandits.simulation.task import Outcome, Task
from semibandits.sizes import memory

NOTE = "experiment.json"
MOST_NOTE = 2**24
"""Bytes of it."""
BLOCK = re.compile(r"[0-9a-f]{16}-\d+\.npz")


def is_stored(name: str) -> bool:
    """Whether a store may have written a file of this name."""
    return name == NOTE or BLOCK.fullmatch(name) is not None


class Store:
    """One experiment's folder: what it is, and a file for each finished block of runs of each policy."""

    def __init__(self, folder: str | os.PathLike[str], experiment: tuple[object, ...], description: str) -> None:
        self._folder = Path(folder)
        note = {"experiment": digest(experiment), "description": description}
        path = self._folder / NOTE
        others: list[Path] = []
        try:
            make_folders(self._folder)
            remove_half_written(self._folder, is_stored)
            # Files that another process is just writing begin with a dot.
            others = [file for file in self._folder.iterdir() if not file.name.startswith(".")]
            if not path.exists():
                if others and not path.exists():
                    raise BadState(f"{folder} is not empty and holds no experiment: {self._way_out(others)}")
                self._write(path, json.dumps(note, indent=1).encode())
            found = json.loads(read_file(path, MOST_NOTE))
            same = found["experiment"] == note["experiment"]
        except (BadState, StoreFailed):
            raise
        except OSError as error:
            raise StoreFailed(f"{folder} cannot be used as a store: {error}") from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadState(f"{path} is damaged ({error!s:.100}): {self._way_out(others)}") from error
        if not same:
            held = f"{found.get('description')!s:.300}"
            differs = "; this one differs in data or code" if held == description[:300] else ""
            raise BadState(f"{folder} holds another experiment: {held}{differs}")

    def _way_out(self, files: list[Path]) -> str:
        """What can be done where the note does not say what the folder holds."""
        runs = files and all(is_stored(file.name) for file in files)
        return f"remove {self._folder}, and its runs are played again" if runs else "give another folder"

    def load(self, task: Task, runs: int) -> Iterator[tuple[int, Outcome]]:
        """The finished runs below `runs`: the first run of a block, and what is known of it. Damaged files are not."""
        for path in sorted(self._folder.glob(f"{self._name(task)}-*.npz")):
            try:
                first = int(path.stem.rpartition("-")[2])
                file = _arrays(read_file(path, memory() // 4))
                found = {name: file[name] for name in Outcome.empty(task, 0).arrays()}
                timed = {"seconds": file["seconds"]} if "seconds" in file else {}
                count = len(found["regret"])
                expected = Outcome.empty(task, count).arrays() | {name: np.empty(count) for name in timed}
            except Exception:  # NumPy and zipfile have many for a damaged file
                continue
            found |= timed
            if _kinds(found) == _kinds(expected):
                yield first, Outcome.of({name: array[: max(0, runs - first)] for name, array in found.items()})

    def save(self, task: Task, first: int, outcome: Outcome) -> None:
        data = io.BytesIO()
        timed = {} if outcome.seconds is None else {"seconds": outcome.seconds}
        np.savez(data, **outcome.arrays(), **timed)  # type: ignore[arg-type]
        self._write(self._folder / f"{self._name(task)}-{first}.npz", data.getvalue())

    def _write(self, path: Path, data: bytes) -> None:
        try:
            replace_file(path, data)
        except OSError as error:
            kept = len(list(self._folder.glob("*.npz")))
            raise StoreFailed(
                f"{path} could not be written: {error.strerror or error}. The {kept} finished blocks before it are "
                "kept; the same call, made again, goes on from there"
            ) from error

    @staticmethod
    def _name(task: Task) -> str:
        return digest(task.policy)[:16]


def _arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """Those of an .npz file as `save` writes it, in which nothing is packed and so nothing unpacks to more."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        parts = file.infolist()
        packed = any(part.compress_type != zipfile.ZIP_STORED for part in parts)
        if packed or sum(part.file_size for part in parts) > len(data):
            raise ValueError("no file of a store")
        return {part.filename.removesuffix(".npy"): read_npy(file.read(part)) for part in parts}


def _kinds(arrays: dict[str, NDArray[Any]]) -> dict[str, tuple[object, ...]]:
    return {name: (array.dtype, array.shape) for name, array in arrays.items()}
