"""The machine: its processor, the memory and cores that this process may use, and whether what is asked for fits."""

import contextlib
import functools
import math
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from semibandits.errors import BadArgument, SemiBanditError

OWN_GROUPS = Path("/proc/self/cgroup")
"""Where Linux says in which control groups this process is: those of its container, its job, its service."""
GROUPS = Path("/sys/fs/cgroup")
"""Where it keeps them, in either version of its control groups."""
ALWAYS = 2**24
"""So many bytes there are."""


def memory() -> int:
    """Bytes of it that this process may use: of the machine, its groups, `ulimit`; 64 GiB where no one tells."""
    files = [group / "memory.max" for group in _groups()]
    files += [group / "memory.limit_in_bytes" for group in _groups("memory")]
    limits = [_number(_text(file)) for file in files]
    found = [size for size in (_installed(), *_allowed(), *limits) if size is not None and size > 0]
    return min(found, default=2**36)


def cores() -> int:
    """Those that this process may use: its groups may have the time of fewer than it sees."""
    told = getattr(os, "process_cpu_count", None)  # which heeds PYTHON_CPU_COUNT, too
    seen = told() if told else len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    shares = [_text(group / "cpu.max").partition(" ")[::2] for group in _groups()]
    names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    shares += [(_text(group / names[0]), _text(group / names[1])) for group in _groups("cpu")]
    quotas = [(_number(time), _number(of)) for time, of in shares]
    return min([seen or 1, *(math.ceil(time / of) for time, of in quotas if time and of)])


@functools.cache
def processor() -> str:
    """Its name, where the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def check_room(needed: float, what: str, advice: str = "", error: type[SemiBanditError] = BadArgument) -> None:
    """Raises `error` where so many bytes are more than there are."""
    if needed > ALWAYS and needed > (there := memory()):
        raise error(
            f"{what} {needed / 2**30:,.0f} GiB of memory, and this process may use {there / 2**30:,.0f}"
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


def _allowed() -> Iterator[int]:
    """By `ulimit -v` and `ulimit -d`."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            limit = resource.getrlimit(kind)[0]
            if limit != resource.RLIM_INFINITY:
                yield limit


def _groups(controller: str = "") -> Iterator[Path]:
    """This process's own group and every one around it: what is said of any of them counts.

    A controller, such as "memory", has groups of its own in the first version; in the second all share theirs. A
    container may see its own group as the root, whatever its path says: so some of these may not be there.
    """
    for line in (*_text(OWN_GROUPS).splitlines(), f"0:{controller}:/"):
        controllers, _, path = line.partition(":")[2].partition(":")
        if controller in controllers.split(","):
            folders = [GROUPS / controllers, GROUPS / controller]
            own = PurePosixPath(*(part for part in PurePosixPath(path).parts if part not in ("/", "..")))
            for group in (own, *own.parents):
                yield next(filter(Path.is_dir, folders), GROUPS) / group


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape").strip()
    except (OSError, ValueError):
        return ""


def _number(text: str) -> int | None:
    """None for "max", "-1" and nothing."""
    return int(text) if text.isdecimal() else None
