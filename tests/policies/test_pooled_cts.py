"""PooledCTS beside a second implementation, written from its docstring, that keeps every observation."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from semibandits import Learner, errors, policies, rng, sets, simulate
from semibandits.policies.index import pooled_cts
from semibandits.testing import check_policy
from semibandits.types import Game
from support import pooled_beliefs
from support.many_plays import lives, top_k
from support.pooled_beliefs import DOUBT, LEVEL, SURE, TIE, Numbers, beliefs, moments
from support.pooled_beliefs import seen as enough

default = policies.PooledCTS()


# Statistics


def told(policy: policies.PooledCTS, rounds: Any, x: Any) -> Any:
    """The statistics of an item after these observations."""
    s, p = policy.prior, policy.params(Game(1, 1))
    for round, value in zip(rounds, x, strict=True):
        s = policy.observe(s, value, int(round), 0, 0, p)
    return s


OBSERVED = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40)


@given(x=OBSERVED)
def test_count_sum_and_squares(x: list[float]) -> None:
    count, total, squares, last = told(default, range(1, len(x) + 1), x)
    assert (count, last) == (len(x), 0.0)
    assert total == pytest.approx(math.fsum(x), rel=1e-12)
    assert squares == pytest.approx(len(x) * np.var(x), abs=1e-12)


@given(x=OBSERVED, extra=st.lists(st.floats(0.0, 1.0), max_size=10), data=st.data())
def test_forgetting_undoes_in_any_order(x: list[float], extra: list[float], data: st.DataObject) -> None:
    policy = policies.PooledCTS(window=100)
    mixed = data.draw(st.permutations([*x, *extra]))
    s = told(policy, range(1, len(mixed) + 1), mixed)
    for value in data.draw(st.permutations(extra)):
        s = policy.forget(s, value, 60, policy.params(Game(1, 1)))
        assert 0.0 <= s[1] <= s[0]
        assert s[2] >= 0.0
    np.testing.assert_allclose(s, (len(x), sum(x), len(x) * np.var(x), 0.0), rtol=0.0, atol=1e-9)


@given(
    gamma=st.floats(0.05, 0.9999),
    history=st.lists(st.tuples(st.integers(1, 60), st.floats(0.0, 1.0)), min_size=1, max_size=30),
    away=st.integers(0, 40),
)
def test_discounted_by_the_round_in_any_order(gamma: float, history: list[tuple[int, float]], away: int) -> None:
    """Σ γ^(last - s), whenever the feedback comes; and what is left of it rounds later."""
    policy = policies.PooledCTS(discount=gamma)
    rounds, x = (np.array(column, dtype=np.float64) for column in zip(*history, strict=True))
    count, total, squares, last = told(policy, rounds, x)
    assert last == rounds.max()
    weights = gamma ** (last - rounds)
    mean = (weights * x).sum() / weights.sum()
    assert count == pytest.approx(weights.sum(), rel=1e-9)
    assert total == pytest.approx((weights * x).sum(), rel=1e-9, abs=1e-12)
    assert squares == pytest.approx((weights * (x - mean) ** 2).sum(), rel=1e-7, abs=1e-9)
    left = pooled_cts.believed((count, total, squares, last), last + away, policy.params(Game(1, 1)))
    assert float(left[0]) == pytest.approx(count * gamma**away, rel=1e-9)
    assert float(left[1]) == pytest.approx(mean, abs=1e-9)
    assert float(left[2]) == pytest.approx(squares * gamma**away, rel=1e-9)


def test_nothing_seen_is_nothing_left() -> None:
    s = told(policies.PooledCTS(window=5), [1, 2, 3], [0.3, 0.9, 0.6])
    for x in (0.3, 0.9, 0.6):
        s = policies.PooledCTS.forget(s, x, 9, (0.0, 0.0))
    assert [float(number) for number in s] == [0.0, 0.0, 0.0, 0.0]


# Scores


def with_history(policy: policies.PooledCTS, x: Numbers, rounds: Any = None) -> tuple[Any, Any]:
    """The statistics of items (columns) that were observed in these rounds (rows); NaN: not."""
    p = policy.params(Game(x.shape[1], 1))
    s: Any = tuple(np.full(x.shape[1], number) for number in policy.prior)
    for row, round in zip(x, rounds if rounds is not None else range(1, len(x) + 1), strict=True):
        there = np.flatnonzero(~np.isnan(row))
        after = policy.observe(tuple(one[there] for one in s), row[there], int(round), 0, there, p)
        for one, values in zip(s, after, strict=True):
            one[there] = values
    return s, p


def common(policy: policies.PooledCTS, s: Any, p: Any, round: int) -> Any:
    totals = tuple(float(np.sum(np.broadcast_to(row, s[0].shape))) for row in policy.share(s, round, p))
    return policy.pooled(totals, policy.clock(round, 0, p), p)


def scored(policy: policies.PooledCTS, s: Any, p: Any, round: int, draws: int, seed: int = 0) -> Numbers:
    """Many scores of every item: (draws, items), those that are rejected drawn again."""
    c = common(policy, s, p, round)
    out = np.full((draws, s[0].size), np.nan)
    keys = rng.keys(seed, 0, 1, 2 * draws, rng.POLICY)
    for item in range(s[0].size):
        one = tuple(float(row[item]) for row in s)
        scores = np.broadcast_to(policy.score(one, c, keys, item, p), keys.shape)  # type: ignore[arg-type]
        out[:, item] = scores[~np.isnan(scores)][:draws]
    return out


HISTORIES: dict[str, Any] = {
    "coins": lambda random: (random.random((12, 5)) < [0.1, 0.3, 0.5, 0.7, 0.9]).astype(float),
    "rare coins": lambda random: (random.random((40, 5)) < 0.05).astype(float),
    "little noise": lambda random: 0.3 + 0.02 * random.random((6, 5)) + 0.1 * np.arange(5) / 5,
    "other noise each": lambda random: 0.5 + random.normal(size=(15, 5)) * [0.001, 0.01, 0.03, 0.1, 0.15],
    "once": lambda random: random.random((1, 5)),
    "of one item alone": lambda random: np.where(np.arange(5) == 2, random.random((7, 5)), np.nan),
    "of some items": lambda random: np.where(random.random((9, 5)) < 0.4, random.random((9, 5)), np.nan),
    "neglected": lambda random: np.where(np.arange(5) < [[2]] * 8 + [[1]] * 200, random.random((208, 5)), np.nan),
    "neglected items": lambda random: np.where(
        np.arange(208)[:, None] < [208, 3, 4, 5, 6],
        0.5 + random.normal(size=(208, 5)) * [0.001, 0.1, 0.1, 0.1, 0.1],
        np.nan,
    ),
    "at a bound": lambda random: np.where(np.arange(5) == 2, 0.0, 0.3 + 0.02 * random.random((9, 5))),
    "constant": lambda random: np.full((5, 5), 0.25),
    "all alike": lambda random: np.tile(random.random((8, 1)), 5),
}


@pytest.mark.parametrize("discount", [1.0, 0.8])
@pytest.mark.parametrize("name", HISTORIES)
def test_scores_are_beta_numbers(name: str, discount: float) -> None:
    policy = policies.PooledCTS(discount=discount)
    x = HISTORIES[name](np.random.default_rng(7))
    round, draws = len(x) + 4, 4000
    s, p = with_history(policy, x)
    weights = np.where(np.isnan(x), 0.0, discount ** (round - 1.0 - np.arange(1, len(x) + 1))[:, None])
    count, mean, squares = moments(weights, np.nan_to_num(x))
    a, b = beliefs(count, mean, squares)
    scores = scored(policy, s, p, round, draws)
    for item in range(5):
        if not enough(count)[item]:
            assert (abs(scores[:, item] - 1.0) <= TIE).all()
            continue
        law = scipy_stats.beta(a[item], b[item])
        assert scipy_stats.kstest(scores[:, item], law.cdf).pvalue > 1e-4, (a[item], b[item])
        assert abs(scores[:, item].mean() - law.mean()) < 4.5 * law.std() / math.sqrt(draws)
        fourth = (law.stats("k") + 3.0) * law.var() ** 2
        error = math.sqrt((fourth - law.var() ** 2) / draws)
        assert abs(scores[:, item].var() - law.var()) < 5.0 * error


@pytest.mark.parametrize("times", [1.0, 1e6])
@pytest.mark.parametrize("discount", [1.0, 0.8])
@pytest.mark.parametrize("name", HISTORIES)
def test_beliefs_number_by_number(name: str, discount: float, times: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parameters that the draws are asked for; and what they would be if all had been seen so many times."""
    policy = policies.PooledCTS(discount=discount)
    x = HISTORIES[name](np.random.default_rng(9))
    s, p = with_history(policy, x)
    s = (*(times * row for row in s[:3]), s[3])
    round = len(x) + 3
    weights = np.where(np.isnan(x), 0.0, times * discount ** (round - 1.0 - np.arange(1, len(x) + 1))[:, None])
    count, mean, squares = moments(weights, np.nan_to_num(x))
    c = common(policy, s, p, round)
    for number, wanted in enumerate(beliefs(count, mean, squares)):
        monkeypatch.setattr(pooled_cts, "beta", lambda *asked, number=number: asked[number])
        got = policy.score(s, c, 0, np.arange(5), p)
        np.testing.assert_allclose(got, np.where(enough(count), wanted, 1.0), rtol=1e-7)


