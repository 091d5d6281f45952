"""The oracles against other libraries, only the weights changing between calls: `python benchmarks/sets.py [--json]`.

Every row is measured in one process, in turn, on the same weights, and every answer is compared with ours first.
Rivals that are not installed are left out: `pip install rustworkx networkx ortools lapx`.
"""

import argparse
import importlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import semibandits as sb
from common import Goal, Table, in_turn, report, timed
from semibandits.kernel import warm

Weights = NDArray[np.float64]
Solve = Callable[[Weights], Any]
VECTORS = 64


class Row(NamedTuple):
    """One problem: our set, the sign of its weights, and what others make of it: a set of items each."""

    name: str
    feasible: sb.FeasibleSet
    sign: float
    rivals: dict[str, Solve]
    goal: float = 1.0


def library(name: str) -> Any:
    """A module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def random_graph(nodes: int, edges: int, directed: bool) -> list[tuple[int, int]]:
    """A connected graph without parallel edges: a random tree, then random pairs."""
    generator = np.random.default_rng(nodes)
    found: dict[tuple[int, int], None] = {}
    for node in range(1, nodes):
        other = int(generator.integers(0, node))
        found[(other, node)] = None
    while len(found) < edges:
        a, b = (int(node) for node in generator.integers(0, nodes, 2))
        if a != b and (a, b) not in found and (directed or (b, a) not in found):
            found[(a, b)] = None
    return list(found)


def path_row(nodes: int, edges: int) -> Row:
    arcs = random_graph(nodes, edges, directed=True)
    source, target = 0, nodes - 1
    rivals: dict[str, Solve] = {"SciPy": scipy_path(arcs, nodes, source, target)}
    if rx := library("rustworkx"):
        graph = rx.PyDiGraph()
        graph.add_nodes_from(range(nodes))
        graph.add_edges_from([(a, b, item) for item, (a, b) in enumerate(arcs)])
        item_of = {arc: item for item, arc in enumerate(arcs)}

        def rustworkx_path(w: Weights) -> list[int]:
            costs = (-w).tolist()
            found = rx.dijkstra_shortest_paths(graph, source, target=target, weight_fn=costs.__getitem__)[target]
            return [item_of[found[i], found[i + 1]] for i in range(len(found) - 1)]

        rivals["rustworkx"] = rustworkx_path
    if nx := library("networkx"):
        other = nx.DiGraph()
        other.add_edges_from((a, b, {"item": item}) for item, (a, b) in enumerate(arcs))

        def networkx_path(w: Weights) -> list[int]:
            costs = (-w).tolist()
            found = nx.dijkstra_path(other, source, target, weight=lambda a, b, edge: costs[edge["item"]])
            return [other.edges[found[i], found[i + 1]]["item"] for i in range(len(found) - 1)]

        rivals["networkx"] = networkx_path
    return Row(f"path, {nodes} nodes / {edges} edges", sb.sets.Paths(arcs, source, target), -1.0, rivals)


def scipy_path(arcs: list[tuple[int, int]], nodes: int, source: int, target: int) -> Solve:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    tails, heads = np.array(arcs).T
    order = np.lexsort((heads, tails))
    matrix = csr_array((np.ones(len(arcs)), (tails, heads)), shape=(nodes, nodes))
    item_of = {arc: item for item, arc in enumerate(arcs)}

    def solve(w: Weights) -> list[int]:
        matrix.data[:] = -w[order]
        _, before = dijkstra(matrix, indices=source, return_predecessors=True)
        items, node = [], target
        while node != source:
            items.append(item_of[int(before[node]), node])
            node = int(before[node])
        return items

    return solve


def tree_row(nodes: int, edges: int) -> Row:
    pairs = random_graph(nodes, edges, directed=False)
    rivals: dict[str, Solve] = {"SciPy": scipy_tree(pairs, nodes)}
    if rx := library("rustworkx"):
        graph = rx.PyGraph()
        graph.add_nodes_from(range(nodes))
        graph.add_edges_from([(a, b, item) for item, (a, b) in enumerate(pairs)])

        def rustworkx_tree(w: Weights) -> list[int]:
            costs = (-w).tolist()
            return [edge[2] for edge in rx.minimum_spanning_edges(graph, weight_fn=costs.__getitem__)]

        rivals["rustworkx"] = rustworkx_tree
    if nx := library("networkx"):
        other = nx.Graph()
        other.add_edges_from(pairs)
        item_of = {pair: item for item, pair in enumerate(pairs)}

        def networkx_tree(w: Weights) -> list[int]:
            for pair, cost in zip(pairs, (-w).tolist(), strict=True):
                other.edges[pair]["weight"] = cost
            found = nx.minimum_spanning_edges(other, data=False)
            return [item_of[a, b] if (a, b) in item_of else item_of[b, a] for a, b in found]

        rivals["networkx"] = networkx_tree
    return Row(f"spanning tree, {nodes} / {edges}", sb.sets.GraphicMatroid(pairs), -1.0, rivals)


def scipy_tree(pairs: list[tuple[int, int]], nodes: int) -> Solve:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    tails, heads = np.array(pairs).T
    order = np.lexsort((heads, tails))
    matrix = csr_array((np.ones(len(pairs)), (tails, heads)), shape=(nodes, nodes))
    item_of = {pair: item for item, pair in enumerate(pairs)}

    def solve(w: Weights) -> list[int]:
        matrix.data[:] = -w[order]
        found = minimum_spanning_tree(matrix).tocoo()
        return [item_of[a, b] for a, b in zip(found.coords[0].tolist(), found.coords[1].tolist(), strict=True)]

    return solve


def assignment_row(size: int) -> Row:
    from scipy.optimize import linear_sum_assignment

    numbers = np.arange(size) * size

    def scipy_assignment(w: Weights) -> Weights:
        _, columns = linear_sum_assignment(w.reshape(size, size), maximize=True)
        answer: Weights = numbers + columns
        return answer

    rivals: dict[str, Solve] = {"SciPy": scipy_assignment}
    if lap := library("lap"):
        rivals["lapx"] = lambda w: numbers + lap.lapjv(-w.reshape(size, size), return_cost=False)[0]
    if ortools := library("ortools.graph.python.linear_sum_assignment"):
        left = np.repeat(np.arange(size), size)
        right = np.tile(np.arange(size), size)

        def ortools_assignment(w: Weights) -> list[int]:
            solver = ortools.SimpleLinearSumAssignment()  # which takes whole costs only
            solver.add_arcs_with_cost(left, right, np.rint(-w * 1e9).astype(np.int64))
            solver.solve()
            return [row * size + solver.right_mate(row) for row in range(size)]

        rivals["OR-tools"] = ortools_assignment
    return Row(f"assignment, {size} x {size}", sb.sets.Assignment(size, size), 1.0, rivals)


def top_k_row(n_items: int, k: int) -> Row:
    rivals: dict[str, Solve] = {"numpy.argpartition": lambda w: np.argpartition(w, n_items - k)[n_items - k :]}
    return Row(f"top {k} of {n_items:,}", sb.sets.TopK(n_items, k), 1.0, rivals)


def knapsack_row(n_items: int, capacity: int) -> Row:
    costs = np.random.default_rng(1).integers(1, 60, n_items).tolist()
    rivals: dict[str, Solve] = {}
    if ortools := library("ortools.algorithms.python.knapsack_solver"):
        kinds = ortools.SolverType
        for name, kind in (
            ("branch and bound", kinds.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER),
            ("dynamic programming", kinds.KNAPSACK_DYNAMIC_PROGRAMMING_SOLVER),
        ):
            solver = ortools.KnapsackSolver(kind, name)

            def ortools_knapsack(w: Weights, solver: Any = solver) -> list[int]:
                solver.init(np.rint(w * 1e9).astype(np.int64).tolist(), [costs], [capacity])  # whole values only
                solver.solve()
                return [item for item in range(n_items) if solver.best_solution_contains(item)]

            rivals[f"OR-tools, {name}"] = ortools_knapsack
    return Row(f"knapsack, {n_items} items, capacity {capacity}", sb.sets.Knapsack(costs, capacity), 1.0, rivals)


def rows() -> Iterator[Row]:
    yield path_row(100, 500)
    yield path_row(1000, 5000)
    yield tree_row(100, 488)
    yield tree_row(1000, 4987)
    yield assignment_row(50)
    yield top_k_row(1000, 10)
    yield top_k_row(10_000, 50)
    yield knapsack_row(50, 500)


def with_each(solve: Solve, vectors: Sequence[Weights]) -> Callable[[], object]:
    """One call of this oracle, with the next of these weights."""
    turn = itertools.cycle(vectors)
    return lambda: solve(next(turn))


def measure(row: Row, table: Table, repeats: int) -> None:
    """Ours, as machine code, beside the rivals."""
    generator = np.random.default_rng(0)
    vectors = [row.sign * generator.random(row.feasible.n_items) for _ in range(VECTORS)]
    for w in vectors:
        ours = w[row.feasible.argmax(w)].sum()
        for name, rival in row.rivals.items():
            theirs = w[np.asarray(rival(w), dtype=np.int64)].sum()
            if abs(ours - theirs) > 1e-6:
                raise SystemExit(f"{row.name}: {name} finds {theirs}, ours {ours}")
    solvers = {"ours": row.feasible.argmax, **row.rivals}
    inner = [max(1, int(0.01 / timed(with_each(solve, vectors))())) for solve in solvers.values()]
    taken = in_turn(
        [timed(with_each(solve, vectors), n) for solve, n in zip(solvers.values(), inner, strict=True)], repeats
    )
    micro = dict(zip(solvers, (1e6 * seconds for seconds in taken), strict=True))
    fastest = min((name for name in micro if name != "ours"), key=micro.__getitem__, default="")
    others = ", ".join(f"{name} {micro[name]:,.1f}" for name in row.rivals)
    if not fastest:
        table.rows.append({"oracle": row.name, "ours, µs": micro["ours"], "fastest rival": "none installed"})
        return
    ratio = micro[fastest] / micro["ours"]
    table.rows.append(
        {"oracle": row.name, "ours, µs": micro["ours"], "fastest rival": fastest, "µs": micro[fastest], "ratio": ratio}
    )
    table.notes.append(f"{row.name}: {others}")
    table.goals.append(Goal(f"{row.name}: times as fast as {fastest}", ratio, row.goal, at_most=False))


def best_with_each(repeats: int) -> Table:
    """What the best solution with each item costs, in terms of one call of the oracle rather than one per item."""
    table = Table("best_with_each, of all items at once, in calls of argmax")
    nested = [(list(range(20 * i, 20 * i + 20)), 3) for i in range(50)]
    sets: dict[str, sb.FeasibleSet] = {
        "top 10 of 1,000": sb.sets.TopK(1000, 10),
        "partition matroid, 50 groups": sb.sets.PartitionMatroid((np.arange(1000) % 50).tolist(), 3),
        "laminar matroid, 51 families": sb.sets.LaminarMatroid(1000, [*nested, (list(range(1000)), 60)]),
        "spanning tree, 100 / 488": sb.sets.GraphicMatroid(random_graph(100, 488, directed=False)),
        "spanning tree, 1000 / 4987": sb.sets.GraphicMatroid(random_graph(1000, 4987, directed=False)),
        "grid path, m = 8": sb.sets.GridPaths(8),
        "grid path, m = 30": sb.sets.GridPaths(30),
    }
    for name, feasible in sets.items():
        vectors = np.random.default_rng(0).random((VECTORS, feasible.n_items))
        both = [timed(with_each(solve, [*vectors]), 5) for solve in (feasible.argmax, feasible.best_with_each)]
        calls = []
        for warm.PATIENCE in (np.inf, 0.0):
            feasible.argmax(vectors[0])
            one, each = in_turn(both, repeats)
            calls.append(each / one)
        table.rows.append(
            {"oracle": name, "items": feasible.n_items, "µs": 1e6 * each, "plain calls": calls[0], "compiled": calls[1]}
        )
        table.goals.append(Goal(f"{name}: plain calls", calls[0], 5.0))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="numbers alone")
    parser.add_argument("--repeats", type=int, default=25, help="measurements of each figure, of which the median")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    arguments = parser.parse_args()
    warm.PATIENCE = 0.0  # machine code from the first call on
    table = Table("One call of each oracle with other weights, checks included; figures of all rivals in µs")
    for row in rows():
        if arguments.only in row.name:
            measure(row, table, arguments.repeats)
    tables = [table] if arguments.only else [table, best_with_each(arguments.repeats)]
    report(tables, arguments.json)


if __name__ == "__main__":
    main()
