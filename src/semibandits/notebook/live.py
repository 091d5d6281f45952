"""Learners and their decisions in notebooks."""

import math

from semibandits._util.checks import widest
from semibandits._util.html import Html, Number, number, several
from semibandits.live import Learner
from semibandits.notebook.parts import MOST, card, cut, listed, names_of, what_weights, written
from semibandits.types import Decision


@written.register
def _decision(decision: Decision) -> str:
    """What to choose, and under which id to tell what came of it."""
    labels = decision.labels or [None] * len(decision.items)
    rows = [
        [int(item), *([label] if decision.labels else [])] for item, label in zip(decision.items, labels, strict=True)
    ]
    columns = ["item", "label"] if decision.labels else ["item"]
    return card(f"Decision of round {decision.round}", listed([("id", decision.id)]), cut(columns, rows))


@written.register
def _learner(learner: Learner) -> str:
    """Where it stands, and what it knows of the items it has seen most."""
    waiting = [f"{decision.id} (round {decision.round})" for decision in learner.outstanding]
    pairs = [
        ("policy", f"{learner.policy!r:.200}"),
        ("solutions", f"{learner.feasible!r:.200}"),
        ("weights", what_weights(learner.sense, learner.bounds)),
        ("waiting for", several(waiting, 3) or "no feedback"),
    ]
    title = f"Learner after {learner.round:,} {'round' if learner.round == 1 else 'rounds'}"
    if learner.feedback == "bandit":
        return card(title, listed([*pairs, ("feedback", "the sum of the chosen items' weights")]))
    counts, estimates, intervals = learner.counts, learner.estimates, learner.intervals()
    order = (-counts).argsort(kind="stable")[:MOST].tolist()
    names = names_of(learner.labels, order)
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
    table = cut(["item", "seen", "estimate", "95% interval", ""], rows, len(counts))
    return card(title, listed(pairs), table)


def _bar(estimate: float, low: float, high: float, least: float, most: float) -> Html:
    """An interval as a line between the bounds, with a dot at the estimate."""
    at = [100.0 * (float(x) - least) / (most - least) for x in (low, high, estimate)]
    dot = "" if math.isnan(at[2]) else f'<circle cx="{at[2]:.1f}" cy="6" r="3" fill="currentColor"/>'
    return Html(
        '<svg width="104" height="12" viewBox="-2 0 104 12" role="img" aria-hidden="true" style="color:inherit">'
        '<line x1="0" y1="6" x2="100" y2="6" stroke="currentColor" stroke-opacity=".2"/>'
        f'<line x1="{at[0]:.1f}" y1="6" x2="{at[1]:.1f}" y2="6" stroke="currentColor" stroke-width="2"/>{dot}</svg>'
    )
