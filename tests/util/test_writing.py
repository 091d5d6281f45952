"""The one writer of files: whose rights a new file has, what is removed beside it, and what errors say."""

import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import semibandits as sb
from semibandits import errors
from semibandits._util import files, locks
from semibandits._util.files import NoPlainFile, make_folders, os_errors_as, replace_file
from semibandits._util.locks import try_lock
from semibandits.experiments.files import document
from semibandits.experiments.files.starters import write_starter
from semibandits.experiments.paper import folder as paper
from semibandits.experiments.running import run
from semibandits.experiments.table_files import write_table
from semibandits.sets.specification import to_spec
from support.experiment_files import GRID, write

grid = sb.problems.grid_path(2, 0.4)


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "f").mkdir()
    return tmp_path / "f" / "a.json"


@pytest.fixture
def umask() -> Any:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400, 0o666])
def test_a_private_file_is_private_while_it_is_written(
    path: Path, mode: int, umask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"old")
    path.chmod(mode)
    seen, original = [], os.write

    def watched(handle: int, data: Any) -> int:
        seen.extend(rights(one) for one in path.parent.iterdir())
        return original(handle, data)

    monkeypatch.setattr(os, "write", watched)
    replace_file(path, b"new")
    assert (path.read_bytes(), rights(path)) == (b"new", mode)
    assert seen == [mode, mode]


def test_a_new_file_has_what_the_umask_leaves(path: Path, umask: None) -> None:
    replace_file(path, b"new")
    assert rights(path) == 0o640
    replace_file(path, b"newer")
    assert rights(path) == 0o640


@pytest.mark.parametrize(
    ("allowed", "mode", "expected"),
    [("all", 0o664, 0o664), ("group", 0o664, 0o664), ("none", 0o664, 0o644), ("none", 0o660, 0o600)],
)
def test_no_other_group_gets_rights(
    path: Path, allowed: str, mode: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"")
    path.chmod(0o600)
    mine, asked = path.stat(), []
    old = os.stat_result((stat.S_IFREG | mode, 0, 0, 1, mine.st_uid + 1, mine.st_gid + 1, 0, 0, 0, 0))
    given = [mine.st_uid, mine.st_gid]

    def fchown(handle: int, owner: int, group: int) -> None:
        asked.append((owner - old.st_uid if owner >= 0 else owner, group - old.st_gid))
        if allowed == "none" or (allowed == "group" and owner >= 0):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        given[1] = group

    def fstat(handle: int) -> os.stat_result:
        return os.stat_result((original(handle).st_mode, 0, 0, 1, *given, 0, 0, 0, 0))

    original = os.fstat
    with path.open() as file, monkeypatch.context() as patched:
        patched.setattr(os, "fchown", fchown)
        patched.setattr(os, "fstat", fstat)
        files._take_rights(file.fileno(), old)
    assert rights(path) == expected
    assert asked == [(0, 0)] if allowed == "all" else [(0, 0), (-1, 0)]


LEFT = [".a.json.0123abcd", ".a.json.f0000000", ".a.json.f0000003"]
KEPT = [".a.json.20260101", ".b.json.0123abcd", ".a.json.0123abcde", ".a.json", "a.json.0123abcd"]


def test_what_killed_writers_left_is_removed_and_nothing_else(path: Path, tmp_path: Path) -> None:
    folder = path.parent
    for name in [*LEFT, *KEPT]:
        (folder / name).write_bytes(b"half")
    (tmp_path / "elsewhere").write_bytes(b"mine")
    (folder / ".a.json.aaaaaaaa").symlink_to(tmp_path / "elsewhere")
    (folder / ".a.json.bbbbbbbb").mkdir()
    os.mkfifo(folder / ".a.json.cccccccc")
    replace_file(path, b"new")
    assert (tmp_path / "elsewhere").read_bytes() == b"mine"
    there = sorted([*KEPT, *(f".a.json.{8 * letter}" for letter in "abc"), "a.json"])
    assert sorted(one.name for one in folder.iterdir()) == there


