"""Normal, exponential, gamma and beta numbers beside SciPy's distributions; and what wrong constants would do."""

import functools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from semibandits import draws, rng
from semibandits.kernel import compiled

Numbers = NDArray[np.float64]

SEEDS = range(5)
ROUNDS = 40_000
"""Numbers for each seed: 200,000 in all."""

SHAPES = (1.0, 1.5, 2.0, 10.0, 1e3, 1e6)
PAIRS = ((1.0, 1.0), (1.0, 2.0), (2.0, 1.0), (3.0, 5.0), (1.0, 1e5), (1e5, 1.0), (50.0, 70.0), (1e3, 1e3), (1e6, 1e6))

Draw = Callable[[Any, Any], Any]
Drawer = Callable[[Any], Draw]
"""From the module, or a changed copy of it, to a function of key and item."""

LAWS: dict[str, tuple[Drawer, Any]] = {
    "normal": (lambda module: module.normal, stats.norm()),
    "the other normal": (lambda module: lambda key, item: module.normals(key, item)[1], stats.norm()),
    "exponential": (lambda module: module.exponential, stats.expon()),
    **{
        f"Gamma({shape:g})": (
            lambda module, shape=shape: lambda key, item: module.gamma(shape, key, item),  # type: ignore[misc]
            stats.gamma(shape),
        )
        for shape in SHAPES
    },
    **{
        f"Beta({a:g}, {b:g})": (
            lambda module, a=a, b=b: lambda key, item: module.beta(a, b, key, item),  # type: ignore[misc]
            stats.beta(a, b),
        )
        for a, b in PAIRS
    },
}
LEVEL = 1e-4 / (len(LAWS) * len(SEEDS))
"""Perfect numbers would fail one of all these tests with probability 1e-4; ours are fixed and do or do not."""


def drawn(law: str, module: Any = draws, seeds: range = SEEDS) -> Numbers:
    """A row for each seed; every law has runs of its own, for common ones would make all the tests one."""
    run = list(LAWS).index(law)
    numbers = [LAWS[law][0](module)(rng.keys(seed, run, 1, ROUNDS, rng.POLICY), 3) for seed in seeds]
    return np.array(numbers, dtype=np.float64)


def p_values(law: str, numbers: Numbers) -> list[float]:
    """Kolmogorov and Smirnov's, of each row."""
    cdf = LAWS[law][1].cdf
    return [float(stats.kstest(row[~np.isnan(row)], cdf).pvalue) for row in numbers]


def moments(law: str, numbers: Numbers) -> Numbers:
    """How many standard errors the first four moments are off."""
    distribution = LAWS[law][1]
    mean, variance, skewness, kurtosis = map(float, distribution.stats("mvsk"))
    z = (numbers[~np.isnan(numbers)] - mean) / np.sqrt(variance)
    powers = z ** np.arange(1, 5)[:, None]
    errors = powers.std(axis=1) / np.sqrt(z.size)
    off: Numbers = (powers.mean(axis=1) - [0.0, 1.0, skewness, kurtosis + 3.0]) / errors
    return off


@functools.cache
def examined(law: str) -> tuple[tuple[float, ...], Numbers]:
    numbers = drawn(law)
    return tuple(p_values(law, numbers)), moments(law, numbers)


@pytest.mark.parametrize("law", LAWS)
def test_distributions(law: str) -> None:
    p, off = examined(law)
    assert min(p) > LEVEL
    assert (np.abs(off) < 4.5).all(), off


def test_the_tests_are_not_passed_too_well() -> None:
    """Of true numbers, the p-values of independent tests are uniform."""
    p = [value for law in LAWS for value in examined(law)[0]]
    assert len(p) == 90
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_normal_numbers_are_bounded() -> None:
    """The least 1 - u is 2^-53."""
    assert 8.57 < np.sqrt(2.0 * 53.0 * np.log(2.0)) < 8.6
    assert 4.0 < np.abs(drawn("normal")).max() < 8.6


