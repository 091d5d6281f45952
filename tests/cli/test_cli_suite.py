"""The suite from the command line."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from semibandits.cli import main
from semibandits.experiments import suite

SMALL = ("--quick", "--problems", "ties-slate", "--runs", "2")


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["suite", *arguments])


def test_the_problems_are_listed() -> None:
    result = invoke("--list")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.splitlines()) == 1 + len(suite.CASES)
    told = json.loads(invoke("--list", "--problems", "street", "--json").stdout)
    assert [one["name"] for one in told] == ["street-1", "street-2", "street-3", "street-4"]
    assert told[0]["horizons"] == [300, 5_000, 100_000]


def test_ratios_and_scores_are_printed() -> None:
    result = invoke(*SMALL, "--policies", "greedy", "--policies", "ESCB", "--policies", "CombUCB1:alpha=0.2")
    assert result.exit_code == 0, result.output
    printed = result.stdout.splitlines()
    assert printed[0] == "Regret, divided by that of the best policy"
    assert printed[2].split("  ")[0] == "problem"
    assert printed[2].endswith("greedy  CombUCB1(alpha=0.2)")
    assert printed[3].startswith("ties-slate     300  ")
    assert {line.split()[0] for line in printed[6:8]} == {"greedy", "CombUCB1(alpha=0.2)"}
    assert printed[-1] == "Blank: not every problem is for ESCB; why, for each, is in --json."


def test_json_and_the_folder(tmp_path: Path) -> None:
    asked = (*SMALL, "--policies", "greedy", "--policies", "ESCB", "--seed", "3", "--out", str(tmp_path / "there"))
    result = invoke(*asked, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    (row,) = told["rows"]
    assert (row["problem"], row["horizon"], row["policy"], row["runs"]) == ("ties-slate", 300, "greedy", 2)
    assert (told["seed"], told["folder"]) == (3, str(tmp_path / "there"))
    assert [(one["policy"], one["horizon"]) for one in told["absent"]] == [("ESCB", 300)]
    assert told["scores"][0]["worst"] == 1.0
    assert suite.Table.read(tmp_path / "there/data/ratios.csv").rows[0].regret == pytest.approx(row["regret"])
    result = invoke(*asked)
    assert result.stdout.splitlines()[-1] == f"folder: {tmp_path / 'there'}"


def test_flags_are_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, Any]] = []

    def play(*arguments: Any, **options: Any) -> suite.Table:
        asked.append((arguments, options))
        return suite.Table([])

    monkeypatch.setattr(suite, "play", play)
    monkeypatch.setattr(suite, "absent", lambda *arguments: [])
    invoke()
    invoke("--quick")
    invoke(
        "--runs",
        "5",
        "--seed",
        "9",
        "--instance",
        "3",
        "--problems",
        "ties",
        "--problems",
        "street",
        "--policies",
        suite.TOLD,
    )
    assert asked == [
        ((None, None, None), {"instance": 1, "runs": None, "seed": 0, "out": None}),
        ((None, None, (300,)), {"instance": 1, "runs": 8, "seed": 0, "out": None}),
        ((("ties", "street"), [suite.TOLD], None), {"instance": 3, "runs": 5, "seed": 9, "out": None}),
    ]


def test_what_is_wrong_is_said() -> None:
    for arguments, said in (
        (("--problems", "nothing"), "error: 'nothing' is no problem of the suite: they are clicks-rare-slate, "),
        (("--policies", "CTZ"), "error: no policy is called 'CTZ'"),
        (("--runs", "0", "--problems", "ties"), "error: runs must be"),
        (("--instance", "0", "--problems", "ties"), "error: instance must be an integer >= 1, got 0"),
    ):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith(said)


def test_on_a_terminal_the_table_comes_in_parts_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    command = import_module("semibandits.cli.suite")
    titles = ["problem", "rounds", "best", "its regret", *(f"policy{i}" for i in range(6))]
    rows = [["tree", "300", "policy1", "1.5", *("1.00" for _ in range(6))]]
    assert command._parts(titles, rows) == [(titles, rows)]
    monkeypatch.setattr(command, "terminal_width", lambda: 48)
    parts = command._parts(titles, rows)
    assert len(parts) > 1
    for some, lines in parts:
        assert (some[:2], lines[0][:2]) == (["problem", "rounds"], ["tree", "300"])
        assert sum(map(len, some)) + 2 * (len(some) - 1) <= 48
    assert [title for some, _ in parts for title in some[2:]] == titles[2:]
