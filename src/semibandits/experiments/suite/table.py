"""The table of the suite: regret of every policy divided by that of the best one, on every problem and horizon."""

import csv
import io
import math
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from semibandits._util.forks import cached_property
from semibandits.errors import BadArgument
from semibandits.types import Weights

DIGITS = 10


class Row(NamedTuple):
    """One policy on one problem after so many rounds.

    `regret` is the mean over runs and `error` its standard error; `ratio` is to the regret of the best policy, and
    `ratio_error` its standard error, run by run in the same worlds. That the best is known from the same runs makes
    ratios a little too large.
    """

    problem: str
    horizon: int
    policy: str
    runs: int
    regret: float
    error: float
    ratio: float
    ratio_error: float


class Score(NamedTuple):
    """One policy on all problems where it has played: `best` is the share of them where it has the least regret."""

    policy: str
    cells: int
    best: float
    median: float
    worst: float
    worst_error: float
    worst_at: str


class Table:
    """Rows, in the order in which they were played; those of a policy that is told more are no measure for others.

    >>> import numpy as np
    >>> runs = {"A": np.array([1.0, 3.0]), "B": np.array([3.0, 5.0])}
    >>> table = Table(cell_rows("p", 300, runs))
    >>> [(row.policy, row.ratio, row.ratio_error) for row in table]
    [('A', 1.0, 0.0), ('B', 2.0, 0.5)]
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = tuple(rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def policies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.policy for row in self.rows))

    @property
    def cells(self) -> tuple[tuple[str, int], ...]:
        """Problems and horizons."""
        return tuple(dict.fromkeys((row.problem, row.horizon) for row in self.rows))

    def best(self, problem: str, horizon: int) -> Row:
        """The row of the least regret, of those that are a measure for others."""
        return min((row for row in self._of(problem, horizon) if row.ratio >= 1.0), key=lambda row: row.ratio)

    def _of(self, problem: str, horizon: int) -> list[Row]:
        return [row for row in self.rows if (row.problem, row.horizon) == (problem, horizon)]

    def row(self, problem: str, horizon: int, policy: str) -> Row | None:
        """None where it has not played."""
        return self._by_cell.get((problem, horizon, policy))

    @cached_property
    def _by_cell(self) -> dict[tuple[str, int, str], Row]:
        return {(row.problem, row.horizon, row.policy): row for row in self.rows}

    def scores(self, horizons: Collection[int] | None = None) -> list[Score]:
        """Of every policy, from the least worst ratio to the largest."""
        known = [row for row in self.rows if horizons is None or row.horizon in horizons]
        scores = [score([row for row in known if row.policy == policy]) for policy in self.policies]
        return sorted((one for one in scores if one is not None), key=lambda one: (one.worst, one.median))

    def beside(self, other: "Table", apart: Collection[str] = ()) -> "Table":
        """These rows, and of the other table those that are not here; ratios are to the best of both.

        Errors of ratios are then as if the runs had been independent. `apart` are policies that are no measure.
        """
        own = self._by_cell
        rows = [*self.rows, *(row for row in other if (row.problem, row.horizon, row.policy) not in own)]
        cells = dict.fromkeys((row.problem, row.horizon) for row in self.rows)
        rated = []
        for cell in cells:
            here = [row for row in rows if (row.problem, row.horizon) == cell]
            best = min((row for row in here if row.policy not in apart), key=lambda row: row.regret, default=here[0])
            rated += [_against(row, best) for row in here]
        return Table(rated)

    def __str__(self) -> str:
        """The ratios, and below them the scores."""
        from semibandits.experiments.suite import words

        return f"{words.aligned(*words.ratios(self))}\n\n{words.aligned(*words.scores(self.scores()))}"

    def to_csv(self) -> str:
        """As text; `Table.read` reads it."""
        return csv_text(Row._fields, self.rows)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> "Table":
        """A table from a CSV file."""
        lines = list(csv.reader(Path(path).read_text(encoding="utf-8").splitlines()))
        if not lines or tuple(lines[0]) != Row._fields:
            raise BadArgument(f"{path} is no table of the suite: its first line should be {','.join(Row._fields)}")
        return cls(Row(one[0], int(one[1]), one[2], int(one[3]), *map(float, one[4:])) for one in lines[1:])


def csv_text(fields: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    """Numbers with so many digits that ratios can be worked out again, and no more."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows([f"{one:.{DIGITS}g}" if isinstance(one, float) else one for one in row] for row in rows)
    return text.getvalue()


def cell_rows(problem: str, horizon: int, regret: Mapping[str, Weights], apart: Collection[str] = ()) -> list[Row]:
    """The rows of one problem and horizon, from the regret of every run of each policy, in the same worlds."""
    means = {policy: float(runs.mean()) for policy, runs in regret.items()}
    rivals = [policy for policy in regret if policy not in apart] or list(regret)
    best = min(rivals, key=lambda policy: means[policy])
    return [
        Row(
            *(problem, horizon, policy, runs.size, means[policy], _error(runs)),
            *_ratio(runs, regret[best], means[policy], means[best]),
        )
        for policy, runs in regret.items()
    ]


def score(rows: Collection[Row]) -> Score | None:
    """One policy's rows in a line; None where there are none."""
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.ratio)
    wins = sum(row.ratio == 1.0 for row in rows) / len(rows)
    middle = statistics.median(row.ratio for row in rows)
    at = f"{worst.problem}, {worst.horizon:,}"
    return Score(worst.policy, len(rows), wins, middle, worst.ratio, worst.ratio_error, at)


def _error(sample: Weights) -> float:
    return float(sample.std(ddof=1)) / math.sqrt(sample.size) if sample.size > 1 else math.nan


def _ratio(runs: Weights, best: Weights, mean: float, least: float) -> tuple[float, float]:
    """A ratio of means and its standard error, by the delta method: that of the mean of (a - ratio · b) / E b."""
    if mean == least:
        return 1.0, 0.0
    if least <= 0.0:
        return math.inf, math.nan
    ratio = mean / least
    return ratio, _error(runs - ratio * best) / least


def _against(row: Row, best: Row) -> Row:
    if row.regret == best.regret:
        return row._replace(ratio=1.0, ratio_error=0.0)
    if best.regret <= 0.0:
        return row._replace(ratio=math.inf, ratio_error=math.nan)
    ratio = row.regret / best.regret
    return row._replace(ratio=ratio, ratio_error=math.hypot(row.error, ratio * best.error) / best.regret)
