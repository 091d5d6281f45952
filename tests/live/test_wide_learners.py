"""What a learner knows whose policy chooses whole solutions, how it begins, and every one of the package's at work."""

import gc
import math
from typing import Any

import numpy as np
import pytest

import semibandits.policies.solution.base
from semibandits import Learner, errors, policies, sets
from semibandits.types import FeasibleSet, State, Weights
from support.wide import BANDIT, EIGHT, LIVE, TUNED, WIDE_PROBLEMS, Lottery, Spy, asked, known
from support.worlds import LISTED


class Knowing(Lottery):
    def scores(self, state: State, feasible: FeasibleSet, round: int, key: int) -> Weights:
        return np.array([0.0, 0.25, 0.5, 1.0]) + 0.0 * round

    def estimates(self, state: State) -> Weights:
        return np.array([0.1, 0.2, 0.9, 1.25])


def test_what_was_learned() -> None:
    plain = Learner(EIGHT, Lottery(), sense="min", bounds=(2.0, 4.0))
    with pytest.raises(errors.Unsupported, match="scores whole solutions"):
        plain.scores()
    plain.observe([0, 0, 1, 3], [2.0, 3.0, 4.0, 2.5])
    np.testing.assert_allclose(plain.estimates, [2.5, 4.0, np.nan, 2.5])
    assert plain.best().tolist() == [0]  # or [3], as cheap and listed later
    wide = plain.intervals(0.9)
    radius = [math.sqrt(math.log(2 * t * (t + 1) / 0.1) / (2 * t)) * 2.0 for t in (2, 1)]
    np.testing.assert_allclose(wide[0], [2.0, min(4.0, 2.5 + radius[0])])
    np.testing.assert_array_equal(wide[2], [2.0, 4.0])
    for sense in ("max", "min"):
        knows = Learner(EIGHT, Knowing(), sense=sense, bounds=(2.0, 4.0))  # type: ignore[arg-type]
        flip = (lambda x: 4.0 - 2.0 * x) if sense == "min" else (lambda x: 2.0 + 2.0 * x)
        np.testing.assert_allclose(knows.scores(), flip(np.array([0.0, 0.25, 0.5, 1.0])))
        np.testing.assert_allclose(knows.estimates, np.clip(flip(np.array([0.1, 0.2, 0.9, 1.25])), 2.0, 4.0))
        values = np.clip(np.array([0.1, 0.2, 0.9, 1.25]), 0, 1)
        worth = {tuple(one): sum(flip(values)[one]) for one in map(np.ndarray.tolist, EIGHT.listed(9) or [])}
        chosen = (max if sense == "max" else min)(worth, key=lambda one: worth[one])
        assert knows.best().tolist() == list(chosen)


@pytest.mark.parametrize(("sense", "bounds"), [("max", (0.0, 1.0)), ("min", (0.0, 1.0)), ("min", (2.0, 5.0))])
def test_scores_without_exploration_are_the_estimates(sense: Any, bounds: tuple[float, float]) -> None:
    learner = Learner(
        sets.TopK(5, 2), policies.CombLinUCB(np.eye(5), c=0.0, lam=50.0), sense=sense, bounds=bounds, seed=0
    )
    generator = np.random.default_rng(0)
    for _ in range(20):
        decision = learner.ask(available=generator.permutation(5)[:3])
        learner.tell(decision.id, generator.uniform(*bounds, 2))
    np.testing.assert_allclose(learner.scores(), learner.estimates, rtol=1e-9)


class Dutiful(Spy):
    init = "all"


def test_every_item_is_observed_first_where_the_policy_wants_it() -> None:
    spy = Dutiful()
    learner = Learner(sets.TopK(6, 2), spy, seed=0)
    first = [learner.ask() for _ in range(3)]
    assert sorted(item for one in first for item in one.items.tolist()) == list(range(6))
    assert not spy.chose  # nothing it was asked for
    assert learner.ask().round == spy.chose[-1].round == 4  # all the rest is outstanding: it must do without
    learner.tell(first[1].id, [0.5, 0.25])
    assert (spy.learned[-1].note, spy.learned[-1].items) == (None, first[1].items.tolist())
    learner.cancel(first[0].id)
    again = learner.ask()
    assert set(again.items.tolist()) == set(first[0].items.tolist())
    assert len(spy.chose) == 1
    warm = Learner(sets.TopK(6, 2), Dutiful())
    warm.observe(range(6), [0.5] * 6)
    assert warm.ask().round == warm._agent.policy.chose[0].round  # type: ignore[union-attr]
    with pytest.raises(errors.Unsupported, match="init='all', but cannot learn"):
        Learner(sets.TopK(6, 2), Dutiful(needs_note=True))


