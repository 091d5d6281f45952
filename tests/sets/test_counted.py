"""How many solutions there are, against lists of them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import FeasibleSet, sets
from semibandits.errors import EmptyFeasibleSet
from semibandits.oracle import count_solutions
from semibandits.types import ALWAYS, NEVER, Items, Quotas
from semibandits.types.sets import subsets
from support.families import FAMILIES
from support.reference import restricted

families = pytest.mark.parametrize("family", FAMILIES)
limits = st.integers(1, 100)
COUNTED = {
    "TopK",
    "DagPaths",
    "GridPaths",
    "KPaths",
    "Enumerated",
    "PartitionMatroid",
    "Product",
    "Product of products",
}


@families
@settings(max_examples=30)
@given(data=st.data())
def test_as_many_as_are_listed(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    limit = data.draw(limits)
    some = st.sets(st.integers(0, feasible.n_items - 1), max_size=2)
    include, exclude = data.draw(some), data.draw(some)
    for part in ((), (include, exclude)):
        if part:
            solutions = restricted(solutions, *part)
            try:
                feasible = feasible.restrict(*part)
            except EmptyFeasibleSet:
                return
        found = count_solutions(feasible, limit)
        assert found in (None, min(len(solutions), limit + 1))
        assert found is not None or family not in COUNTED


@given(n=st.integers(0, 12), least=st.integers(0, 13), more=st.integers(0, 13), limit=st.integers(1, 5_000))
def test_subsets(n: int, least: int, more: int, limit: int) -> None:
    exact = sum(1 for k in range(least, least + more + 1) for _ in itertools.combinations(range(n), k))
    assert subsets(n, least, least + more, limit) == min(exact, limit + 1)


@pytest.mark.parametrize("limit", [1, 2, 7, 1_000, 10_000])
def test_subsets_at_the_limit(limit: int) -> None:
    """Where binomial coefficients are not worked out any more, they are larger than the limit."""
    for n in range(1, 40):
        for k in range(n + 1):
            assert subsets(n, k, k, limit) == min(math.comb(n, k), limit + 1)


@given(
    group=st.lists(st.sampled_from([NEVER, ALWAYS, 0, 1, 2]), min_size=1, max_size=7),
    sizes=st.tuples(*[st.integers(0, 3)] * 3),
    exact=st.booleans(),
    limit=limits,
)
def test_quotas(group: list[int], sizes: tuple[int, int, int], exact: bool, limit: int) -> None:
    quotas = Quotas(np.array(group), np.array(sizes), exact)
    held = [np.array(one) for size in range(8) for one in itertools.combinations(range(len(group)), size)]
    counts = [[int((np.array(group)[one.astype(int)] == g).sum()) for g in range(3)] for one in held]
    fits = [
        all(have == size if exact else have <= size for have, size in zip(count, sizes, strict=True))
        and not (np.array(group)[one.astype(int)] == NEVER).any()
        and (np.array(group)[one.astype(int)] == ALWAYS).sum() == group.count(ALWAYS)
        for one, count in zip(held, counts, strict=True)
    ]
    assert quotas.counted(limit) == min(sum(fits), limit + 1)
    listed = quotas.listed(limit)
    assert (listed is None) == (sum(fits) > limit)
    assert listed is None or len(listed) == sum(fits)


def test_a_block_of_many_solutions_is_enough_to_tell() -> None:
    unknown = sets.Oracle(lambda weights: [int(weights.argmax())], n_items=3, max_size=1)
    many, one = sets.TopK(100, 50), sets.TopK(3, 3)
    for blocks in ([many, unknown], [unknown, many]):
        assert sets.Product(blocks).counted(10) == 11
    assert sets.Product(one, unknown).counted(10) is None
    assert sets.Product(one, one, sets.TopK(4, 2)).counted(10) == 6


def test_a_subclass_with_another_oracle_is_not_counted() -> None:
    class Lowest(sets.TopK):
        def argmax(self, weights: object) -> Items:
            return np.array([0])

    class OneOfThem(sets.Enumerated):
        def argmax(self, weights: object) -> Items:
            return np.array([0])

    class Knowing(sets.TopK):
        def argmax(self, weights: object) -> Items:
            return np.array([0])

        def counted(self, limit: int) -> int:
            return 1

    counts: list[tuple[FeasibleSet, int | None]] = [
        (Lowest(4, 1), None),
        (OneOfThem([[0], [1]]), None),
        (Knowing(4, 1), 1),
        (sets.Product(Lowest(4, 1), sets.TopK(3, 1)), None),
    ]
    for feasible, expected in counts:
        assert count_solutions(feasible, 10) == expected
