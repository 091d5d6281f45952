"""Weights that an adversary fixed beforehand."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.checks import as_numbers
from semibandits._util.indexed import columns_of
from semibandits.environments.base import read_bounds
from semibandits.environments.table import InOrder, fit_rows
from semibandits.errors import BadArgument
from semibandits.types import GivenBounds


class Adversarial(InOrder):
    """An oblivious adversary: a table of what every item weighs in every round, by no law at all.

    Row t-1 of `losses`, an array (rounds, items), is what everybody sees in round t, in every run; after the last row
    there is no more. In a `Problem` with `sense="min"` these are losses, otherwise rewards. A row is its round's
    `means`, and regret is measured against the one solution that is best in hindsight.
    `problems.against` and `problems.coin_table` make tables that are hard.

    >>> world = Adversarial([[0.0, 1.0], [1.0, 0.5]])
    >>> world.means(2), world.average(2), world.last_round
    (array([1. , 0.5]), array([0.5 , 0.75]), 2)
    """

    def __init__(self, losses: ArrayLike, bounds: GivenBounds = (0.0, 1.0)) -> None:
        rows = _matrix(losses)
        self.last_round, self.n_items = rows.shape
        if names := columns_of(losses):
            self.labels = names
        self.bounds = read_bounds(self, bounds, self.n_items)
        self.losses = np.array(rows, dtype=np.float64, order="C")
        fit_rows("losses", self.losses, self.bounds)
        self.losses.setflags(write=False)
        self.tables = (self.losses,)

    def __repr__(self) -> str:
        return f"Adversarial({len(self.losses)} rounds, {self.n_items} items)"


def _matrix(losses: ArrayLike) -> NDArray[Any]:
    rows = as_numbers(losses, "losses must be a matrix of numbers (rounds, items)", masked=False)
    if rows.ndim != 2 or 0 in rows.shape:
        raise BadArgument(f"losses must be a matrix (rounds, items), got an array of shape {rows.shape}")
    return rows