def test_items_that_no_solution_has() -> None:
    feasible = sets.Enumerated([[0, 1], [1, 3]], n_items=5)
    with pytest.raises(errors.UncoveredItems, match="c, e") as raised:
        Learner(feasible, Dutiful(), labels=list("abcde")).ask()
    assert raised.value.items == (2, 4)
    ignoring = Learner(feasible, Dutiful(), uncovered="ignore")
    assert {tuple(ignoring.ask().items.tolist()) for _ in range(2)} == {(0, 1), (1, 3)}
    assert len(Learner(feasible, Lottery()).ask().items) == 2  # it does not mind
    with pytest.raises(errors.UncoveredItems):
        Learner(feasible, policies.ESCB()).ask()
    assert Learner(feasible, policies.FPL(eta=0.1)).ask().items.size == 2


@pytest.mark.parametrize("name", TUNED)
def test_a_learner_knows_no_horizon(name: str) -> None:
    with pytest.raises(errors.BadArgument, match=r"horizon, which a live learner does not: give eta="):
        Learner(sets.TopK(5, 2), TUNED[name])


def test_telling_nothing_of_nothing() -> None:
    """An empty solution is finished, and learned from, by an empty list and by an empty mapping alike."""
    states = []
    for nothing in ([], {}):
        spy = Spy()
        learner = Learner(LISTED, spy, seed=1)
        decision = asked(learner, lambda one: one.items.size == 0)
        assert learner.tell(decision.id, nothing) == 0
        assert learner.outstanding == []
        states.append((len(spy.learned), known(learner)[2:]))
    assert states[0] == states[1]


@pytest.mark.parametrize("name", WIDE_PROBLEMS)
def test_every_policy_keeps_to_what_is_available(name: str) -> None:
    """Late, partial and reordered feedback; every other time some items cannot be had."""
    problem = WIDE_PROBLEMS[name]
    feasible, (lo, hi) = problem.feasible, problem.bounds
    generator = np.random.default_rng(4)
    for policy in LIVE:
        try:
            learner = Learner(
                feasible,
                LIVE[policy](feasible.n_items),
                sense=problem.sense,
                bounds=problem.bounds,
                seed=3,
                uncovered="ignore",
            )
        except errors.Unsupported:
            assert policy == "AESCB"
            continue
        for round in range(24):
            available = np.flatnonzero(generator.random(feasible.n_items) < (0.75 if round % 2 else 1.0))
            try:
                decision = learner.ask(available=available if round % 2 else None)
            except errors.EmptyFeasibleSet:
                continue
            assert feasible.contains(decision.items)
            assert set(decision.items.tolist()) <= set(available.tolist())
            weights = generator.uniform(lo, hi, decision.items.size).tolist()
            if round % 5 == 4:
                continue  # never told
            if policy in BANDIT or round % 3:
                learner.tell(decision.id, weights)
            else:
                for item, weight in generator.permutation(list(zip(decision.items.tolist(), weights, strict=True))):
                    learner.tell(decision.id, {int(item): weight})
            assert not any(np.isnan(array).any() for array in learner._agent.state)  # type: ignore[union-attr]


def test_memory_does_not_grow_with_what_is_available() -> None:
    learner = Learner(sets.TopK(6, 2), policies.ESCB(init="optimistic"), seed=1)
    gc.collect()
    before = len(semibandits.policies.solution.base._LIVE)
    for round in range(60):
        learner.tell(learner.ask(available=[0, 1, 2, 3, 4 + round % 2]).id, [0.5, 0.5])
    gc.collect()
    assert len(semibandits.policies.solution.base._LIVE) <= before + 16


@pytest.mark.parametrize("policy", ["FPL", "HYBRID"])
def test_parts_add_up_to_the_whole(policy: str) -> None:
    for feasible in (sets.TopK(6, 3), LISTED):
        whole, parts = (Learner(feasible, LIVE[policy](6), seed=2) for _ in range(2))
        generator = np.random.default_rng(3)
        for _ in range(30):
            decision, other = whole.ask(), parts.ask()
            np.testing.assert_array_equal(decision.items, other.items)
            weights = generator.random(decision.items.size)
            whole.tell(decision.id, weights)
            for item, weight in list(zip(decision.items.tolist(), weights, strict=True))[::-1]:
                parts.tell(other.id, {item: weight})
            if decision.items.size == 0:
                parts.tell(other.id, [])
            one, two = (learner._agent.state for learner in (whole, parts))  # type: ignore[union-attr]
            np.testing.assert_allclose(two[0], one[0], rtol=1e-9, atol=1e-9)
