"""Sets of the same items, made of one another: the same as those that are made anew."""

from collections.abc import Callable
from copy import copy
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import sets
from semibandits._util.fingerprint import digest
from semibandits.errors import EmptyFeasibleSet, InvalidSet, Unsupported
from semibandits.sets.base import WarmOracle
from semibandits.types import FeasibleSet

STREETS = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d"), ("d", "e"), ("c", "e"), ("b", "b"), ("e", "f")]
SPELLED = [
    (sets.TopK(6, 2), lambda one: one.with_k(3), sets.TopK(6, 3)),
    (sets.TopK(6, 2, bases=False), lambda one: one.with_k(6), sets.TopK(6, 6, bases=False)),
    (sets.TopK(6, 3).restrict([0], [1]), lambda one: one.with_k(2), sets.TopK(6, 2).restrict([0], [1])),
    (
        sets.PartitionMatroid([0, 0, 1, 1, 1], 1),
        lambda one: one.with_capacities([0, 2]),
        sets.PartitionMatroid([0, 0, 1, 1, 1], [0, 2]),
    ),
    (
        sets.PartitionMatroid(list("aabbb"), 2, bases=False).restrict(exclude=[2]),
        lambda one: one.with_capacities({"a": 1, "b": 2}),
        sets.PartitionMatroid(list("aabbb"), {"a": 1, "b": 2}, bases=False).restrict(exclude=[2]),
    ),
    (sets.Knapsack([3, 4, 2], 6), lambda one: one.with_capacity(5), sets.Knapsack([3, 4, 2], 5)),
    (
        sets.Knapsack([3, 4, 2], 6, groups=[0, 1, 1]).restrict(exclude=[0]),
        lambda one: one.with_capacity(2),
        sets.Knapsack([3, 4, 2], 2, groups=[0, 1, 1]).restrict(exclude=[0]),
    ),
    (
        sets.GreedyKnapsack([3.5, 2.5, 2.5], 5.0),
        lambda one: one.with_capacity(3.0),
        sets.GreedyKnapsack([3.5, 2.5, 2.5], 3.0),
    ),
    (sets.Paths(STREETS, "a", "d"), lambda one: one.between("b", "e"), sets.Paths(STREETS, "b", "e")),
    (
        sets.Paths(STREETS, "a", "d", directed=False),
        lambda one: one.between("f", "b"),
        sets.Paths(STREETS, "f", "b", directed=False),
    ),
    (
        sets.Paths(STREETS, "a", "d", directed=False, max_hops=3),
        lambda one: one.between("a", "e"),
        sets.Paths(STREETS, "a", "e", directed=False, max_hops=3),
    ),
    (
        sets.Paths(STREETS, "a", "e", directed=False).restrict(exclude=[0]),
        lambda one: one.between("b", "d"),
        sets.Paths(STREETS, "b", "d", directed=False).restrict(exclude=[0]),
    ),
    (
        sets.Paths(STREETS, "a", "e", directed=False).restrict(include=[3]),
        lambda one: one.between("b", "e"),
        sets.Paths(STREETS, "b", "e", directed=False).restrict(include=[3]),
    ),
    (sets.DagPaths(STREETS[:6], "a", "e"), lambda one: one.between("b", "e"), sets.DagPaths(STREETS[:6], "b", "e")),
]


def compare(variant: FeasibleSet, fresh: FeasibleSet) -> None:
    assert (variant.n_items, variant.max_size, repr(variant)) == (fresh.n_items, fresh.max_size, repr(fresh))
    assert tuple(variant.labels) == tuple(fresh.labels)
    assert variant.to_spec() == fresh.to_spec()  # type: ignore[attr-defined]
    assert variant.uncovered().tolist() == fresh.uncovered().tolist()
    generator = np.random.default_rng(5)
    for _ in range(5):
        w = -generator.integers(0, 3, size=fresh.n_items).astype(np.float64)
        assert variant.argmax(w).tolist() == fresh.argmax(w).tolist()
        assert variant.contains(fresh.argmax(w))
        assert np.array_equal(variant.best_with_each(w), fresh.best_with_each(w))
    assert digest(variant) == digest(fresh)


