"""Every set against brute force over its listed solutions."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits._util.fingerprint import digest
from semibandits.errors import EmptyFeasibleSet
from semibandits.kernel import compiled
from semibandits.sets import Knapsack, Product
from semibandits.sets import base as sets_base
from semibandits.testing import check_set
from semibandits.types import FeasibleSet
from support import strategies
from support.families import FAMILIES
from support.reference import Solution, best_value, best_with_each, restricted, value
from support.tasks import long

families = pytest.mark.parametrize("family", FAMILIES)
HEAVY = {"Product", "Product of products"}
"""Each instance is compiled by itself."""
quarters = st.integers(-3, 3).map(lambda i: i / 4)


def close(a: float, b: float, weights: list[float]) -> bool:
    """Equal but for the rounding of adding the same numbers in another order."""
    return a == b or abs(a - b) <= 1e-14 * (1.0 + sum(abs(w) for w in weights))


def knows(feasible: FeasibleSet, method: str) -> bool:
    """Whether the set, or each of its blocks, has this method of its own."""
    if isinstance(feasible, Product):
        return all(knows(block, method) for block in feasible.blocks)
    return getattr(type(feasible), method) is not getattr(FeasibleSet, method)


def check_answer(feasible: FeasibleSet, solutions: list[Solution], weights: list[float]) -> None:
    items = feasible.argmax(weights)
    assert items.dtype == np.int64
    assert tuple(items.tolist()) in solutions
    assert items.size <= feasible.max_size
    got, best = value(items.tolist(), weights), best_value(solutions, weights)
    if feasible.ratio == 1.0:
        assert close(got, best, weights)
    else:
        assert got >= feasible.ratio * best - 1e-9 * abs(best)


@families
@settings(max_examples=100)
@given(data=st.data())
def test_argmax_is_the_best_listed_solution(family: str, data: st.DataObject) -> None:
    check_instance(family, data)


@pytest.mark.long
@families
@settings(max_examples=2500)
@given(data=st.data())
def test_argmax_is_the_best_listed_solution_of_very_many(family: str, data: st.DataObject) -> None:
    check_instance(family, data)


def check_instance(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    check_answer(feasible, solutions, data.draw(strategies.weights(feasible)))
    assert max(len(one) for one in solutions) <= max(feasible.max_size, 1)


@families
@settings(max_examples=30)
@given(data=st.data())
def test_huge_weights(family: str, data: st.DataObject) -> None:
    """So huge that sums of two are not finite."""
    feasible, solutions = data.draw(FAMILIES[family])
    small = data.draw(strategies.weights(feasible, quarters))
    items = feasible.argmax([w * 2.0 * 2.0**1023 for w in small])
    got, best = value(items.tolist(), small), best_value(solutions, small)
    assert got == best or (feasible.ratio < 1.0 and got >= feasible.ratio * best)


@families
@settings(max_examples=30)
@given(data=st.data())
def test_restrict_is_the_filtered_list(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    weights = data.draw(strategies.weights(feasible))
    some = st.sets(st.integers(0, feasible.n_items - 1), max_size=3)
    steps = data.draw(st.lists(st.tuples(some, some), min_size=1, max_size=2))
    for include, exclude in steps:
        solutions = restricted(solutions, include, exclude)
        if not solutions:
            with pytest.raises(EmptyFeasibleSet):
                feasible.restrict(include=include, exclude=exclude)
            return
        feasible = feasible.restrict(include=include, exclude=exclude)
        if feasible.ratio == 1.0:
            check_answer(feasible, solutions, weights)
            expected = best_with_each(solutions, weights, feasible.n_items)
            got = feasible.best_with_each(weights)
            assert all(close(a, b, weights) for a, b in zip(got.tolist(), expected, strict=True))
        else:  # half of what is left to be chosen is guaranteed, and that what must be there is
            assert tuple(feasible.argmax(weights).tolist()) in solutions


@families
@settings(max_examples=30)
@given(data=st.data())
def test_best_with_each(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    weights = data.draw(strategies.weights(feasible))
    covered = {item for one in solutions for item in one}
    assert set(feasible.uncovered().tolist()) <= set(range(feasible.n_items)) - covered
    if knows(feasible, "uncovered"):  # a solver's dead ends are found when Init meets them
        assert set(feasible.uncovered().tolist()) == set(range(feasible.n_items)) - covered
    if feasible.ratio == 1.0:
        expected = best_with_each(solutions, weights, feasible.n_items)
        got = feasible.best_with_each(weights)
        assert all(close(a, b, weights) for a, b in zip(got.tolist(), expected, strict=True))


@families
@settings(max_examples=30)
@given(data=st.data())
def test_runner_up_with_each(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    weights = data.draw(strategies.weights(feasible, quarters))
    excluded = data.draw(st.sets(st.integers(0, feasible.n_items - 1), max_size=1))
    if len(left := restricted(solutions, set(), excluded)) > 0:
        feasible, solutions = feasible.restrict(exclude=excluded), left
    got = feasible.runner_up_with_each(weights, 1e-12)
    if got is None:
        assert not knows(feasible, "runner_up_with_each")
        return
    best = best_value(solutions, weights)
    worse = [one for one in solutions if value(one, weights) < best]
    assert got.tolist() == best_with_each(worse, weights, feasible.n_items)


@families
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_contains_exactly_the_solutions(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    listed = set(solutions)
    for size in range(min(feasible.n_items, 5) + 1):
        for items in itertools.combinations(range(feasible.n_items), size):
            assert feasible.contains(items) == (items in listed)
            assert feasible.contains(items[::-1]) == (items in listed)
    assert not feasible.contains([feasible.n_items])
    assert not feasible.contains([-1])
    assert not feasible.contains([0, 0])
    assert not feasible.contains([0.5])  # type: ignore[list-item]
    assert not feasible.contains([2**70])


@families
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_one_text_plain_and_compiled(family: str, data: st.DataObject) -> None:
    """Machine code answers as plain Python does, ties included, whatever was asked before."""
    feasible, _ = data.draw(FAMILIES[family])
    solver = feasible.solver() if isinstance(feasible, sets_base.Solved | Knapsack) else None
    if solver is None:
        return
    code = compiled(solver.function)
    numbers, integers = np.zeros(solver.numbers), np.zeros(solver.integers, dtype=np.int64)
    for _ in range(3):
        weights = np.array(data.draw(strategies.weights(feasible)))
        out = np.full(feasible.max_size, -1)
        size = code(weights, out, solver.data, numbers, integers)
        fresh = sets_base.WarmOracle(solver, feasible.max_size)._plain(weights)
        assert out[:size].tolist() == fresh.tolist() == feasible.argmax(weights).tolist()


@pytest.mark.parametrize("family", [long(name) if name in HEAVY else name for name in FAMILIES])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_the_shipped_checks_accept_our_own_sets(family: str, data: st.DataObject) -> None:
    feasible, _ = data.draw(FAMILIES[family])
    check_set(feasible, trials=8)


@families
@settings(max_examples=15)
@given(data=st.data())
def test_sets_travel_and_are_known_again(family: str, data: st.DataObject) -> None:
    feasible, _ = data.draw(FAMILIES[family])
    weights = data.draw(strategies.weights(feasible))
    unused = digest(feasible)
    before = feasible.argmax(weights).tolist()
    assert digest(feasible) == unused
    if family not in ("Oracle", "Matroid"):  # their functions are plain closures, which only cloudpickle takes
        arrived = pickle.loads(pickle.dumps(feasible))
        assert arrived.argmax(weights).tolist() == before
        assert digest(arrived) == unused
