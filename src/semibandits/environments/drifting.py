"""Weights that are 0 or 1, with means that change from round to round."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.indexed import columns_of
from semibandits.environments.base import with_names_of
from semibandits.environments.bernoulli import Bernoulli
from semibandits.errors import BadArgument
from semibandits.kernel import where
from semibandits.rng import uniform
from semibandits.types import Arrays, Environment, Scalar, Weights

MOST_ROWS = 1 << 12
"""As many as the steps of `_piece` tell apart."""
LAST_START = 1 << 50
"""Beyond it a slope would be lost in rounding."""


class Drifting(Environment):
    """Item e weighs 1 with a probability that depends on the round, else 0.

    Row k of `means`, an array (rows, items), is reached in round `starts[k]`; the first start is 1. The means stay as
    they are until the next start, or (`smooth=True`) move to the next row along a straight line; the last row stays for
    good. `means(round)` are those of a round, `at(round)` is the `Bernoulli` world of that round.

    >>> world = Drifting([[0.9, 0.1], [0.1, 0.5]], starts=[1, 101])
    >>> world.means(100), world.means(101)
    (array([0.9, 0.1]), array([0.1, 0.5]))
    >>> Drifting([[0.9, 0.1], [0.1, 0.5]], starts=[1, 101], smooth=True).means(51)
    array([0.5, 0.3])
    """

    drifts = True
    independent = True
    bounds = (0.0, 1.0)

    def __init__(self, means: ArrayLike, starts: ArrayLike, smooth: bool = False) -> None:
        self.rows = _check_rows(means)
        if names := columns_of(means):
            self.labels = names
        self.starts = _check_starts(starts, len(self.rows))
        if not isinstance(smooth, bool | np.bool_):
            raise BadArgument(f"smooth must be True or False, got {smooth!r:.100}")
        self.smooth = bool(smooth)
        self.n_items = self.rows.shape[1]
        self.slopes = np.zeros_like(self.rows)
        if self.smooth:
            self.slopes[:-1] = np.diff(self.rows, axis=0) / np.diff(self.starts)[:, None]
        search = np.full(MOST_ROWS, np.iinfo(np.int64).max)
        search[: self.starts.size] = self.starts
        self.tables = (search, self.rows, self.slopes)
        for array in (self.starts, *self.tables):
            array.setflags(write=False)

    @staticmethod
    def mean(round: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        """The mean of this item in this round."""
        return _mean(round, item, tables)

    @staticmethod
    def draw(round: Scalar, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        return where(uniform(key, item) < _mean(round, item, tables), 1.0, 0.0)

    def means(self, round: int) -> Weights:  # type: ignore[override]
        """The means of the weights of this round."""
        k = int(self.starts.searchsorted(_check_round(round), side="right")) - 1
        means: Weights = self.rows[k] + self.slopes[k] * (round - self.starts[k])
        return means

    def at(self, round: int) -> Bernoulli:
        """The world that is in every round as this one is in `round`."""
        return with_names_of(self, Bernoulli(self.means(round)))

    def average(self, rounds: int) -> Weights:
        """The mean of the means over rounds 1 to `rounds`."""
        last = _check_round(rounds)
        ends = np.append(self.starts[1:], last + 1)
        lengths = np.maximum(np.minimum(ends, last + 1) - self.starts, 0)[:, None]
        middles = self.rows + self.slopes * (np.maximum(lengths - 1, 0) / 2.0)
        average: Weights = np.clip((lengths / last * middles).sum(axis=0), 0.0, 1.0)
        return average

    def __repr__(self) -> str:
        return f"Drifting({len(self.rows)} rows, {self.n_items} items, {'smooth' if self.smooth else 'in steps'})"


def _mean(round: Scalar, item: Scalar, tables: Arrays) -> Scalar:
    starts, rows, slopes = tables
    k = _piece(round, starts)
    return rows[k, item] + slopes[k, item] * (round - starts[k])


def _piece(round: Scalar, starts: Scalar) -> Scalar:
    """The last row that starts by this round: a bisection of MOST_ROWS starts, without a branch or a loop."""
    k = 2048 * (starts[2048] <= round)
    k = k + 1024 * (starts[k + 1024] <= round)
    k = k + 512 * (starts[k + 512] <= round)
    k = k + 256 * (starts[k + 256] <= round)
    k = k + 128 * (starts[k + 128] <= round)
    k = k + 64 * (starts[k + 64] <= round)
    k = k + 32 * (starts[k + 32] <= round)
    k = k + 16 * (starts[k + 16] <= round)
    k = k + 8 * (starts[k + 8] <= round)
    k = k + 4 * (starts[k + 4] <= round)
    k = k + 2 * (starts[k + 2] <= round)
    return k + 1 * (starts[k + 1] <= round)


def _check_rows(means: ArrayLike) -> Weights:
    try:
        rows = np.array(means)
    except ValueError as error:
        raise BadArgument(f"means must be a matrix of numbers (rows, items), got {means!r:.200}") from error
    if rows.dtype.kind not in "fiu" or rows.ndim != 2 or 0 in rows.shape:
        raise BadArgument(f"means must be a matrix of numbers (rows, items), got {means!r:.200}")
    if len(rows) > MOST_ROWS:
        raise BadArgument(f"means must have at most {MOST_ROWS:,} rows, got {len(rows):,}")
    inside = (rows >= 0.0) & (rows <= 1.0)
    if not inside.all():
        row, item = (int(index) for index in np.argwhere(~inside)[0])
        raise BadArgument(f"means must be in [0, 1], got {rows[row, item]} in row {row} for item {item}")
    return rows.astype(np.float64)


def _check_starts(starts: ArrayLike, rows: int) -> NDArray[np.int64]:
    try:
        rounds = np.array(starts)
    except ValueError as error:
        raise BadArgument(f"starts must be rounds, whole numbers, got {starts!r:.200}") from error
    if rounds.ndim != 1 or rounds.dtype.kind not in "iu":
        raise BadArgument(f"starts must be rounds, whole numbers, got {starts!r:.200}")
    if rounds.size != rows:
        raise BadArgument(f"starts must be {rows} rounds, one per row of means, got {rounds.size}")
    if rounds[0] != 1 or not (rounds[1:] > rounds[:-1]).all() or rounds[-1] > LAST_START:
        raise BadArgument(f"starts must ascend from 1 to at most {LAST_START}, got {starts!r:.200}")
    return rounds.astype(np.int64)


def _check_round(round: Any) -> int:
    if isinstance(round, bool) or not isinstance(round, int | np.integer) or round < 1:
        raise BadArgument(f"a round is an integer >= 1, got {round!r:.100}")
    return int(round)
