"""Every reader of files against files that are none, are cut, lie about their size, or are random: a named error, never
more memory than there may be, and an end."""

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import semibandits as sb
from support.experiment_files import GRID
from support.readers import READERS, bomb, header

MEMORY = 4 * 2**30
PATIENCE = 900
"""Seconds: against hanging, and nothing else."""
CHILD = f"""
import resource, shutil, sys
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
from pathlib import Path
from semibandits.errors import SemiBanditError
from support.readers import READERS
name, cases, place = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
for case in sorted(cases.iterdir()):
    print(case.name, end=" ", flush=True)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    case.rename(place / name.strip())
    try:
        READERS[name](place / name.strip())
        print("read", flush=True)
    except SemiBanditError as error:
        print(type(error).__name__, flush=True)
print("end", flush=True)
"""


def originals(folder: Path) -> dict[str, bytes]:
    """A file for every reader that it would read, but for those with a checksum in them of another file."""
    problem = sb.problems.grid_path(2, 0.4)
    learner = sb.Learner(problem.feasible, sb.policies.CombUCB1())
    learner.tell(learner.ask().id, [0.5] * 4)
    learner.save(folder / "learner.json")
    result = sb.simulate(problem, sb.policies.CombUCB1(), horizon=50, runs=2, seed=0, store=folder / "store")
    result.save(folder / "result.parquet")
    table = io.BytesIO()
    np.save(table, np.arange(12.0).reshape(3, 4))
    manifest = {"format": "semibandits.experiment", "version": 1, "title": "t", "identity": {}, "files": {}}
    return {
        "experiment.toml": GRID.encode(),
        "data.csv": b"a,b\n1,2\n3,4\n",
        "data.npy": table.getvalue(),
        "data.json": b'[[0.5, 1], {"a": "b"}]',
        "code.py": b"def best(weights):\n    return [0]\n",
        "list.json": b"[[0, 1], [2]]",
        "learner.json": (folder / "learner.json").read_bytes(),
        "result.parquet": (folder / "result.parquet").read_bytes(),
        "experiment.json": (folder / "store" / "experiment.json").read_bytes(),
        "experiment.json ": json.dumps({**manifest, "written": ["data/a.csv"]}).encode(),
        "claims.json": b'{"kind": "semibandits reproduction", "files": ["data/a.csv"]}',
    }


def packed(size: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as bombs:
        bombs.writestr("regret.npy", header((size,)) + bytes(8 * size))
    return file.getvalue()


def large(folder: Path, name: str) -> dict[str, bytes]:
    """Files that are small and ask for much, or are nested without end."""
    deep, brackets = b"a." * 20_000 + b"a = 1\n", b"[" * 50_000 + b"]" * 50_000
    cases = {"deep": deep, "brackets": brackets, "braces": b'{"a":' * 50_000, "toml": b"x = " + brackets}
    cases |= {"digits": b"9" * 100_000, "quotes": b'"' * 100_001, "line": b"x" * 3_000_000, "lines": b"\n" * 3_000_000}
    cases |= {f"npy-{shape}": header(shape) for shape in ((10**11,), (2**62, 4), (10**12, 0), (-1,), (2**63,))}
    cases |= {"npy-void": header((10**18,), "|V0"), "npz": packed(2 * 10**6)}
    if name == "result.parquet":
        for honest in (True, False):
            bomb(folder / "bomb", 7 * 10**7, honest)
            cases[f"bomb-{honest}"] = (folder / "bomb").read_bytes()
            (folder / "bomb").unlink()
    return cases


def damaged(whole: bytes, generator: np.random.Generator, count: int) -> dict[str, bytes]:
    cases = {f"cut-{length}": whole[:length] for length in {*range(0, len(whole), max(1, len(whole) // 40))}}
    for number in range(count):
        bytes_ = np.frombuffer(whole, dtype=np.uint8).copy()
        where = generator.integers(len(whole), size=generator.integers(1, 5))
        bytes_[where] = generator.integers(256, size=where.size)
        cases[f"wrong-{number}"] = bytes_.tobytes()
        cases[f"random-{number}"] = generator.bytes(int(generator.integers(1, 3000)))
        half = generator.integers(len(whole) + 1)
        cases[f"mixed-{number}"] = whole[:half] + generator.bytes(50) + whole[half:]
    return cases


@pytest.mark.long
@pytest.mark.parametrize("name", READERS)
def test_hostile_files(tmp_path: Path, name: str, campaign: Callable[[str, list[str]], None]) -> None:
    cases, place = tmp_path / "cases", tmp_path / "p"
    cases.mkdir()
    (tmp_path / "made").mkdir()
    generator = np.random.default_rng([*name.encode()])
    contents = damaged(originals(tmp_path / "made")[name], generator, 60) | large(tmp_path / "made", name)
    for case, content in contents.items():
        (cases / case).write_bytes(content)
    os.mkfifo(cases / "pipe")
    (cases / "folder").mkdir()
    for device in ("zero", "null", "urandom", "full", "tty"):
        (cases / f"device-{device}").symlink_to(f"/dev/{device}")
    with (cases / "sparse").open("wb") as file:
        file.truncate(2**42)
    count = len(list(cases.iterdir()))
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-c", CHILD, name, str(cases), str(place)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    lines = ended.stdout.splitlines()
    broke = [] if ended.returncode == 0 else [f"{lines[-1:]}: {ended.stderr[-2000:]}"]
    never = ("pipe", "folder", "device", "sparse", "bomb")
    if name != "claims.json":
        broke += [line for line in lines if line.startswith(never) and line.endswith("read")]
    assert broke or (lines[-1] == "end" and len(lines) == count + 1)
    campaign(f"hostile files: {count} in the place of {name.strip()}", broke)
