"""A point: one simulation of an experiment."""

from typing import Any, NamedTuple

from semibandits.problem import Problem
from semibandits.simulation import SimulationResult


class Point(NamedTuple):
    """What was played, and what came out."""

    settings: dict[str, Any]
    """What a sweep has set here, by the place in the file; empty without one."""
    problem: Problem
    result: SimulationResult
    unit: str = ""
    """Of weights, such as "ms"."""
