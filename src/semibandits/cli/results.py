"""Playing experiments, and showing their results as tables and as JSON."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from semibandits.cli.base import note, print_json, users_code
from semibandits.cli.tables import lines, printable, table

if TYPE_CHECKING:
    from semibandits.experiments import Experiment, Point
    from semibandits.simulation.summaries import Comparison


def play(experiment: "Experiment", out: Path, no_report: bool, as_json: bool) -> None:
    """Plays it, writes its data and its report to the folder, and shows what came out."""
    from semibandits.experiments import run
    from semibandits.experiments.folder import MANIFEST

    resumed = (out / MANIFEST).exists()
    if experiment.where.kind == "dask":
        click.echo(printable(f"plays on the cluster of {experiment.where.address}"), err=True)
    try:
        with users_code():
            finished = run(experiment, out, report=not no_report)
    except KeyboardInterrupt:
        note(printable(f"stopped; what is finished is kept in {out}: the same command goes on from there"))
        raise
    report = None if no_report else out / "report.html"
    show(finished.points, as_json, {"folder": out, "report": report, "resumed": resumed})


def show(points: "Sequence[Point]", as_json: bool, files: dict[str, Any] | None = None) -> None:
    """Mean regret of every policy, the paired comparisons, and where the files are."""
    if as_json:
        print_json({"points": [_as_document(point) for point in points], **(files or {})})
        return
    _print_regret(points)
    _print_comparisons(points)
    if files:
        kept = " (what it held already was not played again)" if files["resumed"] else ""
        click.echo("\n" + lines(printable(f"folder: {files['folder']}{kept}")))
        if files["report"]:
            click.echo(lines(printable(f"report: {files['report']}")))


def _print_regret(points: "Sequence[Point]") -> None:
    results = [point.result for point in points]
    horizons = sorted({int(result.rounds[-1]) for result in results})
    rounds = f"{horizons[0]:,}" if len(horizons) == 1 else f"{horizons[0]:,} to {horizons[-1]:,}"
    runs = results[0].regret.shape[1]
    click.echo(f"{results[0].kind.capitalize()} regret after {rounds} rounds, {runs:,} run{'' if runs == 1 else 's'}\n")
    numbers = ["regret", "± error", "95% interval"]
    rows = [
        [*_named(point.settings, row.policy), _two(row.mean), _two(row.error), _interval(row.low, row.high)]
        for point in points
        for row in point.result.summary()
    ]
    click.echo(table([*map(printable, points[0].settings), "policy", *numbers], rows, right=numbers))


def _print_comparisons(points: "Sequence[Point]") -> None:
    compared = [(point.settings, one) for point in points for one in point.result.comparisons()]
    if not compared or compared[0][1].runs == 1:
        return
    click.echo()
    sure = dict.fromkeys(point.result.confidence_note for point in points if len(point.result.policies) > 1)
    click.echo(lines("Differences run by run, in the same worlds", f"Intervals: {'; '.join(sure)}"))
    click.echo()
    numbers = ["difference", "± error", "interval"]
    rows = [
        [
            *_named(settings, one.a, one.b),
            *(_two(one.difference), _two(one.error), _interval(one.low, one.high), _verdict(one)),
        ]
        for settings, one in compared
    ]
    click.echo(table([*map(printable, points[0].settings), "policy", "against", *numbers, ""], rows, right=numbers))


def _named(settings: Mapping[str, Any], *policies: str) -> list[str]:
    return [printable(str(one)) for one in (*settings.values(), *policies)]


def _verdict(one: "Comparison") -> str:
    return "less regret" if one.significant else "cannot be told apart"


def _as_document(point: "Point") -> dict[str, Any]:
    result = point.result
    return {
        "settings": point.settings,
        "problem": result.problem,
        "horizon": result.rounds[-1],
        "seed": result.seed,
        "regret": result.kind,
        "engine": result.engine,
        "version": result.version,
        "summary": list(result.summary()),
        "comparisons": result.comparisons(),
    }


def _two(number: float) -> str:
    if not math.isfinite(number):
        return "unknown"
    return f"{number:,.2f}" if number == 0.0 or abs(number) >= 0.005 else f"{number:.2e}"


def _interval(low: float, high: float) -> str:
    return f"{_two(low)} to {_two(high)}" if math.isfinite(low) else "unknown"
