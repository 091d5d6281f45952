"""Lines of the edges of a graph in a picture: around other nodes, and beside each other."""

import numpy as np

from semibandits.plotting.layout import Arc, Layout, Points

STEPS = 200
"""Points of a curve."""
APART = 0.3
"""Between the middles of edges that join the same nodes."""
DETOURS = (0.0, 0.15, -0.15, 0.3, -0.3, 0.5, -0.5)
"""How far an edge may bend to avoid other nodes; the first that will do is taken."""


def lines(layout: Layout, tails: list[int], heads: list[int], radius: float) -> list[Points]:
    """The line of each edge, from the rim of its tail to the rim of its head; those of the same nodes side by side."""
    groups: dict[Arc, list[int]] = {}
    for edge, ends in enumerate(zip(tails, heads, strict=True)):
        if edge not in layout.bends:
            groups.setdefault((min(ends), max(ends)), []).append(edge)
    near = neighbours(len(layout.nodes), tails, heads)
    found: list[Points] = [np.empty((0, 2))] * len(tails)
    for (low, high), edges in groups.items():
        begin, end = layout.nodes[low], layout.nodes[high]
        others = np.delete(layout.nodes, [low, high], axis=0)
        for k, edge in enumerate(edges):
            if low == high:
                found[edge] = _loop(begin, free_side(layout.nodes, low, near[low]), radius, k)
                continue
            bend = APART * (k - (len(edges) - 1) / 2)
            if len(edges) == 1:
                bend = next((b for b in DETOURS if _clear(_bow(begin, end, b), others, 1.3 * radius)), 0.0)
            line = _bow(begin, end, bend)
            found[edge] = _between(line if tails[edge] == low else line[::-1], radius)
    for edge, bends in layout.bends.items():
        stations = np.concatenate([layout.nodes[[tails[edge]]], bends, layout.nodes[[heads[edge]]]])
        found[edge] = _between(_smooth(stations), radius)
    return found


def _clear(line: Points, nodes: Points, room: float) -> bool:
    """Whether the line leads past all nodes at some distance."""
    return bool((np.hypot(*(line[::4, None] - nodes[None]).T) > room).all())


def _bow(begin: Points, end: Points, bend: float) -> Points:
    """A parabola whose middle lies `bend` beside the straight line."""
    along = end - begin
    beside = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
    t = np.linspace(0.0, 1.0, STEPS)[:, None]
    bow: Points = begin + t * along + 4.0 * t * (1.0 - t) * bend * beside
    return bow


def _smooth(stations: Points) -> Points:
    """Through all of these, turning gently (Catmull and Rom 1974)."""
    slopes = np.gradient(stations, axis=0)
    t = np.linspace(0.0, 1.0, STEPS)[:, None]
    pieces = [
        begin * (1.0 + 2.0 * t) * (1.0 - t) ** 2
        + end * (3.0 - 2.0 * t) * t**2
        + t * (1.0 - t) * ((1.0 - t) * leaving - t * arriving)
        for begin, end, leaving, arriving in zip(stations, stations[1:], slopes, slopes[1:], strict=False)
    ]
    return np.concatenate(pieces)


def _loop(node: Points, away: Points, radius: float, k: int) -> Points:
    """Each around the one before."""
    size = 0.16 + 0.07 * k
    turn = float(np.arctan2(away[1], away[0]))
    angle = turn + np.pi + np.linspace(0.0, 2.0 * np.pi, 2 * STEPS)
    ring: Points = node + (0.8 * radius + size) * away + size * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    outside: Points = ring[np.hypot(*(ring - node).T) >= radius]
    return outside


def neighbours(n_nodes: int, tails: list[int], heads: list[int]) -> list[list[int]]:
    near: list[list[int]] = [[] for _ in range(n_nodes)]
    for tail, head in zip(tails, heads, strict=True):
        if tail != head:
            near[tail].append(head)
            near[head].append(tail)
    return near


def free_side(nodes: Points, node: int, near: list[int]) -> Points:
    """The direction, of eight, in which the fewest edges leave a node."""
    towards = nodes[near] - nodes[node]
    towards = towards / np.maximum(np.hypot(*towards.T), 1e-9)[:, None]
    angles = np.pi / 2 + np.arange(8) * np.pi / 4
    sides = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    crowd = (np.maximum(sides @ towards.T, 0.0) ** 4).sum(axis=1).round(6)
    side: Points = sides[int(np.argmin(crowd))]
    return side


def _between(line: Points, radius: float) -> Points:
    """Without what lies inside the two nodes at its ends."""
    outside = (np.hypot(*(line - line[0]).T) >= radius) & (np.hypot(*(line - line[-1]).T) >= radius)
    rest: Points = line[outside]
    return rest if len(rest) > 1 else line
