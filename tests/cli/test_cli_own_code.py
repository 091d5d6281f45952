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


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


COMMANDS = (["run", "--no-report", "--out", "out"], ["bounds", "--horizon", "9"], ["compare", "--horizon", "9"])
SAID = "runs own code: own.py (best, Odd)\n"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(f"open('canary', 'w').close()\n{CODE}")
    (tmp_path / "own.toml").write_text(EXPERIMENT)
    return tmp_path / "own.toml"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_says_once_what_it_runs_and_answers_in_json(own: Path, command: list[str]) -> None:
    result = invoke(*command, own, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)
    assert result.stderr.startswith(f"{SAID}hello\n")
    assert result.stderr.count(SAID) == 1


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_command_runs_code_of_strangers(own: Path, command: list[str]) -> None:
    refused = "error: own.toml, line 7: 'own.py:best' would run the file own.py, and no own code is to be run"
    module = "error: own.toml, line 7: 'own:best' would import the module own, which may do anything: "
    result = invoke(*command, "own.toml", "--no-own-code")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(refused)
    own.write_text(EXPERIMENT.replace("own.py:best", "own:best"))
    result = invoke(*command, "own.toml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(module)
    assert "allow it with --allow-modules" in result.stderr
    both = invoke(*command, "own.toml", "--no-own-code", "--allow-modules")
    assert (both.exit_code, both.stdout) == (2, "")
    assert "--allow-modules and --no-own-code contradict each other" in both.stderr
    assert sorted(path.name for path in own.parent.iterdir()) == ["own.py", "own.toml"]


def test_modules_are_said_too(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own.write_text(EXPERIMENT.replace("own.py:Odd", "semibandits.policies:Random"))
    result = invoke("run", own, "--allow-modules", "--no-report")
    assert result.exit_code == 0, result.output
    assert "runs own code: own.py (best), module semibandits.policies (Random)\n" in result.stderr


def test_a_sweep_says_it_once(own: Path) -> None:
    own.write_text(f"{EXPERIMENT}\n[sweep]\nseed = [1, 2, 3]\n")
    result = invoke("run", own, "--no-report")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("runs own code") == 1


def test_names_that_would_move_the_cursor_are_shown(own: Path) -> None:
    odd = "\x1b[31m\u202e.py"
    (own.parent / odd).write_text(CODE)
    own.write_text(EXPERIMENT.replace("own.py:Odd", "\\u001b[31m\\u202e.py:Odd"))
    result = invoke("run", own, "--no-report")
    assert r"runs own code: own.py (best), \x1b[31m\u202e.py (Odd)" in result.stderr
    world = "def world(**more):\n    return sb.environments.Bernoulli([0.1, 0.9])\n"
    (own.parent / "own.py").write_text(CODE + world)
    text = EXPERIMENT.replace('kind = "Bernoulli"\nmeans = [0.1, 0.9]', 'class = "own.py:world"')
    own.write_text(f'{text}\n[sweep]\n"problem.environment.\\u001b[31m" = ["\\u001b[32m"]\n')
    compare = ["compare", own, "-p", "Random", "--horizon", "9"]
    for command in (["run", own, "--no-report", "--out", "other"], compare, ["bounds", own]):
        result = invoke(*command)
        assert result.exit_code == 0, result.output
        assert all(one.isprintable() for one in result.output.replace("\n", ""))
        assert r"\x1b[31m" in result.output


def test_a_cluster_is_said(own: Path) -> None:
    pytest.importorskip("distributed", reason="needs the extra [cluster]")
    world = EXPERIMENT.replace('kind = "Oracle"\nfunction = "own.py:best"', 'kind = "TopK"').replace("max_size", "k")
    world = world.replace('class = "own.py:Odd"', 'name = "CTS"')
    own.write_text(f'{world}\n[executor]\nkind = "dask"\naddress = "no address"\n')
    result = invoke("run", own, "--no-report")
    assert result.exit_code == 2
    assert result.stderr.startswith("plays on the cluster of no address\nerror: no Dask scheduler answers")


def test_completion_offers_no_commands(own: Path) -> None:
    for name in ("x.toml;touch canary;.toml", "x$(touch canary).toml", "x\nplain,y.toml"):
        own.with_name(name).touch()
        environment = {"_SEMIBANDITS_COMPLETE": "bash_complete", "COMP_TYPED": "semibandits run x"}
        told = CliRunner().invoke(main, env=environment, prog_name="semibandits").output
        assert told == "file,x\n"
        own.with_name(name).unlink()


# Policies of one's own, straight from flags

CAREFUL = """
import dataclasses

import semibandits as sb


@dataclasses.dataclass(frozen=True)
class Careful(sb.policies.CombUCB1):
    alpha: float = 0.25


open("canary", "w").close()
"""


@pytest.fixture
def careful(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "careful.py").write_text(CAREFUL)
    return tmp_path


NAMED = ["compare", "k_path:n_items=4,k=2,gap=0.5", "--horizon", "9", "--runs", "2"]


@pytest.mark.parametrize(
    ("given", "alpha"),
    [
        ("careful.py:Careful", 0.25),
        ("./careful.py:Careful:alpha=0.5", 0.5),
        ("careful.py:Careful(alpha=2)", 2.0),
    ],
)
def test_compare_takes_a_class_of_ones_own(careful: Path, given: str, alpha: float) -> None:
    result = invoke(*NAMED, "-p", given, "-p", "CombUCB1", "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("runs own code: careful.py (Careful)\n")
    assert result.stderr.count("runs own code") == 1
    (point,) = json.loads(result.stdout)["points"]
    assert [one["policy"] for one in point["summary"]] == [
        f"Careful(alpha={alpha}, init='paper')",
        "CombUCB1(alpha=1.5, init='paper')",
    ]


def test_compare_plays_it_as_a_file_does(careful: Path) -> None:
    text = 'horizon = 9\nruns = 2\n[problem]\nname = "k_path"\nn_items = 4\nk = 2\ngap = 0.5\n'
    (careful / "it.toml").write_text(f'{text}[[policies]]\nclass = "careful.py:Careful"\nalpha = 0.5\n')
    by_file = invoke("run", "it.toml", "--no-report", "--out", "out", "--json")
    by_flag = invoke(*NAMED, "-p", "careful.py:Careful:alpha=0.5", "--json")
    of_its_problem = invoke("compare", "it.toml", *NAMED[2:], "-p", "careful.py:Careful:alpha=0.5", "--json")
    assert of_its_problem.stderr.count("runs own code") == 1
    results = [json.loads(one.stdout)["points"][0]["summary"] for one in (by_file, by_flag, of_its_problem)]
    assert results[0] == results[1] == results[2]


def test_compare_writes_an_experiment_that_names_it(careful: Path) -> None:
    done = invoke(*NAMED, "-p", "careful.py:Careful", "--no-report", "--out", "out")
    assert done.exit_code == 0, done.output
    assert 'class = "careful.py:Careful"' in (careful / "out" / "experiment.toml").read_text()
    again = invoke("run", "out/experiment.toml", "--files", ".", "--no-report", "--out", "again", "--json")
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (
            "careful.py:Careful",
            ["--no-own-code"],
            "'careful.py:Careful' would run the file careful.py, and no own code",
        ),
        ("os.path:join", [], "'os.path:join' would import the module os.path, which may do anything"),
        ("careful.py:Carefull", [], "careful.py defines no 'Carefull': did you mean 'Careful'?"),
        ("../careful.py:Careful", [], "leads out of the folder"),
        ("other.py:Careful", [], "other.py cannot be read: No such file"),
        ("careful.py:dataclasses", [], "dataclasses in careful.py must be a function or a class"),
        ("careful.py:Careful:beta=3", [], "beta"),
        ("careful.py:Careful:alpha=None", [], "a value was expected, got None"),
        ("careful.py:", [], "expected"),
        ("careful.py:Careful:alpha=0.5:c=3", [], "expected"),
    ],
)
def test_compare_refuses_what_run_refuses(careful: Path, given: str, options: list[str], said: str) -> None:
    result = invoke(*NAMED, "-p", given, *options)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_compare_runs_no_code_of_strangers(careful: Path) -> None:
    """Nor any before all that is named is known to be allowed."""
    assert invoke(*NAMED, "-p", "careful.py:Careful", "--no-own-code").exit_code == 2
    assert invoke(*NAMED, "-p", "careful.py:Careful", "-p", "os.path:join").exit_code == 2
    assert not (careful / "canary").exists()
