"""The command line."""

import json

import pytest
from click.testing import CliRunner

from semibandits import __version__
from semibandits.cli import main
from semibandits.experiments import figure_1c


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a second instead of a minute; the numbers are then not the published ones."""
    monkeypatch.setattr(figure_1c, "HORIZON", 200)


@pytest.mark.usefixtures("short")
def test_reproduce_prints_a_table_and_fails_where_a_point_differs() -> None:
    result = CliRunner().invoke(main, ["reproduce", "--largest", "1", "--runs", "12"])
    assert result.exit_code == 1, result.output
    assert "published" in result.stdout
    assert "DIFFERS" in result.stdout


@pytest.mark.usefixtures("short")
def test_reproduce_as_json() -> None:
    result = CliRunner().invoke(main, ["reproduce", "--largest", "2", "--runs", "2", "--json"])
    answer = json.loads(result.stdout)
    assert [cell["m"] for cell in answer["cells"]] == [1, 2, 1, 2, 1, 2]
    assert {cell["published"] for cell in answer["cells"]} == {38.4, 164.8, 86.0, 316.4, 142.4, 587.2}


def test_version() -> None:
    assert CliRunner().invoke(main, ["version"]).output == f"semibandits {__version__}\n"
    assert json.loads(CliRunner().invoke(main, ["version", "--json"]).output) == {"version": __version__}


@pytest.mark.parametrize("arguments", [["reproduce", "--runs", "1"], ["reproduce", "--largest", "9"], ["nonsense"]])
def test_bad_usage(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
