"""Saving and loading."""

import hashlib
import json
import os
import threading
import time
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
        out.append((decision.round, decision.items.tolist()))
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
    path.write_text(text.replace('"version":4', '"version":5'))
    with pytest.raises(errors.BadState, match="has version 5; this release reads versions 1 to 4"):
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


def hostile(path: Path, **changes: Any) -> None:
    """A file with these fields changed and the right checksum."""
    file = json.loads(path.read_text())
    learner = file["learner"]
    for name, value in changes.items():
        target, *field = name.split("__")
        if field:
            learner[target][0][field[0]] = value
        else:
            learner[target] = value
    body = json.dumps(learner, separators=(",", ":")).encode()
    path.write_bytes(
        json.dumps({**file, "checksum": hashlib.sha256(body).hexdigest(), "learner": 0})
        .encode()
        .replace(b'"learner": 0', b'"learner": ' + body)
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"round": -5},
        {"round": 0},
        {"round": 10**30},
        {"seed": -1},
        {"seed": 2**64},
        {"name": "x"},
        {"name": None},
        {"sense": "best"},
        {"bounds": [1.0, 0.0]},
        {"labels": ["a"]},
        {"uncovered": "maybe"},
        {"logged": -1},
        {"stats": [[1.0]]},
        {"stats": [[-1.0] * 12] * 4},
        {"stats": [[1.0] * 12, [99.0] * 12, [1.0] * 12, [1.0] * 12]},
        {"stats": [["inf"] * 12] * 4},
        {"init_round": [10**30] * 12},
        {"init_round": [10**6] * 12},
        {"init_x": [2.0] * 12},
        {"policy": {"name": "CombUCB1", "parameters": {"alpha": -1.0, "init": "paper"}}},
        {"policy": {"name": "CombUCB1", "parameters": {"beta": 1.0}}},
        {"policy": {"name": "os.system", "parameters": {}}},
        {"outstanding__items": [0, 99]},
        {"outstanding__items": [-1, 0]},
        {"outstanding__items": [0, 0]},
        {"outstanding__items": [2, 1]},
        {"outstanding__items": [0, 1, 2, 3, 4, 5]},
        {"outstanding__round": 10**6},
        {"outstanding__round": 1},
        {"outstanding__epoch": "x"},
        {"outstanding__cancelled": True},
        {"outstanding__weights": [0.5]},
        {"outstanding__weights": [0.5, 0.5, 0.5, 0.5]},
        {"outstanding__weights": [99.0, None, None, None]},
        {"finished__weights": None},
        {"finished__round": 0},
        {"unknown": 1},
    ],
    ids=str,
)
def test_files_no_learner_could_have_written(changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    busy(14).save(path)
    hostile(path)
    Learner.load(path, grid)  # untouched, it loads
    hostile(path, **changes)
    with pytest.raises(errors.BadState):
        Learner.load(path, grid)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    for data in (b"\xff\xfe", b'{"format": "\xff"}', b"[" * 100_000, b"", b"null"):
        path.write_bytes(data)
        with pytest.raises(errors.BadState):
            Learner.load(path, grid)


def test_whatever_is_accepted_can_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    learner = Learner(
        sets.TopK(4, 2),
        policies.CombUCB1(alpha=np.float32(0.5), init=np.str_("all")),  # type: ignore[arg-type]
        labels=np.array(list("abcd")),  # type: ignore[arg-type]
        sense=np.str_("min"),  # type: ignore[arg-type]
        bounds=np.array([0, 3]),  # type: ignore[arg-type]
        seed=np.uint64(2**64 - 1),  # type: ignore[arg-type]
        uncovered=np.str_("ignore"),  # type: ignore[arg-type]
    )
    learner.tell(learner.ask().id, [1.0, 2.0])
    learner.save(path)
    assert Learner.load(path, sets.TopK(4, 2)).ask().labels == learner.ask().labels == ("c", "d")


class Extremes(policies.CombUCB1):
    """Keeps the smallest observation, infinite at first, and has a parameter that is no number."""

    weights: tuple[float, ...] = (1.0, 2.0)
    prior = (0.0, 0.0, np.inf)
    init = "all"

    @staticmethod
    def observe(s: Any, x: Any, round: int, key: int, item: Any, p: Any) -> Any:
        return (s[0] + 1.0, s[1] + x, np.minimum(s[2], x))

    @staticmethod
    def score(s: Any, c: Any, key: int, item: Any, p: Any) -> Any:
        return np.minimum(s[2], 1.0)


def test_statistics_may_be_infinite(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    learner = Learner(sets.TopK(4, 2), Extremes())
    learner.tell(learner.ask().id, [0.5, 0.25])
    learner.save(path)
    loaded = Learner.load(path, sets.TopK(4, 2), Extremes())
    assert loaded.scores().tolist() == learner.scores().tolist() == [0.5, 0.25, 1.0, 1.0]


def test_the_last_save_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow save that began earlier must not overwrite a later one."""
    path = tmp_path / "state.json"
    learner = Learner(sets.TopK(4, 2), policies.CombUCB1())
    entered, fsync = threading.Event(), os.fsync

    def slow(handle: int) -> None:
        if not entered.is_set():
            entered.set()
            time.sleep(0.2)
        fsync(handle)

    monkeypatch.setattr("os.fsync", slow)
    early = threading.Thread(target=learner.save, args=(path,))
    early.start()
    entered.wait()
    learner.ask()
    learner.save(path)
    early.join()
    assert Learner.load(path, sets.TopK(4, 2)).round == 1


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    learner = Learner(sets.TopK(4, 2), policies.CombUCB1())
    learner.save(target)
    target.chmod(0o600)
    link.symlink_to(target)
    learner.ask()
    learner.save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    assert Learner.load(target, sets.TopK(4, 2)).round == 1
    with pytest.raises(FileNotFoundError, match="No such folder"):
        learner.save(tmp_path / "missing" / "state.json")


def test_ignoring_dead_ends_can_be_decided_later(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    dead_end = sets.Enumerated([[0], [2]], n_items=3)
    Learner(dead_end, policies.CombUCB1()).save(path)
    with pytest.raises(errors.UncoveredItems):
        Learner.load(path, dead_end).ask()
    assert Learner.load(path, dead_end, uncovered="ignore").ask().items.tolist() == [0]
    with pytest.raises(errors.BadArgument, match="FeasibleSet"):
        Learner.load(path, "x")  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match="policy"):
        Learner.load(path, dead_end, "x")  # type: ignore[arg-type]


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
