"""Kernel functions of users in subclasses of this package's sets."""

import sys
from typing import Any

import numpy as np
import pytest

from semibandits.kernel import background, warm
from semibandits.sets import Assignment
from semibandits.types import Solver

BIAS = 0


def biased(weights: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
    out[0] = BIAS
    return 1


class Biased(Assignment):
    def solver(self) -> Solver:
        return Solver(biased, (), numbers=1, integers=1)


def test_a_users_kernel_is_plain_code_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code would take its globals as they were, and look at no index."""
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    feasible = Biased(2, 2)
    for bias in (0, 1, 3):
        monkeypatch.setattr(sys.modules[__name__], "BIAS", bias)
        for _ in range(3):
            assert feasible.argmax(np.zeros(4)).tolist() == [bias]
        assert background.wait(60.0)
