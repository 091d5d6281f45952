"""Bounds, and what they say of a problem, in notebooks."""

from semibandits._util.html import Number, details, escape
from semibandits.notebook.parts import card, cut, note, written
from semibandits.theory.applicable_bounds import SHOWN, Bounds, notes_on, short, table_rows
from semibandits.theory.explanation import Explanation


@written.register
def _bounds(bounds: Bounds) -> str:
    """The table that is printed, and what does not apply."""
    return card("Bounds of the regret", note(f"{bounds.problem:.200}"), *_tables(bounds))


@written.register
def _explanation(explained: Explanation) -> str:
    """The sentences, over the bounds they are taken from."""
    said = "".join(f'<div style="margin:.2em 0">{escape(sentence)}</div>\n' for sentence in explained.sentences())
    return card("What is known of the problem", said, *_tables(explained.bounds))


def _tables(bounds: Bounds) -> list[str]:
    rows = table_rows(bounds, SHOWN)
    columns = ["bound", "of", "kind", *(f"n = {short(n)}" for n in bounds.rounds[-SHOWN:])]
    parts = [cut(columns, [[*row[:3], *(Number(value.rstrip()) for value in row[3:])] for row in rows])]
    parts += [note(said) for said in (*notes_on(bounds, rows), *bounds.notes)]
    if left := bounds.left_out:
        missing = [[f"{one.source}, {one.name}", one.policy, ", ".join(one.missing)] for one in left]
        parts.append(
            details(
                f"{len(left)} {'does' if len(left) == 1 else 'do'} not apply",
                cut(["bound", "of", "what is not so, or not known"], missing),
            )
        )
    return parts
