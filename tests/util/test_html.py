"""HTML made of strings: what is shown is what was given."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semibandits._util.html import Html, Number, Strong, details, escape, facts, number, paragraph, several, table
from support import pages

hostile = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["</td></table><script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "&lt;&amp;&#39;", "<!--", "]]>"]
    ),
)


def visible(text: str) -> str:
    """As a browser would show it: what no document may hold is replaced, all white space is one space."""
    kept = "".join("\ufffd" if (ord(c) < 32 and c not in "\t\n\r") or 127 <= ord(c) < 160 else c for c in text)
    kept = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 or c in "\ufffe\uffff" else c for c in kept)
    return " ".join(kept.split())


@given(hostile)
def test_any_text_stands_for_itself(text: str) -> None:
    page = pages.read(f'<p title="{escape(text)}">{escape(text)}</p>')
    assert page.text == visible(text)
    assert page.tags == ["p"]
    assert " ".join(dict(page.attributes)["title"].split()) == visible(text)
    str(escape(text)).encode()


@given(st.lists(st.tuples(hostile, hostile), max_size=3), hostile)
def test_tables_and_lists_show_what_they_are_given(rows: list[tuple[str, str]], caption: str) -> None:
    for inline in (False, True):
        page = pages.read(table(["one", "two"], rows, caption, inline=inline))
        shown = [[" ".join(cell.split()) for cell in row] for row in page.tables[0]]
        assert shown == [["one", "two"], *([visible(a), visible(b)] for a, b in rows)]
        page = pages.read(facts(rows, inline=inline))
        assert page.text == " ".join(visible(text) for row in rows for text in row if visible(text))
    page = pages.read(details(caption, paragraph(caption, caption)))
    assert set(page.tags) == {"details", "summary", "p"}
    assert page.text == f"{visible(caption)} {visible(caption)}".strip()


def test_numbers_stand_right_and_rows_have_names() -> None:
    made = table(
        ["policy", "regret", "±", "said"], [["CTS", 1234.25, np.float64(2.0), "x"], ["A", np.int64(7), True, None]]
    )
    assert '<th scope="col" class="n">regret</th>' in made
    assert '<th scope="col">said</th>' in made
    assert '<th scope="row">CTS</th><td class="n">1,234</td><td class="n">2</td><td>x</td>' in made
    assert '<td class="n">7</td><td>yes</td><td></td>' in made
    assert '<td class="n"><strong>3 ± 1</strong></td>' in table(["a", "b"], [["x", Strong("3 ± 1")]])
    assert "<td><b>x</b></td>" in table(["a", "b"], [["x", Html("<b>x</b>")]])
    assert '<td class="w">' in table(["a", "b"], [["x", 41 * "y"]])
    with pytest.raises(ValueError, match="1 cells, the table 2"):
        table(["a", "b"], [["x"]])


@given(st.floats(-1e300, 1e300))
def test_a_number_for_people_is_right_to_four_digits(value: float) -> None:
    shown = float(number(value).replace(",", "").replace("−", "-"))
    assert math.isclose(shown, value, rel_tol=5.1e-4)


@given(st.integers(-(10**20), 10**20))
def test_whole_numbers_are_shown_whole(value: int) -> None:
    assert int(number(value).replace(",", "").replace("−", "-")) == value


def test_numbers_that_are_none() -> None:
    assert [number(x) for x in (math.nan, math.inf, -math.inf, -0.0, 0)] == ["–", "∞", "−∞", "0", "0"]
    assert number(-0.001, 2) == "0.00"
    assert isinstance(number(1.0), Number)


def test_long_lists_are_cut() -> None:
    assert several(list(range(1000)), 3) == "0, 1, 2, ... and 997 more"
    assert several([]) == ""
