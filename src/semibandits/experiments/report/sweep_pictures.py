"""Pictures of final regret against a setting."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from semibandits.experiments.point import Point
from semibandits.experiments.report.curves import WIDTH, legend_below, plain_numbers, regret_label
from semibandits.experiments.report.setup import setting
from semibandits.plotting.axes import COLOURS, DASHES, MARKERS, as_label, light_grid
from semibandits.simulation.summaries import SummaryRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 3
"""Panels side by side."""
MOST_TICKS = 8
"""So many values are named on the axis, each of them; half as many where panels are small."""


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


def draw(panels: dict[str, list[Line]], key: str) -> "Figure":
    """Panels with the same axes, by their titles. Colours and markers are policies, dashes what else differs."""
    from matplotlib.figure import Figure

    across, many = min(ACROSS, len(panels)), len(panels) > 1
    down = -(-len(panels) // across)
    whole = Figure(figsize=(WIDTH, 0.5 + 1.7 * down if many else 3.4), layout="constrained")
    axes: list[Axes] = whole.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    lines = [line for some in panels.values() for line in some]
    values = [value for line in lines for value, _, _ in line.points]
    numeric = all(map(is_number, values))
    places = {text: place for place, text in enumerate(dict.fromkeys(map(setting, values)))}
    for ax, (title, some) in zip(axes, panels.items(), strict=False):
        _draw_panel(ax, some, {} if numeric else places)
        ax.set_title(_plain(title), loc="left", fontsize="small")
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
        first.set_xticks(range(len(places)), [_plain(text) for text in places], fontsize="small", parse_math=False)
    elif first.get_xscale() == "linear" and len(set(values)) <= MOST_TICKS // (2 if many else 1):
        first.set_xticks(sorted(set(values)))
    for ax in axes[len(panels) - across : len(panels)]:
        ax.set_xlabel(_plain(key))
        ax.tick_params(labelbottom=True)
    label: Any = whole.supylabel if many else first.set_ylabel
    label(regret_label(lines[0].points[0][1]), fontsize="medium", parse_math=False)
    legend_below(first, _handles(lines, dashed=not many))
    return whole


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