@pytest.mark.parametrize(("base", "change", "fresh"), SPELLED, ids=range(len(SPELLED)))
def test_a_variant_is_the_set_made_anew(base: Any, change: Callable[[Any], Any], fresh: FeasibleSet) -> None:
    spec, before = base.to_spec(), digest(base)
    compare(change(base), fresh)
    compare(copy(change(base)), fresh)
    compare(cloudpickle.loads(cloudpickle.dumps(change(base))), fresh)
    compare(change(change(base)), fresh)
    compare(sets.from_spec(change(base).to_spec()), fresh) if "estrict" not in repr(fresh) else None
    assert (base.to_spec(), digest(base)) == (spec, before)


@pytest.mark.parametrize("directed", [False, True])
@settings(max_examples=60)
@given(data=st.data())
def test_between_any_nodes_ties_are_those_of_a_new_set(directed: bool, data: st.DataObject) -> None:
    nodes = st.integers(0, 5)
    edges = [(0, 1), *data.draw(st.lists(st.tuples(nodes, nodes), min_size=2, max_size=12))]
    roads = sets.Paths(edges, 0, 1, directed=directed)
    source, target = data.draw(st.sampled_from(edges))[0], data.draw(st.sampled_from(edges))[1]
    closed = data.draw(st.sets(st.integers(0, len(edges) - 1), max_size=3))
    if source == target:
        with pytest.raises(InvalidSet, match="different nodes"):
            roads.between(source, target)
        return
    try:
        fresh = sets.Paths(edges, source, target, directed=directed)
    except EmptyFeasibleSet:
        with pytest.raises(EmptyFeasibleSet, match=f"no path leads from {source} to {target}"):
            roads.between(source, target)
        return
    variant = roads.between(source, target)
    assert variant.max_size == fresh.max_size
    for _ in range(3):
        w = np.array(data.draw(st.lists(st.sampled_from([-2.0, -1.0, 0.0]), min_size=len(edges), max_size=len(edges))))
        assert variant.argmax(w).tolist() == fresh.argmax(w).tolist()
        try:
            law = fresh.restrict(exclude=closed).argmax(w).tolist()
        except EmptyFeasibleSet:
            with pytest.raises(EmptyFeasibleSet, match=r"has no solution without items|no path leads"):
                variant.argmax_without(w, closed)
        else:
            assert variant.argmax_without(w, closed).tolist() == law
            assert variant.restrict(exclude=closed).argmax(w).tolist() == law


@pytest.mark.parametrize("directed", [False, True])
def test_between_on_streets_ties_are_those_of_a_new_set(directed: bool) -> None:
    """Large enough for the quick way, in which some streets are dead ends."""
    generator = np.random.default_rng(8)
    for _ in range(20):
        nodes = generator.random((30, 2))
        near = np.linalg.norm(nodes[:, None] - nodes[None], axis=2) < 0.25
        edges = [(a, b) for a, b in np.argwhere(near).tolist() if a < b or (directed and a != b)]
        edges = [edges[i] for i in generator.permutation(len(edges))[: 60 if directed else 45]]
        roads = sets.Paths(edges, *edges[0], directed=directed)
        known = sorted({node for edge in edges for node in edge})
        for _ in range(10):
            source, target = generator.choice(known, 2, replace=False).tolist()
            try:
                fresh = sets.Paths(edges, source, target, directed=directed)
            except EmptyFeasibleSet:
                continue
            variant = roads.between(source, target)
            assert variant.max_size == fresh.max_size
            for _ in range(3):
                w = -generator.integers(0, 3, size=len(edges)).astype(np.float64)
                assert variant.argmax(w).tolist() == fresh.argmax(w).tolist()