# Rejection


def accepted(shape: float) -> float:
    """The probability that Marsaglia and Tsang's attempt succeeds: the integral of density times chance."""
    d = shape - 1.0 / 3.0
    logarithm = d + special.gammaln(shape) - (shape - 0.5) * np.log(d) - 0.5 * np.log(2.0 * np.pi)
    return float(np.exp(logarithm))


CHANCES = {
    **{f"Gamma({shape:g})": accepted(shape) for shape in SHAPES},
    **{f"Beta({a:g}, {b:g})": accepted(a) * accepted(b) for a, b in PAIRS},
}


def rejected(law: str, numbers: Numbers) -> float:
    """How many standard errors the share of rejected numbers is off; where next to none is, of at least 1e-5."""
    chance = CHANCES.get(law, 1.0)
    error = np.sqrt(max(chance * (1.0 - chance), 1e-5) / numbers.size)
    return float((np.isnan(numbers).mean() - (1.0 - chance)) / error)


@pytest.mark.parametrize("law", CHANCES)
def test_as_many_are_rejected_as_should_be(law: str) -> None:
    numbers = drawn(law)
    assert np.isnan(numbers).mean() < (1 / 20 if law.startswith("Gamma") else 1 / 10)
    assert abs(rejected(law, numbers)) < 4.0


def test_the_limits_hold_for_all_shapes() -> None:
    """Most are rejected for shape 1."""
    shares = 1.0 - np.array([accepted(shape) for shape in np.geomspace(1.0, 1e6, 2000)])
    assert (np.diff(shares) < 1e-8).all()
    assert shares[0] < 1 / 20
    assert 1.0 - accepted(1.0) ** 2 < 1 / 10


def test_what_is_accepted_is_possible() -> None:
    for law in LAWS:
        numbers = drawn(law, seeds=range(1))
        accepted_ones = numbers[~np.isnan(numbers)]
        low, high = LAWS[law][1].support()
        assert ((accepted_ones >= low) & (accepted_ones <= high)).all()


# Independence


def uncorrelated(a: Numbers, b: Numbers) -> None:
    """Neither the numbers nor their squares, among pairs that were accepted."""
    both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    for x, y in ((a, b), (a**2, b), (a, b**2), (a**2, b**2)):
        assert abs(np.corrcoef(x, y)[0, 1]) < 4.0 / np.sqrt(x.size)


