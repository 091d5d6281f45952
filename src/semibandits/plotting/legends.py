"""Titles and legends of curves, so placed that nothing is cut off and no curve is covered."""

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.layout_engine import PlaceHolderLayoutEngine
from matplotlib.text import Text
from matplotlib.transforms import BboxBase, ScaledTranslation, blended_transform_factory

from semibandits.plotting.end_labels import EndLabels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CORNERS = ("upper left", "lower right", "upper right", "lower left", "center right", "center left")
MOST_COLUMNS, SHORTEST = 4, 8
"""Of a legend, and letters of a line."""
FORMULA = re.compile(r"(?<!\\)\$.*?(?<!\\)\$")
SMALL = 5.0 / 6.0
"""Letters of legends beside those of titles."""
SHARE, LEFT = 0.22, 3.5
"""Of the height of a picture, what a legend may take, or all but so many inches, before names in it are broken."""
FULL_SIZE = 5.0
"""Inches: in narrower pictures letters are smaller, down to seven tenths."""


class Slot(NamedTuple):
    """The part of a figure, from left to right, that is there for some axes."""

    left: float
    """In pixels, as the other."""
    right: float
    pixels: float
    """In a point."""

    @property
    def width(self) -> float:
        return self.right - self.left


def slot(ax: "Axes") -> Slot:
    """The columns of the figure that axes are in; what they take themselves where they are in none."""
    whole, spec = ax.figure.bbox, ax.get_subplotspec()
    sides: Sequence[float] = (ax.bbox.x0, ax.bbox.x1)
    if spec is not None and spec == spec.get_topmost_subplotspec():
        columns = spec.get_gridspec().ncols
        sides = [whole.x0 + whole.width * at / columns for at in (spec.colspan.start, spec.colspan.stop)]
    return Slot(sides[0], sides[1], ax.figure.dpi / 72.0)


def letters(ax: "Axes") -> float:
    """The size of letters around these axes, in points."""
    room = slot(ax)
    return float(rcParams["font.size"] * np.clip(room.width / room.pixels / 72.0 / FULL_SIZE, 0.7, 1.0))


def label_ends(ax: "Axes", lines: Sequence[tuple[Any, Any]], points: float) -> None:
    """Names of these curves, given with their dashes, beside the axes, with those that are there already."""
    room, size = slot(ax), SMALL * points
    labels = next((one for one in ax.artists if isinstance(one, EndLabels)), None)
    if labels is None:
        labels = EndLabels(size)
        ax.add_artist(labels)
    for line, dashes in lines:
        labels.add(line, wrapped(ax, str(line.get_label()).strip(), size, 0.4 * room.width), dashes)
        if line.get_marker() in ("", "None"):
            line.sticky_edges.x.append(float(np.asarray(line.get_xdata())[-1]))


def not_at_ends(ax: "Axes") -> list[Any]:
    """The curves that a legend has to name, in the order in which they end, from top to bottom."""
    at_ends = [line for one in ax.artists if isinstance(one, EndLabels) for line in one.lines]
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_") and line not in at_ends]
    return sorted(lines, key=lambda line: np.nan_to_num(np.asarray(line.get_ydata())[-1], nan=-np.inf), reverse=True)


def wrapped(ax: "Axes", text: str, points: float, width: float) -> str:
    """In lines of at most so many pixels, formulas whole; lines of its own stay."""
    return "\n".join(_wrapped_line(ax, line, points, width) for line in text.split("\n"))


def _wrapped_line(ax: "Axes", line: str, points: float, width: float) -> str:
    whole = FORMULA.sub(lambda formula: formula[0].replace(" ", "\0"), line)
    most = len(line)
    while (long := _width(ax, line, points)) > width and most > SHORTEST:
        most = max(SHORTEST, min(most - 1, int(most * width / long) + 1))
        line = textwrap.fill(whole, most, break_long_words="$" not in line, break_on_hyphens=False).replace("\0", " ")
    return line


def _width(ax: "Axes", text: str, points: float) -> float:
    """In pixels."""
    probe = Text(0.0, 0.0, text, fontsize=points)
    probe.set_figure(ax.figure)
    return float(probe.get_window_extent().width) if text else 0.0


def write_title(ax: "Axes", text: str, points: float) -> None:
    """Above the axes, as wide as from their left side to the end of their part of the figure."""
    room = slot(ax)
    left = max(ax.bbox.x0 - room.left, 6.0 * points * room.pixels)
    width = room.width - left - 0.5 * points * room.pixels
    ax.set_title(wrapped(ax, text, points, width), loc="left", fontsize=points)


def write_legend(ax: "Axes", lines: Sequence[Any], title: str, place: str, points: float) -> None:
    """`place` is "inside", "below", or "free": inside where it covers no curve, else below."""
    size = SMALL * points
    style: dict[str, Any] = {"alignment": "left", "handlelength": 2.8, "labelspacing": 0.3}
    style |= {"fontsize": size, "title_fontsize": size}
    if place != "below":
        settle(ax)
    if place == "below" or not _inside(ax, lines, title, place == "inside", style):
        _below(ax, lines, title, style)


