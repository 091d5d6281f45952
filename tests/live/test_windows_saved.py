"""Saving and loading every policy, above all those with a window, in the middle of things."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, Problem, environments, errors, policies
from semibandits.policies import Discounted, SlidingWindow
from semibandits.types import IndexPolicy
from support.ledger import N_ITEMS, SET, answer, state, windowed


def busy(policy: IndexPolicy, rounds: int = 40, feasible: Any = SET, **more: Any) -> Learner:
    """A learner in the middle of things: late, partial, cancelled, finished and logged."""
    learner = Learner(feasible, policy, seed=5, **more)
    generator = np.random.default_rng(2)
    for i in range(rounds):
        decision = learner.ask()
        weights = generator.random(decision.items.size)
        if i % 7 == 3 and weights.size:
            learner.tell(decision.id, {int(decision.items[-1]): weights[-1]})
        elif i % 7 == 5:
            learner.cancel(decision.id)
        elif i % 7 != 6:
            learner.tell(decision.id, weights)
        if i % 11 == 4:
            learner.observe([i % 6, 2, 2], generator.random(3))
    return learner


def going_on(learner: Learner, rounds: int = 50) -> list[Any]:
    """What it decides from now on; the feedback that is outstanding comes in between."""
    generator = np.random.default_rng(3)
    out: list[Any] = []
    late = learner.outstanding[::-1]
    for _ in range(rounds):
        if late:
            one = late.pop()
            for item in one.items.tolist():
                try:
                    out.append(learner.tell(one.id, {item: generator.random()}))
                except errors.ContradictingFeedback:
                    out.append("told before")
        decision = learner.ask()
        learner.tell(decision.id, generator.random(decision.items.size))
        out.append((decision.round, decision.items.tolist(), *state(learner)))
    return out


FORGETFUL = [
    *(SlidingWindow(1), SlidingWindow(9), SlidingWindow(400), Discounted(0.9)),
    *(policies.PooledCTS(window=1), policies.PooledCTS(window=9), policies.PooledCTS(discount=0.9)),
]


@pytest.mark.parametrize("policy", FORGETFUL, ids=repr)
@pytest.mark.parametrize("rounds", [0, 1, 8, 9, 10, 40])
def test_a_loaded_learner_goes_on_bit_for_bit(policy: IndexPolicy, rounds: int, tmp_path: Path) -> None:
    learner = busy(policy, rounds)
    learner.save(tmp_path / "a.json")
    loaded = Learner.load(tmp_path / "a.json", SET)
    assert state(loaded) == state(learner)
    loaded.save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert going_on(loaded) == going_on(learner)


@pytest.mark.parametrize("window", [1, 4, 10, 11, 12, 50])
def test_another_window_takes_over_what_the_file_holds(window: int, tmp_path: Path) -> None:
    """A shorter one forgets at once; a longer one cannot know what the file no longer holds."""
    learner, ledger = windowed(11, rounds=30)
    outstanding = [learner.ask() for _ in range(3)]
    answer(learner, ledger, learner.ask(), [0.125, 0.25])
    learner.observe([1, 1], [0.5, 0.25])
    ledger.add(learner.round, [1, 1], [0.5, 0.25])
    learner.save(tmp_path / "a.json")
    loaded = Learner.load(tmp_path / "a.json", SET, SlidingWindow(window))
    ledger.seen = [one for one in ledger.seen if one[0] > learner.round - 11]
    ledger.window = window
    ledger.equals(loaded)
    generator = np.random.default_rng(0)
    for decision in outstanding:
        answer(loaded, ledger, decision, generator.random(2))
        ledger.equals(loaded)
    for _ in range(60):
        answer(loaded, ledger, loaded.ask(), generator.random(2))
        ledger.equals(loaded)


def edited(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The file with this change and the right checksum."""
    file = json.loads(path.read_text())
    change(file["learner"])
    body = json.dumps(file["learner"], separators=(",", ":")).encode()
    head = json.dumps({**file, "checksum": hashlib.sha256(body).hexdigest(), "learner": 0}).encode()
    path.write_bytes(head.replace(b'"learner": 0', b'"learner": ' + body))


