"""Fits against NumPy's polynomials, and the criteria of Section 7 against laws that hold and laws that do not."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from semibandits.experiments.paper import fits, section_7
from semibandits.experiments.paper.runs import GRIDS, SIGMAS
from semibandits.experiments.paper.section_7 import Point

X = np.array([4.0, 12.0, 24.0, 40.0, 60.0])
Y = np.array([3.0, 10.0, 19.0, 37.0, 58.0])
ERRORS = np.array([0.2, 0.5, 0.4, 1.0, 2.0])


def test_a_line_is_that_of_polyfit() -> None:
    found = fits.line(X.tolist(), Y.tolist(), ERRORS.tolist())
    (slope, intercept), covariance = np.polyfit(X, Y, 1, w=1.0 / ERRORS, cov="unscaled")
    assert (found.slope, found.intercept) == pytest.approx((slope, intercept))
    assert np.array(found.covariance) == pytest.approx(covariance[::-1, ::-1])
    at = np.array([0.0, 50.0])
    assert found.at(at) == pytest.approx(intercept + slope * at)
    assert found.error_at(at) ** 2 == pytest.approx(
        covariance[1, 1] + 2.0 * at * covariance[0, 1] + at**2 * covariance[0, 0]
    )
    assert found.as_dict()["slope_error"] == pytest.approx(math.sqrt(covariance[0, 0]))


def test_a_bend_is_the_quadratic_term_at_the_far_end() -> None:
    found = fits.line(X.tolist(), Y.tolist(), ERRORS.tolist())
    (second, _, _), covariance = np.polyfit(X, Y, 2, w=1.0 / ERRORS, cov="unscaled")
    assert found.bend == pytest.approx(second * 60.0**2 / 58.0)
    assert found.bend_error == pytest.approx(math.sqrt(covariance[0, 0]) * 60.0**2 / 58.0)


def test_the_share_explained_is_a_squared_correlation() -> None:
    same = [2.0] * len(X)
    assert fits.line(X.tolist(), Y.tolist(), same).explained == pytest.approx(np.corrcoef(X, Y)[0, 1] ** 2)


def test_a_point_with_a_small_error_counts_more() -> None:
    assert fits.line([1, 2, 3], [1, 2, 30], [1e-6, 1e-6, 1]).slope == pytest.approx(1.0)
    assert fits.mean([1.0, 5.0], [1.0, 1.0]) == pytest.approx((3.0, math.sqrt(0.5)))
    assert fits.mean([1.0, 5.0], [1e-9, 1.0])[0] == pytest.approx(1.0)


def test_powers_are_lines_in_logarithms() -> None:
    found = fits.powers([[x] for x in X], Y.tolist(), ERRORS.tolist())
    (slope, intercept), covariance = np.polyfit(np.log(X), np.log(Y), 1, w=Y / ERRORS, cov="unscaled")
    assert found.exponents == pytest.approx((slope,))
    assert found.errors == pytest.approx((math.sqrt(covariance[0, 0]),))
    assert found.constant == pytest.approx(math.exp(intercept))
    assert found.constant_error == pytest.approx(found.constant * math.sqrt(covariance[1, 1]))


def test_two_factors_are_told_apart() -> None:
    pairs = [(a, b) for a in (1.0, 2.0, 5.0) for b in (1.0, 3.0)]
    found = fits.powers(pairs, [7.0 * a**1.5 / b for a, b in pairs], [1.0] * 6)
    assert (found.constant, *found.exponents) == pytest.approx((7.0, 1.5, -1.0))


# The criteria of Section 7


def verdicts(law: Callable[[int, float], float], noise: float = 0.0) -> list[bool]:
    """By the criteria: linear in L, m², linear in 1/σ, 1/σ, the constant; for points on a law, errors as measured."""
    draws = np.random.default_rng(1).normal(size=len(GRIDS))
    points = {}
    for (m, sigma), draw in zip(GRIDS, draws, strict=True):
        error = 0.35 * m / sigma
        points[m, sigma] = Point(law(m, sigma) + noise * draw * error, error)
    return [claim.holds for claim in section_7.claims_of(section_7.fit(points))]


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_the_papers_law_passes(noise: float) -> None:
    assert verdicts(lambda m, sigma: 31.0 * m**2 / sigma, noise) == [True] * 5
    # As measured: a little less than m², and than 1/σ, since n is finite.
    assert verdicts(lambda m, sigma: 34.9 * m**1.98 / sigma**0.91, noise) == [True] * 5


@pytest.mark.parametrize("power", [1.0, 1.5, 2.25, 2.5, 3.0])
def test_other_powers_of_m_are_not_linear_in_items(power: float) -> None:
    by_items, exponent, *inverse, _ = verdicts(lambda m, sigma: 31.0 * m**power / sigma)
    assert (by_items, exponent, *inverse) == (False, False, True, True)


@pytest.mark.parametrize("power", [0.25, 0.5, 1.5, 2.0])
def test_other_powers_of_sigma_are_not_linear_in_its_inverse(power: float) -> None:
    by_items, exponent, *inverse, _ = verdicts(lambda m, sigma: 60.0 * m**2 * (0.4 / sigma) ** power)
    assert (by_items, exponent, *inverse) == (True, True, False, False)


@pytest.mark.parametrize("factor", [2.0 / 3.0, 0.9, 1.1, 4.0 / 3.0])
def test_another_constant_is_not_the_papers(factor: float) -> None:
    """A radius with alpha = 1 or 2 in the place of 1.5 multiplies regret by 2/3 or 4/3."""
    assert verdicts(lambda m, sigma: factor * 31.0 * m**2 / sigma) == [True] * 4 + [False]


def test_the_limits_are_between_what_the_text_says_of_the_nearest_laws() -> None:
    def line(power: float) -> fits.Line:
        items = [section_7.items(m) for m in section_7.SIZES]
        return fits.line(items, [float(m) ** power for m in section_7.SIZES], [float(m) for m in section_7.SIZES])

    assert [round(line(power).explained, 4) for power in (1.5, 2.0, 2.25)] == [0.9914, 0.9988, 0.9914]
    assert [round(line(power).bend, 2) for power in (1.5, 2.0, 2.25)] == [-0.33, 0.11, 0.31]

    def inverse(power: float) -> fits.Line:
        x = [1.0 / sigma for sigma in SIGMAS]
        return fits.line(x, [one**power for one in x], [2.4 * x[0], 3.6 * x[1], 3.6 * x[2]])

    assert [round(inverse(power).explained, 3) for power in (0.5, 1.0, 1.5)] == [0.988, 1.0, 0.988]
    assert [round(inverse(power).bend, 2) for power in (0.5, 1.5)] == [-0.32, 0.5]


def test_the_predicted_exponent_tends_to_one() -> None:
    exponents = [section_7.predicted_exponent(n) for n in (10**5, 10**6, 10**8, 10**12)]
    assert exponents == sorted(exponents)
    assert exponents[0] == pytest.approx(0.93, abs=0.005)
    assert exponents[-1] == pytest.approx(1.0, abs=1e-3)
