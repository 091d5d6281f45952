"""The arrays that everything here is made of, by name."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Items: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.float64]
Arrays: TypeAlias = tuple[NDArray[Any], ...]
Bounds: TypeAlias = tuple[float, float]
Scalar: TypeAlias = Any
"""A number, or an array of numbers: the functions of a policy are written so that both work."""
