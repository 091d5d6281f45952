"""Reading files that users name: only files, of a size that fits, and nothing that never ends."""

import io
import os
import socket
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits import errors
from semibandits._util import files
from semibandits._util.files import NoPlainFile, read_file, read_npy
from semibandits.experiments.files.data_files import read_data
from semibandits.simulation.parquet_sizes import sizes
from support.readers import READERS, bomb, grid, header

pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Not too deep: the name of a socket is short."""
    (tmp_path / "f").mkdir()
    return tmp_path / "f"


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket"])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_refused_by_every_reader(
    folder: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / name.strip()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        monkeypatch.chdir(folder)
        with socket.socket(socket.AF_UNIX) as unused:
            unused.bind(path.name)
    said = "holds something else" if name == "claims.json" else f"is a {kind}"
    with pytest.raises(errors.SemiBanditError, match=f"{said}|is a folder; expected|is behind a link that leads out"):
        READERS[name](path)


@pytest.mark.parametrize("name", [*READERS][:6])
def test_what_is_too_large_is_refused_unread(folder: Path, name: str) -> None:
    with (folder / name).open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(errors.SemiBanditError, match=r"it has 1,099,511,627,776 bytes; at most [0-9,]+ are read"):
        READERS[name](folder / name)


def test_a_file_may_be_behind_a_link_and_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_file(tmp_path / "link", 5) == b"12345"
    with pytest.raises(NoPlainFile, match=r"a: it has 5 bytes; at most 4 are read"):
        read_file(tmp_path / "a", 4)
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "missing", 4)
    with pytest.raises(NoPlainFile, match="null"):
        read_file("a\0b", 4)
    monkeypatch.setattr(files, "_check_plain", lambda *about: 2)  # it was shorter a moment ago
    assert read_file(tmp_path / "a", 5) == b"12345"
    with pytest.raises(NoPlainFile, match="more than the 4 bytes"):
        read_file(tmp_path / "a", 4)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_files_that_tell_no_size() -> None:
    assert read_file("/proc/self/status", 10**6).startswith(b"Name:")
    with pytest.raises(NoPlainFile, match="more than the 10 bytes"):
        read_file("/proc/self/status", 10)


def saved(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "array",
    [
        *(np.arange(6).astype(kind) for kind in ("<i4", ">i8", "u1", "f4", "f8", "?")),
        *(np.zeros(shape) for shape in ((), (0,), (0, 2), (2, 3, 4))),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", "bc"]),
    ],
)
def test_arrays_are_read_as_numpy_does(array: np.ndarray) -> None:
    for version in ((1, 0), (2, 0)):
        data = saved(array, version=version)
        found, expected = read_npy(data), np.load(io.BytesIO(data))
        assert (found.dtype, found.shape, found.flags.writeable) == (expected.dtype, expected.shape, True)
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    "data",
    [
        header((10**11,)),
        header((2**62, 4)),
        header((10**18,), "|V0"),
        header((10**12, 0)),
        header((-1,)),
        header((2,)) + b"1234567",
        header((1,)) + b"123456789",
        header((1,), "|O") + b"12345678",
        saved(np.zeros(3), version=(3, 0)),
        b"",
    ],
)
def test_headers_that_lie(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        read_npy(data)
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.raises(errors.BadArgument, match="cannot be read as npy"):
        read_data({"file": "a.npy"}, tmp_path)


def test_a_block_that_unpacks_to_more_is_played_again(tmp_path: Path) -> None:
    options: dict[str, Any] = {"horizon": 5, "runs": 1, "seed": 0, "store": tmp_path}
    before = sb.simulate(grid, sb.policies.CombUCB1(), **options)
    (block,) = tmp_path.glob("*.npz")
    good = block.read_bytes()
    with zipfile.ZipFile(block, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("regret.npy", header((10**6, 5)) + bytes(8 * 5 * 10**6))
    after = sb.simulate(grid, sb.policies.CombUCB1(), **options)
    assert np.array_equal(after.regret, before.regret)
    assert len(block.read_bytes()) == len(good)


def test_a_result_that_unpacks_to_more_than_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.parquet"
    bomb(path, 10**6, honest=False)
    assert path.stat().st_size < 10_000
    found = sizes(path.read_bytes(), ["round", "regret"])
    assert (found.rows, found.values) == (1, {"round": 10**6, "regret": 10**6})
    with pytest.raises(errors.BadState, match=r"is damaged: it holds {'round': 1000000, .*} numbers in 1 rows"):
        sb.SimulationResult.load(path)
    bomb(path, 10**6, honest=True)
    monkeypatch.setattr("semibandits._util.resources.memory", lambda: 10**7)
    with pytest.raises(errors.BadState, match="2,000,000 numbers; to read them takes 0 GiB of memory"):
        sb.SimulationResult.load(path)


def test_descriptions_of_columns_that_are_none(tmp_path: Path) -> None:
    bomb(tmp_path / "a.parquet", 10, honest=True)
    whole = (tmp_path / "a.parquet").read_bytes()
    expected = sizes(whole, ["regret"])
    assert expected.values == {"regret": 10}
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    generator = np.random.default_rng(0)
    for at in range(start, len(whole), 3):
        for byte in (0, int(generator.integers(256))):
            with suppress(ValueError):
                sizes(whole[:at] + bytes([byte]) + whole[at + 1 :], ["regret"])
    for length in range(0, len(whole), 50):
        with pytest.raises(ValueError):  # noqa: PT011
            sizes(whole[:length], ["regret"])
    with pytest.raises(ValueError, match="must be numbers"):
        sizes(whole, ["policy"])
