"""Random sets with the list of their solutions, and random weights."""

from hypothesis import strategies as st

from semibandits import sets
from semibandits.types import FeasibleSet
from support.reference import Solution, paths, subsets

Instance = tuple[FeasibleSet, list[Solution]]

numbers = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-10.0, 10.0, allow_nan=False).map(lambda x: round(x, 3)),
    st.sampled_from([0.0, -0.0, 1e-12, 1e9, -1e9]),
)


def weights(feasible: FeasibleSet, each: st.SearchStrategy[float] = numbers) -> st.SearchStrategy[list[float]]:
    """As the set's oracle takes them."""
    sign = each if feasible.signed else each.map(lambda x: -abs(x))
    return st.lists(sign, min_size=feasible.n_items, max_size=feasible.n_items)


@st.composite
def enumerated(draw: st.DrawFn) -> Instance:
    n_items = draw(st.integers(1, 6))
    listed = draw(st.lists(st.sampled_from(subsets(n_items)), min_size=1, max_size=12))
    return sets.Enumerated(listed, n_items=n_items), listed


@st.composite
def top_k(draw: st.DrawFn) -> Instance:
    n_items = draw(st.integers(1, 7))
    k = draw(st.integers(1, n_items))
    return sets.TopK(n_items, k), subsets(n_items, [k])


@st.composite
def dag_paths(draw: st.DrawFn) -> Instance:
    """Edges lead from a lower to a higher number; parallel edges and dead ends happen; some path always exists."""
    nodes = draw(st.integers(2, 6))
    names = draw(st.permutations(["a", "b", "c", "d", "e", "f"][:nodes]))
    arcs = draw(st.lists(st.sampled_from(subsets(nodes, [2])), min_size=1, max_size=10))
    arcs.insert(draw(st.integers(0, len(arcs))), (0, nodes - 1))
    edges = [(names[a], names[b]) for a, b in arcs]
    return sets.DagPaths(edges, names[0], names[-1]), paths(edges, names[0], names[-1])


@st.composite
def grid_paths(draw: st.DrawFn) -> Instance:
    grid = sets.GridPaths(draw(st.integers(1, 2)))
    return grid, paths(grid.edges, grid.source, grid.target)


@st.composite
def k_paths(draw: st.DrawFn) -> Instance:
    k, count = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    return sets.KPaths(k * count, k), [tuple(range(j * k, j * k + k)) for j in range(count)]


@st.composite
def oracle(draw: st.DrawFn) -> Instance:
    feasible, listed = draw(enumerated())
    size = max(1, feasible.max_size)
    return sets.Oracle(feasible.argmax, feasible.n_items, size), listed


BASIC = {
    "Enumerated": enumerated(),
    "TopK": top_k(),
    "DagPaths": dag_paths(),
    "GridPaths": grid_paths(),
    "KPaths": k_paths(),
    "Oracle": oracle(),
}
