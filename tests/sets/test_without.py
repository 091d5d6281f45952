"""`argmax_without` is the answer of the restricted set, ties included, and no subclass is passed over."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semibandits as sb
from semibandits.errors import EmptyFeasibleSet, InfeasibleSolution, SemiBanditError, UnknownItem
from semibandits.oracle import solve_without
from semibandits.types import FeasibleSet, Items
from support import strategies
from support.families import FAMILIES

families = pytest.mark.parametrize("family", FAMILIES)
few_values = st.integers(-1, 1).map(float)


def answer(feasible: FeasibleSet, weights: Any, exclude: Iterable[int]) -> list[int] | str:
    """By way of the restricted set: the law."""
    try:
        return feasible.restrict(exclude=exclude).argmax(weights).tolist()
    except EmptyFeasibleSet as error:
        return str(error)


def quick(feasible: FeasibleSet, weights: Any, exclude: Iterable[int]) -> list[int] | str:
    try:
        items = feasible.argmax_without(weights, exclude)
    except EmptyFeasibleSet as error:
        return str(error)
    assert items.dtype == np.int64
    return items.tolist()


def check_instance(family: str, data: st.DataObject) -> None:
    feasible, _ = data.draw(FAMILIES[family])
    some = st.sets(st.integers(0, feasible.n_items - 1), max_size=3)
    if data.draw(st.booleans()):
        try:
            include = set() if feasible.ratio < 1.0 else data.draw(some)
            feasible = feasible.restrict(include=include, exclude=data.draw(some))
        except EmptyFeasibleSet:
            return
    for _ in range(3):
        weights = np.array(data.draw(strategies.weights(feasible, few_values)))
        exclude = data.draw(st.sets(st.integers(0, feasible.n_items - 1), max_size=max(1, feasible.n_items // 2)))
        law, found = answer(feasible, weights, exclude), quick(feasible, weights, exclude)
        assert (found == law) or (isinstance(found, str) and isinstance(law, str) and family == "Oracle")
        assert quick(feasible, weights, ()) == feasible.argmax(weights).tolist()


@families
@settings(max_examples=20)
@given(data=st.data())
def test_the_answer_is_that_of_the_restricted_set(family: str, data: st.DataObject) -> None:
    check_instance(family, data)


@pytest.mark.long
@families
@settings(max_examples=2000)
@given(data=st.data())
def test_very_many_answers_are_those_of_restricted_sets(family: str, data: st.DataObject) -> None:
    check_instance(family, data)


def grid(m: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    right = [((row, column), (row, column + 1)) for row in range(m) for column in range(m - 1)]
    return right + [((row, column), (row + 1, column)) for row in range(m - 1) for column in range(m)]


@pytest.mark.parametrize("kind", ["undirected", "directed", "hops"])
def test_ties_on_a_grid_of_streets(kind: str) -> None:
    """Where half of the streets are closed there are dead ends, which must not decide between tied ways."""
    edges = grid(7)
    edges += [(b, a) for a, b in edges] if kind == "directed" else []
    hops = {"max_hops": 16} if kind == "hops" else {}
    streets = sb.sets.Paths(edges, (0, 0), (6, 6), directed=kind == "directed", **hops)
    generator = np.random.default_rng(3)
    empty = 0
    for _ in range(300):
        weights = -generator.integers(0, 3, size=streets.n_items).astype(np.float64)
        closed = np.flatnonzero(generator.random(streets.n_items) < generator.choice([0.05, 0.2, 0.4]))
        law = answer(streets, weights, closed)
        assert quick(streets, weights, closed) == law
        empty += isinstance(law, str)
    assert 5 < empty < 250


def test_ties_of_paths_with_few_hops() -> None:
    """Where fewer nodes are left than a path may have hops, and ways that end too far from the target."""
    generator = np.random.default_rng(5)
    compared = empty = 0
    while compared < 1500:
        nodes, m = generator.integers(4, 10), int(generator.integers(5, 24))
        edges = [tuple(generator.choice(nodes, 2).tolist()) for _ in range(m)]
        try:
            streets = sb.sets.Paths(
                edges,
                edges[0][0],
                edges[-1][1],
                directed=bool(generator.integers(2)),
                max_hops=int(generator.integers(1, nodes + 2)),
            )
            if generator.random() < 0.3:
                streets = streets.restrict(exclude=[int(generator.integers(m))])
        except SemiBanditError:
            continue
        for _ in range(4):
            weights = -generator.integers(0, 3, size=m).astype(np.float64)
            closed = np.flatnonzero(generator.random(m) < 0.25)
            law = answer(streets, weights, closed)
            assert quick(streets, weights, closed) == law
            empty += isinstance(law, str)
            compared += 1
    assert 100 < empty < compared / 2


@pytest.mark.parametrize("hops", [None, 5])
def test_warmed_up_it_is_machine_code(hops: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other ends, and without some edges, too."""
    streets = sb.sets.Paths(grid(4), (0, 0), (2, 2), directed=False, max_hops=hops)
    others = [] if hops else [streets.between((3, 0), (0, 3))]
    names = ("shortest_path_within",) if hops else ("in_block", "shortest_path_between")
    for feasible in (streets, *others):
        learner = sb.Learner(feasible, sb.policies.CTS(), sense="min", seed=0)
        assert set(names) <= set(learner.warm_up())
    expected = [answer(streets, -np.arange(24.0), [closed]) for closed in range(24)]
    monkeypatch.setattr(type(streets._live), "_plain", None)
    assert [quick(streets, -np.arange(24.0), [closed]) for closed in range(24)] == expected
    if hops is None:
        assert streets.between((1, 1), (3, 3)).argmax(-np.ones(24)).size == 4


