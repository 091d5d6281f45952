"""CombUCB1 beside its neighbours: what independence, correlation, an adversary and less feedback change.

Four comparisons, each run and drawn:

- `sizes`: ESCB, which has one confidence interval for a whole solution, against CombUCB1, which adds up those of the
  items: on independent items the factor between them grows with the size K of a solution, on paths more than on top-k
  sets, which are matroids.
- `correlation`: OLSUCB, which knows the covariance, moves from one to the other as the correlation grows.
- `adversary`: losses made against CombUCB1, and the same policies in a random world: exponents of n.
- `feedback`: what it costs to see only the sum of the chosen weights: about a factor sqrt(K).
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semibandits import environments, policies, problems, sets
from semibandits.errors import BadArgument
from semibandits.live.learner import Learner
from semibandits.plotting.axes import COLOURS, DASHES, light_grid
from semibandits.problem import Problem
from semibandits.simulation import simulate
from semibandits.types import IndexPolicy, Policy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Player: TypeAlias = IndexPolicy | Policy
Sample: TypeAlias = NDArray[np.float64]
"""Regret at the end of runs: (policies, runs)."""
Z = 1.96


class Measured(NamedTuple):
    """A number with its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3g} ± {self.error:.2g}"


class Line(NamedTuple):
    """Numbers with errors over x."""

    name: str
    x: tuple[float, ...]
    points: tuple[Measured, ...]


class Panel(NamedTuple):
    """One picture: lines, and curves without errors to compare them with."""

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    runs: str
    """Over what the means are, and the bands."""
    guides: tuple[Line, ...] = ()
    logarithmic: bool = True


def mean(sample: NDArray[np.float64]) -> Measured:
    return Measured(float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(sample.size)))


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> Measured:
    """Of two means of paired runs, with the error by linearisation."""
    value = float(above.mean() / below.mean())
    spread = (above - value * below).std(ddof=1) / np.sqrt(above.size)
    return Measured(value, float(spread / below.mean()))


def exponent(x: Sequence[float], points: Sequence[Measured]) -> Measured:
    """The slope of log y over log x by least squares, where the points are independent of each other."""
    if len(x) < 2 or min(x) <= 0.0:
        raise BadArgument(f"an exponent is for two or more positive x, got {x!r:.200}")
    at = np.log(np.asarray(x, dtype=np.float64))
    weights = (at - at.mean()) / ((at - at.mean()) ** 2).sum()
    values = np.array([point.value for point in points])
    errors = np.array([point.error for point in points])
    if not (values > 0.0).all():
        raise BadArgument(f"an exponent is for positive numbers, got {values.tolist()}")
    return Measured(float(weights @ np.log(values)), float(np.sqrt((weights**2) @ (errors / values) ** 2)))


def final(problem: Problem, players: Sequence[Player], horizon: int, runs: int, seed: int) -> Sample:
    """The regret of every run at the horizon."""
    return simulate(problem, players, horizon=horizon, runs=runs, seed=seed, checkpoints=[horizon]).regret[:, :, -1]


def top(k: int) -> Problem:
    return Problem(sets.TopK(2 * k, k), environments.Bernoulli([0.6] * k + [0.4] * k))


def sizes(most: int = 6, horizon: int = 20_000, runs: int = 40, seed: int = 0) -> list[Panel]:
    """What CombUCB1's regret is divided by ESCB's, on top k of 2k items and on grids, as solutions grow.

    CombUCB1 with alpha = 1/2 is as sure of each item as ESCB with f = log t is of a solution.
    """
    players: list[Player] = [
        policies.CombUCB1(init="all"),
        policies.CombUCB1(alpha=0.5, init="all"),
        policies.ESCB(c=0.0),
        policies.ESCB(),
    ]
    compared = {
        "CombUCB1 / ESCB with f = log t": (0, 2),
        "CombUCB1 with alpha = 1/2 / ESCB with f = log t": (1, 2),
        "CombUCB1 / ESCB with f = log t + 4 K log log t": (0, 3),
    }
    families = {
        "top K of 2K items": {float(k): top(k) for k in range(1, most + 1)},
        "paths in m x m squares, K = 2m": {2.0 * m: problems.grid_path(m, 0.2) for m in range(1, most + 1)},
    }
    panels = []
    for title, family in families.items():
        found = {k: final(problem, players, horizon, runs, seed) for k, problem in family.items()}
        lines = [
            Line(name, tuple(found), tuple(ratio(regret[above], regret[below]) for regret in found.values()))
            for name, (above, below) in compared.items()
        ]
        panels.append(Panel(title, "K, the size of a solution", "ratio of regrets", tuple(lines), f"{runs} runs"))
    return panels


