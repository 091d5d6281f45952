"""Lemma 1 of the paper, measured: where CombUCB1 loses what it loses.

The proof splits the regret of a run into three parts:

    initialisation    the rounds before t0, at most K L
    failure           later rounds in which some item's mean is outside its confidence interval,
                      |w̄(e) - ŵ(e)| ≥ c_{t-1,T(e)}; at most π²/3 K L in expectation
    rest              all others, in which a suboptimal A_t must be hard to distinguish from the optimum A*:
                      F_t = {0 < Δ_{A_t} ≤ 2 Σ_{e in A_t \\ A*} c_{n,T(e)}}

where c_{t,s} = sqrt(1.5 log(t) / s), times hi - lo for weights in [lo, hi]. So the rest is at most R̂(n), the regret of
all rounds t ≥ t0 with F_t, which the theorems bound. `measure` plays CombUCB1, replays what it saw, and adds up each
part.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits.agent import Scale
from semibandits.errors import BadArgument, Unsupported
from semibandits.policies import CombUCB1
from semibandits.problem import Problem
from semibandits.simulation import simulate
from semibandits.simulation.summaries import estimate
from semibandits.theory.kveton2015 import Additive, lemma_1
from semibandits.theory.terms import one_pair, worst_loss
from semibandits.types import Environment, Weights

_CELLS = 1 << 20
"""How many weights are drawn at once."""


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The expected regret of every run, in parts. Arrays have a number for each run."""

    initialisation: Weights
    failure: Weights
    rest: Weights
    hard: Weights
    """R̂(n): the regret of all rounds t ≥ t0 in which F_t happens, failures among them."""
    failures: NDArray[np.int64]
    """In how many rounds t ≥ t0 some mean was outside its confidence interval."""
    exceptions: NDArray[np.int64]
    """Suboptimal rounds of the rest in which F_t does not happen. The proof says that there are none."""
    init_rounds: int
    """t0 - 1, or the horizon where that is shorter."""
    bounds: Additive
    """What Lemma 1 allows initialisation and failure."""

    @property
    def regret(self) -> Weights:
        """The whole, as `simulate` measures it."""
        return self.initialisation + self.failure + self.rest

    def __str__(self) -> str:
        rows: tuple[tuple[str, Weights, float | None], ...] = (
            ("initialisation", self.initialisation, self.bounds.initialisation),
            ("failure", self.failure, self.bounds.failure),
            ("rest", self.rest, None),
            ("regret", self.regret, None),
            ("R̂(n), hard", self.hard, None),
        )
        lines = [f"{'part':<14}  {'mean':>12}  {'± error':>10}  {'bound':>12}"]
        for name, part, bound in rows:
            measured = estimate(part, 0.95)
            allowed = "" if bound is None else f"{bound:.2f}"
            lines.append(f"{name:<14}  {measured.mean:>12.2f}  {measured.error:>10.2f}  {allowed:>12}".rstrip())
        lines.append(
            f"runs: {self.regret.size}; suboptimal rounds of the rest that were not hard: {self.exceptions.sum()}"
        )
        return "\n".join(lines)


def measure(problem: Problem, *, horizon: int, runs: int, seed: int) -> Decomposition:
    """Plays CombUCB1 as in the paper and splits its regret as the proof of Lemma 1 does.

    All solutions are kept in memory meanwhile: 4 bytes x runs x horizon x `problem.max_size`. On sets that start
    optimistically (`signed=False`) there is no initialisation, and an item never observed has an infinite radius.

    >>> import semibandits as sb
    >>> parts = measure(sb.problems.grid_path(m=2, sigma=0.4), horizon=1000, runs=5, seed=0)
    >>> parts.init_rounds, parts.exceptions.tolist()
    (4, [0, 0, 0, 0, 0])
    """
    if not isinstance(problem, Problem):
        raise BadArgument(f"problem must be a Problem, got {problem!r:.200}")
    _ = problem.means  # there are none where they drift
    if problem.feasible.ratio < 1.0:
        raise Unsupported(f"Lemma 1 needs an exact oracle; this one has ratio={problem.feasible.ratio}")
    if one_pair(problem.bounds) is None:
        raise Unsupported("Lemma 1 is measured where all items share their bounds; here items have bounds of their own")
    seed = rng.check_seed(seed)
    policy = CombUCB1()
    result = simulate(
        problem,
        policy,
        horizon=horizon,
        runs=runs,
        seed=seed,
        checkpoints=[horizon],
        record="solutions",
        progress=False,
    )
    assert result.solutions is not None
    return _split(problem, result.solutions[0], seed, policy.alpha)


