"""What runs are played on."""

import contextlib
import functools
import platform
from pathlib import Path

from semibandits._util.resources import cores as cores


@functools.cache
def processor() -> str:
    """Its name, where the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
