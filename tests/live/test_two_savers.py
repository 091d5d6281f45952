"""Two who save to one file: nobody's learner is lost in silence."""

import random
import signal
import threading
from pathlib import Path

import pytest

from semibandits import Learner, errors, policies, sets
from semibandits._util import locks
from support.forking import forked, in_child

TOP = sets.TopK(4, 1)


def learner_of() -> Learner:
    return Learner(TOP, policies.CombUCB1(), seed=0)


def test_who_saves_second_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    learner_of().save(path)
    one, two = Learner.load(path, TOP), Learner.load(path, TOP)
    one.ask()
    one.save(path)
    two.ask(), two.ask()
    before = path.read_bytes()
    with pytest.raises(errors.FileChanged, match=r"has changed since.*load it.*overwrite=True"):
        two.save(path)
    assert path.read_bytes() == before
    two.save(tmp_path / "other.json")
    two.save(path, overwrite=True)
    two.save(path)
    with pytest.raises(errors.FileChanged):
        one.save(path)
    assert Learner.load(path, TOP).round == 2


def test_a_new_learner_does_not_replace_what_it_never_saw(tmp_path: Path) -> None:
    path, notes, empty = tmp_path / "state.json", tmp_path / "notes.txt", tmp_path / "empty"
    learner_of().save(path)
    notes.write_text("do not lose me")
    empty.touch()
    learner = learner_of()
    with pytest.raises(errors.FileChanged, match="is none this learner has seen"):
        learner.save(path)
    with pytest.raises(errors.FileChanged, match="is no saved learner"):
        learner.save(notes)
    with pytest.raises(IsADirectoryError):
        learner.save(tmp_path)
    assert notes.read_text() == "do not lose me"
    learner.save(empty)  # which has nothing to lose
    learner.save(notes, overwrite=True)
    assert Learner.load(notes, TOP).round == 0


def test_a_file_that_is_gone_is_written_and_a_damaged_one_is_ours(tmp_path: Path) -> None:
    path, learner = tmp_path / "state.json", learner_of()
    learner.save(path)
    path.unlink()
    learner.save(path)
    path.write_bytes(path.read_bytes()[:-50])
    learner.save(path)
    assert Learner.load(path, TOP).round == 0


def test_links_lead_to_one_file(tmp_path: Path) -> None:
    path, link = tmp_path / "state.json", tmp_path / "link.json"
    learner = learner_of()
    learner.save(path)
    link.symlink_to(path)
    learner.save(link)
    other = Learner.load(link, TOP)
    other.ask()
    other.save(path)
    other.save(link)
    with pytest.raises(errors.FileChanged):
        learner.save(link)


def test_a_failed_save_forgets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, learner = tmp_path / "state.json", learner_of()
    learner.save(path)
    learner.ask()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space"):
            learner.save(path)
    learner.save(path)
    assert Learner.load(path, TOP).round == 1


def test_threads_that_save_one_learner(tmp_path: Path) -> None:
    path, learner, wrong = tmp_path / "state.json", learner_of(), list[BaseException]()

    def work() -> None:
        try:
            for _ in range(5):
                learner.ask()
                learner.save(path)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert Learner.load(path, TOP).round == 20


@forked
def test_parent_and_child_know_the_same_file(tmp_path: Path) -> None:
    path, learner = tmp_path / "state.json", learner_of()
    learner.save(path)
    assert in_child(lambda: (learner.ask().round, learner.save(path))) == "(1, None)"
    learner.ask(), learner.ask()
    with pytest.raises(errors.FileChanged):
        learner.save(path)
    assert Learner.load(path, TOP).round == 1


@forked
def test_of_two_processes_at_the_same_moment_one_is_refused(tmp_path: Path) -> None:
    """What is in the file is what one of them believes to be there."""
    path, learner = tmp_path / "state.json", learner_of()
    learner.save(path)

    def race() -> str:
        for _ in range(3):
            learner.ask()
        try:
            learner.save(path)
        except errors.FileChanged:
            return "refused"
        return "saved"

    said: list[str] = []
    threads = [threading.Thread(target=lambda: said.append(in_child(race))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["'refused'"] * 3 + ["'saved'"]


def test_a_folder_that_cannot_be_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "fcntl", None)
    learner_of().save(tmp_path / "state.json")
    with pytest.raises(errors.FileChanged):
        learner_of().save(tmp_path / "state.json")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no such timers")
def test_a_signal_handler_may_save_in_the_midst_of_a_save(tmp_path: Path) -> None:
    """It does not wait for the save that it interrupts, and what it saved is not undone."""
    path, learner, chance = tmp_path / "state.json", learner_of(), random.Random(0)
    saves = []

    def save(number: int, frame: object) -> None:
        saves.append(learner.round)
        learner.save(path)

    before = signal.signal(signal.SIGALRM, save)
    try:
        for _ in range(40):
            learner.ask()
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-4, 2e-3))
            learner.save(path)
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert Learner.load(path, TOP).round == learner.round
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert saves
