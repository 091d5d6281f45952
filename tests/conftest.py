"""Property tests are the same on every machine and every day: no clock, no random seed.

Machine code is kept in a folder of its own within the user's cache: for all workers, the next run and other clones. It
goes by what it is made of, so that it is never stale; what is older than a month is removed.

Campaigns say at the end, in a line each, what they tried and what broke.
"""

import contextlib
import getpass
import os
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from semibandits.kernel import background, compiler, internals
from semibandits.kernel.cache_folder import cache_folder

settings.register_profile(
    "fixed", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")

MONTH = 30 * 86_400.0

if "PYTEST_XDIST_WORKER" not in os.environ:  # workers are told
    cache = cache_folder() or Path(tempfile.gettempdir()) / f"semibandits-{getpass.getuser()}"
    os.environ["SEMIBANDITS_CACHE"] = str(cache / "tests")
    if cache_folder() is not None:
        for path in (cache / "tests").iterdir():
            with contextlib.suppress(OSError):  # another run was faster
                if time.time() - path.stat().st_mtime > MONTH:
                    path.unlink()

CAMPAIGN = "campaign"


@pytest.fixture
def compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes from the disk, for this test or one before, cannot be looked at."""
    monkeypatch.setattr(internals, "keep_on_disk", lambda *_, **__: None)
    monkeypatch.setattr(compiler, "_ALIVE", weakref.WeakValueDictionary())
    monkeypatch.setattr(compiler, "_PARTS", weakref.WeakValueDictionary())


@pytest.fixture(autouse=True)
def nothing_goes_on() -> Iterator[None]:
    """What a test has had compiled in the background is done before the next, which may patch what compilers use."""
    yield
    background.wait()


@pytest.fixture
def campaign(record_property: Callable[[str, object], None]) -> Callable[[str, list[str]], None]:
    """`campaign(tried, broke)` tells what was tried, with its numbers, and fails where something broke."""

    def tell(tried: str, broke: list[str]) -> None:
        record_property(CAMPAIGN, f"{tried}: {len(broke) or 'nothing'} broke")
        assert not broke, f"{len(broke)} broke, among them: {'; '.join(broke[:5])}"

    return tell


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, ())]
    lines = sorted(
        (report.nodeid, line) for report in reports for name, line in report.user_properties if name == CAMPAIGN
    )
    if lines:
        terminalreporter.section("campaigns")
        for _, line in lines:
            terminalreporter.write_line(line)
