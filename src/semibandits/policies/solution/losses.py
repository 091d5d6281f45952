"""Losses, for policies made for adversarial ones: x in [0, 1], of which more is better, becomes one.

A loss is ℓ = c0 - c1 x. Where all solutions are equally large, every such loss with c1 > 0 ranks them as their values
do, and it may span the whole range that an algorithm allows. Where sizes differ, a solution is worth the sum of
x + offset, and only losses in proportion to -(x + offset) rank solutions rightly.
"""

from typing import NamedTuple

import numpy as np

from semibandits.types import FeasibleSet, Game, up_to_date


class Loss(NamedTuple):
    """ℓ = at_zero - slope · x."""

    at_zero: float
    slope: float

    @property
    def lowest(self) -> float:
        """The loss of x = 1, the least there is."""
        return self.at_zero - self.slope


def loss_scale(game: Game, feasible: FeasibleSet, least: float = 0.0) -> Loss:
    """The loss for algorithms that take losses in [least, 1], `least` being 0 or -1.

    Where all solutions of the set are known to be equally large, ℓ = 1 - x, or 1 - 2x where least = -1. Otherwise

        ℓ = -(x + offset) / max(|offset|, |1 + offset|)

    which is within [-1, 1] and may be negative also where least = 0: of weights in [0, 1] it is -x, of costs 1 - x.
    An estimate that adds `lowest` at last, (ℓ - lowest) 1{chosen}/p + lowest, is unbiased and never below it.
    """
    if same_size(feasible):
        return Loss(1.0, 1.0 - least)
    scale = max(abs(game.offset), abs(1.0 + game.offset))
    return Loss(-game.offset / scale, 1.0 / scale)


def same_size(feasible: FeasibleSet) -> bool:
    """Whether all solutions are known to have the same number of items."""
    quotas = feasible.quotas() if up_to_date(feasible, "quotas", "argmax") else None
    if quotas is not None:
        return quotas.exact or not quotas.sizes.any()
    if feasible.ratio < 1.0:
        return False
    smallest = feasible.argmax(np.full(feasible.n_items, -1.0)).size
    largest = feasible.argmax(np.ones(feasible.n_items)).size if feasible.signed else feasible.max_size
    return bool(smallest == largest)
