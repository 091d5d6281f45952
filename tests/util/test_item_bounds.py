"""Bounds as users write them: one pair, or one for each item, never under the name of another."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from semibandits import environments, errors, sets
from semibandits._util.checks import check_bounds, widest
from semibandits.problem import Problem

LO, HI = [1.0, 2.0, 3.0], [4.0, 2.0, 9.0]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((LO, HI), (LO, HI)),
        ([LO, HI], (LO, HI)),
        (np.array([LO, HI]), (LO, HI)),
        ((tuple(LO), np.array(HI, dtype=np.float32)), (LO, HI)),
        ((0, HI), ([0.0] * 3, HI)),
        ((LO, 9), (LO, [9.0] * 3)),
        ((pl.Series(LO), pl.Series(HI)), (LO, HI)),
        ((pd.Series(LO[::-1], index=["c", "b", "a"]), dict(zip("bac", [2.0, 4.0, 9.0], strict=True))), (LO, HI)),
        (({2: 3.0, 0: 1.0, 1: 2.0}, HI), (LO, HI)),
    ],
)
def test_what_may_be_written(given: Any, expected: Any) -> None:
    found = check_bounds(given, 3, ["a", "b", "c"])
    for side, numbers in zip(found, expected, strict=True):
        assert isinstance(side, np.ndarray)
        assert side.dtype == np.float64
        assert side.flags.c_contiguous
        assert not side.flags.writeable
        assert side.tolist() == numbers
    assert widest(found) == (min(expected[0]), max(expected[1]))


@pytest.mark.parametrize("given", [([1, 1], [2.0, 2.0]), (1, [2, 2]), (np.ones(2), 2), (1, 2), (1.0, np.float64(2))])
def test_equal_ones_are_a_pair(given: Any) -> None:
    found = check_bounds(given, 2)
    assert found == (1.0, 2.0)
    assert all(type(side) is float for side in found)
    assert widest(found) == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1, 2, 3], [4, 1, 9]), r"lo <= hi, got \(2.0, 1.0\) for item b"),
        (([1, np.nan, 3], HI), "finite, got nan for item 1"),
        ((LO, [4, np.inf, 9]), "finite, got inf for item 1"),
        ((LO, [4, 2e100, 9]), "at most 1e.100 in size, got .* for item b"),
        ((LO[:2], HI), "bounds.0. must be 3 numbers"),
        ((LO, HI[:2]), "bounds.1. must be 3 numbers"),
        ((LO, LO), "all weights are known"),
        (([1, 1, 1], [1, 1, 1]), "finite with lo < hi"),
        ((LO, HI, HI), "pair"),
        (("a", HI), "pair"),
        ((["x", 1, 2], HI), "must be numbers"),
        (({1, 2, 3}, HI), "pair"),
        ({"lo": LO, "hi": HI}, "pair"),
        ((pd.Series(LO, index=["a", "b", "d"]), HI), "by its label"),
        ((pd.Series(LO, index=["a", "b", "b"]), HI), "by its label"),
        (({"a": 1.0, "b": 2.0}, HI), "by its label"),
        (({0: 1.0, 1: 2.0, 3: 2.0}, HI), "by its label"),
        ((pd.Series(LO, index=[2, 1, 0]), HI), "numbers of rows perhaps"),
        ((pd.Series(LO), HI), "numbers of rows perhaps"),
        ((np.ma.masked_array(LO, [0, 1, 0]), HI), "pair"),
        ((np.array([LO]), HI), "must be 3 numbers"),
        ((np.ma.masked_array(LO, [0, 1, 0]).filled(np.nan), HI), "finite"),
    ],
)
def test_what_may_not(given: Any, said: str) -> None:
    with pytest.raises(errors.BadArgument, match=said):
        check_bounds(given, 3, ["a", "b", "c"])


def test_labels_without_labels_are_refused() -> None:
    with pytest.raises(errors.BadArgument, match="no labels here"):
        check_bounds((pd.Series(LO, index=["a", "b", "c"]), HI), 3)


def test_what_was_given_is_not_kept() -> None:
    lo, hi = np.array(LO), np.array(HI)
    found = check_bounds((lo, hi), 3)
    lo[:] = 0.0
    assert np.array_equal(found[0], LO)


@given(sides=arrays.arrays(np.float64, (2, 5), elements=st.floats(-1e6, 1e6)))
def test_spans_and_signs(sides: Any) -> None:
    lo, hi = sides.min(axis=0), sides.max(axis=0)
    hi[0] += 1.0
    world = environments.Scaled(environments.Bernoulli([0.5] * 5), (lo, hi))
    problem = Problem(sets.TopK(5, 2), world)
    assert np.array_equal(problem.spans, hi - lo)
    streets = sets.Paths([(0, 1), (1, 0), (1, 2), (2, 0), (0, 2)], 0, 2)
    if (lo >= 0.0).all():
        assert Problem(streets, world, "min").bounds is world.bounds
    else:
        with pytest.raises(errors.BadArgument, match="costs >= 0"):
            Problem(streets, world, "min")