def correlated(rho: float, k: int = 4, solutions: int = 8, gap: float = 0.05, sigma: float = 0.2) -> Problem:
    """Disjoint solutions of k items, all pairs of items correlated alike; the first is better by about k · gap."""
    means = np.where(np.arange(k * solutions) < k, 0.5, 0.5 - gap)
    return Problem(sets.KPaths(k * solutions, k), environments.CorrelatedGaussian.equicorrelated(means, sigma, rho))


def correlation(
    rhos: Sequence[float] = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9), horizon: int = 20_000, runs: int = 40, seed: int = 0
) -> list[Panel]:
    """Regret over the correlation. All take the variance of an item to be 1/4; OLSUCB is told the correlations too."""
    names = ["CombUCB1", "ESCB, f = log t + 4 K log log t", "OLSUCB, correlations known", "ESCB, f = log t"]
    found = []
    for rho in rhos:
        problem = correlated(rho)
        known = np.full((problem.n_items, problem.n_items), 0.25 * rho)
        np.fill_diagonal(known, 0.25)
        players: list[Player] = [
            policies.CombUCB1(init="all"),
            policies.ESCB(),
            policies.OLSUCB(known),
            policies.ESCB(c=0.0),
        ]
        found.append(final(problem, players, horizon, runs, seed))
    lines = tuple(Line(name, tuple(rhos), tuple(mean(regret[at]) for regret in found)) for at, name in enumerate(names))
    title = f"8 disjoint solutions of 4 items, n = {horizon:,}"
    return [Panel(title, "correlation of any two items", "regret", lines, f"{runs} runs", logarithmic=False)]


def ambush(horizon: int, seed: int = 0) -> Problem:
    """Top 3 of 8: what CombUCB1 chooses costs 1, everything else is a coin, and three items have a better one."""
    feasible = sets.TopK(8, 3)
    coins = problems.coin_table(feasible, horizon, seed=seed).environment
    assert isinstance(coins, environments.Adversarial)
    victim = Learner(feasible, policies.CombUCB1(), sense="min")
    return problems.against(victim, feasible, horizon, others=coins.losses)


def contenders() -> dict[str, Player]:
    return {
        "CombUCB1": policies.CombUCB1(),
        "FPL": policies.FPL(),
        "OSMD, entropy": policies.OSMD(),
        "OSMD, INF": policies.OSMD("inf"),
        "HYBRID": policies.HYBRID(),
    }


def adversary(
    horizons: Sequence[int] = (1_000, 3_000, 10_000, 30_000, 100_000), runs: int = 8, tables: int = 8, seed: int = 0
) -> list[Panel]:
    """Regret over the horizon: against an adversary who knows CombUCB1, and in a world of coins.

    Every horizon is played by itself, with other seeds and `tables` tables of losses, since some policies and all
    losses are made for it: so the points are independent of each other. Errors are those of the mean over tables.
    """
    players = contenders()
    coins = Problem(sets.TopK(10, 5), environments.Bernoulli([0.5625] * 5 + [0.4375] * 5))
    worlds: dict[str, Callable[[int, int], Problem]] = {
        "losses made against CombUCB1, top 3 of 8": ambush,
        "coins, top 5 of 10, gap 1/8": lambda horizon, seed: coins,
    }
    panels = []
    for title, world in worlds.items():
        found = []
        for at, n in enumerate(horizons):
            seeds = [seed + 1_000 * at + table for table in range(tables)]
            results = [final(world(n, one), list(players.values()), n, runs, one) for one in seeds]
            found.append(np.stack([regret.mean(axis=1) for regret in results], axis=1))
        x = tuple(float(n) for n in horizons)
        lines = tuple(Line(name, x, tuple(mean(one[at]) for one in found)) for at, name in enumerate(players))
        base = min(line.points[0].value for line in lines)
        root = Line("in proportion to sqrt(n)", x, tuple(Measured(base * (n / x[0]) ** 0.5, 0.0) for n in x))
        over = f"{tables} tables of {runs} runs" if world is ambush else f"{tables * runs} runs"
        panels.append(Panel(title, "horizon n", "regret", lines, over, (root,)))
    return panels


def pairs(k: int, gap: float) -> Problem:
    """One of two items in each of k pairs, in all of which the first is better by `gap`."""
    means = np.tile([0.5 + 0.5 * gap, 0.5 - 0.5 * gap], k)
    return Problem(sets.PartitionMatroid(np.repeat(np.arange(k), 2), 1), environments.Bernoulli(means))


