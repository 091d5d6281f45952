"""Objects that show themselves with the help of rooms above theirs, which are found when that is asked for."""

from importlib import import_module
from typing import Any


def above(room: str) -> Any:
    """A room of this package that those below it do not import: one that draws, or writes for notebooks."""
    return import_module(f"semibandits.{room}")


def as_html(thing: object) -> str:
    html: str = above("notebook").html(thing)
    return html


class Shown:
    """What a notebook shows as `semibandits.notebook` writes it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return as_html(self)