def test_huge_weights_of_what_is_left_out() -> None:
    top = sb.sets.TopK(4, 2)
    assert top.argmax_without([1e308, 1e308, 1.0, 2.0], [0]).tolist() == [1, 3]
    roads = sb.sets.Paths([(0, 1), (0, 1), (1, 2)], 0, 2)
    assert roads.argmax_without([-1e308, -0.0, -1e308], [1]).tolist() == [0, 2]


@pytest.mark.parametrize("wrong", [[9], [-1], [0, 0], ["a"], 3])
def test_what_is_left_out_is_read_as_by_restrict(wrong: Any) -> None:
    sets = sb.sets
    for feasible in (sets.TopK(4, 2), sets.GridPaths(1), sets.Assignment(2, 2), sets.Enumerated([[0], [3]])):
        with pytest.raises(SemiBanditError) as law:
            feasible.restrict(exclude=wrong)
        with pytest.raises(SemiBanditError) as found:
            feasible.argmax_without(np.zeros(4), wrong)
        assert type(found.value) is type(law.value)
        assert str(found.value) == str(law.value)


class Minded(sb.sets.TopK):
    """A user's own, which has its own mind of what is best."""

    def argmax(self, weights: Any) -> Items:
        chosen = np.array(super().argmax(weights))
        return chosen[::-1][::-1] if 0 in chosen else np.array([0, 1])


class Prudent(sb.sets.TopK):
    """Where something is missing, item 0 is not to be had either."""

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "Prudent":
        return super().restrict(include, sorted({0, *exclude}))


def test_a_subclass_with_an_oracle_or_a_restriction_of_its_own_is_asked() -> None:
    weights = np.array([0.0, 0.1, 0.8, 0.9])
    minded = Minded(4, 2)
    law = minded.restrict(exclude=[3]).argmax(weights)
    assert solve_without(minded, weights, np.array([3])).tolist() == law.tolist() == [0, 1]
    assert solve_without(Prudent(4, 2), np.array([9.0, 0.1, 0.8, 0.9]), np.array([3])).tolist() == [1, 2]
    patched = sb.sets.TopK(4, 2)
    patched.argmax = lambda weights: np.array([1, 2])  # type: ignore[method-assign]
    assert solve_without(patched, weights, np.array([3])).tolist() == [1, 2]


class Quick(FeasibleSet):
    """One of some items, with the optional method."""

    signed = True

    def __init__(self, items: Iterable[int], obeys: bool = True) -> None:
        self.n_items, self.max_size = 4, 1
        self.items, self.obeys, self.asked = sorted(items), obeys, 0

    def argmax(self, weights: Any) -> Items:
        return np.array([max(self.items, key=lambda item: (weights[item], -item))])

    def contains(self, items: Iterable[int]) -> bool:
        listed = list(items)
        return len(listed) == 1 and listed[0] in self.items

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "Quick":
        left = set(self.items) - set(exclude)
        left = left & set(include) if len(list(include)) else left
        if not left or len(set(include)) > 1:
            raise EmptyFeasibleSet("nothing is left")
        return Quick(left)

    def argmax_without(self, weights: Any, exclude: Iterable[int]) -> Items:
        self.asked += 1
        return self.restrict(exclude=exclude).argmax(weights) if self.obeys else self.argmax(weights)


def test_a_users_own_method_is_used_and_its_answer_checked() -> None:
    own = Quick(range(4))
    learner = sb.Learner(own, sb.policies.CombUCB1(), seed=0)
    for _ in range(6):
        decision = learner.ask(available=[1, 2])
        assert decision.items[0] in (1, 2)
        learner.tell(decision.id, [0.5])
    assert own.asked > 0
    sb.testing.check_set(own)
    with pytest.raises(InfeasibleSolution, match="argmax_without"):
        sb.Learner(Quick(range(4), obeys=False), sb.policies.CombUCB1(), seed=0).ask(available=[3])
    with pytest.raises(sb.errors.ConformanceError, match="argmax_without"):
        sb.testing.check_set(Quick(range(4), obeys=False))


def test_a_solver_is_called_once() -> None:
    calls = []

    def best(weights: Any) -> list[int]:
        calls.append(1)
        return np.argsort(-weights, kind="stable")[:2].tolist()

    own = sb.sets.Oracle(best, n_items=4, max_size=2)
    assert own.argmax_without(np.array([1.0, 2.0, 3.0, 4.0]), [3]).tolist() == [1, 2]
    assert len(calls) == 1
    with pytest.raises(EmptyFeasibleSet, match="without items"):
        own.argmax_without(np.ones(4), [1, 2, 3])


def test_unknown_items() -> None:
    with pytest.raises(UnknownItem):
        sb.sets.Paths([(0, 1)], 0, 1).argmax_without([-1.0], [1])


class Forgetful(FeasibleSet):
    """Whose restriction is none."""

    n_items, max_size = 6, 2

    def argmax(self, weights: Any) -> Items:
        return np.sort(np.argsort(-np.asarray(weights), kind="stable")[:2])

    def contains(self, items: Iterable[int]) -> bool:
        return len(list(items)) == 2

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "Forgetful":
        return Forgetful()


def test_a_users_restriction_that_is_none_is_noticed() -> None:
    learner = sb.Learner(Forgetful(), seed=0)
    learner.observe(range(6), [0.1, 0.1, 0.1, 0.1, 0.9, 0.9])
    with pytest.raises(InfeasibleSolution, match=r"restrict\(\) returned answered .*, with items that were excluded"):
        learner.ask(available=[0, 1, 2])
    assert learner.round == 0
