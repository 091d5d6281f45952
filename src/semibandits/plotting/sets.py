"""Pictures of sets with the items chosen: graphs as graphs, matrices as matrices, all others as bars.

What is chosen is vermilion (Okabe and Ito) and never told by colour alone; estimates are blue, the larger the darker:
so a picture also reads in grey.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_items
from semibandits.errors import BadWeights
from semibandits.plotting.axes import (
    CHOSEN,
    DARK,
    GRID,
    OTHER,
    Shades,
    check_axes,
    new_axes,
    shortened,
    write_legend,
    write_title,
)
from semibandits.sets.graphs.reading import Graph
from semibandits.types import FeasibleSet, Items, Weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 40
MOST_NUMBERS = 150
"""Cells of a matrix with their estimates in numbers."""


def draw(
    feasible: FeasibleSet, items: Iterable[int] = (), estimates: ArrayLike | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draws any set: see `BuiltIn.draw`."""
    check_axes(ax)
    chosen = check_items(items, feasible.n_items)
    shown = None if estimates is None else _check_estimates(estimates, feasible.n_items)
    title, inner = repr(feasible), _inner(feasible)
    if isinstance(getattr(inner, "graph", None), Graph):
        from semibandits.plotting.graphs import network

        return network(inner, title, chosen, shown, ax)
    if _is_matrix(inner):
        return _matrix(inner, title, chosen, shown, ax)
    return _bars(feasible, title, chosen, shown, ax)


def has_shape(feasible: FeasibleSet) -> bool:
    """Whether it is drawn as a graph or a matrix: others are but bars, one for each item."""
    inner = _inner(feasible)
    return isinstance(getattr(inner, "graph", None), Graph) or _is_matrix(inner)


def _inner(feasible: FeasibleSet) -> FeasibleSet:
    while isinstance(below := getattr(feasible, "feasible", None), FeasibleSet):  # rows on top of it change no item
        feasible = below
    return feasible


def _is_matrix(feasible: FeasibleSet) -> bool:
    return all(hasattr(feasible, name) for name in ("n_rows", "n_columns", "row_names", "column_names", "pairs"))


