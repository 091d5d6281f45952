"""All numbers of an experiment as tables: in every row what was played, beside what came out."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from semibandits.experiments.point import Point
from semibandits.simulation.summaries import estimate

MOST_ROWS = 2_000_000
"""Where every checkpoint of every run would be more rows than this, only the horizon is written."""

Row: TypeAlias = tuple[Any, ...]
Columns: TypeAlias = dict[str, list[Any]]

ERRORS = ("deviation", "error", "low", "high")
SUMMARY = ("policy", "round", "runs", "mean", *ERRORS)
COMPARISONS = ("a", "b", "round", "runs", "difference", *ERRORS, "unpaired")
ITEMS = ("policy", "item", "label", "true_mean", "count", "runs", "estimate", *ERRORS)
TIMING = ("policy", "seconds_per_round")
TABLES = ("summary", "comparisons", "items", "timing", "regret")


def all_tables(points: Sequence[Point]) -> dict[str, Columns]:
    """The tables by their names. Timings are one of their own: all others are the same whenever they are made."""
    return {
        "summary": _table(points, SUMMARY, _summary),
        "comparisons": _table(points, COMPARISONS, _comparisons),
        "items": _table(points, ITEMS, _items),
        "timing": _table(points, TIMING, _timing),
        "regret": _regret(points),
    }


def _table(points: Sequence[Point], names: Sequence[str], rows: Callable[[Point], Iterable[Row]]) -> Columns:
    columns: Columns = {name: [] for name in ("point", *points[0].settings, *names)}
    for number, point in enumerate(points):
        for row in rows(point):
            for column, value in zip(columns.values(), (number, *point.settings.values(), *row), strict=True):
                column.append(value)
    return columns


def _summary(point: Point) -> Iterable[Row]:
    for row in point.result.summary():
        yield tuple(getattr(row, name) for name in SUMMARY)


def _comparisons(point: Point) -> Iterable[Row]:
    """Of every two policies."""
    for a, b in itertools.combinations(range(len(point.result.policies)), 2):
        compared = point.result.compare(a, b)
        yield tuple(getattr(compared, name) for name in COMPARISONS)


def _items(point: Point) -> Iterable[Row]:
    """Of each policy and item: how often it was chosen in a run, and what its weight was found to be.

    Each run has an estimate of its own; the table has their mean, with its error, over the runs in which the item was
    ever chosen.
    """
    result, problem = point.result, point.problem
    assert result.counts is not None
    assert result.sums is not None
    means = [None] * problem.n_items if problem.environment.drifts else problem.means.tolist()
    labels = problem.feasible.labels or [None] * problem.n_items
    for policy, counts, sums in zip(result.policies, result.counts, result.sums, strict=True):
        for item in range(problem.n_items):
            chosen = counts[:, item] > 0
            found = estimate(sums[chosen, item] / counts[chosen, item], 0.95) if chosen.any() else None
            numbers = [None if found is None else getattr(found, name) for name in ("mean", *ERRORS)]
            count, runs = float(counts[:, item].mean()), int(chosen.sum())
            yield policy, item, labels[item], means[item], count, runs, *numbers


def _timing(point: Point) -> Iterable[Row]:
    return zip(point.result.policies, point.result.provenance["seconds_per_round"], strict=True)


def _regret(points: Sequence[Point]) -> Columns:
    """Regret of every run, at every checkpoint where that is not too much."""
    last = slice(None) if sum(point.result.regret.size for point in points) <= MOST_ROWS else slice(-1, None)
    columns: Columns = {}
    for number, point in enumerate(points):
        regret, rounds = point.result.regret[:, :, last], point.result.rounds[last]
        policies, runs, checkpoints = regret.shape
        part: dict[str, Any] = {
            **{name: [value] * regret.size for name, value in {"point": number, **point.settings}.items()},
            "policy": [name for name in point.result.policies for _ in range(runs * checkpoints)],
            "run": np.tile(np.repeat(np.arange(runs), checkpoints), policies).tolist(),
            "round": np.tile(rounds, policies * runs).tolist(),
            "regret": regret.ravel().tolist(),
        }
        for name, values in part.items():
            columns.setdefault(name, []).extend(values)
    return columns
