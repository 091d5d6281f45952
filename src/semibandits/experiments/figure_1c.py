"""Figure 1c of the paper: the regret of CombUCB1 on the grid-path problem at n = 10^5, beside the published values.

The published values are read from the vector graphics of the figure. The paper does not say over how many runs it
averaged; every value is a multiple of 0.2, so almost certainly five runs of realised regret. With s the standard
deviation of one run, a cell agrees when |ours - published| <= 3.5 s sqrt(1/5 + 1/runs). Where s is estimated from few
runs, 3.5 is replaced by the quantile of Student's distribution that is passed as rarely.
"""

from collections.abc import Iterable
from typing import NamedTuple

from scipy.special import ndtr, stdtrit

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


def run_cell(m: int, sigma: float, *, runs: int, seed: int) -> Cell:
    """Simulates one point of the figure."""
    problem = grid_path(m, sigma)
    result = simulate(
        problem,
        CombUCB1(),
        horizon=HORIZON,
        runs=runs,
        seed=seed,
        checkpoints=[HORIZON],
        regret="realised",
        progress=False,
    )
    row = result.summary()[0]
    published = PUBLISHED[sigma][m - 1]
    allowed = float(stdtrit(runs - 1, ndtr(3.5))) * row.deviation * (1.0 / PUBLISHED_RUNS + 1.0 / runs) ** 0.5
    agrees = abs(row.mean - published) <= allowed
    return Cell(m, problem.n_items, sigma, row.mean, row.deviation, row.error, published, allowed, agrees)


def table(cells: Iterable[Cell]) -> str:
    lines = [" m    L  sigma    regret  ± error  published  difference  allowed"]
    lines += [
        f"{c.m:>2} {c.n_items:>4} {c.sigma:>6} {c.regret:>9.1f} {c.error:>8.1f} {c.published:>10.1f} "
        f"{round(c.regret, 1) - c.published:>+11.1f} {c.allowed:>8.1f}  {'agrees' if c.agrees else 'DIFFERS'}"
        for c in cells
    ]
    lines.append(
        "\nallowed: what chance explains, given the spread of our runs and five runs behind each published point"
    )
    return "\n".join(lines)