def test_unknown_and_unreachable_nodes() -> None:
    roads = sets.Paths(STREETS, "a", "d")
    with pytest.raises(InvalidSet, match="the target 'z' is not a node of any edge"):
        roads.between("a", "z")
    with pytest.raises(InvalidSet, match="nodes must be hashable"):
        roads.between(["a"], "b")
    with pytest.raises(EmptyFeasibleSet, match="no path leads from 'f' to 'a'"):
        roads.between("f", "a")
    with pytest.raises(EmptyFeasibleSet, match="no path leads from 'f' to 'd' without the excluded edges"):
        sets.Paths(STREETS, "a", "d", directed=False).restrict(exclude=[7]).between("f", "d")
    dag = sets.DagPaths(STREETS[:6], "a", "e")
    with pytest.raises(EmptyFeasibleSet, match="no path leads from 'e' to 'a'"):
        dag.between("e", "a")
    with pytest.raises(Unsupported, match="restrict the paths between other nodes"):
        dag.restrict(exclude=[0]).between("b", "e")


@pytest.mark.parametrize("names", [[0, 0, 1, 1, 1], list("aabbb")])
def test_capacities_go_by_the_names_of_groups(names: list[Any]) -> None:
    pandas = pytest.importorskip("pandas")
    few, many = names[0], names[-1]
    most = sets.PartitionMatroid(names, 1)
    for capacities in ({many: 2, few: 1}, [(many, 2), (few, 1)], pandas.Series({many: 2, few: 1})):
        assert most.with_capacities(capacities).argmax([0.5, 0.4, 0.3, 0.2, 0.1]).tolist() == [0, 2, 3]
        again = sets.PartitionMatroid(names, capacities)
        assert again.to_spec() == most.with_capacities(capacities).to_spec()
    counted = pandas.Series(names).value_counts()  # the larger group first
    assert sets.PartitionMatroid(names, counted).argmax(np.ones(5)).size == 5
    with pytest.raises(InvalidSet, match="a group has two capacities"):
        most.with_capacities(pandas.Series([1, 2, 1], index=[few, many, many]))
    with pytest.raises(InvalidSet, match="an integer, a list or a mapping"):
        most.with_capacities({1, 2})


def test_sizes_that_cannot_be() -> None:
    with pytest.raises(InvalidSet, match="k must be at most n_items=6, got 7"):
        sets.TopK(6, 2).with_k(7)
    with pytest.raises(EmptyFeasibleSet):
        sets.TopK(6, 2).restrict(include=[0, 1]).with_k(1)
    with pytest.raises(InvalidSet, match="group 1 has no capacity"):
        sets.PartitionMatroid([0, 1], 1).with_capacities([1])
    with pytest.raises(EmptyFeasibleSet, match="the capacity is 1"):
        sets.Knapsack([3, 4], 7).restrict(include=[0]).with_capacity(1)


def test_paths_of_the_papers_grid_between_other_corners() -> None:
    corner = sets.GridPaths(3).between((0, 1), (2, 2))
    assert type(corner) is sets.DagPaths
    assert corner.counted(100) == 3
    fresh = sets.DagPaths(sets.GridPaths(3).edges, (0, 1), (2, 2))
    assert corner.argmax(np.arange(24.0)).tolist() == fresh.argmax(np.arange(24.0)).tolist()


def test_variants_share_arrays_and_machine_code() -> None:
    roads = sets.Paths(STREETS, "a", "d", directed=False)
    one, other = roads.between("b", "e"), roads.between("a", "f")
    assert one.graph is other.graph is roads.graph
    assert one._ways is other._ways
    assert isinstance(one._ways._shortest, WarmOracle)
    assert one._live._ways._shortest is other.restrict(exclude=[2])._ways._shortest  # type: ignore[union-attr]
