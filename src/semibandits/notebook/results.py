"""Results of simulations in notebooks: summaries, comparisons, curves."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from semibandits._util.colours import OKABE_ITO
from semibandits._util.html import Html, Number, escape, number
from semibandits.notebook.parts import MOST, card, cut, note, picture, written
from semibandits.simulation import Comparison, Comparisons, SimulationResult, Summary, SummaryRow
from semibandits.simulation.scales import ROUNDING, fitting_scales

COLOURS = (*OKABE_ITO, "currentColor")
DASHES = ("none", "6 2", "2 2", "6 2 2 2")
MOST_DIGITS = 6
WIDTH, HEIGHT, MARGIN = 420.0, 150.0, 14.0


@written.register
def _summary(summary: Summary) -> str:
    """As it is printed, the rows in their order."""
    if not summary:
        return card("Regret of no policies")
    rows = [[row.policy, *_numbers(row)] for row in summary[:MOST]]
    title = f"Regret after {summary[0].round:,} rounds, {_many(summary[0].runs)}"
    interval = "interval" if summary.confidence is None else f"{100.0 * summary.confidence:.4g}% interval"
    return card(title, cut(["policy", "mean", "± error", interval], rows, len(summary)))


@written.register
def _comparison(comparison: Comparison) -> str:
    """The two lines that are printed."""
    said, _, numbers = str(comparison).partition(":\n")
    return card(said, note(numbers))


@written.register
def _comparisons(comparisons: Comparisons) -> str:
    """A row for each pair."""
    if not comparisons:
        return card("Comparisons of less than two policies")
    first = comparisons[0]
    title = f"Differences of regret after {first.round:,} rounds, {_many(first.runs)} in the same worlds"
    columns = ["policy", "", "against", "difference", "± error", "interval"]
    table = cut(columns, [_compared(one) for one in comparisons[:MOST]], len(comparisons))
    return card(title, table, note(f"Intervals: {comparisons.confidence_note}") if comparisons.confidence_note else "")


@written.register
def _result(result: SimulationResult) -> str:
    """The summary, the least regret first, over the curves of the means."""
    summary, runs = result.summary(), result.regret.shape[1]
    order = sorted(range(len(summary)), key=lambda policy: summary[policy].mean)
    rows = []
    for policy in order[:MOST]:
        key = picture(26, 8, "", f'<line x1="0" y1="4" x2="26" y2="4" {_stroke(policy)}/>')
        rows.append([Html(f"{key} {escape(summary[policy].policy)}"), *_numbers(summary[policy])])
    title = f"{result.kind.capitalize()} regret after {result.rounds[-1]:,} rounds, {_many(runs)}"
    table = cut(["policy", "mean", "± error", "95% interval"], rows, len(order))
    return card(title, table, _curves(result, order[:MOST]))


def _many(runs: int) -> str:
    return "a single run" if runs == 1 else f"{runs:,} runs"


def _digits(error: float) -> int | None:
    """Decimals that the error leaves worth showing; None: more than anyone reads, or all, where no error is known."""
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0.0 else math.inf
    return int(digits) if digits <= MOST_DIGITS else None


def _interval(low: float, high: float, digits: int | None) -> Number:
    return Number("–" if math.isnan(low) else f"{number(low, digits)} to {number(high, digits)}")


def _numbers(row: SummaryRow) -> list[Any]:
    digits = _digits(row.error)
    return [number(row.mean, digits), number(row.error, digits), _interval(row.low, row.high, digits)]


def _compared(one: Comparison) -> list[Any]:
    digits = _digits(one.error)
    verdict = "cannot be told apart from"
    if one.significant:
        verdict = "has less regret than" if one.difference < 0.0 else "has more regret than"
    interval = _interval(one.low, one.high, digits)
    return [one.a, verdict, one.b, number(one.difference, digits), number(one.error, digits), interval]


def _curves(result: SimulationResult, order: Sequence[int]) -> str:
    """Mean regret over the rounds, as lines, on the scales that `SimulationResult.plot` chooses."""
    if len(result.rounds) < 2:
        return ""
    every = result.regret.mean(axis=1)
    scales = fitting_scales(result.rounds, every, result.kind)
    means = every[list(order)]
    if "y" in scales:
        positive = means > ROUNDING * means.max()
        heights = np.log(means, where=positive, out=np.full_like(means, np.nan))
        low, high = float(heights[positive].min()), float(heights[positive].max())
    else:
        heights, finite = means, means[np.isfinite(means)].tolist()
        low, high = min([0.0, *finite]), max([0.0, *finite])
    places = np.log(result.rounds) if "x" in scales else result.rounds.astype(np.float64)
    xs = MARGIN + (WIDTH - 2.0 * MARGIN) / (places[-1] - places[0]) * (places - places[0])
    up = (HEIGHT - 2.0 * MARGIN) / ((high - low) or 1.0)
    lines = ""
    for policy, line in reversed(list(zip(order, HEIGHT - MARGIN - up * (heights - low), strict=True))):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, line, strict=True) if math.isfinite(y))
        lines += f'<polyline points="{points}" fill="none" {_stroke(policy)}/>'
    floor = HEIGHT - MARGIN + (0.0 if "y" in scales else up * low)
    most = number(math.exp(high) if "y" in scales else high)
    said = {axis: " (logarithmic)" if axis in scales else "" for axis in "xy"}
    text = 'font-size="10" fill="currentColor" fill-opacity=".75"'
    axis = f'x1="{MARGIN}" y1="{floor:.1f}" x2="{WIDTH - MARGIN}" y2="{floor:.1f}"'
    return picture(
        WIDTH,
        HEIGHT,
        "mean regret over the rounds",
        f'<line {axis} stroke="currentColor" stroke-opacity=".4"/>{lines}'
        f'<text x="{MARGIN}" y="10" {text}>{escape(result.kind)} regret, up to {most}{said["y"]}</text>'
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 2}" text-anchor="end" {text}>'
        f"round {number(int(result.rounds[-1]))}{said['x']}</text>",
    )


def _stroke(policy: int) -> str:
    """Colours and dashes, so that curves are told apart in grey, too."""
    colour, dashes = COLOURS[policy % len(COLOURS)], DASHES[policy % len(DASHES)]
    return f'stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dashes}"'
