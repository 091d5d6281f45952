"""The paper from the command line: what is printed of its claims, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from semibandits.cli import main
from semibandits.experiments import paper


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["reproduce", *arguments])


class Found:
    """Two claims, of which the second may not hold."""

    def __init__(self, second: bool) -> None:
        first = paper.Claim("fig1c", "21 points agree", "21", "21", True, "Figure 1c")
        self.claims = (first, paper.Claim("trends", "regret is linear in L", "L^1.9", "L^1", second, "ours"))
        self.holds = second

    def as_dict(self) -> dict[str, Any]:
        return {"claims": [claim._asdict() for claim in self.claims], "slope": float("nan")}


@pytest.mark.parametrize(("second", "code", "verdict"), [(True, 0, "holds"), (False, 1, "DOES NOT HOLD")])
def test_claims_are_listed_and_the_exit_status_tells(
    monkeypatch: pytest.MonkeyPatch, second: bool, code: int, verdict: str
) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(paper, "reproduce", lambda **options: [asked.append(options), Found(second)][1])
    result = invoke("--only", "trends", "--only", "fig1c", "--out", "there", "--runs", "9", "--seed", "7", "--quick")
    assert result.exit_code == code, result.output
    assert result.stdout.splitlines() == [
        "part    claim                  from       measured  expected",
        "fig1c   21 points agree        Figure 1c  21        21        holds",
        f"trends  regret is linear in L  ours       L^1.9     L^1       {verdict}",
        "",
        f"{1 + second} of 2 claims hold: 1 of 1 of the paper's, {int(second)} of 1 of ours.",
        f"The report: {Path('there') / 'report.html'}",
    ]
    assert asked == [{"out": Path("there"), "only": ("trends", "fig1c"), "runs": 9, "seed": 7, "quick": True}]
    result = invoke("--json", "--no-report")
    assert result.exit_code == code
    told = json.loads(result.stdout)
    assert told["claims"][1]["holds"] is second
    assert (told["slope"], told["report"]) == (None, None)
    assert asked[1] == {"out": None, "only": None, "runs": None, "seed": 0, "quick": False}


def test_a_part_for_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = invoke("--only", "fig1b", "--only", "fig1a")
    assert result.exit_code == 0, result.output
    count = sum(line.endswith("  holds") for line in result.stdout.splitlines())
    assert f"\n{count} of {count} claims hold: {count} of {count} of the paper's.\n" in result.stdout
    assert Path("reproduction/report.html").exists()
    Path("mine").mkdir()
    Path("mine/file").touch()
    result = invoke("--only", "fig1a", "--out", "mine")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: mine holds something else")
