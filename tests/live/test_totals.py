"""Observations that were added up elsewhere."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, errors, policies
from support.operated import LABELS, TOP, TOTALS, everything


@pytest.mark.parametrize("name", TOTALS)
@settings(max_examples=15)
@given(data=st.data())
def test_clicks_that_were_added_up(name: str, data: st.DataObject) -> None:
    """The learner knows what it would if it had seen each of them: of clicks, nothing but number and sum matters."""
    shown = data.draw(st.lists(st.integers(0, 30), min_size=6, max_size=6))
    clicked = [data.draw(st.integers(0, n)) for n in shown]
    one, other = (Learner(TOP, TOTALS[name], seed=3) for _ in range(2))
    for learner in (one, other):
        for _ in range(data.draw(st.integers(0, 3))) if learner is one else range(one.round):
            learner.tell(learner.ask().id, [1.0, 0.0])
    one.observe(counts=shown, sums=clicked)
    other.observe(
        np.repeat(range(6), shown),
        np.concatenate([np.arange(n) < c for n, c in zip(shown, clicked, strict=True)]) * 1.0,
    )
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_allclose(one._agent.stats, other._agent.stats, rtol=1e-9, atol=1e-9)
    if not one.policy.random or name == "CTS":
        assert one.ask().items.tolist() == other.ask().items.tolist()


@pytest.mark.parametrize("name", sorted(set(TOTALS) - {"CTS"}))
@settings(max_examples=15)
@given(data=st.data())
def test_weights_that_were_added_up(name: str, data: st.DataObject) -> None:
    """With the sum of their squares: all that any of these policies keeps of them."""
    weights = [data.draw(st.lists(st.integers(0, 64).map(lambda x: x / 8), max_size=8)) for _ in range(6)]
    one, other = (Learner(TOP, TOTALS[name], seed=3, sense="min", bounds=(0.0, 8.0)) for _ in range(2))
    for learner in (one, other):
        learner.observe(range(6), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    known = {item: own for item, own in enumerate(weights) if own}
    one.observe(
        counts={item: len(own) for item, own in known.items()},
        sums={item: sum(own) for item, own in known.items()},
        squares={item: sum(w * w for w in own) for item, own in known.items()},
    )
    for item, own in known.items():
        other.observe([item] * len(own), own)
    np.testing.assert_allclose(one._agent.stats, other._agent.stats, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sense", ["max", "min"])
@settings(max_examples=15)
@given(data=st.data())
def test_totals_handed_on(sense: Any, data: st.DataObject) -> None:
    """A learner with wider bounds goes on from them as if it had been told each weight."""
    tight, wide = (np.full(6, -2.0), np.array([3.0, 3.0, 3.0, 3.0, 3.0, -2.0])), (-10.0, 30.0)
    if data.draw(st.booleans()):
        tight = (-2.0, 3.0)
    told = data.draw(st.lists(st.tuples(st.integers(0, 4), st.floats(-2.0, 3.0)), min_size=1, max_size=50))
    told += [(5, -2.0)] * 40  # more than wait to be added up
    one, two, alone = (
        Learner(TOP, seed=0, sense=sense, bounds=bounds, labels=LABELS) for bounds in (tight, wide, wide)
    )
    for item, weight in told:
        one.observe([item], [weight])
        alone.observe([item], [weight])
    totals = one.totals()
    two.observe(**totals)
    items, weights = np.array([item for item, _ in told]), np.array([weight for _, weight in told])
    expected = (np.bincount(items, each, 6) for each in (np.ones(len(told)), weights, weights**2))
    for found, sums in zip(totals.values(), expected, strict=True):
        assert list(found) == LABELS
        np.testing.assert_allclose(list(found.values()), sums, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(two._agent.stats, alone._agent.stats, rtol=1e-9, atol=1e-9)
    with pytest.raises(errors.Unsupported, match=r"totals\(\) is about weights of items"):
        Learner(TOP, seed=0, feedback="bandit").totals()


def test_totals_in_single_precision() -> None:
    """Of weights that are a bound but for their rounding."""
    bounds = (np.zeros(6), np.array([0.3, 0.3, 0.7, 0.1, 1.0, 1.0]))
    one, other = (Learner(TOP, seed=0, sense="min", bounds=bounds) for _ in range(2))
    told = np.repeat(np.array([[0.3], [0.15], [0.7], [0.1], [1.0], [0.5]], dtype=np.float32), 50, axis=1)
    for item, row in enumerate(told):
        other.observe([item] * 50, row)
    each = told.astype(np.float64)
    one.observe(counts=[50] * 6, sums=each.sum(axis=1), squares=(each**2).sum(axis=1))
    np.testing.assert_allclose(one._agent.stats, other._agent.stats, rtol=1e-6, atol=1e-6)
    with pytest.raises(errors.BadWeights, match=r"bounds, from 0.0 to 0.6, got 0.600002 for item 0"):
        one.observe(counts={0: 2}, sums={0: 0.600002})


@pytest.mark.parametrize("name", TOTALS)
def test_totals_of_an_earlier_round(name: str) -> None:
    """What was seen since then counts for as much as it did."""
    agent = Learner(TOP, TOTALS[name], seed=3)._agent
    agent.learn_logged(10, np.arange(6), np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0]))
    one, x = tuple(agent.stats.copy()), np.array([1.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    two, three = np.full(6, 2.0), np.full(6, 3.0)
    policy: Any = agent.policy
    after = policy.observe_many(one, three, x + two, x + two, 6, agent.params)  # type: ignore[attr-defined]
    for seen in (x, np.ones(6), np.ones(6)):
        one = policy.observe(one, seen, 6, 1, np.arange(6, dtype=np.uint64), agent.params)  # type: ignore[attr-defined]
    np.testing.assert_allclose(after, one, rtol=1e-9)


def test_binarised_weights_that_were_added_up() -> None:
    """CTS throws a coin for each weight; in the mean there are as many successes as the sum says."""
    one, many = Learner(TOP, policies.CTS(), seed=0), []
    one.observe(counts=[400] + [0] * 5, sums=[100.0] + [0] * 5)
    for seed in range(40):
        learner = Learner(TOP, policies.CTS(), seed=seed)
        learner.observe([0] * 400, [0.25] * 400)
        many.append(learner._agent.stats[2, 0])
    error = math.sqrt(400 * 0.25 * 0.75 / 40)
    assert one._agent.stats[2, 0] == 100.0
    assert abs(np.mean(many) - 100.0) < 4.0 * error


def test_a_million_observations_at_once() -> None:
    learner = Learner(TOP, policies.PooledCTS(), seed=0, labels=LABELS)
    learner.observe(counts={"a": 10**6, "c": 10}, sums={"a": 250_000, "c": 5})
    assert learner.counts.tolist() == [10**6, 0, 10, 0, 0, 0]
    assert learner.estimates[[0, 2]].tolist() == [0.25, 0.5]


def test_totals_that_cannot_be() -> None:
    learner = Learner(TOP, policies.PooledCTS(), seed=0, bounds=(-1.0, 2.0), labels=LABELS)
    before = everything(learner)
    fine = [4, 0, 0, 0, 0, 0]
    for wrong, cause, message in (
        ({"counts": fine}, errors.BadArgument, "counts and sums together"),
        ({"sums": fine}, errors.BadArgument, "counts and sums together"),
        ({"squares": fine}, errors.BadArgument, "counts and sums together"),
        ({"counts": fine[:5], "sums": fine[:5]}, errors.BadArgument, "6 numbers, one per item"),
        (
            {"counts": {"a": -1}, "sums": {"a": 0}},
            errors.BadWeights,
            "whole numbers >= 0, below 2..53, got -1 for item a",
        ),
        (
            {"counts": {"b": 1.5}, "sums": {"b": 0}},
            errors.BadWeights,
            "whole numbers >= 0, below 2..53, got 1.5 for item b",
        ),
        ({"counts": {"a": 2.0**53}, "sums": {"a": 0}}, errors.BadWeights, "whole numbers"),
        (
            {"counts": {"a": 4}, "sums": {"a": 9}},
            errors.BadWeights,
            "sums must be of so many weights within the bounds, from -4.0 to 8.0, got 9 for item a",
        ),
        ({"counts": {"a": 4}, "sums": {"a": -5}}, errors.BadWeights, "of so many weights within the bounds"),
        (
            {"counts": {"a": 4}, "sums": {"b": 1}},
            errors.BadWeights,
            "sums must have a number for each item with a count, also for a",
        ),
        ({"counts": {"a": 4}, "sums": {"a": math.nan}}, errors.BadWeights, "sums must be finite"),
        ({"counts": {"a": 4}, "sums": {"a": 4}, "squares": {"a": 3}}, errors.BadWeights, "squares must be of weights"),
        ({"counts": {"a": 4}, "sums": {"a": 4}, "squares": {"a": 99}}, errors.BadWeights, "squares must be of weights"),
        ({"counts": {"a": True}, "sums": {"a": 1}}, errors.BadWeights, "counts must be numbers"),
        ({"counts": {"a": "4"}, "sums": {"a": 1}}, errors.BadWeights, "counts must be numbers"),
        ({"counts": {"x": 4}, "sums": {"x": 1}}, errors.UnknownItem, "no item has the label 'x'"),
        ({"counts": [[4]], "sums": [[1]]}, errors.BadArgument, "6 numbers"),
        ({"items": ["a"], "weights": [1.0], "counts": fine, "sums": fine}, errors.BadArgument, "not both"),
    ):
        with pytest.raises(cause, match=message):
            learner.observe(**wrong)  # type: ignore[arg-type]
        assert everything(learner) == before, wrong


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (policies.SlidingWindow(5), "forgets by rounds"),
        (policies.PooledCTS(window=5), "forgets by rounds"),
        (policies.OLSUCB(), "must see every observation by itself"),
        (policies.ExploreThenCommit(rounds=8), "must see every observation by itself"),
        (policies.FPL(eta=0.1), "must see every observation by itself"),
    ],
    ids=repr,
)
def test_policies_that_must_see_every_observation(policy: Any, message: str) -> None:
    learner = Learner(TOP, policy, seed=0)
    before = everything(learner)
    with pytest.raises(errors.Unsupported, match=message):
        learner.observe(counts=[1] * 6, sums=[1] * 6)
    assert everything(learner) == before
    learner.observe(counts=[0] * 6, sums=[0] * 6)
    assert everything(learner) == before
    with pytest.raises(errors.Unsupported, match="feedback='bandit'"):
        Learner(TOP, feedback="bandit").observe(counts=[1] * 6, sums=[1] * 6)


class OwnWithout(policies.CTS):
    """Learns in a way of its own, of which `observe_many` above knows nothing."""

    @staticmethod
    def observe(s: Any, x: Any, round: Any, key: Any, item: Any, p: Any) -> Any:
        return (s[0] + 1.0, s[1] + x, s[2], s[3], s[4])


def test_a_subclass_that_learns_in_another_way() -> None:
    with pytest.raises(errors.Unsupported, match="must see every observation by itself"):
        Learner(TOP, OwnWithout(), seed=0).observe(counts=[1] * 6, sums=[1] * 6)


def test_totals_beyond_all_measure_are_saved(tmp_path: Path) -> None:
    learner = Learner(TOP, policies.CombUCB1(), seed=0)
    for _ in range(4):
        learner.observe(counts=[2**52, 0, 0, 0, 0, 0], sums=[2**51, 0, 0, 0, 0, 0])
    learner.save(tmp_path / "learner.json")
    assert Learner.load(tmp_path / "learner.json", TOP).counts[0] == 2**54


@pytest.mark.parametrize("labels", [LABELS, None])
def test_totals_go_by_name(labels: Any) -> None:
    """Another learner may have its items in another order; without labels numbers are all there is."""
    old = Learner(TOP, seed=0, labels=labels)
    old.observe(range(6), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    new = Learner(TOP, seed=0, labels=labels and labels[::-1])
    new.observe(**old.totals())
    np.testing.assert_allclose(new.estimates if labels is None else new.estimates[::-1], old.estimates)


@pytest.mark.parametrize(("start", "most"), [(0.0, 1.001), (1e3, 1.01), (1e5, 100.0), (1e8, 1e9), (1e12, 1e9)])
@pytest.mark.parametrize("sense", ["max", "min"])
def test_what_rounding_hides_counts_as_variation(start: float, most: float, sense: Any) -> None:
    """Totals of bounds far from 0 never tell of less variation than there was, and of no more where they can tell."""
    weights = start + 0.5 + 0.01 * np.random.default_rng(0).standard_normal(1_000)
    one, other = (Learner(TOP, seed=0, sense=sense, bounds=(start, start + 1.0)) for _ in range(2))
    one.observe([0] * 1_000, weights)
    other.observe(**one.totals())
    varied = [learner._agent.stats[2, 0] for learner in (one, other)]
    assert varied[0] * 0.999 <= varied[1] <= min(varied[0] * most, 250.0 + 1e-6)


def test_squares_far_from_0_are_checked() -> None:
    learner = Learner(TOP, seed=0, bounds=(np.array([1e3] * 5 + [5.0]), np.array([1e3 + 1.0] * 5 + [5.0])))
    weights = np.full(1_000, 1e3 + 0.5)
    for wrong in (1.0 + 1e-6, 1.0 - 1e-6):
        with pytest.raises(errors.BadWeights, match="squares must be"):
            learner.observe(counts={0: 1_000}, sums={0: weights.sum()}, squares={0: (weights**2).sum() * wrong})
    with pytest.raises(errors.BadWeights, match="squares must be"):
        learner.observe(counts={5: 2}, sums={5: 10.0}, squares={5: 49.0})
    learner.observe(counts={0: 1_000, 5: 2}, sums={0: weights.sum(), 5: 10.0}, squares={0: (weights**2).sum(), 5: 50.0})


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize(
    ("bounds", "weights"),
    [
        ((50.0, 60.0), [55.1]),
        ((100.0, 101.0), [100.1]),
        ((1e3, 1e3 + 1.0), [1000.1]),
        ((-1e4 - 1.0, -1e4), [-10000.3, -10000.34]),
    ],
)
def test_sums_made_one_after_the_other(bounds: Any, weights: Any, sense: Any) -> None:
    """As a loop or a database adds them up, which loses a last bit of the sum each time."""
    n = 1_000_000
    every = np.resize(weights, n)
    learner = Learner(TOP, seed=0, sense=sense, bounds=bounds)
    sums, squares = (float(np.add.accumulate(terms)[-1]) for terms in (every, every * every))
    learner.observe(counts={0: n}, sums={0: sums}, squares={0: squares})
    varied = every.var() / (bounds[1] - bounds[0]) ** 2
    assert varied * 0.99 - 1e-12 <= learner._agent.stats[2, 0] / n <= varied + 0.1
