"""Assignments against SciPy, networkx and brute force in exact arithmetic; names, bad input, measured data."""

import csv
import gzip
import itertools
import json
import os
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp

from semibandits import Problem, environments, sets
from semibandits.errors import EmptyFeasibleSet, InvalidSet, UnknownItem
from semibandits.kernel import compiled
from semibandits.sets.base import WarmOracle
from semibandits.sets.programs.program import Program
from semibandits.types import FeasibleSet, Weights, total

SHAPES = [(1, 1), (1, 6), (6, 1), (7, 7), (5, 9), (9, 5), (16, 16), (23, 31), (40, 40), (8, 64)]


def matrix_of(feasible: sets.Assignment, weights: Weights) -> Weights:
    matrix = np.full((feasible.n_rows, feasible.n_columns), -np.inf)
    matrix[tuple(feasible.pairs.T)] = weights
    return matrix


def draws(rng: np.random.Generator, n: int) -> list[Weights]:
    return [
        rng.random(n),
        -rng.random(n),
        rng.integers(-2, 3, n).astype(np.float64),
        (rng.random(n) < 0.2).astype(np.float64),
        rng.choice([1e9, -1e9, 1e-12, 0.0, 1.0], n),
        np.ones(n),
        rng.normal(size=n) * 1e120,
    ]


def forbidding(rng: np.random.Generator, rows: int, columns: int, share: float) -> list[tuple[int, int]]:
    """Forbidden pairs that leave a solution."""
    hit = rng.random((rows, columns)) < share
    size = min(rows, columns)
    hit[rng.permutation(rows)[:size], rng.permutation(columns)[:size]] = False
    return [(int(i), int(j)) for i, j in np.argwhere(hit)]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("shape", SHAPES)
def test_scipy_finds_no_better_one(shape: tuple[int, int], share: float) -> None:
    rng = np.random.default_rng([*shape, int(10 * share)])
    forbidden = forbidding(rng, *shape, share)
    feasible = sets.Assignment(*shape, forbidden=forbidden)
    assert feasible.max_size == min(shape)
    for w in draws(rng, feasible.n_items):
        items = feasible.argmax(w)
        assert feasible.contains(items)
        pairs = [tuple(pair) for pair in feasible.pairs[items].tolist()]
        assert not set(pairs) & set(forbidden)
        assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == min(shape)
        matrix = matrix_of(feasible, w)
        best = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
        assert total(w, items) == pytest.approx(best, rel=1e-9, abs=1e-12 * np.abs(w).max())


def test_large_and_compiled() -> None:
    rng = np.random.default_rng(1)
    feasible = sets.Assignment(150, 150, forbidden=forbidding(rng, 150, 150, 0.4))
    solver = feasible.solver()
    code = compiled(solver.function)
    numbers, integers = np.full(solver.numbers, np.nan), np.full(solver.integers, -7)
    for w in draws(rng, feasible.n_items):
        out = np.full(150, -1)
        assert code(w, out, solver.data, numbers, integers) == 150
        assert feasible.contains(out)
        matrix = matrix_of(feasible, w)
        best = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
        assert total(w, out) == pytest.approx(best, rel=1e-9, abs=1e-12 * np.abs(w).max())
    assert WarmOracle(solver, 150)._plain(w).tolist() == out.tolist()


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (5, 9), (12, 7)])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_networkx_finds_no_better_matching(shape: tuple[int, int], share: float) -> None:
    rng = np.random.default_rng([*shape, 3])
    hit = rng.random(shape) < share
    hit[0, 0] = False
    feasible = sets.Assignment(*shape, forbidden=np.argwhere(hit), optional=True)
    edges = [(f"r{i}", f"c{j}") for i, j in feasible.pairs.tolist()]
    assert feasible.max_size == len(nx.max_weight_matching(nx.Graph(edges), maxcardinality=True))
    for w in draws(rng, feasible.n_items):
        items = feasible.argmax(w)
        assert feasible.contains(items)
        assert (w[items] > 0.0).all()
        graph = nx.Graph()
        graph.add_weighted_edges_from((*edge, x) for edge, x in zip(edges, w.tolist(), strict=True))
        best = sum(graph.edges[edge]["weight"] for edge in nx.max_weight_matching(graph))
        assert total(w, items) == pytest.approx(best, rel=1e-9, abs=1e-12 * np.abs(w).max())


