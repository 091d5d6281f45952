"""Tables for papers and pages: LaTeX and Markdown."""

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from semibandits._util.suggestions import explained
from semibandits.errors import BadArgument

_LATEX = {one: rf"\{one}" for one in "_%&#${}"} | {one: f"{{{one}}}" for one in "[]*"}
_LATEX |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "–": "--", "—": "---"}
_LATEX |= {"≤": r"$\le$", "≥": r"$\ge$", "−": "$-$", "×": r"$\times$", "→": r"$\to$", "∞": r"$\infty$", "√": r"$\surd$"}
_GREEK = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho varsigma sigma tau "
    "upsilon varphi chi psi omega"
)
_CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_LATEX |= {letter: rf"$\{name}$" for letter, name in zip("ΓΔΘΛΞΠΣΥΦΨΩ", _CAPITALS.split(), strict=True)}
_LATEX |= {letter: rf"$\{name}$" for letter, name in zip("αβγδεζηθικλμνξοπρςστυφχψω", _GREEK.split(), strict=True)}
_LATEX |= {"ο": "o"}
_MARKDOWN = {one: rf"\{one}" for one in "\\`*_{}[]<>|~$&#"}
_MARKS = {"~": r"\sim"}


class Figure(NamedTuple):
    """A number, an interval or a formula in a table, as it is printed; nothing where it is not known."""

    text: str
    bold: bool = False
    mark: str = ""


Cell: TypeAlias = str | Figure


class Table(NamedTuple):
    """Columns of text and of numbers, and what their marks mean."""

    titles: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()

    @property
    def right(self) -> list[bool]:
        """Which columns are flush right: those of numbers."""
        return [any(isinstance(row[at], Figure) for row in self.rows) for at in range(len(self.titles))]


class Typeset:
    """What is shown as a table, and can be written as one for a paper or a page."""

    __slots__ = ()

    @abstractmethod
    def _table(self) -> Table: ...

    @explained
    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        r"""A LaTeX tabular, for documents with `\usepackage{booktabs}`.

        With a caption or a label, which are LaTeX and written as they are, it stands in a `table`. Names are escaped;
        those in other letters than Latin and Greek ones want XeLaTeX or LuaLaTeX.
        """
        return latex(self._table(), caption, label)

    def to_markdown(self) -> str:
        """A table in Markdown, as GitHub and most others read it; names are escaped."""
        return markdown(self._table())


def latex(table: Table, caption: str | None = None, label: str | None = None) -> str:
    for name, given in (("caption", caption), ("label", label)):
        if given is not None and not isinstance(given, str):
            raise BadArgument(f"{name} must be a string, got {given!r:.100}")
    note = rf"\multicolumn{{{len(table.titles)}}}{{l}}{{\footnotesize "
    lines = [
        rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in table.right)}}}",
        r"\toprule",
        _latex_row(table.titles),
        r"\midrule",
        *map(_latex_row, table.rows),
        r"\bottomrule",
        *(rf"{note}{_escaped(one, _LATEX)}}} \\" for one in table.notes),
        r"\end{tabular}",
    ]
    if caption is not None or label is not None:
        said = [rf"\caption{{{caption}}}"] * (caption is not None) + [rf"\label{{{label}}}"] * (label is not None)
        lines = [r"\begin{table}", r"\centering", *said, *lines, r"\end{table}"]
    return "\n".join(lines)


def markdown(table: Table) -> str:
    rule = ["---:" if right else ":---" for right in table.right]
    rows = [[_in_markdown(cell) for cell in row] for row in (table.titles, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:])]
    notes = [line for note in table.notes for line in ("", _escaped(note, _MARKDOWN))]
    return "\n".join([*lines, *notes])


def _latex_row(cells: Sequence[Cell]) -> str:
    return rf"{' & '.join(map(_in_latex, cells))} \\"


def _in_latex(cell: Cell) -> str:
    """Numbers are set as mathematics, so that a minus is one."""
    if isinstance(cell, str):
        return _escaped(cell, _LATEX)
    if not cell.text:
        return "--"
    text = re.sub(r"(?<=\d),(?=\d)", "{,}", cell.text).replace("%", r"\%")
    text = re.sub(r"(?<=\d)e([+-]\d+)", lambda power: rf" \times 10^{{{int(power[1])}}}", text)
    text = rf"\mathbf{{{text}}}" if cell.bold else text
    text = f"{{{text}}}" if cell.mark and "^" in text else text  # TeX takes no second exponent
    return f"${text}^{{{_MARKS.get(cell.mark, cell.mark)}}}$" if cell.mark else f"${text}$"


def _in_markdown(cell: Cell) -> str:
    if isinstance(cell, str):
        return _escaped(cell, _MARKDOWN)
    text = _escaped(f"{cell.text or '–'}{cell.mark}", _MARKDOWN)
    return f"**{text}**" if cell.bold else text


def _escaped(text: str, by: dict[str, str]) -> str:
    return "".join(by.get(one, one) for one in " ".join(text.split()) if one.isprintable())
