"""The arrays that everything here is made of, by name."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Items: TypeAlias = NDArray[np.int64]
Weights: TypeAlias = NDArray[np.float64]
Arrays: TypeAlias = tuple[NDArray[Any], ...]
Bounds: TypeAlias = tuple[float, float] | tuple[Weights, Weights]
"""The least and the largest weight of all items, or of each."""
Side: TypeAlias = ArrayLike | Mapping[str, float] | Mapping[int, float]
GivenBounds: TypeAlias = tuple[Side, Side]
"""Bounds as users write them: on each side a number, or one for each item, in their order or by name."""
Scalar: TypeAlias = Any
"""A number, or an array of numbers: the functions of a policy are written so that both work."""
