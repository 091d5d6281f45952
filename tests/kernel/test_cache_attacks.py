"""The folder of machine code where others may write: nothing of theirs is ever run."""

import logging
import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from semibandits.kernel import cache_folder as folder
from semibandits.kernel import internals
from semibandits.kernel.cache_folder import cache_folder, read, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")

NAME = f"{'a' * 64}.code"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is used, in one that is the user's alone; all groups have others in them."""
    monkeypatch.setattr(folder, "_is_private", lambda group, user: False)
    (tmp_path / "mine").mkdir(mode=0o700)
    monkeypatch.setenv("SEMIBANDITS_CACHE", str(tmp_path / "mine" / "code"))
    assert cache_folder() == tmp_path / "mine" / "code"
    return tmp_path / "mine" / "code"


class Evil:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)


class Trap:
    """A pickle that leaves a mark when it is loaded, under the name of the machine code that is asked for."""

    def __init__(self, place: Path, mark: Path) -> None:
        self.mark = mark
        self._cache = internals._keyed_cache()(place, "token")
        self._context = SimpleNamespace(refresh=lambda: None, codegen=lambda: SimpleNamespace(magic_tuple=lambda: ()))
        self.path = place / self._cache._name("signature", self._context.codegen())
        code = pickle.dumps(Evil(mark))
        self.data = internals._checksum(self.path.name, code) + code

    def springs(self) -> bool:
        assert self._cache.load_overload("signature", self._context) is None
        return self.mark.exists()


@pytest.fixture
def trap(place: Path, tmp_path: Path) -> Trap:
    return Trap(place, tmp_path / "mark")


def linked(trap: Trap) -> None:
    trap.path.with_name("elsewhere").write_bytes(trap.data)
    trap.path.symlink_to("elsewhere")


def linked_hard(trap: Trap) -> None:
    trap.path.with_name("elsewhere").write_bytes(trap.data)
    trap.path.hardlink_to(trap.path.with_name("elsewhere"))


def written_by_the_group(trap: Trap) -> None:
    trap.path.write_bytes(trap.data)
    trap.path.chmod(0o660)


def written_by_all(trap: Trap) -> None:
    trap.path.write_bytes(trap.data)
    trap.path.chmod(0o602)


def pipe(trap: Trap) -> None:
    os.mkfifo(trap.path)


def inner_folder(trap: Trap) -> None:
    trap.path.mkdir()


def huge(trap: Trap) -> None:
    trap.path.write_bytes(trap.data)
    os.truncate(trap.path, folder.MOST_BYTES + 1)


def test_the_traps_would_spring(trap: Trap) -> None:
    trap.path.write_bytes(trap.data)
    assert trap.springs()


@pytest.mark.parametrize(
    "lay",
    [linked, linked_hard, written_by_the_group, written_by_all, pipe, inner_folder, huge],
    ids=lambda f: f.__name__,
)
def test_a_file_that_others_may_have_written_is_not_run(trap: Trap, lay: Callable[[Trap], None]) -> None:
    lay(trap)
    opened = len(os.listdir("/dev/fd"))
    assert not trap.springs()
    assert len(os.listdir("/dev/fd")) == opened
    if lay is not inner_folder:  # compiled anew, it takes the other's place
        write(trap.path.parent, trap.path.name, b"mine")
        assert read(trap.path.parent, trap.path.name) == b"mine"
        assert not trap.path.is_symlink()
        assert trap.path.stat().st_mode & 0o777 == 0o600


