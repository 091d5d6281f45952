"""Feasible sets in notebooks: facts and, where they have a shape, a small picture."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits._util.colours import OKABE_ITO
from semibandits._util.html import Html, number, several
from semibandits.notebook.parts import MOST_NAMES, Facts, about, card, listed, note, picture, written
from semibandits.plotting import curves, layout
from semibandits.sets.graphs.reading import Graph
from semibandits.sets.pairs import Pairs
from semibandits.sets.paper_paths import GridPaths
from semibandits.types import FeasibleSet

MOST_COUNTED = 1_000_000_000
"""Solutions, where they are counted without listing them."""
MOST_NODES, MOST_EDGES, MOST_CELLS = 40, 80, 400
"""In a small picture; rows and columns of a matrix are as many as nodes at most."""
CELL, STEP, RIM = 14.0, 34.0, 10.0


@written.register
def _set(feasible: FeasibleSet) -> str:
    """Its size and, where that is known at once, how many solutions there are."""
    pairs: Facts = [
        ("set", f"{feasible!r:.200}"),
        ("items", f"{feasible.n_items:,}"),
        ("labels", several(feasible.labels, MOST_NAMES)),
        ("solutions", f"{_how_many(feasible)}of at most {feasible.max_size:,} item{'s' * (feasible.max_size != 1)}"),
        ("structure", "a matroid" if feasible.matroid else ""),
        ("oracle", _oracle(feasible)),
        ("weights", "" if feasible.signed else "at most 0: costs, negated"),
    ]
    return card(type(feasible).__name__, note(about(feasible)), listed(pairs), _drawn(feasible))


def _how_many(feasible: FeasibleSet) -> str:
    """Code of the user's own is not asked."""
    counted = None if feasible.foreign else feasible.counted(MOST_COUNTED)
    if counted is None:
        return ""
    return f"more than {MOST_COUNTED:,}, " if counted > MOST_COUNTED else f"{counted:,}, "


def _oracle(feasible: FeasibleSet) -> str:
    if not feasible.promised:
        return "a search that may be cut"
    return f"approximate, ratio {number(feasible.ratio)}" if feasible.ratio < 1.0 else "exact"


def _drawn(feasible: Any) -> str:
    """Of sets of this package, without names: `draw` makes pictures that have them."""
    if feasible.foreign:
        return ""
    graph = getattr(feasible, "graph", None)
    if isinstance(graph, Graph) and len(graph.nodes) <= MOST_NODES and len(graph.tails) <= MOST_EDGES:
        ends = [graph.nodes.index(getattr(feasible, name)) for name in ("source", "target") if hasattr(feasible, name)]
        return _network(graph, ends, grid=isinstance(feasible, GridPaths))
    if isinstance(feasible, Pairs):
        rows, columns = feasible.n_rows, feasible.n_columns
        return _matrix(feasible) if max(rows, columns) <= MOST_NODES and rows * columns <= MOST_CELLS else ""
    return ""


def _network(graph: Graph, ends: list[int], grid: bool) -> Html:
    """Source and target are full."""
    if grid:
        corners: list[Any] = graph.nodes
        where = layout.Layout(np.array([(column, row) for row, column in corners], dtype=np.float64), {})
    else:
        between = (ends[0], ends[1]) if ends else None
        where = layout.place(len(graph.nodes), graph.tails, graph.heads, graph.directed, between)
    lines = [line[:: max(1, len(line) // 12)] for line in curves.lines(where, graph.tails, graph.heads, 0.12)]
    points = np.concatenate([where.nodes, *lines])
    least, most = points.min(axis=0), points.max(axis=0)
    step = min(STEP, *(size / max(1e-9, length) for size, length in zip((420.0, 260.0), most - least, strict=True)))

    def at(place: NDArray[np.float64]) -> str:
        x, y = RIM + step * (place - least)
        return f"{x:.1f},{y:.1f}"

    drawn = "".join(
        f'<polyline points="{" ".join(map(at, line))}" fill="none" stroke="currentColor" stroke-opacity=".5"/>'
        for line in lines
    )
    for node, place in enumerate(where.nodes):
        x, y = at(place).split(",")
        fill = OKABE_ITO[1] if node in ends else "none"
        drawn += f'<circle cx="{x}" cy="{y}" r="4" fill="{fill}" stroke="currentColor"/>'
    width, height = (2.0 * RIM + step * (most - least)).tolist()
    return picture(math.ceil(width), math.ceil(height), f"{len(graph.nodes)} nodes, {len(graph.tails)} edges", drawn)


def _matrix(pairs: Pairs) -> Html:
    """Rows and columns; pairs that are ruled out are crossed."""
    allowed = set(map(tuple, pairs.pairs.tolist()))
    drawn = ""
    for row in range(pairs.n_rows):
        for column in range(pairs.n_columns):
            x, y = 1.0 + CELL * column, 1.0 + CELL * row
            drawn += f'<rect x="{x:g}" y="{y:g}" width="{CELL - 2:g}" height="{CELL - 2:g}" fill="none" '
            drawn += 'stroke="currentColor" stroke-opacity=".5"/>'
            if (row, column) not in allowed:
                drawn += f'<path d="M{x + 2:g} {y + 2:g}l8 8m0 -8l-8 8" stroke="{OKABE_ITO[1]}" stroke-width="1.5"/>'
    ruled_out = pairs.n_rows * pairs.n_columns - len(allowed)
    said = f"{pairs.n_rows} rows, {pairs.n_columns} columns, {ruled_out} pairs ruled out"
    return picture(CELL * pairs.n_columns, CELL * pairs.n_rows, said, drawn)
