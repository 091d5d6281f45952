"""Which bounds a picture shows: those of its problem, about the policies that played."""

import pytest

import semibandits as sb
from semibandits import theory


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
