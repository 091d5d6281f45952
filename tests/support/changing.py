"""A small world that changes once, and an independent, plain simulation in it that keeps every observation."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits import Problem, environments, policies, sets, simulate
from semibandits.types import IndexPolicy

Numbers = NDArray[np.float64]
Scores = Callable[[int, Numbers, Numbers], Numbers]
"""scores(t, seen, x): of runs and items, from 0/1 and weights of (runs, rounds 1 to t-1, items); x is 0 if not seen."""

PAIRS = list(itertools.combinations(range(5), 2))
BEFORE = np.array([0.9, 0.8, 0.3, 0.2, 0.15])
AFTER = np.array([0.15, 0.2, 0.3, 0.9, 0.8])
LOST = 1.7 - 0.35
"""What the best solution of one time loses per round in the other."""


def game(change: int) -> Problem:
    """The best two of five items; from round `change` on they are others."""
    return Problem(sets.TopK(5, 2), environments.Drifting([BEFORE, AFTER], starts=[1, change]))


def plain_regrets(scores: Scores, *, change: int, horizon: int, runs: int, seed: int) -> Numbers:
    """The dynamic regret of each run."""
    generator = np.random.default_rng(seed)
    rows = np.array([[float(item in pair) for item in range(5)] for pair in PAIRS])
    seen, x = np.zeros((runs, horizon, 5)), np.zeros((runs, horizon, 5))
    regrets = np.zeros(runs)
    for t in range(1, horizon + 1):
        means = BEFORE if t < change else AFTER
        which = np.argmax(scores(t, seen[:, : t - 1], x[:, : t - 1]) @ rows.T, axis=1)
        values = rows @ means
        regrets += values.max() - values[which]
        seen[:, t - 1] = rows[which]
        x[:, t - 1] = rows[which] * (generator.random((runs, 5)) < means)
    return regrets


def regrets(policy: IndexPolicy, *, change: int, horizon: int, runs: int, seed: int = 3, **more: Any) -> Numbers:
    """The same by the library; with `checkpoints` the regret at each."""
    result = simulate(game(change), policy, horizon=horizon, runs=runs, seed=seed, regret="dynamic", **more)
    assert result.engine == "compiled"
    every: Numbers = result.regret[0] if "checkpoints" in more else result.regret[0, :, -1]
    return every


def late_loss(policy: IndexPolicy, *, change: int, first: int, last: int, runs: int) -> tuple[float, float]:
    """The mean regret per round in rounds first+1 to last, and its standard error."""
    at = regrets(policy, change=change, horizon=last, runs=runs, checkpoints=[first, last])
    per_round = (at[:, 1] - at[:, 0]) / (last - first)
    return float(per_round.mean()), float(per_round.std(ddof=1) / np.sqrt(runs))


def check_recovery(policy: IndexPolicy, slack: float = 0.0) -> None:
    """The world changes in round 3001: what is lost per round before, and 250 rounds later, beside CombUCB1.

    `slack`: what the policy may still lose more than before, since it has not forgotten everything.
    """
    plain = policies.CombUCB1(alpha=0.5)
    before, after = {"first": 2850, "last": 3000}, {"first": 3250, "last": 3400}
    slow, slow_error = late_loss(plain, change=3001, **after, runs=256)
    assert slow - 3.5 * slow_error > 0.4 * LOST
    quick, quick_error = late_loss(policy, change=3001, **after, runs=256)
    assert quick + 3.5 * quick_error < 0.1 * LOST
    usual, usual_error = late_loss(policy, change=3001, **before, runs=256)
    assert abs(quick - usual) < slack + 3.5 * math.hypot(quick_error, usual_error)
    known, known_error = late_loss(plain, change=3001, **before, runs=256)
    assert known + 3.5 * math.hypot(usual_error, known_error) < usual  # forgetting has its price
