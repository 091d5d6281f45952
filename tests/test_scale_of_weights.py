"""Gaps and ties do not depend on the unit of the weights; far from 0 they are right within rounding, or not told."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from semibandits import Problem, environments, errors, problems, sets, theory
from support.families import FAMILIES
from support.reference import value

eighths = st.integers(0, 8).map(lambda i: i / 8)  # many ties
MEANS = np.array([0.9, 0.7, 0.6, 0.3, 0.1])
SAME_SIZE = ["TopK", "KPaths", "GridPaths", "GraphicMatroid", "PartitionMatroid", "Assignment", "Oracle"]


def world(means: Any, bounds: tuple[float, float]) -> environments.Table:
    return environments.Table(np.array([means]), bounds)


def check(problem: Problem, solutions: Any, means: Any, unit: float, slack: float) -> None:
    """Against all solutions; `means` are in eighths, of which the problem has `unit` times as much."""
    best = (max if problem.sense == "max" else min)(value(one, means) for one in solutions)
    gaps = {one: abs(best - value(one, means)) for one in solutions}
    optimum = tuple(problem.optimum.tolist())
    assert gaps[optimum] == 0.0
    for item in range(problem.n_items):
        if item in optimum:
            assert math.isnan(problem.item_gaps[item])
        else:
            expected = min((gap for one, gap in gaps.items() if item in one and gap > 0.0), default=math.inf)
            assert problem.item_gaps[item] / unit == pytest.approx(expected, abs=slack)
    expected = min((gap for gap in gaps.values() if gap > 0.0), default=math.inf)
    assert problem.min_gap / unit == pytest.approx(expected, abs=slack)


def drawn(data: st.DataObject, family: str) -> tuple[Any, Any, list[float], Any]:
    feasible, solutions = data.draw(FAMILIES[family])
    means = data.draw(st.lists(eighths, min_size=feasible.n_items, max_size=feasible.n_items))
    return feasible, solutions, means, data.draw(st.sampled_from(["max", "min"])) if feasible.signed else "min"


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "GreedyKnapsack"])
@settings(max_examples=12, deadline=None)
@given(data=st.data(), power=st.floats(-15.0, 15.0))
def test_gaps_have_the_unit_of_the_weights(family: str, data: st.DataObject, power: float) -> None:
    feasible, solutions, means, sense = drawn(data, family)
    unit = 10.0**power
    problem = Problem(feasible, world(unit * np.array(means), (0.0, unit)), sense)
    assert problem.tolerance == pytest.approx(unit * 1e-12 * max(1.0, abs(problem.value(problem.optimum)) / unit))
    check(problem, solutions, means, unit, 1e-11)


@pytest.mark.parametrize("family", SAME_SIZE)
@settings(max_examples=12, deadline=None)
@given(data=st.data(), power=st.floats(0.0, 12.0))
def test_gaps_far_from_zero(family: str, data: st.DataObject, power: float) -> None:
    feasible, solutions, means, sense = drawn(data, family)
    assume(len({len(one) for one in solutions}) == 1)
    offset = 10.0**power
    problem = Problem(feasible, world(offset + np.array(means), (offset, offset + 1.0)), sense)
    assert problem.tolerance < 1e-14 * feasible.n_items**2 * (1.0 + offset) + 1e-11
    try:
        check(problem, solutions, means, 1.0, problem.tolerance)
    except errors.Unsupported:  # it cannot be told what is a tie
        assert power > 6.0


def test_the_tolerance_of_weights_between_0_and_1_is_what_it_was() -> None:
    for problem in (problems.grid_path(3, 0.2), Problem(sets.TopK(5, 2), world(MEANS, (0.0, 1.0)), "min")):
        assert problem.tolerance == 1e-12 * max(1.0, abs(problem.value(problem.optimum)))


@pytest.mark.parametrize("unit", [1e-15, 1e-12, 1.0, 1e12])
def test_small_weights_have_something_to_lose(unit: float) -> None:
    problem = Problem(sets.TopK(5, 2), world(unit * MEANS, (0.0, unit)))
    assert problem.min_gap == pytest.approx(0.1 * unit)
    explained = theory.explain(problem, 1000)
    assert explained.min_gap == problem.min_gap
    assert "nothing to lose" not in str(explained)
    assert not explained.several_optima
    one = theory.explain(Problem(sets.TopK(5, 2), world(MEANS, (0.0, 1.0))), 1000)
    assert explained.guaranteed == pytest.approx(unit * one.guaranteed)


def test_weights_far_from_zero_have_something_to_lose() -> None:
    problem = Problem(sets.TopK(5, 2), world(1e12 + MEANS, (1e12, 1e12 + 1.0)))
    assert problem.min_gap == pytest.approx(0.1, abs=problem.tolerance)
    assert "worse by 0.1" in str(theory.explain(problem, 1000))
    assert "Gaps up to 0.00089 count as ties." in str(theory.explain(problem, 1000))


def test_gaps_that_drown_in_rounding_cannot_be_told() -> None:
    problem = Problem(sets.TopK(5, 2), world(1e15 + MEANS, (1e15, 1e15 + 1.0)))
    with pytest.raises(errors.Unsupported, match=r"cannot be told from rounding: .* are known to 0\.89 only"):
        _ = problem.min_gap
    explained = theory.explain(problem, 1000)
    assert explained.min_gap is None
    assert explained.several_optima is None
    assert "nothing to lose" not in str(explained)
    only = Problem(sets.Enumerated([[0, 1]]), world([1e15, 1e15 + 1.0], (1e15, 1e15 + 1.0)))
    assert only.min_gap == math.inf  # there is no other solution
