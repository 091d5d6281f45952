"""Bounds on the regret of CombUCB1: Kveton, Wen, Ashkan and Szepesvári, "Tight Regret Bounds for Stochastic
Combinatorial Semi-Bandits" (AISTATS 2015).

They hold for weights in [0, 1], independent from round to round, CombUCB1 with the paper's alpha = 1.5 and
initialisation, and an exact oracle. n is the round (a number or an array), L the number of items, K the largest size of
a solution.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits.errors import BadArgument
from semibandits.sets.base import check_count
from semibandits.types import Scalar


def theorem_6(n: ArrayLike, L: int, K: int) -> Scalar:
    """Whatever the gaps:

        R(n) ≤ 47 sqrt(K L n log n) + (π²/3 + 1) K L

    >>> theorem_6([1, 1000], L=12, K=4).round(1).tolist()
    [205.9, 27269.6]
    """
    n = _check_rounds(n)
    L, K = _check_sizes(L, K)
    return 47.0 * np.sqrt(K * L * n * np.log(n)) + (math.pi**2 / 3.0 + 1.0) * K * L


def _check_rounds(n: ArrayLike) -> NDArray[np.float64]:
    try:
        rounds = np.asarray(n)
    except ValueError as error:
        raise BadArgument(f"n must be one or more rounds, got {n!r:.200}") from error
    if rounds.dtype.kind not in "fiu" or not ((rounds >= 1) & np.isfinite(rounds)).all():
        raise BadArgument(f"n must be one or more rounds >= 1, got {n!r:.200}")
    return rounds.astype(np.float64)


def _check_sizes(L: Any, K: Any) -> tuple[int, int]:
    L, K = check_count("L", L, BadArgument), check_count("K", K, BadArgument)
    if K > L:
        raise BadArgument(f"K must be at most L, got K = {K} and L = {L}")
    return L, K