def _split(problem: Problem, solutions: NDArray[np.int32], seed: int, alpha: float) -> Decomposition:
    """Goes through the rounds once more, all runs at a time: statistics have shape (runs, items)."""
    runs, horizon, _ = solutions.shape
    L = problem.n_items
    scale = Scale.of(problem.bounds, problem.sense)
    width = scale.hi - scale.lo
    # One more item, number L, fills up solutions that are smaller than others.
    means = np.append(scale.to_unit(problem.means), 0.0)
    outside = np.append(~np.isin(np.arange(L), problem.optimum), False)
    last_radius = math.sqrt(alpha * math.log(horizon))
    counts, sums = np.zeros((runs, L + 1)), np.zeros((runs, L + 1))
    deviation = np.full((runs, L + 1), -np.inf)  # |w̄ - ŵ| sqrt(T): an interval fails where it is ≥ sqrt(1.5 log(t-1))
    radius = np.full((runs, L + 1), np.inf)  # c_{n,T}
    parts = {name: np.zeros(runs) for name in ("initialisation", "failure", "rest", "hard")}
    failures, exceptions = np.zeros(runs, dtype=np.int64), np.zeros(runs, dtype=np.int64)
    init_rounds = _init_rounds(problem, solutions[0])
    each = np.arange(runs)[:, None]

    ahead = max(1, min(1024, _CELLS // (runs * max(problem.max_size, 1)), _CELLS // L))
    for first in range(0, horizon, ahead):
        chosen = solutions[:, first : first + ahead].astype(np.int64)
        x = scale.to_unit(_weights(problem.environment, seed, first + 1, chosen))
        gaps = _gaps(problem, chosen)
        chosen[chosen < 0] = L
        for at in range(chosen.shape[1]):
            round = first + at + 1
            items, gap = chosen[:, at], gaps[:, at]
            if round <= init_rounds:
                parts["initialisation"] += gap
                counts[each, items] = 1.0
                sums[each, items] = x[:, at]
            else:
                suboptimal = gap > problem.tolerance
                failed = deviation.max(axis=1) >= math.sqrt(alpha * math.log(max(round - 1, 1)))
                slack = np.where(outside[items], radius[each, items], 0.0).sum(axis=1)
                hard = suboptimal & (gap <= 2.0 * width * slack)
                parts["failure"] += np.where(failed, gap, 0.0)
                parts["rest"] += np.where(failed, 0.0, gap)
                parts["hard"] += np.where(hard, gap, 0.0)
                failures += failed
                exceptions += suboptimal & ~failed & ~hard
                counts[each, items] += 1.0
                sums[each, items] += x[:, at]
            seen = counts[each, items]
            root = np.sqrt(seen)
            deviation[each, items] = np.abs(means[items] - sums[each, items] / seen) * root
            radius[each, items] = last_radius / root
            deviation[:, L] = -np.inf
    loss = worst_loss((scale.lo, scale.hi))
    bounds = Additive(*(loss * bound for bound in lemma_1(L, problem.max_size)))
    return Decomposition(**parts, failures=failures, exceptions=exceptions, init_rounds=init_rounds, bounds=bounds)


def _init_rounds(problem: Problem, solutions: NDArray[np.int32]) -> int:
    """How many of these rounds were Init's, which goes on until every item has been seen, in every run the same way."""
    if not problem.feasible.signed:
        return 0
    unseen = np.ones(problem.n_items + 1, dtype=bool)  # the last one is the padding, number -1
    for round, items in enumerate(solutions):
        if not unseen[:-1].any():
            return round
        unseen[items] = False
    return len(solutions)


def _weights(environment: Environment, seed: int, first: int, chosen: NDArray[np.int64]) -> Weights:
    """What the simulation drew for these items, shape (runs, rounds from the first on, max_size); 0 for padding."""
    runs, rounds, _ = chosen.shape
    weights = np.zeros(chosen.shape)
    for run in range(runs):
        keys = rng.keys(seed, run, first, rounds, rng.WORLD)
        if environment.batched:
            drawn = np.pad(environment.weights(first, keys[:, None]), ((0, 0), (0, 1)))
            weights[run] = np.take_along_axis(drawn, chosen[run], axis=1)
        else:
            for at, items in enumerate(chosen[run]):
                here = items >= 0
                weights[run, at, here] = environment.weights(first + at, int(keys[at]), items[here])
    return weights


def _gaps(problem: Problem, chosen: NDArray[np.int64]) -> Weights:
    """Δ of every solution, its items added up in order."""
    totals = np.add.accumulate(np.append(problem.means, 0.0)[chosen], axis=2)[:, :, -1]
    best = problem.value(problem.optimum)
    return best - totals if problem.sense == "max" else totals - best
