"""Which axes are logarithmic."""

from typing import Any

import numpy as np
import pytest

from semibandits.simulation.scales import fitting_scales

DENSE = np.unique(np.geomspace(1, 10_000, 150).astype(np.int64))


def curves(*ends: float) -> Any:
    return np.array(ends)[:, None] * np.log1p(DENSE) / np.log1p(DENSE[-1])


@pytest.mark.parametrize(
    ("means", "kind", "bounds", "scales"),
    [
        (curves(10.0, 99.0), "expected", [], ""),
        (curves(10.0, 101.0), "expected", [], "xy"),
        (curves(10.0, 101.0), "realised", [], "xy"),
        (curves(10.0, 101.0), "dynamic", [], "y"),
        (curves(10.0, 101.0), "static", [], "y"),
        (curves(10.0), "expected", [curves(99.0)[0]], ""),
        (curves(10.0), "expected", [curves(5.0)[0], curves(101.0)[0]], "xy"),
        (curves(10.0), "expected", [np.append(np.full(DENSE.size - 1, np.nan), 101.0)], "xy"),
        (curves(10.0), "expected", [np.full(DENSE.size, np.nan)], ""),
        (curves(0.0, 100.0), "expected", [], ""),  # it would not be seen
        (curves(1e-9, 100.0), "expected", [], ""),  # rounding
        (curves(-10.0, 101.0), "expected", [], ""),
        (curves(10.0, 101.0) - np.exp(-DENSE / 10.0), "expected", [], ""),  # below zero at first
        (curves(10.0, 101.0) - 1e-12, "expected", [], "xy"),
        (curves(np.nan, 101.0), "expected", [], ""),
    ],
)
def test_far_apart(means: Any, kind: str, bounds: Any, scales: str) -> None:
    assert fitting_scales(DENSE, means, kind, bounds) == scales


@pytest.mark.parametrize(
    ("rounds", "kind", "factor", "scales"),
    [
        ([1, 10, 100, 1000], "expected", 2.0, "x"),
        ([1, 10, 100, 1000], "static", 2.0, ""),
        ([1, 100, 200, 400, 600, 1000], "expected", 2.0, "x"),  # four after a tenth
        ([1, 50, 200, 400, 600, 800, 1000], "expected", 2.0, ""),
        ([10, 1000], "expected", 2.0, ""),
        ([9, 1000], "expected", 2.0, "x"),
        ([10, 1000], "expected", 20.0, "y"),
        ([9, 1000], "expected", 20.0, "xy"),
        ([7], "expected", 2.0, ""),
        ([7], "expected", 20.0, "y"),
    ],
)
def test_rounds(rounds: list[int], kind: str, factor: float, scales: str) -> None:
    means = np.array([[1.0], [factor]]) * np.sqrt(rounds)
    assert fitting_scales(np.array(rounds), means, kind) == scales
