"""The speed of this machine at simulating and deciding, beside a loop in NumPy as it is written for a paper.

>>> problem = top_k(n_items=5, k=2)
>>> numpy_run(problem, "CTS", horizon=1000) < 1000 * problem.problem.max_gap
True
"""

import math
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semibandits import environments, policies, problems, sets
from semibandits._util.resources import cores, processor
from semibandits.live.learner import Learner
from semibandits.problem import Problem
from semibandits.simulation import simulate
from semibandits.types import IndexPolicy

PolicyName: TypeAlias = Literal["CombUCB1", "CTS"]
LANES = 32
"""Runs that are played side by side on one core."""
REPEATS = 3
WARM = 2_000
"""Rounds after which a learner has compiled what it compiles."""


class Standard(NamedTuple):
    """A problem, and how those solve it who write a loop for it."""

    name: str
    problem: Problem
    means: NDArray[np.float64]
    """In an order that suits the loop."""
    exists: NDArray[np.bool_]
    solve: Callable[[NDArray[np.float64]], Any]


class Speed(NamedTuple):
    """Rounds per second of one policy on one problem, of all runs together; `ask_tell`: microseconds."""

    problem: str
    policy: str
    one_core: float
    all_cores: float
    numpy_loop: float
    """On one core."""
    ratio: float
    """One core of ours to the NumPy loop."""
    ask_tell: float
    """Of a live decision and its feedback, by a `Learner`."""


class Measured(NamedTuple):
    """All speeds, and what they were measured on."""

    processor: str
    cores: int
    python: str
    speeds: tuple[Speed, ...]


def grid(m: int, sigma: float = 0.2) -> Standard:
    """The paper's grid: edge 2 · node leads down from a node, edge 2 · node + 1 to the right."""
    side = m + 1
    means = np.full((side, side, 2), 0.5 - sigma / 2.0)
    means[:, 0, 0] = means[m, :, 1] = 0.5 + sigma / 2.0
    exists = np.ones((side, side, 2), dtype=np.bool_)
    exists[m, :, 0] = exists[:, m, 1] = False

    def longest_path(weights: NDArray[np.float64]) -> list[int]:
        w = weights.tolist()
        best, right = [0.0] * (side * side), [False] * (side * side)
        for node in range(side * side - 2, -1, -1):
            row, column = divmod(node, side)
            to_right = w[2 * node + 1] + best[node + 1] if column < m else -math.inf
            down = w[2 * node] + best[node + side] if row < m else -math.inf
            right[node] = to_right > down
            best[node] = to_right if right[node] else down
        path, node = [], 0
        for _ in range(2 * m):
            path.append(2 * node + right[node])
            node += 1 if right[node] else side
        return path

    return Standard(
        f"grid_path(m={m}, sigma={sigma})", problems.grid_path(m, sigma), means.ravel(), exists.ravel(), longest_path
    )


def top_k(n_items: int, k: int) -> Standard:
    """k items of mean 0.6 among items of mean 0.4."""
    means = np.where(np.arange(n_items) < k, 0.6, 0.4)
    problem = Problem(sets.TopK(n_items, k), environments.Bernoulli(means))
    exists = np.ones(n_items, dtype=np.bool_)
    return Standard(
        f"top {k} of {n_items}", problem, means, exists, lambda w: np.argpartition(w, n_items - k)[n_items - k :]
    )


