"""Logarithm, exponential, sine and cosine beside NumPy's in extended precision, and the same bits in every form."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits.kernel import compiled, exp, ln, turn

Numbers = NDArray[np.float64]
long = np.longdouble
PI = long("3.14159265358979323846264338327950288")
LEAST, MOST = 2.3e-308, 1.7e308
SIZE = 200_000


def drawn(low: float, high: float, seed: int = 0) -> Numbers:
    return np.random.default_rng(seed).uniform(low, high, SIZE)


def relative_error(ours: Numbers, exact: Any) -> float:
    return float(np.max(np.abs((ours.astype(long) - exact) / exact)))


def turned(u: Numbers) -> tuple[Any, Any]:
    """The cosine and the sine of 2πu, u brought to [-1/8, 1/8] before anything is rounded."""
    quarter = np.rint(4.0 * u)
    angle = (u - quarter / 4.0).astype(long) * 2 * PI
    cosine, sine = np.cos(angle), np.sin(angle)
    number = quarter.astype(np.int64) % 4
    return np.choose(number, [cosine, -sine, -cosine, sine]), np.choose(number, [sine, cosine, -sine, -cosine])


LOGARITHMS = {
    "the whole range": np.exp(drawn(np.log(LEAST), np.log(MOST))),
    "medium numbers": np.exp(drawn(-12.0, 12.0)),
    "between two powers of 2": drawn(0.5, 2.0),
    "around the change of exponent": np.sqrt(0.5) * (1.0 + drawn(-1e-12, 1e-12)),
    "near 1": drawn(0.9, 1.1),
    "nearer 1": 1.0 + drawn(1e-9, 1e-7),
    "nearer 1, from below": 1.0 - drawn(1e-9, 1e-7),
    "beside 1": np.array([1.0 - 2.0**-53, 1.0 + 2.0**-52]),
    "powers of 2": np.delete(2.0 ** np.arange(-1021, 1024), 1021),
    "ends": np.array([LEAST, np.finfo(float).tiny, MOST]),
    "1 - u": 1.0 - np.random.default_rng(1).integers(1, 2**53, SIZE) / 2.0**53,
}
EXPONENTS = {
    "the whole range": drawn(-700.0, 700.0),
    "medium numbers": drawn(-5.0, 5.0),
    "within half a power of 2": drawn(-0.35, 0.35),
    "around the change of exponent": np.log(2.0) / 2.0 * (1.0 + drawn(-1e-12, 1e-12)),
    "near 0": drawn(-1e-5, 1e-5),
    "beside 0": np.array([-1e-300, -1e-17, 1e-17, 5e-324]),
    "ends": np.array([-700.0, 700.0]),
}
TURNS = {
    "the whole range": drawn(0.0, 1.0),
    "whole quarters": np.arange(5) / 4.0,
    "around the quarters": np.arange(1, 4).repeat(1000) / 4.0 + np.tile(drawn(-1e-9, 1e-9)[:1000], 3),
    "around the eighths": np.arange(1, 8, 2).repeat(1000) / 8.0 + np.tile(drawn(-1e-12, 1e-12)[:1000], 4),
    "near 0": drawn(0.0, 1e-6),
    "near 1": 1.0 - drawn(0.0, 1e-6),
    "ends": np.array([0.0, 2.0**-53, 1.0 - 2.0**-53, 1.0]),
}


@pytest.mark.parametrize("where", LOGARITHMS)
def test_the_logarithm(where: str) -> None:
    x = LOGARITHMS[where]
    assert relative_error(ln(x), np.log(x.astype(long))) < 1e-15


@pytest.mark.parametrize("where", EXPONENTS)
def test_the_exponential(where: str) -> None:
    x = EXPONENTS[where]
    assert relative_error(exp(x), np.exp(x.astype(long))) < 1e-15


@pytest.mark.parametrize("where", TURNS)
def test_cosine_and_sine(where: str) -> None:
    u = TURNS[where]
    for ours, exact in zip(turn(u), turned(u), strict=True):
        assert float(np.max(np.abs(ours.astype(long) - exact))) < 1e-15


def test_small_sines_are_right_in_all_their_digits() -> None:
    u = drawn(0.0, 0.125)
    assert relative_error(turn(u)[1], turned(u)[1]) < 1e-15


def test_exact_values() -> None:
    assert ln(1.0) == 0.0
    assert exp(0.0) == 1.0
    assert [tuple(map(float, turn(u))) for u in (0.0, 0.25, 0.5, 0.75, 1.0)] == [
        (1, 0),
        (0, 1),
        (-1, 0),
        (0, -1),
        (1, 0),
    ]


def test_exponents_beyond_the_range_count_as_its_ends() -> None:
    assert exp(-700.5) == exp(-1e300) == exp(-np.inf) == exp(-700.0) > 0.0
    assert exp(700.5) == exp(1e300) == exp(np.inf) == exp(700.0) < np.inf


def test_order_is_kept() -> None:
    """A larger number never has a smaller logarithm or exponential, also where the exponent changes."""
    for middle in (np.sqrt(0.5), 1.0, np.sqrt(2.0), 1e-200):
        x = middle * (1.0 + np.linspace(-1e-9, 1e-9, 2001))
        assert (np.diff(ln(x)) >= 0.0).all()
    for middle in (-0.5 * np.log(2.0), 0.5 * np.log(2.0), 100.5 * np.log(2.0)):
        x = middle + np.linspace(-1e-9, 1e-9, 2001)
        assert (np.diff(exp(x)) >= 0.0).all()


def bits(value: Any) -> int:
    return int(np.float64(value).view(np.int64))


@pytest.mark.parametrize(
    ("function", "places"), [(ln, LOGARITHMS), (exp, EXPONENTS), (turn, TURNS)], ids=["ln", "exp", "turn"]
)
def test_the_same_bits_in_every_form(function: Any, places: dict[str, Numbers]) -> None:
    """A number, an array of any shape, and machine code."""
    machine = compiled(function)
    several = np.concatenate([x[:: max(1, x.size // 60)] for x in places.values()])
    together = np.array(function(several))
    np.testing.assert_array_equal(np.array(function(several.reshape(1, -1)))[..., 0, :], together)
    for i, x in enumerate(several.tolist()):
        expected = [bits(value) for value in np.atleast_1d(together[..., i])]
        for form in (x, np.float64(x), np.array(x), np.array([x])):
            assert [bits(np.squeeze(value)) for value in np.atleast_1d(np.array(function(form)).squeeze())] == expected
        assert [bits(value) for value in np.atleast_1d(machine(x))] == expected
