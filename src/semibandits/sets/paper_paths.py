"""The paths of the paper's experiments and lower bounds."""

from typing import Any

from semibandits._util.checks import MOST_ITEMS, check_count, check_n_items
from semibandits.errors import InvalidSet
from semibandits.sets.base import EDGE_BYTES
from semibandits.sets.graphs.reading import Edge, Node
from semibandits.sets.paths import DagPaths


class PaperPaths(DagPaths):
    """Between other nodes they are paths like any others."""

    labels = ()

    def _of_any_ends(self) -> DagPaths:
        other = DagPaths.__new__(DagPaths)
        known = ("graph", "edges", "n_items", "_tails", "_heads", "_names", "_rank")
        vars(other).update({name: getattr(self, name) for name in known})
        return other


class GridPaths(PaperPaths):
    """The paper's grid (Section 7): all monotone paths from the upper left to the lower right corner of m x m squares.

    Nodes are (row, column) with (0, 0) in the upper left and (m, m) in the lower right corner. Nodes are read row by
    row, and at each the edge to the right is numbered before the edge down: L = 2m(m+1), K = 2m.

    >>> GridPaths(1).edges
    [((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 1), (1, 1)), ((1, 0), (1, 1))]
    """

    def __init__(self, m: int) -> None:
        self.m = m = check_count("m", m, most=MOST_ITEMS)
        check_n_items(2 * m * (m + 1), f"the number of edges of GridPaths({m})", EDGE_BYTES)
        edges: list[Edge] = []
        for row in range(m + 1):
            for column in range(m + 1):
                if column < m:
                    edges.append(((row, column), (row, column + 1)))
                if row < m:
                    edges.append(((row, column), (row + 1, column)))
        super().__init__(edges, source=(0, 0), target=(m, m))

    def _parameters(self) -> dict[str, Any]:
        return {"m": self.m}

    def __repr__(self) -> str:
        return f"GridPaths({self.m}{self._restricted})"


class KPaths(PaperPaths):
    """The paper's K-path problem (Section 6): n_items / k disjoint paths of k items; path j holds items jk .. jk+k-1.

    >>> KPaths(6, 3).argmax([0, 0, 1, 1, 1, 0])
    array([3, 4, 5])
    """

    def __init__(self, n_items: int, k: int) -> None:
        n_items, k = check_n_items(n_items, each=EDGE_BYTES), check_count("k", k)
        self.k = k
        if n_items % k:
            raise InvalidSet(f"n_items must be a multiple of k={k}, got {n_items}")
        edges: list[Edge] = []
        for item in range(n_items):
            tail: Node = "source" if item % k == 0 else item
            head: Node = "target" if item % k == k - 1 else item + 1
            edges.append((tail, head))
        super().__init__(edges, source="source", target="target")

    def _parameters(self) -> dict[str, Any]:
        return {"n_items": self.n_items, "k": self.k}

    def __repr__(self) -> str:
        return f"KPaths({self.n_items}, {self.k}{self._restricted})"
