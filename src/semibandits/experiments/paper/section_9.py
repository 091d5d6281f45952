"""Section 9: Thompson sampling in the place of upper confidence bounds.

The paper hypothesises that its regret is O(K L (1/Δ) log n) too. A finite experiment can refute that, not prove it. Two
things are looked at: how much regret the last decade of rounds adds, beside the decade before it (as much, if the
regret is logarithmic; 10^¼ = 1.78 times as much if it grows as n^¼, 3.16 times if as √n), and how the regret grows with
K L/Δ over the grids. The first cannot tell log n from what is only a little faster: the claim says no more than n^¼.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util.html import Html, Number, number, table
from semibandits.experiments.paper import fits
from semibandits.experiments.paper.bounds import on_grid
from semibandits.experiments.paper.claims import OURS, Claim, Drawing, Part, columns, plus_minus
from semibandits.experiments.paper.published import HORIZON
from semibandits.experiments.paper.runs import CHECKPOINTS, Grid, Plays, every_run
from semibandits.experiments.paper.style import dress, line_with_bars, mean_and_band, plain_numbers
from semibandits.experiments.report.curves import legend_below, name_as_many_as_fit
from semibandits.experiments.report.pictures import NARROW
from semibandits.plotting.axes import COLOURS, MARKERS, own_axes
from semibandits.simulation.summaries import estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONFIDENCE = 0.9999
"""Of the interval of a difference that must not reach 0."""
QUARTER = 10.0**0.25
"""What the last decade of rounds would add, in units of the decade before, if regret grew as n^¼."""
DECADES = (10, 100, 1_000, 10_000, HORIZON)
SHOWN: Grid = (3, 0.4)


class Pair(NamedTuple):
    """Both policies on one grid, in the same worlds."""

    m: int
    n_items: int
    sigma: float
    runs: int
    ucb: float
    """Regret of CombUCB1 over these runs."""
    ucb_error: float
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


class Decade(NamedTuple):
    """What a decade of rounds adds to the regret of all grids together."""

    end: int
    """Its last round."""
    added: float
    added_error: float
    ratio: float | None
    """That over what the decade before added; the first has none."""
    error: float | None


def judge(plays: Plays) -> Part:
    runs = plays.settings.other_runs
    samples = {grid: (plays.cells[grid].regret[0, :runs], cts.regret[0]) for grid, cts in plays.thompson.items()}
    pairs = [pair(grid, *both) for grid, both in samples.items()]
    decades = by_decade([cts for _, cts in samples.values()])
    least = sum(least_decade(grid) for grid in samples)
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
            f"Regret after {HORIZON:,} rounds; filled: CombUCB1, hollow: Thompson sampling (CTS). Bars: ± 3 standard "
            "errors (mostly smaller than the marks).",
            lambda: draw_items(pairs),
            lambda: draw_items(pairs, NARROW),
        ),
        table(
            ["m", "σ", "CombUCB1", "± error", "CTS", "± error", "difference", "± error", "times less"],
            [_row(one) for one in pairs],
            f"Over {runs} paired runs; ± one standard error.",
        ),
        Html(
            "<p>Does it grow as log <i>n</i>? Then every decade of rounds adds the same in the end. Over all grids "
            f"the last one added {_ratio(decades[-1])} times what the one before it did. This is above 1, and so at "
            "these <i>n</i> the regret is not a multiple of log <i>n</i>; the claim is only that it grows more slowly "
            f"than <i>n</i><sup>¼</sup>, which would make it {QUARTER:.2f} (√<i>n</i>: 3.16).</p>\n"
        ),
        table(
            ["rounds", "regret added", "± error", "over the decade before"],
            [_decade_row(one) for one in decades],
            f"What CTS loses in every decade, on all {len(pairs)} grids together; ± one standard error.",
        ),
        Html(
            "<p>The first decades are those of learning what is bad by far. After that, terms that grow more slowly "
            "than log <i>n</i> hold the regret back: whatever is consistent must in the end "
            f"lose {least:.0f} on these grids in every decade (Graves and Lai), and the last one is at "
            f"{decades[-1].added:.0f}. "
            + (
                "So the decades have to go on growing before they can become equal, and a ratio above 1 is what "
                "logarithmic regret looks like so early."
                if decades[-1].added < least
                else "So the decades may become equal from here on."
            )
            + " Over these grids the regret grows as (<i>K L</i>/Δ) to the power "
            f"{plus_minus(growing.exponents[0], growing.errors[0])}: more slowly than the hypothesis allows. So "
            "nothing here speaks against it. An experiment cannot prove it, and these grids are not the hardest "
            "problems: where solutions are large and share few items, Thompson sampling can do much worse.</p>\n"
        ),
        Drawing(
            "thompson-rounds",
            "Regret of both policies over the rounds, rounds on a logarithmic scale.",
            f"Regret over time on the grid m = {SHOWN[0]}, σ = {SHOWN[1]}: on a logarithmic scale a straight line is "
            f"log n. Mean of {runs} runs, bands: ± 3 standard errors.",
            lambda: draw_rounds(*samples[SHOWN]),
            lambda: draw_rounds(*samples[SHOWN], NARROW),
        ),
    )
    numbers = {
        "runs": runs,
        "cells": [one._asdict() for one in pairs],
        "decades": [one._asdict() for one in decades],
        "least_a_decade_in_the_limit": least,
        "exponent_of_kl_over_gap": {"exponent": growing.exponents[0], "error": growing.errors[0]},
    }
    claims = claims_of(pairs, decades[-1], growing)
    tables: dict[str, Any] = {"thompson": columns(pairs), "thompson-runs": every_run(plays.thompson)}
    return Part("thompson", claims, body, tables, numbers)


def pair(grid: Grid, ucb: NDArray[np.float64], cts: NDArray[np.float64]) -> Pair:
    """From the regret of every run at every checkpoint."""
    m, sigma = grid
    at = decade_ends()
    difference = estimate(cts[:, -1] - ucb[:, -1], CONFIDENCE)
    of_ucb, of_cts = (estimate(sample[:, -1], CONFIDENCE) for sample in (ucb, cts))
    *_, before_last, last = np.diff(cts[:, at].mean(axis=0)).tolist()
    K, L, gap = 2 * m, 2 * m * (m + 1), 2.0 * sigma
    return Pair(
        *(m, L, sigma, len(cts), float(of_ucb.mean), float(of_ucb.error), float(of_cts.mean), float(of_cts.error)),
        *(float(difference.mean), float(difference.error), bool(difference.high < 0.0)),
        *(before_last, last, K * L / gap),
    )


def by_decade(samples: list[NDArray[np.float64]]) -> list[Decade]:
    """Of all grids together, from the regret of every run at every checkpoint."""
    steps = np.diff([sample[:, decade_ends()] for sample in samples], axis=2).sum(axis=0).T
    found: list[Decade] = []
    for at, (end, step) in enumerate(zip(DECADES[1:], steps, strict=True)):
        ratio = error = None
        if at:
            before = steps[at - 1]
            ratio = float(step.mean() / before.mean())
            error = _error(step - ratio * before) / float(before.mean())
        found.append(Decade(end, float(step.mean()), _error(step), ratio, error))
    return found


def _error(sample: NDArray[np.float64]) -> float:
    return float(sample.std(ddof=1) / len(sample) ** 0.5)


def least_decade(grid: Grid) -> float:
    """What any consistent policy loses on a grid in a decade of rounds, for n without end."""
    lower = next(bound for bound in on_grid(grid) if bound.kind == "lower" and bound.asymptotic)
    return float(lower.value[0]) * math.log(10.0) / math.log(HORIZON)


def decade_ends() -> list[int]:
    """Where the decades end among the checkpoints."""
    found: list[int] = np.searchsorted(CHECKPOINTS, DECADES).tolist()
    return found


def claims_of(pairs: list[Pair], last: Decade, growing: fits.Powers) -> tuple[Claim, ...]:
    less = sum(one.less for one in pairs)
    times = [one.ucb / one.cts for one in pairs]
    return (
        Claim(
            "thompson",
            "Thompson sampling has less regret than CombUCB1",
            f"{less} of {len(pairs)} grids; {min(times):.1f} to {max(times):.1f} times less",
            "all",
            less == len(pairs),
            "Section 9",
            value=less,
            low=len(pairs),
        ),
        Claim(
            "thompson",
            "Its regret grows more slowly than n to the power ¼",
            f"last decade / before: {_ratio(last)}",
            f"≤ {QUARTER:.2f}",
            last.ratio is not None and last.ratio <= QUARTER,
            OURS,
            value=last.ratio,
            error=last.error,
            high=QUARTER,
        ),
        Claim(
            "thompson",
            "It grows no faster than K L/Δ: exponent of K L/Δ",
            plus_minus(growing.exponents[0], growing.errors[0]),
            "≤ 1",
            growing.exponents[0] <= 1.0,
            "Section 9",
            value=growing.exponents[0],
            error=growing.errors[0],
            high=1.0,
        ),
    )


def draw_items(pairs: list[Pair], width: float = 6.8) -> "Axes":
    ax = own_axes(width, 4.6)
    for sigma, colour, marker in zip(dict.fromkeys(one.sigma for one in pairs), COLOURS, MARKERS, strict=False):
        ours = [one for one in pairs if one.sigma == sigma]
        items = [one.n_items for one in ours]
        ucb, ucb_errors = [one.ucb for one in ours], [one.ucb_error for one in ours]
        line_with_bars(ax, items, ucb, ucb_errors, colour, marker, label=f"CombUCB1, σ = {sigma}")
        cts, cts_errors = [one.cts for one in ours], [one.cts_error for one in ours]
        hollow: dict[str, Any] = {"markerfacecolor": "white", "linestyle": "dashed"}
        line_with_bars(ax, items, cts, cts_errors, colour, marker, label=f"CTS, σ = {sigma}", **hollow)
    ax.set_yscale("log")
    plain_numbers(ax)
    dress(ax, "number of items L", f"regret after {HORIZON:,} rounds", "in the same worlds")
    ax.set_xticks(sorted({one.n_items for one in pairs}))
    if width > 2.0 * NARROW:
        ax.legend(frameon=False, fontsize="small", ncols=2)
    else:
        legend_below(ax, ax.get_legend_handles_labels()[0])
    return ax


def draw_rounds(ucb: NDArray[np.float64], cts: NDArray[np.float64], width: float = 6.8) -> "Axes":
    ax = own_axes(width, min(4.2, 1.2 * width))
    for name, sample, colour, dashes in (("CombUCB1", ucb, COLOURS[0], "solid"), ("CTS", cts, COLOURS[1], "dashed")):
        mean_and_band(ax, CHECKPOINTS, sample, colour, linestyle=dashes, label=name)
    ax.set_xscale("log")
    plain_numbers(ax)
    name_as_many_as_fit(ax)
    dress(ax, "round", "realised regret", f"grid m = {SHOWN[0]}, σ = {SHOWN[1]}, mean of {len(cts)} runs")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _ratio(one: Decade) -> str:
    return "–" if one.ratio is None or one.error is None else plus_minus(one.ratio, one.error)


def _decade_row(one: Decade) -> tuple[Any, ...]:
    rounds = f"{one.end // 10:,} to {one.end:,}"
    return (rounds, number(one.added, 1), number(one.added_error, 1), Number(_ratio(one)))


def _row(one: Pair) -> tuple[Any, ...]:
    return (
        *(one.m, Number(f"{one.sigma}"), number(one.ucb, 1), number(one.ucb_error, 1)),
        *(number(one.cts, 1), number(one.cts_error, 1), number(one.difference, 1)),
        *(number(one.difference_error, 1), number(one.ucb / one.cts, 1)),
    )
