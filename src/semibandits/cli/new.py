"""The command `new`: files to begin with."""

from collections.abc import Iterable
from pathlib import Path

import click

from semibandits.cli.base import folder_option, json_option, print_json
from semibandits.cli.completing import completing
from semibandits.cli.tables import lines, table


def _names() -> Iterable[str]:
    from semibandits.experiments.files.starters import STARTERS

    return STARTERS


@click.command()
@click.argument("name", required=False, shell_complete=completing(_names))
@folder_option("--folder", "Where to write it.", default=".", show_default="this one")
@json_option
def new(name: str | None, folder: Path, as_json: bool) -> None:
    """Write an experiment file, or the tutorial, to begin with.

    Without NAME, lists what there is. The files are short and full of comments: change what you like, and run them.
    The tutorial is a notebook. Nothing that exists is overwritten.

    \b
    Example:  semibandits new
              semibandits new grid_path
              semibandits new budget --folder town
              semibandits new tutorial
    """
    from semibandits.experiments.files.starters import STARTERS, write_starter

    if name is None:
        if as_json:
            print_json([{"name": name, "what": what} for name, what in STARTERS.items()])
        else:
            click.echo(table(["", ""], [[f"semibandits new {name}", what] for name, what in STARTERS.items()]))
        return
    written = write_starter(name, folder)
    if as_json:
        print_json({"files": written})
    else:
        click.echo(lines(*(f"wrote {path}" for path in written)))
        run = "jupyter lab" if written[0].suffix == ".ipynb" else "semibandits run"
        click.echo(f"\nChange it as you like, and run it:\n\n    {run} {written[0]}")
