"""What the commands print, by click's own runner."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner, Result

import semibandits as sb
from semibandits.cli import main
from semibandits.experiments.files import registry
from semibandits.policies.catalogue import CATALOGUE


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def answer(*arguments: str) -> object:
    """The JSON document; literals such as NaN are none."""
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout, parse_constant=lambda literal: pytest.fail(literal))


def complete(*words: str) -> list[str]:
    """What a shell offers for the last word."""
    *before, last = words
    return [item.value for item in BashComplete(main, {}, "semibandits", "_").get_completions(before, last)]


def test_every_command_teaches() -> None:
    for name, command in main.commands.items():
        result = invoke(name, "-h")
        assert result.exit_code == 0
        assert f"semibandits {name}" in result.output
        assert command.get_short_help_str(limit=66) in invoke().output + invoke("--help").output
        assert not command.get_short_help_str(limit=66).endswith("...")


def test_version() -> None:
    assert invoke("version").output == invoke("--version").output == f"semibandits {sb.__version__}\n"
    assert answer("version") == {"version": sb.__version__}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reprodcue"], "Did you mean 'reproduce'?"),
        (["frobnicate"], "No such command 'frobnicate'."),
        (["reproduce", "--runs", "many"], "--runs"),
        (["reproduce", "--only", "fig2"], "fig1a"),
        (["compare"], "PROBLEM"),
        (["completion", "tcsh"], "bash"),
    ],
)
def test_bad_usage(arguments: list[str], said: str) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["policies", "combucb1"], "error: no policy is called 'combucb1': did you mean 'CombUCB1'?\n"),
        (["sets", "Topk"], "error: no set is called 'Topk': did you mean 'TopK'?\n"),
        (["problems", "grid"], "error: no problem is called 'grid': did you mean 'grid_path'?\n"),
        (["bounds", "grid_path:m=0,sigma=0.4"], "m must be"),
        (["bounds", "grid_path:m=2"], "error: problem grid_path needs 'sigma'\n"),
        (["bounds", "grid_path:m=2,sigma=0.4", "--horizon", "0"], "horizons"),
        (["bounds", "import os"], "error: expected a name"),
        (["reproduce", "--no-report", "--runs", "1"], "runs must be at least"),
        (["compare", "grid_path:m=2,sigma=0.4", "--runs", "0"], "runs must be"),
        (["compare", "grid_path:m=2,sigma=0.4", "--seed", "-1"], "a seed is an integer"),
        (["bounds", "changing_phases"], "means that stay as they are"),
        (["compare", "grid_path:m=2,sigma=0.4", "-p", "CombUCB1:alhpa=1"], "did you mean 'alpha'?"),
        (["compare", "grid_path:m=2,sigma=0.4", "-p", "OMM"], "matroid"),
    ],
)
def test_bad_input(arguments: list[str], said: str) -> None:
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ")
    assert said in result.stderr


def test_what_is_not_foreseen_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "describe_sets", lambda: 1 / 0)
    assert isinstance(invoke("sets").exception, ZeroDivisionError)


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "describe_sets", stop)
    result = invoke("sets", "--json")
    assert (result.exit_code, result.stdout) == (130, "")


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (
            "policies",
            [
                name
                for name in sb.policies.__all__
                if isinstance(getattr(sb.policies, name), type) and name != "Recommendation"
            ],
        ),
        ("sets", [name for name in sb.sets.__all__ if name != "from_spec"]),
        ("problems", ["grid_path", "k_path", "changing_phases", "coin_table"]),
    ],
)
def test_lists_name_all_there_is(command: str, names: list[str]) -> None:
    lines = invoke(command).output.splitlines()
    assert sorted(line.partition("(")[0] for line in lines) == sorted(names)
    listed = answer(command)
    assert isinstance(listed, list)
    assert sorted(one["name"] for one in listed) == sorted(names)
    for name in names:
        assert invoke(command, name).output.startswith(f"{name}(")


def test_the_details_of_a_policy() -> None:
    entry = next(entry for entry in CATALOGUE if entry.name == "KLUCB")
    text = invoke("policies", "KLUCB").output
    assert text.splitlines()[0] == "KLUCB(c=2.0, init='all')"
    assert all(fact in text for fact in (f"needs: {entry.needs}", f"guarantee: {entry.guarantee}", f"use: {entry.use}"))
    details = answer("policies", "KLUCB")
    assert isinstance(details, dict)
    assert (details["parameters"], details["guarantee"]) == ("c=2.0, init='all'", entry.guarantee)
    assert details["text"] in text


def test_bounds_are_those_of_the_library() -> None:
    problem = sb.problems.k_path(n_items=8, k=2, gap=0.5)
    found = sb.theory.bounds(problem, [1000, 5000])
    horizons = ["--horizon", "5000", "--horizon", "1000"]
    told = answer("bounds", "k_path(n_items=8, k=2, gap=0.5)", *horizons)
    assert isinstance(told, dict)
    assert [bound["value"] for bound in told["bounds"]] == [bound.value.tolist() for bound in found]
    assert told["rounds"] == [1000.0, 5000.0]
    assert told["guaranteed"] == sb.theory.explain(problem, 5000).guaranteed
    text = invoke("bounds", "k_path:n_items=8,k=2,gap=0.5", *horizons).output
    assert text.startswith(str(sb.theory.explain(problem, 5000)))
    assert all(bound.title in text for bound in found)


def test_completion_of_names() -> None:
    assert complete("po") == ["policies"]
    assert complete("compare", "g") == ["grid_path"]
    assert complete("compare", "grid_path:m=2,sigma=0.4", "-p", "Comb") == ["CombUCB1", "CombLinUCB", "CombLinTS"]
    assert complete("compare", "grid_path:") == ["grid_path:m=", "grid_path:sigma="]
    assert complete("compare", "grid_path:m=2,s") == ["grid_path:m=2,sigma="]
    assert complete("compare", "grid_path:m=2,sigma=0.4", "-p", "CombUCB1:alpha=1,") == ["CombUCB1:alpha=1,init="]
    assert complete("compare", "nothing:") == []
    assert complete("sets", "Gr") == ["GraphicMatroid", "GreedyKnapsack", "GridPaths"]
    assert complete("reproduce", "--only", "fig") == ["fig1a", "fig1b", "fig1c"]
    assert complete("completion", "") == ["bash", "zsh", "fish"]


def test_completion_of_experiment_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep").mkdir()
    for name in ("road.toml", "road.csv", "roof.toml", "deep/rock.toml"):
        Path(name).touch()
    assert complete("run", "ro") == complete("compare", "ro") == ["road.toml", "roof.toml"]
    assert complete("run", "deep/r") == ["deep/rock.toml"]
    assert complete("run", f"{tmp_path}/roo") == [f"{tmp_path}/roof.toml"]
    assert complete("run", "de") == ["de"]  # which the shell completes by itself


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_parameters() -> None:
    """Bash breaks words at colons and equals signs, and replaces what is after the last of them."""
    line = "semibandits compare grid_path:m=2,s"
    asked = "_semibandits_completion semibandits; printf '%s\\n' \"${COMPREPLY[@]}\""
    script = (
        f"compopt() {{ :; }}\n{invoke('completion', 'bash').output}COMP_LINE={line!r} COMP_POINT={len(line)}\n{asked}"
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("2,sigma=\n", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    script = invoke("completion", shell).output
    assert f"_SEMIBANDITS_COMPLETE={shell}_complete" in script
