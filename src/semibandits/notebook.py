"""HTML for notebooks: small tables with styles of their own, which read on light and on dark pages.

Nothing here computes what takes long, and nothing raises: what cannot be shown is left out.
"""

import math
from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from semibandits._util.checks import widest
from semibandits._util.colours import OKABE_ITO
from semibandits._util.html import Html, Number, escape, facts, number, several, table
from semibandits._util.item_bounds import are_per_item
from semibandits.live import Learner
from semibandits.problem import Problem
from semibandits.simulation import SimulationResult
from semibandits.simulation.scales import ROUNDING, fitting_scales
from semibandits.types import Bounds, Decision

MOST = 25
"""Rows of a table, and names in a line."""
QUICK_ITEMS = 500
"""The optimum of a set of this package is looked for only among so many items."""
COLOURS = (*OKABE_ITO, "currentColor")
DASHES = ("none", "6 2", "2 2", "6 2 2 2")
WIDTH, HEIGHT, MARGIN = 420.0, 150.0, 14.0


def html(thing: object) -> str:
    """The object as a notebook shows it: whatever goes wrong, at least what would be printed."""
    try:
        return _written(thing)
    except Exception:
        try:
            return f"<pre>{escape(repr(thing))}</pre>"
        except Exception:
            return f"<pre>{escape(object.__repr__(thing))}</pre>"


@singledispatch
def _written(thing: object) -> str:
    return f"<pre>{escape(repr(thing))}</pre>"


@_written.register
def _problem(problem: Problem) -> str:
    """The set, the world and, where that is quick, the best solution."""
    feasible, environment = problem.feasible, problem.environment
    pairs: list[tuple[str, Any]] = [
        ("solutions", f"{feasible!r:.200}"),
        ("world", f"{environment!r:.200}"),
        ("items", f"{problem.n_items:,}, at most {problem.max_size:,} in a solution"),
        ("weights", _weights(problem.sense, problem.bounds)),
    ]
    if feasible.ratio < 1.0:
        pairs.append(("oracle", f"approximate, ratio {feasible.ratio:g}"))
    if environment.hindsight:
        pairs.append(("optimum", "none: a sequence has no means"))
    elif environment.says_sets:
        pairs.append(("optimum", "changes from round to round: every round has a set of its own"))
    elif environment.drifts:
        pairs.append(("optimum", "changes from round to round: problem.at(round).optimum"))
    else:
        pairs += _optimum(problem)
    return _card("Problem", facts(pairs, inline=True))


@_written.register
def _decision(decision: Decision) -> str:
    """What to choose, and under which id to tell what came of it."""
    labels = decision.labels or [None] * len(decision.items)
    rows = [
        [int(item), *([label] if decision.labels else [])] for item, label in zip(decision.items, labels, strict=True)
    ]
    columns = ["item", "label"] if decision.labels else ["item"]
    return _card(f"Decision of round {decision.round}", facts([("id", decision.id)], inline=True), _cut(columns, rows))


@_written.register
def _learner(learner: Learner) -> str:
    """Where it stands, and what it knows of the items it has seen most."""
    waiting = [f"{decision.id} (round {decision.round})" for decision in learner.outstanding]
    pairs = [
        ("policy", f"{learner.policy!r:.200}"),
        ("solutions", f"{learner.feasible!r:.200}"),
        ("weights", _weights(learner.sense, learner.bounds)),
        ("waiting for", several(waiting, 3) or "no feedback"),
    ]
    title = f"Learner after {learner.round:,} {'round' if learner.round == 1 else 'rounds'}"
    if learner.feedback == "bandit":
        return _card(title, facts([*pairs, ("feedback", "the sum of the chosen items' weights")], inline=True))
    counts, estimates, intervals = learner.counts, learner.estimates, learner.intervals()
    order = (-counts).argsort(kind="stable")[:MOST].tolist()
    names = _names(learner.labels, order)
    rows = [
        [
            name,
            int(counts[item]),
            number(estimates[item], 3),
            Number(f"{number(intervals[item, 0], 3)} to {number(intervals[item, 1], 3)}"),
            _bar(estimates[item], intervals[item, 0], intervals[item, 1], *widest(learner.bounds)),
        ]
        for name, item in zip(names, order, strict=True)
    ]
    listed = _cut(["item", "seen", "estimate", "95% interval", ""], rows, len(counts))
    return _card(title, facts(pairs, inline=True), listed)


@_written.register
def _result(result: SimulationResult) -> str:
    """The summary, the least regret first, over the curves of the means."""
    summary, runs = result.summary(), result.regret.shape[1]
    order = sorted(range(len(summary)), key=lambda policy: summary[policy].mean)
    rows = []
    for policy in order[:MOST]:
        row = summary[policy]
        digits = max(0, min(6, 1 - math.floor(math.log10(row.error)))) if row.error > 0.0 else 2
        interval = Number(f"{number(row.low, digits)} to {number(row.high, digits)}" if runs > 1 else "–")
        key = Html(
            '<svg width="26" height="8" viewBox="0 0 26 8" role="img" aria-hidden="true" style="color:inherit">'
            f'<line x1="0" y1="4" x2="26" y2="4" {_stroke(policy)}/></svg> {escape(row.policy)}'
        )
        rows.append([key, number(row.mean, digits), number(row.error, digits), interval])
    many = "a single run" if runs == 1 else f"{runs:,} runs"
    title = f"{result.kind.capitalize()} regret after {result.rounds[-1]:,} rounds, {many}"
    listed = _cut(["policy", "mean", "± error", "95% interval"], rows, len(order))
    return _card(title, listed, _curves(result, order[:MOST]))


