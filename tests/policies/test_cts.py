"""CTS beside SciPy's Beta distribution, a plain simulation with NumPy's, and printed results of others."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from semibandits import Learner, draws, policies, rng, sets
from semibandits.testing import check_policy
from support.many_plays import Numbers, lives, near, play_many, regrets, top_k, two_sets
from support.plain_play import agree

MANY = 20_000
cts = policies.CTS()


def of_many(weights: list[float], seed: int = 2) -> Numbers:
    """The scores of many items that have all been observed with these weights."""
    learner = Learner(sets.TopK(MANY, 1), cts, seed=seed)
    for x in weights:
        learner.observe(range(MANY), np.full(MANY, x))
    return learner.scores()


@pytest.mark.parametrize(("successes", "failures"), [(0, 0), (1, 0), (0, 1), (3, 5), (60, 2), (0, 40)])
def test_scores_are_beta_numbers(successes: int, failures: int) -> None:
    """Of every item: those that were rejected have been drawn again."""
    scores = of_many([1.0] * successes + [0.0] * failures, seed=successes + 100 * failures)
    assert np.isfinite(scores).all()
    law = stats.beta(1 + successes, 1 + failures)
    assert stats.kstest(scores, law.cdf).pvalue > 1e-4
    assert abs(scores.mean() - law.mean()) < 4.0 * law.std() / np.sqrt(MANY)


@pytest.mark.parametrize("x", [0.3, 0.85])
def test_other_weights_count_as_coins(x: float) -> None:
    """S is Binomial(8, x), so the score is a mixture of Beta(1 + S, 9 - S)."""
    chances = stats.binom.pmf(np.arange(9), 8, x)

    def cdf(score: Any) -> Any:
        return sum(chance * stats.beta.cdf(score, 1 + s, 9 - s) for s, chance in enumerate(chances))

    assert stats.kstest(of_many([x] * 8), cdf).pvalue > 1e-4


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.3, 0.5, 0.999, 1.0])
def test_how_often_a_weight_is_a_success(x: float) -> None:
    keys = rng.keys(4, 0, 1, 100_000, rng.FEEDBACK)
    count, total, successes = cts.observe(cts.prior, x, 1, keys, 3, ())[:3]  # type: ignore[arg-type]
    assert (count, total) == (1.0, x)
    assert set(np.unique(successes)) <= {0.0, 1.0}
    assert abs(successes.mean() - x) <= 4.0 * np.sqrt(x * (1.0 - x) / keys.size)
    if x in (0.0, 1.0):
        assert (successes == x).all()


def drawn(seed: int, round: int, item: int, successes: int, count: int) -> float:
    """The score that an item must have: the first attempt that is not rejected."""
    key = rng.key(seed, 0, round, rng.POLICY)
    keys = [key, *(int(rng.below(key, attempt)) for attempt in range(1, 20))]
    attempts = [float(draws.beta(1.0 + successes, 1.0 + count - successes, key, item)) for key in keys]
    return next(score for score in attempts if not np.isnan(score))


def test_rejected_scores_are_drawn_again_with_the_next_key() -> None:
    learner = Learner(sets.TopK(300, 1), cts, seed=9)
    first = draws.beta(1.0, 1.0, rng.key(9, 0, 1, rng.POLICY), np.arange(300))
    assert 15 < np.isnan(first).sum() < 45
    assert learner.scores().tolist() == [drawn(9, 1, item, 0, 0) for item in range(300)]


@pytest.mark.parametrize("order", ["at once", "late", "backwards", "in parts"])
def test_a_coin_depends_on_seed_round_and_item_alone(order: str) -> None:
    """The statistics are counted again from the coins, whatever the order of feedback."""
    learner = Learner(sets.TopK(4, 2), cts, seed=9)
    generator = np.random.default_rng(1)
    counts, successes = np.zeros(4, dtype=int), np.zeros(4, dtype=int)
    pending = []
    for _ in range(60):
        decision = learner.ask()
        weights = dict(zip(decision.items.tolist(), generator.random(2).tolist(), strict=True))
        for item, x in weights.items():
            counts[item] += 1
            successes[item] += bool(rng.uniform(rng.key(9, 0, decision.round, rng.FEEDBACK), item) < x)
        pending.append((decision.id, weights))
        if order == "at once" or (order == "late" and len(pending) == 7):
            for id, told in pending:
                learner.tell(id, told)
            pending.clear()
    for id, told in reversed(pending):
        for item, x in reversed(told.items()) if order == "in parts" else ():
            learner.tell(id, {item: x})
        learner.tell(id, told)
    assert learner.counts.tolist() == counts.tolist()
    assert 0 < successes.sum() < counts.sum()
    expected = [drawn(9, 61, item, successes[item], counts[item]) for item in range(4)]
    np.testing.assert_allclose(learner.scores(), expected, rtol=1e-14)


# Regret


MEANS = [0.95, 0.9, 0.1, 0.1, 0.1, 0.1]


def beta(t: int, counts: Numbers, sums: Numbers, generator: np.random.Generator) -> Numbers:
    return generator.beta(1.0 + sums, 1.0 + counts - sums)


def test_regret_beside_a_plain_simulation() -> None:
    """With Beta(2, 2) for Beta(1, 1) it would be a tenth more."""
    ours = regrets(top_k(MEANS, 2), cts, horizon=60, runs=4000)
    listed = list(itertools.combinations(range(6), 2))
    theirs = play_many(listed, MEANS, beta, horizon=60, runs=4000, seed=1, init=False)
    agree(ours, theirs)


@pytest.mark.long
def test_regret_on_paths_beside_a_plain_simulation() -> None:
    """Two disjoint sets of five items, where others have printed 8.78 ± 2.56 (100 runs), median 3.

    Source: the output kept in CTSCode.ipynb of the public repository RaymZhang/CTS-Mismatched-Paradox (Zhang and
    Combes 2024), 10,000 rounds. Most of the spread is in few runs.
    """
    ours = regrets(two_sets(10), cts, horizon=10_000, runs=400)
    near(ours, 8.78, 2.56)
    assert 2.0 <= np.median(ours) <= 5.0
    ours = regrets(two_sets(10), cts, horizon=300, runs=3200)
    listed = [range(5), range(5, 10)]
    theirs = play_many(listed, [0.9] * 5 + [0.7] * 5, beta, horizon=300, runs=3200, seed=2, init=False)
    agree(ours, theirs)


@pytest.mark.parametrize(
    ("means", "k", "mean", "error", "runs"),
    [
        ([0.7, 0.6, 0.5, 0.4, 0.3], 2, 43.15, 0.64, 1000),
        pytest.param([0.15, 0.12, 0.10] + [0.05] * 9 + [0.03] * 8, 3, 197.4, 1.1, 1000, marks=pytest.mark.long),
    ],
)
def test_regret_on_top_k_beside_the_authors_program(
    means: list[float], k: int, mean: float, error: float, runs: int
) -> None:
    """The program of Komiyama et al. 2015 (public repository jkomiyama/multiplaybanditlib), run on its two instances.

    10,000 rounds, 1000 runs of MP-TS.
    """
    near(regrets(top_k(means, k), cts, horizon=10_000, runs=runs), mean, error)


# Use


def test_functions_are_the_same_plain_and_compiled() -> None:
    check_policy(cts)


def test_no_separate_beginning() -> None:
    """Unseen items are uniform: the first decisions differ from seed to seed."""
    first = {tuple(Learner(sets.TopK(6, 2), cts, seed=seed).ask().items.tolist()) for seed in range(300)}
    assert len(first) == 15
    with pytest.raises(TypeError):
        policies.CTS(init="paper")  # type: ignore[call-arg]


def test_live(tmp_path: Path) -> None:
    lives(cts, tmp_path)
