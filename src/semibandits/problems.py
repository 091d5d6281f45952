"""The paper's two problems, and some that are hard in another way."""

import numpy as np

from semibandits import environments, sets
from semibandits.errors import BadArgument
from semibandits.hard_problems import against as against
from semibandits.hard_problems import changing_phases as changing_phases
from semibandits.hard_problems import coin_table as coin_table
from semibandits.problem import Problem


def grid_path(m: int, sigma: float) -> Problem:
    """The grid-path problem of Section 7: the longest monotone path through m x m squares.

    Edges along the left and the bottom side have mean 0.5 + sigma/2, all others 0.5 - sigma/2, and all weights are
    independent coins. The best path runs down the left side and along the bottom. `GridPaths` has the numbering.

    >>> problem = grid_path(m=2, sigma=0.4)
    >>> problem.n_items, problem.max_size, problem.optimum
    (12, 4, array([ 1,  6, 10, 11]))
    """
    if not 0.0 < sigma < 1.0:
        raise BadArgument(f"sigma must be between 0 and 1, got {sigma!r}")
    grid = sets.GridPaths(m)
    m = grid.m
    means = np.full(grid.n_items, 0.5 - sigma / 2.0)
    for item, (tail, head) in enumerate(grid.edges):
        assert isinstance(tail, tuple)
        assert isinstance(head, tuple)
        if tail[1] == head[1] == 0 or tail[0] == head[0] == m:
            means[item] = 0.5 + sigma / 2.0
    return Problem(grid, environments.Bernoulli(means))


def k_path(n_items: int, k: int, gap: float) -> Problem:
    """The K-path problem of Section 6, behind the lower bounds: n_items / k disjoint paths of k items each.

    All items of a path share one coin. Its mean is 0.5 on the first path and 0.5 - gap/k on the others, so that every
    other path is worse by `gap`.

    >>> k_path(n_items=6, k=2, gap=0.5).item_gaps
    array([nan, nan, 0.5, 0.5, 0.5, 0.5])
    """
    paths = sets.KPaths(n_items, k)
    n_items, k = paths.n_items, paths.k
    if not 0.0 < gap / k < 0.5:
        raise BadArgument(f"gap must be between 0 and k/2 = {k / 2}, got {gap!r}")
    path = np.arange(n_items) // k
    return Problem(paths, environments.Bernoulli(np.where(path == 0, 0.5, 0.5 - gap / k), groups=path))
