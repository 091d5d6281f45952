"""Weights beyond the bounds."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, errors, policies
from support.operated import LABELS, TOP


def test_weights_beyond_the_bounds_are_refused() -> None:
    learner = Learner(TOP, bounds=(0.0, 2.0), seed=0)
    decision = learner.ask()
    with pytest.raises(errors.BadWeights, match=r"within the bounds \(0.0, 2.0\), got 3.0"):
        learner.tell(decision.id, [3.0, 1.0])
    assert learner.clipped.tolist() == [0] * 6
    assert len(learner.outstanding) == 1


@pytest.mark.parametrize("bounds", [(-0.3, 0.3), (np.full(6, -0.3), np.array([0.3, 0.3, 0.3, 9.0, 9.0, 0.3]))])
def test_rounding_is_not_beyond_the_bounds(bounds: Any) -> None:
    learner, twin = (Learner(TOP, bounds=bounds, seed=0) for _ in range(2))
    clipping = Learner(TOP, bounds=bounds, seed=0, outside="clip")
    twin.observe([0, 1, 2], [0.3, -0.3, 0.1])
    for one in (learner, clipping):
        one.observe([0, 1, 2], [0.1 + 0.2, -0.1 - 0.2, 0.1])
        np.testing.assert_array_equal(one.estimates, twin.estimates)
        one.observe([0, 1], np.array([0.3, -0.3], dtype=np.float32))
    twin.observe([0, 1], np.clip(np.array([0.3, -0.3], dtype=np.float32).astype(float), -0.3, 0.3))
    assert not clipping.clipped.any()
    for one in (learner, clipping):
        np.testing.assert_array_equal(one.estimates, twin.estimates)
    with pytest.raises(errors.BadWeights, match=r"within the bounds \(-0.3, 0.3\), got 0.3000001 for item 2"):
        learner.observe([1, 2], [0.1 + 0.2, 0.3000001])
    assert learner.counts.tolist() == twin.counts.tolist()


def test_weights_beyond_the_bounds_are_clipped_and_counted() -> None:
    learner, twin = (Learner(TOP, policies.CombUCB1(), bounds=(0.0, 2.0), seed=0, outside="clip") for _ in range(2))
    for said, meant in (([3.0, 1.0], [2.0, 1.0]), ([-1.0, 99.0], [0.0, 2.0]), ([2.0, 0.0], [2.0, 0.0])):
        decision = learner.ask()
        assert learner.tell(decision.id, said) == 2
        assert learner.tell(decision.id, said) == 0  # a repeat, though it says more than was taken in
        twin.tell(twin.ask().id, meant)
    learner.observe([4, 4, 5], [7.0, -7.0, 1.0])
    twin.observe([4, 4, 5], [2.0, 0.0, 1.0])
    np.testing.assert_array_equal(learner.estimates, twin.estimates)
    assert (learner.clipped.sum(), learner.clipped[4], twin.clipped.sum()) == (5, 2, 0)
    for strange in (math.nan, math.inf, -math.inf):
        with pytest.raises(errors.BadWeights, match="finite"):
            learner.observe({1: strange})


def test_sums_beyond_the_bounds() -> None:
    """Nobody knows which of the items it was."""
    learner = Learner(TOP, seed=0, feedback="bandit", outside="clip")
    decision = learner.ask()
    assert learner.tell(decision.id, 5.0) == 1
    assert learner.clipped.tolist() == [int(item in decision.items) for item in range(6)]
    assert learner.tell(decision.id, 5.0) == 0


@pytest.mark.parametrize("bounds", [(0.0, 0.3), (np.full(6, 0.0), np.array([0.3, 0.3, 0.3, 0.3, 0.3, 9.0]))])
@pytest.mark.parametrize("outside", ["error", "clip"])
def test_sums_beyond_by_rounding(bounds: Any, outside: Any) -> None:
    learner, twin = (
        Learner(TOP, policies.LinUCB(), bounds=bounds, seed=0, feedback="bandit", outside=outside) for _ in range(2)
    )
    for said, meant in ((np.float32(0.6), 0.6), (0.3 + 0.1 + 0.2, 0.3 + 0.1 + 0.2)):
        decisions = [one.ask(available=range(4)) for one in (learner, twin)]
        learner.tell(decisions[0].id, said)
        twin.tell(decisions[1].id, meant)
        for one, other in zip(learner._agent.state, twin._agent.state, strict=True):  # type: ignore[attr-defined]
            np.testing.assert_array_equal(one, other)
    assert not learner.clipped.any()
    decision = learner.ask(available=range(4))
    if outside == "clip":
        learner.tell(decision.id, 0.6000003)
        assert learner.clipped.sum() == 2
    else:
        with pytest.raises(errors.BadWeights, match=r"the sum of 2 weights must be from 0.0 to 0.6, got 0.6000003"):
            learner.tell(decision.id, 0.6000003)


def test_what_else_may_be_outside() -> None:
    with pytest.raises(errors.BadArgument, match="outside must be 'error' or 'clip', got 'ignore'"):
        Learner(TOP, outside="ignore")  # type: ignore[arg-type]


def test_clipping_is_saved(tmp_path: Path) -> None:
    learner = Learner(TOP, seed=0, outside="clip", labels=LABELS)
    learner.observe({"b": 9.0, "c": 0.5})
    learner.save(tmp_path / "learner.json")
    again = Learner.load(tmp_path / "learner.json", TOP)
    assert again.clipped.tolist() == [0, 1, 0, 0, 0, 0]
    again.observe({"a": -1.0})
    assert again.clipped.tolist() == [1, 1, 0, 0, 0, 0]
    strict = Learner.load(tmp_path / "learner.json", TOP, outside="error")
    assert (again.outside, strict.outside) == ("clip", "error")
    with pytest.raises(errors.BadWeights, match=r"within the bounds \(0.0, 1.0\), got -1.0 for item a"):
        strict.observe({"a": -1.0})
    assert strict.clipped.tolist() == [0, 1, 0, 0, 0, 0]
    with pytest.raises(AttributeError):
        strict.outside = "clip"  # type: ignore[misc]
    turned = Learner.load(tmp_path / "learner.json", TOP, labels=LABELS[::-1])
    assert turned.clipped.tolist() == [0, 0, 0, 0, 1, 0]
    assert turned.labels[4] == "b"
