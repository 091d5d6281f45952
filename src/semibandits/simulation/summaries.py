"""Regret over runs in numbers: means with their errors, and differences of policies."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util.checks import check_confidence
from semibandits._util.showing import Shown, as_html
from semibandits._util.suggestions import Suggests, explained
from semibandits._util.typeset import Cell, Figure, Table, Typeset, latex, markdown
from semibandits.simulation.short_names import short_names
from semibandits.types import Scalar


class Estimate(NamedTuple):
    """A mean over runs; `low` and `high` bound it with the given confidence. Numbers, or arrays of them."""

    mean: Scalar
    deviation: Scalar
    error: Scalar
    low: Scalar
    high: Scalar


class SummaryRow(NamedTuple):
    """One policy's regret at one round, over all runs; `low` and `high` bound its mean with the given confidence."""

    policy: str
    round: int
    runs: int
    mean: float
    deviation: float
    error: float
    low: float
    high: float


def shown(number: float) -> str:
    """With two decimals, or more where these would be zeros.

    >>> shown(1234.5), shown(0.0), shown(-3.21e-13)
    ('1234.50', '0.00', '-3.21e-13')
    """
    return f"{number:.2e}" if 0.0 < abs(number) < 0.005 else f"{number:.2f}"


class Summary(Shown, Typeset, Suggests, tuple[SummaryRow, ...]):
    """Rows, one per policy, that print as a table.

    In LaTeX and Markdown the least regret is bold, and what cannot be told apart from it (`leaders`).
    """

    leaders: frozenset[str] = frozenset()
    """The policy with the least mean regret, and those that paired runs cannot tell from it; none of a single run."""
    confidence: float | None = None
    """Of the intervals."""

    def __str__(self) -> str:
        width = max(map(len, ("policy", *(row.policy for row in self))))
        lines = [f"{'policy':<{width}}  {'regret':>12}  {'± error':>10}  {'interval':>25}  {'runs':>6}"]
        for row in self:
            interval, mean, error = f"[{shown(row.low)}, {shown(row.high)}]", shown(row.mean), shown(row.error)
            lines.append(f"{row.policy:<{width}}  {mean:>12}  {error:>10}  {interval:>25}  {row.runs:>6}")
        return "\n".join(lines)

    __repr__ = __str__

    def _table(self) -> Table:
        rows: list[list[Cell]] = [
            [
                name,
                _figure(row.mean, bold=row.policy in self.leaders),
                _figure(row.error),
                _interval(row.low, row.high),
                Figure(f"{row.runs:,}"),
            ]
            for name, row in zip(short_names(row.policy for row in self), self, strict=True)
        ]
        return Table(["policy", "regret", "± error", _interval_title(self.confidence), "runs"], rows)


class Comparison(NamedTuple):
    """The regret of policy `a` less that of policy `b` at one round, run by run in the same worlds.

    `difference` is its mean, `deviation` that of one run, `error` that of the mean; `low` and `high` bound the mean
    with the given confidence. `unpaired` is the error that runs in different worlds would have left.
    """

    a: str
    b: str
    round: int
    runs: int
    difference: float
    deviation: float
    error: float
    low: float
    high: float
    confidence: float
    unpaired: float

    @property
    def significant(self) -> bool:
        """Whether the interval leaves 0 out. A single run tells nothing."""
        return self.low > 0.0 or self.high < 0.0

    def __str__(self) -> str:
        after = f"after {self.round} rounds"
        if self.runs == 1:
            return f"{self.a} and {self.b} {after} of a single run:\ndifference {shown(self.difference)}, error unknown"
        errors = f"standard error {shown(self.error)} over {self.runs} paired runs (unpaired: {shown(self.unpaired)})"
        interval = f"{100 * self.confidence:g}% interval"
        if not self.significant:
            return (
                f"{self.a} and {self.b} cannot be told apart {after}:\n"
                f"difference {shown(self.difference)}, {interval} [{shown(self.low)}, {shown(self.high)}], {errors}"
            )
        less, more = (self.a, self.b) if self.difference < 0 else (self.b, self.a)
        low, high = sorted((abs(self.low), abs(self.high)))
        return (
            f"{less} has less regret than {more} {after}:\n"
            f"{shown(abs(self.difference))} less, {interval} [{shown(low)}, {shown(high)}], {errors}"
        )

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    @explained
    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        r"""A LaTeX tabular of one row, for documents with `\usepackage{booktabs}`, as that of a `Summary`."""
        return latex(_comparison_table([self]), caption, label)

    def to_markdown(self) -> str:
        """A table of one row in Markdown."""
        return markdown(_comparison_table([self]))


class Comparisons(Shown, Typeset, tuple[Comparison, ...]):
    """Comparisons of pairs, which print one below the other. A part of them is a plain tuple."""

    confidence_note: str = ""
    """How sure their intervals are, in words."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    __repr__ = __str__

    def _table(self) -> Table:
        return _comparison_table(self)


def estimate(sample: NDArray[np.float64], confidence: float) -> Estimate:
    """Mean, standard deviation, standard error and Student's interval over the last axis; NaN where it has length 1."""
    from scipy.special import stdtrit

    check_confidence(confidence)
    runs = sample.shape[-1]
    mean = sample.mean(axis=-1)
    deviation = sample.std(axis=-1, ddof=1) if runs > 1 else np.full_like(mean, np.nan)
    error = deviation / runs**0.5
    half = error * (stdtrit(runs - 1, 0.5 + confidence / 2.0) if runs > 1 else np.nan)
    numbers = mean, deviation, error, mean - half, mean + half
    return Estimate(*(map(float, numbers) if sample.ndim == 1 else numbers))


def _comparison_table(pairs: Sequence[Comparison]) -> Table:
    names = [*dict.fromkeys(name for one in pairs for name in (one.a, one.b))]
    short = dict(zip(names, short_names(names), strict=True))
    rows: list[list[Cell]] = [
        [
            short[one.a],
            short[one.b],
            _figure(one.difference),
            _figure(one.error),
            _interval(one.low, one.high),
            _verdict(one),
        ]
        for one in pairs
    ]
    interval = _interval_title(pairs[0].confidence if pairs else None)
    return Table(["policy", "against", "difference", "± error", interval, "verdict"], rows)


def _verdict(one: Comparison) -> str:
    if not one.significant:
        return "a single run" if one.runs == 1 else "cannot be told apart"
    return "less regret" if one.difference < 0.0 else "more regret"


def _interval_title(confidence: float | None) -> str:
    if confidence is None:
        return "interval"
    return f"{100 * confidence:.{4 if confidence < 0.9999 else 10}g}% interval"


def _figure(number: float, bold: bool = False) -> Figure:
    return Figure("" if math.isnan(number) else _grouped(number), bold)


def _interval(low: float, high: float) -> Figure:
    return Figure("" if math.isnan(low) else f"[{_grouped(low)}, {_grouped(high)}]")


def _grouped(number: float) -> str:
    """As `shown`, with thousands set apart."""
    text = shown(number)
    return text if "e" in text else f"{float(text):,.2f}"
