"""Problems and policies as they are written on the command line."""

import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from semibandits.cli.base import Refused
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
    """Describes it in an experiment file."""
    files: dict[str, str]
    """Digests of those it is made of."""
    options: dict[str, Any]
    """What the file says about regret and feedback, where it does, and the unit."""


def open_problem(text: str) -> Opened:
    """A named problem with its parameters, or that of an experiment file: the first one of a sweep, which is said."""
    from semibandits.experiments import comparing, document, named, sweep

    if not text.endswith(".toml"):
        name, parameters = named.parse_call(text)
        return Opened(text, named.make_problem(name, parameters), {"name": name, **parameters}, {}, {})
    experiment = document.read(text)
    whole = tomllib.loads(experiment.text)
    first = next(sweep.variants(whole, sweep.read_axes(whole, _refuse)))
    swept = ", ".join(f"{name} = {value}" for name, value in first.settings.items() if name.startswith("problem"))
    if swept:
        click.echo(lines(f"{text}: the first problem of its sweep is taken, {swept}"), err=True)
    title = f"{text}, {swept}" if swept else text
    options = {name: whole[name] for name in ("unit", *comparing.OPTIONS) if name in whole}
    return Opened(title, experiment.plans[0].problem, first.document["problem"], experiment.files, options)


def _refuse(path: object, message: str) -> Any:
    raise Refused(message)
