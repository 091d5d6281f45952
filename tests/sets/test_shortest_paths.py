"""Shortest paths in general graphs: against other libraries, through given edges, with few hops."""

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from semibandits import Learner, Problem, environments, errors, policies, sets
from semibandits.sets.graphs import simple_paths as search
from semibandits.sets.programs.program import Program
from support import strategies
from support.families.graphs import paths, simple_paths
from support.reference import Solution, best_value, best_with_each, restricted, value

Edges = list[tuple[int, int]]
DIAMOND = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]


def random_edges(generator: np.random.Generator, nodes: int, edges: int) -> Edges:
    """With loops, parallel edges and parts that are not connected."""
    pairs = generator.integers(0, nodes, size=(edges, 2)).tolist()
    pairs += [(i, i + 1) for i in range(nodes - 1) if i % 7 != 5]
    return [(tail, head) for tail, head in pairs]


def random_costs(generator: np.random.Generator, size: int) -> np.ndarray:
    """Many are zero, many are tied."""
    return np.where(generator.random(size) < 0.3, generator.integers(0, 3, size), generator.random(size) * 3.0)


def networkx_distance(edges: Edges, costs: np.ndarray, source: int, target: int, directed: bool) -> float:
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_weighted_edges_from((tail, head, cost) for (tail, head), cost in zip(edges, costs, strict=True))
    return float(nx.dijkstra_path_length(graph, source, target))


def rustworkx_distance(edges: Edges, costs: np.ndarray, source: int, target: int, directed: bool) -> float:
    graph = rx.PyDiGraph() if directed else rx.PyGraph()
    graph.add_nodes_from(range(1 + max(map(max, edges))))
    graph.add_edges_from([(tail, head, float(cost)) for (tail, head), cost in zip(edges, costs, strict=True)])
    return float(rx.dijkstra_shortest_path_lengths(graph, source, float, goal=target)[target])


def scipy_distance(edges: Edges, costs: np.ndarray, source: int, target: int, directed: bool) -> float:
    """SciPy takes a stored zero for an edge only if it is stored; of parallel edges it is given the cheapest."""
    cheapest: dict[tuple[int, int], float] = {}
    for (tail, head), cost in zip(edges, costs, strict=True):
        for arc in [(tail, head)] if directed else [(tail, head), (head, tail)]:
            cheapest[arc] = min(float(cost), cheapest.get(arc, np.inf))
    tails, heads = np.array(list(cheapest), dtype=np.int32).T
    size = 1 + max(map(max, edges))
    matrix = csr_array((list(cheapest.values()), (tails, heads)), shape=(size, size))
    return float(dijkstra(matrix, indices=source)[target])


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("distance", [networkx_distance, rustworkx_distance, scipy_distance])
def test_other_libraries_agree(distance: Callable[..., float], directed: bool) -> None:
    generator = np.random.default_rng(3)
    for nodes, count in itertools.product((5, 40, 300), (2, 4)):
        edges = random_edges(generator, nodes, count * nodes)
        source, target = generator.permutation(nodes)[:2].tolist()
        try:
            feasible = sets.Paths(edges, source, target, directed=directed)
        except errors.EmptyFeasibleSet:
            continue
        for _ in range(5):
            costs = random_costs(generator, len(edges))
            items = feasible.argmax(-costs)
            assert feasible.contains(items)
            assert costs[items].sum() == pytest.approx(distance(edges, costs, source, target, directed), abs=1e-9)