def of_another(monkeypatch: pytest.MonkeyPatch, path: Path, user: int = 4242) -> None:
    """This file, folder or link belongs to somebody else from now on."""
    there = path.lstat()

    def told(ask: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def answer(*arguments: Any, **how: Any) -> os.stat_result:
            found = ask(*arguments, **how)
            if (found.st_ino, found.st_dev) != (there.st_ino, there.st_dev):
                return found
            return os.stat_result([*found[:4], user, *found[5:]])

        return answer

    monkeypatch.setattr(os, "fstat", told(os.fstat))
    monkeypatch.setattr(os, "stat", told(os.stat))


def test_a_file_of_another_user_is_not_run(trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    trap.path.write_bytes(trap.data)
    of_another(monkeypatch, trap.path)
    assert not trap.springs()


@pytest.mark.parametrize("which", ["code", "mine", "."])
def test_a_folder_of_another_user_on_the_way(place: Path, which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made by him in time, or the home of one whose rights we were given by sudo."""
    of_another(monkeypatch, {"code": place, "mine": place.parent, ".": place.parent.parent}[which])
    assert cache_folder() is None
    with pytest.raises(folder.Refused, match="another user"):
        read(place, NAME)
    with pytest.raises(folder.Refused, match="another user"):
        write(place, NAME, b"mine")


def test_root_trusts_root_alone_and_everybody_trusts_root(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_another(monkeypatch, place.parent, 0)
    assert cache_folder() == place
    of_another(monkeypatch, place, 0)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert cache_folder() is None  # it is root's


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o720])
@pytest.mark.parametrize("which", ["code", "mine"])
def test_a_folder_on_the_way_that_others_can_write_to(trap: Trap, which: str, mode: int) -> None:
    """They could put another in the place of what lies in it."""
    trap.path.write_bytes(trap.data)
    (trap.path.parent if which == "code" else trap.path.parent.parent).chmod(mode)
    assert cache_folder() is None
    assert not trap.springs()


def test_a_group_that_has_the_user_alone_may_write(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As under a umask of 002, which many systems give users together with a group of their own."""
    private = []
    monkeypatch.setattr(folder, "_is_private", lambda group, user: private.append((group, user)) is None)
    place.parent.chmod(0o770)
    place.chmod(0o775)
    assert cache_folder() == place
    assert set(private) == {(place.stat().st_gid, os.geteuid())}
    write(place, NAME, b"mine")
    (place / NAME).chmod(0o664)
    assert read(place, NAME) == b"mine"
    place.chmod(0o777)
    assert cache_folder() is None


@pytest.mark.parametrize(
    ("primary", "named", "private"),
    [
        ((7,), (), True),
        ((7,), ("ann",), True),
        ((), ("ann",), True),
        ((), (), False),
        ((8,), (), False),
        ((7, 8), (), False),
        ((7,), ("bob",), False),
        ((7,), ("gone",), False),
    ],
)
def test_whose_a_group_is(
    primary: tuple[int, ...], named: tuple[str, ...], private: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import grp
    import pwd

    users = {"ann": 7, "bob": 8}
    monkeypatch.setattr(grp, "getgrgid", lambda group: SimpleNamespace(gr_mem=list(named)))
    monkeypatch.setattr(pwd, "getpwnam", lambda name: SimpleNamespace(pw_uid=users[name]))
    monkeypatch.setattr(
        pwd, "getpwall", lambda: [SimpleNamespace(pw_uid=user, pw_gid=50 if user in primary else 60) for user in (7, 8)]
    )
    folder._is_private.cache_clear()
    assert folder._is_private(50, 7) is private
    folder._is_private.cache_clear()


def test_a_folder_like_tmp_on_the_way(place: Path) -> None:
    """All can write there, and none can remove or rename what is another's."""
    place.parent.chmod(0o1777)
    assert cache_folder() == place
    place.chmod(0o1777)
    assert cache_folder() is None


def test_links_on_the_way(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own are followed, from folders that are his to folders that are."""
    link, target = place.parent / "link", place.parent / "target"
    monkeypatch.setenv("SEMIBANDITS_CACHE", str(link / "inner"))
    link.symlink_to("../mine/target")
    assert cache_folder() is not None
    write(link / "inner", NAME, b"mine")
    assert (target / "inner" / NAME).read_bytes() == b"mine"
    target.chmod(0o777)
    assert cache_folder() is None
    target.chmod(0o700)
    assert cache_folder() is not None
    place.parent.chmod(0o1777)
    of_another(monkeypatch, link)
    assert cache_folder() is None


def test_links_without_end(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place.parent / "round").symlink_to("round")
    monkeypatch.setenv("SEMIBANDITS_CACHE", str(place.parent / "round"))
    assert cache_folder() is None


@pytest.mark.parametrize("by", ["a link", "a folder"])
def test_a_folder_exchanged_after_it_was_checked(trap: Trap, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = trap.path.parent.parent / "evil"
    evil.mkdir()
    (evil / trap.path.name).write_bytes(trap.data)
    check, place = folder._check_own, trap.path.parent

    def exchange(*arguments: Any) -> None:
        check(*arguments)
        if not place.with_name("away").exists():
            place.rename(place.with_name("away"))
            place.symlink_to(evil) if by == "a link" else evil.rename(place)

    monkeypatch.setattr(folder, "_check_own", exchange)
    assert not trap.springs()
    assert place.with_name("away").exists()


def test_a_link_put_where_the_folder_is_to_be_made(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.rmdir()
    (place.parent / "evil").mkdir()

    def too_late(name: str, mode: int, dir_fd: int) -> None:
        os.symlink("evil", name, dir_fd=dir_fd)
        raise FileExistsError

    monkeypatch.setattr(os, "mkdir", too_late)
    of_another(monkeypatch, place.parent / "evil")
    assert cache_folder() is None


# Where it is


def test_folders_are_made_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIBANDITS_CACHE", str(tmp_path / "a" / "b"))
    before = os.umask(0o002)  # with which a folder made in the usual way could be written to by the group
    try:
        assert cache_folder() == tmp_path / "a" / "b"
        write(tmp_path / "a" / "b", NAME, b"mine")
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")} == {0o700}
    assert (tmp_path / "a" / "b" / NAME).stat().st_mode & 0o777 == 0o600


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would name another folder wherever one works."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SEMIBANDITS_CACHE", "here")
    assert cache_folder() is None
    monkeypatch.delenv("SEMIBANDITS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    assert cache_folder() == tmp_path / "home" / ".cache" / "semibandits"
    monkeypatch.setenv("HOME", "home")
    assert cache_folder() is None
    monkeypatch.setenv("SEMIBANDITS_CACHE", "~nobody-of-this-name/here")
    assert cache_folder() is None
    assert sorted(os.listdir(tmp_path)) == ["home"]


def test_why_it_is_not_used_is_said_once(
    place: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(folder, "_SAID", set())
    caplog.set_level(logging.INFO, "semibandits")
    place.chmod(0o770)
    for _ in range(3):
        assert cache_folder() is None
    assert [record.getMessage() for record in caplog.records] == [
        f"machine code is not kept on disk: {place}: others can write to code (mode 0770)"
    ]


# What is left


def test_what_killed_writers_left_is_removed_some_day(place: Path) -> None:
    old, new, other = f"{'b' * 64}.{'0' * 16}", f"{'b' * 64}.{'1' * 16}", "notes.txt"
    for name in (old, new, other, NAME):
        write(place, name, b"left")
    long_ago = time.time() - folder.LEFT_AFTER - 60.0
    for name in (old, other, NAME):
        os.utime(place / name, (long_ago, long_ago))
    write(place, f"{'c' * 64}.code", b"new")
    assert sorted(os.listdir(place)) == sorted([new, other, NAME, f"{'c' * 64}.code"])


def test_a_writer_that_fails_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **how: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write(place, NAME, b"mine")
    assert os.listdir(place) == []


def test_machine_code_under_another_ones_name_is_not_run(trap: Trap) -> None:
    code = trap.data[32:]
    trap.path.write_bytes(internals._checksum("another.code", code) + code)
    assert not trap.springs()
