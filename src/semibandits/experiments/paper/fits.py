"""Weighted least squares: straight lines and powers through points with known standard errors.

All errors are those of chance alone: they do not know whether the law that is fitted is the right one. `Line.explained`
and `Line.bend` say how far from a straight line the points are.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class Line(NamedTuple):
    """y = intercept + slope · x."""

    intercept: float
    slope: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    explained: float
    """R²: the share of the variance of y, weighted as the fit is, that the line explains."""
    bend: float
    """With a third term c x², the share of it in y at the largest x; 0 on a straight line."""
    bend_error: float

    def at(self, x: ArrayLike) -> Array:
        return self.intercept + self.slope * np.asarray(x, dtype=np.float64)

    def error_at(self, x: ArrayLike) -> Array:
        terms = _powers(np.asarray(x, dtype=np.float64), 2)
        found: Array = np.sqrt(np.einsum("ij,jk,ik->i", terms, np.array(self.covariance), terms))
        return found

    def as_dict(self) -> dict[str, float]:
        errors = np.sqrt(np.diag(self.covariance)).tolist()
        plain = {name: value for name, value in self._asdict().items() if name != "covariance"}
        return {**plain, "intercept_error": errors[0], "slope_error": errors[1]}


class Powers(NamedTuple):
    """y = constant · x1^e1 · x2^e2 · ..."""

    constant: float
    constant_error: float
    exponents: tuple[float, ...]
    errors: tuple[float, ...]


def line(x: Sequence[float], y: Sequence[float], errors: Sequence[float]) -> Line:
    """The straight line through three points or more.

    >>> fit = line([1, 2, 4], [5, 7, 11], [1, 1, 1])
    >>> round(fit.intercept, 9), round(fit.slope, 9), round(fit.explained, 9), abs(round(fit.bend, 9))
    (3.0, 2.0, 1.0, 0.0)
    """
    xs, ys, weights = np.array(x, dtype=np.float64), np.array(y, dtype=np.float64), 1.0 / np.square(errors)
    (intercept, slope), covariance = _least_squares(_powers(xs, 2), ys, weights)
    rest, spread = ys - intercept - slope * xs, ys - np.average(ys, weights=weights)
    bent, bent_covariance = _least_squares(_powers(xs, 3), ys, weights)
    share = xs.max() ** 2 / ys[xs.argmax()]
    (a, b), (c, d) = covariance.tolist()
    return Line(
        float(intercept),
        float(slope),
        ((a, b), (c, d)),
        explained=float(1.0 - (weights @ rest**2) / (weights @ spread**2)),
        bend=float(bent[2] * share),
        bend_error=float(bent_covariance[2, 2] ** 0.5 * share),
    )


def powers(xs: Sequence[Sequence[float]], y: Sequence[float], errors: Sequence[float]) -> Powers:
    """The power law through points, each with one value of every factor x; by least squares in logarithms.

    >>> powers([[1, 2], [2, 2], [4, 1]], [24, 48, 48], [1, 1, 1]).exponents
    (1.0, 1.0)
    """
    ys = np.array(y, dtype=np.float64)
    terms = np.column_stack([np.ones(ys.size), np.log(np.array(xs, dtype=np.float64).reshape(ys.size, -1))])
    found, covariance = _least_squares(terms, np.log(ys), (ys / np.array(errors)) ** 2)
    deviations = np.sqrt(np.diag(covariance))
    constant = float(np.exp(found[0]))
    exponents, exponent_errors = found[1:].round(12).tolist(), deviations[1:].tolist()
    return Powers(constant, constant * float(deviations[0]), tuple(exponents), tuple(exponent_errors))


def mean(values: Sequence[float], errors: Sequence[float]) -> tuple[float, float]:
    """The mean weighted by the errors, and its error."""
    weights = 1.0 / np.square(errors)
    return float(np.average(values, weights=weights)), float(weights.sum() ** -0.5)


def _powers(x: Array, count: int) -> Array:
    return np.vander(x, count, increasing=True)


def _least_squares(terms: Array, y: Array, weights: Any) -> tuple[Array, Array]:
    scaled = terms * np.sqrt(weights)[:, None]
    covariance = np.linalg.inv(scaled.T @ scaled)
    return covariance @ (scaled.T @ (y * np.sqrt(weights))), covariance
