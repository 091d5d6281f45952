"""A learner that is given no policy: it plays the default, and says and saves which one that is."""

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from semibandits import FeasibleSet, Learner, environments, errors, policies, rng, sets, simulate
from semibandits.policies import recommendation
from semibandits.problem import Problem
from support.worlds import PROBLEMS

Feedback = Literal["semi", "bandit"]
ROUNDS = 40


def play(learner: Learner, rounds: int = ROUNDS) -> list[list[int]]:
    """Its choices where every other round is told late, after the next one."""
    lo, hi = (np.zeros(learner.feasible.n_items) + bound for bound in learner.bounds)
    late: list[tuple[str, Any]] = []
    choices = []
    for _ in range(rounds):
        decision = learner.ask()
        choices.append(decision.items.tolist())
        key = rng.key(1, 0, decision.round, rng.WORLD)
        weights = [lo[e] + (hi[e] - lo[e]) * float(rng.uniform(key, e)) for e in decision.items.tolist()]
        late.append((decision.id, weights if learner.feedback == "semi" else sum(weights)))
        if decision.round % 2 == 0:
            while late:
                learner.tell(*late.pop())
    return choices


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_decides_as_the_default_does_bit_for_bit(name: str) -> None:
    problem = PROBLEMS[name]
    options: dict[str, Any] = {"sense": problem.sense, "bounds": problem.environment.bounds, "seed": 7}
    named = policies.default(problem.feasible, bounds=options["bounds"]).policy
    silent, spoken = Learner(problem.feasible, **options), Learner(problem.feasible, named, **options)
    assert silent.policy == spoken.policy == policies.PooledCTS()
    assert play(silent) == play(spoken)
    np.testing.assert_array_equal(silent.scores(), spoken.scores())
    np.testing.assert_array_equal(silent.counts, spoken.counts)


@pytest.mark.parametrize("feedback", ["semi", "bandit"])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-3.0, 30.0)])
def test_by_what_is_seen(feedback: Feedback, bounds: tuple[float, float]) -> None:
    slate = sets.TopK(6, 4)
    learner = Learner(slate, feedback=feedback, bounds=bounds, seed=3)
    named = policies.default(slate, bounds=bounds, feedback=feedback).policy
    assert learner.policy == named == (policies.LinUCB(alpha=2.0) if feedback == "bandit" else policies.PooledCTS())
    assert play(learner) == play(Learner(slate, named, feedback=feedback, bounds=bounds, seed=3))
    assert repr(learner) == f"Learner(TopK(6, 4), {named!r}, round={ROUNDS})"


def test_none_is_the_same_as_nothing() -> None:
    assert Learner(sets.TopK(4, 2), None).policy == Learner(sets.TopK(4, 2)).policy == recommendation.DEFAULT


def test_it_plays_run_0_of_a_simulation() -> None:
    problem = Problem(sets.TopK(5, 2), environments.Uniform([0.0] * 5, [1.0, 0.8, 0.6, 0.4, 0.2]))
    policy = policies.default(problem.feasible).policy
    result = simulate(problem, policy, horizon=50, runs=1, seed=4, record="solutions")
    learner = Learner(problem.feasible, seed=4)
    for round in range(1, 51):
        decision = learner.ask()
        assert decision.items.tolist() == result.solutions[0, 0, round - 1].tolist()
        key = rng.key(4, 0, round, rng.WORLD)
        learner.tell(decision.id, problem.environment.weights(round, key, decision.items))


