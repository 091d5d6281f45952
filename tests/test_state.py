"""Saving and loading."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, errors, policies, sets
from semibandits.types import Items

grid = sets.GridPaths(2)


def busy(rounds: int = 30) -> Learner:
    """A learner in the middle of things: late, partial, cancelled and finished decisions."""
    learner = Learner(grid, policies.CombUCB1(alpha=0.75), sense="min", bounds=(0.0, 3.0), seed=9)
    generator = np.random.default_rng(0)
    for i in range(rounds):
        decision = learner.ask()
        weights = generator.random(decision.items.size) * 3.0
        if i % 7 == 3:
            learner.tell(decision.id, {int(decision.items[0]): weights[0]})
        elif i % 7 == 5:
            learner.cancel(decision.id)
        elif i % 7 != 6:
            learner.tell(decision.id, weights)
    return learner


def choices(learner: Learner, rounds: int = 40) -> list[Any]:
    """Finishes what is outstanding, then plays on."""
    out: list[Any] = []
    generator = np.random.default_rng(1)
    for decision in learner.outstanding:
        for item in decision.items.tolist():
            try:
                learner.tell(decision.id, {item: generator.random()})
            except errors.ContradictingFeedback:
                out.append(item)
    for _ in range(rounds):
        decision = learner.ask()
        learner.tell(decision.id, generator.random(decision.items.size))
        out.append((decision.id, decision.round, decision.items.tolist()))
    return [*out, learner.counts.tolist(), learner.estimates.tolist(), learner.scores().tolist()]


@settings(max_examples=15)
@given(rounds=st.integers(0, 30))
def test_a_loaded_learner_goes_on_bit_for_bit(rounds: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("state") / "state.json"
    learner = busy(rounds)
    learner.save(path)
    loaded = Learner.load(path, sets.GridPaths(2))
    assert [d.id for d in loaded.outstanding] == [d.id for d in learner.outstanding]
    assert choices(loaded) == choices(learner)


def test_repeats_are_recognised_after_loading(tmp_path: Path) -> None:
    learner = Learner(sets.TopK(2, 1), policies.CombUCB1(), labels=["x", "y"])
    decision = learner.ask()
    learner.tell(decision.id, [0.1])
    learner.save(tmp_path / "a.json")
    loaded = Learner.load(tmp_path / "a.json", sets.TopK(2, 1))
    assert loaded.tell(decision.id, {"x": 0.1}) == 0
    with pytest.raises(errors.ContradictingFeedback):
        loaded.tell(decision.id, [0.2])
    assert loaded.estimates[0] == 0.1


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    busy(8).save(path)
    data = path.read_bytes()
    for length in [*range(0, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(errors.BadState):
            Learner.load(path, grid)


def test_every_edit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    busy(8).save(path)
    data = path.read_bytes()
    json.loads(data)  # it is plain JSON
    generator = np.random.default_rng(0)
    for _ in range(300):
        edited = bytearray(data)
        at = int(generator.integers(len(data)))
        edited[at] ^= 1 << int(generator.integers(7))
        path.write_bytes(edited)
        with pytest.raises(errors.BadState):
            Learner.load(path, grid)


def test_errors_say_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    busy(3).save(path)
    text = path.read_text()
    with pytest.raises(errors.BadState, match="n_items=12, max_size=4"):
        Learner.load(path, sets.TopK(5, 2))
    with pytest.raises(errors.BadState, match="saved with the policy CombUCB1, got Other"):
        Learner.load(path, grid, Other())
    path.write_text(text.replace('"version":1', '"version":2'))
    with pytest.raises(errors.BadState, match="has version 2; this release reads version 1"):
        Learner.load(path, grid)
    path.write_text(text.replace("semibandits.learner", "semibandits.other"))
    with pytest.raises(errors.BadState, match=r"holds 'semibandits\.other'"):
        Learner.load(path, grid)
    path.write_text(text.replace('"round":3', '"round":4', 1))
    with pytest.raises(errors.BadState, match="damaged or edited"):
        Learner.load(path, grid)
    path.write_text("[]")
    with pytest.raises(errors.BadState, match="not a saved learner"):
        Learner.load(path, grid)
    with pytest.raises(FileNotFoundError):
        Learner.load(tmp_path / "missing.json", grid)


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    learner = busy(5)
    learner.save(path)
    before = path.read_bytes()
    learner.ask()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        learner.save(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["state.json"]


class Other(policies.CombUCB1):
    """A policy of the user's own."""


def test_policies_of_the_users_own_must_be_given_again(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    learner = Learner(sets.TopK(3, 1), Other(alpha=0.5))
    learner.save(path)
    with pytest.raises(errors.BadState, match="pass it as policy="):
        Learner.load(path, sets.TopK(3, 1))
    assert repr(Learner.load(path, sets.TopK(3, 1), Other(alpha=0.5))) == repr(learner)


def test_a_solver_of_the_users_own_is_given_again(tmp_path: Path) -> None:
    def solver(weights: Items) -> list[int]:
        return [int(np.argmax(weights))]

    path = tmp_path / "state.json"
    learner = Learner(sets.Oracle(solver, 3, 1), policies.CombUCB1())
    learner.tell(learner.ask().id, [0.5])
    learner.save(path)
    assert Learner.load(path, sets.Oracle(solver, 3, 1)).ask().items.tolist() == learner.ask().items.tolist()
