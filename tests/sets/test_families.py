"""Every set against brute force over its listed solutions."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
from reference import best_value, best_with_each, restricted, value
from semibandits.errors import EmptyFeasibleSet
from semibandits.testing import check_set

families = pytest.mark.parametrize("family", strategies.FAMILIES)


def close(a: float, b: float, weights: list[float]) -> bool:
    """Equal but for the rounding of adding the same numbers in another order."""
    return a == b or abs(a - b) <= 1e-14 * (1.0 + sum(abs(w) for w in weights))


@families
@settings(max_examples=600)
@given(data=st.data())
def test_argmax_is_the_best_listed_solution(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.FAMILIES[family])
    weights = data.draw(strategies.weights(feasible.n_items))
    items = feasible.argmax(weights)
    assert items.dtype == np.int64
    assert tuple(items.tolist()) in solutions
    assert close(value(items.tolist(), weights), best_value(solutions, weights), weights)
    assert max(len(one) for one in solutions) <= max(feasible.max_size, 1)


@families
@settings(max_examples=300)
@given(data=st.data())
def test_restrict_is_the_filtered_list(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.FAMILIES[family])
    weights = data.draw(strategies.weights(feasible.n_items))
    some = st.sets(st.integers(0, feasible.n_items - 1), max_size=3)
    steps = data.draw(st.lists(st.tuples(some, some), min_size=1, max_size=2))
    for include, exclude in steps:
        solutions = restricted(solutions, include, exclude)
        if not solutions:
            with pytest.raises(EmptyFeasibleSet):
                feasible.restrict(include=include, exclude=exclude)
            return
        feasible = feasible.restrict(include=include, exclude=exclude)
        items = feasible.argmax(weights)
        assert tuple(items.tolist()) in solutions
        assert close(value(items.tolist(), weights), best_value(solutions, weights), weights)
        expected = best_with_each(solutions, weights, feasible.n_items)
        got = feasible.best_with_each(weights)
        assert all(close(a, b, weights) for a, b in zip(got.tolist(), expected, strict=True))


@families
@settings(max_examples=300)
@given(data=st.data())
def test_best_with_each(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.FAMILIES[family])
    weights = data.draw(strategies.weights(feasible.n_items))
    expected = best_with_each(solutions, weights, feasible.n_items)
    got = feasible.best_with_each(weights)
    assert all(close(a, b, weights) for a, b in zip(got.tolist(), expected, strict=True))
    covered = {item for one in solutions for item in one}
    assert set(feasible.uncovered().tolist()) <= set(range(feasible.n_items)) - covered
    if family != "Oracle":  # a solver's dead ends are found when initialisation meets them
        assert set(feasible.uncovered().tolist()) == set(range(feasible.n_items)) - covered


@families
@settings(max_examples=300)
@given(data=st.data())
def test_runner_up_with_each(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.FAMILIES[family])
    weights = data.draw(
        st.lists(st.integers(-3, 3).map(lambda i: i / 4), min_size=feasible.n_items, max_size=feasible.n_items)
    )
    excluded = data.draw(st.sets(st.integers(0, feasible.n_items - 1), max_size=1))
    if len(left := restricted(solutions, set(), excluded)) > 0:
        feasible, solutions = feasible.restrict(exclude=excluded), left
    got = feasible.runner_up_with_each(weights, 1e-12)
    if family == "Oracle":
        assert got is None
        return
    best = best_value(solutions, weights)
    worse = [one for one in solutions if value(one, weights) < best]
    assert got is not None
    assert got.tolist() == best_with_each(worse, weights, feasible.n_items)


@families
@settings(max_examples=40)
@given(data=st.data())
def test_contains_exactly_the_solutions(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.FAMILIES[family])
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
@settings(max_examples=15)
@given(data=st.data())
def test_the_shipped_checks_accept_our_own_sets(family: str, data: st.DataObject) -> None:
    feasible, _ = data.draw(strategies.FAMILIES[family])
    check_set(feasible, trials=8)
