"""KL-UCB against a bisection of the divergence."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.special import rel_entr

from semibandits import Learner, Problem, environments, policies, sets, simulate
from semibandits.kernel import log
from semibandits.types import Clock, Game, Params
from support.histories import compare, histories, scores_after

Numbers = NDArray[np.float64]

ABOVE, BELOW = 2e-7, 1e-8
"""How far a score may be from the true bound."""


def less_log1p(x: Numbers) -> Numbers:
    """x - log(1 + x), of small x by its series."""
    series = x * x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x * (1 / 5 - x * (1 / 6 - x * (1 / 7 - x / 8))))))
    return np.where(np.abs(x) < 0.01, series, x - np.log1p(x))


def bound(p: ArrayLike, d: ArrayLike) -> Numbers:
    """max{q : kl(p, q) <= d}, by bisection of q - p.

    kl(p, q) is a sum of two numbers that cancel where q is near p. Here it is p g((q-p)/p) + (1-p) g((p-q)/(1-p)) with
    g(x) = x - log(1 + x), which does not.
    """
    p, d = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(d, dtype=np.float64))
    inside = np.where((p > 0.0) & (p < 1.0), p, 0.5)
    low, high = np.zeros(p.shape), 1.0 - inside
    with np.errstate(divide="ignore"):
        for _ in range(60):
            step = 0.5 * (low + high)
            fits = inside * less_log1p(step / inside) + (1.0 - inside) * less_log1p(-step / (1.0 - inside)) <= d
            low, high = np.where(fits, step, low), np.where(fits, high, step)
    return np.where(p <= 0.0, -np.expm1(-d), np.where(p >= 1.0, 1.0, inside + low))


def score(p: ArrayLike, d: ArrayLike) -> Numbers:
    """The policy's bound for a mean p, observed once."""
    stats = policies.KLUCB.observe(policies.KLUCB.prior, np.asarray(p, dtype=np.float64), 1, 0, 0, ())
    return np.asarray(policies.KLUCB.score(stats, (np.asarray(d, dtype=np.float64),), 0, 0, ()))


def close(ours: Numbers, true: Numbers) -> None:
    assert (ours - true).max() <= ABOVE
    assert (true - ours).max() <= BELOW
    assert ours.min() >= 0.0
    assert ours.max() <= 1.0


def exploration(round: int, c: float = 2.0) -> float:
    """log t + c log log t, the second logarithm at least 0."""
    return math.log(round) + c * max(0.0, math.log(max(math.log(round), 1e-300)))


def test_the_bisection_inverts_the_divergence() -> None:
    p, d = np.meshgrid(np.linspace(0.01, 0.9, 50), np.geomspace(1e-6, 1.0, 50))
    q = bound(p, d)
    np.testing.assert_allclose(rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q), d, rtol=1e-8, atol=1e-14)
    assert bound(0.3, 0.0) == pytest.approx(0.3, abs=1e-12)
    assert bound(0.5, math.log(2.0)) == pytest.approx(0.5 + math.sqrt(3.0) / 4.0, abs=1e-12)  # 4 q (1-q) = e^-2d


def test_bounds_on_a_grid_of_means_and_divergences() -> None:
    tail = np.geomspace(1e-13, 0.5, 90)
    p = np.concatenate([[0.0], tail, 1.0 - tail[::-1], np.linspace(0.02, 0.99, 120), [1.0]])
    d = np.concatenate([[0.0], np.geomspace(1e-16, 60.0, 250), np.linspace(0.05, 12.0, 100)])
    close(score(p[:, None], d), bound(p[:, None], d))


@pytest.mark.long
def test_bounds_on_a_finer_grid() -> None:
    tail = np.geomspace(1e-13, 0.5, 600)
    d = np.concatenate([np.geomspace(1e-16, 60.0, 900), np.linspace(0.001, 16.0, 900)])
    for p in np.split(np.concatenate([tail, 1.0 - tail, np.linspace(0.01, 0.99, 600)]), 18):
        close(score(p[:, None], d), bound(p[:, None], d))


@pytest.mark.parametrize("few", ["any", "successes", "failures"])
def test_bounds_of_counts_up_to_ten_million(few: str) -> None:
    generator = np.random.default_rng(3)
    size = 40_000
    count = np.floor(10.0 ** generator.uniform(0.0, 7.0, size))
    some = np.minimum(np.floor(10.0 ** generator.uniform(0.0, 7.0, size)) - 1.0, count)
    successes = {"any": np.floor(generator.random(size) * (count + 1.0)), "successes": some, "failures": count - some}
    total = successes[few]
    last = (total > 0.0).astype(np.float64)
    round = 10.0 ** generator.uniform(0.5, 12.0, size)
    f = np.log(round) + 2.0 * np.log(np.maximum(np.log(round), 1.0))
    prior = (count - 1.0, total - last, *policies.KLUCB.prior[2:])
    stats = policies.KLUCB.observe(prior, last, 1, 0, 0, ())
    close(policies.KLUCB.score(stats, (f,), 0, 0, ()), bound(total / count, f / count))


@pytest.mark.parametrize("c", [2.0, 0.0, 3.0])
def test_scores_after_random_observations(c: float) -> None:
    for seen, round in histories(seed=1):
        d = np.array([exploration(round, c) / max(len(x), 1) for x in seen])
        expected = np.where([not x for x in seen], 1.0, bound([float(np.mean(x)) if x else 0.5 for x in seen], d))
        close(scores_after(policies.KLUCB(c=c), seen, round), expected)