def test_weights_of_mixed_size_against_exact_arithmetic() -> None:
    rng = np.random.default_rng(4)
    sizes = np.array([1e9, 1.0, 1e-3, 1e-12])
    for trial in range(150):
        rows, columns = (4, 4) if trial % 2 else (3, 5)
        feasible = sets.Assignment(rows, columns)
        w = rng.normal(size=feasible.n_items) * rng.choice(sizes, feasible.n_items)
        if trial % 3 == 0:
            w = np.where(rng.random(w.size) < 0.5, np.sign(w) * 1e9, w)
        exact = [Fraction(x) for x in w.tolist()]
        choices = itertools.permutations(range(columns), rows)
        best = max(sum(exact[i * columns + j] for i, j in enumerate(one)) for one in choices)
        got = sum(exact[item] for item in feasible.argmax(w).tolist())
        assert 0 <= best - got <= Fraction(np.abs(w).max()) * Fraction(4e-15)


@pytest.mark.parametrize(
    "feasible",
    [
        sets.Assignment(8, 8),
        sets.Assignment(6, 9, forbidden=[(i, i) for i in range(6)]),
        sets.Assignment(9, 6, forbidden=[(8, j) for j in range(6)] + [(0, 1), (1, 0)]),
        sets.Assignment(7, 5, optional=True, forbidden=[(0, 0), (3, 3)]),
        sets.Assignment(7, 7).restrict(include=[3, 12], exclude=[0, 16, 24, 48]),
    ],
    ids=repr,
)
def test_best_with_each_is_one_restricted_call_each(feasible: sets.Assignment) -> None:
    for w in draws(np.random.default_rng(5), feasible.n_items):
        expected = FeasibleSet.best_with_each(feasible, w)
        got = feasible.best_with_each(w)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13 * np.abs(w).max())
        np.testing.assert_array_equal(got[items := feasible.argmax(w)], np.full(items.size, total(w, items)))
        assert got.max() <= total(w, items)
    np.testing.assert_array_equal(feasible.uncovered(), np.flatnonzero(np.isinf(expected)))


def test_rounding_does_not_add_up_in_best_with_each() -> None:
    """All assignments of the pairs that are not lowered are tied but for rounding, and exchanges among them many."""
    feasible = sets.Assignment(70, 70)
    for seed, scale in enumerate((1.0, 10.0, 1000.0)):
        rng = np.random.default_rng(seed)
        lowered = np.where(rng.random(4900) < 0.5, 0.5, 0.0)
        rows, columns = rng.random(70), rng.random(70)
        w = np.add.outer(rows - rows.mean(), columns - columns.mean()).ravel() * scale - lowered  # the best is near 0
        best = total(w, feasible.argmax(w))
        got = feasible.best_with_each(w)
        assert got.max() == best
        np.testing.assert_allclose(best - got, lowered, atol=1e-12 * scale)


def test_best_with_each_of_huge_weights() -> None:
    feasible = sets.Assignment(2, 3)
    small = np.array([0.5, 0.25, -0.5, 0.5, 0.0, 0.25])
    with np.errstate(over="ignore"):
        expected = feasible.best_with_each(small) * 2.0**1023 * 2.0
    np.testing.assert_array_equal(feasible.best_with_each(small * 2.0**1023 * 2.0), expected)


def test_a_program_solver_agrees() -> None:
    rng = np.random.default_rng(6)
    for optional in (False, True):
        for rows, columns in ((4, 4), (3, 6), (6, 3)):
            feasible = sets.Assignment(rows, columns, forbidden=[(0, 1), (2, 2)], optional=optional)
            for part in (feasible, feasible.restrict(include=[3], exclude=[0, 7])):
                program = Program.of(part)
                w = rng.normal(size=part.n_items)
                rows_hold = LinearConstraint(program.rows().matrix, program.row_lower, program.row_upper)
                found = milp(-w, constraints=rows_hold, bounds=Bounds(program.lower, program.upper), integrality=1)
                assert total(w, part.argmax(w)) == pytest.approx(-found.fun, abs=1e-9)


def test_gaps_with_many_ties() -> None:
    """Every assignment that takes the bad pair is worse, all others are tied."""
    means = np.full(64, 0.5)
    means[9] = 0.25
    problem = Problem(sets.Assignment(8, 8), environments.Bernoulli(means))
    assert problem.min_gap == 0.25
    assert set(problem.item_gaps[~np.isnan(problem.item_gaps)].tolist()) == {0.25, np.inf}
    flat = Problem(sets.Assignment(30, 30), environments.Bernoulli([0.5] * 900))
    assert flat.min_gap == np.inf


