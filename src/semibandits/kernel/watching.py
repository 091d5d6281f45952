"""Whole numbers that tell when they outgrow a word of the machine: Python's do not, and machine code's wrap around."""

from collections.abc import Callable
from typing import Any

import numpy as np

LEAST, MOST = -(2**63), 2**63 - 1


class Outgrown(Exception):
    """A whole number does not fit into a word."""


class Watched(int):
    """What comes of it is watched, too."""


def _watching(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def operation(*arguments: Any) -> Any:
        result = plain(*arguments)
        if type(result) is not int:
            return result
        if not LEAST <= result <= MOST:
            raise Outgrown
        return Watched(result)

    return operation


for _name in ("add", "sub", "mul", "pow", "lshift", "floordiv"):
    setattr(Watched, f"__{_name}__", _watching(f"__{_name}__"))
    setattr(Watched, f"__r{_name}__", _watching(f"__r{_name}__"))
for _name in ("neg", "pos", "abs"):
    setattr(Watched, f"__{_name}__", _watching(f"__{_name}__"))


def outgrows(function: Callable[..., Any], *arguments: Any) -> bool:
    """Whether in this call a whole number outgrows a word that comes from one of the arguments."""
    watched = [Watched(one) if type(one) is int else one for one in arguments]
    try:
        with np.errstate(all="ignore"):
            function(*watched)
    except Outgrown:
        return True
    except Exception:  # which is for others to tell
        return False
    return False