def test_what_items_share_number_by_number() -> None:
    """Two items of two coins each: φ = 1; their means are 1/2 and 1, M = 3/4, V = 3/16."""
    s, p = with_history(default, np.array([[1.0, 1.0], [0.0, 1.0]]))
    clock, dispersion, good, bad, counts, many = common(default, s, p, 3)
    assert (clock, counts, many) == (2.0, 2.0, 10.0)
    assert dispersion == min((DOUBT + 0.5) / (DOUBT + 0.25), 1.0) == 1.0
    spread, variance = 2.0 * 0.25**2, 3.0 / 16.0
    between = spread - variance / 2.0
    worth = variance / between if LEVEL * between > variance else LEVEL
    assert (good, bad) == (pytest.approx(0.75 * worth), pytest.approx(0.25 * worth))
    a, b = beliefs(*moments(np.ones((2, 2)), np.array([[1.0, 1.0], [0.0, 1.0]])))
    np.testing.assert_allclose((a[0], b[0]), ((good + 1.0) / SURE, (bad + 1.0) / SURE))  # seen as often as the other


@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 6)),
    seed=st.integers(0, 2**32 - 1),
    noise=st.sampled_from([0.0, 1e-12, 1e-3, 0.3]),
    missing=st.floats(0.0, 0.9),
)
@settings(max_examples=80)
def test_common_numbers_beside_the_second_implementation(
    shape: tuple[int, int], seed: int, noise: float, missing: float
) -> None:
    """The level, what it is worth, and the dispersion: from the mean of an item that would be seen now."""
    random = np.random.default_rng(seed)
    x = np.clip(random.random(shape[1]) + noise * random.normal(size=shape), 0.0, 1.0)
    x = np.where(random.random(shape) < missing, np.nan, x)
    s, p = with_history(default, x)
    _, dispersion, good, bad, *_ = map(float, common(default, s, p, shape[0] + 1))
    assert 0.0 < dispersion <= 1.0
    assert min(good, bad) >= 0.0
    assert 0.0 < good + bad <= LEVEL * (1.0 + 1e-12)
    count, mean, squares = moments((~np.isnan(x)).astype(float), np.nan_to_num(x))
    seen = count > 0.0
    if seen.any():
        assert good / (good + bad) == pytest.approx(mean[seen].mean(), abs=1e-9)
        coins = ((count - 1.0) * mean * (1.0 - mean))[seen].sum()
        assert dispersion == pytest.approx(min((DOUBT + squares[seen].sum()) / (DOUBT + coins), 1.0), rel=1e-6)


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.01, 0.5, 0.99, 1.0]))
def test_the_dispersion_of_coins_is_one(rounds: int, n_items: int, seed: int, chance: float) -> None:
    """So that a coin counts as a coin."""
    x = (np.random.default_rng(seed).random((rounds, n_items)) < chance).astype(float)
    s, p = with_history(default, x)
    assert float(common(default, s, p, rounds + 1)[1]) == pytest.approx(1.0, abs=1e-12)
    count, mean, squares = moments(np.ones_like(x), x)
    a, b = beliefs(count, mean, squares)
    assert (a + b <= (count + LEVEL) / SURE + 1.0 + 1e-6).all()


