"""CombUCB1 on a window against its formula, worked out anew from all that was ever observed."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner, errors, policies, sets
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


def formula(seen: list[Seen], t: int, n_items: int, window: int, alpha: float) -> tuple[Numbers, Numbers, Numbers]:
    """Scores for round t, counts and means (NaN: none), from the rounds t-window to t-1."""
    counts, means, scores = np.zeros(n_items), np.full(n_items, np.nan), np.zeros(n_items)
    log = math.log(min(t - 1, window)) if t > 1 else 0.0
    for item in range(n_items):
        xs = [x for round, e, x in seen if e == item and t - window <= round <= t - 1]
        counts[item] = len(xs)
        if xs:
            means[item] = math.fsum(xs) / len(xs)
        scores[item] = means[item] + math.sqrt(alpha * log / len(xs)) if xs else 1.0 + math.sqrt(alpha * log)
    return scores, counts, means


@pytest.mark.parametrize(("window", "alpha"), [(1, 1.5), (2, 0.3), (7, 1.5), (30, 2.5), (1000, 1.5)])
def test_the_functions_by_themselves(window: int, alpha: float) -> None:
    """Whole arrays and single numbers, observed and forgotten by hand."""
    policy = policies.SlidingWindow(window, alpha)
    generator = np.random.default_rng(window)
    n_items = 5
    p = policy.params(Game(n_items, 2))
    arrays: Any = tuple(np.full(n_items, number) for number in policy.prior)
    single: list[Stats] = [policy.prior] * n_items
    seen: list[Seen] = []
    for t in range(1, 151):
        wanted, counts, _ = formula(seen, t, n_items, window, alpha)
        clock = policy.clock(t, 0, p)
        scores = policy.score(arrays, clock, 0, np.arange(n_items), p)
        np.testing.assert_allclose(scores, wanted, rtol=0.0, atol=1e-12)
        np.testing.assert_array_equal(arrays[0], counts)
        for item in range(n_items):
            assert float(policy.score(single[item], clock, 0, item, p)) == scores[item]
        now = [(t, int(item), float(generator.random())) for item in np.flatnonzero(generator.random(n_items) < 0.3)]
        for _, item, x in [one for one in seen if one[0] == t - window]:
            for row, value in zip(arrays, policy.forget(tuple(row[item] for row in arrays), x, t, p), strict=True):
                row[item] = value
            single[item] = policy.forget(single[item], x, t, p)
        items, values = np.array([e for _, e, _ in now], dtype=np.int64), np.array([x for _, _, x in now])
        for row, after in zip(
            arrays, policy.observe(tuple(row[items] for row in arrays), values, t, 0, items, p), strict=True
        ):
            row[items] = after
        for _, item, x in now:
            single[item] = policy.observe(single[item], x, t, 0, item, p)
        seen += now


@pytest.mark.parametrize("window", [1, 2, 9, 40, 500])
@pytest.mark.parametrize("costs", [False, True])
def test_a_learner_round_by_round(window: int, costs: bool) -> None:
    lo, hi = (1.0, 4.0) if costs else (0.0, 1.0)
    learner = Learner(
        sets.TopK(6, 2), policies.SlidingWindow(window, 0.7), sense="min" if costs else "max", bounds=(lo, hi)
    )
    generator = np.random.default_rng(window)
    seen: list[Seen] = []
    for t in range(1, 121):
        scores, counts, means = formula(seen, t, 6, window, 0.7)
        scale = (lambda x: hi - (hi - lo) * x) if costs else (lambda x: lo + (hi - lo) * x)
        np.testing.assert_allclose(learner.scores(), scale(scores), rtol=0.0, atol=1e-11)
        np.testing.assert_array_equal(learner.counts, counts)
        np.testing.assert_allclose(learner.estimates, scale(means), rtol=0.0, atol=1e-11)
        decision = learner.ask()
        best = np.sort(scores)[-2:].sum()
        assert scores[decision.items].sum() == pytest.approx(best, abs=1e-11)
        weights = generator.uniform(lo, hi, 2)
        learner.tell(decision.id, weights)
        x = (hi - weights) / (hi - lo) if costs else weights
        seen += [(t, item, value) for item, value in zip(decision.items.tolist(), x.tolist(), strict=True)]


def test_the_log_stands_still_once_the_window_is_full() -> None:
    learner = Learner(sets.TopK(2, 2), policies.SlidingWindow(4))
    heard = [1.0, 0.5, 0.25, 0.0, 0.75, 0.5, 0.25]
    for t, weight in enumerate(heard, start=1):
        learner.tell(learner.ask().id, [weight, 1.0])
        inside = heard[max(0, t - 4) : t]
        expected = np.mean(inside) + math.sqrt(1.5 * math.log(min(t, 4)) / len(inside))
        assert learner.scores()[0] == pytest.approx(expected, rel=1e-14)


def test_what_is_left_is_never_less_than_nothing() -> None:
    """Sums that are added to and taken from: rounding alone would leave some below 0."""
    policy = policies.SlidingWindow(3)
    p = policy.params(Game(1, 1))
    below = 0
    for a, b in np.random.default_rng(0).random((200, 2)).tolist():
        stats: Stats = policy.prior
        for x in (a, b, 0.0):
            stats = policy.observe(stats, x, 1, 0, 0, p)
        for x in (a, b):
            stats = policy.forget(stats, x, 4, p)
        below += (0.0 + a + b) - a - b < 0.0
        assert float(stats[0]) == 1.0
        assert 0.0 <= float(stats[1]) < 1e-15
        assert [float(number) for number in policy.forget(stats, 0.0, 5, p)] == [0.0, 0.0, 0.0]
    assert below > 10


def test_a_window_as_long_as_everything_is_combucb1() -> None:
    window = Learner(sets.TopK(6, 2), policies.SlidingWindow(10**6))
    plain = Learner(sets.TopK(6, 2), policies.CombUCB1())
    generator = np.random.default_rng(4)
    log = (np.tile(np.arange(6), 5), generator.random(30))
    for learner in (window, plain):
        learner.observe(*log)
    for _ in range(200):
        one, other = window.ask(), plain.ask()
        assert one.items.tolist() == other.items.tolist()
        weights = generator.random(2)
        window.tell(one.id, weights)
        plain.tell(other.id, weights)
        np.testing.assert_array_equal(window.scores(), plain.scores())


def window_scores(window: int, alpha: float) -> changing.Scores:
    def scores(t: int, seen: Numbers, x: Numbers) -> Numbers:
        counts, sums = seen[:, -window:].sum(axis=1), x[:, -window:].sum(axis=1)
        radius = np.sqrt(alpha * np.log(max(min(t - 1, window), 1)) / np.maximum(counts, 1.0))
        out: Numbers = np.where(counts > 0.0, sums / np.maximum(counts, 1.0), 1.0) + radius
        return out

    return scores


@pytest.mark.long
@pytest.mark.parametrize(("window", "alpha"), [(60, 1.5), (25, 0.2)])
def test_regret_against_a_plain_simulation(window: int, alpha: float) -> None:
    ours = changing.regrets(policies.SlidingWindow(window, alpha), change=120, horizon=250, runs=4096)
    agree(ours, plain_regrets(window_scores(window, alpha), change=120, horizon=250, runs=1500, seed=1))


@pytest.mark.long
def test_it_recovers_from_a_change_and_combucb1_does_not() -> None:
    changing.check_recovery(policies.SlidingWindow(150, alpha=0.5))


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("small top-k", 1),
        ("small top-k", 299),
        ("small top-k", 300),
        ("small top-k", 301),
        ("small top-k", 10**9),
        *(long("crooked graph", window) for window in (1, 37, 299, 300, 301, 10**9)),
        *(long(name, window) for name in ("costs", "enumerated", "directed paths") for window in (1, 2, 37, 300, 500)),
        *(long(name, window) for name in ("rewards", "user's set", "product of all kinds") for window in (1, 50, 500)),
    ],
)
def test_engine_learner_and_plain_loop_agree(name: str, window: int) -> None:
    agree_everywhere(task(PROBLEMS[name], policies.SlidingWindow(window), horizon=300), runs=2)


@pytest.mark.long
def test_a_long_game_in_pieces_agrees_too() -> None:
    """The engine plays some rounds at a time, and the window reaches across."""
    agree_everywhere(task(PROBLEMS["crooked graph"], policies.SlidingWindow(700, alpha=0.1), horizon=3000), runs=1)


def test_functions_are_the_same_plain_and_compiled() -> None:
    check_policy(policies.SlidingWindow(5, alpha=0.7))


@pytest.mark.parametrize("window", [0, -1, 1.5, math.nan, math.inf, True, "9", None, 2**63, 10**400, [3]])
def test_bad_windows(window: object) -> None:
    with pytest.raises(errors.BadArgument, match=r"window must be a whole number of rounds, at least 1, got"):
        policies.SlidingWindow(window)  # type: ignore[arg-type]


@pytest.mark.parametrize("alpha", NOT_POSITIVE)
def test_bad_alpha(alpha: object) -> None:
    refuses(partial(policies.SlidingWindow, 5), "alpha", alpha)


def test_whole_numbers_of_any_kind_are_windows() -> None:
    for window in (8, 8.0, np.int32(8), np.float64(8.0)):
        policy = policies.SlidingWindow(window)  # type: ignore[arg-type]
        assert policy == policies.SlidingWindow(8)
        assert type(policy.window) is int
    assert repr(policies.SlidingWindow(8)) == "SlidingWindow(window=8, alpha=1.5)"
    with pytest.raises(TypeError, match="window"):
        policies.SlidingWindow()  # type: ignore[call-arg]