KINDS: dict[str, Callable[..., Any]] = {
    "normal": draws.normal,
    "exponential": draws.exponential,
    "gamma": functools.partial(draws.gamma, 1.5),
    "beta": functools.partial(draws.beta, 3.0, 2.0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_draws_items_and_rounds_are_independent(kind: str) -> None:
    draw = KINDS[kind]
    keys = rng.keys(11, 0, 1, 100_001, rng.POLICY)
    numbers = draw(keys, 0)
    uncorrelated(numbers[1:], numbers[:-1])
    uncorrelated(numbers, draw(keys, 1))
    uncorrelated(numbers, draw(keys, 0, 1))
    uncorrelated(draw(keys, 0, 1), draw(keys, 0, 2))
    uncorrelated(numbers, draw(rng.keys(11, 1, 1, 100_001, rng.POLICY), 0))
    uncorrelated(draw(int(keys[0]), np.arange(100_000)), draw(int(keys[1]), np.arange(100_000)))


def test_the_two_normal_numbers_are_independent() -> None:
    keys = rng.keys(12, 0, 1, 200_000, rng.POLICY)
    x, y = draws.normals(keys, 5)
    uncorrelated(x, y)
    quarters = np.bincount(2 * (x > 0.0) + (y > 0.0))
    assert stats.chisquare(quarters).pvalue > 1e-4
    assert stats.kstest(np.arctan2(y, x) / (2.0 * np.pi) + 0.5, "uniform").pvalue > 1e-4
    np.testing.assert_array_equal(x, draws.normal(keys, 5))
    uncorrelated(x, draws.normals(keys, 5, 1)[1])


@pytest.mark.parametrize("draw", [0, 1, 2])
def test_another_draw_is_as_good(draw: int) -> None:
    """Their numbers must not overlap: a coin that knew the normal number would bend the law."""
    keys = rng.keys(13, draw, 1, 100_000, rng.POLICY)
    for numbers, law in (
        (draws.normal(keys, 1, draw), stats.norm()),
        (draws.exponential(keys, 1, draw), stats.expon()),
        (draws.gamma(1.0, keys, 1, draw), stats.gamma(1.0)),
        (draws.beta(1.0, 2.0, keys, 1, draw), stats.beta(1.0, 2.0)),
    ):
        assert stats.kstest(numbers[~np.isnan(numbers)], law.cdf).pvalue > 1e-4


def test_whether_one_draw_is_rejected_tells_nothing_of_another() -> None:
    keys = rng.keys(16, 0, 1, 100_000, rng.POLICY)
    for kind, law in (
        (functools.partial(draws.gamma, 1.0), stats.gamma(1.0)),
        (functools.partial(draws.beta, 1.0, 1.0), stats.beta(1.0, 1.0)),
    ):
        numbers = [kind(keys, 1, draw) for draw in range(3)]
        for one, other in ((0, 1), (1, 0), (1, 2), (0, 2)):
            given = numbers[other][np.isnan(numbers[one])]
            assert given.size > 4000
            assert stats.kstest(given[~np.isnan(given)], law.cdf).pvalue > 1e-4


def test_who_keeps_the_widths_gets_the_same_numbers() -> None:
    keys = rng.keys(14, 0, 1, 1000, rng.POLICY)
    a, b = 1.0 + np.arange(1000) % 7, 1.0 + np.arange(1000) % 5
    kept = draws.beta_with(a, b, draws.beta_width(a), draws.beta_width(b), keys, 2)
    np.testing.assert_array_equal(draws.beta(a, b, keys, 2), kept)


# The same bits


SAME: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "normal": (draws.normal, ()),
    "normals": (draws.normals, ()),
    "exponential": (draws.exponential, ()),
    "gamma": (draws.gamma, (1.0 + np.arange(60) % 7 * 2.5,)),
    "beta": (draws.beta, (1.0 + np.arange(60) % 7, 1.0 + np.arange(60) % 11 * 1e3)),
}


@pytest.mark.parametrize("name", SAME)
def test_a_number_an_array_and_the_compiler_draw_the_same(name: str) -> None:
    function, shapes = SAME[name]
    machine = compiled(function)
    keys = rng.keys(15, 0, 1, 60, rng.POLICY)
    items = np.arange(60, dtype=np.uint64) * 17
    for draw in (0, 1):
        together = np.array(function(*shapes, keys, items, draw))
        for i in range(60):
            own = tuple(float(shape[i]) for shape in shapes)
            key, item = int(keys[i]), int(items[i])
            expected = together[..., i]
            np.testing.assert_array_equal(np.array(function(*own, key, item, draw)), expected)
            np.testing.assert_array_equal(np.array(function(*own, keys[i : i + 1], item, draw))[..., 0], expected)
            np.testing.assert_array_equal(np.array(machine(*own, keys[i], items[i], draw)), expected)


# What the tests notice


MUTANTS = {
    "0.3 for 1/3": ("shape - 1.0 / 3.0", "shape - 0.3", "Gamma(1)"),
    "0.3 for 1/3 in beta": ("(a - 1.0 / 3.0) * v, (b - 1.0 / 3.0) * w", "(a - 0.3) * v, (b - 0.3) * w", "Beta(1, 2)"),
    # A width too large only rejects more than it must, one too small bends the law.
    "8 for 9 in the width": ("sqrt(9.0 * shape", "sqrt(8.0 * shape", "Gamma(1.5)"),
    "10 for 9 in the width": ("sqrt(9.0 * shape", "sqrt(10.0 * shape", "Gamma(1.5)"),
    "2 for 3 in the width": ("9.0 * shape - 3.0", "9.0 * shape - 2.0", "Beta(1, 1)"),
    "a square for the cube": ("root * root * root", "root * root", "Gamma(2)"),
    "x² whole": ("0.5 * (x * x)", "x * x", "Gamma(1)"),
    "everything accepted": ("item, draw) < exp(log_chance)", "item, draw) < 2.0", "Beta(1, 1)"),
    "a coin that knows the number": ("4 * draw + 2), d * v, _NAN", "4 * draw + 1), d * v, _NAN", "Gamma(1)"),
    "beta's parts accepted by one": ("log_chance + log_other", "log_chance", "Beta(3, 5)"),
    "a and b exchanged": ("return x / (x + y)", "return y / (x + y)", "Beta(3, 5)"),
    "1.9 for 2": ("sqrt(-2.0 * ln(", "sqrt(-1.9 * ln(", "normal"),
    "half a turn": (
        "= turn(uniform(key, item, 2 * draw + 1))",
        "= turn(0.5 * uniform(key, item, 2 * draw + 1))",
        "the other normal",
    ),
    "u only up to 0.99": (
        "return -ln(1.0 - uniform(key, item, draw))",
        "return -ln(1.0 - 0.99 * uniform(key, item, draw))",
        "exponential",
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_wrong_constants_would_be_noticed(mutant: str) -> None:
    old, new, law = MUTANTS[mutant]
    source = Path(str(draws.__file__)).read_text()
    assert source.count(old) == 1
    changed = ModuleType("changed")
    exec(source.replace(old, new), changed.__dict__)
    numbers = drawn(law, changed)
    off = [*np.abs(moments(law, numbers)), abs(rejected(law, numbers))]
    assert min(p_values(law, numbers)) < LEVEL or max(off) > 4.5


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 1e5), (3.0, 5.0), (50.0, 70.0), (1e6, 1e6)])
def test_a_glance_tells_the_same_or_nothing(a: float, b: float) -> None:
    keys = rng.keys(7, 0, 1, 100_000, rng.POLICY)
    widths = draws.beta_width(a), draws.beta_width(b)
    whole, glanced = draws.beta_with(a, b, *widths, keys, 3), draws.beta_at_a_glance(a, b, *widths, keys, 3)
    known = ~np.isnan(glanced)
    np.testing.assert_array_equal(glanced[known], whole[known])
    # u > A + B fails in a share of about E[A + B] = 3 (w² + w²) / 4 of the draws.
    assert known.mean() > 1.0 - 0.75 * (widths[0] ** 2 + widths[1] ** 2) - 0.01


def test_what_a_glance_accepts_would_be_accepted() -> None:
    """The chance exp(x²/2 + d (1 - v + log v)) is at least 1 - w² x⁴ / 4, for all x and all shapes from 1 on.

    With z = w x and s = 1 / w² >= 6 it is exp(s L(z)), L(z) = (1 - (1+z)³ + 3 log(1+z)) / 9 + z² / 2.
    """
    z = np.concatenate((-1.0 + np.logspace(-12.0, -0.0001, 2000), np.linspace(0.0, 20.0, 2000)))[:, None]
    s = np.logspace(np.log10(6.0), 8.0, 300)
    exponent = s * ((1.0 - (1.0 + z) ** 3 + 3.0 * np.log1p(z)) / 9.0 + 0.5 * z * z)
    matters = s * z**4 > 1e-8  # below, both sides are 1 up to rounding
    assert (np.exp(exponent) >= 1.0 - 0.25 * s * z**4)[matters].all()
    assert not (np.exp(exponent) >= 1.0 - 0.19 * s * z**4)[matters].all()