@pytest.mark.parametrize("directed", [True, False])
def test_few_hops_are_a_shortest_path_through_layers(directed: bool) -> None:
    generator = np.random.default_rng(4)
    for nodes, max_hops in ((12, 3), (40, 4), (40, 9), (100, 6)):
        edges = random_edges(generator, nodes, 4 * nodes)
        arcs = [(*edge, item) for item, edge in enumerate(edges)]
        arcs += [] if directed else [(head, tail, item) for tail, head, item in arcs]
        feasible = sets.Paths(edges, 0, nodes // 2, directed=directed, max_hops=max_hops)
        assert feasible.max_size == max_hops
        for _ in range(5):
            costs = random_costs(generator, len(edges))
            layers = nx.MultiDiGraph()
            for hop in range(max_hops):
                layers.add_weighted_edges_from(((tail, hop), (head, hop + 1), costs[item]) for tail, head, item in arcs)
                layers.add_edge((nodes // 2, hop), (nodes // 2, hop + 1), weight=0.0)
            items = feasible.argmax(-costs)
            assert feasible.contains(items)
            expected = nx.dijkstra_path_length(layers, (0, 0), (nodes // 2, max_hops))
            assert costs[items].sum() == pytest.approx(expected, abs=1e-9)


def test_zero_costs_never_walk_in_circles() -> None:
    generator = np.random.default_rng(5)
    for trial in range(300):
        nodes = int(generator.integers(3, 9))
        edges = [*random_edges(generator, nodes, 2 * nodes), (0, nodes - 1)]
        feasible = sets.Paths(edges, 0, nodes - 1, directed=bool(trial % 2), max_hops=(None, 4)[trial // 2 % 2])
        for costs in (
            np.zeros(len(edges)),
            generator.integers(0, 2, len(edges)) * 1e-320,
            generator.random(len(edges)) * 1e-17,
        ):
            costs[-1] = 1.0
            assert feasible.contains(feasible.argmax(-costs))


@pytest.mark.skipif("SEMIBANDITS_DATA" not in os.environ, reason="SEMIBANDITS_DATA names no folder with road networks")
def test_the_roads_of_sioux_falls() -> None:
    path = Path(os.environ["SEMIBANDITS_DATA"]) / "tntp" / "SiouxFalls" / "SiouxFalls_net.tntp"
    if not path.exists():
        pytest.skip(f"there is no {path}")
    rows = [line.split() for line in path.read_text().splitlines() if line.strip()[:1].isdigit()]
    edges = [(int(row[0]), int(row[1])) for row in rows]
    costs = np.array([float(row[4]) for row in rows])
    roads = nx.DiGraph()
    roads.add_weighted_edges_from((*edge, cost) for edge, cost in zip(edges, costs, strict=True))
    assert roads.number_of_nodes() == 24
    for source, target in itertools.permutations(range(1, 25), 2):
        feasible = sets.Paths(edges, source, target)
        items = feasible.argmax(-costs)
        assert feasible.contains(items)
        assert costs[items].sum() == nx.dijkstra_path_length(roads, source, target)
    for source, target in ((1, 20), (10, 16), (13, 7)):
        listed = [
            tuple(sorted(edges.index(edge) for edge in itertools.pairwise(nodes)))
            for nodes in nx.all_simple_paths(roads, source, target, cutoff=8)
        ]
        few = sets.Paths(edges, source, target, max_hops=8)
        assert few.best_with_each(-costs).tolist() == best_with_each(listed, (-costs).tolist(), len(edges))
        assert sorted(set(range(len(edges))) - {item for one in listed for item in one}) == few.uncovered().tolist()
        assert not set(few.uncovered().tolist()) <= set(sets.Paths(edges, source, target).uncovered().tolist())


def listed_paths(generator: np.random.Generator, directed: bool, max_hops: int | None) -> tuple[Edges, list[Solution]]:
    """Of a graph that is larger than those of the general tests."""
    while True:
        edges = [(int(a), int(b)) for a, b in generator.integers(0, 8, size=(18 if directed else 14, 2))]
        solutions = simple_paths(edges, 0, 7, directed, max_hops)
        if len(solutions) > 3:
            return edges, solutions


@pytest.mark.parametrize("max_hops", [None, 5])
@pytest.mark.parametrize("directed", [True, False])
def test_through_given_edges(directed: bool, max_hops: int | None) -> None:
    generator = np.random.default_rng(6)
    for _ in range(60):
        edges, solutions = listed_paths(generator, directed, max_hops)
        costs = random_costs(generator, len(edges))
        weights = (-costs).tolist()
        feasible = sets.Paths(edges, 0, 7, directed=directed, max_hops=max_hops)
        assert feasible.best_with_each(weights) == pytest.approx(best_with_each(solutions, weights, len(edges)))
        covered = {item for one in solutions for item in one}
        assert feasible.uncovered().tolist() == sorted(set(range(len(edges))) - covered)
        for size in (1, 2, 4):
            include = set(generator.permutation(len(edges))[:size].tolist())
            if size == 4:  # so that there is a path
                include &= set(solutions[int(generator.integers(len(solutions)))])
            left = restricted(solutions, include, set())
            if not left:
                with pytest.raises(errors.EmptyFeasibleSet):
                    feasible.restrict(include=include)
                continue
            part = feasible.restrict(include=include)
            items = part.argmax(weights)
            assert tuple(items.tolist()) in left
            assert value(items.tolist(), weights) == pytest.approx(best_value(left, weights))
            assert part.best_with_each(weights) == pytest.approx(best_with_each(left, weights, len(edges)))
            assert set(part.uncovered().tolist()) == set(range(len(edges))) - {item for one in left for item in one}
            assert not part.signed
            if include:
                assert part.solver() is None


def test_a_hard_search_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    squares = [((row, column), (row, column + 1)) for row in range(4) for column in range(3)]
    squares += [((row, column), (row + 1, column)) for row in range(3) for column in range(4)]
    both_ways = squares + [(head, tail) for tail, head in squares]
    roads = sets.Paths(both_ways, (0, 0), (3, 3))
    back = both_ways.index(((0, 2), (0, 1)))  # who goes there has cut himself off
    with pytest.raises(errors.EmptyFeasibleSet, match="no simple path contains all demanded edges"):
        roads.restrict(include=[back])
    assert back in roads.uncovered()
    monkeypatch.setattr(search, "SEARCH_LIMIT", 3)
    roads = sets.Paths(both_ways, (0, 0), (3, 3))
    with pytest.raises(errors.Unsupported, match=rf"through items \[{back}\] gave up after 3 steps"):
        roads.restrict(include=[back])
    with pytest.raises(errors.Unsupported, match="gave up"):
        roads.best_with_each(-np.ones(len(both_ways)))
    assert back not in roads.uncovered()  # as far as is known
    undirected = sets.Paths(squares, (0, 0), (3, 3), directed=False)  # no search is needed
    assert np.isfinite(undirected.best_with_each(-np.ones(len(squares)))).all()


def test_large_graphs_are_pruned_exactly_without_direction() -> None:
    """Blocks beside the way: a dead end, a circle that hangs on a node, one between two bridges."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 1), (1, 4), (4, 5), (5, 6), (6, 4), (6, 7), (8, 9), (2, 2), (5, 5), (4, 5)]
    feasible = sets.Paths(edges, 0, 7, directed=False)
    assert feasible.uncovered().tolist() == [1, 2, 3, 9, 10, 11]
    assert feasible.max_size == 6 - 1
    assert feasible.best_with_each(np.full(13, -1.0))[[0, 5, 6, 7, 12]].tolist() == [-4.0, -5.0, -5.0, -4.0, -5.0]


def test_large_directed_graphs_are_pruned_by_what_is_on_walks() -> None:
    chain = [(i, i + 1) for i in range(300)]
    feasible = sets.Paths([*chain, (5, 5), (5, 0), (300, 7), (9, 400), (401, 9), (8, 3), (0, 8)], 0, 300)
    assert feasible.uncovered().tolist() == [300, 301, 302, 303, 304]  # item 305 is on a walk that is no path
    assert feasible.max_size == 300
    assert np.isneginf(feasible.best_with_each(-np.ones(307))[305])


@pytest.mark.parametrize("hops", [False, True])
@pytest.mark.parametrize("directed", [True, False])
def test_the_program_is_the_set(directed: bool, hops: bool) -> None:
    """For weights of any sign: no circle may stand beside the path, however much it would be worth."""

    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        feasible, solutions = data.draw(paths(directed, hops))
        weights = data.draw(
            st.lists(st.integers(-3, 3).map(float), min_size=feasible.n_items, max_size=feasible.n_items)
        )
        excluded = data.draw(st.sets(st.integers(0, feasible.n_items - 1), max_size=1))
        if left := restricted(solutions, set(), excluded):
            feasible, solutions = feasible.restrict(exclude=excluded), left
        program = Program.of(feasible)
        rows = program.rows()
        found = milp(
            np.append(-np.array(weights), np.zeros(len(program.lower) - feasible.n_items)),
            constraints=LinearConstraint(rows.matrix, rows.lower, rows.upper),
            integrality=np.array(program.integer, dtype=int),
            bounds=Bounds(program.lower, program.upper),
        )
        chosen = tuple(np.flatnonzero(found.x[: feasible.n_items] > 0.5).tolist())
        assert chosen in solutions
        assert value(chosen, weights) == best_value(solutions, weights)

    check()


def test_every_form_of_a_graph() -> None:
    edges = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]
    tails, heads = np.array(edges).T
    matrix = csr_array((np.zeros(5), (tails, heads)), shape=(4, 4))
    costs = [-0.5, -0.9, -0.1, -2.0, -0.3]
    for graph in (edges, np.array(edges), matrix, nx.DiGraph(edges), nx.MultiDiGraph(edges)):
        feasible = sets.Paths(graph, 0, 3)
        assert feasible.directed
        assert feasible.argmax(costs).tolist() == [0, 2, 4]
        assert feasible.labels[0] == "0->1"
    for graph in (edges, matrix):
        assert sets.Paths(graph, 3, 0, directed=False).argmax(costs).tolist() == [0, 2, 4]
    roads = sets.Paths(nx.Graph(edges), 3, 0)
    assert not roads.directed
    assert roads.labels == ("0-1", "0-2", "1-2", "1-3", "2-3")
    with pytest.raises(errors.InvalidSet, match=r"is undirected, a directed one is needed: pass graph.to_directed\(\)"):
        sets.Paths(nx.Graph(edges), 0, 3, directed=True)


def test_contains_walks_in_any_direction_and_order() -> None:
    roads = sets.Paths(DIAMOND, "d", "a", directed=False)
    assert roads.contains([3, 1, 0])
    assert roads.contains([3, 2])
    assert not roads.contains([0, 1, 2])
    assert not roads.contains([])
    assert not roads.contains([0, 1, 2, 3])
    assert not sets.Paths(DIAMOND, "d", "a", directed=False, max_hops=2).contains([3, 1, 0])
    assert not roads.restrict(include=[2]).contains([3, 1, 0])
    assert not roads.restrict(exclude=[1]).contains([3, 1, 0])
    assert not sets.Paths(DIAMOND, "a", "c").contains([0, 1, 2])
    assert not sets.Paths([(0, 1), (0, 1)], 0, 1).restrict(include=[0]).contains([1])
    there_and_back = sets.Paths([(0, 1), (1, 2), (2, 1), (0, 2), (0, 3), (3, 1)], 0, 1)
    assert there_and_back.max_size == 3
    assert not there_and_back.contains([0, 1, 2])


def test_arguments_survive_json() -> None:
    for feasible in (sets.Paths(DIAMOND, "a", "d"), sets.Paths(nx.Graph([(1, 2), (2, 3)]), 1, 3, max_hops=2)):
        again = sets.Paths(**json.loads(json.dumps(feasible._parameters())))
        assert again._parameters() == feasible._parameters()
        assert repr(again) == repr(feasible)


def test_what_it_prints() -> None:
    assert repr(sets.Paths(DIAMOND, "a", "d")) == "Paths(4 edges, 'a' to 'd')"
    few = sets.Paths(DIAMOND, "a", "d", directed=False, max_hops=2)
    assert repr(few.restrict(exclude=[0])) == "Paths(4 edges, 'a' to 'd', undirected, max_hops=2, restricted)"


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda: sets.Paths(DIAMOND, "a", "a"), errors.InvalidSet, "'a' twice"),
        (lambda: sets.Paths(DIAMOND, "a", "z"), errors.InvalidSet, "target 'z' is not a node"),
        (lambda: sets.Paths(DIAMOND, "z", "a"), errors.InvalidSet, "source 'z' is not a node"),
        (lambda: sets.Paths(DIAMOND, ["a"], "d"), errors.InvalidSet, "hashable"),
        (lambda: sets.Paths(DIAMOND, "d", "a"), errors.EmptyFeasibleSet, "no path leads from 'd' to 'a'"),
        (lambda: sets.Paths([(0, 1), (2, 3)], 0, 3, directed=False), errors.EmptyFeasibleSet, "no path leads from 0"),
        (lambda: sets.Paths([(0, 0), (1, 1), (0, 0)], 0, 1), errors.EmptyFeasibleSet, "no path leads from 0 to 1"),
        (
            lambda: sets.Paths(DIAMOND, "a", "d", max_hops=1),
            errors.EmptyFeasibleSet,
            "every path from 'a' to 'd' has at least 2 edges, more than max_hops=1",
        ),
        (
            lambda: sets.Paths(DIAMOND, "a", "d", max_hops=0),
            errors.InvalidSet,
            "max_hops must be an integer >= 1, got 0",
        ),
        (lambda: sets.Paths(DIAMOND, "a", "d", max_hops=2.0), errors.InvalidSet, "got 2.0"),
        (lambda: sets.Paths(DIAMOND, "a", "d", directed="no"), errors.InvalidSet, "True, False or None, got 'no'"),
        (lambda: sets.Paths([], 0, 1), errors.InvalidSet, "got none"),
        (lambda: sets.Paths(DIAMOND, "a", "d").restrict(exclude=[3]), errors.EmptyFeasibleSet, "no path leads"),
        (lambda: sets.Paths(DIAMOND, "a", "d").restrict(include=[0, 2]), errors.EmptyFeasibleSet, "not on one path"),
        (
            lambda: sets.Paths([*DIAMOND, ("d", "a")], "a", "d").restrict(include=[4]),
            errors.EmptyFeasibleSet,
            "no path contains item 4",
        ),
        (
            lambda: sets.Paths(DIAMOND, "a", "d").argmax([0, 0, 1, 0]),
            errors.Unsupported,
            "weights <= 0.*got 1.0 for item 2",
        ),
        (lambda: sets.Paths(DIAMOND, "a", "d").best_with_each([0, 0, 1, 0]), errors.Unsupported, "got 1.0 for item 2"),
        (lambda: sets.Paths(DIAMOND, "a", "d").argmax([0, 0, np.nan, 0]), errors.BadWeights, "nan for item 2"),
        (lambda: sets.Paths(DIAMOND, "a", "d").argmax([0, 0, 0]), errors.BadWeights, r"shape \(3,\)"),
    ],
)
def test_bad_input(build: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        build()


def test_gaps_with_many_tied_paths() -> None:
    costs = environments.Bernoulli([0.25, 0.25, 0.25, 0.25, 0.5, 1.0])
    problem = Problem(sets.Paths([(0, 1), (1, 3), (0, 2), (2, 3), (1, 2), (0, 3)], 0, 3), costs, sense="min")
    upper, lower = [np.nan, np.nan, np.inf, 0.5, 0.5, 0.5], [0.5, np.inf, np.nan, np.nan, 0.5, 0.5]
    np.testing.assert_array_equal(problem.item_gaps, upper if 0 in problem.optimum else lower)
    assert problem.min_gap == 0.5


def test_a_learner_finds_the_shortest_path() -> None:
    roads = sets.Paths(DIAMOND, "a", "d", directed=False)
    learner = Learner(roads, policies.CombUCB1(), sense="min", bounds=(0.0, 10.0), seed=0)
    costs = {"a-b": 1.0, "b-c": 1.0, "a-c": 5.0, "c-d": 1.0}
    for _ in range(60):
        decision = learner.ask()
        learner.tell(decision.id, [costs[label] for label in decision.labels])
    assert learner.best().tolist() == [0, 1, 3]
    assert learner.ask(available=["a-b", "a-c", "c-d"]).labels == ("a-c", "c-d")
    assert learner.counts[0] > 30


def test_huge_and_tiny_costs() -> None:
    roads = sets.Paths(DIAMOND, "a", "d", directed=False)
    assert roads.argmax([-1e308, -1e308, -1.5e308, -1e308]).tolist() == [2, 3]
    assert roads.argmax([-5e-324, 0.0, -5e-324, -0.0]).tolist() in ([0, 1, 3], [2, 3])


@given(data=st.data())
def test_a_weight_above_zero_is_refused_wherever_it_stands(data: st.DataObject) -> None:
    feasible, _ = data.draw(paths(directed=True, hops=False))
    weights = data.draw(strategies.weights(feasible))
    weights[data.draw(st.integers(0, feasible.n_items - 1))] = 1e-300
    with pytest.raises(errors.Unsupported, match="weights <= 0"):
        feasible.argmax(weights)
