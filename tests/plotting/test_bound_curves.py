"""Which bounds a picture shows: those of its problem, about the policies that played."""

from typing import Any

import pytest

import semibandits as sb
from semibandits import theory
from semibandits.plotting.bound_curves import bound_curves


def test_bounds_of_another_problem_are_refused() -> None:
    """Also of one that prints alike, with other means; and each by itself."""
    here, there = (sb.problems.grid_path(2, sigma) for sigma in (0.5, 0.05))
    result = sb.simulate(here, "CombUCB1", horizon=100, runs=2, seed=0, threads=1)
    assert result.problem == repr(there)
    other = sb.theory.bounds(there, result.rounds)
    for bounds in (other, other[:2], other[0]):
        with pytest.raises(sb.errors.BadArgument, match="is of another problem than the result"):
            result.plot(bounds=bounds)
    result.plot(bounds=sb.theory.bounds(here, result.rounds))


def alike() -> list[tuple[sb.Problem, sb.Problem]]:
    """Problems that print alike and have the same means."""
    means = [0.9, 0.8, 0.7, 0.2]
    world = sb.environments.Bernoulli(means)
    pairs = [
        (sb.sets.Enumerated([[0, 1], [2, 3]], 4), sb.sets.Enumerated([[0, 1], [1, 3]], 4)),
        (sb.sets.PartitionMatroid([0, 0, 1, 1], [1, 1]), sb.sets.PartitionMatroid([0, 1, 0, 1], [1, 1])),
        (sb.sets.Knapsack([1, 2, 3, 4], 5), sb.sets.Knapsack([4, 3, 2, 1], 5)),
        (
            sb.sets.Oracle(lambda weights: [0, 1], n_items=4, max_size=2),
            sb.sets.Oracle(lambda weights: [0, 2], n_items=4, max_size=2),
        ),
    ]
    slate = sb.sets.TopK(4, 2)
    together = sb.environments.Bernoulli(means, groups=[0, 0, 1, 1])
    of_sets = [(sb.Problem(here, world), sb.Problem(there, world)) for here, there in pairs]
    return [*of_sets, (sb.Problem(slate, together), sb.Problem(slate, world))]


@pytest.mark.parametrize("number", range(5))
def test_problems_that_print_alike_are_told_apart(number: int) -> None:
    here, there = alike()[number]
    assert repr(here).partition(" at 0x")[0] == repr(there).partition(" at 0x")[0]
    assert here.digest != there.digest
    assert here.digest == alike()[number][0].digest
    if number < 3:
        result = sb.simulate(here, "CombUCB1", horizon=50, runs=2, seed=0, threads=1)
        with pytest.raises(sb.errors.BadArgument, match="is of another problem than the result"):
            result.plot(bounds=sb.theory.bounds(there, result.rounds))


def test_playing_does_not_change_what_a_problem_is() -> None:
    """Sets keep what they have worked out."""
    for here, _ in alike()[:3]:
        result = sb.simulate(here, ["CombUCB1", "CTS"], horizon=50, runs=2, seed=0, threads=1)
        sb.theory.bounds(here, result.rounds)
        again = sb.Problem(here.feasible, here.environment)
        assert result.provenance["problem_digest"] == here.digest == again.digest


def test_nothing_is_proved_of_a_users_policy_by_its_name() -> None:
    class CombUCB1(sb.policies.CombUCB1):
        @staticmethod
        def score(s: Any, c: Any, key: int, item: Any, p: Any) -> Any:
            return -s[1]

    problem = sb.Problem(sb.sets.TopK(4, 2), sb.environments.Bernoulli([0.9, 0.8, 0.3, 0.1]))
    for policy, proved in ((sb.policies.CombUCB1(), True), (CombUCB1(), False)):
        result = sb.simulate(problem, policy, horizon=3000, runs=2, seed=0, engine="plain", threads=1)
        kinds = {curve.kind for curve in bound_curves(result, theory.bounds(problem, result.rounds)).values()}
        assert ("upper" in kinds) == proved


def test_rounding_is_no_bound() -> None:
    """In round 1 a bound in the limit is log 1 = 0, and what sums lose by rounding."""
    problem = sb.problems.grid_path(m=3, sigma=0.25)
    players = ["CombUCB1", sb.policies.ESCB(method="exact")]
    result = sb.simulate(problem, players, horizon=10_000, runs=2, seed=0)
    bounds = theory.bounds(problem, result.rounds)
    escb = next(bound for bound in bounds if bound.policy == "ESCB")
    assert 0.0 < escb.value[0] < 1e-9
    assert not bound_curves(result, bounds)[f"{escb.title} (in the limit)"].telling
    for given in (bounds, [escb]):
        bottom = result.plot(bounds=given).get_ylim()[0]
        assert bottom > 0.01


def test_what_can_be_lost_at_all_is_known_without_the_problem() -> None:
    """As far as this package's oracle finds the worst solution."""
    problem = sb.problems.grid_path(m=3, sigma=0.25)
    result = sb.simulate(problem, "CombUCB1", horizon=10_000, runs=2, seed=0)
    assert result.provenance["max_gap"] == problem.max_gap
    assert not any(curve.telling for curve in bound_curves(result, True).values())
    roads = sb.Problem(sb.sets.Paths([(0, 1), (0, 1)], 0, 1), sb.environments.Bernoulli([0.2, 0.5]), sense="min")
    assert "max_gap" not in sb.simulate(roads, "CTS", horizon=5, runs=1, seed=0).provenance


def test_the_bound_of_escb_is_drawn_where_it_is_exact() -> None:
    problem = sb.problems.grid_path(1, 0.4)
    for policy, drawn in (
        (sb.policies.ESCB(method="exact"), True),
        (sb.policies.ESCB(method="exact", c=0.0), False),
        (sb.policies.ESCB(method="approximate"), False),
    ):
        result = sb.simulate(problem, policy, horizon=10**5, runs=1, seed=0, checkpoints=[10**5])
        names = [
            str(line.get_label()) for line in result.plot(bounds=theory.bounds(problem, result.rounds)).get_lines()
        ]
        assert any("ESCB-2" in name for name in names) == drawn
