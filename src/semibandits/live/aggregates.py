"""Observations that were added up elsewhere: how many of each item, their sum, and the sum of their squares."""

from typing import Any

import numpy as np

from semibandits._util.item_bounds import SINGLE, spans_of
from semibandits.agent import Scale
from semibandits.errors import BadArgument, BadWeights
from semibandits.live.reading import Reader
from semibandits.live.tally import Totals
from semibandits.types import Weights

LAST_BIT = 2.0**-53
VISIBLE = 1e-6
"""Of the square of the width of the bounds: so much of each square is not to be lost by rounding."""
MOST = 2.0**53
"""Larger whole numbers are not all there in floating point."""


class Aggregates:
    """The reader of such totals for one learner."""

    def __init__(self, reader: Reader, scale: Scale) -> None:
        self._reader = reader
        self._scale = scale

    def read(self, counts: Any, sums: Any, squares: Any) -> Totals:
        """On the scale of the bounds. Without `squares` those of weights that are at one of the bounds each."""
        if counts is None or sums is None:
            raise BadArgument("give counts and sums together: counts=..., sums=..., and squares=... if they are known")
        n, _ = self._reader.vector("counts", counts)
        s, summed = self._reader.vector("sums", sums)
        q, squared = (None, summed) if squares is None else self._reader.vector("squares", squares)
        whole = (n >= 0.0) & (n < MOST) & (n == np.floor(n))
        self._reader.demand(whole, "counts must be whole numbers >= 0, below 2**53", n)
        for name, total, there in (("sums", s, summed), ("squares", q, squared)):
            if total is not None:
                if lacking := self._reader.names(np.flatnonzero((n > 0.0) & ~there)):
                    raise BadWeights(f"{name} must have a number for each item with a count, also for {lacking[0]}")
                self._reader.demand((n > 0.0) | (total == 0.0), f"{name} must be 0 where counts are", total)
        lo, hi = self._scale.lo, self._scale.hi
        largest = n * np.maximum(np.abs(lo), np.abs(hi))
        slack, ends = SINGLE * largest, (n * lo, n * hi)
        possible = (s >= ends[0] - slack) & (s <= ends[1] + slack)
        self._reader.demand(possible, "sums must be of so many weights within the bounds", s, ends)
        x = np.clip(self._x_of_sums(n, s), 0.0, n)
        if q is None:
            return Totals(n, x, x.copy())
        return Totals(n, x, self._squares(n, s, x, q))

    def written(self, totals: Totals) -> dict[str, Weights]:
        """As `read` reads them, of weights."""
        n, x, squares = totals
        start, step = (self._scale.hi, -self._width()) if self._scale.costs else (self._scale.lo, self._width())
        return {
            "counts": n,
            "sums": n * start + step * x,
            "squares": n * start * start + 2.0 * start * step * x + step * step * squares,
        }

    def _x_of_sums(self, n: Weights, s: Weights) -> Weights:
        width = self._width()
        distance = n * self._scale.hi - s if self._scale.costs else s - n * self._scale.lo
        return np.where(width > 0.0, distance / np.where(width > 0.0, width, 1.0), 0.0)

    def _squares(self, n: Weights, s: Weights, x: Weights, q: Weights) -> Weights:
        """Of x. Where bounds lie so far from 0 that rounding hides how much weights varied, it counts as variation."""
        lo, hi = self._scale.bounds
        end, width = hi if self._scale.costs else lo, self._width()
        per = 1.0 / np.where(width > 0.0, width, 1.0) ** 2
        found = np.where(width > 0.0, q - 2.0 * end * s + n * end * end, q - n * lo * lo) * per
        least = x * x / np.maximum(n, 1.0)
        # One after the other, which is the worst way to add up: each time a last bit of the sum may be lost.
        hidden = np.minimum(LAST_BIT * (n + 10.0), SINGLE) * n * np.maximum(np.abs(lo), np.abs(hi)) ** 2 * per
        room = 4.0 * hidden + 1e-9 * n
        possible = (found >= least - room) & (found <= x + room)
        self._reader.demand(possible, "squares must be of weights that have these counts and sums within the bounds", q)
        squares: Weights = np.clip(np.where(hidden > VISIBLE * n, found + hidden, found), least, x)
        return squares

    def _width(self) -> Weights:
        return spans_of(self._scale.bounds, self._reader.n_items)