EXTREME = st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1e-12, 0.5 + 1e-12, 1.0 - 1e-12, np.nextafter(1.0, 0.0)])


@given(
    x=st.lists(st.tuples(EXTREME, EXTREME, EXTREME), min_size=1, max_size=12),
    discount=st.sampled_from([1.0, 0.999, 0.5, 1e-300]),
    away=st.sampled_from([0, 1, 700, 10**6, 10**15]),
    times=st.sampled_from([1.0, 1e3, 1e9, 1e15]),
    hidden=st.integers(0, 2),
)
@settings(max_examples=150)
def test_scores_are_finite_whatever_was_seen(x: Any, discount: float, away: int, times: float, hidden: int) -> None:
    """Constant weights, all 0, all 1, a hair apart, very many, and such as have faded altogether."""
    policy = policies.PooledCTS(discount=discount)
    history = np.array(x)
    history[1:, hidden] = np.nan
    s, p = with_history(policy, history)
    s = (*(times * row for row in s[:3]), s[3])
    scores = scored(policy, s, p, len(x) + 1 + away, 20)
    assert ((scores >= 0.0) & (scores <= 1.0)).all()


def test_a_fresh_item_among_faded_ones_and_the_other_way_round() -> None:
    policy = policies.PooledCTS(discount=0.5)
    for worth in (0.0, 0.5, 1.0):
        x = np.full((2, 4), np.nan)
        x[0, :3], x[1, 3] = worth, worth
        s, p = with_history(policy, x, rounds=[1, 10**9])
        scores = scored(policy, s, p, 10**9 + 1, 200)
        assert (abs(scores[:, :3] - 1.0) <= TIE).all()  # tried again
        assert abs(scores[:, 3].mean() - worth) < 0.35


