"""Machine code on disk: found by later processes, never stale, never harmful."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from semibandits.kernel.cache_folder import cache_folder

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys, time
import numba.core.event as event
import semibandits as sb
with event.install_recorder("numba:compile") as compiled:
    result = sb.simulate(sb.problems.grid_path(2, 0.4), sb.policies.CombUCB1(), horizon=1000, runs=3, seed=0)
print(repr(float(result.regret.sum())), result.engine, "compiled" if len(compiled.buffer) > 4 else "found")
"""


def run(cache: Path | None, source: Path | None = None, script: str = SCRIPT, **more: str) -> list[str]:
    env = {name: value for name, value in os.environ.items() if name not in ("SEMIBANDITS_CACHE", "XDG_CACHE_HOME")}
    env |= {"SEMIBANDITS_CACHE": str(cache)} if cache else {}
    env |= {"PYTHONPATH": str(source)} if source else {}
    done = subprocess.run(
        [sys.executable, "-c", script], env={**env, **more}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.long
def test_the_second_process_finds_it_and_damage_is_mended(tmp_path: Path) -> None:
    first = run(tmp_path)
    assert first[1:] == ["compiled", "compiled"]
    assert run(tmp_path) == [*first[:2], "found"]
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:5000] + b"x" + whole[5001:]):
        file.write_bytes(damaged)
        assert run(tmp_path) == first
        assert file.read_bytes() != damaged


@pytest.mark.long
def test_an_edited_policy_is_compiled_anew(tmp_path: Path) -> None:
    """Also where only a number, or a function that it calls, has changed."""
    cache, source = tmp_path / "cache", tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    first = run(cache, source)
    assert run(cache, source) == [*first[:2], "found"]
    policy = source / "semibandits" / "policies" / "index" / "combucb1.py"
    text = policy.read_text()
    policy.write_text(text.replace("s[1] * s[2] + c[0]", "s[1] * s[2] + 0.5 * c[0]"))
    second = run(cache, source)
    assert second[2] == "compiled"
    assert second[0] != first[0]
    policy.write_text(text)
    assert run(cache, source) == [*first[:2], "found"]
    rng = source / "semibandits" / "rng.py"
    rng.write_text(rng.read_text().replace("_BY_ITEM = 0xD1B54A32D192ED03", "_BY_ITEM = 0xD1B54A32D192ED05"))
    third = run(cache, source)
    assert third[2] == "compiled"
    assert third[0] not in (first[0], second[0])


MINE = """
import semibandits as sb
class Bold(sb.policies.CombUCB1):
    @staticmethod
    def score(s, c, key, item, p):
        return s[2] * (s[1] * s[2] + 0.3 * c[0])
print(sb.simulate(sb.problems.grid_path(2, 0.4), Bold(), horizon=1000, runs=3, seed=0).engine)
"""


@pytest.mark.long
def test_users_functions_are_kept_too(tmp_path: Path) -> None:
    """What they are made of is in the name: see test_users_code_on_disk.py."""
    assert run(tmp_path, script=MINE) == ["compiled"]
    (file,) = tmp_path.iterdir()
    before = file.stat().st_mtime_ns
    assert run(tmp_path, script=MINE) == ["compiled"]
    assert [(one, one.stat().st_mtime_ns) for one in tmp_path.iterdir()] == [(file, before)]
    assert run(tmp_path, script=MINE.replace("0.3", "0.4")) == ["compiled"]
    assert len(list(tmp_path.iterdir())) == 2


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIBANDITS_CACHE", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named"
    assert (tmp_path / "named").stat().st_mode & 0o777 == 0o700
    (tmp_path / "named").chmod(0o777)
    assert cache_folder() is None  # others could put their code there
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SEMIBANDITS_CACHE", str(tmp_path / "file"))
    assert cache_folder() is None
    monkeypatch.delenv("SEMIBANDITS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "semibandits"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "semibandits"
