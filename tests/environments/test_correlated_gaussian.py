"""Clipped normal weights: their moments against integrals over two dimensions, their factor against NumPy's."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate, stats

from semibandits import Problem, environments, errors, policies, rng, sets
from semibandits.environments import CorrelatedGaussian
from semibandits.kernel import compiled
from semibandits.simulation import simulate
from semibandits.testing import check_environment

Numbers = NDArray[np.float64]
SAMPLES = 40_000


def clipped_moment(centre: float, sigma: float, lo: float, hi: float, power: int) -> float:
    """E clip(X)^power by quadrature, X normal."""
    law = stats.norm(centre, sigma)
    inside, _ = integrate.quad(lambda w: w**power * law.pdf(w), lo, hi, points=[min(max(centre, lo), hi)], epsabs=1e-13)
    return float(inside + lo**power * law.cdf(lo) + hi**power * law.sf(hi))


def clipped_product(centres: Numbers, covariance: Numbers, lo: float, hi: float) -> float:
    """E clip(X) clip(Y): over X, of what E clip(Y) is given X."""
    sigma = math.sqrt(covariance[0, 0])
    slope = covariance[0, 1] / covariance[0, 0]
    rest = math.sqrt(covariance[1, 1] - slope * covariance[0, 1])

    def given(x: float) -> float:
        y = centres[1] + slope * (x - centres[0])
        return clipped_moment(y, rest, lo, hi, 1) * min(max(x, lo), hi) * float(stats.norm.pdf(x, centres[0], sigma))

    ends = sorted({centres[0] - 9 * sigma, centres[0], centres[0] + 9 * sigma, lo, hi})
    return math.fsum(
        integrate.quad(given, low, high, epsabs=1e-9, limit=60)[0] for low, high in itertools.pairwise(ends)
    )


WORLDS = {
    "mixed": (
        np.array([0.2, 0.5, 0.9]),
        np.array([[0.09, 0.04, -0.03], [0.04, 0.04, 0.0], [-0.03, 0.0, 0.25]]),
        (0, 1),
    ),
    "outside": (np.array([-1.0, 14.0]), np.array([[4.0, 5.0], [5.0, 9.0]]), (-2, 12)),
}


@pytest.mark.parametrize("name", WORLDS)
def test_moments(name: str) -> None:
    centres, covariance, (lo, hi) = WORLDS[name]
    world = CorrelatedGaussian(centres, covariance, (lo, hi))
    drawn = world.weights(1, rng.keys(3, 0, 1, SAMPLES, rng.WORLD)[:, None])
    assert drawn.shape == (SAMPLES, centres.size)
    assert drawn.min() == lo
    assert drawn.max() == hi
    means = np.array(
        [clipped_moment(c, s, lo, hi, 1) for c, s in zip(centres, np.sqrt(np.diag(covariance)), strict=True)]
    )
    np.testing.assert_allclose(world.means, means, rtol=0.0, atol=1e-10)
    shifted = drawn - means
    for i in range(centres.size):
        square = clipped_moment(centres[i], math.sqrt(covariance[i, i]), lo, hi, 2)
        within(shifted[:, i], 0.0)
        within(shifted[:, i] ** 2, square - means[i] ** 2)
        for j in range(i):
            pair = [i, j]
            product = clipped_product(centres[pair], covariance[np.ix_(pair, pair)], lo, hi)
            within(shifted[:, i] * shifted[:, j], product - means[i] * means[j])


def within(sample: Numbers, mean: float) -> None:
    assert abs(sample.mean() - mean) < 4.0 * sample.std(ddof=1) / math.sqrt(sample.size)


def test_far_from_the_bounds_nothing_is_clipped() -> None:
    centres, covariance, _ = WORLDS["mixed"]
    world = CorrelatedGaussian(centres, covariance, (-50, 50))
    np.testing.assert_array_equal(world.means, centres)
    drawn = world.weights(1, rng.keys(3, 0, 1, SAMPLES, rng.WORLD)[:, None])
    white = np.linalg.solve(np.linalg.cholesky(covariance), (drawn - centres).T)
    for row in white:
        assert stats.kstest(row, "norm").pvalue > 1e-4
    np.testing.assert_allclose(np.corrcoef(white), np.eye(3), atol=4.5 / math.sqrt(SAMPLES))
    np.testing.assert_allclose(world.tables[1], np.linalg.cholesky(covariance), rtol=1e-13, atol=1e-15)


@settings(max_examples=60)
@given(st.integers(1, 7), st.integers(0, 2**32), st.integers(0, 2**64 - 1))
def test_plain_numbers_arrays_and_batches_agree(n_items: int, seed: int, key: int) -> None:
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(n_items, n_items + 1))
    covariance = 0.1 * root @ root.T + 1e-3 * np.eye(n_items)
    world = CorrelatedGaussian(generator.random(n_items), covariance)
    np.testing.assert_allclose(world.tables[1] @ world.tables[1].T, covariance, rtol=1e-12, atol=1e-14)
    assert (np.triu(world.tables[1], 1) == 0.0).all()
    whole = world.weights(5, key)
    assert [float(world.draw(5, key, item, world.tables)) for item in range(n_items)] == whole.tolist()
    some = np.flatnonzero(generator.random(n_items) < 0.5)
    np.testing.assert_array_equal(world.weights(9, key, some), whole[some])
    np.testing.assert_array_equal(world.weights(5, np.array([[key], [3]], dtype=np.uint64))[0], whole)
    assert np.all((world.means >= 0.0) & (world.means <= 1.0))


@settings(max_examples=60)
@given(st.floats(-40, 40), st.floats(1e-3, 1e3), st.floats(-5, 5), st.floats(1e-2, 10))
def test_means_after_clipping(centre: float, sigma: float, lo: float, length: float) -> None:
    """The area between the bounds under the chance to be larger, by quadrature."""
    mean = CorrelatedGaussian([centre], [[sigma**2]], (lo, lo + length)).means[0]
    nodes, parts = np.polynomial.legendre.leggauss(20)
    pieces = np.linspace(lo, lo + length, 1 + max(8, min(20_000, math.ceil(2 * length / sigma))))
    half = 0.5 * np.diff(pieces)[:, None]
    w = 0.5 * (pieces[1:] + pieces[:-1])[:, None] + half * nodes
    expected = lo + float((stats.norm.sf((w - centre) / sigma) * parts * half).sum())
    assert mean == pytest.approx(expected, rel=0.0, abs=1e-12 * (abs(centre) + sigma + abs(lo) + length))


def test_one_correlation_for_all() -> None:
    world = CorrelatedGaussian.equicorrelated([0.1, 0.5, 0.9], [0.1, 0.2, 0.3], -0.4, bounds=(-1, 2))
    deviations = np.sqrt(np.diag(world.covariance))
    np.testing.assert_allclose(deviations, [0.1, 0.2, 0.3], rtol=1e-14)
    correlation = world.covariance / np.outer(deviations, deviations)
    np.testing.assert_allclose(correlation, [[1, -0.4, -0.4], [-0.4, 1, -0.4], [-0.4, -0.4, 1]], rtol=1e-14)
    assert world.bounds == (-1.0, 2.0)
    assert not world.independent
    same = CorrelatedGaussian.equicorrelated([0.1, 0.5, 0.9], 0.2, 0.5)
    np.testing.assert_allclose(same.covariance, 0.02 + 0.02 * np.eye(3), rtol=1e-14)
    assert CorrelatedGaussian.equicorrelated([0.1, 0.5, 0.9], 0.2, 0).independent
    assert CorrelatedGaussian([0.5, 0.5], np.diag([0.1, 0.2])).independent
    assert CorrelatedGaussian.equicorrelated([0.5], 0.2, 0.3).independent


def test_the_shipped_checks_and_machine_code() -> None:
    world = CorrelatedGaussian.equicorrelated([0.2, 0.5, 0.8, 0.95], 0.3, 0.6)
    check_environment(world)
    machine = compiled(CorrelatedGaussian.draw)
    for key in rng.keys(1, 0, 1, 50, rng.WORLD):
        drawn = [machine(1, key, np.uint64(item), world.tables) for item in range(4)]
        assert drawn == world.weights(1, int(key)).tolist()
    problem = Problem(sets.TopK(4, 2), world)
    fast, slow = (
        simulate(problem, policies.CombUCB1(), horizon=300, runs=2, seed=1, engine=engine)
        for engine in ("compiled", "plain")
    )
    np.testing.assert_array_equal(fast.regret, slow.regret)


def test_what_it_is_told_cannot_be_changed_later() -> None:
    means, covariance = np.array([0.5, 0.5]), np.diag([0.1, 0.1])
    world = CorrelatedGaussian(means, covariance)
    means[:], covariance[:] = 9.0, 9.0
    assert world.centres.tolist() == [0.5, 0.5]
    assert world.covariance[0, 1] == 0.0
    for array in (world.means, world.centres, world.covariance, *world.tables):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: CorrelatedGaussian([0.5, 0.5], [[1.0]]), r"shape \(2, 2\), one row per item, got \(1, 1\)"),
        (lambda: CorrelatedGaussian([0.5, 0.5], [0.1, 0.1]), r"square matrix.* got the shape \(2,\)"),
        (lambda: CorrelatedGaussian([0.5], 0.1), r"square matrix.* got the shape \(\)"),
        (lambda: CorrelatedGaussian([0.5, 0.5], [[1.0], [1.0, 2.0]]), "matrix of numbers"),
        (lambda: CorrelatedGaussian([0.5], [["1"]]), "matrix of numbers"),
        (lambda: CorrelatedGaussian([0.5, 0.5], [[1.0, math.nan], [0.0, 1.0]]), "finite, got nan for items 0 and 1"),
        (
            lambda: CorrelatedGaussian([0.5, 0.5], [[1.0, 0.5], [0.2, 1.0]]),
            r"symmetric, got 0\.5 for items 0 and 1 but 0\.2",
        ),
        (
            lambda: CorrelatedGaussian([0.5, 0.5], [[1.0, 1.0], [1.0, 1.0]]),
            r"singular, of smallest eigenvalue .*groups=",
        ),
        (
            lambda: CorrelatedGaussian([0.5, 0.5], [[1.0, 2.0], [2.0, 1.0]]),
            "not positive definite, of smallest eigenvalue -1",
        ),
        (lambda: CorrelatedGaussian([0.5, 0.5], np.zeros((2, 2))), "singular, of smallest eigenvalue 0"),
        (lambda: CorrelatedGaussian([0.5, math.inf], np.eye(2)), "means must be finite"),
        (lambda: CorrelatedGaussian([0.5, 0.5], np.eye(2), bounds=(1, 0)), "lo < hi"),
        (lambda: CorrelatedGaussian.equicorrelated([0.5, 0.5], 0.1, 1.0), r"between -1 and 1 .*got 1\.0.*groups="),
        (lambda: CorrelatedGaussian.equicorrelated([0.5] * 3, 0.1, -0.5), r"between -0\.5 and 1 .* 3 items, got -0\.5"),
        (lambda: CorrelatedGaussian.equicorrelated([0.5] * 3, 0.1, "0"), "got '0'"),  # type: ignore[arg-type]
        (lambda: CorrelatedGaussian.equicorrelated([0.5] * 3, 0.0, 0.5), r"sigma must be positive, got 0\.0"),
        (lambda: CorrelatedGaussian.equicorrelated([0.5] * 3, [0.1, 0.1], 0.5), "3 numbers"),
    ],
)
def test_bad_input(build: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        build()


def test_it_is_exported() -> None:
    assert environments.CorrelatedGaussian is CorrelatedGaussian
