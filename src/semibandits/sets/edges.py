"""Sets whose items are the edges of a graph."""

from semibandits._util.forks import cached_property
from semibandits.sets.base import BuiltIn
from semibandits.sets.graphs.reading import Edge, Graph


class OfEdges(BuiltIn):
    """How the edges of `graph` are called, for all such sets."""

    graph: Graph
    edges: list[Edge]

    @cached_property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        """The ends of each edge: a->b or, without direction, a-b."""
        return self.graph.labels()

    @cached_property
    def aliases(self) -> tuple[str, ...]:  # type: ignore[override]
        """The same from the other end."""
        return self.graph.aliases(self.labels or ())

    @property
    def identities(self) -> list[Edge]:  # type: ignore[override]
        return self.edges
