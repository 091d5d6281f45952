"""The commands `sets`, `environments`, `policies` and `problems`: what there is, one line each, or one in detail."""

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from semibandits.cli.base import json_option, print_json
from semibandits.cli.completing import complete_names
from semibandits.cli.tables import lines, prose, table

if TYPE_CHECKING:
    from semibandits.experiments.files.registry import Described


@click.command()
@click.argument("name", required=False, shell_complete=complete_names("SETS"))
@json_option
def sets(name: str | None, as_json: bool) -> None:
    """List the kinds of feasible sets, or tell about one.

    \b
    Example:  semibandits sets
              semibandits sets Assignment
    """
    from semibandits.experiments.files import registry

    _show("set", registry.describe_sets(), registry.SETS, name, as_json)


@click.command()
@click.argument("name", required=False, shell_complete=complete_names("ENVIRONMENTS"))
@json_option
def environments(name: str | None, as_json: bool) -> None:
    """List the ways to draw weights, or tell about one.

    \b
    Example:  semibandits environments
              semibandits environments Gaussian
    """
    from semibandits.experiments.files import registry

    _show("environment", registry.describe_environments(), registry.ENVIRONMENTS, name, as_json)


@click.command()
@click.argument("name", required=False, shell_complete=complete_names("POLICIES"))
@json_option
def policies(name: str | None, as_json: bool) -> None:
    """List the policies and when to use them, or tell about one.

    Of one: its formula, its parameters, what it needs, and what is proved of it.

    \b
    Example:  semibandits policies
              semibandits policies CTS
    """
    from semibandits.experiments.files import registry
    from semibandits.policies.catalogue import CATALOGUE

    facts = {entry.name: {"needs": entry.needs, "guarantee": entry.guarantee, "use": entry.use} for entry in CATALOGUE}
    _show("policy", registry.describe_policies(), registry.POLICIES, name, as_json, facts)


@click.command()
@click.argument("name", required=False, shell_complete=complete_names("PROBLEMS"))
@json_option
def problems(name: str | None, as_json: bool) -> None:
    """List the problems that have names, or tell about one.

    \b
    Example:  semibandits problems
              semibandits problems k_path
    """
    from semibandits.experiments.files import registry

    _show("problem", registry.describe_problems(), registry.PROBLEMS, name, as_json)


def _show(
    what: str,
    described: "list[Described]",
    makers: Mapping[str, Any],
    name: str | None,
    as_json: bool,
    facts: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    from semibandits.experiments.files import registry

    facts = facts or {}
    if name is None:
        if as_json:
            print_json([{"name": one.name, **_told(one, facts)} for one in described])
        else:
            click.echo(table(["", ""], [[f"{one.name}({one.parameters})", one.what] for one in described]))
        return
    maker = registry.known(what, name, makers)
    one = next(one for one in described if one.name == name)
    text = inspect.getdoc(maker) or ""
    if as_json:
        print_json({"name": name, **_told(one, facts), "text": text})
        return
    click.echo(lines(f"{name}({one.parameters})") + "\n")
    click.echo(prose(text))
    if name in facts:
        click.echo("\n" + lines(*(f"{title}: {fact}" for title, fact in facts[name].items())))


def _told(one: "Described", facts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {"parameters": one.parameters, "what": one.what, **facts.get(one.name, {})}