def test_less_than_a_hundredth_of_an_observation_is_none() -> None:
    policy = policies.PooledCTS(discount=0.5)
    s, p = with_history(policy, np.array([[0.25, 0.75]]))
    assert (scored(policy, s, p, 1 + 1 + 6, 50) < 1.0 - TIE).all()  # 1/64
    assert (scored(policy, s, p, 1 + 1 + 7, 50) >= 1.0 - TIE).all()  # 1/128


def test_unseen_items_come_first() -> None:
    learner = Learner(sets.TopK(9, 3), default, bounds=(-5.0, 15.0), seed=3)
    np.testing.assert_allclose(learner.scores(), 15.0, rtol=20.0 * TIE)
    seen: set[int] = set()
    for _ in range(3):
        decision = learner.ask()
        seen |= set(decision.items.tolist())
        learner.tell(decision.id, [14.0, 13.0, 2.0])
    assert len(seen) == 9
    assert (learner.scores() < 15.0 - 20.0 * TIE).all()


def test_costs_mirror_rewards() -> None:
    """A cost c in (2, 6) is the reward 8 - c: the same draws, the same decisions."""
    rewards = Learner(sets.TopK(6, 2), default, bounds=(2.0, 6.0), seed=4)
    costs = Learner(sets.TopK(6, 2), default, sense="min", bounds=(2.0, 6.0), seed=4)
    generator = np.random.default_rng(4)
    for _ in range(60):
        np.testing.assert_allclose(costs.scores(), 8.0 - rewards.scores(), rtol=1e-9)
        one, other = rewards.ask(), costs.ask()
        assert one.items.tolist() == other.items.tolist()
        weights = generator.uniform(2.0, 6.0, 2)
        rewards.tell(one.id, weights)
        costs.tell(other.id, 8.0 - weights)


@pytest.mark.parametrize("wide", [0.5, 5.0, 30.0])
def test_loose_bounds_do_little_harm(wide: float) -> None:
    """The spread of scores is by that of the weights, and a tenth of its variance where all were seen as often."""
    learner = Learner(sets.TopK(400, 1), default, bounds=(-wide, 1.0 + wide), seed=1)
    generator = np.random.default_rng(1)
    x = 0.5 + 0.02 * generator.normal(size=(30, 400))
    for row in x:
        learner.observe(range(400), row)
    error = (learner.scores() - x.mean(axis=0)).std()
    assert 0.6 < error / math.sqrt(SURE * 0.02**2 / 30.0) < 1.4


