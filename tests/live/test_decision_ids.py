"""A decision's id belongs to one decision for ever: after restarts from old saves, and in forked children."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from test_state import hostile

from semibandits import Learner, errors, policies, sets
from semibandits._util import forks
from support.forking import forked, in_child, meanwhile, slow_set

TOP = sets.TopK(4, 1)


def learner_of(seed: int = 0) -> Learner:
    return Learner(TOP, policies.CombUCB1(), seed=seed)


def test_late_feedback_after_a_restart_from_an_old_save_lands_nowhere_else(tmp_path: Path) -> None:
    learner = learner_of()
    kept = learner.ask()
    learner.save(tmp_path / "state.json")
    lost = learner.ask()
    again = Learner.load(tmp_path / "state.json", TOP)
    other = again.ask()
    assert other.round == lost.round
    assert other.id != lost.id
    with pytest.raises(
        errors.UnknownDecision, match=r"one of this learner's, but of another life: asked after the save"
    ):
        again.tell(lost.id, [0.5])
    assert again.counts.sum() == 0
    assert again.tell(kept.id, [0.5]) == again.tell(other.id, [0.25]) == 1


def test_ids_cannot_be_guessed_and_are_of_one_life() -> None:
    learner = learner_of()
    ids = [learner.ask().id for _ in range(3)]
    assert all(re.fullmatch(r"[0-9a-f]{16}-\d+-[0-9a-f]{16}", id) for id in ids)
    assert len({(id.partition("-")[0], id.rpartition("-")[2]) for id in ids}) == 1
    with pytest.raises(errors.UnknownDecision) as caught:
        learner.tell(ids[0].replace("-1-", "-9-"), [0.5])
    assert "another life" not in str(caught.value)
    with pytest.raises(errors.UnknownDecision) as caught:
        learner.tell(learner_of().ask().id, [0.5])
    assert "another life" not in str(caught.value)


def test_ids_of_many_restarts_are_all_known(tmp_path: Path) -> None:
    learner, ids = learner_of(), []
    for leg in range(4):
        ids.append(learner.ask().id)
        learner.save(tmp_path / f"{leg}.json")
        learner = Learner.load(tmp_path / f"{leg}.json", TOP)
    assert [one.id for one in learner.outstanding] == ids
    assert [learner.tell(id, [0.5]) for id in ids] == [1] * 4
    learner.save(tmp_path / "end.json")
    loaded = Learner.load(tmp_path / "end.json", TOP)
    assert [loaded.tell(id, [0.5]) for id in ids] == [0] * 4


def test_ids_stay_when_items_are_renumbered(tmp_path: Path) -> None:
    learner = Learner(sets.TopK(3, 2), policies.CombUCB1(), labels=list("abc"))
    decision = learner.ask()
    learner.save(tmp_path / "state.json")
    loaded = Learner.load(tmp_path / "state.json", sets.TopK(3, 2), labels=list("cba"))
    assert [one.id for one in loaded.outstanding] == [decision.id]
    assert loaded.tell(decision.id, dict(zip(decision.labels, [0.5, 0.25], strict=True))) == 2


def test_decisions_of_files_without_epochs_keep_their_ids(tmp_path: Path) -> None:
    path, learner = tmp_path / "state.json", learner_of()
    first, second = learner.ask(), learner.ask()
    learner.tell(second.id, [0.5])
    learner.save(path)
    file = json.loads(path.read_text())["learner"]
    for one in file["outstanding"] + file["finished"]:
        del one["epoch"]
    hostile(path, outstanding=file["outstanding"], finished=file["finished"])
    path.write_text(path.read_text().replace('"version": 3', '"version": 2'))
    loaded = Learner.load(path, TOP)
    name = first.id.partition("-")[0]
    assert [one.id for one in loaded.outstanding] == [f"{name}-1"]
    assert loaded.tell(f"{name}-1", [0.5]) == 1
    assert loaded.tell(f"{name}-2", [0.5]) == 0
    assert re.fullmatch(rf"{name}-3-[0-9a-f]{{16}}", loaded.ask().id)


def test_an_id_that_was_cut_short_is_no_other() -> None:
    learner = learner_of()
    ids = [learner.ask().id for _ in range(12)]
    for length in range(len(ids[-1])):
        with pytest.raises(errors.UnknownDecision):
            learner.tell(ids[-1][:length], [0.5])
    assert len(learner.outstanding) == 12


@forked
def test_children_and_parent_give_different_ids() -> None:
    learner = learner_of()
    before = learner.ask()
    children = [in_child(lambda: (learner.ask().id, learner.tell(before.id, [0.5]))) for _ in range(2)]
    mine = learner.ask().id
    said = [re.fullmatch(r"\('(.*)', 1\)", child) for child in children]
    ids = [one[1] for one in said if one] + [mine]
    assert len(ids) == len(set(ids)) == 3
    assert len({id.split("-")[1] for id in ids}) == 1  # of the same round
    with pytest.raises(errors.UnknownDecision, match="forked"):
        learner.tell(ids[0], [0.5])
    assert learner.tell(before.id, [0.25]) == 1


@forked
def test_a_grandchild_has_ids_of_its_own() -> None:
    learner = learner_of()
    deep = in_child(lambda: (learner.ask().id, in_child(lambda: learner.ask().id)))
    assert len(set(re.findall(r"[0-9a-f]{16}-\d+-[0-9a-f]{16}", deep))) == 2


@forked
def test_a_solver_that_forks_in_the_midst_of_an_ask() -> None:
    """The ask goes on in both, under the lock that both hold, and they give two ids."""
    pids: list[int] = []
    reading, writing = os.pipe()

    def solve(weights: Any) -> list[int]:
        if wanted:
            wanted.clear()
            pids.append(os.fork())
        return [0]

    wanted: list[bool] = []
    learner = Learner(sets.Oracle(solve, n_items=2, max_size=1), policies.CombUCB1(init="optimistic"), seed=0)
    wanted.append(True)
    try:
        ids = [learner.ask().id, learner.ask().id]
        if pids == [0]:
            os.write(writing, " ".join(ids).encode())
    finally:
        if pids == [0]:
            os._exit(0)
    os.waitpid(pids[0], 0)
    os.close(writing)
    with open(reading) as said:
        assert len({*said.read().split(), *ids}) == 4


@forked
def test_a_child_forked_while_another_thread_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "GRACE", 0.02)
    pauses: list[Any] = []
    learner = Learner(slow_set(pauses), policies.CombUCB1(init="optimistic"), seed=0)
    learner.ask()

    def work(pause: Any) -> None:
        pauses.append(pause)
        learner.ask()

    with meanwhile(work):
        child = in_child(lambda: learner.ask().id)
    assert child.strip("'") not in [one.id for one in learner.outstanding]
    assert len(learner.outstanding) == 2
