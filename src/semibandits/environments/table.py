"""Recorded weights."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from semibandits.environments.base import check_bounds
from semibandits.errors import BadArgument, EndOfTable
from semibandits.kernel import as_index
from semibandits.rng import uniform
from semibandits.types import Arrays, Bounds, DrawFunction, Environment, Items, Scalar, Weights, check_choice

Order = Literal["resampled", "recorded"]


class Table(Environment):
    """A matrix of recorded weights, one row per moment and one column per item.

    `order="resampled"` draws a row per round, independently and with replacement: a stochastic world whose items are
    correlated as they were recorded. `order="recorded"` plays row t-1 in round t, and raises `EndOfTable` after the
    last row.
    `means` are the columns' means.

    >>> Table([[0.0, 1.0], [1.0, 0.5]]).means
    array([0.5 , 0.75])
    """

    def __init__(self, rows: ArrayLike, bounds: Bounds = (0.0, 1.0), order: Order = "resampled") -> None:
        try:
            self.rows = np.array(rows, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadArgument(f"rows must be a matrix of numbers, got {rows!r:.200}") from error
        if self.rows.ndim != 2 or 0 in self.rows.shape:
            raise BadArgument(f"rows must be a matrix (moments, items), got an array of shape {self.rows.shape}")
        self.bounds = check_bounds(bounds)
        inside = (self.rows >= self.bounds[0]) & (self.rows <= self.bounds[1])
        if not inside.all():
            row, item = (int(index) for index in np.argwhere(~inside)[0])
            raise BadArgument(f"row {row}, item {item} is {self.rows[row, item]}, not in the bounds {self.bounds}")
        self.order: Order = check_choice("order", order, Order)
        self.n_items = self.rows.shape[1]
        self.means = np.clip(self.rows.mean(axis=0), *self.bounds)
        self.tables = (self.rows,)
        self.batched = self.order == "resampled"
        self.last_round = len(self.rows) if self.order == "recorded" else None
        self.rows.setflags(write=False)
        self.means.setflags(write=False)

    def drawing(self) -> DrawFunction:
        return _resampled if self.order == "resampled" else _recorded

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        if self.order == "recorded" and not 1 <= round <= len(self.rows):
            raise EndOfTable(f"round {round} was asked of a table with rows for rounds 1 to {len(self.rows)}")
        return super().weights(round, key, items)

    def __repr__(self) -> str:
        return f"Table({len(self.rows)} rows, {self.n_items} items, {self.order})"


def _resampled(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
    rows = tables[0]
    return rows[as_index(uniform(key, 0) * rows.shape[0]), item]


def _recorded(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
    return tables[0][round - 1, item]