# Live, against all that was ever observed


@pytest.mark.parametrize(
    "policy", [default, policies.PooledCTS(window=25), policies.PooledCTS(discount=0.93)], ids=repr
)
def test_a_learner_with_late_feedback(policy: policies.PooledCTS) -> None:
    """Scores follow the law of what is in the window, or of what is left; feedback comes late, backwards, in parts."""
    learner = Learner(sets.TopK(6, 2), policy, seed=8)
    generator = np.random.default_rng(8)
    level = generator.uniform(0.2, 0.8, 6)
    seen: list[tuple[int, int, float]] = []
    ranks: list[float] = []
    late: list[tuple[Any, Numbers]] = []
    for t in range(1, 401):
        decision = learner.ask()
        late.append((decision, np.clip(level[decision.items] + 0.1 * generator.normal(size=2), 0.0, 1.0)))
        if t % 5 == 0:
            for one, weights in reversed(late):
                for item, x in reversed(list(zip(one.items.tolist(), weights.tolist(), strict=True))):
                    learner.tell(one.id, {item: x})
                    seen.append((one.round, item, x))
            late.clear()
        if t < 10:
            continue
        weights, x = np.zeros((t, 6)), np.zeros((t, 6))
        for round, item, value in seen:
            inside = not policy.window or round > t - policy.window
            weights[round - 1, item], x[round - 1, item] = inside * policy.discount ** (t - round), value
        count, mean, squares = moments(weights, x)
        a, b = beliefs(count, mean, squares)
        scores = learner.scores()
        assert (abs(scores[~enough(count)] - 1.0) <= TIE).all()
        ranks += scipy_stats.beta.cdf(scores, a, b)[enough(count)].tolist()
    assert len(ranks) > 1000
    assert scipy_stats.kstest(ranks, "uniform").pvalue > 1e-4


# Use


@pytest.mark.parametrize("policy", [default, policies.PooledCTS(window=9), policies.PooledCTS(discount=0.9)], ids=repr)
def test_live_and_checked(policy: policies.PooledCTS, tmp_path: Path) -> None:
    check_policy(policy)
    lives(policy, tmp_path)


@pytest.mark.parametrize("window", [-1, 1.5, math.nan, math.inf, True, False, "9", None, 2**63, [3]])
def test_bad_windows(window: Any) -> None:
    with pytest.raises(errors.BadArgument, match=r"window must be a whole number of rounds, at least 1, got") as caught:
        policies.PooledCTS(window=window)
    assert repr(window) in str(caught.value)


@pytest.mark.parametrize("discount", [0, 0.0, -0.5, 1.5, math.nan, math.inf, True, "0.9", None, 10**400, [0.9]])
def test_bad_discounts(discount: Any) -> None:
    with pytest.raises(errors.BadArgument, match=r"discount must be a number between 0 and 1") as caught:
        policies.PooledCTS(discount=discount)
    assert repr(discount)[:100] in str(caught.value)


def test_one_way_to_forget() -> None:
    with pytest.raises(errors.BadArgument, match=r"either window or discount, got window=9 and discount=0\.5"):
        policies.PooledCTS(window=9, discount=0.5)
    assert policies.PooledCTS(window=np.int32(9)) == policies.PooledCTS(window=9.0)  # type: ignore[arg-type]
    assert repr(policies.PooledCTS(window=9.0)) == "PooledCTS(window=9, discount=1.0)"  # type: ignore[arg-type]
    assert policies.PooledCTS(window=0, discount=1) == default


def test_it_compiles() -> None:
    assert (
        simulate(
            top_k([0.5, 0.25, 0.125], 2), default, horizon=60, runs=2, seed=0, record="counts", engine="compiled"
        ).engine
        == "compiled"
    )


def test_no_wrong_constants() -> None:
    """They are those of the second implementation."""
    names = ("OWN", "LEVEL", "DOUBT", "SURE", "UNSURE", "ENOUGH", "NEGLECTED", "FEWER", "FADED", "TIE", "LEAST", "MOST")
    assert all(getattr(pooled_cts, name) == getattr(pooled_beliefs, name) for name in names)
