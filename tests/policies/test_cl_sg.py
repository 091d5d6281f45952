"""CLSG number by number from the one normal number of a round, and beside a plain simulation with NumPy's."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from semibandits import Learner, policies, rng, sets
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


@pytest.mark.parametrize("gamma", [0.1, 0.01, 1.0])
def test_scores_number_by_number(gamma: float) -> None:
    """ŵ + z sqrt(gamma ln t / (T + 1)), the same z for all items."""
    scores_follow(
        policies.CLSG(gamma=gamma),
        lambda t, count, mean, item: mean + math.sqrt(gamma * math.log(t) / (count + 1)) * box_muller(3, t, 0),
    )


def test_the_first_round_goes_by_the_means() -> None:
    learner, seen = warmed(policies.CLSG())
    np.testing.assert_allclose(learner.scores(), [np.mean(xs) for xs in seen], rtol=1e-14)


def test_the_number_of_a_round_is_normal() -> None:
    """Independent from round to round."""
    keys = rng.keys(5, 0, 1, 10_000, rng.POLICY).tolist()
    z = np.array([policies.CLSG.clock(50, key, (0.1,))[0] for key in keys]) / math.sqrt(0.1 * math.log(50))
    assert stats.kstest(z, "norm").pvalue > 1e-4
    assert abs(np.corrcoef(z[1:], z[:-1])[0, 1]) < 4.0 / math.sqrt(z.size)


def single(t: int, counts: Numbers, sums: Numbers, generator: np.random.Generator) -> Numbers:
    z = generator.standard_normal((len(counts), 1))
    scores: Numbers = sums / counts + z * np.sqrt(0.1 * math.log(t) / (counts + 1.0))
    return scores


@pytest.mark.long
def test_regret_beside_a_plain_simulation() -> None:
    """A seventh more with gamma = 0.2, and nearly half as much again with a number for each item."""
    ours = regrets(top_k(MEANS, 2), policies.CLSG(), horizon=400, runs=4000)
    listed = list(itertools.combinations(range(6), 2))
    theirs = play_many(listed, MEANS, single, horizon=400, runs=4000, seed=1, init=True)
    agree(ours, theirs)


@pytest.mark.long
def test_regret_on_paths_beside_a_plain_simulation() -> None:
    ours = regrets(two_sets(10), policies.CLSG(), horizon=300, runs=6400)
    means = [0.9] * 5 + [0.7] * 5
    agree(ours, play_many([range(5), range(5, 10)], means, single, horizon=300, runs=6400, seed=2, init=True))


def test_beginnings() -> None:
    """An item never seen has mean 1."""
    learner = Learner(sets.TopK(4, 2), policies.CLSG(), seed=1)
    assert learner.ask().items.tolist() == [0, 1]
    assert learner.ask().items.tolist() == [2, 3]
    learner = Learner(sets.TopK(4, 2), policies.CLSG(init="optimistic"), seed=1)
    learner.observe([0], [0.25])
    assert learner.scores().tolist() == [0.25, 1.0, 1.0, 1.0]
    learner.ask()
    shift = math.sqrt(0.1 * math.log(2)) * box_muller(1, 2, 0)
    np.testing.assert_allclose(learner.scores(), [0.25 + shift / math.sqrt(2.0)] + [1.0 + shift] * 3, rtol=1e-12)


def test_functions_are_the_same_plain_and_compiled() -> None:
    check_policy(policies.CLSG(gamma=0.7))


def test_the_default_is_that_of_the_authors_experiments() -> None:
    assert policies.CLSG() == policies.CLSG(gamma=0.1, init="all")


@pytest.mark.parametrize("gamma", NOT_POSITIVE)
def test_bad_gamma(gamma: object) -> None:
    refuses(policies.CLSG, "gamma", gamma)


@pytest.mark.parametrize("init", ["paper", "none", None])
def test_bad_init(init: object) -> None:
    refuses(policies.CLSG, "init", init)


def test_live(tmp_path: Path) -> None:
    lives(policies.CLSG(gamma=0.3), tmp_path)