def feedback(
    sizes: Sequence[int] = (1, 2, 4, 8),
    gaps: Sequence[float] = (0.02, 0.04, 0.08, 0.16, 0.32),
    horizon: int = 10_000,
    runs: int = 40,
    seed: int = 0,
) -> list[Panel]:
    """The largest regret over several gaps, seen by item and by sum, and what one is divided by the other.

    In each of K pairs one item is chosen. LinUCB sees the sum alone, whose variance is K times an item's; its width is
    ESCB's for such a variance, so that both are sure to the same degree: sqrt(log(n) / 2 · K).
    """
    found = []
    for k in sizes:
        players: list[Player] = [
            policies.ESCB(c=0.0),
            policies.CombUCB1(alpha=0.5, init="all"),
            policies.LinUCB(alpha=float(np.sqrt(0.5 * k * np.log(horizon)))),
        ]
        by_gap = np.stack([final(pairs(k, gap), players, horizon, runs, seed + k) for gap in gaps])
        found.append([by_gap[by_gap[:, at].mean(axis=1).argmax(), at] for at in range(len(players))])
    names = ("ESCB, f = log t: every item seen", "CombUCB1, alpha = 1/2: every item seen", "LinUCB: the sum seen")
    x = tuple(float(k) for k in sizes)
    regret = tuple(Line(name, x, tuple(mean(one[at]) for one in found)) for at, name in enumerate(names))
    factors = tuple(
        Line(f"LinUCB / {name.partition(',')[0]}", x, tuple(ratio(one[2], one[at]) for one in found))
        for at, name in enumerate(names[:2])
    )
    root = Line("sqrt(K)", x, tuple(Measured(k**0.5, 0.0) for k in x))
    label = "K, the number of pairs"
    return [
        Panel(
            f"one of each of K pairs, n = {horizon:,}, the worst of {len(gaps)} gaps",
            label,
            "regret",
            regret,
            f"{runs} runs",
        ),
        Panel("what seeing only the sum costs", label, "factor", factors, f"{runs} runs", (root,)),
    ]


def draw(panels: Sequence[Panel]) -> "Figure":
    """The panels side by side; bands are 95% intervals."""
    if not isinstance(panels, Sequence) or not panels or not all(isinstance(panel, Panel) for panel in panels):
        raise BadArgument(f"expected panels, such as sizes() gives, got {panels!r:.200}")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.4 * len(panels), 4.9), layout="constrained")
    for ax, panel in zip(np.atleast_1d(figure.subplots(1, len(panels))), panels, strict=True):
        _draw_panel(ax, panel)
    return figure


def _few_numbers(value: float, position: int) -> str:
    """Names 1, 2, 3 and 5 times powers of ten, in full."""
    first = f"{value:.0e}"[0]
    return f"{value:,g}" if first in "1235" else ""


def _draw_panel(ax: "Axes", panel: Panel) -> None:
    from matplotlib.ticker import FuncFormatter

    for line, colour, dashes in zip(panel.lines, itertools.cycle(COLOURS), itertools.cycle(DASHES), strict=False):
        value = np.array([point.value for point in line.points])
        half = Z * np.array([point.error for point in line.points])
        style: Mapping[str, Any] = {"color": colour, "linestyle": dashes}
        ax.plot(line.x, value, label=line.name, marker="o", markersize=3.5, linewidth=1.6, zorder=3, **style)
        low = np.maximum(value - half, 1e-3 * value) if panel.logarithmic else value - half
        ax.fill_between(line.x, low, value + half, color=colour, alpha=0.2, linewidth=0.0, zorder=2)
    for guide in panel.guides:
        ax.plot(guide.x, [point.value for point in guide.points], label=guide.name, color="#777777", linewidth=1.0)
    if panel.logarithmic:
        ax.set_xscale("log")
        ax.set_yscale("log")
        if max(panel.lines[0].x) < 100:
            ax.set_xticks(panel.lines[0].x, [f"{x:g}" for x in panel.lines[0].x])
            ax.set_xticks([], minor=True)
        for axis in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            axis(FuncFormatter(_few_numbers))
    else:
        ax.set_ylim(bottom=0.0)
    ax.set_title(f"{panel.title}\nmeans of {panel.runs}, bands: 95% intervals", loc="left", fontsize="medium")
    ax.set_xlabel(panel.x_label)
    ax.set_ylabel(panel.y_label)
    light_grid(ax)
    ax.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.15), fontsize="small", frameon=False, handlelength=3.0)
