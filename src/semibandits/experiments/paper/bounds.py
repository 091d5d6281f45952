"""Measured regret under every bound that applies to a problem."""

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semibandits._util.html import Html, number, table
from semibandits.experiments.paper.claims import OURS, Claim, Drawing, Part, columns
from semibandits.experiments.paper.published import HORIZON
from semibandits.experiments.paper.runs import DRAWN, SIGMAS, Grid, Plays
from semibandits.experiments.paper.style import dress, end_labels, mean_and_band, plain_numbers
from semibandits.plotting.axes import COLOURS, LOWER_COLOUR, own_axes
from semibandits.problems import grid_path, k_path
from semibandits.theory import Bound, Bounds, bounds
from semibandits.theory.kveton2015 import grid_path_bound, grid_path_gaps, theorem_5

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAPER, EARLIER = "Kveton et al. 2015", "Chen et al. 2013"
GROUPS: dict[str, tuple[str, str, Any]] = {
    PAPER: ("the paper's bounds", COLOURS[1], (0, (6, 2))),
    EARLIER: (EARLIER, "#777777", (0, (1.2, 1.2))),
    "semibandits": ("this library's", COLOURS[2], (0, (6, 1.5, 1.2, 1.5))),
}
"""How bounds are drawn, by their source."""
SAME = 1.05
"""Curves whose ends differ by less than this factor share a label."""
CHANCE = 3.0
"""Standard errors by which the regret must stay below a bound."""


class Measured(NamedTuple):
    """The regret of CombUCB1 on a problem beside one upper bound."""

    problem: str
    bound: str
    n: int
    regret: float
    error: float
    value: float
    """Of the bound."""
    ratio: float
    """The bound over the regret."""
    vacuous: bool
    """Whether the bound is above what anybody could lose."""
    holds: bool
    """Whether the regret and three of its errors are below it."""


def judge(plays: Plays) -> Part:
    measured = []
    for m, sigma in plays.settings.bounds:
        sample = plays.cells[m, sigma].regret[0, :, -1]
        error = float(sample.std(ddof=1)) / sample.size**0.5
        name = f"grid m={m}, σ={sigma}"
        measured += under_bounds(name, on_grid((m, sigma)), float(sample.mean()), error)
    paths = plays.k_paths
    assert paths is not None
    for cell in paths.cells:
        name = f"K-path L={cell.L}, K={cell.K}, Δ={cell.gap:g}"
        found = bounds(k_path(cell.L, cell.K, cell.gap), paths.horizon)
        measured += under_bounds(name, found, cell.regret, cell.error)
    by_bound: dict[str, list[Measured]] = {}
    for one in measured:
        by_bound.setdefault(one.bound, []).append(one)
    nearest = {name: min(some, key=lambda one: one.ratio) for name, some in by_bound.items()}
    ordered = sorted(nearest.values(), key=lambda one: one.ratio)
    shares = {(m, sigma): log_term_share(m, sigma) for m in range(1, 8) for sigma in SIGMAS}
    body = (
        Html(
            "<p>An upper bound promises: no more than this. Every bound on CombUCB1 that applies to one of the "
            "problems played here was worked out for it, the paper's (Theorems 2 to 6, Section 7), that of Chen et "
            "al. (2013) which it improves on, and sharper ones of this library, and held against the regret that was "
            f"measured. It must be above the mean by {CHANCE:.0f} standard errors. Bounds hold for all problems of a "
            "kind, the worst included, and so they are far above on these. Some say nothing at all so early: they "
            "are above what even the worst choice in every round would lose (<i>vacuous</i>).</p>\n"
        ),
        Drawing(
            "bounds",
            "Regret of CombUCB1 over the rounds on logarithmic axes, with upper bounds far above it and lower bounds "
            "below.",
            f"Regret on the grid m = {DRAWN[0]}, σ = {DRAWN[1]} (mean of {plays.settings.runs} runs, band: ± 3 "
            "standard errors), with every bound that applies. Upper bounds are faint as long as they say nothing: "
            "above what the worst choice in every round loses. The lower bound is about <i>n</i> without end, and "
            "may be crossed on the way.",
            lambda: draw(plays),
        ),
        table(
            ["bound", "problems", "nearest: bound / regret", "there", "vacuous"],
            [
                (
                    *(one.bound, len(by_bound[one.bound]), number(one.ratio, 1), one.problem),
                    f"{sum(each.vacuous for each in by_bound[one.bound])} of {len(by_bound[one.bound])}",
                )
                for one in ordered
            ],
            "How near each bound comes to the regret that was measured.",
        ),
        Html(
            "<p>Section 7 simplifies the growing term of Theorem 5 on the grid to 4272 <i>m</i>² log <i>n</i>/σ, by "
            "the gaps of Figure 1b. The exact sum is between "
            f"{min(shares.values()):.2f} and {max(shares.values()):.2f} of it.</p>\n"
        ),
    )
    numbers = {
        "nearest": [one._asdict() for one in ordered],
        "log_term_of_theorem_5_over_section_7": {f"m={m}, sigma={s}": share for (m, s), share in shares.items()},
    }
    claims = claims_of(measured, list(shares.values()))
    return Part("bounds", claims, body, {"bounds": columns(measured)}, numbers)


