"""Tables and sentences that fit the terminal they are printed on."""

import os
import shutil
import sys
import textwrap
from collections.abc import Collection, Sequence

import click

APART = "  "


def on_terminal() -> bool:
    return sys.stdout.isatty()


def terminal_width() -> int | None:
    """None where standard output is no terminal: lines are then as long as they need be."""
    return shutil.get_terminal_size().columns if on_terminal() else None


def coloured(text: str, colour: str) -> str:
    """In colour on a terminal, unless the variable NO_COLOR is set."""
    return click.style(text, fg=colour) if on_terminal() and not os.environ.get("NO_COLOR") else text


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str] = ()) -> str:
    """Aligned columns, those named in `right` flush right; where the terminal is too narrow, a block of lines per row.

    Without any titles there is no line for them.

    >>> print(table(["policy", "regret"], [["CombUCB1", "733.03"], ["CTS", "59.34"]], right=["regret"]))
    policy    regret
    CombUCB1  733.03
    CTS        59.34
    """
    lines = [titles, *rows] if any(titles) else rows
    widths = [max(_length(line[column]) for line in lines) for column in range(len(titles))]
    limit = terminal_width()
    if limit is not None and sum(widths) + len(APART) * (len(titles) - 1) > limit:
        return "\n\n".join(_block(titles, row, limit) for row in rows)
    return "\n".join(
        APART.join(
            _padded(cell, width, title in right) for cell, width, title in zip(line, widths, titles, strict=True)
        ).rstrip()
        for line in lines
    )


def printable(text: str, *, lines: bool = False) -> str:
    """What would move the cursor or change colours is shown instead of done; with `lines`, lines stay lines.

    >>> print(printable("one\\x07 \\x1b[31mtwo"))
    one\\x07 \\x1b[31mtwo
    """
    return "".join(one if one.isprintable() or (lines and one == "\n") else repr(one)[1:-1] for one in text)


def lines(*texts: str) -> str:
    """A line each; those that the terminal is too narrow for are broken between words."""
    limit = terminal_width()
    return "\n".join(text if limit is None else _wrapped(text, limit) for text in texts)


def prose(text: str) -> str:
    """The same text, its paragraphs broken anew where the terminal is too narrow; formulas and examples stay as is."""
    limit = terminal_width()
    if limit is None or max(map(len, text.splitlines()), default=0) <= limit:
        return text
    paragraphs = text.split("\n\n")
    return "\n\n".join(part if part[:1] in " >" else textwrap.fill(part, limit) for part in paragraphs)


def _block(titles: Sequence[str], row: Sequence[str], limit: int) -> str:
    filled = [(title, cell) for title, cell in zip(titles, row, strict=True) if cell]
    return "\n".join(_wrapped(f"{title}: {cell}".rstrip() if title else cell, limit) for title, cell in filled)


def _wrapped(line: str, limit: int) -> str:
    if _length(line) <= limit:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line, limit, subsequent_indent=f"{indent}  ", break_long_words=False, break_on_hyphens=False)


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - _length(cell))
    return space + cell if right else cell + space


def _length(cell: str) -> int:
    return len(click.unstyle(cell))
