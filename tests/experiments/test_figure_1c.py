"""The published experiment, by the rule stated in `figure_1c`."""

import math

import pytest

from semibandits.experiments import figure_1c


def allowed(cell: figure_1c.Cell, runs: int) -> float:
    """The rule for a well-known deviation: stricter than the one for a few runs."""
    return 3.5 * cell.deviation * math.sqrt(1 / 5 + 1 / runs)


@pytest.mark.parametrize("sigma", figure_1c.PUBLISHED)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_regret_agrees_with_the_published_figure(m: int, sigma: float) -> None:
    cell = figure_1c.run_cell(m, sigma, runs=4, seed=0)
    assert abs(cell.regret - cell.published) <= allowed(cell, runs=4)
    assert m < 3 or allowed(cell, runs=4) < 0.15 * cell.published  # the rule has teeth
    assert cell.agrees
    assert cell.allowed > allowed(cell, runs=4)


@pytest.mark.long
@pytest.mark.parametrize("sigma", figure_1c.PUBLISHED)
def test_a_larger_grid_agrees_too(sigma: float) -> None:
    cell = figure_1c.run_cell(5, sigma, runs=12, seed=1)
    assert abs(cell.regret - cell.published) <= allowed(cell, runs=12)
    assert allowed(cell, runs=12) < 0.08 * cell.published
