"""The reproduction: the paper's experiments and illustrations, played, drawn and checked."""

import datetime
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semibandits._util.versions import versions
from semibandits.errors import BadArgument
from semibandits.experiments.paper.claims import PARTS, Claim, Part

if TYPE_CHECKING:
    from semibandits.experiments.paper.runs import Plays, Settings
    from semibandits.simulation.progress import Progress

LEAST_RUNS = 8
"""Fewer make no standard errors worth their name."""


@dataclass(frozen=True)
class Reproduction:
    """What came out, part by part."""

    parts: tuple[Part, ...]
    settings: "Settings"
    started: str
    seconds: float

    @property
    def claims(self) -> tuple[Claim, ...]:
        return tuple(claim for part in self.parts for claim in part.claims)

    @property
    def holds(self) -> bool:
        """Whether all claims do."""
        return all(claim.holds for claim in self.claims)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON can say it: claims, settings, versions, and the numbers of every part."""
        return {
            "claims": [claim._asdict() for claim in self.claims],
            "settings": self.settings._asdict(),
            "parts": {part.name: dict(part.numbers) for part in self.parts},
            "started": self.started,
            "seconds": self.seconds,
            "machine": platform.platform(),
            "versions": versions("numpy", "scipy", "numba", "matplotlib"),
        }


def reproduce(
    *,
    out: str | os.PathLike[str] | None = None,
    runs: int | None = None,
    quick: bool = False,
    only: str | Iterable[str] | None = None,
    seed: int | None = 0,
    progress: "bool | Progress | None" = None,
) -> Reproduction:
    """Plays the paper's experiments again, and judges every claim by what comes out.

    `out` names a folder for report.html, figures/, data/ and claims.json; without it nothing is written, and no
    Matplotlib is needed. `runs` is the number of runs on every grid of Figure 1c (default 100); `quick` plays 64, and
    less of all else. `only` names one or more of `PARTS`. The same seed gives the same numbers.

    >>> found = reproduce(only="fig1b")
    >>> found.holds, found.claims[0].statement
    (True, 'L = 2m(m+1) items, paths of K = 2m')
    """
    from semibandits import rng
    from semibandits._util.checks import check_count
    from semibandits.experiments.paper import folder
    from semibandits.experiments.paper import runs as plays
    from semibandits.plotting.axes import check_axes
    from semibandits.simulation.simulate import MOST_RUNS

    names = _check_parts(only)
    if runs is not None and check_count("runs", runs, BadArgument, MOST_RUNS) < LEAST_RUNS:
        raise BadArgument(f"runs must be at least {LEAST_RUNS}, for standard errors worth their name, got {runs}")
    settings = plays.settings(rng.check_seed(seed), bool(quick), runs)
    into = None
    if out is not None:
        check_axes(None)
        into = folder.prepare(out)
    began, started = datetime.datetime.now(datetime.UTC), time.perf_counter()
    played = plays.play(settings, names, progress)
    judges = _judges()
    parts = tuple(judges[name](played) for name in names)
    seconds = time.perf_counter() - started
    found = Reproduction(parts, settings, began.isoformat(timespec="seconds"), seconds)
    if into is not None:
        folder.write(into, parts, found.as_dict())
    return found


def _judges() -> "Mapping[str, Callable[[Plays], Part]]":
    from semibandits.experiments.paper import (
        bounds,
        constants,
        figure_1c,
        figures_1a_1b,
        section_6,
        section_7,
        section_9,
    )

    return {
        "fig1a": figures_1a_1b.fig1a,
        "fig1b": figures_1a_1b.fig1b,
        "fig1c": figure_1c.judge,
        "trends": section_7.judge,
        "kpath": section_6.judge,
        "constants": constants.judge,
        "bounds": bounds.judge,
        "thompson": section_9.judge,
    }


def _check_parts(only: Any) -> list[str]:
    """The names of the parts, in their own order."""
    from semibandits._util.suggestions import did_you_mean

    asked = [only] if isinstance(only, str) else list(PARTS) if only is None else only
    if not isinstance(asked, Iterable) or not (asked := list(asked)):
        raise BadArgument(f"only must be one or more of {', '.join(PARTS)}, got {only!r:.200}")
    for name in asked:
        if not isinstance(name, str) or name not in PARTS:
            raise BadArgument(f"no part is called {name!r:.100}{did_you_mean(name, PARTS)}")
    return [name for name in PARTS if name in asked]
