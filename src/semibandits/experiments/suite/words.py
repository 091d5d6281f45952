"""The table in words: titles and rows for the terminal and the docs."""

import math
from collections.abc import Collection, Iterable, Sequence

from semibandits.experiments.suite.table import Score, Table

Lines = tuple[list[str], list[list[str]]]
SCORES = ["policy", "worst", "where", "median", "best on", "played"]


def ratio(value: float) -> str:
    """With three digits at most.

    >>> [ratio(value) for value in (1.0, 1.234, 12.34, 1234.5, math.inf)]
    ['1.00', '1.23', '12.3', '1,234', '∞']
    """
    if math.isinf(value):
        return "∞"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def ratios(table: Table, policies: Collection[str] | None = None) -> Lines:
    """A row for each problem and horizon: the best policy, its regret, and the ratios of these policies (all)."""
    shown = list(table.policies if policies is None else policies)
    rows = []
    for problem, horizon in table.cells:
        best = table.best(problem, horizon)
        found = [table.row(problem, horizon, policy) for policy in shown]
        cells = ["" if one is None else ratio(one.ratio) for one in found]
        rows.append([problem, f"{horizon:,}", best.policy, f"{best.regret:,.4g}", *cells])
    return ["problem", "rounds", "best", "its regret", *shown], rows


def scores(found: Iterable[Score]) -> Lines:
    """A row for each policy."""
    rows = [
        [
            one.policy,
            f"{ratio(one.worst)} ± {ratio(one.worst_error)}",
            one.worst_at,
            ratio(one.median),
            f"{100.0 * one.best:.0f} %",
            f"{one.cells}",
        ]
        for one in found
    ]
    return SCORES, rows


def aligned(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of plain text."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (titles, *rows)
    )
