"""The report of any experiment: one simulation, or a sweep of them."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from semibandits._util.files import replace_file
from semibandits._util.html import Html, details, escape, paragraph
from semibandits.errors import BadArgument
from semibandits.experiments.point import Point
from semibandits.experiments.report import sweep
from semibandits.experiments.report.curves import curves
from semibandits.experiments.report.items import items
from semibandits.experiments.report.page import Section, nested, page
from semibandits.experiments.report.pictures import Gallery, own_style, save
from semibandits.experiments.report.ranking import answer, sentence, standings
from semibandits.experiments.report.setup import played, provenance, timing
from semibandits.experiments.report.solutions import find, solutions
from semibandits.problem import Problem
from semibandits.simulation import SimulationResult

MOST_DRAWN = 6
"""Points that are drawn whole; more are drawn more simply."""


@own_style()
def write_report(
    path: str | os.PathLike[str],
    title: str,
    points: Sequence[Point],
    *,
    description: str = "",
    source: str = "",
    figures: bool = False,
) -> None:
    """Writes a page about these simulations: who lost least and how sure that is, what was learned, how to repeat it.

    The page holds all it shows. `source` is the text that the experiment was made from, if any. The most is to be seen
    where the simulations were made with `record=["counts", "sums"]`. With `figures`, its pictures are written too, as
    SVG, PNG and PDF, to the folder figures beside it. Needs Matplotlib.

        write_report("report.html", "My experiment", [Point({}, problem, result)])
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", str(target.parent))
    gallery = Gallery()
    text = report(title, points, description=description, source=source, gallery=gallery)
    if figures:
        save(target.parent, gallery.pictures)
    replace_file(target, text.encode())


@own_style()
def report(
    title: str,
    points: Sequence[Point],
    *,
    description: str = "",
    source: str = "",
    gallery: Gallery | None = None,
) -> str:
    """The page that `write_report` writes; its pictures are added to the gallery."""
    gallery = Gallery() if gallery is None else gallery
    shown = [_check(point) for point in points]
    if not shown:
        raise BadArgument("a report is about one simulation or more, got none")
    about = "".join(paragraph(part) for part in description.split("\n\n") if part.strip())
    if len(shown) == 1:
        lead, sections = sentence(shown[0].result, shown[0].unit), _sections(shown[0], gallery)
    else:
        lead = sweep.sentence(shown)
        sections = [Section("Overview", sweep.overview(shown, gallery)), _points(shown, gallery)]
    return page(title, [*sections, Section("Provenance", provenance(shown, source))], lead, about)


def _check(point: Any) -> Point:
    kinds = (dict, Problem, SimulationResult, str)
    if not (isinstance(point, tuple) and 3 <= len(point) <= 4 and all(map(isinstance, point, kinds))):
        raise BadArgument(f"a point is Point(settings, problem, result), got {point!r:.200}")
    found = Point(*point)
    counts = found.result.counts
    if counts is not None and counts.shape[2] != found.problem.n_items:
        raise BadArgument(
            f"the result has counts of {counts.shape[2]} items, but the problem has {found.problem.n_items}: "
            "was it another problem that was played?"
        )
    return found


def _points(points: Sequence[Point], gallery: Gallery) -> Section:
    """Each folded under its settings and its answer; links lead inside of it, which unfolds it."""
    many, titles, body = len(points) > MOST_DRAWN, sweep.titles(points), ""
    for number, (point, title, id) in enumerate(zip(points, titles, sweep.ids(points), strict=True)):
        part = gallery.part(f"point-{number}-")
        said = f'<p id="{id}">{escape(sentence(point.result, point.unit))}</p>\n'
        summary = Html(f"<b>{escape(title)}</b>: {escape(answer(point.result, point.unit))}")
        body += details(summary, said + nested(_sections(point, part, simple=many)))
    if many:
        note = "Bounds, and pictures of items and solutions, are left out of so many points."
        body = paragraph(note, "note") + body
    return Section("Every point", body)


def _sections(point: Point, gallery: Gallery, *, simple: bool = False) -> list[Section]:
    """What there is to say of one simulation beside who won."""
    found = find(point)
    known = {} if isinstance(found, str) else {policy: one.items for policy, one in found.items()}
    return [
        Section("Who lost least", standings(point.result, point.unit)),
        Section("Regret over time", curves(point, gallery, bounds=not simple)),
        Section("Items", items(point, gallery, known, pictures=not simple)),
        Section("Solution", solutions(point, gallery, found, pictures=not simple)),
        Section("Time per round", timing(point)),
        Section("What was played", played(point)),
    ]