@pytest.mark.parametrize("feedback", ["semi", "bandit"])
def test_a_saved_learner_keeps_its_policy_whatever_the_default_is_later(
    feedback: Feedback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slate, path = sets.TopK(6, 2), tmp_path / "learner.json"
    learner = Learner(slate, feedback=feedback, seed=5)
    play(learner)
    learner.save(path)
    saved = json.loads(path.read_text())["learner"]["policy"]
    assert saved["name"] == type(learner.policy).__name__
    assert saved["parameters"] == vars(learner.policy)

    later = policies.CombUCB1() if feedback == "semi" else policies.OFUL()
    found = recommendation.Recommendation(later, (), ())
    monkeypatch.setattr(policies, "default", lambda *args, **options: found)
    assert Learner(slate, feedback=feedback).policy == later
    loaded = Learner.load(path, slate)
    assert loaded.policy == learner.policy
    assert play(loaded) == play(learner)


def test_the_default_may_be_given_other_parameters_when_it_is_loaded(tmp_path: Path) -> None:
    slate, path = sets.TopK(6, 2), tmp_path / "learner.json"
    learner = Learner(slate, seed=5)
    play(learner)
    learner.save(path)
    assert Learner.load(path, slate, policies.PooledCTS(discount=0.99)).policy == policies.PooledCTS(discount=0.99)
    with pytest.raises(errors.BadState, match="saved with the policy PooledCTS, got CombUCB1"):
        Learner.load(path, slate, policies.CombUCB1())


@pytest.mark.parametrize("feasible", [sets.TopK(200, 20), sets.GreedyKnapsack([1] * 20, 5)], ids=repr)
def test_where_there_is_no_default_it_says_so(feasible: FeasibleSet) -> None:
    with pytest.raises(errors.Unsupported, match="where only the sum is seen") as error:
        Learner(feasible, feedback="bandit")
    with pytest.raises(errors.Unsupported) as same:
        policies.default(feasible, feedback="bandit")
    assert str(error.value) == str(same.value)


def test_bad_input_is_refused_as_ever() -> None:
    wrong: Any = "pooled"
    with pytest.raises(errors.BadArgument, match="feasible must be a FeasibleSet"):
        Learner(wrong)
    with pytest.raises(errors.BadArgument, match="did you mean 'PooledCTS'"):
        Learner(sets.TopK(3, 1), wrong)
    with pytest.raises(errors.BadArgument, match="bounds"):
        Learner(sets.TopK(3, 1), bounds=(1.0, 0.0))
    with pytest.raises(errors.BadArgument, match="feedback must be"):
        Learner(sets.TopK(3, 1), feedback=wrong)


def test_items_that_no_solution_contains_are_nothing_to_wait_for() -> None:
    learner = Learner(sets.Enumerated([[0], [2]], n_items=3), seed=0)
    seen = {item for choice in play(learner) for item in choice}
    assert seen == {0, 2}


def test_what_a_log_has_seen_need_not_be_tried() -> None:
    learner = Learner(sets.TopK(4, 1), seed=0)
    learner.observe([0, 1, 1, 2], [0.5, 0.0, 1.0, 0.25])
    assert learner.ask().items.tolist() == [3]


def test_every_item_is_seen_once_before_any_is_seen_twice() -> None:
    learner = Learner(sets.TopK(8, 2), seed=0)
    for _ in range(4):
        decision = learner.ask()
        learner.tell(decision.id, [1.0, 0.5])
    assert learner.counts.tolist() == [1] * 8


def test_an_oracle_that_is_approximate_is_played_too() -> None:
    learner = Learner(sets.GreedyKnapsack([4, 3, 3, 2, 5, 1], 6), seed=0)
    assert learner.policy == policies.PooledCTS()
    assert len(play(learner)) == ROUNDS


def test_decisions_before_any_feedback_try_different_items() -> None:
    learner = Learner(sets.TopK(40, 5), bounds=(0.0, 1e9), sense="min", seed=0)
    seen = {int(item) for _ in range(60) for item in learner.ask().items}
    assert seen == set(range(40))


def test_an_unseen_item_is_tried_however_loose_the_bounds_are() -> None:
    learner = Learner(sets.TopK(8, 1), bounds=(0.0, 1e9), sense="min", seed=0)
    for _ in range(8):
        decision = learner.ask()
        learner.tell(decision.id, [5.0])
    assert learner.counts.tolist() == [1] * 8


def test_what_was_learned_without_a_window_is_not_put_into_one(tmp_path: Path) -> None:
    learner = Learner(sets.TopK(4, 2), seed=1)
    learner.tell(learner.ask().id, [0.5, 0.25])
    learner.save(tmp_path / "state.json")
    with pytest.raises(errors.BadState, match="learned without a window cannot be put into one"):
        Learner.load(tmp_path / "state.json", sets.TopK(4, 2), policies.PooledCTS(window=9))
    assert Learner.load(tmp_path / "state.json", sets.TopK(4, 2), policies.PooledCTS(discount=0.9)).round == 1
