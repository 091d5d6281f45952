"""Results made up for tests."""

from dataclasses import fields
from typing import Any

import numpy as np

from semibandits import SimulationResult

ARRAYS = ("regret", "rounds", "counts", "sums", "solutions")
PAPER = {"policy": "CombUCB1", "alpha": 1.5, "init": "paper"}
FACTS: dict[str, Any] = {"n_items": 12, "max_size": 4, "bounds": [0.0, 1.0], "ratio": 1.0, "parameters": [PAPER]}


def make(policies: int = 2, runs: int = 5, rounds: Any = (1, 10, 100, 1000), **changes: Any) -> SimulationResult:
    """Regret that grows like log n, noise that the policies share, and some of their own."""
    generator = np.random.default_rng(policies * 1000 + runs)
    rounds = np.asarray(rounds, dtype=np.int64)
    shared, own = generator.normal(size=(1, runs, 1)), generator.normal(size=(policies, runs, 1))
    slope = np.arange(1, policies + 1)[:, None, None] + 0.3 * shared + 0.1 * own
    made: dict[str, Any] = {
        "regret": 10.0 * slope * np.log1p(rounds),
        "rounds": rounds,
        "policies": tuple(f"Policy({p})" for p in range(policies)),
        "problem": "Problem(GridPaths(2), Bernoulli(12 items), sense='max')",
        "seed": 2**64 - 1,
        "kind": "expected",
        "engine": "plain loop",
        "seconds": 0.1,
        "version": "0.1.0",
        "provenance": FACTS,
    }
    return SimulationResult(**{**made, **changes})


def assert_same(left: SimulationResult, right: SimulationResult) -> None:
    """Equal bit for bit."""
    for field in fields(SimulationResult):
        a, b = getattr(left, field.name), getattr(right, field.name)
        if field.name in ARRAYS and a is not None:
            assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), field.name
        else:
            assert type(a) is type(b), field.name
            assert a == b, field.name


# What it is
