"""What all bounds ask of their arguments, and the term they share."""

import contextlib
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits.errors import BadArgument
from semibandits.sets.base import check_count
from semibandits.types import Bounds

PER_ITEM = math.pi**2 / 3.0 + 1.0
"""Rounds, per item, in which nothing is guaranteed: Init takes one, wrong confidence intervals π²/3 (Lemma 1)."""


MOST_ROUNDS = 1e200


def check_rounds(n: ArrayLike, name: str = "n") -> NDArray[np.float64]:
    try:
        rounds = np.asarray(n)
    except ValueError as error:
        raise BadArgument(f"{name} must be one or more rounds, got {n!r:.200}") from error
    if rounds.dtype == object:  # as whole numbers beyond 64 bits are
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            rounds = rounds.astype(np.float64)
    if rounds.dtype.kind not in "fiu" or not ((rounds >= 1) & np.isfinite(rounds)).all():
        raise BadArgument(f"{name} must be one or more rounds >= 1, got {n!r:.200}")
    if (rounds > MOST_ROUNDS).any():
        raise BadArgument(f"{name} must be one or more rounds of at most {MOST_ROUNDS:g}, got {n!r:.200}")
    return rounds.astype(np.float64)


def check_sizes(L: Any, K: Any) -> tuple[int, int]:
    L, K = check_count("L", L, BadArgument), check_count("K", K, BadArgument)
    if K > L:
        raise BadArgument(f"K must be at most L, got K = {K} and L = {L}")
    return L, K


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def check_gap(gap: Any, name: str = "gap") -> float:
    """A finite number > 0."""
    if not is_number(gap) or not 0.0 < gap < math.inf:
        raise BadArgument(f"{name} must be a finite number > 0, got {gap!r:.200}")
    return float(gap)


def check_item_gaps(item_gaps: ArrayLike) -> NDArray[np.float64]:
    """The gaps that count: NaN stands for an item of the optimum, inf for one that no suboptimal solution contains."""
    try:
        gaps = np.asarray(item_gaps, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadArgument(f"item_gaps must be an array of numbers, got {item_gaps!r:.200}") from error
    if gaps.ndim == 0:
        raise BadArgument(f"item_gaps must be an array of numbers, got {item_gaps!r:.200}")
    known = gaps[~np.isnan(gaps)]
    if (known <= 0.0).any():
        raise BadArgument(f"item_gaps must be > 0 (NaN or inf: not counted), got {known[known <= 0.0][0]}")
    return known[known < np.inf]


def worst_loss(bounds: Bounds) -> float:
    """What a round may lose, per item of the largest solution, whatever is chosen: 1 for weights in [0, 1]."""
    lo, hi = bounds
    return max(hi, 0.0) - min(lo, 0.0)
