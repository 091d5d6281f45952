"""Gaps against enumeration, tied optima and solutions inside the optimum included."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Problem, environments, errors, problems, sets
from support.families import FAMILIES
from support.reference import value

families = pytest.mark.parametrize("family", FAMILIES)
eighths = st.integers(0, 8).map(lambda i: i / 8)  # exact sums, many ties


@families
@pytest.mark.parametrize("sense", ["max", "min"])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_gaps_equal_enumeration(family: str, sense: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    if feasible.ratio < 1.0 or (sense == "max" and not feasible.signed):
        return
    means = data.draw(st.lists(eighths, min_size=feasible.n_items, max_size=feasible.n_items))
    problem = Problem(feasible, environments.Bernoulli(means), sense=sense)  # type: ignore[arg-type]
    best = (max if sense == "max" else min)(value(one, means) for one in solutions)
    gaps = {one: abs(best - value(one, means)) for one in solutions}
    optimum = tuple(problem.optimum.tolist())
    assert gaps[optimum] == 0.0
    assert problem.gap(optimum) == 0.0
    for one, gap in gaps.items():
        assert problem.gap(one) == pytest.approx(gap, abs=1e-12)
        assert problem.value(one) == pytest.approx(value(one, means), abs=1e-12)
    for item in range(feasible.n_items):
        if item in optimum:
            assert math.isnan(problem.item_gaps[item])
        else:
            expected = min((gap for one, gap in gaps.items() if item in one and gap > 0), default=math.inf)
            assert problem.item_gaps[item] == pytest.approx(expected, abs=1e-12)
    assert problem.min_gap == pytest.approx(min((gap for gap in gaps.values() if gap > 0), default=math.inf), abs=1e-12)
    if feasible.signed:
        assert problem.max_gap == pytest.approx(max(gaps.values()), abs=1e-12)


def test_solutions_inside_and_around_tied_optima() -> None:
    feasible = sets.Enumerated([[0, 1, 2], [0, 1], [0, 1, 3], [3], [4]])
    problem = Problem(feasible, environments.Bernoulli([0.25, 0.5, 0.125, 0.125, 0.25]))
    assert problem.optimum.tolist() == [0, 1, 2]
    assert problem.min_gap == 0.125  # [0, 1], inside the optimum
    np.testing.assert_array_equal(problem.item_gaps, [np.nan, np.nan, np.nan, 0.75, 0.625])


def test_a_great_many_tied_optima(monkeypatch: pytest.MonkeyPatch) -> None:
    tied = Problem(sets.TopK(100, 50), environments.Bernoulli([0.5] * 60 + [0.25] * 40))
    np.testing.assert_array_equal(tied.item_gaps[50:], [0.25] * 50)
    assert tied.min_gap == 0.25
    flat = Problem(sets.GridPaths(12), environments.Bernoulli([0.5] * 311 + [0.25]))
    assert flat.optimum.size == 24
    assert set(flat.item_gaps[~np.isnan(flat.item_gaps)]) == {0.25, np.inf}  # inf: no way from there to the last edge
    solver = Problem(sets.Oracle(sets.TopK(30, 15).argmax, 30, 15), environments.Bernoulli([0.5] * 29 + [0.25]))
    monkeypatch.setattr("semibandits.problem.SEARCH_LIMIT", 500)
    with pytest.raises(errors.Unsupported, match="tied with the optimum that 500 were not enough"):
        _ = solver.item_gaps


def test_gaps_of_long_paths_are_quick() -> None:
    chain = Problem(sets.DagPaths([(i, i + 1) for i in range(3000)], 0, 3000), environments.Bernoulli([0.5] * 3000))
    assert chain.min_gap == math.inf
    assert problems.k_path(4000, 1000, 0.5).min_gap == pytest.approx(0.5)


def test_the_empty_solution_has_a_gap_too() -> None:
    problem = Problem(sets.Enumerated([[], [0]]), environments.Bernoulli([0.25]))
    assert (problem.min_gap, problem.max_gap) == (0.25, 0.25)


def test_every_solution_optimal() -> None:
    problem = Problem(sets.TopK(3, 2), environments.Bernoulli([0.5, 0.5, 0.5]))
    assert problem.min_gap == math.inf
    assert problem.max_gap == 0.0
    np.testing.assert_array_equal(problem.item_gaps, [np.nan, np.nan, np.inf])


@pytest.mark.parametrize("m", [1, 2, 3, 4])
@pytest.mark.parametrize("sigma", [0.8, 0.4, 0.2])
def test_grid_path_as_in_section_7(m: int, sigma: float) -> None:
    problem = problems.grid_path(m, sigma)
    assert problem.n_items == 2 * m * (m + 1)
    assert problem.max_size == 2 * m
    left_and_bottom = {item for item, mean in enumerate(problem.means) if mean > 0.5}
    assert set(problem.optimum.tolist()) == left_and_bottom
    assert len(left_and_bottom) == 2 * m
    gaps = problem.item_gaps[~np.isnan(problem.item_gaps)]
    assert gaps.size == 2 * m * (m + 1) - 2 * m
    multiples = np.round(gaps / sigma).astype(int)
    np.testing.assert_allclose(gaps, multiples * sigma, rtol=1e-12)
    assert multiples.min() == 2
    assert multiples.max() == 2 * m
    for i in range(2, 2 * m + 1):
        assert (multiples == i).sum() <= 2 * (i - 1)
    assert problem.min_gap == pytest.approx(2 * sigma)
    assert problem.max_gap == pytest.approx(2 * m * sigma)


def test_grid_numbering() -> None:
    grid = sets.GridPaths(2)
    assert grid.edges[:5] == [((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 1), (1, 1)), ((0, 2), (1, 2))]
    assert grid.edges[-1] == ((2, 1), (2, 2))


@pytest.mark.parametrize(("n_items", "k", "gap"), [(6, 2, 0.5), (12, 3, 0.9), (5, 1, 0.1)])
def test_k_path_as_in_section_6(n_items: int, k: int, gap: float) -> None:
    problem = problems.k_path(n_items, k, gap)
    assert problem.optimum.tolist() == list(range(k))
    np.testing.assert_allclose(problem.item_gaps[k:], gap)
    np.testing.assert_allclose(problem.means[:k], 0.5)
    np.testing.assert_allclose(problem.means[k:], 0.5 - gap / k)
    for path in range(0, n_items, k):
        weights = [problem.environment.weights(1, key)[path : path + k] for key in range(50)]
        assert all(len(set(row)) == 1 for row in weights)


def test_bad_input() -> None:
    coins = environments.Bernoulli([0.5, 0.5])
    with pytest.raises(errors.BadArgument, match="set has 3 items, the environment 2"):
        Problem(sets.TopK(3, 1), coins)
    with pytest.raises(errors.BadArgument, match="got 'best'"):
        Problem(sets.TopK(2, 1), coins, sense="best")  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match=r"FeasibleSet, .*, got \[\[0\]\]"):
        Problem([[0]], coins)  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match="Environment, got"):
        Problem(sets.TopK(2, 1), [0.5, 0.5])  # type: ignore[arg-type]
    problem = Problem(sets.TopK(2, 1), coins)
    with pytest.raises(errors.InfeasibleSolution, match=r"\[0, 1\] is not a solution of TopK"):
        problem.gap([0, 1])
    with pytest.raises(errors.UnknownItem, match="item 5"):
        problem.gap([5])
    for sigma in (0.0, 1.0, -0.1, float("nan")):
        with pytest.raises(errors.BadArgument, match="sigma"):
            problems.grid_path(2, sigma)
    for gap in (0.0, 1.0, float("nan")):
        with pytest.raises(errors.BadArgument, match="gap"):
            problems.k_path(4, 2, gap)


def test_approximate_and_unsigned_oracles_say_what_they_cannot() -> None:
    costs = environments.Uniform([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    rough = Problem(sets.Oracle(sets.TopK(3, 1).argmax, 3, 1, ratio=0.5), costs)
    with pytest.raises(errors.Unsupported, match=r"ratio=0\.5"):
        _ = rough.item_gaps
    unsigned = sets.Oracle(sets.TopK(3, 1).argmax, 3, 1, signed=False)
    problem = Problem(unsigned, costs, sense="min")
    assert problem.optimum.tolist() == [0]
    with pytest.raises(errors.Unsupported, match="weights <= 0"):
        _ = problem.max_gap
    with pytest.raises(errors.BadArgument, match="needs weights <= 0"):
        Problem(unsigned, costs)
    with pytest.raises(errors.BadArgument, match="needs costs >= 0"):
        Problem(unsigned, environments.Uniform([-1.0, 0.0, 0.0], [1.0, 1.0, 1.0]), sense="min")
