"""Compiling a plain function without writing it twice."""

import math

import numpy as np
import pytest

from semibandits.kernel import compiled, log, sqrt, where, word
from semibandits.types import Scalar

OFFSET = 3.0


def helper(x: Scalar) -> Scalar:
    return sqrt(x) + OFFSET


def formula(x: Scalar, y: Scalar) -> Scalar:
    return where(x > y, helper(x), x * y)


def clock(t: int) -> float:
    return log(t)


def wrap(z: Scalar) -> Scalar:
    return (z * word(0x9E3779B97F4A7C15)) >> word(3)


def test_one_text_three_uses() -> None:
    x, y = np.linspace(0.1, 5.0, 50), np.linspace(5.0, 0.1, 50)
    machine = compiled(formula)
    whole = formula(x, y)
    assert [machine(a, b) for a, b in zip(x, y, strict=True)] == whole.tolist()
    assert [float(formula(a, b)) for a, b in zip(x, y, strict=True)] == whole.tolist()
    assert compiled(clock)(7) == math.log(7)


def test_words_wrap_around() -> None:
    z = np.arange(1, 100, dtype=np.uint64)
    assert [compiled(wrap)(one) for one in z] == wrap(z).tolist()


def test_the_plain_function_stays_plain() -> None:
    compiled(formula)
    assert formula(4.0, 1.0) == 5.0
    assert helper.__module__ == __name__


def test_only_plain_functions() -> None:
    with pytest.raises(TypeError, match="plain Python function"):
        compiled(math.sqrt)
