"""The command `suite`: every policy on problems that nobody tuned to."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from semibandits.cli.base import Whole, folder_option, json_option, note, print_json, seed_option
from semibandits.cli.opening import complete_policy
from semibandits.cli.tables import lines, printable, table, terminal_width

if TYPE_CHECKING:
    from semibandits.experiments.suite import Table

QUICK_ROUNDS, QUICK_RUNS = (300,), 8


def complete_problem(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from semibandits.experiments.suite import CASES

    return [name for name in CASES if name.startswith(incomplete)]


@click.command()
@click.option("--quick", is_flag=True, help="300 rounds and 8 runs: a look, not a measurement.")
@click.option(
    "--problems",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_problem,
    help="A problem, or the beginning of several names; as many as you like.  [default: all]",
)
@click.option(
    "--policies",
    multiple=True,
    metavar="POLICY",
    shell_complete=complete_policy,
    help="A policy, with parameters if need be; as many as you like.  [default: all that need nothing special]",
)
@click.option(
    "--instance",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="The same problems with other numbers: 2, 3, ... are such that no policy was developed on.",
)
@click.option(
    "--runs", type=Whole(), metavar="N", help="Runs on every problem.  [default: 64; fewer of 100,000 rounds]"
)
@seed_option
@folder_option("--out", "Folder for the tables, which also keeps what is finished.  [default: nothing is written]")
@click.option("--list", "listing", is_flag=True, help="List the problems, play nothing.")
@json_option
def suite(
    quick: bool,
    problems: tuple[str, ...],
    policies: tuple[str, ...],
    instance: int,
    runs: int | None,
    seed: int,
    out: Path | None,
    listing: bool,
    as_json: bool,
) -> None:
    """Play every policy on problems that nobody tuned to.

    Clicks that are rare or even, little noise and much, bounds that are loose or tight, heavy tails, near ties,
    thousands of items, correlated ones: on slates, partitions, paths, trees, assignments and knapsacks, for 300, 5,000
    and 100,000 rounds, all policies in the same worlds. Prints the regret of each policy divided by that of the best
    one, and of each policy its worst ratio (± standard error), its median, and on how many it is best. "GaussianCTS,
    told sigma" knows what nobody knows; it is no measure for the others.

    The whole takes about 20 minutes on two cores. With --out the same command, given again after it was stopped or
    with more policies, plays only what is missing.

    \b
    Example:  semibandits suite --list
              semibandits suite --quick --problems clicks --policies CTS --policies greedy
              semibandits suite --problems street --policies CTS --policies EpsilonGreedy:epsilon=0.05
              semibandits suite --out suite
    """
    from semibandits.experiments import suite as library
    from semibandits.experiments.files.registry import make_policy, parse_call

    if listing:
        _list(problems, as_json)
        return
    listed = (*library.PLAYERS, library.TOLD)
    chosen = [one if one in listed else make_policy(*parse_call(one)) for one in policies]
    asked = (problems or None, chosen or None, QUICK_ROUNDS if quick else None)
    try:
        few = QUICK_RUNS if quick and runs is None else runs
        found = library.play(*asked, instance=instance, runs=few, seed=seed, out=out)
    except KeyboardInterrupt:
        if out is not None:
            note(printable(f"stopped; what is finished is kept in {out}: the same command goes on from there"))
        raise
    missing = library.absent(*asked)
    if as_json:
        print_json(
            {
                "seed": seed,
                "instance": instance,
                "rows": found.rows,
                "scores": found.scores(),
                "absent": missing,
                "folder": out,
            }
        )
        return
    _show(found)
    if missing:
        who = ", ".join(dict.fromkeys(one.policy for one in missing))
        click.echo("\n" + lines(f"Blank: not every problem is for {who}; why, for each, is in --json."))
    if out is not None:
        click.echo("\n" + lines(printable(f"folder: {out}")))


def _show(found: "Table") -> None:
    from semibandits.experiments.suite import words

    click.echo("Regret, divided by that of the best policy\n")
    for titles, rows in _parts(*words.ratios(found)):
        click.echo(table(titles, rows, right=[title for title in titles if title not in ("problem", "best")]) + "\n")
    titles, rows = words.scores(found.scores())
    click.echo(table(titles, rows, right=["worst", "median", "best on", "played"]))


def _parts(titles: list[str], rows: list[list[str]]) -> list[tuple[list[str], list[list[str]]]]:
    """The same table; on a terminal, parts that fit its width, each with the problem and the rounds."""
    limit = terminal_width()
    if limit is None:
        return [(titles, rows)]
    widths = [2 + max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    parts: list[list[int]] = [[0, 1]]
    for column in range(2, len(titles)):
        if len(parts[-1]) > 2 and sum(widths[at] for at in (*parts[-1], column)) - 2 > limit:
            parts.append([0, 1])
        parts[-1].append(column)
    return [(_take(titles, part), [_take(row, part) for row in rows]) for part in parts]


def _take(cells: Sequence[str], columns: Sequence[int]) -> list[str]:
    return [cells[at] for at in columns]


def _list(problems: tuple[str, ...], as_json: bool) -> None:
    from semibandits.experiments.suite.playing import chosen_cases

    cases = chosen_cases(problems or None)
    if as_json:
        told = ("name", "trait", "about", "seed", "horizons")
        print_json([{name: getattr(case, name) for name in told} for case in cases])
        return
    click.echo(table(["problem", "trait", ""], [[case.name, case.trait, case.about] for case in cases]))
