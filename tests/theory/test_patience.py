"""What takes long is left out of the bounds, with the reason; how long is counted, not measured."""

import json
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from semibandits import Problem, environments, errors, problems, sets, theory
from semibandits._util.effort import OutOfPatience, Patience, spend
from semibandits.cli import main
from semibandits.theory.facts import Facts

N = 5000
SOLVER = sets.TopK(60, 3)
MEANS = np.random.default_rng(0).random(60)


def own_solver() -> Problem:
    """By an oracle that has to be asked for every item."""
    return Problem(sets.Oracle(SOLVER.argmax, 60, 3), environments.Beta(1.0 + MEANS, 1.0))


def streets(side: int) -> Problem:
    """A grid with every street in both directions, so that simple paths through an edge must be searched for."""
    nodes = [(x, y) for x in range(side) for y in range(side)]
    ways = [(a, b) for a in nodes for b in nodes if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    costs = np.random.default_rng(0).random(len(ways))
    return Problem(sets.Paths(ways, nodes[0], nodes[-1]), environments.Bernoulli(costs), "min")


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semibandits.theory.facts.PATIENCE", 5_000)


def by_gaps(problem: Problem) -> set[str]:
    return {bound.name for bound in theory.bounds(problem, N) if "gaps within reach" in bound.conditions}


@pytest.mark.parametrize("build", [own_solver, lambda: streets(7)])
def test_gaps_that_take_long_are_left_out_with_the_reason(build: Any, hurry: None) -> None:
    problem = build()
    found, explained = theory.bounds(problem, N), theory.explain(problem, N)
    assert any("gaps within reach" in one.missing for one in found.left_out)
    assert {"Theorem 6", "D, gap-free"} <= {bound.name for bound in found}  # those without gaps stay
    note = "The gaps were left out, as that may take long; where problem.item_gaps"
    assert found.notes[0].startswith(note)
    assert note in " ".join(str(found).split())
    assert note in " ".join(str(explained).split())
    assert explained.min_gap is None
    for document in (found.as_dict(), explained.as_dict()):
        assert json.loads(json.dumps(document, allow_nan=False))["notes"] == list(found.notes)


def test_gaps_that_were_asked_for_are_used_however_long_they_took(hurry: None) -> None:
    problem = own_solver()
    assert not by_gaps(problem)
    assert problem.min_gap < np.inf
    assert by_gaps(problem) >= {"Theorem 3", "Theorem 5", "C, item gaps"}
    found = theory.bounds(problem, N)
    (note,) = found.notes
    assert note.startswith("The ratio form of bound C was left out, as that may take long: see theory.tight.ratio")
    assert ("ratios within reach",) in {one.missing for one in found.left_out}


def test_with_patience_nothing_is_left_out() -> None:
    assert by_gaps(own_solver()) >= {"Theorem 3", "C, ratio form"}
    assert theory.bounds(own_solver(), N).notes == ()


def test_gaps_out_of_reach_say_why() -> None:
    solver = sets.Oracle(lambda w: [int(w.argmax())], 3, 1, signed=False)
    found = theory.bounds(Problem(solver, environments.Bernoulli([0.1, 0.2, 0.3]), "min"), N)
    assert found.notes[0] == (
        "The gaps were left out: a solver that needs weights <= 0 cannot be made to include an item."
    )


def test_a_lower_bound_that_is_not_searched_for_is_said_to_be() -> None:
    printed = CliRunner().invoke(main, ["bounds", "grid_path:m=9,sigma=0.2"]).output
    assert printed.count("A lower bound was not searched for") == 1
    document = json.loads(CliRunner().invoke(main, ["bounds", "grid_path:m=9,sigma=0.2", "--json"]).output)
    assert document["notes"] == list(theory.bounds(problems.grid_path(9, 0.2), N).notes)
    assert len(document["notes"]) == 1


def test_work_is_counted_alike_every_time() -> None:
    left = set()
    for _ in range(2):
        facts = Facts(own_solver())
        assert facts.ratios is not None
        left.add(facts._patience.left)
    assert len(left) == 1


def test_patience() -> None:
    spend(10**18)  # nobody is in a hurry
    patience = Patience(100)
    with patience:
        spend(60)
        with Patience(10), pytest.raises(OutOfPatience):
            spend(11)
    with patience, pytest.raises(OutOfPatience):
        spend(41)
    spend(10**18)


def test_giving_up_is_no_failure_of_a_solver() -> None:
    inner = sets.Oracle(SOLVER.argmax, 60, 3)
    outer = sets.Oracle(lambda w: inner.argmax(w + 0.0 * inner.best_with_each(w)), 60, 3)
    with Patience(500), pytest.raises(OutOfPatience):
        outer.argmax(MEANS)
    assert outer.argmax(MEANS).tolist() == SOLVER.argmax(MEANS).tolist()


@pytest.mark.long
def test_a_large_road_network() -> None:
    problem = streets(28)
    assert problem.n_items > 2_950
    found = theory.bounds(problem, N)
    assert [note.split(" left")[0].split(" not")[0] for note in found.notes] == ["The gaps were", "A lower bound was"]
    with pytest.raises(errors.Unsupported, match="gave up"):
        _ = problem.item_gaps
