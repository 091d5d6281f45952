"""Finished runs in a folder, so that a simulation that was killed goes on where it stopped."""

import hashlib
import io
import json
import os
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import BadState, Unsupported
from semibandits.state import replace_file


class Store:
    """One experiment's folder: what it is, and a small file for each finished run of each policy."""

    _NOTE = "experiment.json"

    def __init__(self, folder: str | os.PathLike[str], experiment: tuple[object, ...], description: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        note = {"experiment": digest(experiment), "description": description}
        path = self._folder / self._NOTE
        if path.exists():
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                same = found["experiment"] == note["experiment"]
            except (ValueError, KeyError, TypeError) as error:
                raise BadState(f"{path} is damaged: {error}") from error
            if not same:
                raise BadState(f"{folder} holds another experiment: {found.get('description')!s:.300}")
        elif any(self._folder.iterdir()):
            raise BadState(f"{folder} is not empty and holds no experiment")
        else:
            replace_file(path, json.dumps(note, indent=1).encode())

    def load(self, policy: object, run: int, checkpoints: int) -> NDArray[np.float64] | None:
        """The regret of a finished run; None where it is not there, or damaged."""
        try:
            curve = np.load(self._path(policy, run), allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        whole = isinstance(curve, np.ndarray) and curve.dtype == np.float64 and curve.shape == (checkpoints,)
        return curve if whole else None

    def save(self, policy: object, run: int, curve: NDArray[np.float64]) -> None:
        data = io.BytesIO()
        np.save(data, curve, allow_pickle=False)
        replace_file(self._path(policy, run), data.getvalue())

    def _path(self, policy: object, run: int) -> Path:
        return self._folder / f"{digest(policy)[:16]}-{run}.npy"


def digest(value: object) -> str:
    """The same for the same data, in any process: numbers, arrays, containers, functions by their code, and objects by
    their class and attributes."""
    return hashlib.sha256(_describe(value, depth=0)).hexdigest()


def _describe(value: Any, depth: int) -> bytes:
    def inside(part: object) -> bytes:
        return hashlib.sha256(_describe(part, depth + 1)).digest()

    kind = f"{type(value).__module__}.{type(value).__qualname__}:".encode()
    if depth > 50:
        raise Unsupported("what is to be stored refers to itself")
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        return kind + repr(value).encode("utf-8", "surrogatepass")
    if isinstance(value, np.ndarray):
        return kind + f"{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes()
    if isinstance(value, tuple | list):
        return kind + b"".join(inside(part) for part in value)
    if isinstance(value, set | frozenset):
        return kind + b"".join(sorted(inside(part) for part in value))
    if isinstance(value, dict):
        return kind + b"".join(sorted(inside(key) + inside(part) for key, part in value.items()))
    if isinstance(value, type):
        return kind + f"{value.__module__}.{value.__qualname__}".encode()
    if isinstance(value, MethodType):
        return kind + inside(value.__func__) + inside(value.__self__)
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return kind + inside((value.__code__, value.__defaults__, value.__kwdefaults__, cells))
    if isinstance(value, CodeType):
        return kind + value.co_code + inside((value.co_names, value.co_consts))
    if not hasattr(value, "__dict__"):
        raise Unsupported(f"{value!r:.200} cannot be told from others, so that its runs cannot be stored")
    return kind + inside(vars(value))
