"""Problems and policies as they are written on the command line, and experiment files."""

import functools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from semibandits.cli.base import Refused, folder_option, users_code
from semibandits.cli.completing import complete_calls
from semibandits.cli.tables import lines, printable

if TYPE_CHECKING:
    from semibandits.experiments import Experiment
    from semibandits.experiments.files.user_code import Allowed
    from semibandits.problem import Problem

complete_problem = complete_calls("PROBLEMS")
complete_policy = complete_calls("POLICIES")


class Reading(NamedTuple):
    """How experiment files are to be read."""

    own_code: "Allowed"
    files: Path | None
    """The folder of what they name; None: their own."""
    said: set[tuple[str, str]]
    """The files, or modules, and names of code of which the user was told."""

    def __call__(self, file: Path) -> "Experiment":
        """The experiment in this file; says which code of its own is run."""
        from semibandits import experiments

        with users_code():
            return experiments.read(file, own_code=self.own_code, files=self.files, say=self.say)

    def say(self, code: Mapping[str, Sequence[str]]) -> None:
        """Tells once which code is run."""
        told = []
        for where, names in code.items():
            new = [name for name in names if (where, name) not in self.said]
            self.said.update((where, name) for name in new)
            if new:
                told.append(f"{'' if where.endswith('.py') else 'module '}{where} ({', '.join(new)})")
        if told:
            click.echo(printable(f"runs own code: {', '.join(told)}"), err=True)


def reading_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of all commands that read experiment files; the command gets them as `reading`."""

    @functools.wraps(command)
    def read(*, allow_modules: bool, no_own_code: bool, files: Path | None, **others: Any) -> None:
        if allow_modules and no_own_code:
            raise click.UsageError("--allow-modules and --no-own-code contradict each other.")
        own_code: Allowed = "none" if no_own_code else "modules" if allow_modules else "files"
        command(reading=Reading(own_code, files, set()), **others)

    options = (
        click.option(
            "--no-own-code", is_flag=True, help="Refuse a file that names Python code: for files of strangers."
        ),
        click.option(
            "--allow-modules",
            is_flag=True,
            help="Code may also be that of installed modules, 'package.module:name', not only of files.",
        ),
        folder_option("--files", "Folder of the data and code that a file names.  [default: the file's own]"),
    )
    made: Callable[..., None] = functools.reduce(lambda inner, option: option(inner), reversed(options), read)
    return made


class Opened(NamedTuple):
    """A problem as it was asked for, and what an experiment file says of it."""

    title: str
    problem: "Problem"
    table: dict[str, Any]
    """Describes it in an experiment file."""
    options: dict[str, Any]
    """What the file says about regret and feedback, where it does, and the unit."""
    folder: Path
    """Where the files are that it names."""


def open_problem(text: str, reading: Reading) -> Opened:
    """A named problem with its parameters, or that of an experiment file: the first one of a sweep, which is said."""
    from semibandits.experiments import comparing
    from semibandits.experiments.files import registry, sweep

    if not text.endswith(".toml"):
        table = comparing.table_of("problem", text, registry.PROBLEMS)
        return Opened(text, registry.make_problem(*registry.parse_call(text)), table, {}, reading.files or Path())
    experiment = reading(Path(text))
    whole = tomllib.loads(experiment.text)
    first = next(sweep.variants(whole, sweep.read_axes(whole, _refuse)))
    swept = ", ".join(f"{name} = {value}" for name, value in first.settings.items() if name.startswith("problem"))
    if swept:
        click.echo(lines(printable(f"{text}: the first problem of its sweep is taken, {swept}")), err=True)
    title = f"{text}, {swept}" if swept else text
    options = {name: whole[name] for name in comparing.OPTIONS if name in whole}
    folder = experiment.path.parent if reading.files is None else reading.files
    return Opened(title, experiment.plans[0].problem, first.document["problem"], options, folder)


def _refuse(path: object, message: str) -> Any:
    raise Refused(message)
