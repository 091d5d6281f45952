"""Terms that many bounds share."""

import math

from semibandits.types import Bounds

PER_ITEM = math.pi**2 / 3.0 + 1.0
"""Rounds, per item, in which nothing is guaranteed: Init takes one, wrong confidence intervals π²/3 (Lemma 1)."""


def worst_loss(bounds: Bounds) -> float:
    """What a round may lose, per item of the largest solution, whatever is chosen: 1 for weights in [0, 1]."""
    lo, hi = bounds
    return max(hi, 0.0) - min(lo, 0.0)
