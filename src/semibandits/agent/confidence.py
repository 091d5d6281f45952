"""How far the mean of an item's observations is from the truth, at most."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.types import Weights


def confidence_radii(counts: NDArray[Any], confidence: float) -> Weights:
    """Of x in [0, 1], in all rounds at once: Hoeffding's; infinite for items never observed."""
    some = np.maximum(counts, 1.0)
    radius = np.sqrt(np.log(2.0 * some * (some + 1.0) / (1.0 - confidence)) / (2.0 * some))
    return np.where(counts > 0.0, radius, np.inf)
