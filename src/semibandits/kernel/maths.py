"""The primitives in their plain form; `compiler` knows the compiled form of each."""

import math
from typing import Any

import numpy as np

where = np.where
"""`where(condition, a, b)`: a or b, element by element; both are evaluated."""

sqrt = np.sqrt

log = math.log
"""The natural logarithm of one number (a clock's, not an item's)."""

word = int
"""A constant of 64-bit modular arithmetic: an int for Python and NumPy, an unsigned word for the compiler."""


def as_word(x: Any) -> Any:
    """A number of any integer type, or an array of them, for 64-bit modular arithmetic."""
    return x.astype(np.uint64, copy=False) if isinstance(x, np.ndarray) else int(x)
