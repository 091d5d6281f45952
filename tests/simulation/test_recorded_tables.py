"""Tables in recorded order are sequences: regret in hindsight, over the rounds played, as for `Adversarial`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, Problem, environments, errors, policies, sets, theory
from semibandits.experiments.paper import lemma_1
from semibandits.simulation import simulate
from semibandits.simulation.store import Store
from semibandits.testing import check_environment

TURNING = [[1.0, 0.0]] * 50 + [[0.0, 1.0]] * 50
ROWS = np.random.default_rng(3).random((60, 5)) * [1.0, 0.8, 1.0, 0.9, 0.7]
SOLUTIONS = [[0, 1], [2, 3, 4], [], [0, 4], [1, 2, 3]]
PAIRS = [environments.Table(ROWS, order="recorded"), environments.Adversarial(ROWS)]


def plain(problem: Problem, players: Any, **asked: Any) -> Any:
    asked = {"horizon": 50, "runs": 2, "seed": 1, "engine": "plain", "threads": 1} | asked
    return simulate(problem, players, **asked)


@pytest.mark.parametrize("kind", ["expected", "static", "dynamic"])
def test_who_loses_every_round_of_a_recorded_table_has_lost_them_all(kind: Any) -> None:
    problem = Problem(sets.TopK(2, 1), environments.Table(TURNING, order="recorded"))
    lost = plain(problem, [policies.Fixed([1]), policies.Fixed([0])], regret=kind)
    assert lost.regret[:, :, -1].tolist() == [[50.0, 50.0], [0.0, 0.0]]
    assert lost.kind == ("static" if kind == "expected" else kind)
    whole = plain(problem, policies.Fixed([1]), regret=kind, horizon=100)
    assert whole.regret[0, 0, -1] == (50.0 if kind == "dynamic" else 0.0)


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("kind", ["expected", "static", "dynamic"])
def test_a_recorded_table_and_an_adversary_with_its_rows_are_one_world(kind: Any, sense: Any) -> None:
    feasible = sets.Enumerated(SOLUTIONS, 5)
    players = [policies.CombUCB1(), policies.CTS()]
    table, adversary = (plain(Problem(feasible, world, sense), players, regret=kind) for world in PAIRS)
    np.testing.assert_array_equal(table.regret, adversary.regret)
    assert table.kind == adversary.kind


@pytest.mark.long
@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("kind", ["expected", "static", "dynamic"])
def test_machine_code_agrees_on_recorded_tables(kind: Any, sense: Any) -> None:
    for player in (policies.CombUCB1(), policies.OSMD()):
        table, adversary = (Problem(sets.TopK(5, 2), world, sense) for world in PAIRS)
        expected = plain(adversary, player, regret=kind, runs=35).regret
        for problem in (table, adversary):
            for engine in ("plain", "compiled"):
                found = plain(problem, player, regret=kind, runs=35, engine=engine)
                np.testing.assert_array_equal(found.regret, expected)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12), st.sampled_from(["max", "min"]))
def test_hindsight_is_over_the_rounds_played(seed: int, horizon: int, sense: Any) -> None:
    """Against all solutions, one by one."""
    rows = np.random.default_rng(seed).random((12, 5))
    problem = Problem(sets.Enumerated(SOLUTIONS, 5), environments.Table(rows, order="recorded"), sense)
    sign = 1.0 if sense == "max" else -1.0
    totals = [sign * rows[:horizon, one].sum() for one in SOLUTIONS]
    rounds = [max(sign * row[one].sum() for one in SOLUTIONS) for row in rows[:horizon]]
    for number, one in enumerate(SOLUTIONS):
        for kind, best in (("static", max(totals)), ("dynamic", sum(rounds))):
            found = plain(problem, policies.Fixed(one), horizon=horizon, regret=kind)
            assert found.regret[0, 0, -1] == pytest.approx(best - totals[number], abs=1e-12)


def test_a_learner_decides_as_the_runs_on_a_recorded_table_do() -> None:
    problem = Problem(sets.TopK(5, 2), PAIRS[0])
    played = plain(problem, policies.CTS(), runs=1, seed=4, record="solutions")
    learner = Learner(problem.feasible, policies.CTS(), seed=4)
    for round, items in enumerate(played.solutions[0, 0], start=1):
        decision = learner.ask()
        assert decision.items.tolist() == items.tolist()
        learner.tell(decision.id, ROWS[round - 1, decision.items])


@pytest.mark.parametrize("kind", ["realised", "ratio"])
def test_regret_that_a_sequence_cannot_have(kind: Any) -> None:
    with pytest.raises(errors.BadArgument, match=rf"'dynamic' or 'static' .* sequence, Table.*recorded.*{kind}"):
        plain(Problem(sets.TopK(5, 2), PAIRS[0]), policies.CTS(), regret=kind)


@pytest.mark.parametrize(
    "ask",
    [
        lambda problem: problem.means,
        lambda problem: problem.optimum,
        lambda problem: problem.target,
        lambda problem: problem.min_gap,
        lambda problem: problem.item_gaps,
        lambda problem: problem.gap([0, 1]),
        lambda problem: theory.bounds(problem, 10),
        lambda problem: theory.explain(problem),
        lambda problem: lemma_1.measure(problem, horizon=10, runs=1, seed=0),
    ],
)
@pytest.mark.parametrize("world", PAIRS, ids=repr)
def test_a_sequence_has_no_optimum_of_its_own(world: Any, ask: Any) -> None:
    problem = Problem(sets.TopK(5, 2), world)
    with pytest.raises(
        errors.Unsupported, match=r"is a sequence, which has no means .* problem\.at\(round\), or .*Table"
    ):
        ask(problem)
    assert problem.at(3).optimum.tolist() == sorted(np.argsort(-ROWS[2])[:2].tolist())
    with pytest.raises(errors.BadArgument, match="true_optimum must be None"):
        Problem(sets.TopK(5, 2), world, true_optimum=[0, 1])
    with pytest.raises(errors.BadArgument, match="Clairvoyant knows"):
        policies.Clairvoyant(problem)


def test_rounds_of_a_recorded_table() -> None:
    table, adversary = PAIRS
    for round in (1, 7, 60):
        for ask in ("means", "average"):
            np.testing.assert_array_equal(getattr(table, ask)(round), getattr(adversary, ask)(round))
        np.testing.assert_array_equal(table.at(round).means, ROWS[round - 1])
        assert not table.at(round).drifts
    assert (table.drifts, table.hindsight, table.last_round, table.batched) == (True, True, 60, False)
    check_environment(table)
    resampled = environments.Table(ROWS)
    assert (resampled.drifts, resampled.hindsight, resampled.last_round) == (False, False, None)
    assert resampled.at(9) is resampled
    assert resampled.average(9) is resampled.means


def test_runs_that_were_measured_by_the_means_of_the_table_are_not_continued(tmp_path: Path) -> None:
    """Earlier versions gave a recorded table its columns' means."""
    world = environments.Table(TURNING, order="recorded")
    problem = Problem(sets.TopK(2, 1), world)
    for kind in ("expected", "static"):
        old = environments.Table(TURNING)
        old.order, old.batched, old.last_round = "recorded", False, 100
        known = (problem.feasible, old, "max", 50, np.array([50]), 1, kind, "error")
        Store(tmp_path / kind, known, [policies.Fixed([1])], f"{problem!r}, horizon 50, seed 1, {kind} regret")
        with pytest.raises(errors.BadState, match="holds another experiment"):
            plain(problem, policies.Fixed([1]), checkpoints=[50], store=tmp_path / kind, regret=kind)
