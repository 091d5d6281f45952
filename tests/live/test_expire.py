"""Decisions that nobody answers."""

import math
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits.live.events import Event
from support.operated import TOP, Clock, everything


def test_decisions_expire() -> None:
    learner = Learner(TOP, policies.CombUCB1(init="optimistic"), seed=0)
    clock, made = Clock(learner), []
    for _ in range(4):
        made.append(learner.ask())
        clock.now += 60.0
    learner.tell(made[1].id, {int(made[1].items[0]): 1.0})
    assert [one.time for one in made] == [1_000_000.0 + 60.0 * i for i in range(4)]
    assert learner.expire(3600.0) == []
    assert learner.expire(timedelta(minutes=2.5)) == made[:2]
    assert learner.outstanding == made[2:]
    assert learner.counts.sum() == 1
    for one in made[:2]:
        with pytest.raises(errors.UnknownDecision, match="has expired: feedback comes too late"):
            learner.tell(one.id, [0.5, 0.5])
        learner.cancel(one.id)  # harmless
    assert learner.expire(150.0) == []
    assert learner.expire(0) == made[2:]


def test_silence_can_be_an_answer() -> None:
    """No click is a 0; what did come stays."""
    learner = Learner(TOP, policies.CombUCB1(init="optimistic"), seed=0, bounds=(0.0, 2.0))
    clock = Clock(learner)
    decision = learner.ask()
    clicked, other = decision.items.tolist()
    learner.tell(decision.id, {clicked: 2.0})
    clock.now += 10.0
    assert learner.expire(5.0, weight=0.0) == [decision]
    assert learner.counts[[clicked, other]].tolist() == [1, 1]
    assert learner.estimates[[clicked, other]].tolist() == [2.0, 0.0]
    with pytest.raises(errors.UnknownDecision, match="has expired"):
        learner.tell(decision.id, [2.0, 1.0])


def test_expired_decisions_are_saved(tmp_path: Path) -> None:
    learner = Learner(TOP, policies.CTS(), seed=0)
    clock = Clock(learner)
    old = learner.ask()
    clock.now += 100.0
    new = learner.ask()
    learner.expire(50.0, weight=1.0)
    learner.save(tmp_path / "learner.json")
    again = Learner.load(tmp_path / "learner.json", TOP)
    with pytest.raises(errors.UnknownDecision, match="has expired"):
        again.tell(old.id, [0.5, 0.5])
    assert [(one.id, one.time) for one in again.outstanding] == [(new.id, new.time)]
    assert again.counts.sum() == 2


def test_what_cannot_expire() -> None:
    learner = Learner(TOP, seed=0)
    clock = Clock(learner)
    learner.ask()
    clock.now += 1.0
    before = everything(learner)
    for wrong, cause, message in (
        ((-1.0,), errors.BadArgument, "seconds >= 0"),
        ((math.nan,), errors.BadArgument, "seconds >= 0"),
        (("1h",), errors.BadArgument, "seconds >= 0"),
        ((10**400,), errors.BadArgument, "seconds >= 0"),
        ((np.timedelta64(1, "M"),), errors.BadArgument, "seconds >= 0"),
        ((np.timedelta64("NaT"),), errors.BadArgument, "seconds >= 0"),
        ((timedelta(seconds=-1),), errors.BadArgument, "seconds >= 0"),
        ((True,), errors.BadArgument, "seconds >= 0"),
        ((0.0, "0"), errors.BadWeights, "weight must be numbers, got .0."),
        ((0.0, 2.0), errors.BadWeights, "within the bounds"),
        ((0.0, math.nan), errors.BadWeights, "must be finite"),
        ((0.0, [0.0] * 5), errors.BadArgument, "must be 6 numbers"),
        ((0.0, {6: 0.0}), errors.UnknownItem, "no item 6"),
        ((0.0, {}), errors.BadArgument, "must have a number for each item that is waited for, also for 0"),
    ):
        with pytest.raises(cause, match=message):
            learner.expire(wrong[0], weight=wrong[1] if len(wrong) > 1 else None)  # type: ignore[arg-type]
        assert everything(learner) == before


def test_sums_that_nobody_tells() -> None:
    learner = Learner(TOP, seed=0, feedback="bandit")
    clock = Clock(learner)
    decision = learner.ask()
    clock.now += 1.0
    assert learner.expire(0.5, weight=0.25) == [decision]
    assert learner.outstanding == []


def test_two_who_expire_at_once() -> None:
    """What one has given up is not the other's; nothing is lost where one cannot be answered."""
    learner = Learner(TOP, policies.CTS(), seed=0)
    clock = Clock(learner)
    made = learner.ask(n=1500)
    clock.now += 1.0
    given_up: list[str] = []

    def between(event: Event) -> None:
        if event.kind == "expire" and not given_up:
            given_up.append("")
            given_up.extend(one.id for one in learner.expire(0.0))

    learner.hooks.append(between)
    given_up += [one.id for one in learner.expire(0.0)]
    assert sorted(given_up[1:]) == sorted(one.id for one in made)
    assert learner.outstanding == []


@pytest.mark.parametrize("weight", [[0.0, 2.5], np.array([0.0, 2.5]), {"left": 0.0, "right": 2.5}])
def test_silence_of_each_item(weight: Any) -> None:
    """No single number is within the bounds of both."""
    bounds = ([0.0, 2.0], [1.0, 3.0])
    learner = Learner(sets.TopK(2, 2), policies.CTS(), bounds=bounds, seed=0, labels=["left", "right"])
    clock = Clock(learner)
    half, none = learner.ask(), learner.ask()
    learner.tell(half.id, {"right": 3.0})
    clock.now += 1.0
    assert learner.expire(np.timedelta64(500, "ms"), weight=weight) == [half, none]
    assert learner.counts.tolist() == [2, 2]
    assert learner.estimates.tolist() == [0.0, 2.75]


def test_silence_of_those_that_are_waited_for() -> None:
    """Others need no number."""
    learner = Learner(TOP, policies.CombUCB1(init="optimistic"), seed=0)
    clock = Clock(learner)
    decision = learner.ask()
    told, other = decision.items.tolist()
    learner.tell(decision.id, {told: 1.0})
    clock.now += 1.0
    assert learner.expire(0.5, weight={other: 0.5}) == [decision]
    assert learner.estimates[[told, other]].tolist() == [1.0, 0.5]
    sums = Learner(TOP, seed=0, feedback="bandit")
    clock = Clock(sums)
    waiting = sums.ask()
    clock.now += 1.0
    each = dict.fromkeys(waiting.items.tolist(), 0.25)
    assert sums.expire(0.5, weight=each) == [waiting]


def test_silence_that_cannot_be_an_answer_for_all() -> None:
    learner = Learner(sets.TopK(2, 1), policies.CTS(), bounds=([0.0, 2.0], [1.0, 3.0]), seed=0)
    clock = Clock(learner)
    learner.ask(n=20)
    clock.now += 1.0
    before = everything(learner)
    with pytest.raises(errors.BadWeights, match="for item 1"):
        learner.expire(0.5, weight=0.0)
    assert everything(learner) == before