def _inside(ax: "Axes", lines: Sequence[Any], title: str, anyway: bool, style: dict[str, Any]) -> bool:
    """Whether there is room in a corner, or it shall be there anyway; it is there then."""
    style = {**style, "title": wrapped(ax, title, style["fontsize"], 0.7 * ax.bbox.width)}
    labels = _labels(ax, lines, style["fontsize"], 0.7 * ax.bbox.width)
    drawn = [(line.get_transform().transform_path(line.get_path()), False) for line in ax.get_lines()]
    drawn += [(band.get_transform().transform_path(path), True) for band in ax.collections for path in band.get_paths()]
    for corner in CORNERS:
        style["loc"] = corner
        box = ax.legend(lines, labels, **style).get_window_extent()
        if within(box, ax.bbox) and not any(path.intersects_bbox(box, filled) for path, filled in drawn):
            return True
    if anyway:
        style["loc"] = "best"
        ax.legend(lines, labels, **style)
    return anyway


def _labels(ax: "Axes", lines: Sequence[Any], points: float, width: float) -> list[str]:
    return [wrapped(ax, str(line.get_label()), points, width - 4.5 * points * slot(ax).pixels) for line in lines]


def _below(ax: "Axes", lines: Sequence[Any], title: str, style: dict[str, Any]) -> None:
    """Under the name of the x axis, in as many columns as fit."""
    room, size = slot(ax), style["fontsize"]
    axis = ax.xaxis.get_tightbbox()
    down = 0.0 if axis is None else max(0.0, ax.bbox.y0 - axis.y0) / room.pixels
    under = ax.transAxes + ScaledTranslation(0.0, -(down + 0.5 * size) / 72.0, ax.figure.dpi_scale_trans)
    middle = ((room.left + room.right) / 2.0 - ax.figure.bbox.x0) / ax.figure.bbox.width
    style = {**style, "loc": "upper center", "bbox_to_anchor": (middle, 0.0), "borderaxespad": 0.0, "frameon": False}
    style |= {"bbox_transform": blended_transform_factory(ax.figure.transSubfigure, under), "columnspacing": 1.2}
    style["title"] = wrapped(ax, title, size, 0.94 * room.width)
    whole = ax.figure.bbox.height
    enough = max(SHARE * whole, whole - 72.0 * LEFT * room.pixels)
    tried: list[tuple[bool, bool, float, float, int, float]] = []  # the least is best
    for columns in range(1, 1 + min(MOST_COLUMNS, len(lines))):
        for width in (np.inf, 0.94 * room.width / columns):
            labels = _labels(ax, lines, size, width)
            box = ax.legend(lines, labels, ncols=columns, **style).get_window_extent()
            too_wide, tall, height = bool(box.width > 0.98 * room.width), bool(box.height > enough), round(box.height)
            broken = sum("\n" in label for label in labels)
            tried.append((too_wide, tall, height if tall else broken, height, columns, width))
            if not too_wide:
                break
    *_, columns, width = min(tried)
    ax.legend(lines, _labels(ax, lines, size, width), ncols=columns, **style)


def within(box: BboxBase, whole: BboxBase) -> bool:
    return bool(box.x0 >= whole.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 and box.y1 <= whole.y1)


def settle(ax: "Axes") -> None:
    """The axes take the place that they will be drawn in, as far as is known."""
    figure = ax.get_figure()
    engine = figure.get_layout_engine() if isinstance(figure, Figure) else None
    if isinstance(figure, Figure) and engine is not None:
        engine.execute(figure)
    fit(ax)


def shorten(ax: "Axes") -> None:
    """The name of the y axis takes two lines where it is longer than the axis, or smaller letters yet."""
    settle(ax)
    label = ax.yaxis.label
    if label.get_window_extent().height > ax.bbox.height:
        label.set_text(label.get_text().replace(" ", "\n", 1))
        settle(ax)
        label.set_fontsize(float(label.get_fontsize()) * min(1.0, ax.bbox.height / label.get_window_extent().height))
        settle(ax)


def fit(ax: "Axes") -> None:
    """Margins wide enough for all that stands around the axes, where the figure does not see to that itself."""
    figure = ax.get_figure()
    if not isinstance(figure, Figure) or ax.get_subplotspec() is None:  # placed by hand, or in a part of a figure
        return
    engine = figure.get_layout_engine()
    if (engine is None or isinstance(engine, PlaceHolderLayoutEngine)) and not _fits(ax, figure):
        figure.tight_layout(pad=0.4)


def _fits(ax: "Axes", figure: Figure) -> bool:
    """Whether nothing is cut off or covers what belongs to another place of the figure."""
    box, here = ax.get_tightbbox(), ax.get_subplotspec()
    if box is None:
        return True
    elsewhere = (other for other in figure.axes if other.get_visible() and other.get_subplotspec() not in (None, here))
    boxes = (other.get_tightbbox() for other in elsewhere)
    return within(box, figure.bbox) and not any(other is not None and box.overlaps(other) for other in boxes)
