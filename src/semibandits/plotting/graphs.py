"""Pictures of sets of edges as graphs: nodes, edges, and those of them that are chosen."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semibandits.plotting import curves, layout
from semibandits.plotting.axes import CHOSEN, DARK, OTHER, Shades, new_axes, shortened, write_legend, write_title
from semibandits.plotting.layout import Layout, Points
from semibandits.sets.graphs.reading import Graph
from semibandits.sets.paper_paths import GridPaths
from semibandits.types import Items, Weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NODES, MOST_EDGES = 200, 600
"""Of a larger graph only what is chosen is drawn."""
MOST_NAMED = 40
"""Nodes that are named; of more only the source and the target."""


def network(feasible: Any, title: str, chosen: Items, estimates: Weights | None, ax: "Axes | None") -> "Axes":
    """`feasible` has a `graph` and, where all paths begin and end alike, a `source` and a `target`."""
    graph: Graph = feasible.graph
    is_grid = isinstance(feasible, GridPaths)
    edges = np.arange(feasible.n_items)
    note = f"{chosen.size} of {feasible.n_items:,} edges chosen"
    if len(graph.nodes) > MOST_NODES or feasible.n_items > MOST_EDGES:
        edges = chosen
        note += "; the others are too many to draw"
    ends = [graph.nodes.index(getattr(feasible, name)) for name in ("source", "target") if hasattr(feasible, name)]
    used = sorted({graph.tails[e] for e in edges} | {graph.heads[e] for e in edges} | set(ends))
    number = {node: i for i, node in enumerate(used)}
    tails, heads = ([number[side[e]] for e in edges] for side in (graph.tails, graph.heads))
    marked = [number[node] for node in ends]
    names = [shortened(graph.nodes[node], 14) for node in used]
    if is_grid:
        corners: list[Any] = [graph.nodes[node] for node in used]
        where = Layout(np.array([(column, -row) for row, column in corners], dtype=np.float64), {})
    else:
        between = (marked[0], marked[1]) if len(marked) == 2 else None
        where = layout.place(len(used), tails, heads, graph.directed, between)

    span = np.ptp(where.nodes, axis=0) + 1.2 if used else np.ones(2)
    if ax is None:
        inches = min(0.85, 8.0 / span[0], 6.5 / span[1])
        colour_bar = 0.9 if estimates is not None else 0.0
        ax = new_axes(max(5.2, span[0] * inches + 0.4 + colour_bar), max(2.6, span[1] * inches + 1.2))
    else:
        box = ax.get_window_extent()
        inches = min(box.width / span[0], box.height / span[1]) / ax.figure.dpi
    point = 1.0 / (72.0 * inches)
    inside = len(used) <= 2 * MOST_NAMED and max(map(len, names), default=0) <= 3 and 8.0 * point < 0.4
    radius = max(0.19, 8.0 * point) if inside else max(0.07, 1.5 * point)
    lines = curves.lines(where, tails, heads, radius)
    values = None if estimates is None else estimates[edges]
    thinner = min(1.0, max(0.35, 1.4 * inches))
    handles = _draw_edges(ax, lines, np.isin(edges, chosen), values, graph.directed, thinner)
    handles += _draw_nodes(ax, where.nodes, radius, marked)
    if inside:
        for node, (x, y) in enumerate(where.nodes):
            colour = "white" if node in marked else DARK
            style = {"fontsize": 0.62 * radius / point, "color": colour, "zorder": 5, "parse_math": False}
            ax.text(x, y, names[node], ha="center", va="center", **style)
    else:
        near = curves.neighbours(len(used), tails, heads)
        named = marked if is_grid or len(used) > MOST_NAMED else range(len(used))
        for node in named:
            _name_beside(ax, where.nodes[node], names[node], curves.free_side(where.nodes, node, near[node]))
    ax.set_aspect("equal")
    ax.margins(0.06)
    ax.set_axis_off()
    write_title(ax, title, note)
    write_legend(ax, handles)
    return ax


def _draw_edges(
    ax: "Axes", lines: list[Points], inside: NDArray[np.bool_], values: Weights | None, directed: bool, thinner: float
) -> list[Any]:
    """The chosen above the others, on a broad line where their own colour shows the estimate."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.lines import Line2D

    handles: list[Any] = []
    colours = [CHOSEN if one else OTHER for one in inside]
    known = np.ones(len(lines), dtype=bool)
    if values is not None:
        shades = Shades(values)
        known = np.isfinite(values)
        colours = [shades.of(value) if ok else OTHER for value, ok in zip(values, known, strict=True)]
        shades.bar(ax)
    for some, width, name in ((~inside, 1.4, "others"), (inside, 3.4 if values is None else 2.6, "chosen")):
        picked = np.flatnonzero(some)
        size = 0.13 if name == "others" else 0.2
        heads = [_arrowhead(lines[e], size) for e in picked] if directed else []
        drawn = [_shortened(lines[e], 0.7 * size) if directed else lines[e] for e in picked]
        style: dict[str, Any] = {"zorder": 2 if name == "chosen" else 1, "capstyle": "butt"}
        if name == "chosen" and values is not None:
            ax.add_collection(LineCollection(drawn, colors=CHOSEN, linewidths=6.5 * thinner, gid="casing", **style))
        dashes = ["solid" if ok else (0, (2, 1.5)) for ok in known[picked]]
        own = [colours[e] for e in picked]
        ax.add_collection(
            LineCollection(drawn, colors=own, linewidths=width * thinner, linestyles=dashes, gid=name, **style)
        )
        if directed:
            tips = [CHOSEN] * len(own) if name == "chosen" else own
            ax.add_collection(PolyCollection(heads, facecolors=tips, linewidths=0.0, zorder=style["zorder"]))
    if inside.any():
        handles.append(Line2D([], [], color=CHOSEN, linewidth=3.4, label="chosen"))
    if not known.all():
        handles.append(Line2D([], [], color=OTHER, linewidth=1.4, linestyle=(0, (2, 1.5)), label="unknown"))
    return handles


