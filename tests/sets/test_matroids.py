"""Matroids against other libraries, and the text of their order against sorting."""

import json
import random
from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
import rustworkx as rx
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from semibandits import Problem, environments, errors, sets
from semibandits.kernel import compiled
from semibandits.sets.base import Solved, WarmOracle
from semibandits.sets.matroid import MatroidSet
from semibandits.sets.oracles import order
from semibandits.sets.programs.program import Program
from semibandits.types import FeasibleSet, total

Edges = list[tuple[int, int]]


def random_graph(nodes: int, edges: int, seed: int) -> Edges:
    """Loops, parallel edges and several pieces, where there are few edges."""
    rng = np.random.default_rng(seed)
    return [(int(a), int(b)) for a, b in rng.integers(0, nodes, (edges, 2))]


def kruskal(edges: Edges, weights: np.ndarray, positive: bool = False) -> list[int]:
    """By recolouring: of tied edges those with the lowest numbers."""
    colours = {node: node for edge in edges for node in edge}
    chosen = []
    for item in sorted(range(len(edges)), key=lambda item: (-weights[item], item)):
        a, b = colours[edges[item][0]], colours[edges[item][1]]
        if a != b and (weights[item] > 0.0 or not positive):
            chosen.append(item)
            colours = {node: b if colour == a else colour for node, colour in colours.items()}
    return sorted(chosen)


