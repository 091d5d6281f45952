"""Measured regret beside what is guaranteed."""

import numpy as np
from numpy.typing import NDArray

from semibandits import Problem, theory


def below_every_bound(
    problem: Problem, rounds: NDArray[np.int64], regret: NDArray[np.float64], kind: str = "expected"
) -> int:
    """Checks the mean regret of CombUCB1() over runs, shape (runs, rounds); how many bounds it was compared with."""
    bounds = [bound for bound in theory.bounds(problem, rounds).of("upper", "CombUCB1") if bound.regret == kind]
    for bound in bounds:
        assert (regret.mean(axis=0) <= bound.value).all(), bound.title
    return len(bounds)
