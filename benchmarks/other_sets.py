"""What another feasible set for one decision costs: `make bench`. Every figure is measured in this run.

A road graph: crossings of a grid, moved a little, each joined to some of its neighbours, in both directions alike.
`ask()`, `ask(available=all but 50 edges)` and `ask(feasible=paths.between(a, b))` of a learner that knows every edge,
beside the way it was (the restricted set made first, then solved), and beside SciPy's Dijkstra on a matrix of the same
costs that is made for the call.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import semibandits as sb
from common import in_turn, machine, timed

CLOSED = 50
PLACES = 64


def streets(n_edges: int, seed: int = 0) -> list[tuple[int, int]]:
    """So many edges of a grid that has two in a hundred more."""
    m = 2
    while 2 * m * (m - 1) * 50 < n_edges * 51:
        m += 1
    node = np.arange(m * m).reshape(m, m)
    right = np.stack((node[:, :-1], node[:, 1:]), axis=-1).reshape(-1, 2)
    down = np.stack((node[:-1], node[1:]), axis=-1).reshape(-1, 2)
    edges = np.concatenate((right, down))
    kept = np.sort(np.random.default_rng(seed).permutation(len(edges))[:n_edges])
    return [(a, b) for a, b in edges[kept].tolist()]


def learner_of(roads: sb.sets.Paths) -> sb.Learner:
    learner = sb.Learner(roads, sb.policies.CombUCB1(), sense="min", bounds=(0.0, 10.0), seed=0)
    learner.observe(np.arange(roads.n_items), 1.0 + 8.0 * np.random.default_rng(1).random(roads.n_items))
    return learner


class Rival:
    """SciPy's Dijkstra from the source, on a matrix made of the costs of the edges that are open."""

    def __init__(self, roads: sb.sets.Paths) -> None:
        self._tails, self._heads = np.array(roads.graph.tails), np.array(roads.graph.heads)
        self._nodes = len(roads.graph.nodes)

    def distance(self, costs: NDArray[np.float64], open_: NDArray[np.bool_], source: int, target: int) -> float:
        tails, heads, paid = self._tails[open_], self._heads[open_], costs[open_]
        matrix = csr_array((paid, (tails, heads)), shape=(self._nodes, self._nodes))
        return float(dijkstra(matrix, directed=False, indices=source)[target])


def compare(n_edges: int, repeats: int) -> None:
    began = time.perf_counter()
    edges = streets(n_edges)
    nodes = sorted({node for edge in edges for node in edge})
    roads = sb.sets.Paths(edges, nodes[0], nodes[-1], directed=False)
    print(f"\n{roads!r}: made in {time.perf_counter() - began:.2f} s")
    learner, rival = learner_of(roads), Rival(roads)
    generator = np.random.default_rng(2)
    masks = np.ones((PLACES, roads.n_items), dtype=bool)
    for mask in masks:
        mask[generator.choice(roads.n_items, CLOSED, replace=False)] = False
    pairs = reachable(roads, generator)
    turn = iter(range(10**12))
    costs = np.array(learner.scores())
    everything = np.ones(roads.n_items, dtype=bool)
    number = {node: i for i, node in enumerate(roads.graph.nodes)}

    def plain() -> None:
        learner.cancel(learner.ask().id)

    def available() -> None:
        learner.cancel(learner.ask(available=masks[next(turn) % PLACES]).id)

    def between() -> None:
        source, target = pairs[next(turn) % PLACES]
        learner.cancel(learner.ask(feasible=roads.between(source, target)).id)

    def restricted() -> None:
        learner.cancel(learner.ask(feasible=roads.restrict(exclude=np.flatnonzero(~masks[next(turn) % PLACES]))).id)

    def anew() -> None:
        learner.cancel(learner.ask(feasible=sb.sets.Paths(edges, *pairs[next(turn) % PLACES], directed=False)).id)

    def scipy_masked() -> None:
        rival.distance(costs, masks[next(turn) % PLACES], roads._source, roads._target)

    def scipy_between() -> None:
        source, target = pairs[next(turn) % PLACES]
        rival.distance(costs, everything, number[source], number[target])

    for ask in (plain, available, between):  # until machine code is at work
        warm_up(ask)
    agree(roads, rival, costs, masks, pairs)
    quick = [timed(ask) for ask in (plain, available, between, scipy_masked, scipy_between)]
    own, masked, other, rival_masked, rival_other = in_turn(quick, repeats)
    slow_masked, slow_other = in_turn([timed(restricted), timed(anew)], 3)
    show("ask()", own, None, None)
    show(f"ask(available=all but {CLOSED} edges)", masked, own, "at most 3")
    show("  the way it was: restrict() in every call", slow_masked, masked, None)
    show("  SciPy: a matrix of the open edges, dijkstra", rival_masked, masked, None)
    show("ask(feasible=paths.between(a, b))", other, own, None)
    show("  the way it was: Paths(edges, a, b) in every call", slow_other, other, None)
    show("  SciPy: a matrix of all edges, dijkstra", rival_other, other, None)


def reachable(roads: sb.sets.Paths, generator: np.random.Generator) -> list[tuple[int, int]]:
    """Pairs of nodes with a path between them."""
    found: list[tuple[int, int]] = []
    nodes = roads.graph.nodes
    while len(found) < PLACES:
        a, b = (int(nodes[i]) for i in generator.choice(len(nodes), 2, replace=False))  # type: ignore[call-overload]
        try:
            roads.between(a, b)
        except sb.errors.EmptyFeasibleSet:
            continue
        found.append((a, b))
    return found


def warm_up(ask: Callable[[], None]) -> None:
    began = time.perf_counter()
    while time.perf_counter() - began < 3.0:
        ask()


def agree(
    roads: sb.sets.Paths,
    rival: Rival,
    costs: NDArray[np.float64],
    masks: NDArray[np.bool_],
    pairs: list[tuple[int, int]],
) -> None:
    """Ours and SciPy find paths of the same cost."""
    everything, number = np.ones(roads.n_items, dtype=bool), {node: i for i, node in enumerate(roads.graph.nodes)}
    for mask, (a, b) in zip(masks[:5], pairs[:5], strict=True):
        ours = costs[roads.argmax_without(-costs, np.flatnonzero(~mask))].sum()
        assert np.isclose(ours, rival.distance(costs, mask, roads._source, roads._target))
        ours = costs[roads.between(a, b).argmax(-costs)].sum()
        assert np.isclose(ours, rival.distance(costs, everything, number[a], number[b]))


def show(what: str, seconds: float, beside: float | None, goal: str | None) -> None:
    ratio = "" if beside is None else f"   x {seconds / beside:8.2f}"
    print(f"{what:52s} {seconds * 1e3:10.3f} ms{ratio}{'' if goal is None else f'     (goal: {goal})'}")


if __name__ == "__main__":
    print(", ".join(f"{what} {found}" for what, found in machine().items()))
    for edges, repeats in ((4_214, 100), (100_000, 25)):
        compare(edges, repeats)