def test_names_and_labels() -> None:
    feasible = sets.Assignment(["a", "b"], np.array(["x", "y", "z"]), forbidden=[("a", "y"), (1, 2), ["b", 2]])
    assert feasible.labels == ("a:x", "a:z", "b:x", "b:y")
    assert feasible.pairs.tolist() == [[0, 0], [0, 2], [1, 0], [1, 1]]
    assert feasible.pairs.dtype == np.int64
    assert (feasible.n_rows, feasible.n_columns) == (2, 3)
    assert (feasible.row_names, feasible.column_names) == (("a", "b"), ("x", "y", "z"))
    assert feasible.item("b", "x") == feasible.item(1, 0) == feasible.item(np.int64(1), "x") == 2
    assert repr(feasible) == "Assignment(2 x 3, 2 forbidden)"
    assert repr(feasible.restrict(exclude=[3])) == "Assignment(2 x 3, 2 forbidden, restricted)"
    assert repr(sets.Assignment(2, 3, optional=True)) == "Assignment(2 x 3, optional)"
    for row, column in [("a", "y"), (1, 2), ("c", "x"), ("a", "w"), (2, 0), (-1, 0), (True, 0), (None, 0), ([], 0)]:
        with pytest.raises(UnknownItem, match="forbidden" if row in ("a", 1) and column in ("y", 2) else "there is no"):
            feasible.item(row, column)
    plain = sets.Assignment(3, 4)
    assert plain.labels == ()
    assert (plain.row_names, plain.column_names) == ((0, 1, 2), (0, 1, 2, 3))
    assert plain.item(2, 3) == 11
    assert sets.Assignment(2, ["u", "v"]).labels == ("0:u", "0:v", "1:u", "1:v")
    assert sets.Assignment(["a", "a:b"], ["b:c", "c"]).labels == ("a:b:c", "a:c", "a:b:b:c", "a:b:c #2")
    with pytest.raises(ValueError, match="read-only"):
        plain.pairs[0, 0] = 1


def test_names_that_are_numbers_are_no_indices() -> None:
    feasible = sets.Assignment([1, 0, 7.5], 3, forbidden=[(0, 2)])
    assert feasible.item(1, 0) == 0
    assert feasible.item(0, 0) == 3
    assert feasible.item(7.5, 0) == 5
    assert feasible.labels[-1] == "7.5:2"
    with pytest.raises(UnknownItem, match=r"there is no row 2: rows 1, 0, 7\.5"):
        feasible.item(2, 0)


def test_the_constructor_takes_what_json_gives_back() -> None:
    for feasible in (
        sets.Assignment(3, 4, forbidden=[(0, 1)]),
        sets.Assignment(["a", 2, 0.5], [3, "b"], forbidden={("a", 3), (2, "b")}, optional=True),
    ):
        again = sets.Assignment(**json.loads(json.dumps(feasible._parameters())))
        assert again._parameters() == feasible._parameters()
        assert (again.labels, again.pairs.tolist()) == (feasible.labels, feasible.pairs.tolist())
        restricted = feasible.restrict(exclude=[0])
        w = np.random.default_rng(7).random(feasible.n_items)
        made = sets.from_spec(json.loads(json.dumps(restricted.to_spec())))
        assert made.argmax(w).tolist() == restricted.argmax(w).tolist()


BAD: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    ((0, 3), {}, "rows must be an integer >= 1, got 0"),
    ((3, True), {}, "columns must be an integer >= 1, got True"),
    (("abc", 3), {}, "rows must be an integer >= 1 or a list of names, got 'abc'"),
    ((2.0, 3), {}, "rows must be an integer >= 1 or a list of names, got 2.0"),
    (([], 3), {}, "the number of rows must be an integer >= 1, got 0"),
    ((2, ["a", "a"]), {}, "columns must be distinct, got 'a' twice"),
    ((2, [1, 1.0]), {}, "columns must be distinct, got 1.0 twice"),
    ((2, [1, "1"]), {}, "columns must be distinct, got '1' twice"),
    ((2, ["a", ""]), {}, "columns must be numbers or printable strings, got ''"),
    ((2, ["a\n"]), {}, "columns must be numbers or printable strings"),
    ((2, [None]), {}, "columns must be numbers or printable strings, got None"),
    ((2, [float("nan")]), {}, "columns must be numbers or printable strings, got nan"),
    ((2, [True]), {}, "columns must be numbers or printable strings, got True"),
    ((2, 2), {"optional": 1}, "optional must be True or False, got 1"),
    ((2, 2), {"forbidden": 3}, r"list of pairs \(row, column\), got 3"),
    ((2, 2), {"forbidden": "ab"}, r"list of pairs \(row, column\), got 'ab'"),
    ((2, 2), {"forbidden": [3]}, r"list of pairs \(row, column\), got 3 in it"),
    ((2, 2), {"forbidden": [(0, 1, 1)]}, r"got \(0, 1, 1\) in it"),
    ((2, 2), {"forbidden": [(2, 0)]}, r"forbidden pair \(2, 0\) names no row: there is no 2"),
    ((2, 2), {"forbidden": [(0, -1)]}, r"names no column: there is no -1"),
    ((2, 2), {"forbidden": [(0, "b")]}, r"names no column: there is no 'b'"),
    ((1, 2), {"forbidden": [(0, 0), (0, 1)], "optional": True}, "all 1 x 2 pairs are forbidden"),
]


