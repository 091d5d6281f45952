"""The k largest: NumPy's selection, the text for one run, and sorting."""

import numpy as np
import pytest

from semibandits import Problem, environments, errors, sets
from semibandits._util.identity_cache import RecentCache
from semibandits.kernel import compiled, warm
from semibandits.sets import base as sets_base
from semibandits.sets.oracles import top_k
from semibandits.types import total


def expected(feasible: sets.TopK, w: np.ndarray) -> list[int]:
    """By sorting: of tied items those with the lowest numbers."""
    include, exclude = feasible._restriction()
    free = np.setdiff1d(np.arange(feasible.n_items), np.append(include, exclude))
    order = free[np.argsort(-w[free], kind="stable")]
    order = order if feasible.bases else order[w[order] > 0.0]
    return sorted([*include.tolist(), *order[: feasible.k - include.size].tolist()])


def weights_of_all_kinds(n_items: int, seed: int) -> list[np.ndarray]:
    """Each unlike the one before: pivots are too high, too low, or among ties."""
    rng = np.random.default_rng(seed)
    found = []
    for scale, shift in ((1.0, 0.0), (1.0, 0.0), (1.0, -50.0), (1e6, 0.0), (1e-9, 0.0), (1.0, 3.0), (1.0, 0.0)):
        w = scale * rng.normal(size=n_items) + shift
        found += [w, np.round(w, 1), w + 1e-6 * scale * rng.normal(size=n_items)]
    found += [np.zeros(n_items), np.ones(n_items), -np.ones(n_items), np.round(rng.random(n_items))]
    rising = np.arange(n_items) / 7.0
    misleading = rng.normal(size=n_items)
    misleading[:: max(1, n_items // top_k.SAMPLE)] += 20.0  # all of a sample is heavier than the rest
    return [*found, rising, -rising, np.abs(rising - 20.0), misleading - 5.0, np.full(n_items, -0.0)]


@pytest.mark.parametrize("bases", [True, False])
@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize(
    ("n_items", "k"), [(1, 1), (9, 3), (100, 8), (130, 8), (129, 129), (200, 40), (1500, 12), (1500, 700), (6000, 150)]
)
def test_both_texts_take_the_largest(n_items: int, k: int, restricted: bool, bases: bool) -> None:
    feasible = sets.TopK(n_items, k, bases=bases)
    if restricted and n_items > 1:
        out = [1] if k < n_items else []
        feasible = feasible.restrict(include=[0, n_items - 1], exclude=out)
    solver = feasible.single()
    code, plain = compiled(solver.function), sets_base.WarmOracle(solver, feasible.max_size)
    numbers, integers = np.zeros(solver.numbers), np.zeros(solver.integers, dtype=np.int64)
    room = np.zeros(feasible.max_size, dtype=np.int64)
    for w in weights_of_all_kinds(n_items, n_items + k):
        items = expected(feasible, w)
        size = code(w, room, solver.data, numbers, integers)
        assert room[:size].tolist() == items
        assert plain._plain(w).tolist() == items
        assert feasible._select(w).tolist() == items
        assert feasible.argmax(w).tolist() == items
        assert feasible.contains(items)


def test_compiled_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Live, NumPy selects until that has cost more than compiling may."""
    feasible = sets.TopK(500, 20)
    monkeypatch.setattr(sets_base.WarmOracle, "_warm", RecentCache(10))
    monkeypatch.setattr(warm, "_SPENT", RecentCache(10))
    spent = warm.Warm(feasible.single().function, {})._spent
    rng = np.random.default_rng(0)
    feasible.argmax(rng.random(500))
    assert 0.0 < spent[0] < warm.PATIENCE
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    feasible.argmax(rng.random(500))  # in both ways
    before = spent[0]
    for w in rng.random((20, 500)):
        assert feasible.argmax(w).tolist() == expected(feasible, w)
    assert spent[0] == before
    assert "_live" not in vars(small := sets.TopK(30, 5))
    assert small.argmax(w[:30]).tolist() == expected(small, w[:30])
    assert "_live" not in vars(small)  # it never needs the compiler


@pytest.mark.long
@pytest.mark.parametrize("patience", [0.0, 1e9])
def test_a_million_items(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", patience)
    rng = np.random.default_rng(1)
    feasible = sets.TopK(1_000_000, 100)
    for part in (feasible, feasible.restrict(include=[7], exclude=range(500_000, 500_100))):
        for w in rng.normal(size=(2, 1_000_000)):
            assert part.argmax(w).tolist() == expected(part, w)
    best = feasible.best_with_each(w)
    assert best.max() == total(w, feasible.argmax(w))


def test_at_most_k() -> None:
    feasible = sets.TopK(5, 3, bases=False)
    assert feasible.argmax([-1.0, 0.0, -0.0, -2.0, -3.0]).tolist() == []
    assert feasible.argmax([1.0, 0.0, 5e-324, -2.0, 3.0]).tolist() == [0, 2, 4]
    fixed = feasible.restrict(include=[3])
    assert fixed.argmax([1.0, 2.0, 3.0, -9.0, -1.0]).tolist() == [1, 2, 3]
    assert fixed.best_with_each([1.0, 2.0, 3.0, -9.0, -1.0]).tolist() == [-5.0, -4.0, -4.0, -4.0, -7.0]
    assert (feasible.contains([]), feasible.contains([0, 1, 2]), feasible.contains([0, 1, 2, 3])) == (True, True, False)
    assert fixed.max_size == 3
    assert feasible.restrict(exclude=[0, 1, 2, 3]).max_size == 1
    assert feasible.restrict(exclude=range(5)).argmax(np.ones(5)).tolist() == []
    problem = Problem(feasible, environments.Uniform([-1.0, 0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 1.0, 1.0, 0.5]))
    assert problem.optimum.tolist() == [1, 2, 4]
    assert problem.item_gaps[[0, 3]].tolist() == [0.75, 0.25]
    assert problem.min_gap == 0.25  # without item 4


def test_restrictions_that_leave_nothing() -> None:
    feasible = sets.TopK(4, 2)
    with pytest.raises(errors.EmptyFeasibleSet, match=r"TopK\(4, 2\) has no solution with items \[0, 1, 2\]"):
        feasible.restrict(include=[0, 1, 2])
    with pytest.raises(errors.EmptyFeasibleSet, match=r"without items \[0, 1, 2\]: a basis has 2 items, but of those"):
        feasible.restrict(exclude=[0, 1, 2])
    full = feasible.restrict(include=[1, 3])
    assert full.argmax([9.0, 0.0, 9.0, 0.0]).tolist() == [1, 3]
    assert full.uncovered().tolist() == [0, 2]
    assert repr(full) == "TopK(4, 2, restricted)"
    assert repr(sets.TopK(4, 2, bases=False)) == "TopK(4, 2, bases=False)"
    with pytest.raises(errors.InvalidSet, match="bases must be True or False, got None"):
        sets.TopK(4, 2, bases=None)  # type: ignore[arg-type]
