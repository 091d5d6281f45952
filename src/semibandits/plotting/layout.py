"""Layouts of graphs: places of the nodes in a picture, the same every time.

Without cycles: layers from left to right, each node right of all that lead to it, in an order with few crossings
(Sugiyama, Tagawa and Toda 1981); edges that span layers lead around the nodes between. Else: distances in the picture
as in the graph, by stress majorisation (Gansner, Koren and North 2004) from classical scaling.
"""

from collections import deque
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
"""One row (x, y) for each."""
Arc = tuple[int, int]

SWEEPS = 24
MOST_BENDS = 2_000
"""So many places where edges lead around nodes; a graph with more is not drawn in layers."""


class Layout(NamedTuple):
    nodes: Points
    bends: dict[int, Points]
    """Where an edge that spans layers crosses those between."""


def place(n_nodes: int, tails: list[int], heads: list[int], directed: bool, ends: Arc | None = None) -> Layout:
    """Of any graph; `ends`, where there is a source and a target, shall be left and right."""
    ranks = _ranks(n_nodes, tails, heads) if directed else None
    if ranks and sum(ranks[head] - ranks[tail] - 1 for tail, head in zip(tails, heads, strict=True)) <= MOST_BENDS:
        return _layered(ranks, tails, heads)
    points = _roomy(_spread(n_nodes, tails, heads))
    if ends is not None:
        points = _turned(points, points[ends[1]] - points[ends[0]])
    return Layout(points, {})


# Layers


def _ranks(n_nodes: int, tails: list[int], heads: list[int]) -> list[int] | None:
    """For each node the length of the longest way to it; None where there is a cycle."""
    after: list[list[int]] = [[] for _ in range(n_nodes)]
    waiting = [0] * n_nodes
    for tail, head in zip(tails, heads, strict=True):
        after[tail].append(head)
        waiting[head] += 1
    roots = [node for node in range(n_nodes) if waiting[node] == 0]
    ready, ranks, placed = deque(roots), [0] * n_nodes, 0
    while ready:
        node = ready.popleft()
        placed += 1
        for head in after[node]:
            ranks[head] = max(ranks[head], ranks[node] + 1)
            waiting[head] -= 1
            if waiting[head] == 0:
                ready.append(head)
    if placed < n_nodes:
        return None
    for node in roots:  # not farther from what they lead to than they must be
        if after[node]:
            ranks[node] = min(ranks[head] for head in after[node]) - 1
    return ranks


def _layered(ranks: list[int], tails: list[int], heads: list[int]) -> Layout:
    n_nodes = len(ranks)
    layers: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for node, rank in enumerate(ranks):
        layers[rank].append(node)
    # A long edge becomes a chain of short ones, over a bend in each layer between.
    chains: dict[int, list[int]] = {}
    arcs: list[Arc] = []
    count = n_nodes
    for edge, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        chain = list(range(count, count + ranks[head] - ranks[tail] - 1))
        for layer, bend in enumerate(chain, start=ranks[tail] + 1):
            layers[layer].append(bend)
        if chain:
            chains[edge] = chain
        count += len(chain)
        arcs += pairwise([tail, *chain, head])
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for one, other in arcs:
        after[one].append(other)
        before[other].append(one)
    _untangle(layers, before, after)
    heights = _heights(layers, before, after, n_nodes)
    width = [float(rank) for rank in ranks]
    for edge, chain in chains.items():
        width += [float(ranks[tails[edge]] + 1 + i) for i in range(len(chain))]
    points = _proportioned(np.stack([1.5 * np.array(width), heights], axis=1))
    return Layout(points[:n_nodes], {edge: points[chain] for edge, chain in chains.items()})


def _untangle(layers: list[list[int]], before: list[list[int]], after: list[list[int]]) -> None:
    """Orders each layer by where its neighbours are, to and fro, and keeps the order with the fewest crossings."""
    best = [list(layer) for layer in layers]
    fewest = _crossings(layers, after)
    place = {node: float(i) for layer in layers for i, node in enumerate(layer)}
    for sweep in range(SWEEPS):
        forth = sweep % 2 == 0
        near = before if forth else after
        for layer in layers if forth else layers[::-1]:
            centre = {node: _mean([place[one] for one in near[node]], place[node]) for node in layer}
            layer.sort(key=centre.__getitem__)
            place.update((node, float(i)) for i, node in enumerate(layer))
        crossings = _crossings(layers, after)
        if crossings < fewest:
            fewest, best = crossings, [list(layer) for layer in layers]
    for layer, order in zip(layers, best, strict=True):
        layer[:] = order


