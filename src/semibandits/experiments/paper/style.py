"""The style of the pictures of a reproduction."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from semibandits.plotting.axes import DARK, light_grid
from semibandits.plotting.spread import spread

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

BARS = 3.0
"""Bars and bands are so many standard errors to either side, in every picture."""


def plain_numbers(ax: "Axes") -> "Axes":
    """Logarithmic axes whose numbers are written out."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1.0 else f"{value:g}"))
            axis.set_minor_locator(NullLocator())
    return ax


def mean_and_band(
    ax: "Axes", rounds: "NDArray[np.int64]", regret: "NDArray[np.float64]", colour: str, **style: Any
) -> "NDArray[np.float64]":
    """The mean over runs (rows) in every round, with a band of ± 3 standard errors; returns the mean."""
    mean: NDArray[np.float64] = regret.mean(axis=0)
    band = BARS * regret.std(axis=0, ddof=1) / len(regret) ** 0.5
    ax.plot(rounds, mean, color=colour, zorder=4, **{"linewidth": 2.0, **style})
    ax.fill_between(rounds, mean - band, mean + band, color=colour, alpha=0.25, linewidth=0.0, zorder=2)
    return mean


def line_with_bars(
    ax: "Axes", x: Sequence[float], y: Sequence[float], errors: Sequence[float], colour: str, marker: str, **style: Any
) -> None:
    """Points with bars of ± 3 standard errors, joined by a line."""
    bars = [BARS * error for error in errors]
    ax.errorbar(x, y, yerr=bars, color=colour, marker=marker, markersize=5, linewidth=1.4, capsize=3, **style)


def end_labels(ax: "Axes", ends: Sequence[tuple[float, str, str]], apart: float = 0.05) -> None:
    """Names of curves, (height, name, colour), written where they end; so far apart, as a share of the axes' height.

    The axes must have their limits already.
    """
    x = ax.get_xlim()[1]
    at_axes = ax.transData + ax.transAxes.inverted()
    ordered = sorted((float(at_axes.transform((x, height))[1]), name, colour) for height, name, colour in ends)
    places = spread([height for height, *_ in ordered], [apart] * (len(ordered) - 1))
    for (height, name, colour), place in zip(ordered, places, strict=True):
        ax.annotate(
            name,
            (1.0, height),
            (1.04, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            arrowprops={"arrowstyle": "-", "color": colour, "relpos": (0.0, 0.5), "shrinkA": 2.0, "shrinkB": 1.0},
            fontsize="small",
            color=DARK,
            va="center",
        )


def write_title(ax: "Axes", title: str) -> None:
    """As wide as the axes."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    ax.set_title(textwrap.fill(title, int(12.0 * inches)), loc="left", fontsize="medium")


def dress(ax: "Axes", x: str, y: str, title: str) -> None:
    """Names, a light grid, no box."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    write_title(ax, title)
    light_grid(ax)
    ax.set_axisbelow(True)
