"""Measuring this machine: what is measured is what it says, whatever the figures."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import semibandits as sb
from semibandits.cli import main
from semibandits.experiments import speed


@pytest.mark.parametrize(
    ("standard", "policy"),
    [(speed.grid(2, sigma=0.4), sb.policies.CombUCB1()), (speed.top_k(6, 2), sb.policies.CTS())],
    ids=["CombUCB1", "CTS"],
)
def test_the_loop_in_numpy_plays_the_same_game(standard: speed.Standard, policy: sb.IndexPolicy) -> None:
    horizon, runs = 150, 20
    name: speed.PolicyName = "CTS" if isinstance(policy, sb.policies.CTS) else "CombUCB1"
    theirs = np.array([speed.numpy_run(standard, name, horizon, seed) for seed in range(runs)])
    problem = standard.problem
    ours = sb.simulate(problem, policy, horizon=horizon, runs=runs, seed=0, threads=1, engine="plain").regret[0, :, -1]
    error = np.sqrt((theirs.var(ddof=1) + ours.var(ddof=1)) / runs)
    assert theirs.min() > 0.0
    assert abs(theirs.mean() - ours.mean()) < 4.0 * error


def test_the_four_pairs() -> None:
    named = [(standard.name, policy) for standard, policy in speed.pairs()]
    assert named == [
        ("grid_path(m=4, sigma=0.2)", "CombUCB1"),
        ("grid_path(m=8, sigma=0.2)", "CombUCB1"),
        ("grid_path(m=4, sigma=0.2)", "CTS"),
        ("top 10 of 100", "CombUCB1"),
    ]


@pytest.fixture
def one_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    measure = speed.measure
    monkeypatch.setattr(speed, "pairs", lambda: [(speed.grid(4), "CombUCB1")])
    monkeypatch.setattr(speed, "measure", lambda: measure(seconds=0.002))


@pytest.mark.usefixtures("one_pair")
def test_bench_prints_a_table_and_json() -> None:
    result = CliRunner().invoke(main, ["bench", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    (one,) = told["speeds"]
    assert one["ratio"] == one["one_core"] / one["numpy_loop"] > 0.0
    assert one["ask_tell"] > 0.0
    header, _, titles, row, _, *meanings = CliRunner().invoke(main, ["bench"]).output.splitlines()
    assert header.endswith("rounds per second")
    assert titles.split("  ")[0] == "problem"
    assert row.startswith("grid_path(m=4, sigma=0.2)  CombUCB1  ")
    assert "times: one core to that loop" in " ".join(meanings)
