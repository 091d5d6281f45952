"""All that is played for a reproduction: each game once, however many parts look at it."""

import itertools
from collections.abc import Collection, Mapping
from concurrent.futures import Future, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.experiments.paper import tightness
from semibandits.experiments.paper.published import HORIZON, PUBLISHED
from semibandits.experiments.paper.tightness import Instance, Tightness
from semibandits.policies import CTS, CombUCB1
from semibandits.problem import Problem
from semibandits.problems import grid_path, k_path
from semibandits.simulation import SimulationResult, simulate
from semibandits.simulation.engines.pool import Processes
from semibandits.simulation.progress import Progress, progress_bar
from semibandits.simulation.task import RegretKind
from semibandits.types import IndexPolicy

Grid = tuple[int, float]
"""m and σ."""
SIGMAS = tuple(PUBLISHED)
GRIDS: tuple[Grid, ...] = tuple((m, sigma) for sigma in SIGMAS for m in range(1, 8))
CHECKPOINTS = np.unique(np.geomspace(10, HORIZON, 41).round().astype(np.int64))
"""Ten in every decade."""
DRAWN: Grid = (4, 0.4)
"""The grid whose regret is drawn over time, with all bounds."""

# Three values each of K, of Δ/K and of the number of other paths; any two of them meet in one problem.
K_PATHS = tuple(
    Instance(K * (others + 1), K, round(K * (0.2, 0.3, 0.4)[(i - j) % 3], 3))
    for i, K in enumerate((1, 3, 5))
    for j, others in enumerate((2, 5, 12))
)
FEW_K_PATHS = tuple(
    Instance(*cell) for cell in ((3, 1, 0.25), (9, 1, 0.45), (12, 4, 1.8), (20, 4, 1.0), (10, 5, 1.25), (40, 5, 2.25))
)


class Settings(NamedTuple):
    """How much is played."""

    seed: int
    quick: bool
    runs: int
    """Of CombUCB1 on every grid."""
    thompson: tuple[Grid, ...]
    """Where Thompson sampling plays beside it."""
    k_paths: tuple[Instance, ...]
    k_path_horizon: int
    other_runs: int
    """Of Thompson sampling, and on every K-path problem."""
    bounds: tuple[Grid, ...]
    """Where all bounds are worked out."""


def settings(seed: int, quick: bool, runs: int | None) -> Settings:
    """What a whole or a quick reproduction plays; machine code plays 32 runs for the price of one."""
    if quick:
        small = tuple((m, sigma) for m, sigma in GRIDS if m <= 4)
        runs = runs or 64
        thompson: tuple[Grid, ...] = ((1, 0.4), (2, 0.4), (3, 0.4))
        return Settings(seed, True, runs, thompson, FEW_K_PATHS, 200_000, min(runs, 64), small)
    thompson = tuple(itertools.product((1, 2, 3, 5, 7), SIGMAS))
    runs = runs or 100
    return Settings(seed, False, runs, thompson, K_PATHS, 1_000_000, min(runs, 64), GRIDS)


class Plays(NamedTuple):
    """What was played."""

    settings: Settings
    cells: Mapping[Grid, SimulationResult]
    """Realised regret of CombUCB1 on grids."""
    thompson: Mapping[Grid, SimulationResult]
    """The same of CTS, in the same worlds."""
    k_paths: Tightness | None


def every_run(results: Mapping[Grid, SimulationResult]) -> dict[str, NDArray[Any]]:
    """The regret of every run at every checkpoint, as a table."""
    runs = np.array([result.regret.shape[1] for result in results.values()])
    each = len(CHECKPOINTS)
    m, sigma = (np.repeat(column, runs * each) for column in zip(*results, strict=True))
    return {
        "m": m,
        "sigma": sigma,
        "run": np.concatenate([np.repeat(np.arange(count), each) for count in runs]),
        "round": np.tile(CHECKPOINTS, runs.sum()),
        "regret": np.concatenate([result.regret[0].ravel() for result in results.values()]),
    }


def play(settings: Settings, parts: Collection[str], progress: bool | Progress | None) -> Plays:
    """Plays what these parts need, with one bar for all.

    While the grids are played, another process compiles what comes after them.
    """
    wanted = set(parts)
    thompson = settings.thompson if "thompson" in wanted else ()
    cells = {*thompson}
    if wanted & {"fig1c", "trends"}:
        cells |= {*GRIDS}
    if "bounds" in wanted:
        cells |= {*settings.bounds, DRAWN}
    on_paths = bool(wanted & {"kpath", "bounds"})
    horizon, others, seed = settings.k_path_horizon, settings.other_runs, settings.seed
    rounds = HORIZON * (len(cells) * settings.runs + len(thompson) * others)
    rounds += on_paths * horizon * len(settings.k_paths) * others
    k_paths = None
    with progress_bar(progress, rounds, "reproducing") as bar, Processes(1) as elsewhere:
        ahead: list[Future[None]] = []
        if cells and on_paths:
            ahead.append(elsewhere.submit(_compile, k_path(*settings.k_paths[0]), CombUCB1(), "expected"))
        if thompson:
            ahead.append(elsewhere.submit(_compile, grid_path(*thompson[0]), CTS(), "realised"))
        ucb = {grid: _on_grid(grid, CombUCB1(), settings.runs, seed, bar) for grid in GRIDS if grid in cells}
        wait(ahead)
        if on_paths:
            k_paths = tightness.run(settings.k_paths, horizon=horizon, runs=others, seed=seed, progress=bar)
        cts = {grid: _on_grid(grid, CTS(), others, seed, bar) for grid in thompson}
    return Plays(settings, ucb, cts, k_paths)


def _compile(problem: Problem, policy: IndexPolicy, regret: RegretKind) -> None:
    """Puts the machine code where all processes find it."""
    simulate(problem, policy, horizon=1, runs=1, seed=0, regret=regret, engine="compiled", progress=False)


def _on_grid(grid: Grid, policy: IndexPolicy, runs: int, seed: int, bar: Progress) -> SimulationResult:
    return simulate(
        grid_path(*grid),
        policy,
        horizon=HORIZON,
        runs=runs,
        seed=seed,
        checkpoints=CHECKPOINTS,
        regret="realised",
        progress=bar,
    )
