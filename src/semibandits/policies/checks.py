"""Checks of the parameters of policies."""

import math
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from semibandits.errors import BadArgument
from semibandits.types import check_choice

LARGEST = 1e100

Begin: TypeAlias = Literal["all", "optimistic"]
"""How policies may begin that keep every observation."""


def begin(init: Any) -> Begin:
    return cast(Begin, check_choice("init", init, Begin))


def positive(name: str, value: Any) -> float:
    if not 0.0 < _number(value) <= LARGEST:
        raise BadArgument(f"{name} must be a positive number, got {value!r:.100}")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    if not 0.0 <= _number(value) <= LARGEST:
        raise BadArgument(f"{name} must be a number >= 0, got {value!r:.100}")
    return float(value)


def share(name: str, value: Any) -> float:
    if not 0.0 < _number(value) < 1.0:
        raise BadArgument(f"{name} must be a number between 0 and 1 (both excluded), got {value!r:.100}")
    return float(value)


def rounds(name: str, value: Any) -> int:
    if not 1.0 <= _number(value) <= 2.0**62 or value != int(value):
        raise BadArgument(f"{name} must be a whole number of rounds, at least 1, got {value!r:.100}")
    return int(value)


def _number(value: Any) -> float:
    """NaN for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
