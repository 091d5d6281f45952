"""CMOSS against its formula, with a horizon and without."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner, errors, policies, sets, simulate
from support.histories import GAME, compare, histories, scores_after

Numbers = NDArray[np.float64]


def radius(count: int, delta: float, c: float = 1.0) -> float:
    """sqrt(c ln₊(1 / (delta T)) / T)"""
    return math.sqrt(c * max(0.0, -math.log(delta * count)) / count)


def delta_of(n_items: int, max_size: int, rounds: int) -> float:
    """L max(1, log₂ K)² / (K n)"""
    return n_items * max(1.0, math.log(max_size, 2)) ** 2 / (max_size * rounds)


def bounds(seen: list[list[float]], delta: float, c: float = 1.0) -> list[float]:
    return [float(np.mean(xs)) + radius(len(xs), delta, c) if xs else 1.0 for xs in seen]


@pytest.mark.parametrize("max_size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("c", [1.0, 0.3])
def test_scores_after_random_observations(max_size: int, c: float) -> None:
    policy, anytime = policies.CMOSS(c=c), policies.CMOSS(c=c, anytime=True)
    for seen, round in histories(seed=4, count=12):
        for horizon in (round, 10 * round):
            ours = scores_after(policy, seen, round, max_size=max_size, horizon=horizon)
            np.testing.assert_allclose(ours, bounds(seen, delta_of(9, max_size, horizon), c), rtol=1e-12)
        ours = scores_after(anytime, seen, round, max_size=max_size)
        np.testing.assert_allclose(ours, bounds(seen, delta_of(9, max_size, round), c), rtol=1e-12)


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.2, 3.0])
def test_a_delta_of_the_users_own(delta: float) -> None:
    for seen, round in histories(seed=5, count=12):
        for horizon in (0, 1000):
            ours = scores_after(policies.CMOSS(delta=delta), seen, round, max_size=3, horizon=horizon)
            np.testing.assert_allclose(ours, bounds(seen, delta), rtol=1e-12)


def test_the_radius_vanishes_for_items_observed_often() -> None:
    seen = [[0.5] * 99, [0.5] * 100, [0.5] * 101, [0.5] * 5000]
    ours = scores_after(policies.CMOSS(delta=0.01), seen, 7)
    assert ours[0] > 0.5
    np.testing.assert_allclose(ours[1:], 0.5, rtol=0, atol=1e-8)


def test_of_single_items_it_is_moss() -> None:
    """sqrt(ln₊(n / (L T)) / T)"""
    n_items, horizon = 5, 1000
    seen = [[0.25] * count for count in (1, 3, 20, 199, 201)]
    expected = [0.25 + math.sqrt(max(math.log(horizon / (n_items * len(xs))), 0.0) / len(xs)) for xs in seen]
    ours = scores_after(policies.CMOSS(), seen, 300, horizon=horizon)
    np.testing.assert_allclose(ours, expected, rtol=1e-13)
    assert ours[4] == 0.25


def test_four_items_at_a_time() -> None:
    """log₂ 4 = 2: delta = 8 · 4 / (4 n)."""
    ours = scores_after(policies.CMOSS(), [[0.5] * 2, *[[0.5]] * 7], 3, max_size=4, horizon=8000)
    expected = [0.5 + math.sqrt(math.log(500.0) / 2.0), *[0.5 + math.sqrt(math.log(1000.0))] * 7]
    np.testing.assert_allclose(ours, expected, rtol=1e-13)


def test_live_it_is_refused_for_want_of_a_horizon() -> None:
    with pytest.raises(errors.BadArgument, match=r"CMOSS\(.*\) needs to know the horizon, which a live"):
        Learner(sets.TopK(6, 2), policies.CMOSS())
    assert policies.CMOSS().needs_horizon
    assert not policies.CMOSS(anytime=True).needs_horizon
    assert not policies.CMOSS(delta=0.01).needs_horizon


@pytest.mark.parametrize("policy", [policies.CMOSS(anytime=True), policies.CMOSS(delta=0.01)], ids=repr)
def test_live_without_a_horizon(policy: policies.CMOSS) -> None:
    learner = Learner(sets.TopK(6, 2), policy, seed=0)
    generator = np.random.default_rng(0)
    seen: list[list[float]] = [[] for _ in range(6)]
    for round in range(1, 60):
        decision = learner.ask()
        weights = generator.random(2)
        if round > 3:
            expected = bounds(seen, policy.delta or delta_of(6, 2, round))
            assert decision.items.tolist() == sorted(np.argsort(expected)[-2:].tolist())
        for item, weight in zip(decision.items, weights, strict=True):
            seen[item].append(float(weight))
        learner.tell(decision.id, weights)


def test_another_horizon_is_another_game_unless_anytime() -> None:
    def solutions(policy: policies.CMOSS, horizon: int) -> list[list[list[int]]]:
        result = simulate(GAME, policy, horizon=horizon, runs=2, seed=3, record="solutions", engine="plain", threads=1)
        assert result.solutions is not None
        listed: list[list[list[int]]] = result.solutions[0, :, :200].tolist()
        return listed

    assert solutions(policies.CMOSS(), 200) != solutions(policies.CMOSS(), 1000)
    for policy in (policies.CMOSS(anytime=True), policies.CMOSS(delta=0.01)):
        assert solutions(policy, 200) == solutions(policy, 1000)


@pytest.mark.long
def test_regret_equals_a_plain_simulation() -> None:
    horizon = 400

    def scores(t: int, estimates: Numbers, seen: list[list[float]], generator: np.random.Generator) -> Numbers:
        return estimates + [radius(len(xs), 6.0 / (2.0 * horizon)) for xs in seen]

    compare(policies.CMOSS(), scores, horizon=horizon)


@pytest.mark.long
def test_anytime_regret_equals_a_plain_simulation() -> None:
    def scores(t: int, estimates: Numbers, seen: list[list[float]], generator: np.random.Generator) -> Numbers:
        return estimates + [radius(len(xs), 6.0 / (2.0 * t), 0.5) for xs in seen]

    compare(policies.CMOSS(c=0.5, anytime=True), scores, runs=400)


def test_anytime_with_a_delta_is_refused() -> None:
    with pytest.raises(errors.BadArgument, match=r"anytime=True makes a delta of its own .* got delta=0\.01"):
        policies.CMOSS(delta=0.01, anytime=True)
