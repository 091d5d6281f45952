"""What a learner plays that is given no policy, and why."""

import json
from typing import Any

import pytest

from semibandits import FeasibleSet, Learner, errors, policies, sets
from semibandits.policies.recommendation import DEFAULT
from support.worlds import PROBLEMS


def names(found: policies.Recommendation) -> list[str]:
    return [type(policy).__name__ for policy, _ in found.others]


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_set_alone_is_advised_the_default(name: str) -> None:
    feasible = PROBLEMS[name].feasible
    found = policies.default(feasible)
    assert found == policies.recommend(feasible) == policies.recommend(feasible, horizon=500)
    assert found.policy == DEFAULT
    assert {"CombUCB1", "KLUCB"} <= set(names(found))
    assert json.loads(json.dumps(found.as_dict()))["policy"] == repr(DEFAULT)
    assert str(found).startswith(f"{DEFAULT!r}\n  - Thompson sampling that learns how much the weights vary")


def test_it_says_what_it_goes_by() -> None:
    reasons = " ".join(policies.default(sets.TopK(9, 3), bounds=(-2, 30.5)).reasons)
    assert "within bounds -2 to 30.5" in reasons
    assert "window= or discount=" in reasons
    assert "Wang" not in reasons


@pytest.mark.parametrize(
    ("feasible", "what"),
    [
        (sets.GreedyKnapsack([1, 2, 3], 3), "the oracle is approximate (ratio 0.5)"),
        (sets.Product(sets.TopK(3, 1), sets.GreedyKnapsack([1, 2, 3], 3)), "the oracle is approximate (ratio 0.5)"),
        (sets.MILP([[1, 1, 1]], upper=2, max_nodes=1), "the search may be cut"),
    ],
    ids=repr,
)
def test_with_an_approximate_oracle_it_says_what_can_happen(feasible: FeasibleSet, what: str) -> None:
    found = policies.default(feasible)
    *_, why, instead = found.reasons
    assert why.startswith(what)
    assert why.endswith("regret is linear (Wang and Chen 2018)")
    assert "CombUCB1 and KLUCB" in instead
    assert found.others[0] == (policies.CombUCB1(), "to have a proof for approximate oracles")


def test_large_solutions_are_told_of_unless_they_are_a_matroid_s() -> None:
    assert "solutions may have 16 items" in policies.default(sets.GridPaths(8)).reasons[-1]
    assert names(policies.default(sets.GridPaths(8))) == ["CombUCB1", "KLUCB", "BGCTS"]
    for small in (sets.GridPaths(5), sets.TopK(50, 20)):
        assert names(policies.default(small)) == ["CombUCB1", "KLUCB"]


def test_where_only_the_sum_is_seen_it_is_another_one() -> None:
    found = policies.default(sets.TopK(9, 4), feedback="bandit")
    assert found.policy == policies.LinUCB(alpha=2.0)
    Learner(sets.TopK(9, 4), found.policy, feedback="bandit").ask()


@pytest.mark.parametrize("wrong", [None, 3, "slate", policies.CTS(), PROBLEMS["grid"]])
def test_of_what_is_no_set(wrong: Any) -> None:
    with pytest.raises(errors.BadArgument, match="feasible must be a FeasibleSet, got"):
        policies.default(wrong)


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), 3, None, ("a", "b"), (0.0, float("nan"))])
def test_bounds_that_are_none(bounds: Any) -> None:
    with pytest.raises(errors.BadArgument, match="bounds"):
        policies.default(sets.TopK(3, 1), bounds=bounds)


def test_feedback_that_is_none() -> None:
    with pytest.raises(errors.BadArgument, match="feedback must be 'semi' or 'bandit'"):
        policies.default(sets.TopK(3, 1), feedback="none")  # type: ignore[arg-type]