def claims_of(measured: list[Measured], shares: list[float]) -> tuple[Claim, ...]:
    """`shares` are of the log term of Theorem 5 in the bound of Section 7."""
    theirs, others = ([one for one in measured if one.bound.startswith(PAPER) is so] for so in (True, False))
    return (
        _under("Regret is under the paper's upper bounds", "Section 3", theirs),
        _under("Regret is under all others: sharper, earlier", OURS, others),
        Claim(
            "bounds",
            "The log term of Theorem 5 is below 4272 m² log n/σ",
            f"{max(shares):.2f} of it at most",
            "< 1",
            max(shares) < 1.0,
            "Section 7",
            value=max(shares),
            high=1.0,
        ),
    )


def _under(statement: str, source: str, measured: list[Measured]) -> Claim:
    under, count = sum(one.holds for one in measured), len(measured)
    nearest = min(one.ratio for one in measured)
    told = f"{under} of {count}; nearest {nearest:.1f} × the regret"
    return Claim("bounds", statement, told, "all", under == count, source, value=under, low=count)


@cache
def on_grid(grid: Grid) -> Bounds:
    """All bounds of a grid-path problem at the horizon of Figure 1c."""
    return bounds(grid_path(*grid), HORIZON)


def under_bounds(name: str, found: Bounds, regret: float, error: float) -> list[Measured]:
    """Every bound of CombUCB1 beside a measured regret, both in the same round."""
    measured = []
    for bound in found.of("upper", "CombUCB1"):
        n, value, vacuous = int(bound.rounds[0]), float(bound.value[0]), bool(bound.vacuous[0])
        holds = regret + CHANCE * error <= value
        measured.append(Measured(name, bound.title, n, regret, error, value, value / regret, vacuous, holds))
    return measured


def log_term_share(m: int, sigma: float) -> float:
    """The term of Theorem 5 that grows with n, over the bound of Section 7."""
    L, K, gaps = 2 * m * (m + 1), 2 * m, grid_path_gaps(m, sigma)
    term = float(theorem_5(HORIZON, L, K, gaps) - theorem_5(1, L, K, gaps))
    return term / float(grid_path_bound(HORIZON, m, sigma))


def draw(plays: Plays) -> "Axes":
    result = plays.cells[DRAWN]
    rounds, found = result.rounds, bounds(grid_path(*DRAWN), result.rounds)
    ax = own_axes(8.4, 5.6)
    ax.set_xscale("log")
    ax.set_yscale("log")
    mean = mean_and_band(ax, rounds, result.regret[0], COLOURS[0])
    ax.plot(rounds, found.trivial, color="#222222", linewidth=0.8, zorder=2)
    ends: list[tuple[float, str, str]] = [
        (float(mean[-1]), "CombUCB1, measured", COLOURS[0]),
        (float(found.trivial[-1]), "no policy loses more", "#222222"),
    ]
    for source, (group, colour, dashes) in GROUPS.items():
        ax.plot([], [], color=colour, linestyle=dashes, linewidth=1.6, label=group)
        ours = [bound for bound in found.of("upper", "CombUCB1") if bound.source == source]
        for bound in ours:
            says = np.where(bound.vacuous, np.nan, bound.value)
            for values, width, alpha in ((bound.value, 0.9, 0.5), (says, 1.6, 1.0)):
                ax.plot(rounds, values, color=colour, linestyle=dashes, linewidth=width, alpha=alpha, zorder=3)
        ends += [(height, name, colour) for height, name in _together(ours)]
    lower = [bound for bound in found if bound.kind == "lower"]
    for bound in lower:
        ax.plot(rounds, bound.value, color=LOWER_COLOUR, linestyle=(0, (6, 2)), linewidth=1.4, zorder=3)
        ends.append((float(bound.value[-1]), f"{bound.source}:\nin the limit, none loses less", LOWER_COLOUR))
    dress(ax, "round", "realised regret", f"grid-path problem, m = {DRAWN[0]}, σ = {DRAWN[1]}")
    ax.set_xlim(rounds[0], rounds[-1])
    ax.set_ylim(0.6 * min(mean[0], *(bound.value[0] for bound in lower)), 1.6 * max(height for height, *_ in ends))
    end_labels(ax, ends, apart=0.042)
    ax.legend(frameon=False, fontsize="small", loc="lower right", handlelength=3.2)
    return plain_numbers(ax)


def _together(found: list[Bound]) -> list[tuple[float, str]]:
    """Where the curves of one source end, and their names; those that end in one place share it."""
    ends: list[tuple[float, str]] = []
    for value, bound in sorted(((float(bound.value[-1]), bound) for bound in found), key=lambda one: one[0]):
        name = f"{bound.source}, {bound.name}" if bound.source == EARLIER else bound.name
        if ends and value < SAME * ends[-1][0]:
            ends[-1] = (ends[-1][0], f"{ends[-1][1]}; {name}")
        else:
            ends.append((value, name))
    return ends
