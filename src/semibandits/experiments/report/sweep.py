"""The overview of a sweep: all its points together."""

import math
import time
from collections.abc import Sequence
from typing import Any

from semibandits._util.html import Html, LinkedNumber, Number, Strong, escape, number, paragraph, table
from semibandits.errors import SemiBanditError
from semibandits.experiments.point import Point
from semibandits.experiments.report.curves import least_gap
from semibandits.experiments.report.page import slug, unique
from semibandits.experiments.report.pictures import NARROW, Gallery, figure
from semibandits.experiments.report.setup import setting
from semibandits.experiments.report.sweep_pictures import Line, draw, is_number
from semibandits.experiments.report.wording import in_unit, listed, of_unit, with_error, with_unit
from semibandits.plotting.axes import DASHES

MOST_LINES = 8
"""In one panel; more are drawn in one for each value of the other settings."""
MOST_PANELS = 9
GAP_PATIENCE = 3.0
"""Seconds for the least gaps of all points together."""


def keys(points: Sequence[Point]) -> list[str]:
    """What was swept."""
    return list(dict.fromkeys(key for point in points for key in point.settings))


def ids(points: Sequence[Point]) -> list[str]:
    """What links to each point lead to."""
    return unique(f"at-{slug(title)}" for title in titles(points))


def titles(points: Sequence[Point]) -> list[str]:
    """Each point's settings in one line."""
    said = [_settings(point, _short(points)) for point in points]
    return [f"Simulation {place + 1}" if not one or said.count(one) > 1 else one for place, one in enumerate(said)]


def _settings(point: Point, short: dict[str, str], without: str = "") -> str:
    return ", ".join(f"{short[key]} = {setting(value)}" for key, value in point.settings.items() if key != without)


def _short(points: Sequence[Point]) -> dict[str, str]:
    """The places in a file by their last words, where these tell them apart."""
    swept = keys(points)
    last = [key.rpartition(".")[2] for key in swept]
    return {key: word if last.count(word) == 1 else key for key, word in zip(swept, last, strict=True)}


def sentence(points: Sequence[Point]) -> str:
    """Who won how often."""
    swept, short = keys(points), _short(points)
    what = {0: "simulations", 1: "values of"}.get(len(swept), "combinations of")
    begin = f"{len(points)} {what} {listed([short[key] for key in swept])}".rstrip() + " were played. "
    names = _names(points)
    if all(len(point.result.policies) == 1 for point in points):
        means = [float(point.result.regret[0, :, -1].mean()) for point in points]
        finals = list(zip(means, titles(points), strict=True))
        (least, where), (most, there) = min(finals), max(finals)
        ends = f"{number(least)} ({where}) to {number(most)} ({there})"
        return f"{begin}The mean regret of {names[0]}{in_unit(points[0].unit)} is from {ends}."
    wins: dict[str, int] = {}
    clear = 0
    for point in points:
        best = point.result.ranking()[0]
        wins[names[best]] = wins.get(names[best], 0) + 1
        clear += all(one.significant for one in point.result.comparisons()[: len(point.result.policies) - 1])
    (first, count), *rest = sorted(wins.items(), key=lambda win: -win[1])
    often = {0: "none", len(points): "all"}
    said = f"{first} has the least mean regret in {often.get(count, count)} of them"
    said += "".join(f", {name} in {n}" for name, n in rest)
    others = "the other" if len(names) == 2 else "every other"
    return f"{begin}{said}; the best is significantly better than {others} in {often.get(clear, clear)} of them."


def overview(points: Sequence[Point], gallery: Gallery) -> Html:
    """A picture over every swept setting, and a table of all final regrets."""
    body = ""
    for number_, key in enumerate(keys(points)):
        body += _pictures(points, key, gallery, f"sweep-{number_}")
    return Html(body + _table(points))


def _names(points: Sequence[Point]) -> list[str]:
    """A name for the policy at each place: its own, without the parameters where those change from point to point."""
    most = max(points, key=lambda point: len(point.result.policies))
    names = []
    for place, short in enumerate(most.result.short_names):
        whole = {point.result.policies[place] for point in points if place < len(point.result.policies)}
        names.append(short if len(whole) == 1 else short.partition("(")[0])
    return [name if names.count(name) == 1 else f"{name} ({place + 1})" for place, name in enumerate(names)]


