"""GaussianCTS number by number from its normal numbers, and beside a plain simulation with NumPy's."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from semibandits import Learner, policies, sets
from semibandits.testing import check_policy
from support.many_plays import (
    NOT_POSITIVE,
    Numbers,
    box_muller,
    lives,
    play_many,
    refuses,
    regrets,
    scores_follow,
    top_k,
    two_sets,
    warmed,
)
from support.plain_play import agree

MEANS = [0.7, 0.6, 0.5, 0.4, 0.3, 0.2]


@pytest.mark.parametrize("sigma", [0.5, 0.1, 2.0])
def test_scores_number_by_number(sigma: float) -> None:
    """N(ŵ, sigma² / T)."""
    scores_follow(
        policies.GaussianCTS(sigma=sigma),
        lambda t, count, mean, item: mean + sigma / math.sqrt(count) * box_muller(3, t, item),
    )


def test_sigma_is_for_weights_scaled_to_one() -> None:
    """Costs from 2 to 6: four times as wide, and an optimistic cost is a low one."""
    learner, seen = warmed(policies.GaussianCTS(), sense="min", bounds=(2.0, 6.0))
    expected = [
        6.0 - 4.0 * (np.mean(xs) + 0.5 / math.sqrt(len(xs)) * box_muller(3, 1, item)) for item, xs in enumerate(seen)
    ]
    np.testing.assert_allclose(learner.scores(), expected, rtol=1e-12)
    assert sorted(learner.ask().items.tolist()) == sorted(np.argsort(expected)[:2].tolist())


def test_scores_of_many_items_are_normal_and_independent() -> None:
    learner = Learner(sets.TopK(20_000, 1), policies.GaussianCTS(), seed=1)
    for x in (0.2, 0.4, 0.3, 0.7):
        learner.observe(range(20_000), np.full(20_000, x))
    scores = learner.scores()
    assert stats.kstest(scores, stats.norm(0.4, 0.25).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(scores[1:], scores[:-1])[0, 1]) < 4.0 / math.sqrt(20_000)
    learner.ask()
    assert abs(np.corrcoef(scores, learner.scores())[0, 1]) < 4.0 / math.sqrt(20_000)


def gaussian(t: int, counts: Numbers, sums: Numbers, generator: np.random.Generator) -> Numbers:
    return generator.normal(sums / counts, 0.5 / np.sqrt(counts))


@pytest.mark.long
def test_regret_beside_a_plain_simulation() -> None:
    """With sigma = 1/4 for 1/2 it would be a tenth less."""
    ours = regrets(top_k(MEANS, 2), policies.GaussianCTS(), horizon=400, runs=4000)
    listed = list(itertools.combinations(range(6), 2))
    theirs = play_many(listed, MEANS, gaussian, horizon=400, runs=4000, seed=1, init=True)
    agree(ours, theirs)


@pytest.mark.long
def test_regret_on_paths_beside_a_plain_simulation() -> None:
    ours = regrets(two_sets(10), policies.GaussianCTS(), horizon=300, runs=6400)
    means = [0.9] * 5 + [0.7] * 5
    agree(ours, play_many([range(5), range(5, 10)], means, gaussian, horizon=300, runs=6400, seed=2, init=True))


def test_beginnings() -> None:
    """By default every item is seen first; without that, an unseen item scores at the upper bound."""
    learner = Learner(sets.TopK(4, 2), policies.GaussianCTS(), seed=1)
    for expected in ([0, 1], [2, 3]):
        decision = learner.ask()
        assert decision.items.tolist() == expected
        learner.tell(decision.id, [0.5, 0.5])
    learner = Learner(sets.TopK(4, 2), policies.GaussianCTS(init="optimistic"), bounds=(0.0, 10.0), seed=1)
    learner.observe([0], [5.0])
    assert learner.scores()[1:].tolist() == [10.0, 10.0, 10.0]
    assert learner.scores()[0] == pytest.approx(5.0 + 5.0 * box_muller(1, 1, 0), rel=1e-12)


def test_functions_are_the_same_plain_and_compiled() -> None:
    check_policy(policies.GaussianCTS(sigma=0.7))


def test_the_default_fits_every_distribution() -> None:
    assert policies.GaussianCTS() == policies.GaussianCTS(sigma=0.5, init="all")


@pytest.mark.parametrize("sigma", NOT_POSITIVE)
def test_bad_sigma(sigma: object) -> None:
    refuses(policies.GaussianCTS, "sigma", sigma)


@pytest.mark.parametrize("init", ["paper", "none", None])
def test_bad_init(init: object) -> None:
    refuses(policies.GaussianCTS, "init", init)


def test_live(tmp_path: Path) -> None:
    lives(policies.GaussianCTS(sigma=0.3), tmp_path)
