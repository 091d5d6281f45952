"""Experiments from files and from flags."""

import csv
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import semibandits as sb
from semibandits.cli import main
from semibandits.experiments.files import document, registry
from semibandits.experiments.files.starters import STARTERS

FILE = """
horizon = 60
runs = 5
seed = 3

[problem]
name = "grid_path"
m = 2
sigma = 0.4

[[policies]]
name = "CombUCB1"

[[policies]]
name = "CTS"

[sweep]
problem.sigma = [0.2, 0.4]
"""

OWN_CODE = "runs own code: suppliers.py (cheapest, allowed, prices)\n"
SWEPT = "grid.toml: the first problem of its sweep is taken, problem.sigma = 0.2\n"
BANDIT = """
horizon = 60
runs = 5
regret = "realised"
feedback = "bandit"
unit = "ms"

[problem]
name = "grid_path"
m = 2
sigma = 0.4

[[policies]]
name = "LinUCB"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("grid.toml").write_text(FILE)
    return tmp_path


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def answer(*arguments: str) -> dict[str, object]:
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.output
    assert result.stderr in ("", SWEPT, OWN_CODE)
    document: dict[str, object] = json.loads(result.stdout, parse_constant=lambda literal: pytest.fail(literal))
    return document


def summary(told: dict[str, Any]) -> list[dict[str, Any]]:
    (point,) = told["points"]
    return point["summary"]  # type: ignore[no-any-return]


def simulated(sigma: float, *policies: sb.IndexPolicy, seed: int = 3) -> sb.SimulationResult:
    return sb.simulate(sb.problems.grid_path(2, sigma), policies, horizon=60, runs=5, seed=seed)


def test_run_prints_what_the_library_says() -> None:
    told = answer("run", "grid.toml", "--no-report")
    expected = [simulated(sigma, sb.policies.CombUCB1(), sb.policies.CTS()) for sigma in (0.2, 0.4)]
    assert isinstance(told["points"], list)
    for point, sigma, result in zip(told["points"], (0.2, 0.4), expected, strict=True):
        assert point["settings"] == {"problem.sigma": sigma}
        assert point["summary"] == [row._asdict() for row in result.summary()]
        (compared,) = point["comparisons"]
        same = result.compare(compared["a"], compared["b"])
        assert (compared["difference"], compared["error"]) == (same.difference, same.error)
    assert (told["folder"], told["report"], told["resumed"]) == ("grid-results", None, False)
    text = invoke("run", "grid.toml", "--no-report").output
    lines = text.splitlines()
    assert lines[0] == "Expected regret after 60 rounds, 5 runs"
    assert lines[2].split() == ["problem.sigma", "policy", "regret", "±", "error", "95%", "interval"]
    assert lines[3].split()[0] == "0.2"
    assert f"{expected[0].summary()[0].mean:.2f}" in lines[3]
    assert lines[-1] == "folder: grid-results (what it held already was not played again)"


def test_run_writes_a_report_where_it_is_told() -> None:
    Path("one.toml").write_text(FILE.partition("[sweep]")[0].replace("runs = 5", "runs = 2"))
    result = invoke("run", "one.toml", "--out", "deep/results")
    assert result.exit_code == 0, result.output
    assert result.output.endswith("folder: deep/results\nreport: deep/results/report.html\n")
    page = Path("deep/results/report.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    with Path("deep/results/data/summary.csv").open() as file:
        assert [row["policy"] for row in csv.DictReader(file)] == ["CombUCB1(alpha=1.5, init='paper')", "CTS()"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("m = 2", "n = 2"), "error: grid.toml, line 8: problem grid_path has no 'n'"),
        (("horizon", "horizn"), "line 2"),
        (('"CTS"', '"OMM"'), "matroid"),
        (("m = 2", "m = "), "line 8"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(change: tuple[str, str], said: str) -> None:
    Path("grid.toml").write_text(FILE.replace(*change))
    result = invoke("run", "grid.toml", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: grid.toml, line ")
    assert said in result.stderr
    assert not Path("grid-results").exists()


def test_a_missing_file() -> None:
    result = invoke("run", "gird.toml")
    assert (result.exit_code, result.stderr) == (2, "error: there is no file gird.toml: did you mean 'grid.toml'?\n")


def test_folders_that_cannot_be_used_are_named() -> None:
    assert invoke("run", "grid.toml", "--no-report", "--out", "results").exit_code == 0
    Path("other.toml").write_text(FILE.replace("horizon = 60", "horizon = 61"))
    result = invoke("run", "other.toml", "--no-report", "--out", "results")
    assert result.exit_code == 2
    assert "results holds another experiment" in result.stderr
    assert "horizon is 60 there and 61 here" in result.stderr
    result = invoke("run", "grid.toml", "--no-report", "--out", "grid.toml/results")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: grid.toml/results cannot be written: ")
    assert "Directory 'grid.toml' is a file" in invoke("run", "grid.toml", "--out", "grid.toml").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "grid.toml"],
        ["reproduce", "--quick"],
        ["compare", "grid_path:m=2,sigma=0.4", "--horizon", "20", "--runs", "2", "--out", "out"],
    ],
)
def test_without_matplotlib_nothing_is_begun(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = invoke(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'pip install ".[plot]"' in result.stderr
    assert "--no-report" in result.stderr
    assert [path.name for path in Path().iterdir()] == ["grid.toml"]


def test_compare_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    arguments = ["compare", "grid_path:m=2,sigma=0.4", "-p", "CTS", "--horizon", "20", "--runs", "2"]
    assert invoke(*arguments).exit_code == 0
    assert invoke(*arguments, "--out", "out", "--no-report").exit_code == 0
    assert Path("out/data/summary.csv").exists()


def test_compare_is_one_simulation() -> None:
    flags = ["--horizon", "60", "--runs", "5", "--seed", "3"]
    told = answer("compare", "grid_path:m=2,sigma=0.4", "-p", "CombUCB1:alpha=0.5", "-p", "KLUCB(c=1)", *flags)
    expected = simulated(0.4, sb.policies.CombUCB1(alpha=0.5), sb.policies.KLUCB(c=1))
    assert told["points"][0]["summary"] == [row._asdict() for row in expected.summary()]  # type: ignore[index]
    assert [path.name for path in Path().iterdir()] == ["grid.toml"]


def compared(problem: str) -> list[str]:
    """Who plays where nobody is named."""
    told = answer("compare", problem, "--horizon", "20", "--runs", "2")
    return [row["policy"] for row in told["points"][0]["summary"]]  # type: ignore[index]


def test_compare_takes_the_default_and_what_is_recommended() -> None:
    problem = sb.problems.grid_path(2, 0.4)
    usual = sb.policies.default(problem.feasible).policy
    advised = sb.policies.recommend(problem, 20).policy
    names = list(dict.fromkeys(map(repr, (sb.policies.CombUCB1(), usual, advised))))
    assert compared("grid_path:m=2,sigma=0.4") == names
    assert "PooledCTS(window=0, discount=1.0)" in names


def test_compare_plays_nobody_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    advice = sb.policies.default(sb.sets.TopK(3, 1))
    monkeypatch.setattr(sb.policies, "recommend", lambda *args: advice)
    assert compared("grid_path:m=2,sigma=0.4") == [repr(sb.policies.CombUCB1()), repr(advice.policy)]


@pytest.mark.parametrize(
    "problem",
    [
        sb.problems.grid_path(2, 0.4),
        sb.problems.grid_path(6, 0.4),
        sb.problems.k_path(8, 2, 0.5),
        sb.problems.changing_phases(),
        sb.problems.coin_table(sb.sets.TopK(4, 2), horizon=100),
        sb.Problem(sb.sets.TopK(4, 2), sb.environments.Beta([1, 2, 3, 4], [2, 2, 2, 2])),
        sb.Problem(sb.sets.TopK(4, 2), sb.environments.Drifting([[0.1, 0.2, 0.3, 0.4]] * 2, starts=[1, 50])),
    ],
)
def test_what_is_recommended_can_be_written_down(problem: sb.Problem) -> None:
    for advice in (sb.policies.recommend(problem, 100), sb.policies.default(problem.feasible)):
        policy = advice.policy
        assert repr(registry.make_policy(*registry.parse_call(repr(policy)), problem)) == repr(policy)


def test_compare_leaves_a_file_that_runs_alike() -> None:
    arguments = ["grid.toml", "-p", "CombUCB1(alpha=0.5)", "-p", "CTS", "--horizon", "60", "--runs", "5", "--seed", "3"]
    first = answer("compare", *arguments, "--out", "first", "--no-report")
    again = answer("compare", *arguments, "--out", "first", "--no-report")
    second = answer("run", "first/experiment.toml", "--out", "second", "--no-report")
    expected = simulated(0.2, sb.policies.CombUCB1(alpha=0.5), sb.policies.CTS())  # the first problem of the sweep
    for told in (first, again, second):
        assert told["points"][0]["summary"] == [row._asdict() for row in expected.summary()]  # type: ignore[index]
    other = invoke("compare", "grid_path:m=2,sigma=0.4", *arguments[1:], "--out", "first", "--no-report")
    assert other.exit_code == 2
    assert "problem.sigma is 0.2 there and 0.4 here" in other.stderr


def test_compare_takes_over_what_a_file_says() -> None:
    Path("bandit.toml").write_text(BANDIT)
    flags = ["--horizon", "60", "--runs", "5", "--seed", "3"]
    problem = sb.problems.grid_path(2, 0.4)
    policy = sb.policies.recommend(problem, 60, "bandit").policy
    expected = sb.simulate(problem, policy, horizon=60, runs=5, seed=3, regret="realised", feedback="bandit").summary()
    first = answer("compare", "bandit.toml", *flags)
    kept = answer("compare", "bandit.toml", *flags, "--out", "kept", "--no-report")
    for told in (first, kept):
        assert told["points"][0]["summary"] == [row._asdict() for row in expected]  # type: ignore[index]
    written = tomllib.loads(Path("kept/experiment.toml").read_text())
    assert (written["feedback"], written["regret"], written["unit"]) == ("bandit", "realised", "ms")
    refused = invoke("compare", "bandit.toml", "-p", "CTS", *flags, "--out", "refused")
    assert "CTS() must see the weight of every chosen item" in refused.stderr
    assert not Path("refused").exists()
    assert "bounds for semi-bandit feedback" in invoke("bounds", "bandit.toml").stderr


def test_the_first_problem_of_a_sweep_is_named() -> None:
    assert invoke("bounds", "grid.toml").stderr == SWEPT
    flags = ["-p", "CTS", "--horizon", "60", "--runs", "2", "--out", "kept", "--no-report"]
    assert invoke("compare", "grid.toml", *flags).stderr == SWEPT
    assert tomllib.loads(Path("kept/experiment.toml").read_text())["title"] == "grid.toml, problem.sigma = 0.2"


@pytest.mark.parametrize("command", [["run", "--no-report"], ["compare"]])
def test_items_that_a_solver_never_chooses(command: list[str]) -> None:
    Path("solver.py").write_text("def best(weights):\n    return [int(weights[1] > weights[0])]\n")
    world = '[problem.environment]\nkind = "Bernoulli"\nmeans = [0.5, 0.6, 0.7]\n'
    oracle = '[problem.set]\nkind = "Oracle"\nfunction = "solver.py:best"\nn_items = 3\nmax_size = 1\n'
    Path("own.toml").write_text(f'horizon = 9\nruns = 2\n{oracle}{world}[[policies]]\nname = "CombUCB1"\n')
    result = invoke(*command, "own.toml")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "runs own code: solver.py (best)\nerror: own.toml: the oracle found no solution with"
    )
    assert result.stderr.endswith("write uncovered = 'ignore' at the top of the file\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--horizon", "0"], "error: horizon must be a whole number of at least 1, got 0\n"),
        (["--runs", "0"], "error: runs must be a whole number of at least 1, got 0\n"),
        (["--runs", str(10**12)], "error: runs must be at most 1,000,000,000, got 1,000,000,000,000\n"),
        (["--runs", str(10**26)], "error: runs must be below 2**64\n"),
        (["--runs", str(10**9)], "GiB of memory"),
        (["--horizon", str(2**63 - 1)], "error: horizon must be at most 1,000,000,000,000, got 9,223"),
        (["--horizon", str(10**26)], "error: horizon must be below 2**64\n"),
        (["--seed", "-1"], "error: a seed is an integer from 0"),
        (["-p", "OMM"], "error: OMM(init='paper') does not fit: "),
        (["-p", "CombUCB1:alpha=None"], "error: alpha of policy CombUCB1 must have a value, got None\n"),
        (["-p", "CombUCB1:name=3"], "error: policy CombUCB1 has no 'name'\n"),
        (["-p", "CombUCB1:alpha=1,alpha=2"], "error: alpha is given 2 times\n"),
    ],
)
def test_compare_claims_no_folder_before_all_is_checked(arguments: list[str], said: str) -> None:
    flags = ["-p", "CTS", "--horizon", "10", "--runs", "2", "--out", "kept", "--no-report"]
    result = invoke("compare", "grid_path:m=1,sigma=0.2", *flags, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert [path.name for path in Path().iterdir()] == ["grid.toml"]


def test_what_compare_leaves_goes_on() -> None:
    flags = ["-p", "CTS", "--horizon", "60", "--runs", "5", "--seed", "3", "--out", "kept", "--no-report"]
    first = answer("compare", "grid_path:m=2,sigma=0.4", *flags)
    again = answer("run", "kept/experiment.toml", "--out", "kept", "--no-report")
    assert (first["resumed"], again["resumed"]) == (False, True)
    assert summary(first) == summary(again)


@pytest.mark.parametrize("starter", ["budget", "own_solver"])
def test_what_compare_leaves_finds_the_files_of_the_other(starter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke("new", starter, "--folder", "there").exit_code == 0
    flags = ["-p", "CombUCB1", "--horizon", "40", "--runs", "2", "--out", "kept", "--no-report"]
    compared = invoke("compare", f"there/{starter}.toml", *flags, "--json")
    assert compared.exit_code == 0, compared.stderr
    Path("away").mkdir()
    monkeypatch.chdir("away")
    without = invoke("run", "../kept/experiment.toml", "--out", "../kept", "--no-report")
    assert without.exit_code == 2
    assert "cannot be read: No such file in the folder ../kept" in without.stderr
    again = answer("run", "../kept/experiment.toml", "--out", "../kept", "--no-report", "--files", "../there")
    assert again["resumed"]
    assert summary(again) == summary(json.loads(compared.stdout))


def test_compare_on_sets_from_the_command_line() -> None:
    pairs = "coin_table(feasible=PartitionMatroid(groups=[0, 0, 1], capacities={}), horizon=20)"
    flags = ["-p", "HYBRID(gamma=None)", "--horizon", "20", "--runs", "2"]
    feasible = sb.sets.PartitionMatroid([0, 0, 1], {0: 1, 1: 1})
    problem = sb.problems.coin_table(feasible, horizon=20)
    expected = sb.simulate(problem, sb.policies.HYBRID(), horizon=20, runs=2, seed=0)
    told = answer("compare", pairs.format("[[0, 1], [1, 1]]"), *flags)
    assert told["points"][0]["summary"] == [row._asdict() for row in expected.summary()]  # type: ignore[index]
    refused = invoke("compare", pairs.format("{0: 1, 1: 1}"), *flags)
    assert refused.stderr == "error: keys must be words, got 0; a list of pairs, [[0, 1], ...], may do\n"


def test_bounds_of_a_file() -> None:
    told = answer("bounds", "grid.toml", "--horizon", "1000")
    assert told["guaranteed"] == sb.theory.explain(sb.problems.grid_path(2, 0.2), 1000).guaranteed


def test_new_lists_and_writes_and_never_overwrites() -> None:
    assert [line.split()[2] for line in invoke("new").output.splitlines()] == list(STARTERS)
    result = invoke("new", "grid_path")
    assert result.output.endswith("    semibandits run grid_path.toml\n")
    assert document.read("grid_path.toml").plans
    Path("grid_path.toml").write_text("mine")
    result = invoke("new", "grid-path")
    assert result.exit_code == 2
    assert "grid_path.toml would be overwritten" in result.stderr
    assert Path("grid_path.toml").read_text() == "mine"
    assert answer("new", "budget", "--folder", "town") == {"files": ["town/budget.toml", "town/projects.csv"]}
    assert "did you mean 'slate'?" in invoke("new", "slat").stderr
    assert invoke("new", "tutorial").output.endswith("    jupyter lab tutorial.ipynb\n")
