"""HTML as strings: text made safe, numbers for people, tables, lists of facts."""

import math
import re
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

# What no HTML or XML document may hold: control characters, halves of surrogate pairs, non-characters.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_CELL = "padding:.15em 1em .15em 0;background:transparent;text-align"
_RIGHT = {False: ' class="n"', True: f' style="{_CELL}:right;white-space:nowrap;font-variant-numeric:tabular-nums"'}
_LEFT = {False: "", True: f' style="{_CELL}:left"'}
LONG = 40
"""Text longer than that may take several lines of a table."""
_LONG = {False: ' class="w"', True: _LEFT[True]}
_GRID = {
    False: ' class="facts"',
    True: ' style="display:grid;grid-template-columns:max-content auto;gap:.1em 1em;margin:.4em 0"',
}


class Html(str):
    """HTML already, as opposed to text: what takes both leaves it as it is."""

    __slots__ = ()


class Number(str):
    """A number as it is to be shown: tables align it to the right."""

    __slots__ = ()


class Strong(Number):
    """The number of a row that counts."""

    __slots__ = ()


class LinkedNumber(Html, Number):
    """A number that is a link."""

    __slots__ = ()


def escape(x: object) -> Html:
    """Any text so that it stands for itself, between tags and in attributes.

    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    if isinstance(x, Html):
        return x
    text = _FORBIDDEN.sub("\ufffd", str(x)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Html(text.replace('"', "&quot;").replace("'", "&#39;"))


def number(value: Any, decimals: int | None = None) -> Number:
    """A number for people: up to four digits or all before the point, unless told how many decimals; a dash for NaN.

    >>> number(12345.678), number(0.0123456), number(4.8), number(-2.0, 1), number(100_000), number(float("nan"))
    ('12,346', '0.01235', '4.8', '−2.0', '100,000', '–')
    """
    if isinstance(value, Integral):
        return Number(f"{int(value):,}".replace("-", "−"))
    if math.isnan(value):
        return Number("–")
    if math.isinf(value):
        return Number("∞" if value > 0 else "−∞")
    size = abs(value)
    if size and (size >= 1e15 or size < 1e-4) and decimals is None:
        return Number(f"{value:.3e}".replace("-", "−"))
    digits = decimals if decimals is not None else max(0, 3 - math.floor(math.log10(size))) if size else 0
    text = f"{value:,.{digits}f}"
    if decimals is None and digits:
        text = text.rstrip("0").rstrip(".")
    return Number(text.replace("-", "−") if any("1" <= digit <= "9" for digit in text) else text.lstrip("-"))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str = "", *, inline: bool = False) -> Html:
    """A table whose first column names its rows. Numbers stand right, text is escaped, `Html` stays as it is.

    It scrolls in a box of its own where it is too wide. `inline` writes styles instead of classes, and no caption: for
    a page that has no style sheet of ours.
    """
    listed = [list(row) for row in rows]
    if wrong := next((row for row in listed if len(row) != len(columns)), None):
        raise ValueError(f"a row has {len(wrong)} cells, the table {len(columns)} columns: {wrong!r:.200}")
    numeric = [bool(listed) and all(_is_number(row[at]) for row in listed) for at in range(len(columns))]
    head = "".join(
        f'<th scope="col"{(_RIGHT if right else _LEFT)[inline]}>{escape(column)}</th>'
        for column, right in zip(columns, numeric, strict=True)
    )
    body = "".join(f"<tr>{_row(row, inline)}</tr>\n" for row in listed)
    style = ' style="color:inherit;font-size:inherit"' if inline else ""
    whole = f"<table{style}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>"
    if inline:
        return Html(f'<div style="overflow-x:auto">{whole}</div>\n')
    named = f"<figcaption>{escape(caption)}</figcaption>\n" if caption else ""
    box = f'<div class="scroll"{scrolling(caption or "table")}>{whole}</div>'
    return Html(f"<figure>\n{named}{box}\n</figure>\n")


def scrolling(label: str) -> Html:
    """Attributes of a box that scrolls sideways: keys reach it, and a screen reader says what is in it."""
    text = Html(re.sub("<[^>]*>", "", label).replace('"', "&quot;")) if isinstance(label, Html) else label
    return Html(f' role="group" tabindex="0" aria-label="{escape(text)}"')


def facts(pairs: Iterable[tuple[str, Any]], *, inline: bool = False) -> Html:
    """Names and what there is to say of each."""
    below = ' style="margin:0"' if inline else ""
    listed = "".join(f"<dt>{escape(name)}</dt><dd{below}>{_shown(value)}</dd>\n" for name, value in pairs)
    return Html(f"<dl{_GRID[inline]}>\n{listed}</dl>\n")


def details(summary: object, body: str, *, open: bool = False) -> Html:
    """A part that opens on a click; `body` is HTML."""
    return Html(f"<details{' open' if open else ''}><summary>{escape(summary)}</summary>\n{body}</details>\n")


def paragraph(text: object, kind: str = "") -> Html:
    opening = f'<p class="{escape(kind)}">' if kind else "<p>"
    return Html(f"{opening}{escape(text)}</p>\n")


def several(names: Sequence[object], most: int = 20) -> str:
    """The first of many names.

    >>> several(["a", "b", "c", "d"], most=2)
    'a, b, ... and 2 more'
    """
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, ... and {len(names) - most:,} more"


def _row(row: Sequence[Any], inline: bool) -> str:
    cells = [f'<th scope="row"{(_RIGHT if _is_number(row[0]) else _LEFT)[inline]}>{_shown(row[0])}</th>'] if row else []
    cells += [f"<td{_kind(cell)[inline]}>{_shown(cell)}</td>" for cell in row[1:]]
    return "".join(cells)


def _kind(cell: object) -> dict[bool, str]:
    if _is_number(cell):
        return _RIGHT
    return _LONG if isinstance(cell, str) and len(cell) > LONG else _LEFT


def _is_number(cell: object) -> bool:
    return isinstance(cell, Number | Real) and not isinstance(cell, bool)


def _shown(cell: Any) -> Html:
    if cell is None:
        return Html("")
    if isinstance(cell, bool):
        return Html("yes" if cell else "no")
    if isinstance(cell, Strong):
        return Html(f"<strong>{escape(cell)}</strong>")
    return escape(number(cell) if isinstance(cell, Real) else cell)