def _check_estimates(estimates: ArrayLike, n_items: int) -> Weights:
    """One number per item, NaN where nothing is known."""
    try:
        found = np.asarray(estimates, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadWeights(f"expected {n_items} estimates, one per item, got {estimates!r:.200}") from error
    if found.shape != (n_items,):
        raise BadWeights(f"expected {n_items} estimates, one per item, got an array of shape {found.shape}")
    if np.isinf(found).any():
        item = int(np.flatnonzero(np.isinf(found))[0])
        raise BadWeights(f"estimates must be finite, or NaN where unknown, got {found[item]} for item {item}")
    return found


# Bars


def _bars(feasible: FeasibleSet, title: str, chosen: Items, estimates: Weights | None, ax: "Axes | None") -> "Axes":
    """The largest above; without estimates a list in order."""
    listed, note = _listed(feasible.n_items, chosen, estimates)
    rows = np.arange(listed.size)
    inside = np.isin(listed, chosen)
    if ax is None:
        ax = new_axes(6.4 if estimates is not None else 3.6, 1.1 + 0.21 * listed.size)
    if estimates is None:
        for some, face, edge in ((inside, CHOSEN, CHOSEN), (~inside, "white", OTHER)):
            ax.scatter(np.zeros(rows.size)[some], rows[some], s=42, marker="s", facecolor=face, edgecolor=edge)
        ax.set_xlim(-1.0, 8.0)
        ax.xaxis.set_visible(False)
    else:
        values = estimates[listed]
        ax.barh(rows, np.nan_to_num(values), height=0.72, color=np.where(inside, CHOSEN, OTHER).tolist())
        for row in rows[np.isnan(values)]:
            ax.annotate(
                "unknown", (0.0, row), (3, 0), textcoords="offset points", va="center", fontsize="small", color=DARK
            )
        ax.axvline(0.0, color=DARK, linewidth=0.8)
        ax.set_xlabel("estimate")
        ax.grid(True, axis="x", color=GRID, linewidth=0.6)
        ax.set_axisbelow(True)
    names = [shortened(feasible.labels[item], 32) if feasible.labels else str(item) for item in listed]
    ax.set_yticks(rows, names, fontsize="small", parse_math=False)
    for label, is_chosen in zip(ax.get_yticklabels(), inside, strict=True):
        label.set(fontweight="bold" if is_chosen else "normal", color=CHOSEN if is_chosen else DARK)
    ax.set_ylim(listed.size - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines[["top", "right", "left"] + (["bottom"] if estimates is None else [])].set_visible(False)
    write_title(ax, title, f"{chosen.size} of {feasible.n_items:,} items chosen{note}")
    return ax


def _listed(n_items: int, chosen: Items, estimates: Weights | None) -> tuple[Items, str]:
    """The items to be shown, in the order to show them in, and what to say of those left out."""
    order = np.arange(n_items)
    if estimates is not None:  # the unknown come last
        order = np.lexsort((order, -np.nan_to_num(estimates), np.isnan(estimates)))
    if n_items <= MOST_BARS:
        return order, ""
    best = "largest" if estimates is not None else "first"
    ours = np.isin(order, chosen)
    if chosen.size >= MOST_BARS:
        return order[ours][:MOST_BARS], f", the {best} {MOST_BARS} of them shown"
    others = order[~ours][: MOST_BARS - chosen.size]
    return order[ours | np.isin(order, others)], f", shown with the {best} {others.size} others"


# Matrices


def _matrix(feasible: Any, title: str, chosen: Items, estimates: Weights | None, ax: "Axes | None") -> "Axes":
    """Rows and columns as the set names them; pairs that are no items are hatched."""
    from matplotlib.patches import Patch, Rectangle

    shape = feasible.n_rows, feasible.n_columns
    cells = np.asarray(feasible.pairs, dtype=np.int64).reshape(-1, 2)
    allowed = np.zeros(shape, dtype=bool)
    allowed[tuple(cells.T)] = True
    if ax is None:
        side = min(0.5, 8.0 / max(shape))
        ax = new_axes(max(4.0, 2.4 + side * shape[1]), max(2.6, 1.6 + side * shape[0]))
    picture = np.ones((*shape, 4), dtype=np.float32)
    picture[~allowed] = (0.93, 0.93, 0.93, 1.0)
    handles = []
    if estimates is not None:
        shades = Shades(estimates)
        known = np.isfinite(estimates)
        picture[tuple(cells[known].T)] = shades.of(estimates[known])
        if cells.shape[0] <= MOST_NUMBERS:
            largest = float(np.abs(estimates[known]).max(initial=0.0))
            form = ".2f" if 0.1 <= largest < 100.0 else ".2g"
            for (row, column), value in zip(cells.tolist(), estimates.tolist(), strict=True):
                dark = np.isfinite(value) and picture[row, column, :3] @ (0.3, 0.6, 0.1) < 0.55
                text = "?" if np.isnan(value) else f"{value:{form}}"
                ax.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if dark else DARK)
        elif not known.all():
            handles.append(Patch(facecolor="white", edgecolor=OTHER, label="unknown"))
        shades.bar(ax)
    ax.imshow(picture, aspect="equal", interpolation="nearest")
    if max(shape) <= 60:
        ax.set_xticks(np.arange(shape[1] + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(shape[0] + 1) - 0.5, minor=True)
        ax.grid(True, which="minor", color="#d0d0d0", linewidth=0.6)
        for row, column in np.argwhere(~allowed):
            ax.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", edgecolor=OTHER, lw=0))
    width = 2.4 if max(shape) <= 30 else 1.2
    for row, column in cells[chosen]:
        ax.add_patch(
            Rectangle(
                (column - 0.46, row - 0.46), 0.92, 0.92, fill=False, edgecolor=CHOSEN, linewidth=width, gid="chosen"
            )
        )
    if chosen.size:
        handles.insert(0, Patch(facecolor="none", edgecolor=CHOSEN, linewidth=2.0, label="chosen"))
    if not allowed.all():
        handles.append(Patch(facecolor="#eeeeee", edgecolor=OTHER, hatch="////", lw=0, label="not allowed"))
    _name_axis(ax.xaxis, feasible.column_names)
    _name_axis(ax.yaxis, feasible.row_names)
    ax.tick_params(which="both", length=0)
    ax.xaxis.tick_top()
    ax.spines[:].set_visible(False)
    write_title(ax, title, f"{chosen.size} of {feasible.n_items:,} pairs chosen")
    write_legend(ax, handles)
    return ax


def _name_axis(axis: Any, names: Sequence[Any]) -> None:
    """Of many only some, at equal distances."""
    shown = range(0, len(names), -(-len(names) // 40))
    texts = [shortened(names[i], 16) for i in shown]
    upright = {"rotation": 60, "ha": "left"} if axis.axis_name == "x" and max(map(len, texts)) > 3 else {}
    axis.set_ticks(shown, texts, fontsize="small", parse_math=False, **upright)
