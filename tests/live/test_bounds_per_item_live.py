"""Learners with bounds for each item: what is refused, saved, handed on, and never under another item's name."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits.types import IndexPolicy, Policy
from support.street_learners import COSTS, EDGES, roads

NAMES = list(COSTS)
MEANS = np.array([COSTS[name] for name in NAMES])
LO = MEANS - np.array([0.1, 0.2, 0.0, 0.3, 0.1, 0.2, 0.1, 0.2])
HI = MEANS + np.array([0.1, 0.5, 0.0, 0.2, 0.4, 0.1, 0.9, 0.3])
ORDER = np.array([5, 2, 7, 0, 6, 1, 4, 3])
EITHER: list[IndexPolicy | Policy] = [
    policies.CombUCB1(),
    policies.KLUCB(),
    policies.SlidingWindow(9),
    policies.ESCB(),
]


def drawn(names: Any, round: int) -> dict[str, float]:
    """Within the bounds of each; the third edge always costs the same."""
    noise = np.random.default_rng(round).random(len(NAMES))
    every = dict(zip(NAMES, np.clip(LO + noise * (HI - LO), LO, HI).tolist(), strict=True))
    return {name: every[name] for name in names}


def played(learner: Learner, rounds: int = 25) -> list[list[str]]:
    decided = []
    for _ in range(rounds):
        decision = learner.ask()
        learner.tell(decision.id, drawn(decision.labels, decision.round))
        decided.append(sorted(decision.labels))
    return decided


def learner(policy: IndexPolicy | Policy | None = None, **options: Any) -> Learner:
    return Learner(roads(), policy or policies.CombUCB1(), sense="min", bounds=(LO, HI), seed=3, **options)


def by_name(one: Learner) -> dict[str, Any]:
    lo, hi = one.bounds
    columns = np.column_stack([one.counts, np.nan_to_num(one.estimates, nan=-1.0), one.intervals()]).round(12)
    return {
        name: (*columns[item], lo[item], hi[item])  # type: ignore[index]
        for item, name in enumerate(one.labels)
    }


def test_errors_name_the_item_and_its_bounds() -> None:
    one = learner()
    decision = one.ask()
    label, item = decision.labels[0], decision.items[0]
    for told in ({label: HI[item] + 0.01}, {label: LO[item] - 0.01}):
        with pytest.raises(errors.BadWeights, match=rf"bounds \({LO[item]}, {HI[item]}\), got .* for item {label}"):
            one.tell(decision.id, told)
        with pytest.raises(errors.BadWeights, match=rf"bounds \({LO[item]}, {HI[item]}\), got .* for item {label}"):
            one.observe(told)
    with pytest.raises(errors.BadWeights, match=rf"\({LO[2]}, {HI[2]}\), got .* for item {NAMES[2]}"):
        one.observe([NAMES[2]], [0.2])
    with pytest.raises(errors.BadWeights, match=NAMES[1]):
        one.observe(counts={NAMES[1]: 3}, sums={NAMES[1]: 3 * HI[1] + 0.1})
    assert one.counts.sum() == 0


def test_what_is_beyond_is_brought_to_the_items_own_bound() -> None:
    one = learner(outside="clip")
    one.observe(NAMES * 2, [-1.0] * len(NAMES) + [9.0] * len(NAMES))
    np.testing.assert_allclose(one.estimates, 0.5 * (LO + HI), rtol=1e-12)
    assert one.clipped.tolist() == [2] * len(NAMES)
    frame = one.to_frame()
    assert frame["least"].to_list() == LO.tolist()
    assert frame["largest"].to_list() == HI.tolist()


@pytest.mark.parametrize("policy", EITHER, ids=repr)
def test_intervals_and_estimates(policy: IndexPolicy | Policy) -> None:
    one = learner(policy)
    assert np.array_equal(one.intervals(), np.stack([LO, HI], axis=1))
    one.observe({name: COSTS[name] for name in NAMES})
    np.testing.assert_allclose(one.estimates, list(COSTS.values()), rtol=1e-12)
    ends = one.intervals(0.9)
    radius = (HI - LO) * np.sqrt(np.log(2.0 * 2.0 / 0.1) / 2.0)
    np.testing.assert_allclose(ends[:, 0], np.maximum(list(COSTS.values()) - radius, LO), rtol=1e-12)
    np.testing.assert_allclose(ends[:, 1], np.minimum(list(COSTS.values()) + radius, HI), rtol=1e-12)


def test_bounds_by_label() -> None:
    series = pd.Series(LO, index=NAMES)[::-1], dict(zip(NAMES, HI.tolist(), strict=True))
    one = Learner(roads(), policies.CombUCB1(), sense="min", bounds=series, seed=3)  # type: ignore[arg-type]
    assert [side.tolist() for side in one.bounds] == [LO.tolist(), HI.tolist()]  # type: ignore[union-attr]
    assert played(one) == played(learner())
    with pytest.raises(errors.BadArgument, match="by its label"):
        Learner(sets.TopK(len(NAMES), 2), bounds=series)  # type: ignore[arg-type]


@pytest.mark.parametrize("policy", EITHER, ids=repr)
def test_saved_and_loaded_in_another_order(policy: IndexPolicy | Policy, tmp_path: Path) -> None:
    one = learner(policy)
    played(one)
    one.save(tmp_path / "state.json")
    same, moved = (Learner.load(tmp_path / "state.json", roads(order)) for order in (range(len(EDGES)), ORDER))
    assert by_name(one) == by_name(same)
    assert by_name(one) == by_name(moved)
    assert [side.tolist() for side in moved.bounds] == [LO[ORDER].tolist(), HI[ORDER].tolist()]  # type: ignore[union-attr]
    assert played(one) == played(same) == played(moved)
    moved.save(tmp_path / "moved.json")
    back = Learner.load(tmp_path / "moved.json", roads())
    assert by_name(back) == by_name(one)


@pytest.mark.parametrize("side", [[0.0] * 3, [1.0, *[9.0] * 7], ["a"] * 8, None])
def test_a_file_with_bounds_that_do_not_fit(side: Any, tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "state.json"
    learner().save(path)
    file = json.loads(path.read_text())
    file["learner"]["bounds"][0] = side
    body = json.dumps(file["learner"], separators=(",", ":"))
    file["checksum"] = hashlib.sha256(body.encode()).hexdigest()
    head = json.dumps({**file, "learner": None}, separators=(",", ":"))
    path.write_text(head.replace('"learner":null', f'"learner":{body}'))
    with pytest.raises(errors.BadState):
        Learner.load(path, roads())


@pytest.mark.parametrize("first", EITHER[:2] + EITHER[3:], ids=repr)
@pytest.mark.parametrize("then", [policies.CombUCB1(), policies.ESCB(), policies.PooledCTS()], ids=repr)
def test_another_policy_knows_what_was_told(first: IndexPolicy | Policy, then: IndexPolicy | Policy) -> None:
    one = learner(first)
    told: list[tuple[str, float]] = []
    for _ in range(20):
        decision = one.ask()
        weights = drawn(decision.labels, decision.round)
        told += weights.items()
        one.tell(decision.id, weights)
    one.change_policy(then)
    new = learner(then)
    new.observe([name for name, _ in told], [weight for _, weight in told])
    lo, hi = one._agent.scale.bounds
    for item, name in enumerate(NAMES):
        weights = np.array([weight for other, weight in told if other == name])
        assert one.counts[item] == weights.size
        if weights.size:
            width = np.broadcast_to(hi - lo, len(NAMES))[item]
            x = (np.broadcast_to(hi, len(NAMES))[item] - weights) / width if width else 0.0 * weights
            np.testing.assert_allclose(one._agent.stats[1, item], x.sum(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one._agent.stats[:3], new._agent.stats[:3], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.estimates, new.estimates, rtol=1e-12)


@pytest.mark.parametrize("policy", EITHER[:2] + EITHER[3:], ids=repr)
def test_totals_are_the_same_as_observations(policy: IndexPolicy | Policy) -> None:
    weights = np.array([list(drawn(NAMES, round).values()) for round in range(6)])
    one, other = learner(policy), learner(policy)
    one.observe(NAMES * 6, weights.ravel())
    other.observe(counts=[6] * len(NAMES), sums=weights.sum(axis=0), squares=(weights**2).sum(axis=0))
    np.testing.assert_allclose(one._agent.stats, other._agent.stats, rtol=1e-9, atol=1e-12)
    assert played(one, 5) == played(other, 5)


def test_sums_are_within_the_sums_of_the_bounds() -> None:
    one = learner(policies.OFUL(), feedback="bandit")
    decision = one.ask()
    least, most = LO[decision.items].sum(), HI[decision.items].sum()
    for sum in (least - 0.01, most + 0.01):
        with pytest.raises(errors.BadWeights, match=f"sum of {decision.items.size} weights must be from"):
            one.tell(decision.id, sum)
    one.tell(decision.id, 0.5 * (least + most))
    clipping = learner(policies.OFUL(), feedback="bandit", outside="clip")
    wide = Learner(roads(), policies.OFUL(), sense="min", bounds=(LO.min(), HI.max()), seed=3, feedback="bandit")
    decision, same = clipping.ask(), wide.ask()
    clipping.tell(decision.id, 99.0)
    wide.tell(same.id, float(HI[decision.items].sum()))
    for mine, theirs in zip(clipping._agent.learned().state or [], wide._agent.learned().state or [], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_the_default_is_told_the_widest() -> None:
    advice = policies.default(roads(), bounds=(LO, HI))
    assert f"bounds per item, {LO.min():g} to {HI.max():g}" in advice.reasons[0]
    assert type(Learner(roads(), sense="min", bounds=(LO, HI)).policy) is policies.PooledCTS
