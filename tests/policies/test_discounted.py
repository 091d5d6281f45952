"""CombUCB1 with discounted observations against its formula, worked out anew from all that was ever observed."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner, Problem, environments, errors, policies, sets, simulate
from semibandits.testing import check_policy
from semibandits.types import Game, Stats
from support import changing
from support.changing import plain_regrets
from support.many_plays import NOT_POSITIVE, refuses
from support.plain_play import agree
from support.tasks import agree_everywhere, long, task
from support.worlds import PROBLEMS

Numbers = NDArray[np.float64]
Seen = tuple[int, int, float]
"""(round, item, x)"""


def formula(seen: list[Seen], t: int, n_items: int, gamma: float, alpha: float) -> tuple[Numbers, Numbers]:
    """Scores for round t and weighted means (NaN: none)."""
    means, scores = np.full(n_items, np.nan), np.zeros(n_items)
    rounds = math.fsum(gamma**age for age in range(t - 1))
    log = math.log(rounds) if t > 1 else 0.0
    for item in range(n_items):
        weights = [gamma ** (t - 1 - round) for round, e, _ in seen if e == item]
        xs = [x for _, e, x in seen if e == item]
        if xs:
            count = math.fsum(weights)
            means[item] = math.fsum(weight * x for weight, x in zip(weights, xs, strict=True)) / count
            scores[item] = means[item] + math.sqrt(alpha * log / count)
        else:
            scores[item] = 1.0 + math.sqrt(alpha * log / 1e-12)  # before all others
    return scores, means


def counts_when_last_seen(seen: list[Seen], n_items: int, gamma: float) -> Numbers:
    counts = np.zeros(n_items)
    for item in range(n_items):
        rounds = [round for round, e, _ in seen if e == item]
        counts[item] = math.fsum(gamma ** (max(rounds) - round) for round in rounds)
    return counts


@pytest.mark.parametrize(("gamma", "alpha"), [(0.8, 1.5), (0.9, 0.3), (0.99, 1.5), (0.9999, 2.5)])
def test_the_functions_by_themselves(gamma: float, alpha: float) -> None:
    """Whole arrays and single numbers."""
    policy = policies.Discounted(gamma, alpha)
    generator = np.random.default_rng(int(1e4 * gamma))
    n_items = 5
    p = policy.params(Game(n_items, 2))
    arrays: Any = tuple(np.full(n_items, number) for number in policy.prior)
    single: list[Stats] = [policy.prior] * n_items
    seen: list[Seen] = []
    for t in range(1, 151):
        wanted, _ = formula(seen, t, n_items, gamma, alpha)
        clock = policy.clock(t, 0, p)
        scores = policy.score(arrays, clock, 0, np.arange(n_items), p)
        np.testing.assert_allclose(scores, wanted, rtol=1e-11, atol=0.0)
        for item in range(n_items):
            assert float(policy.score(single[item], clock, 0, item, p)) == scores[item]
        items = np.flatnonzero(generator.random(n_items) < 0.3)
        x = generator.random(items.size)
        after = policy.observe(tuple(row[items] for row in arrays), x, t, 0, items, p)
        for row, values in zip(arrays, after, strict=True):
            row[items] = values
        for item, value in zip(items.tolist(), x.tolist(), strict=True):
            single[item] = policy.observe(single[item], value, t, 0, item, p)
            seen.append((t, item, value))


@pytest.mark.parametrize("gamma", [0.5, 0.9, 0.97, 0.9999])
@pytest.mark.parametrize("costs", [False, True])
def test_a_learner_round_by_round(gamma: float, costs: bool) -> None:
    lo, hi = (1.0, 4.0) if costs else (0.0, 1.0)
    learner = Learner(
        sets.TopK(6, 2), policies.Discounted(gamma, 0.7), sense="min" if costs else "max", bounds=(lo, hi)
    )
    generator = np.random.default_rng(8)
    seen: list[Seen] = []
    for t in range(1, 121):
        scores, means = formula(seen, t, 6, gamma, 0.7)
        scale = (lambda x: hi - (hi - lo) * x) if costs else (lambda x: lo + (hi - lo) * x)
        np.testing.assert_allclose(learner.scores(), scale(scores), rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(learner.estimates, scale(means), rtol=0.0, atol=1e-11)
        counts = counts_when_last_seen(seen, 6, gamma)
        clear = np.abs(counts - counts.round()) > 1e-9
        np.testing.assert_array_equal(learner.counts[clear], np.floor(counts[clear]))
        decision = learner.ask()
        assert scores[decision.items].sum() == pytest.approx(np.sort(scores)[-2:].sum(), rel=1e-10)
        weights = generator.uniform(lo, hi, 2)
        learner.tell(decision.id, weights)
        x = (hi - weights) / (hi - lo) if costs else weights
        seen += [(t, item, value) for item, value in zip(decision.items.tolist(), x.tolist(), strict=True)]


def test_number_by_number() -> None:
    """gamma = 1/2; observed in rounds 1, 2 and 4, scored in round 6."""
    policy = policies.Discounted(0.5)
    p = policy.params(Game(1, 1))
    stats: Stats = policy.prior
    for round, x in ((1, 1.0), (2, 0.5), (4, 0.0)):
        stats = policy.observe(stats, x, round, 0, 0, p)
    count = 1 / 16 + 1 / 8 + 1 / 2
    rounds = 1 + 1 / 2 + 1 / 4 + 1 / 8 + 1 / 16
    wanted = (1 / 16 + 0.5 / 8) / count + math.sqrt(1.5 * math.log(rounds) / count)
    assert float(policy.score(stats, policy.clock(6, 0, p), 0, 0, p)) == pytest.approx(wanted, rel=1e-14)
    assert float(policy.score(policy.prior, policy.clock(6, 0, p), 0, 0, p)) == pytest.approx(
        1.0 + 1e6 * math.sqrt(1.5 * math.log(rounds)), rel=1e-12
    )


@pytest.mark.parametrize("gamma", [1e-300, 0.1, 0.5, 0.999, 1.0 - 2.0**-53])
@pytest.mark.parametrize("away", [0, 1, 50, 10**4, 10**9, 10**15])
def test_items_long_out_of_sight_have_finite_scores(gamma: float, away: int) -> None:
    policy = policies.Discounted(gamma, alpha=2.0)
    p = policy.params(Game(1, 1))
    stats = policy.observe(policy.prior, 0.25, 3, 0, 0, p)
    score = float(policy.score(stats, policy.clock(4 + away, 0, p), 0, 0, p))
    left = max(math.exp(away * math.log(gamma)) if away * math.log(gamma) > -700.0 else 0.0, 1e-12)
    rounds = max(-math.expm1((3 + away) * math.log(gamma)) / (1.0 - gamma), 1.0)
    assert score == pytest.approx(0.25 + math.sqrt(2.0 * math.log(rounds) / left), rel=1e-6)
    assert score < 2e7


def discounted_scores(gamma: float, alpha: float) -> changing.Scores:
    def scores(t: int, seen: Numbers, x: Numbers) -> Numbers:
        weights = gamma ** np.arange(t - 2, -1, -1.0)
        counts, sums = np.einsum("s,rse->re", weights, seen), np.einsum("s,rse->re", weights, x)
        log = np.log(weights.sum()) if t > 1 else 0.0
        never = ~seen.any(axis=1)
        counts = np.where(never, 1e-12, counts)
        out: Numbers = np.where(never, 1.0, sums / counts) + np.sqrt(alpha * log / counts)
        return out

    return scores


@pytest.mark.long
@pytest.mark.parametrize(("gamma", "alpha"), [(0.98, 1.5), (0.95, 0.2)])
def test_regret_against_a_plain_simulation(gamma: float, alpha: float) -> None:
    ours = changing.regrets(policies.Discounted(gamma, alpha), change=120, horizon=250, runs=4096)
    agree(ours, plain_regrets(discounted_scores(gamma, alpha), change=120, horizon=250, runs=900, seed=1))


def test_it_recovers_from_a_change_and_combucb1_does_not() -> None:
    changing.check_recovery(policies.Discounted(0.99, alpha=0.5), slack=0.01)  # 0.99^250 = 8% of the past is left


@pytest.mark.parametrize(
    ("name", "gamma"),
    [
        ("small top-k", 0.5),
        ("small top-k", 0.999),
        *(long("crooked graph", gamma) for gamma in (0.5, 0.9, 0.999)),
        *(long(name, gamma) for name in ("costs", "enumerated", "directed paths") for gamma in (0.3, 0.97)),
        *(long(name, 0.9) for name in ("rewards", "user's set", "product of all kinds")),
    ],
)
def test_engine_learner_and_plain_loop_agree(name: str, gamma: float) -> None:
    agree_everywhere(task(PROBLEMS[name], policies.Discounted(gamma), horizon=300), runs=2)


def test_functions_are_the_same_plain_and_compiled() -> None:
    check_policy(policies.Discounted(0.9, alpha=0.7))


@pytest.mark.parametrize("gamma", [0.0, 1.0, -0.5, 1.5, math.nan, math.inf, True, "0.9", None, 10**400, [0.9]])
def test_bad_gamma(gamma: object) -> None:
    with pytest.raises(errors.BadArgument, match=r"gamma must be a number between 0 and 1 \(both excluded\), got"):
        policies.Discounted(gamma)  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", NOT_POSITIVE)
def test_bad_alpha(alpha: object) -> None:
    refuses(partial(policies.Discounted, 0.9), "alpha", alpha)


def test_numpy_numbers_are_numbers() -> None:
    policy = policies.Discounted(np.float32(0.5), np.int64(2))  # type: ignore[arg-type]
    assert policy == policies.Discounted(0.5, 2.0)
    assert (type(policy.gamma), type(policy.alpha)) == (float, float)
    assert repr(policies.Discounted(0.5)) == "Discounted(gamma=0.5, alpha=1.5)"


@pytest.mark.parametrize("gamma", [0.5, 0.9])
def test_every_item_is_tried_however_short_the_memory(gamma: float) -> None:
    problem = Problem(sets.TopK(50, 1), environments.Bernoulli([0.1] * 49 + [1.0]))
    result = simulate(
        problem, policies.Discounted(gamma), horizon=60, runs=4, seed=0, record="counts", engine="plain", threads=1
    )
    assert result.counts is not None
    assert (result.counts[0] > 0).all()
