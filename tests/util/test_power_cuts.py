"""The power is cut, at every moment: what was acknowledged is there, whole, and nothing else than old or new."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semibandits as sb
from semibandits._util import files
from semibandits.experiments.files import document
from semibandits.experiments.running import run
from semibandits.simulation import store
from support.experiment_files import GRID, write
from support.forgetful import Disk, State

Campaign = Callable[[str, list[str]], None]
short_and_long = pytest.mark.parametrize("long", [False, pytest.param(True, marks=pytest.mark.long)])
grid = sb.problems.grid_path(2, 0.4)


def saved(disk: Disk, saves: int) -> list[bytes | None]:
    """What was to be found after each save, the first being before all of them."""
    learner = sb.Learner(sb.sets.TopK(8, 3), sb.policies.CombUCB1(), seed=1)
    versions: list[bytes | None] = [None]
    for _ in range(saves):
        decision = learner.ask()
        learner.tell(decision.id, [0.5] * decision.items.size)
        learner.save(disk.root / "learner.json")
        disk.acknowledge()
        versions.append((disk.root / "learner.json").read_bytes())
    return versions


def lost_saves(states: list[State], versions: list[bytes | None]) -> list[str]:
    wrong = []
    for state in states:
        found = state.tree.get("learner.json")
        if found not in versions[state.acknowledged : state.acknowledged + 2]:
            what = "nothing" if found is None else f"{len(found)} bytes"
            wrong.append(f"after save {state.acknowledged} there is {what}")
    return wrong


@short_and_long
def test_an_acknowledged_save_outlives_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, campaign: Campaign, long: bool
) -> None:
    saves = 60 if long else 3
    with monkeypatch.context() as watched:
        disk = Disk(tmp_path / "disk", watched)
        versions = saved(disk, saves)
    states = disk.states()
    assert len(states) > 5 * saves
    broke = lost_saves(states, versions)
    (tmp_path / "l.json").write_bytes(versions[-1] or b"")
    assert sb.Learner.load(tmp_path / "l.json", sb.sets.TopK(8, 3)).round == saves
    campaign(f"power cuts: {saves} saves of a learner, {len(states)} states of the disk", broke)


def without_syncing_the_folder(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.0")
    with beside.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def without_syncing_the_file(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.0")
    beside.write_bytes(data)
    beside.replace(path)
    files.sync_folder(path.parent)


def in_place(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    files.sync_folder(path.parent)


@pytest.mark.parametrize("careless", [without_syncing_the_folder, without_syncing_the_file, in_place])
def test_careless_writers_are_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, careless: Any) -> None:
    monkeypatch.setattr("semibandits.live.snapshot.replace_file", careless)
    with monkeypatch.context() as watched:
        disk = Disk(tmp_path / "disk", watched)
        versions = saved(disk, 3)
    assert lost_saves(disk.states(), versions)


@short_and_long
def test_acknowledged_blocks_outlive_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, campaign: Campaign, long: bool
) -> None:
    policies, runs, most = [sb.policies.CombUCB1(), sb.policies.CTS()], 12 if long else 2, 400 if long else 12
    options: dict[str, Any] = {"horizon": 20, "runs": runs, "seed": 0, "engine": "plain", "threads": 1}
    expected = sb.simulate(grid, policies, **options)
    order: list[str] = []
    original = store.Store.save
    with monkeypatch.context() as watched:
        disk = Disk(tmp_path / "disk", watched)
        inside = disk.root / "new" / "store"

        def save(self: store.Store, *block: Any) -> None:
            before = {path.name for path in inside.iterdir()}
            original(self, *block)
            order.extend({path.name for path in inside.iterdir()} - before)
            disk.acknowledge()

        watched.setattr(store.Store, "save", save)
        sb.simulate(grid, policies, store=inside, **options)
    whole = {f"new/store/{path.name}": path.read_bytes() for path in inside.iterdir()}
    assert len(order) == len(whole) - 1 > 1
    states = disk.states()
    broke = []
    for state in states:
        kept = {name: content for name, content in state.tree.items() if not Path(name).name.startswith(".")}
        missing = [name for name in order[: state.acknowledged] if f"new/store/{name}" not in kept]
        wrong = [name for name, content in kept.items() if content is not None and content != whole[name]]
        broke += [f"after block {state.acknowledged}: {missing} missing, {wrong} wrong"] if missing or wrong else []
    for number in np.random.default_rng(0).permutation(len(states))[:most]:
        after = sb.simulate(
            grid, policies, store=states[number].restore(tmp_path / f"{number}") / "new/store", **options
        )
        if not np.array_equal(after.regret, expected.regret):
            broke.append(f"state {number}: other numbers after playing on")
    tried = f"power cuts: {len(order)} blocks of a store, {len(states)} states of the disk"
    campaign(f"{tried}, {min(most, len(states))} of them played on", broke)


def data(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "data").glob("*.csv") if path.name != "timing.csv"}


@short_and_long
def test_an_experiment_goes_on_after_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, campaign: Campaign, long: bool
) -> None:
    """Played, and then again with a shorter sweep, so that files are removed too."""
    both, one = (
        document.read(write(tmp_path, f"{GRID}[sweep]\nproblem.m = {values}\n")) for values in ("[1, 2]", "[1]")
    )
    folder = tmp_path / "disk" / "out"
    expected, last = [], []
    with monkeypatch.context() as watched:
        disk = Disk(tmp_path / "disk", watched)
        for experiment in (both, one):
            run(experiment, folder)
            disk.acknowledge()
            expected.append(data(folder))
            last.append({str(path.relative_to(disk.root)) for path in folder.rglob("*.*") if path.name != ".lock"})
    states = disk.states(20)
    broke = [f"{name} is lost" for state in states if state.acknowledged for name in last[1] - set(state.tree)]
    most = 120 if long else 1
    for number in np.random.default_rng(0).permutation(len(states))[:most]:
        again = states[number].restore(tmp_path / f"{number}") / "out"
        try:
            for experiment, numbers in zip((one, both), reversed(expected), strict=True):
                run(experiment, again)
                if data(again) != numbers:
                    broke.append(f"state {number}: other numbers")
        except sb.errors.SemiBanditError as error:
            broke.append(f"state {number}: {error}")
    campaign(f"power cuts: {len(states)} states of an experiment's folder, {min(most, len(states))} played on", broke)
