"""The command line: open, call one library function, print."""

import json
import sys

import click


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="semibandits", message="%(prog)s %(version)s")
def main() -> None:
    """Stochastic combinatorial semi-bandits: keep your solver, learn while deciding."""


@main.command()
@click.option("--runs", type=click.IntRange(min=2), default=100, show_default=True, help="Runs per point.")
@click.option("--largest", type=click.IntRange(1, 7), default=7, show_default=True, help="Grids m = 1 to this.")
@click.option("--seed", type=click.IntRange(0, 2**64 - 1), default=0, show_default=True, help="Seed of all runs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def reproduce(runs: int, largest: int, seed: int, as_json: bool) -> None:
    """Rerun the paper's experiment (Figure 1c).

    Realised regret of CombUCB1 after 100,000 rounds on m x m grids, beside the published points. The exit status is 1
    if one differs by more than chance allows.
    """
    from rich.console import Console
    from rich.progress import track

    from semibandits.experiments import figure_1c

    points = [(m, sigma) for sigma in figure_1c.PUBLISHED for m in range(1, largest + 1)]
    stderr = Console(stderr=True)
    watched = track(points, "grid paths", console=stderr, transient=True, disable=not stderr.is_terminal)
    try:
        cells = [figure_1c.run_cell(m, sigma, runs=runs, seed=seed) for m, sigma in watched]
    except KeyboardInterrupt:
        sys.exit(130)
    agreeing = sum(cell.agrees for cell in cells)
    if as_json:
        facts = {"horizon": figure_1c.HORIZON, "runs": runs, "seed": seed}
        click.echo(json.dumps({**facts, "cells": [cell._asdict() for cell in cells]}))
    else:
        click.echo(f"Regret of CombUCB1 on the grid-path problem, n = {figure_1c.HORIZON:,}, {runs} runs (Figure 1c)\n")
        click.echo(figure_1c.table(cells))
        click.echo(f"\n{agreeing} of {len(cells)} points agree with the published figure.")
    sys.exit(0 if agreeing == len(cells) else 1)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
def version(as_json: bool) -> None:
    """Print the version."""
    from semibandits import __version__

    click.echo(json.dumps({"version": __version__}) if as_json else f"semibandits {__version__}")
