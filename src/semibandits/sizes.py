"""How much memory there is, and whether what is asked for fits: said before it is asked for."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from semibandits.errors import BadArgument, SemiBanditError

GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says how much a container may have."""
ALWAYS = 2**24
"""So many bytes there are."""


def memory() -> int:
    """Bytes of it that this process may use; 64 GiB where the system does not tell."""
    found = [size for size in (_installed(), _allowed(), *map(_in_group, GROUPS)) if size is not None and size > 0]
    return min(found, default=2**36)


def check_room(needed: float, what: str, advice: str = "", error: type[SemiBanditError] = BadArgument) -> None:
    """Raises `error` where so many bytes are more than there are."""
    if needed > ALWAYS and needed > (there := memory()):
        raise error(
            f"{what} {needed / 2**30:,.0f} GiB of memory, and this machine has {there / 2**30:,.0f}"
            f"{advice and f': {advice}'}"
        )


@contextmanager
def asking_for(what: str) -> Iterator[None]:
    """Memory that there is may be in use: then it is this that does not fit."""
    try:
        yield
    except MemoryError as error:
        raise BadArgument(f"there is not enough memory left for {what}: {error!s:.200}") from error


def _installed() -> int | None:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def _allowed() -> int | None:
    """By `ulimit -v`."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        return None if limit == resource.RLIM_INFINITY else limit
    return None


def _in_group(file: str) -> int | None:
    with contextlib.suppress(ValueError, OSError):
        return int(Path(file).read_bytes())
    return None
