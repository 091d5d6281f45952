"""Figure 1c of the paper: the regret of CombUCB1 on the grid-path problem at n = 10^5, beside the published values.

The published values are read from the vector graphics of the figure. The paper does not say over how many runs it
averaged; every value is a multiple of 0.2, so almost certainly five runs of realised regret. With s the standard
deviation of one run, a cell agrees when |ours - published| <= 3.5 s sqrt(1/5 + 1/runs). Where s is estimated from few
runs, 3.5 is replaced by the quantile of Student's distribution that is passed as rarely.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semibandits.policies import CombUCB1
from semibandits.problems import grid_path
from semibandits.simulation import simulate

HORIZON = 100_000
PUBLISHED_RUNS = 5
PUBLISHED = {
    0.8: (38.4, 164.8, 374.6, 650.6, 1031.0, 1477.0, 1992.6),
    0.4: (86.0, 316.4, 698.0, 1260.8, 1934.8, 2803.2, 3798.2),
    0.2: (142.4, 587.2, 1361.4, 2301.6, 3605.0, 5297.8, 7131.0),
}
"""Regret by sigma, for m = 1 to 7."""
LARGEST_DIFFERENCE = 3.5
"""In standard errors, if the deviation of a run were known."""


class Cell(NamedTuple):
    """One point of the figure."""

    m: int
    n_items: int
    sigma: float
    regret: float
    deviation: float
    error: float
    published: float
    allowed: float
    """How far from the published value ours may be."""
    agrees: bool
    difference: float
    """Ours less the published value, in standard errors of the difference."""


def run_cell(m: int, sigma: float, *, runs: int, seed: int) -> Cell:
    """Simulates one point of the figure."""
    result = simulate(
        grid_path(m, sigma),
        CombUCB1(),
        horizon=HORIZON,
        runs=runs,
        seed=seed,
        checkpoints=[HORIZON],
        regret="realised",
        progress=False,
    )
    return compare(m, sigma, result.regret[0, :, -1])


def compare(m: int, sigma: float, regret: ArrayLike) -> Cell:
    """The realised regret of every run beside the published value.

    >>> compare(m=1, sigma=0.8, regret=[40.0, 42.0, 38.0, 44.0]).agrees
    True
    """
    from scipy.special import ndtr, stdtrit

    sample = np.asarray(regret, dtype=np.float64)
    mean, deviation = float(sample.mean()), float(sample.std(ddof=1))
    published = PUBLISHED[sigma][m - 1]
    of_difference = deviation * (1.0 / PUBLISHED_RUNS + 1.0 / sample.size) ** 0.5
    allowed = float(stdtrit(sample.size - 1, ndtr(LARGEST_DIFFERENCE))) * of_difference
    return Cell(
        *(m, 2 * m * (m + 1), sigma, mean, deviation, deviation / sample.size**0.5, published, allowed),
        agrees=abs(mean - published) <= allowed,
        difference=(mean - published) / of_difference,
    )
