"""Terms that many bounds share.

Weights may have bounds of their own per item. Their spans c_e = hi_e - lo_e are what radii of confidence intervals are
multiplied by; `spans` in the functions of this package is an array with one for each item, None where all are 1. A span
of 0 is that of a weight which is known.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from semibandits._util.checks import check_item_gaps, check_sizes, check_vector
from semibandits.errors import BadArgument
from semibandits.types import Bounds, Weights

Pair: TypeAlias = tuple[float, float]

PER_ITEM = math.pi**2 / 3.0 + 1.0
"""Rounds, per item, in which nothing is guaranteed: Init takes one, wrong confidence intervals π²/3 (Lemma 1)."""


def one_pair(bounds: Bounds) -> Pair | None:
    """The bounds that all items share; None where they have bounds of their own."""
    lo, hi = bounds
    if isinstance(lo, np.ndarray) or isinstance(hi, np.ndarray):
        return None
    return lo, hi


def worst_loss(bounds: Pair) -> float:
    """What a round may lose, per item of the largest solution, whatever is chosen: 1 for weights in [0, 1]."""
    lo, hi = bounds
    return max(hi, 0.0) - min(lo, 0.0)


def largest_loss(bounds: Bounds, K: int) -> float:
    """What a round may lose whatever is chosen.

    One solution has at most K items, the other too: the K largest hi_e above 0, less the K smallest lo_e below.
    """
    pair = one_pair(bounds)
    if pair is not None:
        return K * worst_loss(pair)
    lo, hi = bounds
    return largest_sum(np.maximum(hi, 0.0), K) + largest_sum(np.maximum(-lo, 0.0), K)


def largest_sum(values: Weights, K: int) -> float:
    """Of the K largest of these numbers, which are at least 0."""
    return float(np.sort(values)[max(values.size - K, 0) :].sum())


def check_spans(spans: ArrayLike | None, L: int) -> Weights | None:
    if spans is None:
        return None
    vector = check_vector("spans", spans, L)
    if (vector < 0.0).any():
        raise BadArgument(f"spans must be >= 0, got {vector[vector < 0.0][0]}")
    return vector


def squares(spans: Weights | None, L: int) -> float:
    """Σ c_e² over all items: L where all spans are 1."""
    return L if spans is None else float((spans * spans).sum())


def inverse_gaps(item_gaps: ArrayLike, spans: Weights | None = None) -> float:
    """Σ c_e²/Δ_e over the gaps that count: neither NaN nor inf."""
    counted = check_item_gaps(item_gaps)
    if spans is None:
        return float((1.0 / counted).sum())
    gaps = np.asarray(item_gaps, dtype=np.float64)
    if gaps.shape != spans.shape:
        raise BadArgument(f"item_gaps must have one entry for each of {spans.size} spans, got {gaps.size}")
    c = spans[np.isfinite(gaps)]
    return float((c * (c / counted)).sum())


def lost_rounds(per_item: float, L: int, spans: Weights | None = None) -> float:
    """Rounds in which nothing is guaranteed. A known weight has no confidence interval that could be wrong."""
    if spans is None:
        return per_item * L
    known = int(np.count_nonzero(spans == 0.0))
    return per_item * (L - known) + known


def beyond(per_item: float, bounds: Bounds, L: int, K: int) -> float:
    """What these rounds may lose beyond `additive` where bounds are far from 0."""
    pair = one_pair(bounds)
    if pair is not None:
        return (worst_loss(pair) - (pair[1] - pair[0])) * per_item * K * L
    spans: Weights = np.subtract(bounds[1], bounds[0])
    return (largest_loss(bounds, K) - largest_sum(spans, K)) * lost_rounds(per_item, L, spans)


def additive(per_item: float, L: int, K: int, spans: Weights | None = None) -> float:
    """What these rounds lose at most, where all lo_e are 0: K each, or as much as the K widest items are worth."""
    L, K = check_sizes(L, K)
    if spans is None:
        return per_item * K * L
    return lost_rounds(per_item, L, spans) * largest_sum(spans, K)
