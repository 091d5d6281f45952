"""Numbers with their errors and units, and lists of names, in words."""

import math

from semibandits._util.html import number


def decimals(error: float, value: float) -> int | None:
    """So many that the error has two digits; where there is none, that the value has four. None: too many to write."""
    size = abs(error) if math.isfinite(error) and error else abs(value) / 100.0
    digits = max(0, 1 - math.floor(math.log10(size))) if math.isfinite(size) and size else 0
    return None if digits > 9 else min(6, digits)


def with_error(mean: float, error: float, unit: str = "") -> str:
    """With as many digits as the error has a use for; an error that is not known is left out.

    >>> with_error(12.3456, 0.789, "ms"), with_error(12.3456, float("nan"))
    ('12.35 ± 0.79 ms', '12.35')
    """
    digits = decimals(error, mean)
    shown = number(mean, digits)
    return with_unit(f"{shown} ± {number(error, digits)}" if math.isfinite(error) else shown, unit)


def with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def in_unit(unit: str) -> str:
    """For captions."""
    return f" in {unit}" if unit else ""


def of_unit(unit: str) -> str:
    """For columns and axes."""
    return f" ({unit})" if unit else ""


def listed(names: list[str]) -> str:
    """In words: a, b and c."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
