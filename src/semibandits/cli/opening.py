"""Problems and policies as they are written on the command line."""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from semibandits.cli.base import Refused, users_code
from semibandits.cli.completing import complete_calls
from semibandits.cli.tables import lines

if TYPE_CHECKING:
    from semibandits.problem import Problem

complete_problem = complete_calls("PROBLEMS")
complete_policy = complete_calls("POLICIES")


class Opened(NamedTuple):
    """A problem as it was asked for, and what an experiment file says of it."""

    title: str
    problem: "Problem"
    table: dict[str, Any]
    """Describes it in an experiment file, wherever that is."""
    options: dict[str, Any]
    """What the file says about regret and feedback, where it does, and the unit."""


def open_problem(text: str) -> Opened:
    """A named problem with its parameters, or that of an experiment file: the first one of a sweep, which is said."""
    from semibandits.experiments import comparing, document, named, sweep

    if not text.endswith(".toml"):
        table = comparing.absolute(comparing.table_of("problem", text, named.PROBLEMS), Path())
        return Opened(text, named.make_problem(*named.parse_call(text)), table, {})
    with users_code():
        experiment = document.read(text)
    whole = tomllib.loads(experiment.text)
    first = next(sweep.variants(whole, sweep.read_axes(whole, _refuse)))
    swept = ", ".join(f"{name} = {value}" for name, value in first.settings.items() if name.startswith("problem"))
    if swept:
        click.echo(lines(f"{text}: the first problem of its sweep is taken, {swept}"), err=True)
    title = f"{text}, {swept}" if swept else text
    options = {name: whole[name] for name in comparing.OPTIONS if name in whole}
    table = comparing.absolute(first.document["problem"], experiment.path.parent)
    return Opened(title, experiment.plans[0].problem, table, options)


def _refuse(path: object, message: str) -> Any:
    raise Refused(message)
