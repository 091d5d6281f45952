"""Playing an experiment: what is missing of it, and then all its numbers into files."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from os import PathLike, cpu_count
from pathlib import Path
from typing import Any, NamedTuple

from semibandits.errors import SemiBanditError, StoreFailed, Unsupported
from semibandits.experiments.document import Experiment, Plan, Where
from semibandits.experiments.folder import claimed
from semibandits.experiments.numbers import all_tables
from semibandits.experiments.point import Point
from semibandits.experiments.tables import write_table
from semibandits.simulation import simulate
from semibandits.simulation.progress import Progress, progress_bar


class Finished(NamedTuple):
    """An experiment that was played, where its results are, and what came out."""

    experiment: Experiment
    folder: Path
    points: tuple[Point, ...]


def run(
    experiment: Experiment,
    out: str | PathLike[str],
    *,
    progress: bool | Progress | None = None,
    threads: int | None = None,
) -> Finished:
    """Plays an experiment and writes its numbers to the folder `out`.

    The folder keeps every finished block of runs: the same call, made again after it was stopped or killed, or with
    more runs, policies or values of a sweep, plays only what is missing, and ends with the same numbers as one that was
    never stopped. `threads` stands for what the file says about threads or workers.
    """
    folder = Path(out)
    with claimed(folder, experiment):
        with _executor(experiment.where, threads) as how, progress_bar(progress, experiment.rounds) as bar:
            points = tuple(_play(plan, folder, how, bar, len(experiment.plans) > 1) for plan in experiment.plans)
        for name, columns in all_tables(points).items():
            write_table(folder / "data", name, columns)
        _save(points, folder / "results")
    return Finished(experiment, folder, points)


def _play(plan: Plan, folder: Path, how: dict[str, Any], bar: Progress, several: bool) -> Point:
    try:
        result = simulate(
            plan.problem,
            plan.policies,
            **plan.arguments,
            **how,
            record=["counts", "sums"],
            store=folder / "runs" / plan.name,
            progress=bar,
        )
    except SemiBanditError as error:
        if several:
            error.say_where(", ".join(f"{name} = {value}" for name, value in plan.settings.items()))
        raise
    return Point(plan.settings, plan.problem, result)


@contextmanager
def _executor(where: Where, threads: int | None) -> Iterator[dict[str, Any]]:
    """What `simulate` is told about where to play."""
    workers = where.workers if threads is None else threads
    if where.kind == "threads":
        yield {"threads": workers}
    elif where.kind == "processes":
        from semibandits.simulation.processes import Processes

        with Processes(workers or cpu_count() or 1) as processes:
            yield {"executor": processes}
    else:
        with _dask(where.address) as executor:
            yield {"executor": executor}


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise Unsupported('a Dask cluster needs another package: pip install "semibandits[cluster]"') from error
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise Unsupported(f"no Dask scheduler answers at {address!r}: {error!s:.200}") from error
    with client:
        yield client.get_executor()


def _save(points: tuple[Point, ...], folder: Path) -> None:
    """Every result as a file that `SimulationResult.load` reads, where pyarrow is installed."""
    if find_spec("pyarrow") is None:
        return
    names = [f"{number}.parquet" for number in range(len(points))]
    try:
        folder.mkdir(exist_ok=True)
        for name, point in zip(names, points, strict=True):
            point.result.save(folder / name)
        for old in folder.glob("*.parquet"):
            if old.name not in names:  # of a longer sweep
                old.unlink()
    except OSError as error:
        raise StoreFailed(f"{folder} could not be written: {error}") from error
