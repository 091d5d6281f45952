"""Pictures of final regret against a setting."""

import math
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from semibandits._util.html import number
from semibandits.experiments.point import Point
from semibandits.experiments.report.curves import (
    HEIGHT,
    WIDTH,
    in_lines,
    legend_below,
    plain_numbers,
    regret_label,
)
from semibandits.experiments.report.setup import setting
from semibandits.plotting.axes import COLOURS, DASHES, MARKERS, as_label, light_grid, shortened
from semibandits.simulation.summaries import SummaryRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 3
"""Panels side by side."""
PANEL = 1.9
"""Inches: the height of a panel that is one of several."""
LINE = 0.15
"""Inches that a line of small letters takes."""


class Line(NamedTuple):
    """One policy over the values of one setting, all others fixed."""

    place: int
    """Of the policy."""
    policy: str
    others: str
    points: list[tuple[Any, Point, int]]
    """The value, where it was played, and the policy's number there."""

    @property
    def rows(self) -> list[SummaryRow]:
        return [point.result.summary()[policy] for _, point, policy in self.points]


def is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def draw(panels: dict[str, list[Line]], key: str, width: float = WIDTH) -> "Figure":
    """Panels with the same axes, by their titles. Colours and markers are policies, dashes what else differs."""
    from matplotlib.figure import Figure

    many = len(panels) > 1
    lines = [line for some in panels.values() for line in some]
    values = [value for line in lines for value, _, _ in line.points]
    numeric = all(map(is_number, values))
    places = {text: place for place, text in enumerate(dict.fromkeys(map(setting, values)))}
    across = min(len(panels), ACROSS if width >= WIDTH else ACROSS - 1)
    while across > 1 and not numeric and len(places) * LINE > (width - 0.8) / across:
        across -= 1
    inches = (width - 0.8) / across - 0.1
    down = -(-len(panels) // across)
    whole = Figure(figsize=(width, 0.4 + PANEL * down if many else HEIGHT), layout="constrained")
    axes: list[Axes] = whole.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for ax, (title, some) in zip(axes, panels.items(), strict=False):
        _draw_panel(ax, some, {} if numeric else places)
        ax.set_title(textwrap.fill(_plain(title), int(13.0 * inches)), loc="left", fontsize="small")
    lines_above = max(ax.get_title(loc="left").count("\n") for ax in axes)
    whole.set_figheight(whole.get_figheight() + LINE * lines_above * down)
    for spare in axes[len(panels) :]:
        spare.set_visible(False)
    first = axes[0]
    finals = [row.mean for line in lines for row in line.rows]
    if numeric:
        first.set_xscale("log" if min(values) > 0 and max(values) >= 50 * min(values) else "linear")
    if min(finals) > 0.0 and max(finals) >= 50.0 * min(finals):
        first.set_yscale("log")
    else:
        first.set_ylim(bottom=min(0.0, first.get_ylim()[0]))
    plain_numbers(first)
    if not numeric:
        first.margins(x=0.15)
        below = _name_places(axes, [_plain(text) for text in places], inches)
        whole.set_figheight(whole.get_figheight() + below * (2 if len(panels) % across else 1))
    elif first.get_xscale() == "linear" and _have_room(sorted(set(values)), inches):
        first.set_xticks(sorted(set(values)))
    for ax in axes[len(panels) - across : len(panels)]:
        ax.set_xlabel(in_lines(_plain(key), inches))
        ax.tick_params(labelbottom=True)
    label = regret_label(lines[0].points[0][1])
    if down > 1:
        whole.supylabel(in_lines(label, PANEL * down), fontsize="medium", parse_math=False)
    else:
        first.set_ylabel(in_lines(label, PANEL - 0.3 if many else HEIGHT - 0.5), parse_math=False)
    legend_below(first, _handles(lines, dashed=not many))
    return whole


def _name_places(axes: "Sequence[Axes]", names: Sequence[str], inches: float) -> float:
    """Under the axes, upright where there is no room for words; how many inches that takes beside a line."""
    letters = int(12.0 * inches / len(names))
    upright = letters < 6
    shown = [shortened(name, 24) if upright else textwrap.fill(name, letters) for name in names]
    step = math.ceil(len(names) * LINE / inches) if upright else 1
    axes[0].set_xticks(range(0, len(names), step), shown[::step], parse_math=False)
    for ax in axes:
        ax.tick_params(axis="x", labelsize="small", labelrotation=90.0 if upright else 0.0)
    return max(0.08 * len(name) if upright else LINE * name.count("\n") for name in shown)


def _have_room(values: Sequence[float], inches: float) -> bool:
    """Whether all these numbers can be named on one axis."""
    if len(values) == 1:
        return True
    longest = max(len(number(value)) for value in values)
    least = min(after - before for before, after in pairwise(values)) / (values[-1] - values[0])
    return least * inches >= 0.1 * (longest + 1)


def _draw_panel(ax: "Axes", lines: Sequence[Line], places: dict[str, int]) -> None:
    others = list(dict.fromkeys(line.others for line in lines))
    for line in lines:
        x = [places[setting(value)] if places else value for value, _, _ in line.points]
        order = sorted(range(len(x)), key=x.__getitem__)
        rows = line.rows
        half = [0.0 if math.isnan(row.error) else row.high - row.mean for row in rows]
        ax.errorbar(
            *([x[i] for i in order], [rows[i].mean for i in order]),
            yerr=[half[i] for i in order],
            capsize=2.5,
            linewidth=1.6,
            **_style(line.place, others.index(line.others) if len(others) > 1 else line.place),
        )
    light_grid(ax)


def _style(policy: int, dashes: int) -> dict[str, Any]:
    return {
        "color": COLOURS[policy % len(COLOURS)],
        "marker": MARKERS[policy % len(MARKERS)],
        "markersize": 4.5,
        "linestyle": DASHES[dashes % len(DASHES)],
    }


def _handles(lines: Sequence[Line], *, dashed: bool) -> list[Any]:
    """A line for every policy and, where dashes stand for them, every value of the other settings."""
    from matplotlib.lines import Line2D

    policies = {line.place: line.policy for line in lines}
    others = list(dict.fromkeys(line.others for line in lines)) if dashed else []
    of_others = len(others) > 1
    handles = [
        Line2D([], [], label=_plain(name), **_style(place, 0 if of_others else place))
        for place, name in policies.items()
    ]
    if of_others:
        grey = "#666666"
        handles += [Line2D([], [], label=_plain(one), linestyle=DASHES[i], color=grey) for i, one in enumerate(others)]
    return handles


def _plain(text: str) -> str:
    return as_label(text if len(text) <= 48 else f"{text[:45]}...")
