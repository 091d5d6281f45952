"""Section 9: Thompson sampling in the place of upper confidence bounds.

The paper hypothesises that its regret is O(K L (1/Δ) log n) too. A finite experiment can refute that, not prove it. Two
things are looked at: how much regret the last decade of rounds adds, beside the decade before it (as much, if the
regret is logarithmic; 10^¼ = 1.78 times as much if it grows as n^¼, 3.16 times if as √n), and how the regret grows with
K L/Δ over the grids.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.experiments.figure_1c import HORIZON
from semibandits.experiments.paper import fits
from semibandits.experiments.paper.looks import COLOURS, MARKERS, dress, new_figure, plain_numbers
from semibandits.experiments.paper.parts import Claim, Drawing, Part, columns, plus_minus
from semibandits.experiments.paper.plays import CHECKPOINTS, Grid, Plays, every_run
from semibandits.markup import Html, Number, number, table
from semibandits.simulation.result import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONFIDENCE = 0.9999
"""Of the interval of a difference that must not reach 0."""
QUARTER = 10.0**0.25
"""What the last decade of rounds would add, in units of the decade before, if regret grew as n^¼."""
SHOWN: Grid = (3, 0.4)


class Pair(NamedTuple):
    """Both policies on one grid, in the same worlds."""

    m: int
    n_items: int
    sigma: float
    runs: int
    ucb: float
    """Regret of CombUCB1 over these runs."""
    cts: float
    cts_error: float
    difference: float
    """CTS less CombUCB1, run by run."""
    difference_error: float
    less: bool
    """Whether the interval of the difference is below 0."""
    before_last: float
    """What CTS lost from n/100 to n/10."""
    last: float
    """What it lost from n/10 to n."""
    unit: float
    """K L/Δ."""


class Decades(NamedTuple):
    """The regret of all grids in the last decade over that in the decade before."""

    ratio: float
    error: float


def judge(plays: Plays) -> Part:
    runs = plays.settings.other_runs
    samples = {grid: (plays.cells[grid].regret[0, :runs], cts.regret[0]) for grid, cts in plays.thompson.items()}
    pairs = [pair(grid, *both) for grid, both in samples.items()]
    decades = growth([cts for _, cts in samples.values()])
    growing = fits.powers([[one.unit] for one in pairs], [one.cts for one in pairs], [one.cts_error for one in pairs])
    body = (
        Html(
            "<p>Instead of the upper end of a confidence interval, <i>Thompson sampling</i> gives the oracle a draw "
            "from what is believed about every item: here from Beta(1 + successes, 1 + failures). The paper expects "
            "it to do better in practice, and hypothesises that its regret is <i>O</i>(<i>K L</i> (1/Δ) log "
            "<i>n</i>), as that of CombUCB1 is. Both played here in the same worlds, so that the difference can be "
            "taken run by run.</p>\n"
        ),
        Drawing(
            "thompson-items",
            "Regret against the number of items on a logarithmic scale: Thompson sampling far below CombUCB1 on every "
            "grid.",
            f"Regret after {HORIZON:,} rounds; filled: CombUCB1, hollow: Thompson sampling (CTS).",
            lambda: draw_items(pairs),
        ),
        table(
            ["m", "σ", "CombUCB1", "CTS", "± error", "difference", "± error", "times less"],
            [_row(one) for one in pairs],
            f"Over {runs} paired runs.",
        ),
        Html(
            "<p>Does it grow as log <i>n</i>? Then every decade of rounds adds the same. Over all grids the last "
            f"decade added {plus_minus(*decades)} times what the one before it did; √<i>n</i> would make it 3.16, "
            f"<i>n</i><sup>¼</sup> {QUARTER:.2f}. Over these grids the regret grows as (<i>K L</i>/Δ) to the power "
            f"{plus_minus(growing.exponents[0], growing.errors[0])}: more slowly than the hypothesis allows. So "
            "nothing here speaks against it. An experiment cannot prove it, and these grids are not the hardest "
            "problems: where solutions are large and share few items, Thompson sampling can do much worse.</p>\n"
        ),
        Drawing(
            "thompson-rounds",
            "Regret of both policies over the rounds, rounds on a logarithmic scale.",
            f"Regret over time on the grid m = {SHOWN[0]}, σ = {SHOWN[1]}: on a logarithmic scale a straight line is "
            "log n. Bands: 95 % intervals of the mean.",
            lambda: draw_rounds(*samples[SHOWN]),
        ),
    )
    numbers = {
        "runs": runs,
        "cells": [one._asdict() for one in pairs],
        "last_decade_over_the_one_before": decades._asdict(),
        "exponent_of_kl_over_gap": {"exponent": growing.exponents[0], "error": growing.errors[0]},
    }
    claims = claims_of(pairs, decades, growing)
    tables: dict[str, Any] = {"thompson": columns(pairs), "thompson-runs": every_run(plays.thompson)}
    return Part("thompson", claims, body, tables, numbers)


def pair(grid: Grid, ucb: NDArray[np.float64], cts: NDArray[np.float64]) -> Pair:
    """From the regret of every run at every checkpoint."""
    m, sigma = grid
    at = decade_ends()
    difference = estimate(cts[:, -1] - ucb[:, -1], CONFIDENCE)
    of_cts = estimate(cts[:, -1], CONFIDENCE)
    before_last, last = np.diff(cts[:, at].mean(axis=0)).tolist()
    K, L, gap = 2 * m, 2 * m * (m + 1), 2.0 * sigma
    return Pair(
        *(m, L, sigma, len(cts), float(ucb[:, -1].mean()), float(of_cts.mean), float(of_cts.error)),
        *(float(difference.mean), float(difference.error), bool(difference.high < 0.0)),
        *(before_last, last, K * L / gap),
    )


def growth(samples: list[NDArray[np.float64]]) -> Decades:
    """What the last decade adds over what the one before it adds; of the regret of all grids together."""
    before, last = np.diff([sample[:, decade_ends()] for sample in samples], axis=2).sum(axis=0).T
    ratio = float(last.mean() / before.mean())
    rest = last - ratio * before
    return Decades(ratio, float(rest.std(ddof=1)) / len(rest) ** 0.5 / float(before.mean()))


def decade_ends() -> list[int]:
    """Where n/100, n/10 and n are among the checkpoints."""
    found: list[int] = np.searchsorted(CHECKPOINTS, [HORIZON // 100, HORIZON // 10, HORIZON]).tolist()
    return found


def claims_of(pairs: list[Pair], decades: Decades, growing: fits.Powers) -> tuple[Claim, ...]:
    less = sum(one.less for one in pairs)
    times = [one.ucb / one.cts for one in pairs]
    return (
        Claim(
            "thompson",
            "Thompson sampling has less regret than CombUCB1",
            f"{less} of {len(pairs)} grids; {min(times):.1f} to {max(times):.1f} times less",
            "all",
            less == len(pairs),
        ),
        Claim(
            "thompson",
            "Its regret is logarithmic: last decade / the one before",
            plus_minus(*decades),
            f"≤ {QUARTER:.2f} (n^¼)",
            decades.ratio <= QUARTER,
        ),
        Claim(
            "thompson",
            "It grows no faster than K L/Δ: exponent of K L/Δ",
            plus_minus(growing.exponents[0], growing.errors[0]),
            "≤ 1",
            growing.exponents[0] <= 1.0,
        ),
    )


def draw_items(pairs: list[Pair]) -> "Axes":
    ax = new_figure(6.8, 4.6)
    for sigma, colour, marker in zip(dict.fromkeys(one.sigma for one in pairs), COLOURS, MARKERS, strict=False):
        ours = [one for one in pairs if one.sigma == sigma]
        items = [one.n_items for one in ours]
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1.4, "capsize": 3}
        ax.plot(items, [one.ucb for one in ours], label=f"CombUCB1, σ = {sigma}", **_without(style, "capsize"))
        ax.errorbar(
            items,
            [one.cts for one in ours],
            yerr=[3.0 * one.cts_error for one in ours],
            markerfacecolor="white",
            linestyle="dashed",
            label=f"CTS, σ = {sigma}",
            **style,
        )
    ax.set_yscale("log")
    plain_numbers(ax)
    dress(ax, "number of items L", f"regret after {HORIZON:,} rounds", "in the same worlds")
    ax.set_xticks(sorted({one.n_items for one in pairs}))
    ax.legend(frameon=False, fontsize="small", ncols=2)
    return ax


def draw_rounds(ucb: NDArray[np.float64], cts: NDArray[np.float64]) -> "Axes":
    ax = new_figure(6.8, 4.2)
    for name, sample, colour, dashes in (("CombUCB1", ucb, COLOURS[0], "solid"), ("CTS", cts, COLOURS[1], "dashed")):
        found = estimate(sample.T, 0.95)
        ax.plot(CHECKPOINTS, found.mean, color=colour, linestyle=dashes, linewidth=1.8, label=name, zorder=3)
        ax.fill_between(CHECKPOINTS, found.low, found.high, color=colour, alpha=0.2, linewidth=0.0, zorder=2)
    ax.set_xscale("log")
    plain_numbers(ax)
    dress(ax, "round", "realised regret", f"grid m = {SHOWN[0]}, σ = {SHOWN[1]}, mean of {len(cts)} runs")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _without(style: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in style.items() if key != name}


def _row(one: Pair) -> tuple[Any, ...]:
    return (
        *(one.m, Number(f"{one.sigma}"), number(one.ucb, 1), number(one.cts, 1), number(one.cts_error, 1)),
        *(number(one.difference, 1), number(one.difference_error, 1), number(one.ucb / one.cts, 1)),
    )
