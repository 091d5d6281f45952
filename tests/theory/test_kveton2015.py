"""The paper's bounds, against numbers worked out by hand."""

import math

import numpy as np
import pytest

from semibandits import errors
from semibandits.theory import kveton2015


def test_theorem_6() -> None:
    # 1 round: log n = 0 leaves the additive term, (9.8696044 / 3 + 1) * 4 * 12 = 4.2898681 * 48
    assert kveton2015.theorem_6(1, 12, 4) == pytest.approx(205.9136709)
    # K L n = 1,000,000 with log n = 9.2103404: 47 * 1000 * 3.0348542 = 142638.15, and 428.98681 more
    assert kveton2015.theorem_6(10_000, 20, 5) == pytest.approx(143067.134, abs=0.01)
    # L = K = 1, n = e^2 (the formula asks for no whole number): 47 * e * sqrt(2) + 4.2898681
    assert kveton2015.theorem_6(math.e**2, 1, 1) == pytest.approx(47 * math.e * math.sqrt(2) + 4.2898681)


def test_theorem_6_takes_arrays() -> None:
    rounds = np.array([[1, 10], [1000, 10**12]])
    bound = kveton2015.theorem_6(rounds, np.int64(7), 7)
    assert bound.shape == (2, 2)
    assert bound.dtype == np.float64
    assert [kveton2015.theorem_6(int(n), 7, 7) for n in rounds.ravel()] == bound.ravel().tolist()
    assert (np.diff(bound.ravel()) > 0).all()
    assert rounds.dtype == np.int64
    assert np.ndim(kveton2015.theorem_6(5, 7, 7)) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 5, 2), "n must be one or more rounds >= 1, got 0"),
        (([3, 0.5], 5, 2), "got \\[3, 0.5\\]"),
        ((float("nan"), 5, 2), "got nan"),
        ((float("inf"), 5, 2), "got inf"),
        (([[1], [2, 3]], 5, 2), "n must be one or more rounds"),
        (("many", 5, 2), "got 'many'"),
        ((True, 5, 2), "got True"),
        ((10, 0, 1), "L must be an integer >= 1, got 0"),
        ((10, 5, 0), "K must be an integer >= 1, got 0"),
        ((10, 5.0, 2), "got 5.0"),
        ((10, 2, 3), "K must be at most L, got K = 3 and L = 2"),
    ],
)
def test_bad_input(arguments: tuple[object, object, object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        kveton2015.theorem_6(*arguments)  # type: ignore[arg-type]