def _table(points: Sequence[Point]) -> Html:
    swept, names = keys(points), _names(points)
    rows: list[list[Any]] = []
    for point in points:
        means = [Number("")] * len(names)
        best = point.result.ranking()[0]
        for place, one in enumerate(point.result.summary()):
            kind = Strong if place == best and len(names) > 1 else Number
            means[place] = kind(with_error(one.mean, one.error))
        rows.append([*(_value(point.settings.get(key)) for key in swept), *means])
    caption = f"Final mean regret{in_unit(points[0].unit)} ± standard error over runs" + (
        "; the least of each row in bold." if len(names) > 1 else "."
    )
    if not swept:
        swept, rows = ["simulation"], [[title, *row] for title, row in zip(titles(points), rows, strict=True)]
    for row, id in zip(rows, ids(points), strict=True):
        row[0] = _linked(row[0], id)
    columns, worths, said = _worths(points)
    rows = [[*row, *worth] for row, worth in zip(rows, worths, strict=True)]
    return table([*map(_short(points).get, swept, swept), *names, *columns], rows, caption + said)


def _linked(cell: Any, id: str) -> Html:
    kind = LinkedNumber if isinstance(cell, Number) else Html
    return kind(f'<a href="#{id}">{escape(cell or "–")}</a>')


def _worths(points: Sequence[Point]) -> tuple[list[str], list[list[Number]], str]:
    """What the optimum is worth and the least gap, as columns where they change from point to point, else in words."""
    unit = points[0].unit
    empty: list[list[Number]] = [[] for _ in points]
    optima, gaps = [_optimum(point) for point in points], _gaps(points)
    if all(map(math.isnan, optima)):
        return [], empty, ""
    known = [number(optimum) for optimum in optima], [number(gap) for gap in gaps]
    if len(set(known[0])) == len(set(known[1])) == 1:
        gap = "" if math.isnan(gaps[0]) else f", the least gap is {with_unit(known[1][0], unit)}"
        return [], empty, f" The optimum is worth {with_unit(known[0][0], unit)} a round in all of them{gap}."
    said = " Optimum: what it is worth a round."
    if all(map(math.isnan, gaps)):
        return [f"optimum{of_unit(unit)}"], [[one] for one in known[0]], said
    columns = [f"optimum{of_unit(unit)}", f"least gap{of_unit(unit)}"]
    return (
        columns,
        [list(row) for row in zip(*known, strict=True)],
        f"{said} Least gap: by how much the next best is worse.",
    )


def _optimum(point: Point) -> float:
    """NaN where it changes, or the oracle fails."""
    problem = point.problem
    try:
        return float("nan") if problem.environment.drifts else problem.value(problem.optimum)
    except SemiBanditError:
        return float("nan")


def _gaps(points: Sequence[Point]) -> list[float]:
    """NaN where they take too long."""
    began, gaps = time.perf_counter(), []
    for point in points:
        left = GAP_PATIENCE - (time.perf_counter() - began)
        gaps.append(float("nan") if point.problem.environment.drifts else least_gap(point.problem, left))
    return gaps


def _value(value: Any) -> Any:
    return number(value) if is_number(value) else "" if value is None else setting(value)


def _lines(points: Sequence[Point], key: str) -> list[Line]:
    names, short = _names(points), _short(points)
    lines: dict[tuple[int, str], Line] = {}
    for point in points:
        if key not in point.settings:
            continue
        others = _settings(point, short, without=key)
        for place in range(len(point.result.policies)):
            line = lines.setdefault((place, others), Line(place, names[place], others, []))
            line.points.append((point.settings[key], point, place))
    return list(lines.values())


def _pictures(points: Sequence[Point], key: str, gallery: Gallery, name: str) -> Html:
    """One panel; or, where these would be too many lines, one for each value of the other settings."""
    lines, short = _lines(points, key), _short(points)[key]
    if all(len(line.points) < 2 for line in lines):
        return Html("")
    others = list(dict.fromkeys(line.others for line in lines))
    together = len(others) == 1 or (len(others) <= len(DASHES) and len(lines) <= MOST_LINES)
    panels = {"": lines} if together else {one: [line for line in lines if line.others == one] for one in others}
    shown = dict(list(panels.items())[:MOST_PANELS])
    rest = listed([other for place, other in _short(points).items() if place != key])
    words = f"Final mean regret against {short}{'' if together else f', for each value of {rest}'}"
    runs = {point.result.regret.shape[1] for line in lines for _, point, _ in line.points}
    bars = "" if runs == {1} else ", with 95% intervals over runs"
    dashes = f" Colours and markers stand for policies, dashes for {rest}." if together and len(others) > 1 else ""
    one = gallery.picture(name, draw(shown, short), f"{words}.", draw(shown, short, NARROW))
    body = figure(one, f"{words}{bars}.{dashes}")
    if left := len(panels) - len(shown):
        body = Html(body + paragraph(f"{left} more values of {rest} are in the table only.", "note"))
    return body
