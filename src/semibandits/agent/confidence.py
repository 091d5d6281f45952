"""Radii of confidence intervals of items' means."""

import numpy as np

from semibandits.types import Weights


def hoeffding_radii(counts: Weights, confidence: float) -> Weights:
    """Of weights in [0, 1] seen so often each: in all rounds at once, however they were chosen; infinite for none.

    Hoeffding's inequality with error (1 - confidence) / (T(T+1)) at the T-th observation.
    """
    some = np.maximum(counts, 1.0)
    radius = np.sqrt(np.log(2.0 * some * (some + 1.0) / (1.0 - confidence)) / (2.0 * some))
    return np.where(counts > 0.0, radius, np.inf)