def _crossings(layers: list[list[int]], after: list[list[int]]) -> int:
    found = 0
    for layer, following in pairwise(layers):
        place = {node: i for i, node in enumerate(following)}
        arcs = [(i, place[head]) for i, node in enumerate(layer) for head in after[node]]
        ends = np.array(arcs, dtype=np.int64).reshape(-1, 2)
        higher = (ends[:, None, 0] < ends[None, :, 0]) & (ends[:, None, 1] > ends[None, :, 1])
        found += int(np.count_nonzero(higher))
    return found


def _heights(layers: list[list[int]], before: list[list[int]], after: list[list[int]], n_nodes: int) -> Points:
    """As near to their neighbours as the order in the layers and some room between nodes allow."""
    heights = np.zeros(len(before))
    for layer in layers:
        heights[layer] = np.arange(len(layer)) - (len(layer) - 1) / 2
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            wanted = [_mean([heights[one] for one in before[node] + after[node]], heights[node]) for node in layer]
            room = [0.5 if min(a, b) >= n_nodes else 1.0 for a, b in pairwise(layer)]
            steps = np.cumsum([0.0, *room])
            heights[layer] = _ascending(np.array(wanted) - steps) + steps
    return -heights


def _ascending(values: Points) -> Points:
    """The ascending numbers with the least sum of squares from these: neighbours in the wrong order are averaged."""
    groups: list[tuple[float, int]] = []
    for value in values.tolist():
        total, count = value, 1
        while groups and groups[-1][0] * count >= total * groups[-1][1]:
            more, members = groups.pop()
            total, count = total + more, count + members
        groups.append((total, count))
    return np.concatenate([np.full(count, total / count) for total, count in groups])


def _mean(values: list[Any], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


# Distances


def _spread(n_nodes: int, tails: list[int], heads: list[int]) -> Points:
    """Each connected part for itself, then side by side."""
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for tail, head in zip(tails, heads, strict=True):
        near[tail].add(head)
        near[head].add(tail)
    points = np.zeros((n_nodes, 2))
    left = 0.0
    seen: set[int] = set()
    for start in range(n_nodes):
        if start in seen:
            continue
        part = list(_distances(start, near))
        seen.update(part)
        where = _stressed(np.array([[row[node] for node in part] for row in (_distances(one, near) for one in part)]))
        where -= np.array([where[:, 0].min() - left, where[:, 1].mean()])
        points[part] = where
        left = float(where[:, 0].max()) + 1.0
    return points


def _distances(start: int, near: list[set[int]]) -> dict[int, int]:
    """Of all nodes that can be reached."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in sorted(near[node] - found.keys()):
            found[other] = found[node] + 1
            queue.append(other)
    return found


def _stressed(distance: Points) -> Points:
    """The points whose distances are, relatively, nearest to these."""
    n = len(distance)
    if n == 1:
        return np.zeros((1, 2))
    centred = np.eye(n) - 1.0 / n
    size, axes = np.linalg.eigh(-0.5 * centred @ distance.astype(np.float64) ** 2 @ centred)
    points = axes[:, -2:] * np.sqrt(np.maximum(size[-2:], 0.0))
    points += 1e-3 * np.stack([np.cos(np.arange(n)), np.sin(2.0 * np.arange(n))], axis=1)  # no two in one place
    weight = np.where(distance > 0, 1.0 / np.maximum(distance, 1) ** 2, 0.0)
    inverse = np.linalg.pinv(np.diag(weight.sum(axis=1)) - weight)
    last = np.inf
    for _ in range(500):
        far = np.linalg.norm(points[:, None] - points[None], axis=2)
        stress = float((weight * (far - distance) ** 2).sum())
        if last - stress < 1e-6 * stress:
            break
        last = stress
        pull = -weight * distance / np.maximum(far, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        points = inverse @ (pull @ points)
    main = np.linalg.eigh(np.cov(points.T))[1][:, -1]
    turned = _turned(points, main if main[0] >= 0.0 else -main)
    return turned if turned[0, 0] <= turned[-1, 0] else -turned


def _roomy(points: Points) -> Points:
    """So large that most nodes are at least 1 from the next."""
    if len(points) < 2:
        return points
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(far, np.inf)
    roomy: Points = points / max(float(np.quantile(far.min(axis=1), 0.25)), 0.2)
    return roomy


def _turned(points: Points, towards: Points) -> Points:
    """So that this direction is to the right."""
    length = float(np.hypot(*towards))
    if length == 0.0:
        return points
    cos, sin = towards / length
    turned: Points = points @ np.array([[cos, -sin], [sin, cos]])
    return turned


def _proportioned(points: Points, most: float = 2.5) -> Points:
    """Stretched, where it is much wider than high, or higher than wide."""
    width, height = np.ptp(points, axis=0)
    if 0.0 in (width, height):
        return points
    stretched: Points = points * [max(1.0, height / width), max(1.0, width / (most * height))]
    return stretched
