"""The solutions that were found, against the best there is."""

import sys
import time
from typing import NamedTuple

import numpy as np

from semibandits._util.html import Html, Number, facts, number, paragraph, several, table
from semibandits.errors import SemiBanditError
from semibandits.experiments.point import Point
from semibandits.experiments.report.items import Learned, label, sees_items
from semibandits.experiments.report.pictures import Gallery, Picture, figure
from semibandits.experiments.report.wording import of_unit, with_unit
from semibandits.oracle import solve
from semibandits.plotting.sets import draw, has_shape
from semibandits.problem import Problem
from semibandits.types import Items

PATIENCE = 5.0
"""Seconds that the oracle may take to solve for the estimates of all runs."""
MOST_PICTURES = 3
MOST_NAMES = 30


class Found(NamedTuple):
    """By one policy."""

    items: Items
    """In run 0: the best by its estimates, items never seen counting as worst."""
    optimal: int
    runs: int
    """In so many of so many runs what it found is as good as the optimum."""


def find(point: Point) -> dict[int, Found] | str:
    """What each policy found; or why that cannot be told."""
    result = point.result
    if point.problem.environment.hindsight:
        return "The weights follow no law, so that no solution is best but in hindsight."
    if point.problem.environment.drifts:
        return "The best solution changes from round to round, so that none is found for good."
    if result.counts is None or result.sums is None:
        return (
            "Not known: what the items weighed was not recorded. simulate(..., record=['counts', 'sums']) keeps it, "
            "and so the estimates of every run."
        )
    if not any(sees_items(point, policy) for policy in range(len(result.policies))):
        return "The policies were told only sums: what each made of the items is not recorded."
    try:
        return _find(point)
    except SemiBanditError as error:
        return f"Not known: the oracle failed. {error}"


def _find(point: Point) -> dict[int, Found]:
    problem, (policies, runs, _) = point.problem, point.result.regret.shape
    learned = {policy: Learned(point, policy) for policy in range(policies) if sees_items(point, policy)}
    first = {policy: solve(problem.feasible, one.best(0)) for policy, one in learned.items()}
    optimal = {policy: int(loss(problem, items) <= problem.tolerance) for policy, items in first.items()}
    began, checked = time.perf_counter(), 1
    while checked < runs and time.perf_counter() - began < PATIENCE:
        for policy, one in learned.items():
            items = solve(problem.feasible, one.best(checked))
            optimal[policy] += loss(problem, items) <= problem.tolerance
        checked += 1
    return {policy: Found(items, optimal[policy], checked) for policy, items in first.items()}


def loss(problem: Problem, items: Items) -> float:
    """How much worse than `optimum` these items are; less than 0 where an approximate oracle was luckier."""
    worse = problem.value(problem.optimum) - problem.value(items)
    return worse if problem.sense == "max" else -worse


def solutions(point: Point, gallery: Gallery, found: dict[int, Found] | str, *, pictures: bool = True) -> Html:
    if isinstance(found, str):
        return paragraph(found)
    problem = point.problem
    body = _table(point, found)
    groups = _groups(point, found)
    if pictures and has_shape(problem.feasible):
        return Html(body + _drawn(point, gallery, groups) + (_named(point, groups) if problem.feasible.labels else ""))
    return Html(body + _named(point, groups))


def _named(point: Point, groups: list[tuple[str, Items]]) -> Html:
    """The items in words."""
    named = [[label(point, item) for item in items] for _, items in groups]
    return facts((title, several(names, MOST_NAMES)) for (title, _), names in zip(groups, named, strict=True))


def _table(point: Point, found: dict[int, Found]) -> Html:
    problem = point.problem
    best, known = problem.value(problem.optimum), _true_value(problem)
    kind = "reward" if problem.sense == "max" else "cost"
    approximate = problem.feasible.ratio < 1.0
    optimum = "the oracle's answer on the true means" if approximate else "the optimum"
    unit = of_unit(point.unit)
    columns = ["policy", f"expected {kind}{unit}", f"gap{unit}", "no gap in"]
    rows, names = [], point.result.short_names
    for policy in _ranked(point, found):
        one = found[policy]
        value = problem.value(one.items)
        row = [names[policy], number(value), number(loss(problem, one.items))]
        row.append(Number(f"{one.optimal:,} of {one.runs:,} runs"))
        if approximate and known is not None:
            row.append(Number(f"{100.0 * (value / known if problem.sense == 'max' else known / value):.1f}%"))
        rows.append(row)
    caption = (
        "The best solution by the estimates at the end of run 0, without exploration; items never seen count as worst. "
        f"The gap is to {optimum}, which has an expected {kind} of {with_unit(number(best), point.unit)} a round."
    )
    if approximate and known is not None:
        caption += f" The best solution has {with_unit(number(known), point.unit)}."
    blind = [name for policy, name in enumerate(names) if policy not in found]
    if blind:
        caption += f" Told only sums, so that what they made of the items is not recorded: {several(blind, 5)}."
    runs = point.result.regret.shape[1]
    checked = next(iter(found.values())).runs
    if checked < runs:
        caption += f" The oracle is slow: only the first {checked:,} of {runs:,} runs were solved."
    if approximate and known is not None:
        columns.append("of the best there is")
    return table(columns, rows, caption)


def _ranked(point: Point, found: dict[int, Found]) -> list[int]:
    return [policy for policy in point.result.ranking() if policy in found]


def _true_value(problem: Problem) -> float | None:
    """The value of the best solution, where the oracle is approximate and the best is known nevertheless."""
    try:
        target = problem.target
    except SemiBanditError:
        return None
    value = target / problem.feasible.ratio if problem.sense == "max" else target * problem.feasible.ratio
    return value if value > 0.0 else None


def _groups(point: Point, found: dict[int, Found]) -> list[tuple[str, Items]]:
    """The optimum, then every other solution that was found, and by whom."""
    problem, names = point.problem, point.result.short_names
    optimum = tuple(problem.optimum.tolist())
    finders: dict[tuple[int, ...], list[str]] = {optimum: []}
    for policy in _ranked(point, found):
        finders.setdefault(tuple(found[policy].items.tolist()), []).append(names[policy])
    groups = []
    for items, who in finders.items():
        title = f"found by {several(who, 4)}"
        if items == optimum:
            own = "the oracle's answer" if problem.feasible.ratio < 1.0 else "the optimum"
            title = f"{own}, {title}" if who else own
        groups.append((title, np.array(items, dtype=np.int64)))
    return groups


def _drawn(point: Point, gallery: Gallery, groups: list[tuple[str, Items]]) -> Html:
    drawn = [
        _draw(point, gallery, f"solution-{number}", title, items)
        for number, (title, items) in enumerate(groups[: MOST_PICTURES + 1])
    ]
    caption = "In run 0: " + "; ".join(title for title, _ in groups[: MOST_PICTURES + 1]) + "."
    if len(groups) > MOST_PICTURES + 1:
        caption += f" {len(groups) - MOST_PICTURES - 1} other solutions that were found are not drawn."
    return figure(drawn, caption)


def _draw(point: Point, gallery: Gallery, name: str, title: str, items: Items) -> Picture:
    ax = draw(point.problem.feasible, items)
    if "matplotlib.pyplot" in sys.modules:  # it would keep the figure, and show it
        sys.modules["matplotlib.pyplot"].close(ax.figure)
    ax.set_title(title[:1].upper() + title[1:], loc="left", fontsize="medium", parse_math=False, wrap=True)
    names = several([label(point, item) for item in items], MOST_NAMES)
    return gallery.picture(name, ax, f"{title}: {items.size} items, {names}.")
