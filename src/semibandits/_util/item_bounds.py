"""Bounds of weights, one pair for all items or one for each: what holds of an item, and how they are shown."""

from typing import Any

import numpy as np

from semibandits._util.arrays import Bounds, Weights
from semibandits._util.checks import widest

ROUNDING = 1e-9
SINGLE = 2.0**-23
"""That of numbers in single precision, as sensors and models give them."""


def are_per_item(bounds: Bounds) -> bool:
    return isinstance(bounds[0], np.ndarray)


def bounds_of(bounds: Bounds, items: Any) -> Bounds:
    """Those of these items; of one item two numbers."""
    lo, hi = bounds
    if isinstance(lo, np.ndarray) and isinstance(hi, np.ndarray):
        return lo[items], hi[items]
    return bounds


def pair_of(bounds: Bounds, item: int) -> tuple[float, float]:
    """The bounds of one item, for an error that names it."""
    lo, hi = bounds_of(bounds, item)
    return float(lo), float(hi)


def with_rounding(bounds: Bounds, rounding: float = ROUNDING) -> Bounds:
    """Between which a user's weights must be: the bounds, with some room for rounding."""
    lo, hi = bounds
    if isinstance(lo, np.ndarray) or isinstance(hi, np.ndarray):
        each: Weights = rounding * np.maximum(hi - lo, np.maximum(np.abs(lo), np.abs(hi)))
        return lo - each, hi + each
    slack = rounding * max(hi - lo, abs(lo), abs(hi))
    return lo - slack, hi + slack


def spans_of(bounds: Bounds, n_items: int) -> Weights:
    """hi - lo of every item."""
    lo, hi = bounds
    spans: Weights = np.zeros(n_items) + (hi - lo)
    spans.setflags(write=False)
    return spans


def shown(bounds: Bounds) -> str:
    """In a few words."""
    if not are_per_item(bounds):
        return f"({bounds[0]}, {bounds[1]})"
    lo, hi = widest(bounds)
    return f"per item, from {lo:g} to {hi:g}"
