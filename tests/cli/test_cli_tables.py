"""Tables that fit their terminal."""

import click
import pytest

from semibandits.cli import tables
from semibandits.cli.base import plain

TITLES = ["policy", "regret", ""]
ROWS = [["CombUCB1", "1,733.03", "holds"], ["CTS", "59.34", "DOES NOT HOLD"]]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "on_terminal", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_columns_are_aligned() -> None:
    assert tables.table(TITLES, ROWS, right=["regret"]).splitlines() == [
        "policy      regret",
        "CombUCB1  1,733.03  holds",
        "CTS          59.34  DOES NOT HOLD",
    ]


@pytest.mark.usefixtures("terminal")
def test_a_table_that_fits_exactly_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    width = max(map(len, tables.table(TITLES, ROWS).splitlines()))
    monkeypatch.setenv("COLUMNS", str(width))
    assert tables.table(TITLES, ROWS).startswith("policy")
    monkeypatch.setenv("COLUMNS", str(width - 1))
    assert tables.table(TITLES, ROWS).splitlines() == [
        "policy: CombUCB1",
        "regret: 1,733.03",
        "holds",
        "",
        "policy: CTS",
        "regret: 59.34",
        "DOES NOT HOLD",
    ]


@pytest.mark.usefixtures("terminal")
def test_long_values_are_wrapped_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    claim = "regret is linear in the number of items"
    text = tables.table(["claim", "measured"], [[claim, "x" * 30]])
    assert text.split() == ["claim:", *claim.split(), "measured:", "x" * 30]
    assert all(len(line) <= 20 or "x" * 30 in line for line in text.splitlines())


@pytest.mark.usefixtures("terminal")
def test_colours_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    painted = [[*row[:2], tables.coloured(row[2], "green")] for row in ROWS]
    assert painted != ROWS
    assert click.unstyle(tables.table(TITLES, painted)) == tables.table(TITLES, ROWS)
    monkeypatch.setenv("NO_COLOR", "1")
    assert tables.coloured("holds", "green") == "holds"


@pytest.mark.usefixtures("terminal")
def test_prose_is_broken_anew_and_formulas_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "One two three four five\nsix seven.\n\n    U = w + sqrt(log t / T)\n\n>>> a_long_example(1)\n2"
    monkeypatch.setenv("COLUMNS", "80")
    assert tables.prose(text) == text
    monkeypatch.setenv("COLUMNS", "15")
    assert tables.prose(text).split("\n\n") == ["One two three\nfour five six\nseven.", *text.split("\n\n")[1:]]


def test_no_colours_without_a_terminal() -> None:
    assert tables.coloured("holds", "green") == "holds"


def test_json_has_no_word_for_infinity() -> None:
    assert plain({"a": float("nan"), 2: (float("inf"), 1.5, None, True, "x")}) == {
        "a": None,
        "2": [None, 1.5, None, True, "x"],
    }
