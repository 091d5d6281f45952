"""Two totals traded off against each other: the dynamic programs beside brute force, for every shortfall."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import errors, sets
from semibandits.kernel import compiled
from semibandits.types import FeasibleSet
from support.reference import Solution, paths, restricted, value
from support.strategies import Instance, dag_paths, grid_paths, k_paths, top_k

FAMILIES = {"TopK": top_k(), "DagPaths": dag_paths(), "GridPaths": grid_paths(), "KPaths": k_paths()}


def answers(feasible: FeasibleSet, weights: Any, gains: Any, most: int, machine: bool = False) -> list[list[int]]:
    """What is taken for every shortfall, in a work space that is no larger than it must be, and not clean."""
    program = feasible.trade_offs()
    assert program is not None
    fill, take = (compiled(program.fill), compiled(program.take)) if machine else (program.fill, program.take)
    sizes = program.room(most)
    numbers, integers = np.full(sizes[0], np.nan), np.full(sizes[1], -99)
    w, g = np.array(weights, dtype=np.int64), np.array(gains, dtype=np.float64)
    fill(w, g, most, program.data, numbers, integers)
    found = []
    for d in range(most + 1):
        out = np.full(feasible.max_size, -99)
        size = take(d, out, w, g, most, program.data, numbers, integers)
        found.append(out[:size].tolist())
    return found


def check(feasible: FeasibleSet, listed: list[Solution], weights: Any, gains: Any, most: int) -> None:
    """Gains are multiples of 1/8, so that any order of adding gives the same sum."""
    known = {tuple(one) for one in listed}
    totals = {one: (value(one, weights), value(one, gains)) for one in known}
    greatest = max(weight for weight, _ in totals.values())
    for d, items in enumerate(answers(feasible, weights, gains, most)):
        assert tuple(items) in known
        weight, gain = totals[tuple(items)]
        assert weight >= greatest - d
        assert gain == max(gain for weight, gain in totals.values() if weight >= greatest - d)


def numbers(n_items: int, most: int) -> st.SearchStrategy[tuple[list[int], list[float], int]]:
    """Weights with many ties, or with few; gains too."""
    weight = st.one_of(st.integers(-2, 2), st.integers(-most, most))
    gain = st.one_of(st.integers(0, 3), st.integers(0, 1000)).map(lambda n: n / 8)
    return st.tuples(
        st.lists(weight, min_size=n_items, max_size=n_items),
        st.lists(gain, min_size=n_items, max_size=n_items),
        st.integers(0, most),
    )


@pytest.mark.parametrize("family", FAMILIES)
@given(st.data())
@settings(max_examples=80)
def test_every_shortfall(family: str, data: st.DataObject) -> None:
    instance: Instance = data.draw(FAMILIES[family])
    feasible, listed = instance
    check(feasible, listed, *data.draw(numbers(feasible.n_items, 40)))


@pytest.mark.parametrize("family", FAMILIES)
@given(st.data())
@settings(max_examples=80)
def test_parts_of_a_set(family: str, data: st.DataObject) -> None:
    """With items that must be chosen, and items that must not."""
    instance: Instance = data.draw(FAMILIES[family])
    feasible, listed = instance
    states = data.draw(st.lists(st.sampled_from("...+-"), min_size=feasible.n_items, max_size=feasible.n_items))
    include = {item for item, state in enumerate(states) if state == "+"}
    exclude = {item for item, state in enumerate(states) if state == "-"}
    left = restricted(listed, include, exclude)
    try:
        part = feasible.restrict(include, exclude)
    except errors.EmptyFeasibleSet:
        assert not left
        return
    check(part, left, *data.draw(numbers(feasible.n_items, 40)))


def test_more_items_than_bits_in_a_word() -> None:
    """Shortfalls up to 200, so that the bits of a row fill several words."""
    generator = np.random.default_rng(5)
    listed = list(itertools.combinations(range(12), 4))
    for _ in range(10):
        weights = generator.integers(-30, 30, 12).tolist()
        gains = (generator.integers(0, 100, 12) / 8).tolist()
        check(sets.TopK(12, 4), listed, weights, gains, 200)


def test_dense_graphs() -> None:
    """Many ways of one to six edges, whose shortfalls add up."""
    generator = np.random.default_rng(7)
    for _ in range(60):
        pairs = list(itertools.combinations(range(7), 2))
        edges = [(a, b) for a, b in pairs if b == a + 1 or generator.random() < 0.5]
        weights = generator.integers(-9, 9, len(edges)).tolist()
        gains = (generator.integers(0, 100, len(edges)) / 8).tolist()
        check(sets.DagPaths(edges, 0, 6), paths(edges, 0, 6), weights, gains, 15)


def test_parallel_paths_of_unequal_length() -> None:
    """Costs and rewards: a long way is not a good one as such."""
    edges = [(0, 4), (0, 1), (1, 4), (0, 2), (2, 3), (3, 4)]
    listed = [(0,), (1, 2), (3, 4, 5)]
    feasible = sets.DagPaths(edges, 0, 4)
    assert answers(feasible, [-5] * 6, [1.0] * 6, 10) == [[0]] * 5 + [[1, 2]] * 5 + [[3, 4, 5]]
    assert answers(feasible, [5] * 6, [2.0, 0.5, 0.5, 0.1, 0.1, 0.1], 10) == [[3, 4, 5]] * 5 + [[1, 2]] * 5 + [[0]]
    check(feasible, listed, [7, -1, -1, 2, -3, 0], [0.0] * 6, 12)


def test_who_has_none() -> None:
    assert sets.TopK(5, 2, bases=False).trade_offs() is None
    assert sets.Enumerated([[0, 1], [2]]).trade_offs() is None
    assert sets.Assignment(3, 3).trade_offs() is None


@pytest.mark.long
@pytest.mark.parametrize(
    "feasible", [sets.TopK(30, 6), sets.TopK(30, 6).restrict([3], [4, 5]), sets.GridPaths(4)], ids=repr
)
def test_machine_code_answers_alike(feasible: FeasibleSet) -> None:
    generator = np.random.default_rng(6)
    for high in (2, 1000):
        weights = generator.integers(-high, high, feasible.n_items)
        gains = 1.0 / generator.integers(1, high, feasible.n_items)
        assert answers(feasible, weights, gains, 300) == answers(feasible, weights, gains, 300, machine=True)
