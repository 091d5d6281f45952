"""Couriers in four towns of 8 x 8 crossings, whose user says no more than that a street takes half an hour at most."""

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import IndexPolicy, Learner, Policy, policies, rng, sets, simulate
from semibandits.experiments import suite

TOWNS = ["street-1", "street-2", "street-3", "street-4"]


def played(name: str, player: IndexPolicy | Policy, runs: int) -> NDArray[np.float64]:
    """The minutes lost in 5,000 trips, run by run."""
    return simulate(suite.CASES[name].problem, player, horizon=5000, runs=runs, seed=0).regret[0, :, -1]


@pytest.mark.parametrize("name", TOWNS)
def test_the_default_loses_at_most_2000_minutes(name: str) -> None:
    town = suite.CASES[name].problem
    assert isinstance(town.feasible, sets.Paths)
    assert (town.n_items, town.bounds, town.sense) == (224, (0.0, 30.0), "min")
    assert 2.0 <= town.means.min() < town.means.max() <= 12.0
    lost = played(name, policies.default(town.feasible, bounds=town.bounds).policy, 32)
    assert lost.mean() + 3.0 * lost.std(ddof=1) / np.sqrt(lost.size) < 2000.0


@pytest.mark.long
def test_the_default_loses_less_than_half_of_what_greedy_does() -> None:
    """All towns together: greedy is lucky in many runs, and loses thousands in the others."""
    usual = sum(played(name, policies.PooledCTS(), 32) for name in TOWNS)
    greedy = sum(played(name, policies.EpsilonGreedy(epsilon=0), 32) for name in TOWNS)
    difference = greedy - 2.0 * usual
    assert difference.mean() > 3.0 * difference.std(ddof=1) / np.sqrt(difference.size)


def test_a_live_courier_has_learned_the_town() -> None:
    """By a learner that is told nothing but the streets and half an hour."""
    town = suite.CASES["street-4"].problem
    learner = Learner(town.feasible, sense="min", bounds=(0.0, 30.0), seed=0)
    lost = []
    for round in range(1, 501):
        decision = learner.ask()
        key = rng.key(0, 0, round, rng.WORLD)
        learner.tell(decision.id, town.environment.weights(round, key, decision.items))
        lost.append(town.gap(decision.items))
    result = simulate(town, learner.policy, horizon=500, runs=1, seed=0)
    assert sum(lost) == pytest.approx(float(result.regret[0, 0, -1]))
    assert np.mean(lost[250:]) < 0.1 * np.mean(lost[:50])
