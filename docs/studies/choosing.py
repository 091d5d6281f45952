"""All index policies side by side: on four standard problems, and in a world that changes.

Every policy plays in the same worlds. So what tells two of them apart is the difference run by run, and the bands in
the pictures are intervals of that difference to one policy of reference: where a band does not reach the curve of the
reference, the two differ.
"""

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from semibandits import environments, policies, problems, sets
from semibandits.errors import BadArgument
from semibandits.plotting.axes import COLOURS, DASHES, light_grid
from semibandits.problem import Problem
from semibandits.simulation import SimulationResult, simulate
from semibandits.simulation.summaries import estimate
from semibandits.types import IndexPolicy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REFERENCE = "CTS"


def standard_problems() -> dict[str, Problem]:
    """A grid of paths, an assignment, spanning trees, and the top k of n items: coins with various means."""
    generator = np.random.default_rng(2015)
    edges = list(itertools.combinations(range(7), 2))
    return {
        "paths: 4 x 4 grid, σ = 0.2": problems.grid_path(m=4, sigma=0.2),
        "assignment: 6 x 6": Problem(
            sets.Assignment(6, 6), environments.Bernoulli(generator.uniform(0.1, 0.9, 36).round(2))
        ),
        "spanning trees: 7 nodes": Problem(
            sets.GraphicMatroid(edges), environments.Bernoulli(generator.uniform(0.1, 0.9, len(edges)).round(2))
        ),
        "top 4 of 20": Problem(sets.TopK(20, 4), environments.Bernoulli([0.6] * 4 + [0.4] * 16)),
    }


def contenders(problem: Problem) -> list[IndexPolicy]:
    """The policies for worlds that stay as they are, with the parameters they have by default."""
    matroid: list[IndexPolicy] = [policies.OMM()] if problem.feasible.matroid else []
    return [
        policies.CombUCB1(),
        *matroid,
        policies.UCBV(),
        policies.CMOSS(),
        policies.KLUCB(),
        policies.BGCTS(),
        policies.GaussianCTS(),
        policies.CTS(),
        policies.CLSG(),
        policies.EpsilonGreedy(),
        policies.ExploreThenCommit(),
        policies.Random(),
    ]


def run(horizon: int = 100_000, runs: int = 100, seed: int = 0) -> dict[str, SimulationResult]:
    """Every contender on every standard problem."""
    rounds = np.unique(np.geomspace(1, horizon, 80).round().astype(np.int64))
    return {
        name: simulate(problem, contenders(problem), horizon=horizon, runs=runs, seed=seed, checkpoints=rounds)
        for name, problem in standard_problems().items()
    }


def changing_world(change: int = 20_000) -> Problem:
    """Top 4 of 20: in round `change` the four best lose much of their worth, and four others become the best.

    The old ones stay better than most, and their past keeps them above the new ones in the mean of all rounds until
    long after.
    """
    before, after = [0.95] * 4 + [0.3] * 16, [0.5] * 4 + [0.7] * 4 + [0.3] * 12
    return Problem(sets.TopK(20, 4), environments.Drifting([before, after], starts=[1, change]))


def run_changing(horizon: int = 40_000, runs: int = 100, seed: int = 0) -> SimulationResult:
    """CombUCB1 and CTS, which remember everything, beside two that forget, in a world that changes half-way.

    Regret is dynamic: against the best solution of every round.
    """
    return simulate(
        changing_world(change=max(2, horizon // 2)),
        [
            policies.CombUCB1(),
            policies.CTS(),
            policies.SlidingWindow(max(1, horizon // 10)),
            policies.Discounted(1.0 - 10.0 / (horizon + 10.0)),
        ],
        horizon=horizon,
        runs=runs,
        seed=seed,
        checkpoints=np.unique(np.linspace(horizon / 100, horizon, 100).astype(np.int64).clip(1)),
    )


def draw(results: Mapping[str, SimulationResult], reference: str = REFERENCE) -> "Figure":
    """One picture per result, regret over time, all with one legend; bands as said above."""
    if not results or not all(isinstance(result, SimulationResult) for result in results.values()):
        raise BadArgument(f"results must map titles to simulation results, got {results!r:.200}")
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(short(name) for result in results.values() for name in result.policies))
    columns = min(2, len(results))
    rows = -(-len(results) // columns)
    figure = Figure(figsize=(5.2 * columns, 3.6 * rows + 1.1), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    looks = zip(names, itertools.cycle(COLOURS), itertools.cycle(DASHES), strict=False)
    styles = {name: {"color": colour, "linestyle": dashes} for name, colour, dashes in looks}
    for ax, (title, result) in zip(axes, results.items(), strict=False):
        draw_paired(result, styles, reference, ax)
        ax.set_title(title, loc="left", fontsize="medium")
    lines = {line.get_label(): line for ax in axes for line in ax.get_lines()}
    shown = next(iter(results.values()))
    title = f"mean of {shown.regret.shape[1]} runs; bands: 95% intervals of the paired difference to {reference}"
    figure.legend(
        handles=[lines[name] for name in names],
        title=title,
        loc="outside lower center",
        ncols=4,
        fontsize="small",
        title_fontsize="small",
        frameon=False,
        handlelength=3.2,
    )
    return figure


def draw_paired(result: SimulationResult, styles: Mapping[str, Any], reference: str, ax: "Axes") -> None:
    """The regret of every policy, with the interval of its difference to the reference as a band."""
    names = [short(name) for name in result.policies]
    if reference not in names:
        raise BadArgument(f"the reference {reference!r} is none of the policies: {', '.join(names)}")
    base = result.regret[names.index(reference)]
    rounds = result.rounds
    for name, regret in zip(names, result.regret, strict=True):
        mean = regret.mean(axis=0)
        ax.plot(rounds, mean, label=name, linewidth=1.6, zorder=3, **styles[name])
        if name != reference and regret.shape[0] > 1:
            of_difference = estimate((regret - base).T, 0.95)
            half = (of_difference.high - of_difference.low) / 2.0
            ax.fill_between(
                rounds, mean - half, mean + half, color=styles[name]["color"], alpha=0.18, linewidth=0.0, zorder=2
            )
    drifting = result.kind in ("dynamic", "static")
    ax.set_xscale("linear" if drifting else "log")
    ax.set_yscale("linear" if drifting else "log")
    if not drifting and rounds[-1] > 10:
        ax.set_xlim(left=10)
        ax.set_ylim(bottom=max(1.0, 0.5 * float(result.regret.mean(axis=1)[:, rounds >= 10].min())))
    ax.set_xlabel("round")
    ax.set_ylabel(f"{result.kind} regret")
    light_grid(ax)


def short(name: str) -> str:
    """A policy's name without its parameters."""
    return name.partition("(")[0]
