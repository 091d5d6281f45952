"""Tables in LaTeX and Markdown, read by parsers that know nothing of how they were written."""

import pickle
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from markdown_it import MarkdownIt

from semibandits import SimulationResult, errors, problems, theory
from semibandits._util.typeset import Figure, Table, latex, markdown
from semibandits.simulation import Comparisons, Summary
from support.results import make

HOSTILE = ["[x]_% & #1 $5$ {a} ~ ^ \\ | `c` **b** <i>", "*", "a\nb", "&amp; &lt;", "tab\there", "50% ± 3 – \\\\"]


def latex_rows(text: str) -> list[list[str]]:
    """The cells of all rows; braces and dollars must be balanced."""
    body = re.sub(r"\\textbackslash\{\}", "", text)
    depth = 0
    for one in re.findall(r"\\.|[{}]", body):
        depth += {"{": 1, "}": -1}.get(one, 0)
        assert depth >= 0
    assert depth == 0
    inside = text.split(r"\toprule")[1].split(r"\end{tabular}")[0]
    rows = [line for line in inside.splitlines() if line.endswith(r" \\")]
    for row in rows:
        assert len(re.findall(r"(?<!\\)\$", row)) % 2 == 0
        assert not re.search(r"(?<!\\)[%#]", row)
        assert not row.startswith(("[", "*"))  # which the end of the row before would take for its own
    return [[cell.strip() for cell in re.split(r"(?<!\\)&", row.removesuffix(r" \\"))] for row in rows]