def test_in_a_large_folder_the_names_that_writers_take_are_tried(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LEFT:
        (path.parent / name).write_bytes(b"half")
    monkeypatch.setattr(files, "LARGE", -1)
    replace_file(path, b"new")
    assert sorted(one.name for one in path.parent.iterdir()) == [LEFT[0], "a.json"]


def test_what_a_living_writer_writes_is_left_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another saves the same file in the middle of this."""
    original, inside = os.fsync, []

    def fsync(handle: int) -> None:
        if not inside:
            inside.append(handle)
            replace_file(path, b"the other")
            assert sorted(one.name for one in path.parent.iterdir()) == [".a.json.f0000000", "a.json"]
        original(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]


@pytest.mark.parametrize("system", ["Windows", "no locks"])
def test_where_there_are_no_locks_age_tells(path: Path, system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    if system == "Windows":
        monkeypatch.setattr(files, "POSIX", False)
    else:
        monkeypatch.setattr(fcntl, "flock", flock)
    for name in LEFT:
        (path.parent / name).write_bytes(b"half")
    os.utime(path.parent / LEFT[0], (0, time.time() - 2 * files.OLD))
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert sorted(one.name for one in path.parent.iterdir()) == [*LEFT[1:], "a.json"]


@pytest.mark.parametrize("when", ["while it is held", "after it"])
def test_a_file_taken_for_a_left_one_at_birth_is_begun_again(
    path: Path, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, taken = files.try_lock, []

    def lock(handle: int) -> bool | None:
        if not taken:
            taken.append(handle)
            (path.parent / ".a.json.f0000000").unlink()
            return False if when == "while it is held" else original(handle)
        return original(handle)

    monkeypatch.setattr(files, "try_lock", lock)
    replace_file(path, b"new")
    assert taken
    assert path.read_bytes() == b"new"
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]


def test_many_threads_write_one_file(path: Path) -> None:
    wrong: list[BaseException] = []

    def keep_writing(number: int) -> None:
        try:
            for _ in range(25):
                replace_file(path, bytes([number]) * 1000)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=keep_writing, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    data = path.read_bytes()
    assert data == data[:1] * 1000
    replace_file(path, b"last")
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]


def failing(monkeypatch: pytest.MonkeyPatch, name: str, error: Callable[..., BaseException]) -> None:
    """The first call of this function of `os` for a file that is being written fails."""
    original = getattr(os, name)

    def fail(*arguments: Any, **options: Any) -> Any:
        if name != "open" or arguments[1] & os.O_CREAT:
            monkeypatch.setattr(os, name, original)
            raise error(*arguments)
        return original(*arguments, **options)

    monkeypatch.setattr(os, name, fail)


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("name", ["open", "fchmod", "write", "fsync", "replace"])
def test_errors_name_the_file_that_was_asked_for(
    path: Path, name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"old")
    path.chmod(0o640)

    def error(*arguments: Any) -> OSError:
        if name == "replace":
            return OSError(number, os.strerror(number), str(arguments[0]), None, str(arguments[1]))
        return OSError(number, os.strerror(number), *([str(arguments[0])] if name == "open" else []))

    failing(monkeypatch, name, error)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        replace_file(path, b"new")
    assert (caught.value.errno, caught.value.filename, caught.value.filename2) == (number, str(path), None)
    assert isinstance(caught.value, PermissionError) == (number == errno.EACCES)
    assert ".a.json" not in str(caught.value)
    assert path.read_bytes() == b"old"
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]


def test_a_missing_folder_and_one_in_the_place_of_the_file(path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"'.*/missing/a\.json'"):
        replace_file(path.parent / "missing" / "a.json", b"new")
    path.mkdir()
    with pytest.raises(IsADirectoryError, match=r"'.*/f/a\.json'"):
        replace_file(path, b"new")
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]


def test_what_is_no_file_is_not_replaced(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(NoPlainFile, match="it is a pipe, and would be replaced by a file"):
        replace_file(path, b"new")
    link = path.parent.parent / "link"
    link.symlink_to(path)
    with pytest.raises(OSError, match=r"a\.json: it is a pipe"):
        sb.Learner(grid.feasible, sb.policies.CombUCB1()).save(link)
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_more_writers_than_there_can_be(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_WRITERS", 3)
    monkeypatch.setattr(files, "try_lock", lambda handle: None)
    for number in range(3):
        files._half(path, number).write_bytes(b"half")
    with pytest.raises(FileExistsError, match=r"3 half-written files stand beside it: '.*/f/a\.json'"):
        replace_file(path, b"new")


@pytest.mark.parametrize("name", ["fchmod", "write", "fsync", "replace"])
@pytest.mark.parametrize("system", ["POSIX", "Windows"])
def test_stopped_in_the_middle_nothing_is_left(
    path: Path, name: str, system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"old")
    path.chmod(0o640)
    if system == "Windows":
        monkeypatch.setattr(files, "POSIX", False)
    if (system, name) != ("Windows", "fchmod"):
        failing(monkeypatch, name, lambda *_: KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [one.name for one in path.parent.iterdir()] == ["a.json"]


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.EIO])
def test_folders_that_cannot_be_synced(path: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    original = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(number, os.strerror(number))
        original(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    if number == errno.EIO:
        with pytest.raises(OSError, match=r"Input/output error: '.*a\.json'"):
            replace_file(path, b"new")
    else:
        replace_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_folder_that_may_not_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, synced = os.open, []

    def unreadable(name: Any, flags: int, *rest: int) -> int:
        if flags & os.O_DIRECTORY:
            raise PermissionError(errno.EACCES, "Permission denied", str(name))
        return original(name, flags, *rest)

    monkeypatch.setattr(os, "open", unreadable)
    monkeypatch.setattr(os, "sync", lambda: synced.append("all"))
    replace_file(path, b"new")
    assert (path.read_bytes(), synced) == (b"new", ["all"])


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_folder", synced.append)
    make_folders(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    assert synced == [tmp_path.parent, tmp_path, tmp_path / "a"]
    make_folders(tmp_path / "a" / "b")
    monkeypatch.chdir(tmp_path)
    make_folders(Path("c"))
    make_folders(Path("."))
    assert (tmp_path / "c").is_dir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileExistsError):
        make_folders(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        make_folders(tmp_path / "file" / "inside")


def result() -> sb.SimulationResult:
    return sb.simulate(grid, sb.policies.CombUCB1(), horizon=5, runs=1, seed=0)


def specified(folder: Path) -> None:
    to_spec(sb.sets.Enumerated([[one] for one in range(2000)], n_items=2000), folder)


WRITERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "learner": (lambda folder: sb.Learner(grid.feasible, sb.policies.CombUCB1()).save(folder / "l.json"), r"l\.json"),
    "result": (lambda folder: result().save(folder / "r.parquet"), r"r\.parquet"),
    "store": (
        lambda folder: sb.simulate(grid, sb.policies.CombUCB1(), horizon=5, runs=1, seed=0, store=folder),
        r"experiment\.json",
    ),
    "experiment": (lambda folder: run(document.read(write(folder.parent, GRID)), folder), r"experiment\.json"),
    "starter": (lambda folder: write_starter("budget", folder), r"budget\.toml"),
    "table": (lambda folder: write_table(folder, "t", {"a": [1]}), r"t\.csv"),
    "specification": (specified, r"[0-9a-f]{64}\.json"),
    "reproduction": (paper.prepare, "f cannot be written to"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_on_a_read_only_disk_every_writer_names_its_file(
    path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, tried = os.open, []

    def read_only(where: Any, flags: int, *rest: int, **options: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and path.parent in (Path(where), *Path(where).parents):
            tried.append(str(where))
            raise OSError(errno.EROFS, "Read-only file system", str(where))
        return original(where, flags, *rest, **options)

    write_something, named = WRITERS[name]
    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises((OSError, errors.StoreFailed), match=named) as caught:
        write_something(path.parent)
    assert "Read-only file system" in str(caught.value)
    assert not any(one in str(caught.value) for one in tried if one != str(path.parent))
    assert not [one for one in path.parent.iterdir() if one.name != ".lock"]


def test_a_lock_is_held_by_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with path.open("ab") as first, path.open("ab") as second:
        assert try_lock(first.fileno()) is True
        assert try_lock(second.fileno()) is False
        first.close()
        assert try_lock(second.fileno()) is True
        monkeypatch.setattr(locks, "fcntl", None)
        assert try_lock(second.fileno()) is None


def test_errors_of_the_system_become_ours(path: Path) -> None:
    with (
        pytest.raises(sb.errors.StoreFailed, match=r"^it cannot be read: No such file or directory$") as told,
        os_errors_as(sb.errors.StoreFailed, "it cannot be read"),
    ):
        path.read_bytes()
    assert isinstance(told.value.__cause__, FileNotFoundError)
