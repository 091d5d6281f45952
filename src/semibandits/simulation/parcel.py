"""Parcels for the workers of an executor, and the failures that come back."""

import functools
import hashlib
import pickle
import platform
import sys
import uuid
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from semibandits._util.ownership import PACKAGE
from semibandits.errors import Unsupported

T = TypeVar("T")


class Parcel(Generic[T]):
    """A thing for the workers of an executor. If it is to leave this process it is packed, once, and arrives as bytes,
    which can be passed on by who has not this package; `opened` reads both.

    The user's code that it needs is packed with it (see `by_value.py`).
    """

    def __init__(self, content: T) -> None:
        self.content = content
        self.failure = ""
        """Why it could not be packed."""
        self._packed = b""
        self._name = uuid.uuid4().hex

    def __dask_tokenize__(self) -> str:
        """Dask remembers what became of tasks by their names: those of another parcel are others."""
        return self._name

    def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
        if not self._packed:
            from semibandits.simulation.by_value import pack

            try:
                self._packed = pickle.dumps((edition(), *pack(self.content)))
            except Exception as error:
                self.failure = f"{type(error).__name__}: {error!s:.200}"
                raise
        return bytes, (self._packed,)


def opened(parcel: Parcel[T] | bytes) -> T:
    """What is in it. Another version of this package or of Python does not open it: it might play something else."""
    if isinstance(parcel, Parcel):
        return parcel.content
    there, data, why = pickle.loads(parcel)
    here = edition()
    if here != there:
        raise Unsupported(
            f"the worker {_place()} has {_said(here)}, and the simulation comes from {_said(there)}: they may play "
            "differently. Install the same on both, and start the workers again"
        )
    try:
        return cast(T, pickle.loads(data))
    except Exception as error:
        raise Unsupported(
            f"the worker {_place()} cannot unpack what it is to play: {type(error).__name__}: {error!s:.200}"
            + (f". Code of your own could not be sent along ({why}): it must be importable there" if why else "")
        ) from error


class Failed:
    """An error of what was played, which is not the executor's."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __reduce__(self) -> tuple[Any, ...]:
        from semibandits.simulation.engines.pool_worker import packed

        return _failed, packed(self.error)


def _failed(chain: list[tuple[bytes, str]], traceback: str) -> Failed:
    from semibandits.simulation.engines.pool import rebuilt

    return Failed(rebuilt(chain, traceback))


@functools.cache
def edition() -> dict[str, str]:
    """What the same numbers come from: this package, by its version and the text of its files, and Python."""
    package = sys.modules[PACKAGE]
    home, text = Path(str(package.__file__)).parent, hashlib.sha256()
    for path in sorted(home.rglob("*.py")):
        text.update(path.relative_to(home).as_posix().encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    version = f"{package.__version__} (code {text.hexdigest()[:8]})"
    return {PACKAGE: version, "Python": "{}.{}".format(*sys.version_info)}


def _said(edition: dict[str, str]) -> str:
    return " and ".join(f"{name} {version}" for name, version in edition.items())


def _place() -> str:
    return platform.node() or "of the executor"
