"""Measured regret under every bound that applies to a problem."""

from typing import TYPE_CHECKING, NamedTuple

from semibandits.experiments.figure_1c import HORIZON
from semibandits.experiments.paper.looks import legend_below, new_figure, plain_numbers
from semibandits.experiments.paper.parts import Claim, Drawing, Part, columns
from semibandits.experiments.paper.plays import DRAWN, SIGMAS, Plays
from semibandits.markup import Html, number, table
from semibandits.problem import Problem
from semibandits.problems import grid_path, k_path
from semibandits.theory import bounds
from semibandits.theory.kveton2015 import grid_path_bound, grid_path_gaps, theorem_5

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        measured += under_bounds(name, grid_path(m, sigma), HORIZON, float(sample.mean()), error)
    paths = plays.k_paths
    assert paths is not None
    for cell in paths.cells:
        name = f"K-path L={cell.L}, K={cell.K}, Δ={cell.gap:g}"
        problem = k_path(cell.L, cell.K, cell.gap)
        measured += under_bounds(name, problem, paths.horizon, cell.regret, cell.error)
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
            f"Regret on the grid m = {DRAWN[0]}, σ = {DRAWN[1]}, with every bound that applies. Those marked 'in the "
            "limit' are about n without end and may be crossed on the way.",
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
    under = sum(one.holds for one in measured)
    nearest = min(measured, key=lambda one: one.ratio)
    return (
        Claim(
            "bounds",
            "Regret is under every upper bound that applies",
            f"{under} of {len(measured)}; nearest {nearest.ratio:.1f} × the regret",
            "all",
            under == len(measured),
        ),
        Claim(
            "bounds",
            "On grids the log term of Theorem 5 is below 4272 m² log n/σ",
            f"{max(shares):.2f} of it at most",
            "< 1",
            max(shares) < 1.0,
        ),
    )


def under_bounds(name: str, problem: Problem, n: int, regret: float, error: float) -> list[Measured]:
    """Every bound of CombUCB1 beside a measured regret."""
    found = []
    for bound in bounds(problem, n).of("upper", "CombUCB1"):
        value = float(bound.value[0])
        holds = regret + CHANCE * error <= value
        vacuous = bool(bound.vacuous[0])
        found.append(Measured(name, bound.title, n, regret, error, value, value / regret, vacuous, holds))
    return found


def log_term_share(m: int, sigma: float) -> float:
    """The term of Theorem 5 that grows with n, over the bound of Section 7."""
    L, K, gaps = 2 * m * (m + 1), 2 * m, grid_path_gaps(m, sigma)
    term = float(theorem_5(HORIZON, L, K, gaps) - theorem_5(1, L, K, gaps))
    return term / float(grid_path_bound(HORIZON, m, sigma))


def draw(plays: Plays) -> "Axes":
    result = plays.cells[DRAWN]
    ax = result.plot(bounds=bounds(grid_path(*DRAWN), result.rounds), ax=new_figure(7.2, 6.4))
    ax.set_title(f"grid-path problem, m = {DRAWN[0]}, σ = {DRAWN[1]}", loc="left", fontsize="medium")
    legend_below(ax, columns=2)
    return plain_numbers(ax)
