"""Simulations of worlds that say every round's set, beside a learner that is asked with them and sums worked out."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits import environments, policies, rng, sets
from semibandits.environments import Requests
from semibandits.errors import BadArgument, BadState, SemiBanditError, Unsupported
from semibandits.experiments import read, run
from support.requested import COINS, Own

SLATES = [sets.TopK(5, 1), sets.TopK(5, 2), sets.TopK(5, 3)]
STREETS = [(a, b) for a, b in itertools.permutations(range(5), 2) if (a + 2 * b) % 3]
ROADS = sets.Paths(STREETS, 0, 4)
TOLLS = environments.Uniform(0.5, np.linspace(1.0, 6.0, len(STREETS)), bounds=(0.0, 6.0))
PROBLEMS = {
    "slates": sb.Problem(sets.TopK(5, 3), Requests(COINS, SLATES, chances=[0.5, 0.3, 0.2])),
    "in turn": sb.Problem(sets.TopK(5, 2), Requests(COINS, SLATES, order="in turn")),
    "roads": sb.Problem(ROADS, Requests(TOLLS, [ROADS, ROADS.between(1, 3), ROADS.between(4, 0)]), sense="min"),
    "drifting": sb.Problem(
        sets.TopK(3, 2),
        Requests(
            environments.Drifting([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]], [1, 41], smooth=True),
            [sets.TopK(3, 1), sets.TopK(3, 2)],
        ),
    ),
    "own": sb.Problem(sets.TopK(5, 2), Own()),
}
PLAYERS = [
    policies.CombUCB1(),
    policies.CombUCB1(init="all"),
    policies.PooledCTS(),
    policies.CTS(),
    policies.KLUCB(),
    policies.SlidingWindow(window=20),
    policies.EpsilonGreedy(),
    policies.Random(),
    policies.ESCB(init="optimistic"),
    policies.FPL(eta=0.3, most=20),
]


def playable(problem: sb.Problem, policy: Any) -> bool:
    try:
        sb.simulate(problem, policy, horizon=1, runs=1, seed=0)
    except Unsupported:
        return False
    return True


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("policy", PLAYERS, ids=repr)
def test_a_learner_asked_with_that_rounds_set_is_run_0(name: str, policy: Any) -> None:
    problem, horizon = PROBLEMS[name], 80
    world = problem.environment
    if not playable(problem, policy):
        pytest.skip(f"{policy!r} does not play on {problem.feasible!r}")
    record = ["solutions"] if name in ("slates", "drifting", "own") else []
    how: dict[str, Any] = {"horizon": horizon, "seed": 7, "checkpoints": range(1, horizon + 1)}
    result = sb.simulate(problem, policy, runs=2, record=record, **how)
    realised = sb.simulate(problem, policy, runs=1, regret="realised", **how)
    assert (result.kind, realised.kind) == ("dynamic", "realised")
    learner = sb.Learner(problem.feasible, policy, sense=problem.sense, bounds=problem.bounds, seed=7)
    sign = 1.0 if problem.sense == "max" else -1.0
    lost, lost_really = 0.0, 0.0
    for round in range(1, horizon + 1):
        key = rng.key(7, 0, round, rng.WORLD)
        said = world.feasible(round, key)
        decision = learner.ask(feasible=said)
        feasible = problem.feasible if said is None else said
        weights, means = world.weights(round, key), world.means(round)  # type: ignore[operator]
        assert feasible.contains(decision.items)
        learner.tell(decision.id, weights[decision.items])
        best = feasible.argmax(sign * means)
        lost += sign * (np.add.accumulate(means[best])[-1] - np.add.accumulate(means[decision.items])[-1])
        really = np.add.accumulate(weights[best])[-1], np.add.accumulate(weights[decision.items])[-1]
        lost_really += sign * (really[0] - really[1])
        assert result.regret[0, 0, round - 1] == lost
        assert realised.regret[0, 0, round - 1] == lost_really
        if record:
            chosen = result.solutions[0, 0, round - 1]  # type: ignore[index]
            assert chosen[chosen >= 0].tolist() == decision.items.tolist()
    assert sb.simulate(problem, policy, horizon=40, runs=1, seed=7).regret[0, 0, -1] == result.regret[0, 0, 39]


def test_regret_is_against_the_best_of_each_rounds_set() -> None:
    """By brute force: one that always takes the items 0 and 1, or as many of them as are asked for."""
    result = sb.simulate(
        PROBLEMS["in turn"], policies.Clairvoyant(sb.Problem(sets.TopK(5, 2), COINS)), horizon=30, runs=1, seed=0
    )
    assert result.regret[0, 0, -1] == 0.0
    worst = policies.Clairvoyant(sb.Problem(sets.TopK(5, 2), environments.Bernoulli([0.1, 0.3, 0.5, 0.8, 0.9])))
    lost = sb.simulate(PROBLEMS["in turn"], worst, horizon=30, runs=1, seed=0).regret[0, 0, -1]
    assert lost == pytest.approx(10 * ((0.9 - 0.1) + (1.7 - 0.4) + (2.2 - 0.9)), abs=1e-9)


def test_cores_do_not_matter_and_nothing_is_compiled() -> None:
    problem = PROBLEMS["slates"]
    one = sb.simulate(problem, policies.CombUCB1(), horizon=700, runs=4, seed=1, threads=1)
    two = sb.simulate(problem, policies.CombUCB1(), horizon=700, runs=4, seed=1, threads=2)
    assert np.array_equal(one.regret, two.regret)
    assert "every round has a feasible set of its own" in one.engine
    with pytest.raises(Unsupported, match="every round has a feasible set of its own"):
        sb.simulate(problem, policies.CombUCB1(), horizon=700, runs=4, seed=1, engine="compiled")


@pytest.mark.parametrize("kind", ["static", "ratio"])
def test_other_kinds_of_regret(kind: Any) -> None:
    with pytest.raises(BadArgument, match="'dynamic' or 'realised'"):
        sb.simulate(PROBLEMS["slates"], policies.CTS(), horizon=5, runs=1, seed=0, regret=kind)


def test_policies_that_cannot_play_say_so_before_the_first_round() -> None:
    for policy in (policies.OSMD(), policies.HYBRID(), policies.COMBAND()):
        with pytest.raises(Unsupported, match="cannot choose from another set"):
            sb.simulate(PROBLEMS["slates"], [policies.CTS(), policy], horizon=5, runs=1, seed=0)
    with pytest.raises(SemiBanditError, match="matroid"):
        sb.simulate(
            sb.Problem(sets.TopK(5, 1), Requests(COINS, [sets.Enumerated([[0, 1], [2, 3, 4]])])),
            policies.OMM(),
            horizon=5,
            runs=1,
            seed=0,
        )
    upside_down = sets.Oracle(lambda weights: [int(np.argmin(weights))], n_items=5, max_size=1)
    with pytest.raises(sb.errors.MinimisingOracle):
        sb.simulate(
            sb.Problem(sets.TopK(5, 1), Requests(COINS, [upside_down])), policies.CTS(), horizon=5, runs=1, seed=0
        )


def test_solutions_larger_than_the_problems_own_are_not_cut() -> None:
    with pytest.raises(BadArgument, match="room for the 2 items"):
        sb.simulate(PROBLEMS["in turn"], policies.CTS(), horizon=5, runs=1, seed=0, record="solutions")


def test_a_users_world_that_says_no_set() -> None:
    with pytest.raises(BadArgument, match="must return a FeasibleSet or None"):
        sb.simulate(sb.Problem(sets.TopK(5, 2), Own(always=3)), policies.CTS(), horizon=5, runs=1, seed=0)
    with pytest.raises(BadArgument, match="same 5 items"):
        sb.simulate(sb.Problem(sets.TopK(5, 2), Own(always=sets.TopK(4, 1))), policies.CTS(), horizon=5, runs=1, seed=0)


def test_a_store_knows_the_sets(tmp_path: Path) -> None:
    def play(slates: list[Any], **how: Any) -> Any:
        problem = sb.Problem(sets.TopK(5, 3), Requests(COINS, slates, **how))
        return sb.simulate(problem, policies.CTS(), horizon=20, runs=2, seed=0, store=tmp_path / "store")

    first = play(SLATES)
    assert np.array_equal(play([sets.TopK(5, k) for k in (1, 2, 3)]).regret, first.regret)
    for other, how in ((SLATES[:2], {}), (SLATES, {"chances": [0.2, 0.2, 0.6]}), (SLATES, {"order": "in turn"})):
        with pytest.raises(BadState, match="another experiment"):
            play(other, **how)


def test_an_experiment_file(tmp_path: Path) -> None:
    (tmp_path / "slates.toml").write_text(
        """
horizon = 30
runs = 2
seed = 3
[problem.set]
kind = "TopK"
n_items = 5
k = 3
[problem.environment]
kind = "Requests"
order = "in turn"
sets = [{kind = "TopK", n_items = 5, k = 1}, {kind = "TopK", n_items = 5, k = 2}]
[problem.environment.environment]
kind = "Bernoulli"
means = [0.9, 0.8, 0.5, 0.3, 0.1]
[[policies]]
name = "CTS"
"""
    )
    experiment = read(tmp_path / "slates.toml")
    problem = experiment.plans[0].problem
    assert repr(problem.environment) == "Requests(Bernoulli(5 items), 2 sets in turn: TopK(5, 1), TopK(5, 2))"
    played = run(experiment, tmp_path / "out", report=True)
    result = sb.simulate(problem, policies.CTS(), horizon=30, runs=2, seed=3)
    assert np.array_equal(played.points[0].result.regret, result.regret)
    assert "changes from round to round, as the feasible set does" in (tmp_path / "out" / "report.html").read_text()
