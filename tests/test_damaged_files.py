"""Every file of ours with bytes changed, lost, doubled or zeroed: an error or what it held, never other numbers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import semibandits as sb
from semibandits.errors import SemiBanditError
from semibandits.experiments.files import document
from semibandits.experiments.running import run
from semibandits.sets.specification import from_spec, to_spec
from support.experiment_files import GRID, write

pytest.importorskip("pyarrow")
grid = sb.problems.grid_path(2, 0.4)


class Kept(NamedTuple):
    """A file, and what reading it tells."""

    path: Path
    read: Callable[[], object]
    most: int
    """So many damaged ones in the long form."""


def bits(found: sb.SimulationResult) -> object:
    arrays = [found.rounds, found.regret, found.counts, found.sums]
    return [(array.shape, array.tobytes()) for array in arrays if array is not None], found.policies, found.seed


def learner(folder: Path) -> Kept:
    path, feasible = folder / "learner.json", sb.sets.TopK(6, 2)
    learner = sb.Learner(feasible, sb.policies.CombUCB1(), seed=2)
    for _ in range(9):
        learner.tell(learner.ask().id, [0.25, 0.5])
    learner.ask()
    learner.save(path)
    return Kept(path, lambda: sb.Learner.load(path, feasible)._snapshot(), 4000)


def result(folder: Path) -> Kept:
    path = folder / "result.parquet"
    sb.simulate(grid, sb.policies.CombUCB1(), horizon=30, runs=2, seed=0, record=["counts", "sums"]).save(path)
    return Kept(path, lambda: bits(sb.SimulationResult.load(path)), 1500)


def stored(folder: Path) -> sb.SimulationResult:
    options: dict[str, Any] = {"horizon": 30, "runs": 2, "seed": 0, "record": ["counts", "sums"], "engine": "plain"}
    return sb.simulate(grid, sb.policies.CombUCB1(), **options, threads=1, store=folder / "store")


def block(folder: Path) -> Kept:
    stored(folder)
    path = sorted((folder / "store").glob("*.npz"))[0]
    return Kept(path, lambda: bits(stored(folder)), 1500)


def note(folder: Path) -> Kept:
    stored(folder)
    return Kept(folder / "store" / "experiment.json", lambda: bits(stored(folder)), 1500)


def manifest(folder: Path) -> Kept:
    experiment = document.read(write(folder, GRID))

    def read() -> object:
        run(experiment, folder / "out")
        tables = sorted((folder / "out" / "data").glob("*.csv"))
        return [(path.name, path.read_bytes()) for path in tables if path.name != "timing.csv"]

    read()
    return Kept(folder / "out" / "experiment.json", read, 300)


def list_of_solutions(folder: Path) -> Kept:
    spec = to_spec(sb.sets.Enumerated([[one, (one + 1) % 3000] for one in range(3000)], n_items=3000), folder)
    (path,) = folder.glob("*.json")
    return Kept(path, lambda: to_spec(from_spec(spec, folder)), 1500)


def damaged(whole: bytes, chance: np.random.Generator, count: int) -> Iterator[tuple[str, bytes]]:
    for number in range(count):
        at, length = int(chance.integers(len(whole))), int(2 ** chance.uniform(0, 10))
        piece = whole[at : at + length]
        if number % 5 == 0:
            flipped = bytes([whole[at] ^ (1 << int(chance.integers(8)))])
            yield f"a bit at {at}", whole[:at] + flipped + whole[at + 1 :]
        elif number % 5 == 1:
            yield f"{len(piece)} random bytes at {at}", whole[:at] + chance.bytes(len(piece)) + whole[at + len(piece) :]
        elif number % 5 == 2:
            yield f"cut at {at}", whole[:at]
        elif number % 5 == 3:
            yield f"{len(piece)} bytes at {at} doubled", whole[:at] + piece + whole[at:]
        else:
            yield f"{len(piece)} zeros at {at}", whole[:at] + bytes(len(piece)) + whole[at + len(piece) :]
    yield "doubled", whole + whole
    yield "nothing", b""
    yield "zeros", bytes(len(whole))


@pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("make", [learner, result, block, note, manifest, list_of_solutions])
def test_damage_is_noticed(
    tmp_path: Path, make: Callable[[Path], Kept], long: bool, campaign: Callable[[str, list[str]], None]
) -> None:
    kept = make(tmp_path)
    expected, whole = kept.read(), kept.path.read_bytes()
    chance = np.random.default_rng([*make.__name__.encode()])
    refused, broke = 0, []
    count = kept.most if long else 20
    for what, content in damaged(whole, chance, count):
        kept.path.write_bytes(content)
        try:
            if kept.read() != expected:
                broke.append(f"{what}: other numbers")
        except SemiBanditError:
            refused += 1
        except Exception as error:
            broke.append(f"{what}: {error!r:.200}")
        kept.path.write_bytes(whole)
    campaign(f"damage: {count + 3} damaged files, each a {make.__name__.replace('_', ' ')}, {refused} refused", broke)
