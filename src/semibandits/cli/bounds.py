"""The command `bounds`: the theory of a problem."""

from typing import TYPE_CHECKING

import click

from semibandits.cli.base import Refused, Whole, json_option, print_json, users_code
from semibandits.cli.opening import Reading, complete_problem, open_problem, reading_options
from semibandits.cli.tables import lines, prose, table

if TYPE_CHECKING:
    from semibandits.theory.applicable_bounds import Bounds


@click.command()
@click.argument("problem", shell_complete=complete_problem)
@click.option(
    "--horizon",
    "horizons",
    type=Whole(),
    multiple=True,
    default=[10_000, 100_000],
    show_default="10000 and 100000",
    metavar="N",
    help="Rounds; may be given several times.",
)
@reading_options
@json_option
def bounds(problem: str, horizons: tuple[int, ...], as_json: bool, reading: Reading) -> None:
    """Tell what is guaranteed and what is unavoidable.

    PROBLEM is a named problem with its parameters, or an experiment file whose problem is taken. Listed is every bound
    that applies, the upper ones of CombUCB1 first.

    \b
    Example:  semibandits bounds grid_path:m=4,sigma=0.2
              semibandits bounds "k_path(n_items=20, k=4, gap=0.5)" --horizon 1000000
              semibandits bounds experiment.toml --json
    """
    from semibandits import theory

    told = open_problem(problem, reading)
    opened = told.problem
    if opened.environment.drifts:
        has = "has none" if opened.environment.hindsight else "changes them from round to round"
        if opened.environment.says_sets:
            raise Refused(f"bounds need one feasible set, and {opened.environment!r} has another in every round")
        raise Refused(f"bounds need means that stay as they are, and {opened.environment!r} {has}")
    if told.options.get("feedback") == "bandit":
        click.echo(lines("these are bounds for semi-bandit feedback; the file has feedback = 'bandit'"), err=True)
    with users_code():
        found = theory.bounds(opened, sorted(set(horizons)))
        explained = theory.explain(opened, max(horizons))
    if as_json:
        document = explained.as_dict() | found.as_dict()
        print_json(document)
        return
    click.echo(prose(str(explained)) + "\n")
    click.echo(_as_table(found))
    said = " ".join(str(explained).split())
    for note in found.notes:
        if note not in said:
            click.echo(lines(note))


def _as_table(found: "Bounds") -> str:
    from semibandits.theory.applicable_bounds import notes_on, table_rows

    titles = [f"n = {n:,.0f}" for n in found.rounds]
    rows = table_rows(found)
    written = table(["bound", "of", "kind", *titles], rows, right=titles)
    return "\n".join([written, *map(lines, notes_on(found, rows))])
