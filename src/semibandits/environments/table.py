"""Recorded weights."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import check_choice
from semibandits._util.indexed import columns_of
from semibandits._util.item_bounds import SINGLE, pair_of, with_rounding
from semibandits.environments.base import read_bounds, with_names_of
from semibandits.errors import BadArgument, EndOfTable
from semibandits.kernel import as_index
from semibandits.rng import uniform
from semibandits.types import Arrays, Bounds, DrawFunction, Environment, GivenBounds, Items, Scalar, Weights

Order = Literal["resampled", "recorded"]


class InOrder(Environment):
    """Weights by no law, read row by row from the first of `tables`: row t-1 is what everybody sees in round t.

    A sequence has no means of its own. A row is its round's `means`, and regret is measured in hindsight, over the
    rounds that were played.
    """

    drifts = True
    hindsight = True

    @staticmethod
    def mean(round: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        """The weight of this item in this round."""
        return tables[0][round - 1, item]

    @staticmethod
    def draw(round: Scalar, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return tables[0][round - 1, item]

    def drawing(self) -> DrawFunction:
        return type(self).draw

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        row: Weights = self.tables[0][self._row(round)]
        return row if items is None else row[items]

    def means(self, round: int) -> Weights:  # type: ignore[override]
        """The weights of this round."""
        row: Weights = self.tables[0][self._row(round)]
        return row

    def at(self, round: int) -> "Table":
        """The world that is in every round as this one is in `round`."""
        return with_names_of(self, Table(self.tables[0][self._row(round)][None, :], self.bounds))

    def average(self, rounds: int) -> Weights:
        """The mean of the weights over rounds 1 to `rounds`."""
        average: Weights = np.clip(self.tables[0][: self._row(rounds) + 1].mean(axis=0), *self.bounds)
        return average

    def _row(self, round: Any) -> int:
        rows = len(self.tables[0])
        if isinstance(round, bool) or not isinstance(round, int | np.integer) or round < 1:
            raise BadArgument(f"a round is an integer >= 1, got {round!r:.100}")
        if round > rows:
            raise EndOfTable(f"round {round} was asked of a table with rows for rounds 1 to {rows}")
        return int(round) - 1


class Table(InOrder):
    """A matrix of recorded weights, one row per moment and one column per item.

    `order="resampled"` draws a row per round, independently and with replacement: a stochastic world whose items are
    correlated as they were recorded, and whose `means` are the columns' means.

    `order="recorded"` plays row t-1 in round t, and raises `EndOfTable` after the last row: a sequence as `Adversarial`
    is one. Such a table drifts, has `means(round)`, and regret in it is against the solution that is best in hindsight.

    >>> Table([[0.0, 1.0], [1.0, 0.5]]).means
    array([0.5 , 0.75])
    >>> Table([[0.0, 1.0], [1.0, 0.5]], order="recorded").means(1)
    array([0., 1.])
    """

    drifts = False
    hindsight = False
    means: Any

    def __init__(self, rows: ArrayLike, bounds: GivenBounds = (0.0, 1.0), order: Order = "resampled") -> None:
        try:
            self.rows = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"rows must be a matrix of numbers, got {rows!r:.200}") from error
        if self.rows.ndim != 2 or 0 in self.rows.shape:
            raise BadArgument(f"rows must be a matrix (moments, items), got an array of shape {self.rows.shape}")
        names = columns_of(rows)
        if names:
            self.labels = names
        self.bounds = read_bounds(self, bounds, self.rows.shape[1])
        fit_rows("rows", self.rows, self.bounds)
        self.order: Order = check_choice("order", order, Order)
        self.n_items = self.rows.shape[1]
        self.tables = (self.rows,)
        self.rows.setflags(write=False)
        if self.order == "resampled":
            self.means = np.clip(self.rows.mean(axis=0), *self.bounds)
            self.means.setflags(write=False)
        else:
            self.batched, self.last_round = False, len(self.rows)
            self.drifts = self.hindsight = True

    def drawing(self) -> DrawFunction:
        return super().drawing() if self.drifts else _resampled

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        return super().weights(round, key, items) if self.drifts else Environment.weights(self, round, key, items)

    def at(self, round: int) -> "Table":
        """The world that is in every round as this one is in `round`: itself, if it is resampled."""
        return super().at(round) if self.drifts else self

    def average(self, rounds: int) -> Weights:
        """The mean of the weights over rounds 1 to `rounds`; of a resampled table the means."""
        means: Weights = super().average(rounds) if self.drifts else self.means
        return means

    def __repr__(self) -> str:
        return f"Table({len(self.rows)} rows, {self.n_items} items, {self.order})"


def fit_rows(name: str, rows: NDArray[np.float64], bounds: Bounds) -> None:
    """Refuses weights beyond the bounds; those beyond by rounding alone are put onto them."""
    least, most = with_rounding(bounds, SINGLE)
    inside = (rows >= least) & (rows <= most)
    if not inside.all():
        row, item = (int(index) for index in np.argwhere(~inside)[0])
        lo, hi = pair_of(bounds, item)
        raise BadArgument(f"{name} must be from {lo} to {hi}, got {rows[row, item]} in row {row} for item {item}")
    np.clip(rows, *bounds, out=rows)


def _resampled(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
    rows = tables[0]
    return rows[as_index(uniform(key, 0) * rows.shape[0]), item]