@pytest.mark.parametrize(("arguments", "options", "words"), BAD)
def test_bad_input(arguments: tuple[Any, ...], options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSet, match=words):
        sets.Assignment(*arguments, **options)


def test_nothing_feasible_says_which_rows() -> None:
    names = ["ann", "bob", "cid", "dan"]
    with pytest.raises(EmptyFeasibleSet, match=r"rows 'ann', 'cid' must have 2 of the columns in all, .* at most 1"):
        sets.Assignment(names, 4, forbidden=[("ann", 1), ("ann", 2), ("ann", 3), ("cid", 1), ("cid", 2), ("cid", 3)])
    with pytest.raises(EmptyFeasibleSet, match="column 1 must have 1 of the rows in all, but can have at most 0"):
        sets.Assignment(3, 2, forbidden=[(0, 1), (1, 1), (2, 1)])
    with pytest.raises(EmptyFeasibleSet, match="row 0 must have 1 of the columns in all, but can have at most 0"):
        sets.Assignment(1, 1, forbidden=[(0, 0)])
    feasible = sets.Assignment(2, 2)
    with pytest.raises(EmptyFeasibleSet, match=r"no solution with items \[0, 1\]: row 0 would be used 2 times"):
        feasible.restrict(include=[0, 1])
    with pytest.raises(EmptyFeasibleSet, match="both demanded and excluded"):
        feasible.restrict(include=[0], exclude=[0])
    with pytest.raises(EmptyFeasibleSet, match=r"without items \[1, 3\]: rows 0, 1 must have 2 of the columns"):
        feasible.restrict(exclude=[1, 3])
    with pytest.raises(EmptyFeasibleSet, match="row 1 must have 1 of the columns in all, but can have at most 0"):
        feasible.restrict(include=[0]).restrict(exclude=[3])


def test_the_smallest_ones() -> None:
    one = sets.Assignment(1, 1)
    assert one.argmax([-3.0]).tolist() == [0]
    assert one.restrict(include=[0]).argmax([-3.0]).tolist() == [0]
    maybe = sets.Assignment(1, 1, optional=True)
    assert maybe.argmax([0.0]).tolist() == []
    assert maybe.argmax([1e-300]).tolist() == [0]
    assert maybe.restrict(include=[0]).argmax([-3.0]).tolist() == [0]
    assert maybe.restrict(exclude=[0]).argmax([3.0]).tolist() == []
    assert maybe.restrict(exclude=[0]).uncovered().tolist() == [0]
    assert sets.Assignment(1, 4).argmax([1.0, 3.0, 3.0, 2.0]).tolist() == [1]
    assert sets.Assignment(4, 1).argmax([1.0, 3.0, 2.0, 2.0]).tolist() == [1]
    assert sets.Assignment(3, 3).argmax(np.zeros(9)).size == 3
    crossed = sets.Assignment(3, 3, forbidden=[(0, 1), (0, 2), (1, 2)])  # one solution is left
    assert crossed.argmax(np.zeros(6)).tolist() == [0, 2, 5]
    assert crossed.uncovered().tolist() == [1, 3, 4]


def test_channels_of_measured_links() -> None:
    folder = os.environ.get("SEMIBANDITS_DATA")
    path = Path(folder or ".") / "wireless_k7" / "strasbourg_1.k7.gz"
    if not folder or not path.is_file():
        pytest.skip("SEMIBANDITS_DATA names no folder with wireless_k7/strasbourg_1.k7.gz")
    delivered: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(path, "rt") as lines:
        next(lines)  # a header in JSON
        for row in csv.DictReader(lines):
            delivered[int(row["src"]), int(row["dst"])][int(row["channel"])].append(float(row["pdr"]))
    links = sorted(delivered)[:16]
    channels = sorted(delivered[links[0]])
    assert max(len(delivered[link][channel]) for link in links for channel in channels) == 256
    feasible = sets.Assignment([f"{a}>{b}" for a, b in links], channels)
    assert feasible.n_items == 256
    means = np.array([sum(delivered[link][channel]) / 256 for link in links for channel in channels])
    problem = Problem(feasible, environments.Table(means[None, :]))
    assert problem.value(problem.optimum) == pytest.approx(15.80, abs=0.005)
    assert problem.value(problem.optimum) - problem.max_gap == pytest.approx(12.85, abs=0.005)
    assert 0.0 < problem.min_gap < 0.1
