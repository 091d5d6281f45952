"""UCB-V against its formula with NumPy's variance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from semibandits import Learner, policies, sets
from semibandits.types import Game
from support.histories import compare, histories, scores_after

Numbers = NDArray[np.float64]


def bound(xs: list[float], round: int, zeta: float) -> float:
    """ŵ + sqrt(2 V E / T) + 3 E / T, E = zeta log t; an unseen item scores 1."""
    if not xs:
        return 1.0
    per = zeta * math.log(round) / len(xs)
    return float(np.mean(xs) + math.sqrt(2.0 * float(np.var(xs)) * per) + 3.0 * per)


@pytest.mark.parametrize("zeta", [3.0, 1.0, 0.37])
def test_scores_after_random_observations(zeta: float) -> None:
    for seen, round in histories(seed=2):
        expected = [bound(xs, round, zeta) for xs in seen]
        np.testing.assert_allclose(scores_after(policies.UCBV(zeta=zeta), seen, round), expected, rtol=0, atol=1e-7)
        varied = [np.ptp(xs) > 0.1 if xs else True for xs in seen]  # elsewhere rounding of the variance shows
        ours = scores_after(policies.UCBV(zeta=zeta), seen, round)
        np.testing.assert_allclose(ours[varied], np.array(expected)[varied], rtol=1e-11)


def test_the_constants_are_6_and_9() -> None:
    xs = [0.25, 0.75, 0.5, 1.0]
    mean, variance = 0.625, 0.078125  # (0.140625 + 0.015625 + 0.015625 + 0.140625) / 4
    expected = mean + math.sqrt(6.0 * variance * math.log(100) / 4.0) + 9.0 * math.log(100) / 4.0
    assert scores_after(policies.UCBV(), [xs], 100)[0] == pytest.approx(expected, rel=1e-14)
    assert policies.UCBV() == policies.UCBV(zeta=3.0)


def test_there_is_no_radius_in_the_first_round() -> None:
    assert scores_after(policies.UCBV(), [[0.25, 1.0], []], 1).tolist() == [0.625, 1.0]


@given(st.floats(0.0, 1.0), st.integers(1, 3000), st.integers(2, 10**9))
def test_observations_that_do_not_vary(x: float, count: int, round: int) -> None:
    """Rounding must not leave a variance below 0."""
    policy = policies.UCBV()
    count_of_x = (float(count), float(np.sum(np.full(count, x))), float(np.sum(np.full(count, x * x))))
    clock = policy.clock(round, 0, policy.params(Game(1, 1)))
    ours = policy.score(count_of_x, clock, 0, 0, policy.params(Game(1, 1)))
    assert float(ours) == pytest.approx(x + 9.0 * math.log(round) / count, abs=1e-5)


def test_live_in_the_units_of_the_user() -> None:
    learner = Learner(sets.TopK(2, 2), policies.UCBV(zeta=1.0), bounds=(0.0, 8.0))
    heard = [[2.0, 8.0], [4.0, 8.0], [3.0, 8.0]]
    for weights in heard:
        learner.tell(learner.ask().id, weights)
    expected = [8.0 * bound([row[item] / 8.0 for row in heard], 4, 1.0) for item in range(2)]
    np.testing.assert_allclose(learner.scores(), expected, rtol=1e-7)


@pytest.mark.long
def test_regret_equals_a_plain_simulation() -> None:
    """With a zeta as small as has an effect in so few rounds."""

    def scores(t: int, estimates: Numbers, seen: list[list[float]], generator: np.random.Generator) -> Numbers:
        e = 0.3 * math.log(t) / np.array([len(x) for x in seen])
        return estimates + np.sqrt(2.0 * estimates * (1.0 - estimates) * e) + 3.0 * e  # the variance of coins

    compare(policies.UCBV(zeta=0.3), scores)