def numpy_run(standard: Standard, policy: PolicyName, horizon: int, seed: int = 0) -> float:
    """One run with vectors over the items and a plain loop over the rounds. Returns the regret."""
    _, _, means, exists, solve = standard
    generator = np.random.default_rng(seed)
    unseen = exists.astype(np.float64) if policy == "CombUCB1" else np.zeros(means.size)
    estimates, counts = np.zeros(means.size), np.ones(means.size)
    successes, failures = np.ones(means.size), np.ones(means.size)
    optimum, gained = float(means[solve(means)].sum()), 0.0
    for t in range(1, horizon + 1):
        initial = bool(unseen.any())
        if policy == "CTS":
            chosen = solve(generator.beta(successes, failures))
        else:
            chosen = solve(unseen if initial else estimates + np.sqrt(1.5 * math.log(t - 1) / counts))
        weights = generator.random(len(chosen)) < means[chosen]
        if policy == "CTS":
            successes[chosen] += weights
            failures[chosen] += ~weights
        elif initial:
            estimates[chosen] = weights
            unseen[chosen] = 0.0
        else:
            counts[chosen] += 1.0
            estimates[chosen] += (weights - estimates[chosen]) / counts[chosen]
        gained += float(means[chosen].sum())
    return horizon * optimum - gained


def pairs() -> list[tuple[Standard, PolicyName]]:
    """What is measured."""
    return [(grid(4), "CombUCB1"), (grid(8), "CombUCB1"), (grid(4), "CTS"), (top_k(100, 10), "CombUCB1")]


def measure(seconds: float = 0.1, say: Callable[[str], None] = lambda what: None) -> Measured:
    """Every figure is the median of three measurements of about so many seconds, taken in turn.

    `say` is told what is going on. What compiling takes, seconds where it was not done before, is left out.
    """
    speeds = []
    for standard, policy in pairs():
        say(f"{policy} on {standard.name}")
        speeds.append(_speed(standard, policy, seconds))
    return Measured(processor(), cores(), platform.python_version(), tuple(speeds))


def _speed(standard: Standard, policy: PolicyName, seconds: float) -> Speed:
    ours: IndexPolicy = policies.CombUCB1() if policy == "CombUCB1" else policies.CTS()

    def play(threads: int) -> Callable[[int], int]:
        def rounds_of(horizon: int) -> int:
            runs = LANES * threads
            simulate(
                *(standard.problem, ours),
                horizon=horizon,
                runs=runs,
                seed=0,
                threads=threads,
                checkpoints=[horizon],
                engine="compiled",
                progress=False,
            )
            return horizon * runs

        return rounds_of

    def loop(horizon: int) -> int:
        numpy_run(standard, policy, horizon)
        return horizon

    one, every, numpy_loop, live = _per_second([play(1), play(cores()), loop, _live(standard.problem, ours)], seconds)
    return Speed(standard.name, policy, one, every, numpy_loop, one / numpy_loop, 1e6 / live)


def _live(problem: Problem, policy: IndexPolicy) -> Callable[[int], int]:
    """Rounds of a learner that goes on where it stopped."""
    learner = Learner(problem.feasible, policy, seed=0)
    coins = np.random.default_rng(0).random((256, problem.n_items)) < problem.means
    rows = coins.astype(np.float64)

    def rounds_of(horizon: int) -> int:
        for _ in range(horizon):
            decision = learner.ask()
            learner.tell(decision.id, rows[decision.round & 255][decision.items])
        return horizon

    rounds_of(WARM)
    return rounds_of


def _per_second(works: list[Callable[[int], int]], seconds: float) -> list[float]:
    """Rounds per second of each work, which is told a horizon and returns how many rounds it has played."""
    horizons = []
    for work in works:
        work(100)  # compiled, warmed up
        horizon = 100
        while (taken := _timed(work, horizon)[1]) < seconds / 4.0:
            horizon *= 2
        horizons.append(math.ceil(horizon * seconds / taken))
    speeds = []
    for _ in range(REPEATS):
        in_turn = [_timed(work, horizon) for work, horizon in zip(works, horizons, strict=True)]
        speeds.append([rounds / taken for rounds, taken in in_turn])
    return [statistics.median(of_one) for of_one in zip(*speeds, strict=True)]


def _timed(work: Callable[[int], int], horizon: int) -> tuple[int, float]:
    """The rounds it has played, and seconds."""
    started = time.perf_counter()
    rounds = work(horizon)
    return rounds, time.perf_counter() - started
