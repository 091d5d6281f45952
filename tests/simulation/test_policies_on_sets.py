"""Every index policy on every compiled set: machine code, the plain loop and a live learner decide alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, Problem, errors, policies, simulate
from semibandits.types import IndexPolicy
from support.tasks import EVERYTHING, agree_everywhere, long, task
from support.worlds import PROBLEMS

HORIZON = 300

POLICIES: dict[str, Callable[[Problem], IndexPolicy]] = {
    "BGCTS": lambda problem: policies.BGCTS(),
    "CLSG": lambda problem: policies.CLSG(),
    "CMOSS": lambda problem: policies.CMOSS(),
    "CMOSS anytime": lambda problem: policies.CMOSS(anytime=True),
    "CTS": lambda problem: policies.CTS(),
    "Clairvoyant": policies.Clairvoyant,
    "CombUCB1": lambda problem: policies.CombUCB1(),
    "Discounted": lambda problem: policies.Discounted(0.95),
    "EpsilonGreedy": lambda problem: policies.EpsilonGreedy(0.2),
    "ExploreThenCommit": lambda problem: policies.ExploreThenCommit(60),
    "Fixed": lambda problem: policies.Fixed(problem.at(1).optimum),
    "GaussianCTS": lambda problem: policies.GaussianCTS(),
    "KLUCB": lambda problem: policies.KLUCB(),
    "OMM": lambda problem: policies.OMM(),
    "PooledCTS": lambda problem: policies.PooledCTS(),
    "PooledCTS, window": lambda problem: policies.PooledCTS(window=37),
    "PooledCTS, discount": lambda problem: policies.PooledCTS(discount=0.95),
    "Random": lambda problem: policies.Random(),
    "SlidingWindow": lambda problem: policies.SlidingWindow(37),
    "UCBV": lambda problem: policies.UCBV(),
}
RANDOM = {
    *("BGCTS", "CLSG", "CTS", "EpsilonGreedy", "GaussianCTS", "Random"),
    *("PooledCTS", "PooledCTS, window", "PooledCTS, discount"),
}
FUSED = "small top-k"
"""Scores are worked out where the oracle reads them, in lanes."""
SOON = {(name, FUSED) for name in POLICIES if name not in ("Fixed", "Clairvoyant", "Random")}
"""The others are campaigns."""
PAIRS = [
    (policy, name)
    for name, problem in PROBLEMS.items()
    for policy in POLICIES
    if (problem.feasible.matroid or policy != "OMM") and not (problem.environment.hindsight and policy == "Clairvoyant")
]


@pytest.mark.parametrize(("policy", "name"), [pair if pair in SOON else long(*pair) for pair in PAIRS])
def test_engine_learner_and_plain_loop_agree_on_every_pair(policy: str, name: str) -> None:
    problem = PROBLEMS[name]
    agree_everywhere(task(problem, POLICIES[policy](problem), horizon=HORIZON), runs=2)


def test_no_policy_is_left_out() -> None:
    kinds = {type(make(PROBLEMS[FUSED])) for make in POLICIES.values()}
    public = [getattr(policies, name) for name in policies.__all__]
    assert kinds == {kind for kind in public if isinstance(kind, type) and issubclass(kind, IndexPolicy)}
    assert {name for name, make in POLICIES.items() if make(PROBLEMS[FUSED]).random} == RANDOM
    assert set(PAIRS) >= SOON


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_falls_back_in_silence(policy: str) -> None:
    problem = PROBLEMS[FUSED]
    options: dict[str, Any] = {"horizon": HORIZON, "runs": 2, "seed": 7, "record": EVERYTHING}
    result = simulate(problem, POLICIES[policy](problem), engine="compiled", **options)
    assert result.engine == "compiled"
    plain = simulate(problem, POLICIES[policy](problem), engine="plain", threads=1, **options)
    np.testing.assert_array_equal(result.regret, plain.regret)
    np.testing.assert_array_equal(result.solutions, plain.solutions)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", [policies.CMOSS(), policies.ExploreThenCommit()], ids=repr)
def test_a_learner_knows_no_horizon(policy: IndexPolicy) -> None:
    with pytest.raises(errors.BadArgument, match=r"needs to know the horizon, which a live learner does not"):
        Learner(PROBLEMS[FUSED].feasible, policy)
    agree_everywhere(task(PROBLEMS[FUSED], policy, horizon=HORIZON), runs=2)


def test_omm_refuses_what_is_no_matroid() -> None:
    refused = [name for name, problem in PROBLEMS.items() if not problem.feasible.matroid]
    assert len(refused) > 10
    for name in refused:
        with pytest.raises(errors.Unsupported, match="matroid"):
            Learner(PROBLEMS[name].feasible, policies.OMM(), sense=PROBLEMS[name].sense, bounds=PROBLEMS[name].bounds)
