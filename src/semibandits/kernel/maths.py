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


def lowest_bit(x: int) -> int:
    """The position of the lowest bit that is set in a word."""
    return (int(x) & -int(x)).bit_length() - 1


def as_index(x: Any) -> Any:
    """A number >= 0, or an array of them, rounded down to be an index."""
    return x.astype(np.int64) if isinstance(x, np.ndarray) else int(x)


def to_bits(x: Any) -> Any:
    """The 64 bits of a number, or of an array of them, as a signed integer."""
    return np.asarray(x, dtype=np.float64).view(np.int64)[()]


def from_bits(i: Any) -> Any:
    """The number that has these 64 bits."""
    return np.asarray(i, dtype=np.int64).view(np.float64)[()]


def betaincinv(a: Any, b: Any, u: Any) -> Any:
    """The quantile function of Beta(a, b)."""
    from scipy.special import betaincinv

    return betaincinv(a, b, u)


def ndtri_exp(y: Any) -> Any:
    """The standard normal quantile of e^y."""
    from scipy.special import ndtri_exp

    return ndtri_exp(y)


def xlogy(x: Any, y: Any) -> Any:
    """x log y for numbers and arrays; 0 where x is 0."""
    from scipy.special import xlogy

    return xlogy(x, y)
