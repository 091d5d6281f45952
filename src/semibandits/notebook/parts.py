"""What all that is shown is made of: cards with a title, facts, tables that are cut, pictures in a few lines."""

from collections.abc import Iterable, Sequence
from functools import singledispatch
from inspect import cleandoc
from typing import Any

from semibandits._util.checks import widest
from semibandits._util.html import Html, escape, facts, number, table
from semibandits._util.item_bounds import are_per_item
from semibandits.types import Bounds

MOST = 25
"""Rows of a table, and names of a solution."""
MOST_NAMES = 6
"""Names that are but examples."""
Facts = list[tuple[str, Any]]


@singledispatch
def written(thing: object) -> str:
    """HTML by the kind of the object: the other files register theirs."""
    return f"<pre>{escape(repr(thing))}</pre>"


def card(title: str, *parts: str) -> str:
    heading = f'<div style="font-weight:600;margin-bottom:.3em">{escape(title)}</div>'
    return f'<div style="color:inherit;background:transparent;max-width:60em">\n{heading}\n{"".join(parts)}</div>\n'


def listed(pairs: Facts) -> Html:
    """Names and what there is to say of each; of some there is nothing."""
    return facts([(name, value) for name, value in pairs if value != ""], inline=True)


def cut(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int | None = None) -> str:
    """A table of the first rows."""
    most = rows[:MOST]
    left = (len(rows) if total is None else total) - len(most)
    return table(columns, most, inline=True) + (note(f"... and {left:,} more") if left > 0 else "")


def note(text: object) -> str:
    return f'<div style="opacity:.75">{escape(text)}</div>\n'


def picture(width: float, height: float, about: str, inside: str) -> Html:
    """A drawing in the colours of the page; without `about` it only repeats what is said beside it."""
    said = f'aria-label="{escape(about)}"' if about else 'aria-hidden="true"'
    return Html(
        f'<svg width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" role="img" {said} '
        f'style="color:inherit;max-width:100%">{inside}</svg>'
    )


def about(thing: object) -> str:
    """The first line of its class's docstring, as plain text."""
    return cleandoc(type(thing).__doc__ or "").partition("\n")[0].replace("`", "")


def what_weights(sense: str, bounds: Bounds) -> str:
    return f"{'rewards' if sense == 'max' else 'costs'}, {span(bounds)}"


def span(bounds: Bounds) -> str:
    low, high = map(number, widest(bounds))
    return f"{'per item, ' if are_per_item(bounds) else ''}from {low} to {high}"


def names_of(labels: Sequence[str], items: Iterable[int]) -> list[str]:
    return [labels[item] if labels else str(item) for item in items]
