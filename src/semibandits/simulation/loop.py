"""One run of one policy, a plain loop for any set, environment and policy."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits.agent import IndexAgent, Scale, Uncovered
from semibandits.problem import Problem
from semibandits.types import Environment, IndexPolicy, Items, Weights, total

RegretKind = Literal["expected", "realised"]


def play(
    problem: Problem,
    policy: IndexPolicy,
    horizon: int,
    run: int,
    seed: int,
    checkpoints: NDArray[np.int64],
    kind: RegretKind,
    uncovered: Uncovered,
) -> NDArray[np.float64]:
    """The cumulative regret of this run at the checkpoints."""
    agent = IndexAgent(
        problem.feasible,
        policy,
        Scale.of(problem.bounds, problem.sense),
        seed=seed,
        run=run,
        horizon=horizon,
        uncovered=uncovered,
    )
    sign = 1.0 if problem.sense == "max" else -1.0
    best = problem.optimum
    best_mean = total(problem.means, best)
    world = World(problem.environment, seed, run, horizon)
    regret = 0.0
    curve = np.empty(checkpoints.size)
    reached = 0
    for round in range(1, horizon + 1):
        items, initial = agent.choose(round)
        if kind == "expected":
            weights = world.weights(round, items)
            regret += sign * (best_mean - total(problem.means, items))
        else:
            both = world.weights(round, np.concatenate((items, best)))
            weights = both[: items.size]
            regret += sign * (total(both, slice(items.size, None)) - total(both, slice(items.size)))
        agent.learn(round, items, agent.scale.to_unit(weights), initial)
        if round == checkpoints[reached]:
            curve[reached] = regret
            reached += 1
    return curve


class World:
    """The weights of one run. Where items are few, many rounds are drawn at once, with the same result."""

    _CELLS = 1 << 16

    def __init__(self, environment: Environment, seed: int, run: int, horizon: int) -> None:
        self._environment = environment
        self._seed, self._run, self._horizon = seed, run, horizon
        self._stream = rng.stream_key(seed, run, rng.WORLD)
        self._ahead = min(1024, self._CELLS // environment.n_items) if environment.batched else 0
        self._rows: Iterator[Weights] = iter(())

    def weights(self, round: int, items: Items) -> Weights:
        """To be called once for every round, in order."""
        if self._ahead < 16:
            return self._environment.weights(round, int(rng.below(self._stream, round)), items)
        if (round - 1) % self._ahead == 0:
            keys = rng.keys(self._seed, self._run, round, min(self._ahead, self._horizon - round + 1), rng.WORLD)
            self._rows = iter(self._environment.weights(round, keys[:, None]))
        row: Weights = next(self._rows)[items]
        return row