def _optimum(problem: Problem) -> list[tuple[str, Any]]:
    """Where it is known, or found by an oracle that is neither the user's own nor a search."""
    try:
        if "optimum" in vars(problem) or (problem.n_items <= QUICK_ITEMS and problem.feasible.solver() is not None):
            names = _names(problem.feasible.labels, problem.optimum)
            return [("optimum", several(names, MOST)), ("its value", number(problem.value(problem.optimum)))]
    except Exception as error:
        return [("optimum", f"not known: {error!s:.200}")]
    return []


def _weights(sense: str, bounds: Bounds) -> str:
    low, high = map(number, widest(bounds))
    return f"{_kind(sense)}, {'per item, ' if are_per_item(bounds) else ''}from {low} to {high}"


def _kind(sense: str) -> str:
    return "rewards" if sense == "max" else "costs"


def _names(labels: Sequence[str], items: Iterable[int]) -> list[str]:
    return [labels[item] if labels else str(item) for item in items]


def _card(title: str, *parts: str) -> str:
    heading = f'<div style="font-weight:600;margin-bottom:.3em">{escape(title)}</div>'
    return f'<div style="color:inherit;background:transparent;max-width:60em">\n{heading}\n{"".join(parts)}</div>\n'


def _cut(columns: Sequence[str], rows: Sequence[Sequence[Any]], total: int | None = None) -> str:
    """A table of the first rows."""
    most = rows[:MOST]
    left = (len(rows) if total is None else total) - len(most)
    more = f'<div style="opacity:.75">... and {left:,} more</div>' if left > 0 else ""
    return table(columns, most, inline=True) + more


def _bar(estimate: float, low: float, high: float, least: float, most: float) -> Html:
    """An interval as a line between the bounds, with a dot at the estimate."""
    at = [100.0 * (float(x) - least) / (most - least) for x in (low, high, estimate)]
    dot = "" if math.isnan(at[2]) else f'<circle cx="{at[2]:.1f}" cy="6" r="3" fill="currentColor"/>'
    return Html(
        '<svg width="104" height="12" viewBox="-2 0 104 12" role="img" aria-hidden="true" style="color:inherit">'
        '<line x1="0" y1="6" x2="100" y2="6" stroke="currentColor" stroke-opacity=".2"/>'
        f'<line x1="{at[0]:.1f}" y1="6" x2="{at[1]:.1f}" y2="6" stroke="currentColor" stroke-width="2"/>{dot}</svg>'
    )


def _curves(result: SimulationResult, order: Sequence[int]) -> str:
    """Mean regret over the rounds, as lines, on the scales that `SimulationResult.plot` chooses."""
    if len(result.rounds) < 2:
        return ""
    every = result.regret.mean(axis=1)
    scales = fitting_scales(result.rounds, every, result.kind)
    means = every[list(order)]
    if "y" in scales:
        low, high = math.log(means[means > ROUNDING * means.max()].min()), math.log(means.max())
        heights = np.log(means, where=means >= math.exp(low) * (1.0 - ROUNDING), out=np.full_like(means, np.nan))
    else:
        heights, finite = means, means[np.isfinite(means)].tolist()
        low, high = min([0.0, *finite]), max([0.0, *finite])
    places = np.log(result.rounds) if "x" in scales else result.rounds.astype(np.float64)
    xs = MARGIN + (WIDTH - 2.0 * MARGIN) / (places[-1] - places[0]) * (places - places[0])
    up = (HEIGHT - 2.0 * MARGIN) / ((high - low) or 1.0)
    ys = HEIGHT - MARGIN - up * (heights - low)
    lines = ""
    for policy, line in reversed(list(zip(order, ys, strict=True))):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, line, strict=True) if math.isfinite(y))
        lines += f'<polyline points="{points}" fill="none" {_stroke(policy)}/>'
    floor = HEIGHT - MARGIN - (0.0 if "y" in scales else up * (0.0 - low))
    most = number(math.exp(high) if "y" in scales else high)
    said = {axis: " (logarithmic)" if axis in scales else "" for axis in "xy"}
    text = 'font-size="10" fill="currentColor" fill-opacity=".75"'
    return (
        f'<svg width="{WIDTH:.0f}" height="{HEIGHT:.0f}" viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" '
        'aria-label="mean regret over the rounds" style="color:inherit;max-width:100%">'
        f'<line x1="{MARGIN}" y1="{floor:.1f}" x2="{WIDTH - MARGIN}" y2="{floor:.1f}" stroke="currentColor" '
        f'stroke-opacity=".4"/>{lines}'
        f'<text x="{MARGIN}" y="10" {text}>{escape(result.kind)} regret, up to {most}{said["y"]}</text>'
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 2}" text-anchor="end" {text}>round {number(int(result.rounds[-1]))}'
        f"{said['x']}</text></svg>"
    )


def _stroke(policy: int) -> str:
    """Colours and dashes, so that curves are told apart in grey, too."""
    colour, dashes = COLOURS[policy % len(COLOURS)], DASHES[policy % len(DASHES)]
    return f'stroke="{colour}" stroke-width="1.8" stroke-dasharray="{dashes}"'
