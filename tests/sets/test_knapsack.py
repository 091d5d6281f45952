"""Knapsacks against OR-tools and SciPy's HiGHS, and what they promise beyond the contract of all sets."""

import json
import math
import sys

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from semibandits import errors, sets
from semibandits.kernel import warm
from semibandits.sets import knapsack
from semibandits.types import FeasibleSet

generator = np.random.default_rng


def scipy_best(costs: NDArray[np.float64], capacity: float, groups: list[int] | None, w: NDArray[np.float64]) -> float:
    rows = [LinearConstraint(costs[None, :] / capacity, -np.inf, 1.0)]
    if groups is not None:
        rows.append(LinearConstraint(np.equal.outer(np.unique(groups), groups).astype(float), 0.0, 1.0))
    found = milp(-w, constraints=rows, integrality=np.ones(w.size), bounds=Bounds(0.0, 1.0), options={"mip_rel_gap": 0})
    return -float(found.fun)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_scipy(seed: int, grouped: bool) -> None:
    numbers = generator(seed)
    n_items = 20 + 5 * seed
    costs = numbers.integers(1, 60, n_items)
    groups = (np.arange(n_items) % 9).tolist() if grouped else None
    capacity = int(costs.sum() // (8 if grouped else 3))
    w = numbers.normal(0.5, 1.0, n_items)
    best = scipy_best(costs.astype(float), capacity, groups, w)
    for scale in (1, 1.37):  # whole, and not
        feasible = sets.Knapsack(costs * scale, capacity * scale, groups=groups)
        assert feasible.method == ("dynamic programming" if scale == 1 else "MILP")
        items = feasible.argmax(w)
        assert w[items].sum() == pytest.approx(best, abs=1e-9)
        assert costs[items].sum() <= capacity
        assert feasible.contains(items)
    greedy = sets.GreedyKnapsack(costs, capacity, groups=groups).argmax(w)
    assert best / 2 <= w[greedy].sum() <= best + 1e-9


def test_agrees_with_or_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    ortools = pytest.importorskip("ortools.algorithms.python.knapsack_solver")
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    numbers = generator(1)
    for n_items, capacity in ((50, 500), (200, 1000), (30, 17), (80, 10_000)):
        costs = numbers.integers(0, 60, n_items).tolist()
        feasible = sets.Knapsack(costs, capacity)
        for _ in range(5):
            values = numbers.integers(0, 1000, n_items).tolist()
            solver = ortools.KnapsackSolver(ortools.SolverType.KNAPSACK_DYNAMIC_PROGRAMMING_SOLVER, "rival")
            solver.init(values, [costs], [capacity])
            assert sum(values[item] for item in feasible.argmax(values)) == solver.solve()


@pytest.mark.parametrize("groups", [None, (np.arange(30) % 7).tolist()])
def test_best_with_each_on_larger_knapsacks(groups: list[int] | None) -> None:
    numbers = generator(2)
    feasible = sets.Knapsack(numbers.integers(0, 40, 30), 60, groups=groups).restrict(include=[3], exclude=[0, 9])
    for _ in range(3):
        w = numbers.normal(size=30)
        np.testing.assert_allclose(feasible.best_with_each(w), FeasibleSet.best_with_each(feasible, w), atol=1e-12)


def test_the_way_it_is_solved() -> None:
    def method(*arguments: object) -> str:
        return sets.Knapsack(*arguments).method  # type: ignore[arg-type]

    assert method([2, 3], 4) == method([2.0, 3.0], 4.5) == method(np.array([2, 3], dtype=np.int8), np.int32(4))
    assert method([2, 3], 4) == "dynamic programming"
    assert method([2, 3.5], 4) == "MILP"
    costs = [10**9, 2 * 10**9, 3 * 10**9]
    assert method(costs, 5 * 10**9) == "dynamic programming"  # in units of 10**9
    assert method([*costs, 1], 5 * 10**9) == "MILP"
    assert method([2**60, 2**60 + 2**10, 2**61], 2**62) == "MILP"
    assert method([2**70, 1], 2**71) == "MILP"
    assert method(range(1, 101), 10**300) == "dynamic programming"
    most = knapsack.MOST_CELLS // 4 - 1
    assert method([1, 1, most], most) == "dynamic programming"
    assert method([1, 1, most + 1], most + 1) == "MILP"
    assert repr(sets.Knapsack([2, 3.5], 4)) == "Knapsack(2 items, capacity 4, MILP)"
    grouped = sets.Knapsack([2, 3], 4, groups=["a", "a"]).restrict(exclude=[0])
    assert repr(grouped) == "Knapsack(2 items, capacity 4, 1 groups, dynamic programming, restricted)"


def test_the_table_is_no_larger_than_needed() -> None:
    def cells(feasible: sets.Knapsack) -> int:
        solver = feasible.solver()
        assert solver is not None
        return solver.numbers

    assert cells(sets.Knapsack([3, 4, 5], 10)) == 4 * 11
    assert cells(sets.Knapsack([300, 400, 500], 1099)) == 4 * 11  # the common divisor
    assert cells(sets.Knapsack([3, 4, 5], 10**6)) == 4 * 13  # all there is to pay for
    assert cells(sets.Knapsack([3, 4, 5, 11], 10)) == 4 * 11  # without what can never fit
    assert cells(sets.Knapsack([3, 4, 5], 10, groups=[0, 0, 1])) == 3 * 10
    assert cells(sets.Knapsack([3, 4, 5], 10).restrict(include=[1])) == 3 * 7
    assert cells(sets.Knapsack([0, 0, 0], 0)) == 4


def test_huge_costs() -> None:
    for unit in (2**53, 2**70, 1e300):
        feasible = sets.Knapsack([3 * unit, 4 * unit, 2 * unit], 6 * unit)
        assert feasible.argmax([0.5, 0.6, 0.2]).tolist() == [1, 2]
        assert feasible.max_size == 2
        assert not feasible.contains([0, 1])
        assert sets.GreedyKnapsack([3 * unit, 4 * unit, 2 * unit], 6 * unit).argmax([0.5, 0.6, 0.2]).tolist() == [0, 2]
    exact = sets.Knapsack([10**11 + 1, 10**11, 10**11 - 1], 2 * 10**11)
    assert exact.method == "MILP"
    assert exact.argmax([3.0, 2.0, 1.0]).tolist() == [0, 2]


def test_rounding_of_real_costs() -> None:
    assert math.fsum([1.1, 2.2]) > 3.3
    assert sets.Knapsack([1.1, 2.2], 3.3).argmax([1.0, 1.0]).tolist() == [0, 1]
    # By less than HiGHS would notice, but by more than rounding.
    over = sets.Knapsack([0.1, 0.2, 0.3 * (1 + 1e-11), 0.3], 0.6)
    assert over.max_size == 3
    assert over.argmax([1.0, 1.1, 1.5, 0.1]).tolist() == [1, 2]
    assert over.argmax([1.0, 1.0, 1.5, 1.4]).tolist() == [0, 1, 3]
    assert not over.contains([0, 1, 2])
    with pytest.raises(errors.EmptyFeasibleSet, match=r"no solution with items \[0, 1, 2\]: they cost 0\.6"):
        over.restrict(include=[0, 1, 2])
    assert over.restrict(include=[0, 1]).uncovered().tolist() == [2]
    # Whatever else is chosen or not, the two cost too much.
    pair = sets.Knapsack([0.5, 0.5 * (1 + 1e-11), *[0.0] * 12], 1.0)
    assert pair.argmax([1.0, 1.0 + 2**-20, *[1e-7] * 12]).tolist() == list(range(1, 14))


def test_ties() -> None:
    """The solution without the last item in which tied ones differ."""
    assert sets.Knapsack([1] * 5, 2).argmax([0.5] * 5).tolist() == [0, 1]
    assert sets.Knapsack([2, 1, 1], 2).argmax([1.0, 0.5, 0.5]).tolist() == [0]
    assert sets.Knapsack([1, 1, 2], 2).argmax([0.5, 0.5, 1.0]).tolist() == [0, 1]
    assert sets.Knapsack([1, 1, 1], 3).argmax([0.0, -1.0, 0.0]).tolist() == []
    assert sets.Knapsack([1, 1, 1], 1, groups=[0, 1, 0]).argmax([0.5, 0.5, 0.5]).tolist() == [0]
    assert sets.Knapsack([1, 1, 1], 2, groups=[0, 1, 0]).argmax([0.0, 0.5, 0.5]).tolist() == [1, 2]
    assert sets.GreedyKnapsack([1] * 5, 2).argmax([0.5] * 5).tolist() == [0, 1]
    assert sets.GreedyKnapsack([2, 1, 1], 2).argmax([1.0, 0.5, 0.5]).tolist() == [0]


def test_nothing_to_pay_with_and_nothing_to_pay_for() -> None:
    for kind in (sets.Knapsack, sets.GreedyKnapsack):
        poor = kind([1, 0, 2.5], 0)
        assert poor.argmax([1.0, 1.0, 1.0]).tolist() == [1]
        assert poor.max_size == 1
        assert poor.uncovered().tolist() == [0, 2]
        free = kind([0, 0, 0], 0)
        assert free.argmax([1.0, -1.0, 1.0]).tolist() == [0, 2]
        assert free.max_size == 3
        nothing = kind([1, 2], 0)
        assert nothing.max_size == 0
        assert nothing.argmax([1.0, 1.0]).tolist() == []
        assert nothing.contains([])
        one = kind([0.0, 0.0, 0.0], 0.0, groups=[7, 7, 7])
        assert one.argmax([1.0, 3.0, 2.0]).tolist() == [1]
        assert one.max_size == 1


def test_max_size_takes_the_cheapest_of_each_group() -> None:
    costs, groups = [5, 1, 2, 2, 9, 3], ["a", "a", "b", "b", "c", "c"]
    assert sets.Knapsack(costs, 5, groups=groups).max_size == 2
    assert sets.Knapsack(costs, 6, groups=groups).max_size == 3
    assert sets.Knapsack(costs, 6).max_size == 3
    assert sets.Knapsack(costs, 8).max_size == 4
    assert sets.Knapsack(costs, 9, groups=groups).restrict(include=[0]).max_size == 2
    assert sets.Knapsack([0.1] * 10, 0.3).max_size == 3


def test_restrictions_that_leave_nothing() -> None:
    feasible = sets.Knapsack([3, 4, 2, 1], 6, groups=[0, 1, 2, 2])
    with pytest.raises(errors.EmptyFeasibleSet, match=r"they cost 7\.0, the capacity is 6\.0"):
        feasible.restrict(include=[0, 1])
    with pytest.raises(errors.EmptyFeasibleSet, match="two of them are of the same group"):
        feasible.restrict(include=[2, 3])
    with pytest.raises(errors.EmptyFeasibleSet, match="both demanded and excluded"):
        feasible.restrict(include=[2], exclude=[2])
    last = feasible.restrict(include=[1, 2])
    assert last.argmax([9.0, -1.0, -1.0, 9.0]).tolist() == [1, 2]
    assert last.uncovered().tolist() == [0, 3]


def test_greed() -> None:
    """The best single item, steps within a group, and how bad it can be."""
    greedy = sets.GreedyKnapsack([1, 10], 10)
    assert greedy.ratio == 0.5
    assert greedy.method == "greedy"
    assert greedy.argmax([2.0, 10.0]).tolist() == [1]
    assert greedy.argmax([2.0, 2.0]).tolist() == [0]
    assert sets.GreedyKnapsack([6, 5, 5], 10).argmax([6.1, 5.0, 5.0]).tolist() == [0]  # the best is 10
    assert sets.GreedyKnapsack([5, 4, 3], 8).argmax([5.5, 3.9, 3.2]).tolist() == [0, 2]  # passes over what is too large
    grouped = sets.GreedyKnapsack([1, 2, 3, 1], 4, groups=["a", "a", "a", "b"])
    assert grouped.argmax([3.0, 5.0, 6.0, 0.5]).tolist() == [2, 3]  # 3, then 2 and 1 for 1 more each, then 0.5
    assert grouped.argmax([3.0, 5.0, 6.0, 1.5]).tolist() == [2, 3]
    assert grouped.argmax([1.0, 5.0, 5.0, 4.5]).tolist() == [1, 3]  # straight to the second, whose step is steeper
    assert grouped.argmax([1.0, 1.0, -1.0, -1.0]).tolist() == [0]
    tight = sets.GreedyKnapsack([1, 2, 3, 1], 2, groups=["a", "a", "a", "b"])
    assert tight.argmax([3.0, 5.0, 6.0, 2.5]).tolist() == [0, 3]  # the second step is less steep
    hidden = sets.GreedyKnapsack([1, 2, 1, 1, 1], 4, groups=[0, 0, 1, 2, 3])
    assert hidden.argmax([1.0, 5.0, 1.5, 1.5, 1.5]).tolist() == [1, 2, 3]  # below the hull: it is no step
    assert sets.GreedyKnapsack([2, 2, 2], 2, groups=[0, 0, 0]).argmax([1.0, 3.0, 2.0]).tolist() == [1]


@pytest.mark.parametrize("grouped", [False, True])
def test_greed_on_larger_knapsacks(grouped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the best where it could be less: a few large items among small ones that look better."""
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    numbers = generator(5)
    worst = 1.0
    for _ in range(200):
        n_items = int(numbers.integers(2, 40))
        costs = numbers.integers(0, 30, n_items)
        groups = numbers.integers(0, 6, n_items).tolist() if grouped else None
        feasible = sets.GreedyKnapsack(costs, int(numbers.integers(1, 60)), groups=groups)
        w = costs * (1.0 + numbers.random(n_items)) + numbers.random(n_items)
        got, best = w[feasible.argmax(w)].sum(), w[feasible.exact().argmax(w)].sum()
        assert got >= best / 2
        worst = min(worst, got / best if best else 1.0)
    assert worst < 0.95


def test_greed_never_overspends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    numbers = generator(6)
    for capacity in (0.3, 1.0, 1e-200, 1e200):
        costs = numbers.random(3000) * capacity / 500
        for groups in (None, (np.arange(3000) // 2).tolist()):
            feasible = sets.GreedyKnapsack(costs, capacity, groups=groups)
            items = feasible.argmax(numbers.random(3000))
            assert feasible.contains(items)
            assert costs[items].sum() > 0.99 * capacity
    edge = sets.GreedyKnapsack([0.5, 0.5 * (1 + 1e-11), 0.1, 0.1], 1.0)
    assert edge.argmax([1.0, 1.0, -1.0, -1.0]).tolist() == [0]
    tiny = sets.GreedyKnapsack([1e-250, 5e-251, 5e-251], 1e-250)
    assert tiny.argmax([1e100, 0.9e100, 0.9e100]).tolist() == [1, 2]
    tenths = sets.GreedyKnapsack([0.1] * 7 + [0.2] * 3, 0.6)
    assert tenths.argmax([1.0] * 10).tolist() == [0, 1, 2, 3, 4, 5]


def test_the_exact_twin() -> None:
    greedy = sets.GreedyKnapsack([3, 4, 2], 6, groups=["a", "b", "b"]).restrict(exclude=[2])
    twin = greedy.exact()
    assert type(twin) is sets.Knapsack
    assert repr(twin) == "Knapsack(3 items, capacity 6, 2 groups, dynamic programming, restricted)"
    assert twin.argmax([0.1, 0.2, 0.9]).tolist() == [1]
    assert twin.ratio == 1.0


@pytest.mark.parametrize("kind", [sets.Knapsack, sets.GreedyKnapsack])
def test_made_again_from_json(kind: type[sets.Knapsack]) -> None:
    for groups in (None, np.array([3, 3, 1]), ("x", "y", "x")):
        first = kind(np.array([3, 4, 2]), np.float64(6), groups=groups)  # type: ignore[arg-type]
        again = kind(**json.loads(json.dumps(first._parameters())))
        assert repr(again) == repr(first)
        assert again.argmax([0.5, 0.6, 0.2]).tolist() == first.argmax([0.5, 0.6, 0.2]).tolist()


def test_without_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert sets.Knapsack([1, 2], 2).argmax([1.0, 1.0]).tolist() == [0]
    assert sets.GreedyKnapsack([1.5, 2.5], 2).argmax([1.0, 1.0]).tolist() == [0]
    with pytest.raises(errors.Unsupported, match=r"pip install \"\.\[milp\]\""):
        sets.Knapsack([1.5, 2.5], 2)


@pytest.mark.parametrize("kind", [sets.Knapsack, sets.GreedyKnapsack])
def test_bad_input(kind: type[sets.Knapsack]) -> None:
    for costs in (5, "123", ["1"], [[1, 2]], [None], [True], {1: 2}, None):
        with pytest.raises(errors.InvalidSet, match="costs must be finite numbers >= 0, one per item"):
            kind(costs, 3)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidSet, match="number of items must be an integer >= 1, got 0"):
        kind([], 3)
    for wrong in (-1, math.nan, math.inf):
        with pytest.raises(errors.InvalidSet, match=f">= 0, got {float(wrong)} for item 1"):
            kind([1, wrong], 3)
        with pytest.raises(errors.InvalidSet, match="capacity must be a finite number >= 0, got"):
            kind([1, 2], wrong)
    for capacity in (10**400, "3", None, [3], True):
        with pytest.raises(errors.InvalidSet, match="capacity must be"):
            kind([1, 2], capacity)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidSet, match=r"got 1000"):
        kind([1, 10**400], 3)
    with pytest.raises(errors.InvalidSet, match="the sum of all costs must be finite"):
        kind([1e308, 1e308], 3)
    for groups in (5, "ab", [0, 1], [0, 1, None], [0, 1, 2.5], [[0], [1], [2]]):
        with pytest.raises(errors.InvalidSet, match=r"groups must be (3 )?integers or names, one per item"):
            kind([1, 2, 3], 3, groups=groups)  # type: ignore[arg-type]
