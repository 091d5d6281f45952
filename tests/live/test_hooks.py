"""Tables, hooks and decisions as JSON."""

import json
import logging
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, errors, policies, sets
from semibandits.live.events import Event
from support.operated import LABELS, TOP


def test_what_is_known_as_a_table() -> None:
    polars = pytest.importorskip("polars")
    learner = Learner(TOP, policies.CombUCB1(), seed=0, labels=LABELS, bounds=(0.0, 4.0), outside="clip")
    learner.observe({"a": 1.0, "b": 9.0})
    frame = learner.to_frame()
    assert isinstance(frame, polars.DataFrame)
    names = ["item", "label", "count", "estimate", "low", "high", "least", "largest", "clipped", "best"]
    assert frame.columns == names
    assert frame["label"].to_list() == LABELS
    assert frame["count"].to_list() == [1, 1, 0, 0, 0, 0]
    assert frame["estimate"].to_list()[:2] == [1.0, 4.0]
    assert frame["clipped"].to_list() == [0, 1, 0, 0, 0, 0]
    np.testing.assert_array_equal(frame.select("low", "high").to_numpy(), learner.intervals())
    assert set(frame.filter(frame["best"])["label"]) == {learner.labels[item] for item in learner.best()}
    assert "label" not in Learner(TOP).to_frame().columns
    assert "best" not in Learner(sets.TopK(4, 2), policies.COMBAND(eta=0.1, gamma=0.1), feedback="bandit").to_frame()


def test_silence_is_counted() -> None:
    learner, heard = Learner(TOP, seed=0), list[Event]()
    learner.hooks.append(heard.append)
    first, _ = learner.ask(n=2)
    learner.tell(first.id, {int(first.items[0]): 1.0})
    assert len(learner.expire(0.0, weight=0.0)) == 2
    assert [one.weights for one in heard if one.kind == "expire"] == [1, 2]
    assert sum(one.weights for one in heard) == learner.counts.sum() == 4


def test_hooks_are_told_of_every_call() -> None:
    learner, heard = Learner(TOP, seed=0), list[Event]()
    learner.hooks.append(heard.append)
    decision, batch = learner.ask(), learner.ask(n=3)
    learner.tell(decision.id, [0.5, 0.5])
    learner.tell(decision.id, [0.5, 0.5])
    learner.observe([1, 2, 3], [0.1, 0.2, 0.3])
    learner.observe(counts=[7, 0, 0, 0, 0, 0], sums=[0] * 6)
    learner.cancel(batch[0].id)
    learner.expire(0.0)
    learner.change_policy(policies.CTS())
    with pytest.raises(errors.UnknownDecision):
        learner.tell("nobody's", [1.0])
    with pytest.raises(errors.EmptyFeasibleSet):
        learner.ask(available=[1])
    kinds = [
        "ask",
        "ask",
        "tell",
        "tell",
        "observe",
        "observe",
        "cancel",
        *["expire"] * 2,
        "change_policy",
        "tell",
        "ask",
    ]
    assert [one.kind for one in heard] == kinds
    assert heard[0].ids == (decision.id,) == heard[2].ids
    assert heard[1].ids == tuple(one.id for one in batch)
    assert [one.weights for one in heard] == [0, 0, 2, 0, 3, 7, 0, 0, 0, 0, 0, 0]
    assert {one.ids[0] for one in heard[7:9]} == {one.id for one in batch[1:]}
    assert all(0.0 <= one.solving <= one.seconds for one in heard)
    assert heard[0].solving > 0.0
    assert [type(one.error) for one in heard[-2:]] == [errors.UnknownDecision, errors.EmptyFeasibleSet]
    assert all(one.error is None for one in heard[:-2])


def test_a_hook_that_raises_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    learner, heard = Learner(TOP, seed=0), list[Event]()

    def breaks(event: Event) -> None:
        raise RuntimeError("no metrics today")

    learner.hooks += [breaks, heard.append]
    with caplog.at_level(logging.WARNING, "semibandits"):
        decision = learner.ask()
    assert learner.outstanding == [decision]
    assert "no metrics today" in caplog.text
    assert len(heard) == 1


def test_a_hook_may_use_the_learner() -> None:
    """It is called when the call has ended, and no lock is held."""
    learner = Learner(TOP, seed=0)
    learner.hooks.append(lambda event: event.kind == "ask" and learner.tell(event.ids[0], [1.0, 1.0]))
    learner.ask()
    assert learner.counts.sum() == 2


def test_a_decision_as_json() -> None:
    decision = Learner(TOP, seed=0).ask()
    assert json.loads(json.dumps(decision.as_dict())) == {
        "id": decision.id,
        "round": 1,
        "items": decision.items.tolist(),
        "time": decision.time,
    }
    assert "time" not in repr(decision)


def test_the_table_is_of_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told while the solver looks for the best is not half in it."""
    told = [[1.0, 0.0, 0.0]]

    def solver(weights: Any) -> Any:
        if told:
            learner.observe(range(3), told.pop())
        return [int(np.argmax(weights))]

    learner = Learner(sets.Oracle(lambda weights: [int(np.argmax(weights))], n_items=3, max_size=1), seed=0)
    learner.observe(range(3), [0.1, 0.2, 0.3])
    monkeypatch.setattr(learner._feasible, "_function", solver)
    frame = learner.to_frame()
    assert not told
    assert np.argmax(frame["estimate"]) == np.argmax(frame["best"]) == 2
