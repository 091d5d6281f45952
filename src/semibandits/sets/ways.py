"""A graph as its sets share it: the ways between any two of its nodes, in one group of arrays."""

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import InvalidSet
from semibandits.sets.base import WarmOracle
from semibandits.sets.graphs.reading import Graph, Node
from semibandits.sets.oracles import dijkstra, useful_edges
from semibandits.types import Items, Weights


class Ways:
    """What all sets of paths through one graph have in common, whatever their source and target."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._number = {node: i for i, node in enumerate(graph.nodes)}
        self._tails, self._heads = np.array(graph.tails), np.array(graph.heads)
        data = self._arcs()
        n_items, nodes = self._tails.size, len(graph.nodes)
        self._useful = WarmOracle(useful_edges.solver(data, n_items, graph.directed), n_items + 1)
        self._shortest = WarmOracle(dijkstra.solver_of(dijkstra.shortest_path_between, data), nodes)

    def _arcs(self) -> tuple[Items, Items]:
        """As `dijkstra` takes them: of each node in the order of the items, and loops left out."""
        nodes = len(self._graph.nodes)
        item = np.flatnonzero(self._tails != self._heads)
        tail, head = self._tails[item], self._heads[item]
        if not self._graph.directed:
            tail, head = np.stack((tail, head), axis=1).ravel(), np.stack((head, tail), axis=1).ravel()
            item = np.repeat(item, 2)
        source, other = np.concatenate((tail, nodes + head)), np.concatenate((head, nodes + tail))
        order = np.argsort(source, kind="stable")
        first = np.zeros(2 * nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(source, minlength=2 * nodes), out=first[1:])
        return first, np.stack((other[order], np.concatenate((item, item))[order]), axis=1).ravel()

    def number(self, name: str, node: Node) -> int:
        """As that of the graph, without looking through all nodes."""
        try:
            return self._number[node]
        except TypeError as error:
            raise InvalidSet(f"nodes must be hashable: {error}") from error
        except KeyError:
            raise InvalidSet(f"the {name} {node!r:.100} is not a node of any edge") from None

    def useful(self, allowed: NDArray[np.bool_], source: int, target: int) -> NDArray[np.bool_] | None:
        """Those of the allowed items that are on a path, as far as that is quickly told, as in `network`.

        None: some are of use in one direction only. That is so in small graphs, and long thin ones.
        """
        answer = self._useful(np.concatenate((allowed, (source, target))).astype(np.float64))
        items = answer[:-1]
        if answer[-1] == 0:
            return None
        useful = np.zeros(allowed.size, dtype=np.bool_)
        useful[items] = True
        return useful

    def nodes_at(self, items: NDArray[np.bool_]) -> int:
        """How many nodes these edges have."""
        seen = np.zeros(len(self._graph.nodes), dtype=np.bool_)
        seen[self._tails[items]] = True
        seen[self._heads[items]] = True
        return int(np.count_nonzero(seen))

    def shortest(self, w: Weights, source: int, target: int) -> Items:
        """The items of a shortest path, costs being -w; none where there is no path. Infinite costs are not paid."""
        return self._shortest(np.concatenate((w, (source, target))))


class Between:
    """The oracle of the paths between two nodes, of some useful items."""

    def __init__(self, ways: Ways, useful: NDArray[np.bool_], source: int, target: int) -> None:
        self._ways, self._useful, self._ends = ways, useful, (source, target)

    def __call__(self, w: Weights) -> Items:
        return self._ways.shortest(np.where(self._useful, w, -np.inf), *self._ends)
