"""Ties are broken as documented."""

from hypothesis import given
from hypothesis import strategies as st

from semibandits import sets
from support import strategies
from support.reference import subsets, value


@given(st.data())
def test_enumerated_takes_the_first_listed(data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.enumerated())
    weights = data.draw(st.lists(st.integers(-2, 2).map(float), min_size=feasible.n_items, max_size=feasible.n_items))
    first = max(solutions, key=lambda one: value(one, weights))
    assert tuple(feasible.argmax(weights).tolist()) == first


@given(st.integers(1, 8), st.data())
def test_top_k_takes_the_lowest_numbers(n_items: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, n_items))
    weights = data.draw(st.lists(st.integers(-1, 1).map(float), min_size=n_items, max_size=n_items))
    first = max(subsets(n_items, [k]), key=lambda one: value(one, weights))
    assert tuple(sets.TopK(n_items, k).argmax(weights).tolist()) == first


def test_sums_beyond_the_largest_number() -> None:
    huge = [1e308, 1e308, 1.5e308, 1.5e308]
    diamond = sets.DagPaths([("s", "a"), ("a", "t"), ("s", "b"), ("b", "t")], "s", "t")
    for feasible in (sets.Enumerated([[0, 1], [2, 3]]), diamond, sets.KPaths(4, 2), sets.TopK(4, 2)):
        assert feasible.argmax(huge).tolist() == [2, 3]
        assert feasible.argmax([-w for w in huge]).tolist() == [0, 1]