class Cells(HTMLParser):
    """The table of a page: what is in its cells, which are bold, and which flush right."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.bold: list[str] = []
        self.right: list[bool] = []
        self._tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            if tag == "th":
                self.right.append("right" in str(dict(attrs).get("style")))

    def handle_endtag(self, tag: str) -> None:
        self._tags.pop()

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self._tags):
            assert self._tags[-1] in ("td", "th", "strong"), self._tags
            self.rows[-1][-1] += data
            if self._tags[-1] == "strong":
                self.bold.append(data)


def parsed(text: str) -> Cells:
    return Cells(MarkdownIt("commonmark").enable("table").render(text))


def test_names_are_escaped() -> None:
    rows = [[name, Figure("1.00")] for name in HOSTILE]
    table = Table(["policy & co", "regret | loss"], rows, ["* & ~"])
    found = parsed(markdown(table))
    assert found.rows == [list(table.titles), *([" ".join(name.split()), "1.00"] for name in HOSTILE)]
    assert found.right == [False, True]
    names = [row[0] for row in latex_rows(latex(table))[1:-1]]
    assert names[0] == (
        r"{[}x{]}\_\% \& \#1 \$5\$ \{a\} \textasciitilde{} \textasciicircum{} \textbackslash{} \textbar{} `c` "
        r"{*}{*}b{*}{*} \textless{}i\textgreater{}"
    )
    assert names[1:] == ["{*}", "a b", r"\&amp; \&lt;", "tab here", r"50\% $\pm$ 3 -- \textbackslash{}\textbackslash{}"]


def test_numbers() -> None:
    cells = [
        Figure("1,234,567.8"),
        Figure("-3.21e-13"),
        Figure("1.5e+12", bold=True),
        Figure("9", mark="*"),
        Figure(""),
    ]
    table = Table(["a"] * 5, [cells])
    assert latex_rows(latex(table))[1] == [
        "$1{,}234{,}567.8$",
        r"$-3.21 \times 10^{-13}$",
        r"$\mathbf{1.5 \times 10^{12}}$",
        "$9^{*}$",
        "--",
    ]
    found = parsed(markdown(table))
    assert found.rows[1] == ["1,234,567.8", "-3.21e-13", "1.5e+12", "9*", "–"]
    assert found.bold == ["1.5e+12"]


def test_captions_and_labels_make_a_table() -> None:
    table = Table(["a"], [["b"]])
    assert latex(table).startswith(r"\begin{tabular}{l}")
    whole = latex(table, caption=r"Regret, $n = 10^4$", label="tab:regret")
    assert whole.splitlines()[:4] == [
        r"\begin{table}", r"\centering", r"\caption{Regret, $n = 10^4$}", r"\label{tab:regret}",
    ]  # fmt: skip
    assert whole.endswith(r"\end{table}")
    assert r"\caption" not in latex(table, label="x")
    with pytest.raises(errors.BadArgument, match="caption must be a string, got 3"):
        latex(table, caption=3)  # type: ignore[arg-type]


def a_result() -> SimulationResult:
    """The first two cannot be told apart, the third has 700 more."""
    regret = np.full((3, 4, 4), 1234.5) + np.arange(4.0)[:, None]
    regret[0] += [[1.0], [-1.0], [1.0], [-0.5]]
    regret[2] += [[700.0], [701.0], [699.0], [700.0]]
    names = ("K(c=2.0, init='all')", "K(c=3.0, init='all')", "A_B(x=1)")
    return replace(make(policies=3, regret=regret), policies=names)


def test_a_summary_marks_the_best_and_what_cannot_be_told_from_it() -> None:
    result = a_result()
    summary = result.summary(confidence=0.8)
    assert summary.leaders == set(result.policies[:2])
    found = parsed(summary.to_markdown())
    assert found.rows[0] == ["policy", "regret", "± error", "80% interval", "runs"]
    assert found.right == [False, True, True, True, True]
    for row, cells in zip(summary, found.rows[1:], strict=True):
        assert [cells[0], *(float(cell.replace(",", "")) for cell in cells[1:3]), cells[4]] == [
            {"K(c=2.0, init='all')": "K(c=2)", "K(c=3.0, init='all')": "K(c=3)"}.get(row.policy, "A_B"),
            round(row.mean, 2),
            round(row.error, 2),
            "4",
        ]
        assert cells[3] == f"[{row.low:,.2f}, {row.high:,.2f}]"
    assert found.bold == ["1,236.12", "1,236.00"]
    rows = latex_rows(summary.to_latex())
    assert [len(row) for row in rows] == [5] * 4
    assert rows[1][:3] == ["K(c=2)", r"$\mathbf{1{,}236.12}$", "$0.69$"]
    assert rows[3][:2] == [r"A\_B", "$1{,}936.00$"]
    alone = replace(result, regret=result.regret[:, :1].copy()).summary()
    assert alone.leaders == frozenset()
    assert latex_rows(alone.to_latex())[1] == ["K(c=2)", "$1{,}235.50$", "--", "--", "$1$"]
    assert "interval" in latex_rows(Summary(summary).to_latex())[0]  # of rows put together by hand
    again = pickle.loads(pickle.dumps(summary))
    assert (again, again.leaders, again.confidence) == (summary, summary.leaders, 0.8)


def test_comparisons() -> None:
    result = a_result()
    compared = result.comparisons()
    found = parsed(compared.to_markdown())
    assert found.rows[0] == ["policy", "against", "difference", "± error", "98.33% interval", "verdict"]
    assert [row[:2] + row[5:] for row in found.rows[1:]] == [
        ["K(c=3)", "K(c=2)", "cannot be told apart"],
        ["K(c=3)", "A_B", "less regret"],
        ["K(c=2)", "A_B", "less regret"],
    ]
    assert [float(row[2]) for row in found.rows[1:]] == [round(one.difference, 2) for one in compared]
    rows = latex_rows(compared.to_latex(label="tab:pairs"))
    assert [len(row) for row in rows] == [6] * 4
    assert rows[2][2] == f"${compared[1].difference:.2f}$"
    one = latex_rows(result.compare("A_B", 0).to_latex())
    assert (len(one), one[1][0], one[1][5]) == (2, r"A\_B", "more regret")
    assert parsed(result.compare(0, 1).to_markdown()).rows[1][:2] == ["K(c=2)", "K(c=3)"]
    assert latex_rows(Comparisons().to_latex()) == [
        ["policy", "against", "difference", r"$\pm$ error", "interval", "verdict"]
    ]


def test_bounds_have_their_marks() -> None:
    found = theory.bounds(problems.grid_path(2, 0.4), [10, 100, 10_000, 100_000])
    rows = latex_rows(found.to_latex())
    assert rows[0][3:] == ["$n = 10$", "$n = 100$", "$n = 10{,}000$", "$n = 100{,}000$"]
    for bound, row in zip(found, rows[1:], strict=False):
        marks = ["*" if vacuous else r"\sim" if bound.asymptotic else "" for vacuous in bound.vacuous]
        assert row[0] == bound.title
        assert [cell.strip("$").partition("^")[2].strip("{}") for cell in row[3:]] == marks
        values = [float(cell.strip("$").partition("^")[0].replace("{,}", "")) for cell in row[3:]]
        np.testing.assert_allclose(values, bound.value, rtol=1e-3)
    said = [row[0] for row in rows if row[0].startswith(r"\multicolumn{7}{l}")]
    assert len(said) == 2
    assert "says nothing" in said[0]
    page = parsed(found.to_markdown())
    assert [len(row) for row in page.rows] == [7] * (len(found) + 2)
    assert page.right == [False] * 3 + [True] * 4


def test_horizons_that_are_left_out_are_counted() -> None:
    found = theory.bounds(problems.grid_path(1, 0.4), range(1, 11))
    for text in (found.to_latex(), found.to_markdown()):
        assert "the last 6 of 10 horizons" in text
    assert latex_rows(found.to_latex())[0][3:] == [f"$n = {n}$" for n in range(5, 11)]
    assert "horizons" not in theory.bounds(problems.grid_path(1, 0.4), range(1, 7)).to_markdown()


def test_greek_letters_are_formulas_in_latex() -> None:
    text = latex(Table(["ε-greedy, Δ ≤ 1", "λ\u200b ∞"], [["o ο", "Ω"]]))
    assert latex_rows(text) == [
        [r"$\varepsilon$-greedy, $\Delta$ $\le$ 1", r"$\lambda$ $\infty$"],
        ["o o", r"$\Omega$"],
    ]


def test_large_numbers_that_are_marked_have_one_exponent_each() -> None:
    """TeX refuses a second superscript, and so does Matplotlib's reader of formulas."""
    from matplotlib.mathtext import MathTextParser

    text = latex(Table(["n"], [[Figure("1.117e+11", mark="*")], [Figure("5", mark="~")]]))
    for (formula,) in latex_rows(text)[1:]:
        MathTextParser("path").parse(formula)
    assert latex_rows(text)[1] == [r"${1.117 \times 10^{11}}^{*}$"]
