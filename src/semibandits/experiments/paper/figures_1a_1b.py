"""Figures 1a and 1b: the paper's two problems, and what it says of them, read off the objects themselves."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semibandits import rng
from semibandits._util.html import Html, table
from semibandits.experiments.paper.claims import Claim, Drawing, Part, columns, power_of_ten
from semibandits.experiments.paper.runs import FEW_K_PATHS, K_PATHS, SIGMAS, Plays
from semibandits.experiments.paper.tightness import Instance
from semibandits.problem import Problem
from semibandits.problems import grid_path, k_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = Instance(20, 5, 0.5)
SHOWN_GRID = 4
MOST_SQUARES = 7
SOURCES = {"fig1a": "Section 6", "fig1b": "Section 7"}
EXACT = 1e-12
"""What is left to rounding."""
DRAWS = 200
"""Rounds of weights that are looked at; two coins that are not one fall alike that often with probability 2^-200."""

# Figure 1a


class PathFacts(NamedTuple):
    """What a K-path problem turned out to be."""

    L: int
    K: int
    gap: float
    paths: int
    disjoint: bool
    """Whether there are L/K paths of K items, no two of which share one; path j as the paper numbers its items."""
    one_coin: bool
    """Whether the items of a path always weigh the same, and those of two paths do not."""
    off: float
    """The largest difference of another path's gap from Δ."""


def fig1a(plays: Plays) -> Part:
    found = [examine_paths(k_path(*one), one) for one in (SHOWN, *FEW_K_PATHS, *K_PATHS)]
    off = max(one.off for one in found)
    claims = (
        _all("fig1a", "L/K disjoint paths of K items", [one.disjoint for one in found]),
        _all("fig1a", "Items of a path share one coin, paths do not", [one.one_coin for one in found]),
        Claim(
            "fig1a",
            "Every other path is worse by exactly Δ",
            f"off by {power_of_ten(off)}",
            f"≤ {power_of_ten(EXACT)}",
            off <= EXACT,
            SOURCES["fig1a"],
            value=off,
            high=EXACT,
        ),
    )
    body = (
        Html(
            "<p>The lower bounds of the paper need a problem that is hard for everybody. Its <i>K-path problem</i> is "
            "as simple as can be: <i>L</i> items make <i>L</i>/<i>K</i> paths that share nothing, and a solution is "
            "one path. The items of a path all weigh 1 or all weigh 0, by one coin. The coin of the first path has "
            "mean ½, all others ½ − Δ/<i>K</i>, so that any other path loses Δ a round. Who knows this has a bandit "
            "with <i>L</i>/<i>K</i> arms whose rewards are multiplied by <i>K</i>.</p>\n"
        ),
        Drawing(
            "fig1a",
            f"{SHOWN.L // SHOWN.K} separate paths of {SHOWN.K} items each from one source to one target; the first "
            "one is marked as the best.",
            f"The paper's Figure 1a: k_path(n_items={SHOWN.L}, k={SHOWN.K}, gap={SHOWN.gap}), drawn from the object.",
            lambda: _draw(k_path(*SHOWN), f"K-path problem: L = {SHOWN.L}, K = {SHOWN.K}"),
        ),
        Html(
            f"<p>All of this was read off {len(found)} such problems as the library makes them: the paths by walking "
            f"through the graph, the coins by looking at {DRAWS} rounds of weights, the gaps by asking for each.</p>\n"
        ),
    )
    rows = columns(found)
    return Part("fig1a", claims, body, {"fig1a": rows}, {"problems": rows})


def examine_paths(problem: Problem, said: Instance) -> PathFacts:
    """A problem beside what it is said to be."""
    feasible: Any = problem.feasible
    paths = list(_walks(feasible.edges, feasible.source, feasible.target))
    numbered = [list(range(first, first + said.K)) for first in range(0, said.L, said.K)]
    keys = [rng.key(seed=0, run=0, round=round, stream=rng.WORLD) for round in range(1, DRAWS + 1)]
    weights = np.array([problem.environment.weights(round, key) for round, key in enumerate(keys, start=1)])
    coins = weights[:, [path[0] for path in paths]].T
    together = all((weights[:, path] == weights[:, path[:1]]).all() for path in paths)
    gaps = [problem.gap(path) for path in paths if not np.array_equal(path, problem.optimum)]
    return PathFacts(
        *said,
        paths=len(paths),
        disjoint=sorted(paths) == numbered,
        one_coin=together and len({tuple(coin) for coin in coins}) == len(paths),
        off=max(abs(gap - said.gap) for gap in gaps),
    )


def _walks(edges: Sequence[tuple[Any, Any]], at: Any, target: Any) -> Iterator[list[int]]:
    """All ways through a graph without cycles, each as ascending edges."""
    if at == target:
        yield []
        return
    for item, (tail, head) in enumerate(edges):
        if tail == at:
            for rest in _walks(edges, head, target):
                yield sorted([item, *rest])


