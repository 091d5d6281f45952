"""Experiments with the user's own code, from the command line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from semibandits.cli import main

EXPERIMENT = """
horizon = 5
runs = 2

[problem.set]
kind = "Oracle"
function = "own.py:best"
n_items = 2
max_size = 1

[problem.environment]
kind = "Bernoulli"
means = [0.1, 0.9]

[[policies]]
class = "own.py:Odd"
"""
CODE = """
import semibandits as sb

print("hello")


def best(weights):
    print("solving")
    return [int(weights[1] > weights[0])]


class Odd(sb.policies.Random):
    def __repr__(self):
        return "red \\x1b[31m\\n\\u202e back"
"""


def run(tmp_path: Path, code: str, *options: str) -> Result:
    (tmp_path / "own.py").write_text(code)
    (tmp_path / "own.toml").write_text(EXPERIMENT)
    return CliRunner().invoke(main, ["run", str(tmp_path / "own.toml"), "--out", str(tmp_path / "out"), *options])


def test_what_it_prints_is_no_answer(tmp_path: Path) -> None:
    result = run(tmp_path, CODE, "--no-report", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["points"]
    assert "hello\nsolving\n" in result.stderr


def test_what_would_move_the_cursor_is_shown_and_not_done(tmp_path: Path) -> None:
    result = run(tmp_path, CODE, "--no-report")
    assert r"red \x1b[31m\n\u202e back" in result.stdout
    assert all(one.isprintable() for one in result.stdout.replace("\n", ""))


@pytest.mark.parametrize("code", ["import sys\nsys.exit(0)\n", CODE.replace('print("solving")', "raise SystemExit")])
def test_it_does_not_end_the_program(tmp_path: Path, code: str) -> None:
    result = run(tmp_path, code, "--no-report")
    assert result.exit_code == 2
    assert "exit" in result.stderr.lower()
    assert result.stdout == ""
