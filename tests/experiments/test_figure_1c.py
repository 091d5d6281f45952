"""The published experiment, by the rule stated in `figure_1c`."""

import pytest

from semibandits.experiments import figure_1c


@pytest.mark.parametrize("sigma", figure_1c.PUBLISHED)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_regret_agrees_with_the_published_figure(m: int, sigma: float) -> None:
    cell = figure_1c.run_cell(m, sigma, runs=4, seed=0)
    assert cell.agrees, cell
    assert m < 3 or cell.allowed < 0.15 * cell.published  # the rule has teeth


@pytest.mark.long
@pytest.mark.parametrize("sigma", figure_1c.PUBLISHED)
def test_a_larger_grid_agrees_too(sigma: float) -> None:
    cell = figure_1c.run_cell(5, sigma, runs=5, seed=1)
    assert cell.agrees, cell
