"""Bounds on the regret, one file per source; `bounds` and `explain` find those that apply to a problem."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from semibandits._util.suggestions import no_such_name

if TYPE_CHECKING:
    from semibandits.theory import chen2013, escb, graves_lai, kveton2015, matroid, tight
    from semibandits.theory.applicable_bounds import Bound, Bounds, bounds
    from semibandits.theory.explanation import Explanation, explain
    from semibandits.theory.graves_lai.constant import graves_lai_constant

__all__ = [
    "Bound",
    "Bounds",
    "Explanation",
    "bounds",
    "chen2013",
    "escb",
    "explain",
    "graves_lai",
    "graves_lai_constant",
    "kveton2015",
    "matroid",
    "tight",
]
_HOMES = {
    **dict.fromkeys(("Bound", "Bounds", "bounds"), "applicable_bounds"),
    **dict.fromkeys(("Explanation", "explain"), "explanation"),
    "graves_lai_constant": "graves_lai",
}

if not TYPE_CHECKING:  # what nobody asks for is not loaded

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            no_such_name(__name__, name, __all__)
        if name in _HOMES:
            return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return import_module(f"{__name__}.{name}")

    def __dir__() -> list[str]:
        return __all__
