"""Bounds on the regret, one file per source; `bounds` and `explain` find those that apply to a problem."""

from semibandits.theory import chen2013, escb, graves_lai, kveton2015, matroid, tight
from semibandits.theory.bounds import Bound, Bounds, bounds
from semibandits.theory.explain import Explanation, explain
from semibandits.theory.graves_lai import graves_lai_constant

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
