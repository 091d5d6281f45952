"""All points of a sweep together."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from semibandits.experiments.point import Point
from semibandits.experiments.report.curves import label_regret, legend_below, new_axes, plain_numbers
from semibandits.experiments.report.pictures import Gallery, figure
from semibandits.experiments.report.played import setting
from semibandits.experiments.report.standing import (
    comparisons,
    decimals,
    ranking,
    short_names,
    told_apart,
)
from semibandits.markup import Html, Number, Strong, number, paragraph, table
from semibandits.simulation.plots import COLOURS, DASHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
"""In one picture; more are drawn in one per policy."""
MOST_PICTURES = 6
MOST_TICKS = 8
"""So many values are named on the axis, each of them."""


class Line(NamedTuple):
    """One policy over the values of one setting, all others fixed."""

    policy: str
    others: str
    points: list[tuple[Any, Point, int]]
    """The value, where it was played, and the policy's number there."""


def keys(points: Sequence[Point]) -> list[str]:
    """What was swept."""
    return list(dict.fromkeys(key for point in points for key in point.settings))


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


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def sentence(points: Sequence[Point]) -> str:
    """Who won how often."""
    swept = ", ".join(keys(points))
    begin = f"{len(points)} settings of {swept} were played. " if swept else f"{len(points)} simulations were played. "
    names = _names(points)
    if all(len(point.result.policies) == 1 for point in points):
        means = [float(point.result.regret[0, :, -1].mean()) for point in points]
        finals = list(zip(means, titles(points), strict=True))
        (least, where), (most, there) = min(finals), max(finals)
        return f"{begin}The mean regret of {names[0]} is from {number(least)} ({where}) to {number(most)} ({there})."
    wins: dict[str, int] = {}
    clear = 0
    for point in points:
        best = ranking(point.result)[0]
        wins[names[best]] = wins.get(names[best], 0) + 1
        clear += all(told_apart(one) for one in comparisons(point.result) if one.a == point.result.policies[best])
    (first, count), *rest = sorted(wins.items(), key=lambda win: -win[1])
    said = f"{first} has the least mean regret in {count} of them" + "".join(f", {name} in {n}" for name, n in rest)
    sure = "all" if clear == len(points) else "none" if not clear else str(clear)
    return f"{begin}{said}; in {sure} of them the best is significantly better than all others."


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
    for place, short in enumerate(short_names(most.result)):
        whole = {point.result.policies[place] for point in points if place < len(point.result.policies)}
        names.append(short if len(whole) == 1 else short.partition("(")[0])
    return [name if names.count(name) == 1 else f"{name} ({place + 1})" for place, name in enumerate(names)]


def _table(points: Sequence[Point]) -> Html:
    swept, names = keys(points), _names(points)
    rows = []
    for point in points:
        means = [Number("")] * len(names)
        best = ranking(point.result)[0]
        for place, row in enumerate(point.result.summary()):
            digits = decimals(row.error, row.mean)
            error = "" if math.isnan(row.error) else f" ± {number(row.error, digits)}"
            kind = Strong if place == best and len(names) > 1 else Number
            means[place] = kind(f"{number(row.mean, digits)}{error}")
        rows.append([*(_value(point.settings.get(key)) for key in swept), *means])
    caption = "Mean regret at the horizon ± standard error over runs" + (
        "; the least of each row in bold." if len(names) > 1 else "."
    )
    if not swept:
        swept, rows = ["simulation"], [[title, *row] for title, row in zip(titles(points), rows, strict=True)]
    return table([*map(_short(points).get, swept, swept), *names], rows, caption)


def _value(value: Any) -> Any:
    return number(value) if _is_number(value) else "" if value is None else setting(value)


def _lines(points: Sequence[Point], key: str) -> list[Line]:
    names, short = _names(points), _short(points)
    lines: dict[tuple[int, str], Line] = {}
    for point in points:
        if key not in point.settings:
            continue
        others = _settings(point, short, without=key)
        for place in range(len(point.result.policies)):
            line = lines.setdefault((place, others), Line(names[place], others, []))
            line.points.append((point.settings[key], point, place))
    return list(lines.values())


def _pictures(points: Sequence[Point], key: str, gallery: Gallery, name: str) -> Html:
    lines = _lines(points, key)
    if all(len(line.points) < 2 for line in lines):
        return Html("")
    if len(lines) <= MOST_LINES:
        return _picture(lines, key, gallery, name, "")
    body = ""
    policies = list(dict.fromkeys(line.policy for line in lines))
    others = list(dict.fromkeys(line.others for line in lines))
    one_each, groups = ("policy", policies) if len(others) > 1 else ("others", others)
    for number_, group in enumerate(groups[:MOST_PICTURES]):
        some = [line for line in lines if getattr(line, one_each) == group]
        body += _picture(some, key, gallery, f"{name}-{number_}", group)
    if len(groups) > MOST_PICTURES:
        body += paragraph(f"{len(groups) - MOST_PICTURES} more policies are in the table only.", "note")
    return Html(body)


def _picture(lines: Sequence[Line], key: str, gallery: Gallery, name: str, title: str) -> Html:
    ax = new_axes(3.4)
    values = [value for line in lines for value, _, _ in line.points]
    numeric = all(map(_is_number, values))
    places = {text: place for place, text in enumerate(dict.fromkeys(map(setting, values)))}
    finals = []
    for number_, line in enumerate(lines):
        ordered = sorted(line.points, key=lambda one: one[0]) if numeric else line.points
        x = [value if numeric else places[setting(value)] for value, _, _ in ordered]
        rows = [point.result.summary()[place] for _, point, place in ordered]
        y = [row.mean for row in rows]
        finals += y
        half = [0.0 if math.isnan(row.error) else row.high - row.mean for row in rows]
        style: dict[str, Any] = {"color": COLOURS[number_ % len(COLOURS)], "linestyle": DASHES[number_ % len(DASHES)]}
        text = line.others if title and line.policy == title else ", ".join(filter(None, (line.policy, line.others)))
        ax.errorbar(x, y, yerr=half, label=_plain(text), marker="o", markersize=4, capsize=2.5, linewidth=1.6, **style)
    if numeric:
        ax.set_xscale("log" if min(values) > 0 and max(values) >= 50 * min(values) else "linear")
    else:
        ax.margins(x=0.15)
    if min(finals) > 0.0 and max(finals) >= 50.0 * min(finals):
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    _label(ax, lines, key)
    if numeric and len(set(values)) <= MOST_TICKS and ax.get_xscale() == "linear":
        ax.set_xticks(sorted(set(values)))
    if not numeric:
        ax.set_xticks(range(len(places)), [_plain(text) for text in places], fontsize="small", parse_math=False)
    shown = f"{title}: m" if title else "M"
    words = f"{shown}ean regret at the horizon against {key}"
    runs = {point.result.regret.shape[1] for line in lines for _, point, _ in line.points}
    bars = "" if runs == {1} else ", with 95% intervals over runs"
    return figure(gallery.picture(name, ax, f"{words}."), f"{words}{bars}.")


def _label(ax: "Axes", lines: Sequence[Line], key: str) -> None:
    label_regret(ax, lines[0].points[0][1])
    plain_numbers(ax)
    ax.set_xlabel(key, parse_math=False)
    ax.grid(True, color="#e4e4e4", linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    legend_below(ax, ax.get_legend_handles_labels()[0])


def _plain(text: str) -> str:
    text = text if len(text) <= 48 else f"{text[:45]}..."
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text
