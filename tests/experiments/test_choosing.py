"""The comparison of all policies, on few rounds: what it shows at full length is in the docs."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from studies import choosing

from semibandits import IndexPolicy, errors, policies, problems, simulate
from semibandits.policies.catalogue import CATALOGUE

mpl.use("Agg")


def test_every_policy_for_a_world_that_stays_takes_part() -> None:
    others = {"SlidingWindow", "Discounted", "Fixed", "Clairvoyant", "PooledCTS"}  # the last is in the suite
    problem = choosing.standard_problems()["top 4 of 20"]
    taking_part = {type(policy).__name__ for policy in choosing.contenders(problem)}
    assert taking_part == {entry.name for entry in CATALOGUE if issubclass(entry.policy, IndexPolicy)} - others
    assert "OMM" not in {type(policy).__name__ for policy in choosing.contenders(problems.grid_path(2, 0.2))}


def test_four_problems_and_their_picture(tmp_path: Path) -> None:
    results = choosing.run(horizon=60, runs=3, seed=0)
    assert len(results) == 4
    figure = choosing.draw(results)
    assert [ax.get_title(loc="left") for ax in figure.axes] == list(results)
    for ax, result in zip(figure.axes, results.values(), strict=True):
        assert [line.get_label() for line in ax.get_lines()] == [choosing.short(name) for name in result.policies]
        assert len(ax.collections) == len(result.policies) - 1  # the reference has no band
    figure.savefig(tmp_path / "picture.svg")


def test_bands_are_of_paired_differences() -> None:
    players: list[IndexPolicy] = [policies.CTS(), policies.Random()]
    result = simulate(problems.grid_path(2, 0.3), players, horizon=60, runs=5, seed=0, checkpoints=[30])
    figure = choosing.draw({"one": result})
    (band,) = figure.axes[0].collections
    vertices = band.get_paths()[0].vertices
    at_end = np.asarray(vertices)[np.asarray(vertices)[:, 0] == 60, 1]
    compared = result.compare(1, 0)
    assert np.ptp(at_end) == pytest.approx(compared.high - compared.low)
    assert at_end.min() + at_end.max() == pytest.approx(2.0 * result.regret[1, :, -1].mean())


def test_a_change_half_way() -> None:
    result = choosing.run_changing(horizon=200, runs=2)
    assert result.kind == "dynamic"
    assert choosing.changing_world(change=100).at(99).optimum.tolist() == [0, 1, 2, 3]
    assert choosing.changing_world(change=100).at(100).optimum.tolist() == [4, 5, 6, 7]
    choosing.draw({"a change": result})


@pytest.mark.long
def test_those_that_forget_recover_and_those_that_remember_do_not() -> None:
    result = choosing.run_changing(runs=32)
    half, three_quarters = np.searchsorted(result.rounds, [20_000, 30_000])
    late = (result.regret[:, :, -1] - result.regret[:, :, three_quarters]) / 10_000  # per round
    assert (late[:2].mean(axis=1) > 0.4).all()  # the old solution loses 0.8 a round
    assert (late[2:].mean(axis=1) < 0.25).all()
    assert (result.regret[:2, :, half].mean(axis=1) < result.regret[2:, :, half].mean(axis=1).min()).all()


@pytest.mark.long
def test_thompson_sampling_is_far_below_on_the_grid() -> None:
    problem = problems.grid_path(m=4, sigma=0.2)
    result = simulate(problem, [policies.CTS(), policies.CombUCB1()], horizon=100_000, runs=32, seed=0)
    ratio = result.regret[1, :, -1].mean() / result.regret[0, :, -1].mean()
    assert ratio > 8.0
    assert result.compare(0, 1).high < 0.0


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(errors.BadArgument, match="must map titles"):
        choosing.draw({})
    result = simulate(problems.grid_path(2, 0.3), policies.Random(), horizon=30, runs=2, seed=0)
    with pytest.raises(errors.BadArgument, match="none of the policies"):
        choosing.draw({"one": result})
