"""How the pictures of a reproduction look."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73")
"""Of Okabe and Ito's; each goes with a marker, so that a picture also reads in grey."""
MARKERS = ("o", "s", "D")
SEVEN = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def new_figure(width: float, height: float) -> "Axes":
    """Axes on a figure that nobody else knows."""
    return panels(width, height, 1)[1][0]


def panels(width: float, height: float, count: int) -> "tuple[Figure, list[Axes]]":
    """A figure with axes side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def plain_numbers(ax: "Axes") -> "Axes":
    """Logarithmic axes whose numbers are written out."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1.0 else f"{value:g}"))
            axis.set_minor_locator(NullLocator())
    return ax


def legend_below(ax: "Axes", columns: int) -> None:
    """Moves the legend under the picture."""
    before: Any = ax.get_legend()
    texts = [text.get_text() for text in before.get_texts()]
    ax.legend(
        before.legend_handles,
        texts,
        title=before.get_title().get_text(),
        ncols=columns,
        loc="upper center",
        bbox_to_anchor=(0.45, -0.13),
        frameon=False,
        fontsize="small",
        title_fontsize="small",
        handlelength=3.2,
    )


def dress(ax: "Axes", x: str, y: str, title: str) -> None:
    """Names, a light grid, no box."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, loc="left", fontsize="medium")
    ax.grid(True, color="#e4e4e4", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