def put(field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(saved: dict[str, Any]) -> None:
        saved["recent"][0][field] = value

    return change


def one_item_twice(saved: dict[str, Any]) -> None:
    """With counts and sums to match."""
    a, b = saved["recent"][0]["items"]
    x = saved["recent"][0]["x"][1]
    saved["recent"][0]["items"] = [a, a]
    for row, change in zip(saved["stats"], (1.0, x), strict=False):
        row[a] += change
        row[b] -= change


def beyond(x: float) -> Callable[[dict[str, Any]], None]:
    """A weight of the second round out of range, with a sum to match."""

    def change(saved: dict[str, Any]) -> None:
        part = saved["recent"][1]
        saved["stats"][1][part["items"][0]] += x - part["x"][0]
        part["x"][0] = x
        assert 0.0 <= saved["stats"][1][part["items"][0]] <= saved["stats"][0][part["items"][0]]

    return change


DAMAGE: dict[str, Callable[[dict[str, Any]], None]] = {
    "a round too few": lambda saved: saved["recent"].pop(),
    "a round twice": lambda saved: saved["recent"].append(saved["recent"][0]),
    "nothing": lambda saved: saved["recent"].clear(),
    "no field": lambda saved: saved.pop("recent"),
    "another item": lambda saved: saved["recent"][0]["items"].__setitem__(0, 5 - saved["recent"][0]["items"][0]),
    "fewer weights": lambda saved: saved["recent"][0]["x"].pop(),
    "more weights": lambda saved: saved["recent"][0]["x"].append(0.5),
    "another count": lambda saved: saved["stats"][0].__setitem__(2, saved["stats"][0][2] + 1.0),
    "another sum": lambda saved: saved["stats"][1].__setitem__(2, 0.5 * saved["stats"][1][2]),
    "other weights": lambda saved: saved["recent"][0].__setitem__("x", [1.0 - x for x in saved["recent"][0]["x"]]),
    "one item twice": one_item_twice,
    "x above 1": put("x", [0.5, 1.5]),
    "x below 0": put("x", [-0.1, 0.5]),
    "x above 1 in the sum too": beyond(1.001),
    "x below 0 in the sum too": beyond(-0.001),
    "x is no number": put("x", ["nan", 0.5]),
    "x is nothing": put("x", [None, 0.5]),
    "an unknown item": put("items", [0, 6]),
    "a negative item": put("items", [-1, 0]),
    "the next round": put("round", 31),
    "a round far away": put("round", 10**9),
    "a round beyond all numbers": put("round", 10**40),
    "a negative round": put("round", -1),
    "no round": put("round", None),
    "another field": put("weights", [0.5, 0.5]),
    "text": lambda saved: saved.__setitem__("recent", "lost"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_files_no_learner_could_have_written(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    learner, _ = windowed(8, rounds=30)
    learner.save(path)
    edited(path, lambda saved: None)
    assert state(Learner.load(path, SET)) == state(learner)  # untouched, it loads
    edited(path, DAMAGE[damage])
    with pytest.raises(errors.BadState):
        Learner.load(path, SET)


def test_the_file_holds_the_window_and_no_more(tmp_path: Path) -> None:
    learner, ledger = windowed(8, rounds=30)
    learner.save(tmp_path / "a.json")
    recent = json.loads((tmp_path / "a.json").read_text())["learner"]["recent"]
    assert [one["round"] for one in recent] == list(range(23, 31))
    inside = [one for one in ledger.seen if one[0] >= 23]
    assert [(one["round"], e, x) for one in recent for e, x in zip(one["items"], one["x"], strict=True)] == inside


PROBLEM = Problem(SET, environments.Bernoulli(np.linspace(0.1, 0.9, N_ITEMS)))
EVERY: list[IndexPolicy] = [
    policies.BGCTS(),
    policies.CLSG(),
    policies.CMOSS(c=0.5, anytime=True),
    policies.CMOSS(delta=0.001),
    policies.CTS(),
    policies.Clairvoyant(PROBLEM),
    policies.CombUCB1(alpha=0.5, init="all"),
    policies.Discounted(0.95, alpha=0.5),
    policies.EpsilonGreedy(0.3, decay=0.1),
    policies.ExploreThenCommit(45),
    policies.Fixed([4, 1]),
    policies.GaussianCTS(),
    policies.KLUCB(),
    policies.OMM(),
    policies.PooledCTS(),
    policies.PooledCTS(window=12),
    policies.PooledCTS(discount=0.9),
    policies.Random(),
    policies.SlidingWindow(12, alpha=0.5),
    policies.UCBV(),
]


@pytest.mark.parametrize("policy", EVERY, ids=lambda policy: repr(policy))
def test_every_policy_is_saved_and_loaded(policy: IndexPolicy, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    learner = busy(policy)
    learner.save(path)
    saved = json.loads(path.read_text())["learner"]
    assert ("recent" in saved) is (policy.window > 0)
    if isinstance(policy, policies.Clairvoyant):
        with pytest.raises(errors.BadState, match=r"Clairvoyant cannot be made from a file: pass it as policy="):
            Learner.load(path, SET)
        loaded = Learner.load(path, SET, policies.Clairvoyant(PROBLEM))
    else:
        loaded = Learner.load(path, SET)
        assert repr(loaded) == repr(learner)
    loaded.save(tmp_path / "b.json")
    assert path.read_bytes() == (tmp_path / "b.json").read_bytes()
    assert going_on(loaded) == going_on(learner)


def test_no_policy_is_left_out() -> None:
    public = [getattr(policies, name) for name in policies.__all__]
    kinds = {kind for kind in public if isinstance(kind, type) and issubclass(kind, IndexPolicy)}
    assert {type(policy) for policy in EVERY} == kinds


@pytest.mark.parametrize("policy", [policies.CombUCB1(), policies.Random()], ids=repr)
def test_a_window_is_no_other_policy(policy: IndexPolicy, tmp_path: Path) -> None:
    busy(SlidingWindow(5)).save(tmp_path / "a.json")
    with pytest.raises(errors.BadState, match="saved with the policy SlidingWindow"):
        Learner.load(tmp_path / "a.json", SET, policy)
    busy(policy).save(tmp_path / "b.json")
    with pytest.raises(errors.BadState, match="saved with the policy"):
        Learner.load(tmp_path / "b.json", SET, SlidingWindow(5))


def test_rounding_of_a_long_life_is_no_damage(tmp_path: Path) -> None:
    """Sums that went up and down a million times are off by 1e-8 or so."""
    learner = busy(SlidingWindow(9))
    learner._agent.stats[1, int(np.argmax(learner.counts))] += 1e-8
    learner.save(tmp_path / "a.json")
    assert going_on(Learner.load(tmp_path / "a.json", SET)) == going_on(learner)


@pytest.mark.parametrize(
    "policy", [SlidingWindow(9), Discounted(0.9), policies.CTS(), policies.PooledCTS(window=9)], ids=repr
)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_statistics_that_are_no_numbers(policy: IndexPolicy, wrong: float, tmp_path: Path) -> None:
    learner = busy(policy)
    learner._agent.stats[2, 1] = wrong
    learner.save(tmp_path / "a.json")
    with pytest.raises(errors.BadState, match="statistics must be finite"):
        Learner.load(tmp_path / "a.json", SET)
