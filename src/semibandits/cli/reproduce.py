"""The command `reproduce`: the paper, drawn and checked."""

import sys
from pathlib import Path

import click

from semibandits.cli.base import Whole, folder_option, json_option, need_matplotlib, print_json, seed_option
from semibandits.cli.tables import coloured, lines, table
from semibandits.experiments.paper import PARTS
from semibandits.experiments.paper.claims import summary

PARTS_TOLD = "\n".join(["\b", "Parts:", *(f"  {name:<10} {what}" for name, what in PARTS.items())])


@click.command(epilog=PARTS_TOLD)
@folder_option("--out", "Folder for the report, the figures and the data.", default="reproduction", show_default=True)
@click.option("--quick", is_flag=True, help="Fewer runs and smaller problems: in under 20 seconds.")
@click.option("--only", "parts", type=click.Choice(PARTS), multiple=True, metavar="PART", help=", ".join(PARTS) + ".")
@click.option("--runs", type=Whole(), metavar="N", help="Runs on every grid.  [default: 100; quick: 64]")
@seed_option
@click.option("--no-report", is_flag=True, help="Check the claims only; writes nothing, needs no Matplotlib.")
@json_option
def reproduce(
    out: Path, quick: bool, parts: tuple[str, ...], runs: int | None, seed: int, no_report: bool, as_json: bool
) -> None:
    """Rerun the whole paper: draw every figure, check every claim.

    Prints each claim, where it is from (a place in the paper, or ours), what was measured and what was expected.
    Exit status 1 tells that one does not hold. The folder gets report.html, which opens in any browser, figures/ (PNG
    and SVG) and data/ (every number).

    \b
    Example:  semibandits reproduce
              semibandits reproduce --quick --only fig1c --only trends
              semibandits reproduce --runs 1000 --out precise
    """
    if not no_report:
        need_matplotlib()
    from semibandits.experiments import paper

    found = paper.reproduce(out=None if no_report else out, quick=quick, only=parts or None, runs=runs, seed=seed)
    report = None if no_report else out / "report.html"
    if as_json:
        print_json({**found.as_dict(), "report": report})
    else:
        verdicts = {True: coloured("holds", "green"), False: coloured("DOES NOT HOLD", "red")}
        rows = [
            [claim.part, claim.statement, claim.source, claim.measured, claim.expected, verdicts[claim.holds]]
            for claim in found.claims
        ]
        click.echo(table(["part", "claim", "from", "measured", "expected", ""], rows))
        click.echo(lines("", f"{summary(found.claims)}."))
        if report is not None:
            click.echo(lines(f"The report: {report}"))
    sys.exit(0 if found.holds else 1)
