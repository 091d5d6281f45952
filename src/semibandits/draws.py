"""Random numbers of many shapes from counter-based uniform ones: normal, exponential, gamma, beta.

The functions are array-safe and compile, as those of `rng`. `draw` numbers independent draws of one kind for one item;
draws of different kinds are *not* independent of each other.

The gamma and beta distributions are drawn by rejection, in one attempt that may fail: it then gives NaN. A policy that
uses them says `redraws = True`, and an item whose score is NaN is scored again with another key.
"""

import math

from semibandits.kernel import exp, ln, sqrt, turn, where
from semibandits.rng import uniform
from semibandits.types import Scalar

_NAN = math.nan


def normals(key: Scalar, item: Scalar, draw: int = 0) -> Scalar:
    """Two independent standard normal numbers (Box and Muller 1958)."""
    radius = sqrt(-2.0 * ln(1.0 - uniform(key, item, 2 * draw)))
    cosine, sine = turn(uniform(key, item, 2 * draw + 1))
    return radius * cosine, radius * sine


def normal(key: Scalar, item: Scalar, draw: int = 0) -> Scalar:
    """A standard normal number, within ±8.6."""
    return normals(key, item, draw)[0]


def exponential(key: Scalar, item: Scalar, draw: int = 0) -> Scalar:
    """A number from the exponential distribution of mean 1."""
    return -ln(1.0 - uniform(key, item, draw))


def gamma(shape: Scalar, key: Scalar, item: Scalar, draw: int = 0) -> Scalar:
    """Gamma(shape) of scale 1 for shape >= 1; NaN: rejected, at most 1 in 20 (Marsaglia and Tsang 2000)."""
    d = shape - 1.0 / 3.0
    x = normal(key, item, 2 * draw)
    v, log_chance = _cubed(x, d, beta_width(shape))
    return where(_accepted(log_chance, key, item, 4 * draw + 2), d * v, _NAN)


def beta(a: Scalar, b: Scalar, key: Scalar, item: Scalar, draw: int = 0) -> Scalar:
    """Beta(a, b) for a, b >= 1; NaN: rejected, at most 1 in 10.

    X / (X + Y) of gamma numbers X and Y, as in `gamma`, that are accepted or rejected together.
    """
    return beta_with(a, b, beta_width(a), beta_width(b), key, item, draw)


def beta_width(shape: Scalar) -> Scalar:
    """What `beta_with` wants to know of a and b, and who draws often with the same ones may keep."""
    return 1.0 / sqrt(9.0 * shape - 3.0)


def beta_with(
    a: Scalar, b: Scalar, width_a: Scalar, width_b: Scalar, key: Scalar, item: Scalar, draw: int = 0
) -> Scalar:
    """`beta` for who has the widths."""
    x, y = normals(key, item, 2 * draw)
    v, log_chance = _cubed(x, a - 1.0 / 3.0, width_a)
    w, log_other = _cubed(y, b - 1.0 / 3.0, width_b)
    return where(_accepted(log_chance + log_other, key, item, 4 * draw + 2), _ratio(a, b, v, w), _NAN)


def beta_at_a_glance(
    a: Scalar, b: Scalar, width_a: Scalar, width_b: Scalar, key: Scalar, item: Scalar, draw: int = 0
) -> Scalar:
    """What `beta_with` gives, or NaN where that takes its logarithms to know: in most cases it does not.

    Both gamma numbers are accepted with a chance of at least 1 - w² x⁴ / 4 each, w the width and x the normal number.
    (Marsaglia and Tsang have 1 - 0.0331 x⁴, the same at shape 1 but for a margin; for larger shapes this is closer.)
    """
    x, y = normals(key, item, 2 * draw)
    by_x, by_y = width_a * (x * x), width_b * (y * y)
    sure = uniform(key, item, 4 * draw + 2) > 0.25 * (by_x * by_x + by_y * by_y)
    return where(sure, _ratio(a, b, _cube(x, width_a), _cube(y, width_b)), _NAN)


def _cube(x: Scalar, width: Scalar) -> Scalar:
    root = 1.0 + width * x
    return root * root * root


def _ratio(a: Scalar, b: Scalar, v: Scalar, w: Scalar) -> Scalar:
    """X / (X + Y) of the two gamma numbers."""
    x, y = (a - 1.0 / 3.0) * v, (b - 1.0 / 3.0) * w
    return x / (x + y)


def _cubed(x: Scalar, d: Scalar, width: Scalar) -> Scalar:
    """(1 + width · x)³, and the logarithm of the chance to accept it; never where it is negative."""
    possible = 1.0 + width * x > 0.0
    v = where(possible, _cube(x, width), 1.0)
    return v, where(possible, 0.5 * (x * x) + d * ((1.0 - v) + ln(v)), -700.0)


def _accepted(log_chance: Scalar, key: Scalar, item: Scalar, draw: int) -> Scalar:
    return 1.0 - uniform(key, item, draw) < exp(log_chance)
