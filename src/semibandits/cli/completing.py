"""Completers of names and parameters, for shells."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

PLAIN = re.compile(r"[\w./+@%-]+")
"""Paths that mean nothing else to a shell."""


def complete_names(kind: str) -> Complete:
    """Completes the names in a table of `experiments.files.registry`."""
    return completing(lambda: _there(kind))


def completing(names: Callable[[], Iterable[str]]) -> Complete:
    """Completes these names, which are looked up when they are needed."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in names() if name.startswith(incomplete)]

    return complete


def complete_calls(kind: str) -> Complete:
    """The same, with the parameters after a colon; where nothing fits, names of experiment files."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        there = _there(kind)
        name, colon, rest = incomplete.partition(":")
        if not colon:
            found = [CompletionItem(one) for one in there if one.startswith(name)]
            return found or complete_files(ctx, param, incomplete)
        before, last = re.fullmatch(r"(.*,)?(.*)", rest).groups("")  # type: ignore[union-attr]
        accepted = inspect.signature(there[name]).parameters if name in there else ()
        fit = [one for one in accepted if one.startswith(last) and f"{one}=" not in before]
        return [CompletionItem(f"{name}:{before}{one}=") for one in fit]

    return complete


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Experiment files; where there are none, or some whose names are commands, the shell is to find and quote them."""
    folder, _, name = incomplete.rpartition("/")
    found = sorted(Path(f"{folder}/" if folder or incomplete.startswith("/") else ".").glob("*.toml"))
    fit = [str(path) for path in found if path.name.startswith(name)]
    plain = all(map(PLAIN.fullmatch, fit))
    return [CompletionItem(path) for path in fit if plain] or [CompletionItem(incomplete, type="file")]


def _there(kind: str) -> Mapping[str, Any]:
    from semibandits.experiments.files import registry

    there: Mapping[str, Any] = getattr(registry, kind)
    return there
