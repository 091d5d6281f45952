"""CombUCB1 against the paper's pseudocode, and its formula number by number."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, environments, errors, policies, rng, sets
from semibandits.kernel import compiled
from semibandits.testing import check_policy
from semibandits.types import FeasibleSet
from support import strategies
from support.reference import PaperCombUCB1, Solution, value

ROUNDS = 150


def covering(solutions: list[Solution], n_items: int) -> list[Solution]:
    """The paper assumes that every item is in some solution."""
    missing = sorted(set(range(n_items)) - {item for one in solutions for item in one})
    return [*solutions, tuple(missing)] if missing else solutions


@settings(max_examples=40)
@given(strategies.enumerated(), st.integers(0, 2**32), st.data())
def test_choices_equal_the_pseudocode_round_for_round(
    instance: tuple[FeasibleSet, list[Solution]], seed: int, data: st.DataObject
) -> None:
    n_items = instance[0].n_items
    solutions = covering(instance[1], n_items)
    learner = Learner(sets.Enumerated(solutions, n_items), policies.CombUCB1())
    paper = PaperCombUCB1(solutions, n_items)
    high = np.random.default_rng(seed).uniform(0.1, 1.0, n_items)
    world = environments.Uniform(np.zeros(n_items), high, bounds=(0.0, 1.0))  # continuous: no ties after Init
    for t in range(1, ROUNDS + 1):
        weights = world.weights(t, rng.key(seed, 0, t, rng.WORLD))
        decision = learner.ask()
        chosen = tuple(decision.items.tolist())
        assert decision.round == paper.t == t
        assert chosen == paper.choose()
        learner.tell(decision.id, weights[decision.items])
        paper.update(chosen, lambda e, weights=weights: float(weights[e]))  # type: ignore[misc]
        if not paper.initialising:
            assert learner.counts.tolist() == paper.T
            np.testing.assert_allclose(learner.estimates, paper.w_hat, rtol=0, atol=1e-13)
            np.testing.assert_allclose(learner.scores(), paper.scores(), rtol=0, atol=1e-13)


@settings(max_examples=60)
@given(strategies.enumerated(), st.integers(0, 2**32))
def test_choices_equal_the_pseudocode_on_coins(instance: tuple[FeasibleSet, list[Solution]], seed: int) -> None:
    """0/1 weights make exact ties, which rounding may break either way: a choice must be among the paper's best."""
    n_items = instance[0].n_items
    solutions = covering(instance[1], n_items)
    learner = Learner(sets.Enumerated(solutions, n_items), policies.CombUCB1())
    paper = PaperCombUCB1(solutions, n_items)
    world = environments.Bernoulli(np.random.default_rng(seed).random(n_items))
    for t in range(1, ROUNDS + 1):
        weights = world.weights(t, rng.key(seed, 0, t, rng.WORLD))
        decision = learner.ask()
        chosen = tuple(decision.items.tolist())
        scores = paper.scores()
        if paper.initialising:
            assert chosen == paper.choose()
        assert value(chosen, scores) >= max(value(one, scores) for one in solutions) - 1e-12
        learner.tell(decision.id, weights[decision.items])
        paper.update(chosen, lambda e, weights=weights: float(weights[e]))  # type: ignore[misc]


def test_the_radius_number_by_number() -> None:
    """U_t(e) = ŵ + sqrt(1.5 log(t-1) / T), with t-1 and not t."""
    learner = Learner(sets.TopK(2, 2), policies.CombUCB1())
    heard = [0.5, 0.25, 1.0, 0.0, 0.75]
    for t, weight in enumerate(heard, start=1):
        learner.tell(learner.ask().id, [weight, 1.0])
        expected = np.mean(heard[:t]) + math.sqrt(1.5 * math.log(t) / t)
        assert learner.scores()[0] == pytest.approx(expected, rel=1e-15)


def test_paper_init_overwrites_and_ends_with_counts_of_one() -> None:
    """Items 0 and 1 are in every solution: Init sees them three times and keeps the last."""
    solutions = [[0, 1, 2], [0, 1, 3], [0, 1, 4]]
    feedback = [[0.1, 0.9, 0.5], [0.2, 0.8, 0.6], [0.3, 0.7, 0.4]]
    learners = {
        init: Learner(sets.Enumerated(solutions), policies.CombUCB1(init=init))  # type: ignore[arg-type]
        for init in ("paper", "all")
    }
    for learner in learners.values():
        for weights in feedback:
            learner.tell(learner.ask().id, weights)
    assert learners["paper"].counts.tolist() == [1, 1, 1, 1, 1]
    assert learners["paper"].estimates.tolist() == [0.3, 0.7, 0.5, 0.6, 0.4]
    assert learners["all"].counts.tolist() == [3, 3, 1, 1, 1]
    np.testing.assert_allclose(learners["all"].estimates, [0.2, 0.8, 0.5, 0.6, 0.4])


def test_optimistic_start_scores_unseen_items_at_the_bound() -> None:
    learner = Learner(sets.TopK(4, 2), policies.CombUCB1(init="optimistic"), bounds=(0.0, 10.0))
    assert learner.scores().tolist() == [10.0] * 4
    learner.tell(learner.ask().id, [1.0, 9.0])
    assert learner.scores().tolist() == [1.0, 9.0, 10.0, 10.0]  # log(1) = 0 in round 2
    assert learner.ask().items.tolist() == [2, 3]


def test_functions_are_the_same_plain_and_compiled() -> None:
    check_policy(policies.CombUCB1(alpha=0.7))
    assert compiled(policies.CombUCB1.clock)(1, 0, (1.5,)) == (0.0,)
    assert compiled(policies.CombUCB1.clock)(8, 0, (1.5,)) == policies.CombUCB1.clock(8, 0, (1.5,))


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.inf, math.nan, "1.5", True, None])
def test_bad_alpha(alpha: object) -> None:
    with pytest.raises(errors.BadArgument, match="alpha"):
        policies.CombUCB1(alpha=alpha)  # type: ignore[arg-type]


def test_bad_init() -> None:
    with pytest.raises(errors.BadArgument, match="got 'none'"):
        policies.CombUCB1(init="none")  # type: ignore[arg-type]
