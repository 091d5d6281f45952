"""The suite as the docs show it: its problems, the table of docs/data/suite.csv, what it must show, and a picture.

The table is what `semibandits suite --out suite` writes to suite/data/ratios.csv.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semibandits.errors import BadArgument
from semibandits.experiments import suite
from semibandits.experiments.suite.words import ratio
from semibandits.plotting.axes import COLOURS, DASHES, light_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = "PooledCTS"
"""The policy of those who say nothing, by its name in the table."""
SHOWN = ("CTS", "GaussianCTS", "CMOSS", "KLUCB", "UCBV", "CombUCB1", "EpsilonGreedy", suite.GREEDY, suite.TOLD)
"""Beside the default."""
FILE = Path(__file__).parent.parent / "data" / "suite.csv"
OTHER_NUMBERS = FILE.with_name("suite-other-numbers.csv")
"""The same problems with other numbers, some policies, 300 and 5,000 rounds: `semibandits suite --instance 2`."""
MOST, MEDIAN, ERRORS = 2.0, 1.3, 2.0
"""The default has at most so many times the least regret, everywhere and at the median; an excess over greedy of so
many standard errors is told apart from luck."""
WORSE = "worse than greedy"

Lines = tuple[list[str], list[list[str]]]


def measured(file: Path = FILE) -> suite.Table:
    return suite.Table.read(file)


def shown(table: suite.Table) -> list[str]:
    return [name for name in dict.fromkeys((DEFAULT, *SHOWN)) if name in table.policies]


class Failure(NamedTuple):
    """Where the default is not what it must be."""

    what: str
    row: suite.Row


def failures(table: suite.Table, default: str, greedy: str = suite.GREEDY) -> list[Failure]:
    """All that the default must be, and is not: on every problem, at the median, and beside greedy."""
    own = [row for row in table if row.policy == default]
    if not own:
        raise BadArgument(f"{default!r:.100} has not played: there are {', '.join(table.policies)}")
    found = [Failure(f"more than {MOST:g} times the best", row) for row in own if row.ratio > MOST]
    middle = float(np.median([row.ratio for row in own]))
    if middle > MEDIAN:
        nearest = min(own, key=lambda row: abs(row.ratio - middle))
        found.append(Failure(f"{middle:.2f} times the best at the median, more than {MEDIAN:g}", nearest))
    for row in own:
        other = table.row(row.problem, row.horizon, greedy)
        if other is not None and row.regret - other.regret > ERRORS * float(np.hypot(row.error, other.error)):
            found.append(Failure(WORSE, row))
    return found


# Tables


def problems() -> Lines:
    rows = []
    for case in suite.CASES.values():
        kind = f"`{type(case.problem.feasible).__name__}`, {case.problem.n_items:,} items"
        rows.append([case.name, case.trait, kind, case.about])
    return ["problem", "trait", "set", "who has it"], rows


def ratios(table: suite.Table, horizon: int) -> Lines:
    """The best policy on every problem and what it has lost, and the ratios; 1 is bold."""
    names = shown(table)
    rows = []
    for problem, rounds in table.cells:
        if rounds == horizon:
            best = table.best(problem, horizon)
            found = (table.row(problem, horizon, name) for name in names)
            cells = ["" if one is None else f"**{ratio(1.0)}**" if one is best else ratio(one.ratio) for one in found]
            rows.append([problem, best.policy, f"{best.regret:,.4g}", *cells])
    return ["problem", "best", "its regret", *names], rows


def scores(table: suite.Table) -> Lines:
    by_horizon = {horizon: {one.policy: one for one in table.scores([horizon])} for horizon in suite.HORIZONS}
    rows = []
    for one in table.scores():
        there = [by_horizon[horizon].get(one.policy) for horizon in suite.HORIZONS]
        rows.append(
            [
                {DEFAULT: f"**{DEFAULT}**", suite.TOLD: f"*{suite.TOLD}*"}.get(one.policy, one.policy),
                f"{ratio(one.worst)} ± {ratio(one.worst_error)}",
                one.worst_at,
                ratio(one.median),
                *("" if at is None else ratio(at.median) for at in there),
                "" if one.policy == suite.TOLD else f"{100.0 * one.best:.0f} %",
                f"{one.cells}",
            ]
        )
    medians = [f"after {horizon:,}" for horizon in suite.HORIZONS]
    return ["policy", "worst", "where", "median", *medians, "best on", "played"], rows


def beside_greedy(tables: Mapping[str, suite.Table]) -> Lines:
    """Where greedy loses less, beyond the error, and by what factor."""
    rows = []
    for name, table in tables.items():
        for row in (one.row for one in failures(table, DEFAULT) if one.what == WORSE):
            other = table.row(row.problem, row.horizon, suite.GREEDY)
            assert other is not None
            lost = [f"{one.regret:,.4g} ± {one.error:,.2g}" for one in (row, other)]
            rows.append([row.problem, f"{row.horizon:,}", name, *lost, ratio(row.regret / other.regret)])
    return ["problem", "rounds", "numbers", DEFAULT, suite.GREEDY, "ratio"], rows


def markdown() -> str:
    """All tables of the page."""
    table, other = measured(), measured(OTHER_NUMBERS)
    parts = {"Every policy": scores(table), "Other numbers": scores(other)}
    parts["Where greedy is better"] = beside_greedy({"of the table": table, "other": other})
    parts |= {f"After {horizon:,} rounds": ratios(table, horizon) for horizon in suite.HORIZONS}
    parts["The problems"] = problems()
    return "\n".join(f"## {title}\n\n{_table(lines)}" for title, lines in parts.items())


def _table(lines: Lines) -> str:
    titles, rows = lines
    text = "".join(f"| {' | '.join(row)} |\n" for row in (titles, *rows))
    head, _, rest = text.partition("\n")
    return f"{head}\n|{'---|' * len(titles)}\n{rest}"


# A picture


def draw(table: suite.Table) -> "Figure":
    """The share of problems on which a policy is within a factor of the best, of those shown and of `Random`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.6), layout="constrained")
    ax = figure.subplots()
    names = [*shown(table), "Random"]
    for at, name in enumerate(names):
        factors = np.sort([row.ratio for row in table if row.policy == name])
        share = np.arange(1, factors.size + 1) / factors.size
        ax.step(
            np.concatenate([[1.0], factors, [1e4]]),
            np.concatenate([[0.0], share, [1.0]]),
            where="post",
            label=name,
            color=COLOURS[at % len(COLOURS)],
            linestyle=DASHES[at % len(DASHES)],
            linewidth=2.6 if name == DEFAULT else 1.5,
        )
    ax.set(xscale="log", xlim=(1.0, 100.0), ylim=(0.0, 1.02), xlabel="regret, divided by that of the best policy")
    ax.set_ylabel("share of problems and horizons")
    ax.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    ax.minorticks_off()
    light_grid(ax)
    figure.legend(loc="outside right center", fontsize="small", frameon=False, handlelength=3.2)
    return figure
