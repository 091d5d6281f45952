"""An independent, plain simulation of an index policy over listed solutions, to compare regrets with."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Scores = Callable[[int, Numbers, list[list[float]], np.random.Generator], Numbers]
"""scores(t, means of the observations (NaN: none), all observations of each item, generator)."""


def play(
    listed: Sequence[Sequence[int]],
    means: Sequence[float],
    scores: Scores,
    *,
    horizon: int,
    runs: int,
    seed: int,
    init: bool,
    draw: Callable[[np.random.Generator, float], float] = lambda generator, mean: float(generator.random() < mean),
) -> Numbers:
    """The regret of each run. `init`: begin with solutions of most unseen items; every observation is kept."""
    n_items = len(means)
    rows = np.array([[float(item in one) for item in range(n_items)] for one in listed])
    values = rows @ np.array(means)
    regrets = np.zeros(runs)
    for run in range(runs):
        generator = np.random.default_rng((seed, run))
        seen: list[list[float]] = [[] for _ in range(n_items)]
        for t in range(1, horizon + 1):
            unseen = np.array([float(not x) for x in seen])
            if init and unseen.any():
                weights = unseen
            else:
                estimates = np.array([math.fsum(x) / len(x) if x else math.nan for x in seen])
                weights = scores(t, estimates, seen, generator)
            which = int(np.argmax(rows @ weights))
            regrets[run] += values.max() - values[which]
            for item in listed[which]:
                seen[item].append(draw(generator, means[item]))
    return regrets


def agree(ours: Numbers, theirs: Numbers, most: float = 3.5) -> None:
    """Within so many standard errors of the difference of means."""
    error = math.hypot(ours.std(ddof=1) / math.sqrt(ours.size), theirs.std(ddof=1) / math.sqrt(theirs.size))
    assert abs(ours.mean() - theirs.mean()) < most * error, (ours.mean(), theirs.mean(), error)
