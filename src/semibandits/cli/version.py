"""The command `version`."""

import click

from semibandits import __version__
from semibandits.cli.base import json_option, print_json


@click.command()
@json_option
def version(as_json: bool) -> None:
    """Print the version.

    \b
    Example:  semibandits version
    """
    if as_json:
        print_json({"version": __version__})
    else:
        click.echo(f"semibandits {__version__}")
