"""The primitives in their plain form; `compiler` knows the compiled form of each."""

import math

import numpy as np

where = np.where
"""`where(condition, a, b)`: a or b, element by element; both are evaluated."""

sqrt = np.sqrt

log = math.log
"""The natural logarithm of one number (a clock's, not an item's)."""

word = int
"""A constant of 64-bit modular arithmetic: an int for Python and NumPy, an unsigned word for the compiler."""