def _draw_nodes(ax: "Axes", nodes: Points, radius: float, marked: list[int]) -> list[Any]:
    """The source is a dark circle, the target a dark square."""
    from matplotlib.collections import PatchCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, Rectangle

    plain = [Circle((x, y), radius) for i, (x, y) in enumerate(nodes) if i not in marked]
    ax.add_collection(PatchCollection(plain, facecolor="white", edgecolor=DARK, linewidth=0.9, zorder=3))
    if len(marked) < 2:
        return []
    large = 1.25 * radius if radius < 0.1 else radius
    source, target = nodes[marked[0]], nodes[marked[1]]
    ends = [Circle(tuple(source), large), Rectangle(tuple(target - 0.9 * large), 1.8 * large, 1.8 * large)]
    ax.add_collection(PatchCollection(ends, facecolor=DARK, edgecolor=DARK, linewidth=0.9, zorder=4))
    shapes = {"source": "o", "target": "s"}
    return [Line2D([], [], color=DARK, marker=shape, linestyle="", label=name) for name, shape in shapes.items()]


def _name_beside(ax: "Axes", node: Points, name: str, side: Points) -> None:
    from matplotlib.patheffects import withStroke

    ax.annotate(
        name,
        tuple(node),
        tuple(7.0 * side),
        textcoords="offset points",
        ha="left" if side[0] > 0.3 else "right" if side[0] < -0.3 else "center",
        va="bottom" if side[1] > 0.3 else "top" if side[1] < -0.3 else "center",
        fontsize=7.5,
        color=DARK,
        zorder=5,
        parse_math=False,
        path_effects=[withStroke(linewidth=2.0, foreground="white")],
    )


def _arrowhead(line: Points, size: float) -> Points:
    """A triangle whose tip is the line's end."""
    far = np.hypot(*(line - line[-1]).T)
    behind = line[np.flatnonzero(far >= min(size, far.max()))[-1]]
    along = line[-1] - behind
    along = along / max(float(np.hypot(*along)), 1e-9) * size
    beside = 0.42 * np.array([-along[1], along[0]])
    return np.stack([line[-1], line[-1] - along + beside, line[-1] - along - beside])


def _shortened(line: Points, by: float) -> Points:
    """Without its last bit, which an arrowhead covers."""
    far = np.hypot(*(line - line[-1]).T)
    kept: Points = line[(far >= by) | (np.arange(len(line)) < len(line) // 2)]
    return kept