def test_the_first_rounds() -> None:
    """log log t counts from t = 3 on, where log t is above 1: not below, where it would be negative."""
    for round, expected in ((1, 0.0), (2, math.log(2)), (3, math.log(3) + 2.0 * math.log(math.log(3)))):
        assert policies.KLUCB().clock(round, 0, policies.KLUCB().params(Game(1, 1)))[0] == pytest.approx(expected)
    assert policies.KLUCB() == policies.KLUCB(c=2.0)


def test_unseen_items_score_at_the_upper_bound_of_the_weights() -> None:
    learner = Learner(sets.TopK(4, 2), policies.KLUCB(init="optimistic"), bounds=(-1.0, 3.0))
    assert learner.scores().tolist() == [3.0] * 4
    learner.tell(learner.ask().id, [0.0, 1.0])
    expected = -1.0 + 4.0 * bound([0.25, 0.5], math.log(2.0))
    np.testing.assert_allclose(learner.scores(), [*expected, 3.0, 3.0], rtol=0, atol=4.0 * ABOVE)


means = st.one_of(
    st.floats(0.0, 1.0),
    st.floats(-12.0, -0.3).map(lambda x: 10.0**x),
    st.floats(-12.0, -0.3).map(lambda x: 1.0 - 10.0**x),
)
divergences = st.one_of(st.floats(0.0, 60.0), st.floats(-16.0, 1.8).map(lambda x: 10.0**x))
steps = st.floats(-14.0, 0.0).map(lambda x: 10.0**x)


@given(means, divergences)
def test_a_bound_is_between_the_mean_and_one(p: float, d: float) -> None:
    assert p - 1e-9 <= score(p, d) <= 1.0


@given(means, divergences, steps)
def test_bounds_grow_with_the_divergence(p: float, d: float, step: float) -> None:
    assert score(p, d * (1.0 + step)) >= score(p, d) - 1e-9
    assert score(p, d + step) >= score(p, d) - 1e-9


@given(means, divergences, steps)
def test_bounds_grow_with_the_mean(p: float, d: float, step: float) -> None:
    assert score(min(p * (1.0 + step), 1.0), d) >= score(p, d) - 1e-9
    assert score(min(p + step, 1.0), d) >= score(p, d) - 1e-9


def test_bounds_are_monotone_all_over() -> None:
    tail = np.geomspace(1e-11, 0.5, 300)
    p = np.unique(np.concatenate([[0.0], tail, 1.0 - tail, [1.0]]))
    d = np.concatenate([[0.0], np.geomspace(1e-15, 60.0, 400)])
    bounds = score(p[:, None], d)
    assert np.diff(bounds, axis=0).min() >= -1e-9
    assert np.diff(bounds, axis=1).min() >= -1e-9


def test_it_is_below_the_bound_of_a_variance_of_a_quarter() -> None:
    """Pinsker: kl(p, q) >= 2 (p-q)²."""
    p, d = np.meshgrid(np.linspace(0.0, 1.0, 101), np.geomspace(1e-6, 1.0, 50))
    assert (score(p, d) <= p + np.sqrt(d / 2.0) + ABOVE).all()


def simple_bound(p: float, d: float) -> float:
    if p >= 1.0:
        return 1.0
    low, high = p, 1.0
    for _ in range(25):
        q = 0.5 * (low + high)
        divergence = (p * math.log(p / q) if p > 0.0 else 0.0) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
        low, high = (q, high) if divergence <= d else (low, q)
    return low


@pytest.mark.long
def test_regret_equals_a_plain_simulation() -> None:
    def scores(t: int, estimates: Numbers, seen: list[list[float]], generator: np.random.Generator) -> Numbers:
        return np.array([simple_bound(p, exploration(t) / len(x)) for p, x in zip(estimates, seen, strict=True)])

    compare(policies.KLUCB(), scores, horizon=250, runs=120)


@dataclass(frozen=True)
class ByItems(policies.KLUCB):
    """With the logarithm of the number of items chosen so far, and nothing more."""

    def params(self, game: Game) -> Params:
        return (game.max_size,)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (log(max(p[0] * (round - 1), 1)),)


@pytest.mark.long
@pytest.mark.parametrize(
    ("means", "k", "printed", "error"),
    [
        ([0.7, 0.6, 0.5, 0.4, 0.3], 2, 66.17, 0.96),
        ([0.15, 0.12, 0.10, *[0.05] * 9, *[0.03] * 8], 3, 299.9, 1.7),
    ],
)
def test_regret_equals_that_of_the_authors_of_multiple_plays(
    means: list[float], k: int, printed: float, error: float
) -> None:
    """MP-KL-UCB as in the program of Komiyama, Honda and Nakagawa 2015, 400 runs of it."""
    problem = Problem(sets.TopK(len(means), k), environments.Bernoulli(means))
    ours = simulate(problem, ByItems(), horizon=10_000, runs=1024, seed=5, checkpoints=[10_000]).regret[0, :, -1]
    theirs = math.hypot(error, ours.std(ddof=1) / math.sqrt(ours.size))
    assert abs(ours.mean() - printed) < 3.5 * theirs, (ours.mean(), printed, theirs)
