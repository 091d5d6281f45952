"""Playing an experiment: what is missing of it, and then all its numbers into files."""

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from semibandits._util.files import make_folders, replace_file
from semibandits._util.resources import cores
from semibandits.errors import (
    BadArgument,
    BadExperiment,
    SemiBanditError,
    StoreFailed,
    UncoveredItems,
    Unsupported,
    to_install,
)
from semibandits.experiments.files.document import Experiment, Plan, Where, as_in_files
from semibandits.experiments.files.user_code import no_sys_exit
from semibandits.experiments.folder import claimed
from semibandits.experiments.point import Point
from semibandits.experiments.report.experiment import report as report_page
from semibandits.experiments.report.pictures import Gallery, files_of, own_style, save
from semibandits.experiments.result_tables import TABLES, all_tables
from semibandits.experiments.table_files import can_write_parquet, write_table
from semibandits.plotting.axes import check_axes
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
    report: bool = False,
) -> Finished:
    """Plays an experiment and writes its numbers to the folder `out`; with `report`, also report.html and figures/.

    The folder keeps every finished block of runs: the same call, made again after it was stopped or killed, or with
    more runs, policies or values of a sweep, plays only what is missing, and ends with the same numbers as one that was
    never stopped. `threads` stands for what the file says about threads or workers. A report of earlier numbers is
    removed. Of other files in the folder none is: what was written here is listed in its experiment.json, and only
    that is replaced or removed. `BadState` says so where another file, or a link, is in the way.
    """
    if not isinstance(experiment, Experiment):
        raise BadArgument(f"experiment must be what read() gives, got {experiment!r:.100}")
    folder = Path(out)
    if report:
        check_axes(None)
    with claimed(folder, experiment) as written, no_sys_exit():
        names = _names(experiment)
        written.check([*names, *(["report.html"] if report else [])])
        with _executor(experiment.where, threads) as how, progress_bar(progress, experiment.rounds) as bar:
            points = tuple(_play(experiment, plan, folder, how, bar) for plan in experiment.plans)
        gallery = Gallery()
        about = {"description": experiment.description, "source": experiment.text}
        page = report_page(experiment.title, points, **about, gallery=gallery).encode() if report else b""
        shown = ["report.html", *files_of(gallery.pictures)] if report else []
        try:
            written.check([*names, *shown])
            written.remove_all_but(name for name in written.names if name.startswith(("data/", "results/")))
            written.add([*names, *shown])
            _save(points, folder)
            if report:
                with own_style():
                    save(folder, gallery.pictures)
                replace_file(folder / "report.html", page)
            written.remove_all_but([*names, *shown])
        except StoreFailed:
            raise
        except OSError as error:
            raise StoreFailed(f"{folder} could not be written: {error}") from error
    return Finished(experiment, folder, points)


def _names(experiment: Experiment) -> list[str]:
    """The files of its numbers: Parquet, too, where pyarrow is installed."""
    tables = [f"data/{name}" for name in TABLES]
    csv = [f"{name}.csv" for name in tables]
    if not can_write_parquet():
        return csv
    return [*csv, *(f"{name}.parquet" for name in [*tables, *(f"results/{i}" for i in range(len(experiment.plans)))])]


def _play(experiment: Experiment, plan: Plan, folder: Path, how: dict[str, Any], bar: Progress) -> Point:
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
    except UncoveredItems as error:  # which only playing can tell, of a solver of the user's own
        raise BadExperiment(f"{experiment.path}: {as_in_files(error)}") from error
    except SemiBanditError as error:
        if len(experiment.plans) > 1:
            error.say_where(", ".join(f"{name} = {value}" for name, value in plan.settings.items()))
        raise
    return Point(plan.settings, plan.problem, result, experiment.unit)


@contextmanager
def _executor(where: Where, threads: int | None) -> Iterator[dict[str, Any]]:
    """What `simulate` is told about where to play."""
    workers = where.workers if threads is None else threads
    if where.kind == "threads":
        yield {"threads": workers}
    elif where.kind == "processes":
        from semibandits.simulation.engines.pool import Processes

        with Processes(workers or cores()) as processes:
            yield {"executor": processes}
    else:
        with _dask(where.address) as executor:
            yield {"executor": executor}


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        distributed = import_module("distributed")
    except ImportError as error:
        raise Unsupported(f"a Dask cluster needs another package: {to_install('cluster')}") from error
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise Unsupported(f"no Dask scheduler answers at {address!r}: {error!s:.200}") from error
    with _silent("distributed.client", "tornado.application"), client:  # whose errors are raised here
        yield client.get_executor()


@contextmanager
def _silent(*names: str) -> Iterator[None]:
    """These do not log errors."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _save(points: tuple[Point, ...], folder: Path) -> None:
    """All tables, and every result as a file that `SimulationResult.load` reads, where pyarrow is installed."""
    for name, columns in all_tables(points).items():
        write_table(folder / "data", name, columns)
    if can_write_parquet():
        make_folders(folder / "results")
        for number, point in enumerate(points):
            path = folder / "results" / f"{number}.parquet"
            if path.is_symlink():  # which saving would follow
                path.unlink()
            point.result.save(path)