# Figure 1b


class GridFacts(NamedTuple):
    """What a grid-path problem turned out to be."""

    m: int
    sigma: float
    L: int
    K: int
    outside: int
    """How many items the optimum leaves out."""
    along_the_sides: bool
    """Whether the optimum runs down the left side and along the bottom."""
    least: float
    """Of all gaps Δ_{e,min}, in units of σ."""
    largest: float
    off: float
    """The largest difference of a gap from a whole number of σ."""
    crowded: bool
    """Whether some gap i σ belongs to more than 2(i - 1) items."""


def fig1b(plays: Plays) -> Part:
    found = [examine_grid(m, sigma) for m in range(1, MOST_SQUARES + 1) for sigma in SIGMAS]
    sizes = [2 * one.m * (one.m + 1) == one.L and 2 * one.m == one.K for one in found]
    outside = [one.outside == 2 * one.m * (one.m + 1) - 2 * one.m for one in found]
    ranges = [one.off < 1e-9 and (one.least, one.largest) == (2, 2 * one.m) for one in found]
    claims = (
        _all("fig1b", "L = 2m(m+1) items, paths of K = 2m", sizes),
        _all("fig1b", "The optimum is the left and the bottom side", [one.along_the_sides for one in found]),
        _all("fig1b", "|Ẽ| = 2m(m+1) − 2m items are outside of it", outside),
        _all("fig1b", "Gaps of items range from 2σ to 2mσ", ranges),
        _all("fig1b", "At most 2(i−1) items have the gap iσ", [not one.crowded for one in found]),
    )
    body = (
        Html(
            "<p>The experiment of Section 7 looks for the longest way from the upper left to the lower right corner "
            "of a grid of <i>m</i> × <i>m</i> squares, to the right and down only. Every edge is an item, a coin of "
            "its own with mean ½ + σ/2 along the left and the bottom side and ½ − σ/2 elsewhere. So the best path is "
            "the one along these sides, and every edge off it costs σ. A large <i>m</i> makes many items, a small σ "
            "makes them hard to tell apart.</p>\n"
        ),
        Drawing(
            "fig1b",
            f"A grid of {SHOWN_GRID} by {SHOWN_GRID} squares; the best path runs down the left side and along the "
            "bottom.",
            f"The paper's Figure 1b: grid_path(m={SHOWN_GRID}, sigma=0.4), drawn from the object with its optimum.",
            lambda: _draw(grid_path(SHOWN_GRID, 0.4), f"grid-path problem: m = {SHOWN_GRID}"),
        ),
        Html(
            "<p>The gap Δ<sub><i>e</i>,min</sub> of an item is how much the best path through it loses. These were "
            f"worked out for <i>m</i> = 1 to {MOST_SQUARES} and all three σ. The bound of Section 7 rests on "
            "them.</p>\n"
        ),
        table(
            ["m", "L", "K", "items off the optimum", "least gap / σ", "largest gap / σ"],
            [(one.m, one.L, one.K, one.outside, one.least, one.largest) for one in found[:: len(SIGMAS)]],
        ),
    )
    rows = columns(found)
    return Part("fig1b", claims, body, {"fig1b": rows}, {"problems": rows})


def examine_grid(m: int, sigma: float) -> GridFacts:
    problem = grid_path(m, sigma)
    feasible: Any = problem.feasible
    edges = [feasible.edges[item] for item in problem.optimum]
    corners = [edges[0][0], *(head for _, head in edges)]
    multiples = problem.item_gaps[~np.isnan(problem.item_gaps)] / sigma
    whole = np.rint(multiples).astype(np.int64)
    sides = [(row, 0) for row in range(m + 1)] + [(m, column) for column in range(1, m + 1)]
    return GridFacts(
        m,
        sigma,
        problem.n_items,
        problem.max_size,
        outside=multiples.size,
        along_the_sides=corners == sides,
        least=int(whole.min()),
        largest=int(whole.max()),
        off=float(np.abs(multiples - whole).max()),
        crowded=any(int((whole == i).sum()) > 2 * (i - 1) for i in range(1, int(whole.max()) + 1)),
    )


def _all(part: str, statement: str, holds: list[bool]) -> Claim:
    count = sum(holds)
    measured = f"{count} of {len(holds)} problems"
    return Claim(part, statement, measured, "all", all(holds), SOURCES[part], value=count, low=len(holds))


def _draw(problem: Problem, title: str) -> "Axes":
    feasible: Any = problem.feasible
    ax: Axes = feasible.draw(problem.optimum)
    ax.set_title(title, loc="left", fontsize="medium")
    legend: Any = ax.get_legend()
    legend.get_texts()[0].set_text("the best path")
    return ax
