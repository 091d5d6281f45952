"""b-matchings against network simplex, HiGHS, and one restricted call per item; capacities in every form, bad input."""

import json
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from semibandits import Problem, environments, sets
from semibandits.errors import EmptyFeasibleSet, InvalidSet
from semibandits.kernel import compiled
from semibandits.sets.base import WarmOracle
from semibandits.sets.programs.program import Program
from semibandits.types import FeasibleSet, Weights, total


def instance(seed: int, optional: bool, share: float = 0.3) -> sets.BMatching:
    """A random one; where the side to fill cannot be filled, its capacities are lowered to what some solution has."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 9, 2).tolist()
    hit = rng.random((rows, columns)) < share
    hit[0, 0] = False
    per_row, per_column = rng.integers(0, 4, rows), rng.integers(0, 4, columns)
    if not optional:
        chosen = sets.BMatching(rows, columns, per_row, per_column, forbidden=np.argwhere(hit), optional=True)
        used = chosen.pairs[chosen.argmax(rng.random(chosen.n_items))]
        if per_row.sum() <= per_column.sum():
            per_row = np.bincount(used[:, 0], minlength=rows)
        else:
            per_column = np.bincount(used[:, 1], minlength=columns)
            per_row += per_row.sum() <= per_column.sum()
    return sets.BMatching(rows, columns, per_row, per_column.tolist(), forbidden=np.argwhere(hit), optional=optional)


def draws(rng: np.random.Generator, n: int) -> list[Weights]:
    return [
        rng.random(n),
        rng.normal(size=n),
        rng.integers(-2, 3, n).astype(np.float64),
        rng.choice([1e9, -1e9, 1e-12, 0.0, 1.0], n),
        np.ones(n),
        -np.ones(n),
        rng.normal(size=n) * 1e120,
    ]


def flow_value(feasible: sets.BMatching, weights: list[int]) -> int:
    """The best value by network simplex, whole weights being exact there."""
    graph = nx.DiGraph()
    size = None if feasible.optional else feasible.max_size
    graph.add_node("s", demand=-(size or 0))
    graph.add_node("t", demand=size or 0)
    if feasible.optional:
        graph.add_edge("t", "s", capacity=10**6, weight=0)
    for i, most in enumerate(feasible.row_capacities):
        graph.add_edge("s", ("r", i), capacity=most, weight=0)
    for j, most in enumerate(feasible.column_capacities):
        graph.add_edge(("c", j), "t", capacity=most, weight=0)
    for (i, j), x in zip(feasible.pairs.tolist(), weights, strict=True):
        graph.add_edge(("r", i), ("c", j), capacity=1, weight=-x)
    return -nx.network_simplex(graph)[0]


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_network_simplex_finds_no_better_one(seed: int, optional: bool) -> None:
    feasible = instance(seed, optional)
    rng = np.random.default_rng([seed, 1])
    for low, high in ((-50, 50), (0, 2), (-3, 0), (10**6, 10**8)):
        w = rng.integers(low, high + 1, feasible.n_items)
        items = feasible.argmax(w)
        assert feasible.contains(items)
        assert int(w[items].sum()) == flow_value(feasible, w.tolist())
        if optional:
            assert (w[items] > 0).all()


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_program_solver_agrees(seed: int, optional: bool) -> None:
    feasible = instance(seed, optional)
    rng = np.random.default_rng([seed, 2])
    items = feasible.argmax(rng.random(feasible.n_items))
    parts = [feasible]
    if items.size:
        parts.append(feasible.restrict(include=items[:1], exclude=np.setdiff1d([0, 1], items)))
    for part in parts:
        program = Program.of(part)
        w = rng.normal(size=part.n_items)
        rows_hold = LinearConstraint(program.rows().matrix, program.row_lower, program.row_upper)
        found = milp(-w, constraints=rows_hold, bounds=Bounds(program.lower, program.upper), integrality=1)
        assert total(w, part.argmax(w)) == pytest.approx(-found.fun, abs=1e-9)
        assert part.contains(np.flatnonzero(found.x > 0.5))


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_best_with_each_is_one_restricted_call_each(seed: int, optional: bool) -> None:
    feasible = instance(seed, optional)
    for w in draws(np.random.default_rng([seed, 3]), feasible.n_items):
        expected = FeasibleSet.best_with_each(feasible, w)
        got = feasible.best_with_each(w)
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-13 * np.abs(w).max())
    np.testing.assert_array_equal(feasible.uncovered(), np.flatnonzero(np.isinf(expected)))


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("shape", [(5, 5), (4, 7), (7, 4)])
def test_capacities_of_one_are_assignments(shape: tuple[int, int], optional: bool) -> None:
    forbidden = [(0, 0), (1, 2)]
    assignment = sets.Assignment(*shape, forbidden=forbidden, optional=optional)
    feasible = sets.BMatching(*shape, 1, [1] * shape[1], forbidden=forbidden, optional=optional)
    assert feasible.max_size == assignment.max_size
    for w in draws(np.random.default_rng(4), feasible.n_items):
        best = total(w, assignment.argmax(w))
        assert total(w, feasible.argmax(w)) == pytest.approx(best, rel=1e-12, abs=1e-13 * np.abs(w).max())


@pytest.mark.parametrize("optional", [False, True])
def test_large_and_compiled(optional: bool) -> None:
    rng = np.random.default_rng(5)
    feasible = sets.BMatching(60, 45, 3, 5, forbidden=[(i, i) for i in range(45)], optional=optional)
    assert feasible.max_size == 180
    solver = feasible.solver()
    code = compiled(solver.function)
    numbers, integers = np.full(solver.numbers, np.nan), np.full(solver.integers, -7)
    for low, high in ((-300, 700), (0, 1)):
        w = rng.integers(low, high + 1, feasible.n_items).astype(np.float64)
        out = np.full(180, -1)
        items = out[: code(w, out, solver.data, numbers, integers)]
        assert feasible.contains(items)
        assert total(w, items) == flow_value(feasible, w.astype(int).tolist())
        assert WarmOracle(solver, 180)._plain(w).tolist() == items.tolist()


def test_which_side_is_filled() -> None:
    rows = sets.BMatching(2, 3, [2, 1], 1)  # totals 3 and 3
    assert rows.max_size == 3
    columns = sets.BMatching(2, 3, 3, [1, 0, 2])  # totals 6 and 3
    assert columns.max_size == 3
    for items in (columns.argmax(np.arange(6)), columns.argmax(-np.arange(6))):
        assert np.bincount(columns.pairs[items, 1], minlength=3).tolist() == [1, 0, 2]
    assert columns.uncovered().tolist() == [1, 4]
    assert not columns.contains([0, 2])
    assert sets.BMatching(2, 3, 3, [1, 0, 2], optional=True).contains([0, 2])


def test_capacities_beyond_all_there_are() -> None:
    feasible = sets.BMatching(2, 3, 10**30, 1)
    assert feasible.max_size == 3
    assert feasible.argmax([1, 2, 3, 3, 2, 1]).size == 3
    everything = sets.BMatching(2, 3, 10**30, 10**30, optional=True)
    assert everything.max_size == 6
    assert everything.argmax([1, -2, 3, 0, 5, 6]).tolist() == [0, 2, 4, 5]
    assert everything._parameters()["row_capacities"] == [10**30] * 2
    with pytest.raises(EmptyFeasibleSet, match=f"row 0 must have {10**30} columns, but there are 3"):
        sets.BMatching(2, 3, 10**30, 10**30)


def test_nothing_to_choose() -> None:
    for optional in (False, True):
        none = sets.BMatching(2, 2, 0, 1, optional=optional)
        assert none.max_size == 0
        assert none.argmax([1.0, 2.0, 3.0, 4.0]).tolist() == []
        assert none.contains([])
        assert not none.contains([0])
        assert none.uncovered().tolist() == [0, 1, 2, 3]
        with pytest.raises(EmptyFeasibleSet, match="row 0 would be used 1 times, more than its capacity"):
            none.restrict(include=[0])


def test_names_and_json() -> None:
    feasible = sets.BMatching(["a", "b"], [10, 20], [1, 2], 2, forbidden=[("a", 20)], optional=True)
    assert feasible.labels == ("a:10", "b:10", "b:20")
    assert feasible.item("b", 20) == 2
    assert (feasible.row_capacities, feasible.column_capacities) == ((1, 2), (2, 2))
    assert repr(feasible) == "BMatching(2 x 2, 1 forbidden, optional)"
    again = sets.BMatching(**json.loads(json.dumps(feasible._parameters())))
    assert again._parameters() == feasible._parameters()
    made = sets.from_spec(json.loads(json.dumps(feasible.restrict(exclude=[0]).to_spec())))
    assert made.argmax([3.0, 2.0, 1.0]).tolist() == [1, 2]


def test_gaps_with_many_ties() -> None:
    means = np.full(30, 0.5)
    means[7] = 0.25
    problem = Problem(sets.BMatching(5, 6, 2, 2), environments.Bernoulli(means))
    assert problem.min_gap == 0.25
    assert set(problem.item_gaps[~np.isnan(problem.item_gaps)].tolist()) == {0.25}


def test_a_worse_solution_may_differ_in_nothing_but_what_is_left_free() -> None:
    """Rows 0 and 1 may swap columns 0 and 1 for nothing; worse is only to leave column 0 free."""
    feasible = sets.BMatching(3, 3, 1, [1, 2, 1], forbidden=[(0, 2), (1, 2), (2, 0), (2, 1)])
    w = np.array([1.0, 0.5, 1.0, 0.5, 0.25])
    assert feasible.best_with_each(w).tolist() == [1.75] * 5
    assert feasible.runner_up_with_each(w, 1e-12).tolist() == [-np.inf, 1.25, -np.inf, 1.25, 1.25]


BAD: list[tuple[tuple[Any, ...], str]] = [
    ((2, 2, -1, 1), "row_capacities must be integers >= 0, got -1"),
    ((2, 2, 1, [1, 1.5]), r"column_capacities must be integers >= 0, got 1\.5"),
    ((2, 2, 1, [1, True]), "column_capacities must be integers >= 0, got True"),
    ((2, 2, True, 1), "row_capacities must be integers >= 0, got True"),
    ((2, 3, 1, [1, 1]), "column_capacities must be 3 integers, one each, got 2"),
    ((2, 3, "12", 1), "row_capacities must be an integer >= 0, a list of them or a mapping, got '12'"),
    ((2, 3, 2.0, 1), r"row_capacities must be an integer >= 0, a list of them or a mapping, got 2\.0"),
    ((0, 3, 1, 1), "rows must be an integer >= 1, got 0"),
    ((2, 3, {1, 2}, 1), "row_capacities must be an integer >= 0, a list of them or a mapping, got"),
    ((["x", "y"], 3, {"x": 1, "z": 2}, 1), "row_capacities must have one of each of the rows, by name, got"),
    ((2, [1, 2], 1, {0: 1, 1: 1}), "column_capacities must have one of each of the columns, by name, got"),
]


def test_capacities_go_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    for capacities in ({"y": 2, "x": 1}, pandas.Series({"y": 2, "x": 1}), {1: 2, 0: 1}):
        assert sets.BMatching(["x", "y"], [8, 9], capacities, {9: 1, 8: 2}).row_capacities == (1, 2)
        assert sets.BMatching(["x", "y"], [8, 9], capacities, {9: 1, 8: 2}).column_capacities == (2, 1)
    assert sets.BMatching(2, 2, {1: 2, 0: 1}, 1).row_capacities == (1, 2)


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(InvalidSet, match=words):
        sets.BMatching(*arguments)


def test_nothing_feasible_says_which_lines() -> None:
    with pytest.raises(EmptyFeasibleSet, match="row 0 must have 3 columns, but there are 2"):
        sets.BMatching(2, 2, [3, 0], 2)
    with pytest.raises(EmptyFeasibleSet, match=r"columns 'x', 'y' must have 4 of the rows in all, .* at most 3"):
        sets.BMatching(3, ["x", "y"], [1, 1, 5], 2, forbidden=[(2, "y")])
    with pytest.raises(EmptyFeasibleSet, match="row 0 must have 1 of the columns in all, but can have at most 0"):
        sets.BMatching(1, 1, 1, 1, forbidden=[(0, 0)])
    with pytest.raises(InvalidSet, match="all 1 x 1 pairs are forbidden"):
        sets.BMatching(1, 1, 0, 1, forbidden=[(0, 0)])
