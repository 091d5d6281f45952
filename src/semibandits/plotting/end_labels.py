"""Names of curves, written where these end."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from semibandits.plotting.axes import is_dark
from semibandits.plotting.spread import spread

LEAST = 4.5
"""Points: the smallest letters."""
APART = 1.25
"""From one line of text to the next, in sizes of the letters."""
LEADER = 1.6
"""Room for the lines that lead to the names, in sizes of the letters."""
LIGHTEST, DARKEST = 0.3, 0.2
"""Luminance of colours in which letters can be read on white, and on black."""


class EndLabels(Artist):
    """Names beside the axes, each in its curve's colour; at every drawing so far apart that none covers another.

    A line of the curve's own dashes leads from its end to its name. Where there are more names than fit in the smallest
    letters, those of the lowest curves are written.
    """

    def __init__(self, size: float) -> None:
        super().__init__()
        self.set_clip_on(False)
        self.set_zorder(4)
        self.size = size
        self.lines: list[Line2D] = []
        self.texts: list[Text] = []
        self.leaders: list[Line2D] = []
        self.more = Text(0.0, 0.0, "", color="#555555", va="center", transform=IdentityTransform())

    def add(self, line: Line2D, name: str, dashes: Any) -> None:
        dark = isinstance(line.axes, Axes) and is_dark(line.axes)
        style: dict[str, Any] = {"transform": IdentityTransform(), "color": readable(line.get_color(), dark)}
        text = Text(0.0, 0.0, name, va="center", linespacing=1.0, **style)
        self.lines.append(line)
        self.texts.append(text)
        self.leaders.append(
            Line2D([], [], **style | {"color": line.get_color(), "linestyle": dashes, "linewidth": 1.0})
        )

    def arrange(self) -> list[Artist]:
        """Puts every name in its place, and gives what is to be drawn."""
        ax, figure = self.axes, self.get_figure()
        if not isinstance(ax, Axes) or figure is None:
            return []
        inside, pixels = ax.bbox, figure.dpi / 72.0
        ends = [_end(line) for line in self.lines]
        shown = [at for at, line in enumerate(self.lines) if line.axes is ax and line.get_visible()]
        shown.sort(key=lambda at: ends[at][1])
        rows = np.array([1 + self.texts[at].get_text().count("\n") for at in shown], dtype=np.float64)
        size = float(np.clip(inside.height / (APART * pixels * max(rows.sum(), 1.0)), LEAST, self.size))
        fit = int(inside.height / (APART * pixels * size) + 1e-6)
        self.more.set_text("")
        if rows.sum() > fit:
            shown = shown[: max(1, int(np.searchsorted(rows.cumsum(), fit - 1, side="right")))]
            self.more.set_text(f"... and {len(rows) - len(shown)} more")
            rows = np.append(rows[: len(shown)], 1.0)
        step = APART * size * pixels
        heights = [float(np.clip(ends[at][1], inside.y0, inside.y1)) for at in shown]
        heights += [inside.y1] * bool(self.more.get_text())
        if not heights:
            return []
        between = (inside.y0 + rows[0] * step / 2.0, inside.y1 - rows[-1] * step / 2.0)
        middles = spread(heights, (rows[1:] + rows[:-1]) / 2.0 * step, between)
        x = inside.x1 + LEADER * size * pixels
        drawn: list[Artist] = []
        for at, middle in zip(shown, middles, strict=False):
            begin = (min(ends[at][0], inside.x1), float(np.clip(ends[at][1], inside.y0, inside.y1)))
            self.leaders[at].set_data((begin[0], x), (begin[1], middle))
            self.texts[at].set_position((x + 0.3 * size * pixels, middle))
            drawn += [self.leaders[at], self.texts[at]]
        if self.more.get_text():
            self.more.set_position((x + 0.3 * size * pixels, middles[-1]))
            drawn.append(self.more)
        for one in drawn:
            one.set_figure(figure)
            if isinstance(one, Text):
                one.set_fontsize(size)
        return drawn

    def get_window_extent(self, renderer: Any = None) -> Bbox:
        boxes = [one.get_window_extent(renderer) for one in self.arrange() if isinstance(one, Text)]
        return Bbox.union(boxes) if boxes else Bbox.null()

    def get_tightbbox(self, renderer: Any = None) -> Bbox | None:
        return self.get_window_extent(renderer) if self.lines else None

    def draw(self, renderer: Any) -> None:
        if self.get_visible():
            for one in self.arrange():
                one.draw(renderer)
        self.stale = False


def readable(colour: Any, on_dark: bool = False) -> str:
    """The colour, or a darker one where it is too light for letters on white; or, on black, a lighter one."""
    linear = np.asarray(to_rgb(colour)) ** 2.2
    light = float(linear @ (0.2126, 0.7152, 0.0722))
    if on_dark and light < DARKEST:
        linear = 1.0 - (1.0 - linear) * (1.0 - DARKEST) / (1.0 - light)
    elif not on_dark and light > LIGHTEST:
        linear = linear * (LIGHTEST / light)
    red, green, blue = (linear ** (1.0 / 2.2)).tolist()
    return to_hex((red, green, blue))


def _end(line: Line2D) -> tuple[float, float]:
    """In pixels, of the last point that can be drawn; far below where there is none."""
    points = line.get_transform().transform(np.column_stack([line.get_xdata(), line.get_ydata()]).astype(np.float64))
    known = points[np.isfinite(points).all(axis=1)]
    return (float(known[-1, 0]), float(known[-1, 1])) if len(known) else (float("inf"), float("-inf"))