def weights_of_all_kinds(n_items: int, seed: int) -> list[np.ndarray]:
    """Some that change little from one to the next, some that have nothing to do with each other, many ties."""
    rng = np.random.default_rng(seed)
    found = []
    w = rng.normal(size=n_items)
    for change in (0.0, 1e-3, 0.02, 0.02, 0.02, 0.5, 0.02, 0.02):
        w = w + change * rng.normal(size=n_items)
        found.append(w)
        found.append(np.round(w, 1))
    found += list(rng.normal(size=(6, n_items)))
    found += [np.zeros(n_items), np.ones(n_items), np.round(rng.random(n_items)), np.sort(w), np.sort(w)[::-1].copy()]
    found.append(np.minimum(1.0, 1.02 - 0.05 * rng.random(n_items)))  # the largest many times, and others near it
    # One falls far, one rises far.
    for item in (0, n_items // 2):
        w = w.copy()
        w[item] *= -100.0
        found.append(w)
    return [*found, *found[:8], *([found[3]] * 70), *found]


@pytest.mark.parametrize("bases", [True, False])
@pytest.mark.parametrize(("nodes", "edges"), [(60, 300), (12, 300), (90, 80), (2, 70)])
def test_trees_whatever_was_asked_before(nodes: int, edges: int, bases: bool) -> None:
    """The order repaired, made again, or sorted as far as it is read: always Kruskal's tree, in both forms."""
    graph = random_graph(nodes, edges, nodes)
    feasible = sets.GraphicMatroid(graph, bases=bases)
    solver = feasible.solver()
    live, code = WarmOracle(solver, feasible.max_size), compiled(solver.function)
    numbers, integers = np.zeros(solver.numbers), np.zeros(solver.integers, dtype=np.int64)
    out = np.zeros(feasible.max_size, dtype=np.int64)
    states = set()
    for w in weights_of_all_kinds(edges, nodes):
        expected = kruskal(graph, w, positive=not bases)
        size = code(w, out, solver.data, numbers, integers)
        states.add(int(integers[2 * len(solver.data[0])]))
        assert out[:size].tolist() == expected
        assert live._plain(w).tolist() == expected
    assert edges < 300 or {order.SORTED, order.REST - 1, 0} <= states


@pytest.mark.parametrize("deep", [1, 2, 5])
def test_a_merge_sort_takes_over_where_splitting_goes_too_deep(deep: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "DEEP", deep)
    monkeypatch.setattr(order, "MOVES", -1)  # no repair
    monkeypatch.setattr(order, "REST", 2)
    graph = random_graph(60, 300, 1)
    feasible = sets.GraphicMatroid(graph)
    live = WarmOracle(feasible.solver(), feasible.max_size)
    for w in weights_of_all_kinds(300, 1)[:30]:
        assert live._plain(w).tolist() == kruskal(graph, w)


@pytest.mark.parametrize("seed", range(8))
def test_trees_agree_with_networkx_and_rustworkx(seed: int) -> None:
    nodes, edges = (150, 1000) if seed % 2 else (300, 280)
    graph = random_graph(nodes, edges, seed)
    rng = np.random.default_rng([seed, 1])
    feasible = sets.GraphicMatroid(graph)
    w = rng.normal(size=edges) if seed % 4 < 2 else rng.integers(-2, 3, size=edges).astype(float)
    multi = nx.MultiGraph()
    multi.add_nodes_from(range(nodes))
    multi.add_edges_from((a, b, {"weight": x}) for (a, b), x in zip(graph, w, strict=True))
    other = rx.PyGraph()
    other.add_nodes_from(range(nodes))
    other.add_edges_from([(a, b, float(-x)) for (a, b), x in zip(graph, w, strict=True)])
    items = feasible.argmax(w)
    value = total(w, items)
    assert value == pytest.approx(nx.maximum_spanning_tree(multi).size("weight"), abs=1e-9)
    tree = rx.minimum_spanning_edges(other, weight_fn=float)
    assert value == pytest.approx(-sum(weight for _, _, weight in tree), abs=1e-9)
    assert items.size == len(tree) == feasible.max_size
    assert nx.is_forest(nx.MultiGraph([graph[item] for item in items]))
    assert feasible.uncovered().tolist() == [item for item, (a, b) in enumerate(graph) if a == b]


def test_zero_weights_are_ordinary() -> None:
    """SciPy drops such edges."""
    triangle = csr_array([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    feasible = sets.GraphicMatroid(triangle)
    assert feasible.argmax([0.0, -1.0, 0.0]).tolist() == [0, 2]
    assert feasible.argmax([0.0, 0.0, 0.0]).tolist() == [0, 1]
    triangle.data[:] = 0.0
    assert minimum_spanning_tree(triangle).nnz == 0
    assert sets.GraphicMatroid(triangle).argmax([0.0, 0.0, 0.0]).tolist() == [0, 1]


def test_graphs_in_every_form() -> None:
    names = [("a", "b"), ("b", "c"), ("c", "a")]
    graph = nx.Graph(names)
    multi = nx.MultiGraph()
    multi.add_edge("a", "b", key="road")
    multi.add_edge("a", "b", key="rail")
    assert sets.GraphicMatroid(names).labels == ("a-b", "b-c", "c-a")
    assert sets.GraphicMatroid(graph).graph.edges == list(graph.edges)
    assert sets.GraphicMatroid(multi).labels == ("a-b road", "a-b rail")
    assert sets.GraphicMatroid(multi).argmax([0.5, 0.5]).tolist() == [0]
    assert sets.GraphicMatroid(np.array([[0, 1], [1, 0], [1, 1]])).labels == ("0-1", "1-0", "1-1")
    both_ways = csr_array([[0, 1], [1, 0]])
    assert sets.GraphicMatroid(both_ways).n_items == 1
    with pytest.raises(errors.InvalidSet, match="the graph is directed"):
        sets.GraphicMatroid(nx.DiGraph(names))
    with pytest.raises(errors.InvalidSet, match="expected a list of edges"):
        sets.GraphicMatroid(7)
    with pytest.raises(errors.InvalidSet, match="bases must be True or False, got 1"):
        sets.GraphicMatroid(names, bases=1)  # type: ignore[arg-type]


def nested(seed: int, n_items: int = 120) -> list[tuple[list[int], int]]:
    """Stretches of a random order, cut in two again and again."""
    rng = random.Random(seed)
    order = list(range(n_items))
    rng.shuffle(order)
    families = []

    def cut(part: list[int]) -> None:
        if rng.random() < 0.8:
            families.append((part, rng.randint(0, max(1, len(part) // 2))))
        if len(part) > 3:
            middle = rng.randint(1, len(part) - 1)
            cut(part[:middle])
            cut(part[middle:])

    cut(order)
    return families


@pytest.mark.parametrize("bases", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_limits_agree_with_linear_programming(seed: int, bases: bool) -> None:
    """The rows of nested or disjoint limits are totally unimodular, so that HiGHS finds whole numbers."""
    rng = np.random.default_rng(seed)
    laminar = nested(seed)
    groups = rng.integers(0, 9, size=120).tolist()
    capacities = rng.integers(0, 20, size=9).tolist()
    apart = [([i for i in range(120) if groups[i] == group], capacities[group]) for group in range(9)]
    w = rng.normal(size=120)
    for families, feasible in (
        (laminar, sets.LaminarMatroid(120, laminar, bases=bases)),
        (apart, sets.PartitionMatroid(groups, capacities, bases=bases)),
    ):
        rows = np.array([np.isin(np.arange(120), items) for items, _ in families], dtype=float)
        most = [capacity for _, capacity in families]
        rank = -linprog(-np.ones(120), A_ub=rows, b_ub=most, bounds=(0, 1)).fun
        size = ({"A_eq": np.ones((1, 120)), "b_eq": [round(rank)]}) if bases else {}
        found = linprog(-w, A_ub=rows, b_ub=most, bounds=(0, 1), **size)
        items = feasible.argmax(w)
        assert total(w, items) == pytest.approx(-found.fun, abs=1e-9)
        assert (rows[:, items].sum(axis=1) <= most).all()
        assert feasible.contains(np.flatnonzero(found.x > 0.5))


def medium(name: str, seed: int, bases: bool) -> MatroidSet:
    rng = np.random.default_rng(seed)
    if name == "graphic":
        return sets.GraphicMatroid(random_graph(14, 40, seed), bases=bases)
    if name == "laminar":
        return sets.LaminarMatroid(40, nested(seed, 40), bases=bases)
    if name == "partition":
        return sets.PartitionMatroid(rng.integers(0, 6, 40).tolist(), rng.integers(0, 5, 6).tolist(), bases=bases)
    if name == "top-k":
        return sets.TopK(40, 1 + seed * 13 % 40, bases=bases)
    graph = random_graph(9, 25, seed)
    return sets.Matroid(
        lambda items: nx.is_forest(nx.MultiGraph([graph[i] for i in items] or [(0, 1)])), 25, bases=bases
    )


@pytest.mark.parametrize("bases", [True, False])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["graphic", "laminar", "partition", "top-k", "user's"])
def test_best_with_each_is_one_restricted_call_each(name: str, seed: int, bases: bool) -> None:
    feasible = medium(name, seed, bases)
    rng = np.random.default_rng([seed, 5])
    fixed = feasible.argmax(rng.random(feasible.n_items))[:2]
    parts = [feasible, feasible.restrict(include=fixed), feasible.restrict(include=fixed).restrict(exclude=[])]
    if not bases:
        parts.append(feasible.restrict(exclude=np.setdiff1d(np.arange(9), fixed), include=fixed))
    for part in parts:
        w = rng.normal(size=part.n_items)
        expected = FeasibleSet.best_with_each(part, w)
        np.testing.assert_allclose(part.best_with_each(w), expected, atol=1e-12)
        np.testing.assert_array_equal(part.uncovered(), np.flatnonzero(np.isneginf(expected)))


@pytest.mark.parametrize("bases", [True, False])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["graphic", "laminar", "partition", "top-k"])
def test_a_program_solver_agrees(name: str, seed: int, bases: bool) -> None:
    feasible = medium(name, seed, bases)
    rng = np.random.default_rng([seed, 6])
    items = feasible.argmax(rng.random(feasible.n_items))
    for part in (feasible, feasible.restrict(include=items[:1])):
        program = Program.of(part)
        w = np.zeros(len(program.lower))
        w[: part.n_items] = rng.normal(size=part.n_items)
        rows = LinearConstraint(program.rows().matrix, program.row_lower, program.row_upper)
        bounds = Bounds(program.lower, program.upper)
        found = milp(-w, constraints=rows, bounds=bounds, integrality=np.array(program.integer, dtype=int))
        assert total(w, part.argmax(w[: part.n_items])) == pytest.approx(-found.fun, abs=1e-7)
        assert part.contains(np.flatnonzero(found.x[: part.n_items] > 0.5))


def test_gaps_where_a_great_many_solutions_are_tied() -> None:
    """Exchanges tell the gaps; nothing is searched."""
    graph = [(a, b) for b in range(9) for a in range(b)]
    tied = Problem(sets.GraphicMatroid(graph), environments.Bernoulli([0.5] * 35 + [0.25]))
    assert set(tied.item_gaps[~np.isnan(tied.item_gaps)]) == {0.25}
    assert tied.min_gap == 0.25
    flat = Problem(sets.PartitionMatroid([0, 1] * 30, 15), environments.Bernoulli([0.5] * 60))
    assert flat.min_gap == np.inf
    most = Problem(sets.GraphicMatroid(graph, bases=False), environments.Bernoulli([0.5] * 36))
    assert set(most.item_gaps[~np.isnan(most.item_gaps)]) == {0.5}


def test_restrictions_that_leave_nothing() -> None:
    square = sets.GraphicMatroid([(0, 1), (1, 2), (2, 3), (3, 0), (4, 4)])
    with pytest.raises(errors.EmptyFeasibleSet, match=r"with items \[0, 1, 2, 3\]: the items demanded depend on each"):
        square.restrict(include=[0, 1, 2, 3])
    with pytest.raises(errors.EmptyFeasibleSet, match="a basis has 3 items, but of those left at most 2"):
        square.restrict(exclude=[0, 1])
    with pytest.raises(errors.EmptyFeasibleSet, match="depend on each other"):
        square.restrict(include=[4])
    with pytest.raises(errors.EmptyFeasibleSet, match="both demanded and excluded"):
        square.restrict(include=[0]).restrict(exclude=[0])
    forests = sets.GraphicMatroid([(0, 1), (1, 2), (2, 3), (3, 0), (4, 4)], bases=False)
    assert forests.restrict(exclude=[0, 1]).max_size == 2
    assert forests.restrict(exclude=range(5)).argmax(np.ones(5)).tolist() == []
    loops = sets.GraphicMatroid([(0, 0)])
    assert loops.argmax([1.0]).tolist() == []
    assert (loops.max_size, loops.uncovered().tolist()) == (0, [0])


def test_groups_in_every_form() -> None:
    w = [0.1, 0.9, 0.5, 0.5, 0.5]
    for groups, capacities in (
        ([0, 0, 1, 1, 1], [1, 2]),
        (np.array([0, 0, 1, 1, 1]), np.array([1, 2])),
        (["x", "x", "y", "y", "y"], {"x": 1, "y": 2, "z": 9}),
        (np.array(["x", "x", "y", "y", "y"]), [("y", 2), ("x", 1)]),
        ([None, None, 2.5, 2.5, 2.5], {None: 1, 2.5: 2}),
    ):
        feasible = sets.PartitionMatroid(groups, capacities)
        assert feasible.argmax(w).tolist() == [1, 2, 3]
        again = sets.from_spec(json.loads(json.dumps(feasible.to_spec())))
        assert again.argmax(w).tolist() == [1, 2, 3]
    assert sets.PartitionMatroid([0, 0, 1], 7).max_size == 3
    nothing = sets.PartitionMatroid([0, 0, 1], [0, 1])
    assert nothing.uncovered().tolist() == [0, 1]


def test_independent_sets_contain_but_what_is_worth_something() -> None:
    w = [0.0, 1.0, -0.0, -1.0]
    for feasible in (
        sets.GraphicMatroid([(0, 1), (1, 2), (2, 3), (3, 4)], bases=False),
        sets.LaminarMatroid(4, [([0, 1, 2], 2)], bases=False),
        sets.PartitionMatroid([0, 0, 0, 1], 2, bases=False),
        sets.Matroid(lambda items: True, 4, bases=False),
    ):
        assert feasible.argmax(w).tolist() == [1]
        assert feasible.restrict(include=[2, 3]).argmax(w).tolist() == [1, 2, 3]


def test_ties_go_to_the_lowest_numbers() -> None:
    assert sets.PartitionMatroid([0] * 300 + [1] * 4, 10).argmax(np.ones(304)).tolist() == [
        *range(10),
        *range(300, 304),
    ]
    assert sets.LaminarMatroid(4, [([1, 2, 3], 2)]).argmax([0.0] * 4).tolist() == [0, 1, 2]
    assert sets.Matroid(lambda items: items.size <= 2, 4).argmax([0.0, 1.0, 0.0, 0.0]).tolist() == [0, 1]
    assert sets.GraphicMatroid([(0, 1), (1, 0), (0, 1)]).argmax([1.0, 1.0, 1.0]).tolist() == [0]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: sets.PartitionMatroid([], 1), "number of items must be an integer >= 1, got 0"),
        (lambda: sets.PartitionMatroid("aab", 1), "groups must be a list"),
        (lambda: sets.PartitionMatroid(3, 1), "groups must be a list, the group of each item, got 3"),
        (lambda: sets.PartitionMatroid([0, [1]], 1), r"the group of item 1 must be a number or a string, got \[1\]"),
        (lambda: sets.PartitionMatroid([0, float("nan")], 1), "the group of item 1 must be"),
        (lambda: sets.PartitionMatroid([0, 2], [1, 1]), r"group 2 has no capacity in \[1, 1\]"),
        (lambda: sets.PartitionMatroid(["a"], {"b": 1}), "group 'a' has no capacity"),
        (lambda: sets.PartitionMatroid(["a"], "a"), "capacities must be an integer, a list or a mapping"),
        (lambda: sets.PartitionMatroid(["a"], [([], 1)]), "capacities must be an integer, a list or a mapping"),
        (lambda: sets.PartitionMatroid(["a"], -1), "capacity of group 'a' must be an integer >= 0, got -1"),
        (lambda: sets.PartitionMatroid(["a"], 1.0), "capacities must be an integer"),
        (lambda: sets.PartitionMatroid([0], [True]), "capacity of group 0 must be an integer >= 0, got True"),
        (lambda: sets.PartitionMatroid([0], 1, bases="no"), "bases must be True or False, got 'no'"),
        (lambda: sets.LaminarMatroid(0, []), "n_items must be an integer >= 1"),
        (lambda: sets.LaminarMatroid(3, 7), "families must be a list of pairs"),
        (lambda: sets.LaminarMatroid(3, [([0], 1), [0]]), r"family 1 must be a pair \(items, capacity\), got \[0\]"),
        (lambda: sets.LaminarMatroid(3, [([0, 0], 1)]), "items of family 0 must be distinct integers"),
        (lambda: sets.LaminarMatroid(3, [([0, 3], 1)]), "family 0 contains item 3, but items are 0 to 2"),
        (lambda: sets.LaminarMatroid(3, [([-1], 1)]), "family 0 contains item -1"),
        (lambda: sets.LaminarMatroid(3, [([0], -1)]), "capacity of family 0 must be an integer >= 0, got -1"),
        (lambda: sets.LaminarMatroid(3, [([0], 1.5)]), "capacity of family 0 must be an integer >= 0, got 1.5"),
        (
            lambda: sets.LaminarMatroid(5, [([4], 1), ([0, 1], 1), ([0, 1, 2], 2), ([2, 3], 1)]),
            "families 2 and 3 are neither nested nor disjoint: both contain item 2, and item 3 is only in family 3",
        ),
    ],
)
def test_bad_input(build: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        build()


def test_names() -> None:
    assert repr(sets.GraphicMatroid([(0, 1), (1, 2)])) == "GraphicMatroid(2 edges, 3 nodes)"
    assert repr(sets.GraphicMatroid([(0, 1)], bases=False)) == "GraphicMatroid(1 edges, 2 nodes, bases=False)"
    assert (
        repr(sets.PartitionMatroid([0, 1], 1).restrict(include=[0]))
        == "PartitionMatroid(2 items, 2 groups, restricted)"
    )
    assert repr(sets.LaminarMatroid(2, [])) == "LaminarMatroid(2 items, 0 families)"
    assert isinstance(sets.GraphicMatroid([(0, 1)]), Solved)
