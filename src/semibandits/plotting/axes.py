"""Axes and their style: colours, dashes, markers, grids, titles and legends of all pictures.

Colours go with dashes or markers, so that a picture also reads in grey.
"""

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from semibandits._util.colours import OKABE_ITO
from semibandits.errors import BadArgument, Unsupported, to_install
from semibandits.simulation.progress import in_notebook
from semibandits.types import Weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (*OKABE_ITO, "#000000")
DASHES: tuple[Any, ...] = ("solid", (0, (6, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
"""Seven colours and four kinds of dashes repeat together only after 28 curves."""
MARKERS = "osD^vPX*"
LOWER_COLOUR = "#7A3E9D"
"""Of lower bounds."""
CHOSEN, OTHER, DARK, GRID = OKABE_ITO[1], "#B8B8B8", "#333333", "#e4e4e4"


def check_axes(ax: Any) -> None:
    """Matplotlib must be there, and what the user gives must be its axes."""
    try:
        from matplotlib.axes import Axes
    except ImportError as error:
        raise Unsupported(f"plots need Matplotlib: {to_install('plot')}") from error
    if ax is not None and not isinstance(ax, Axes):
        raise BadArgument(f"ax must be Matplotlib Axes, got {ax!r:.200}")


def new_axes(width: float, height: float) -> "Axes":
    """Of pyplot where it is in use or a notebook would show it, else of a figure nobody else knows."""
    if "matplotlib.pyplot" not in sys.modules and not in_notebook():
        return own_axes(width, height)
    from matplotlib import pyplot

    ax: Axes = pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    return ax


def own_axes(width: float, height: float) -> "Axes":
    """Axes on a figure that nobody else knows."""
    return panels(width, height, 1)[1][0]


def panels(width: float, height: float, count: int) -> "tuple[Figure, list[Axes]]":
    """A figure that nobody else knows, with axes side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def is_dark(ax: "Axes") -> bool:
    """Whether what is drawn on these axes must be light to be seen."""
    from matplotlib.colors import to_rgb

    return sum(to_rgb(ax.get_facecolor())) < 1.5


def on_these(ax: "Axes", colour: str) -> str:
    """The colour; where that is a grey and the axes are dark, the grey as far from black as it was from white."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = to_rgb(colour)
    return to_hex((1.0 - red,) * 3) if red == green == blue and is_dark(ax) else colour


def light_grid(ax: "Axes", **which: Any) -> None:
    """A grid that is hardly seen, and no box."""
    ax.grid(True, color=on_these(ax, GRID), linewidth=0.6, **which)
    ax.spines[["top", "right"]].set_visible(False)


def shortened(name: Any, width: int) -> str:
    """A name of at most so many letters, all of which can be printed."""
    text = str(name)
    text = text if text and text.isprintable() else repr(name)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def as_label(text: str) -> str:
    """The text as Matplotlib shows it as it is: neither hidden nor set as mathematics."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def write_title(ax: "Axes", title: str, note: str) -> None:
    """In lines that fit above the axes."""
    width = max(30, int(13 * ax.get_window_extent().width / ax.figure.dpi))
    lines = [*textwrap.wrap(shortened(title, 120), width), *textwrap.wrap(note, width)]
    ax.set_title("\n".join(lines), loc="left", fontsize="medium", parse_math=False)


def write_legend(ax: "Axes", handles: list[Any]) -> None:
    """Under the axes."""
    if handles:
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            ncols=min(len(handles), 4),
            frameon=False,
            fontsize="small",
        )


class Shades:
    """Estimates as blues, the larger the darker."""

    def __init__(self, estimates: Weights) -> None:
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LinearSegmentedColormap, Normalize

        known = estimates[np.isfinite(estimates)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        # Without its lightest third, which is lost on white.
        colours = colormaps["Blues"](np.linspace(0.3, 1.0, 256))
        self.any = known.size > 0
        self.map = ScalarMappable(Normalize(low, high), LinearSegmentedColormap.from_list("estimates", colours))

    def of(self, values: Any) -> Any:
        return self.map.to_rgba(values)

    def bar(self, ax: "Axes") -> None:
        if self.any:
            ax.figure.colorbar(self.map, ax=ax, label="estimate", shrink=0.8, pad=0.02)
