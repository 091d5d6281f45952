"""One run of one policy, a plain loop for any set, environment and policy."""

import time
from collections.abc import Iterator

import numpy as np

from semibandits import rng
from semibandits._util.ownership import ours
from semibandits.agent import Agent
from semibandits.errors import BadWeights, EndOfTable, SemiBanditError
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import Bounds, Environment, Items, Weights, means_in, total

ROUNDING = 1e-9


def limits(bounds: Bounds) -> Bounds:
    """Between which a user's weights must be: the bounds, with some room for rounding."""
    lo, hi = bounds
    slack = ROUNDING * max(hi - lo, abs(lo), abs(hi))
    return lo - slack, hi + slack


def play(
    task: Task,
    run: int,
    tick: Tick | None = None,
    agent: Agent | None = None,
    rounds: int | None = None,
) -> Outcome:
    """This run of the task, or the first rounds of it. An agent that is handed in can be looked at afterwards."""
    problem = task.problem
    agent = agent or task.agent(run)
    against = task.references_in_turn() if task.drifts else None
    best, reference = (problem.optimum, task.reference) if against is None else (np.empty(0, dtype=np.int64), 0.0)
    world = World(problem.environment, task.seed, run, task.horizon)
    outcome = Outcome.empty(task, runs=1)
    regret = 0.0
    reached = 0
    round = 0
    ticked, told = time.perf_counter(), 0
    try:
        for round in range(1, (rounds or task.horizon) + 1):
            choice = agent.choose(round)
            items = choice.items
            if against is not None:
                weights = world.weights(round, items)
                gained = total(world.means(round, items), items)
                regret += task.sign * (next(against) - gained)
            elif task.kind != "realised":
                weights = world.weights(round, items)
                regret += task.sign * (reference - total(problem.means, items))
            else:
                both = world.weights(round, np.concatenate((items, best)))
                weights = both[: items.size]
                regret += task.sign * (total(both, slice(items.size, None)) - total(both, slice(items.size)))
            if task.feedback == "bandit":
                agent.learn_sum(round, choice, total(weights, slice(None)))
            else:
                agent.learn(round, choice, weights)
            if outcome.counts is not None:
                outcome.counts[0, items] += 1
            if outcome.sums is not None:
                outcome.sums[0, items] += weights
            if outcome.solutions is not None:
                outcome.solutions[0, round - 1, : items.size] = items
            if round == task.checkpoints[reached]:
                outcome.regret[0, reached] = regret
                reached += 1
            if tick is not None and (round & 63 == 0 or round == task.horizon):
                now = time.perf_counter()
                if now - ticked > 0.02 or round == task.horizon:
                    tick(round - told)
                    ticked, told = now, round
    except SemiBanditError as error:
        error.say_where(f"run {run}, round {round}")
        raise
    except Exception as error:
        error.add_note(f"in run {run}, round {round}")
        raise
    return outcome


class World:
    """The weights of one run. Where items are few, many rounds are drawn at once, with the same result."""

    _CELLS = 1 << 16

    def __init__(self, environment: Environment, seed: int, run: int, horizon: int) -> None:
        self._environment = environment
        self._seed, self._run, self._horizon = seed, run, horizon
        self._stream = rng.stream_key(seed, run, rng.WORLD)
        self._ahead = min(1024, self._CELLS // environment.n_items) if environment.batched else 0
        self._rows: Iterator[Weights] = iter(())
        self._limits = None if ours(environment) else limits(environment.bounds)

    def weights(self, round: int, items: Items) -> Weights:
        """To be called once for every round, in order."""
        if self._limits is None:
            return self._drawn(round, items)
        try:
            drawn = self._drawn(round, items)
        except IndexError as error:
            if isinstance(error, SemiBanditError):
                raise
            raise EndOfTable(f"the weights of {self._environment!r} cannot be drawn, IndexError: {error}") from error
        return self._checked("weighs", drawn, items)

    def means(self, round: int, items: Items) -> Weights:
        """Those of all items in a world that drifts, of which these will be looked at."""
        means = means_in(self._environment, round)
        if self._limits is not None:
            if np.shape(means) != (self._environment.n_items,):
                raise BadWeights(
                    f"means(round) of {self._environment!r} must be {self._environment.n_items} numbers, one per item, "
                    f"got {means!r:.200}"
                )
            self._checked("has the mean", means[items], items)
        return means

    def _checked(self, what: str, numbers: Weights, items: Items) -> Weights:
        lowest, highest = self._limits or (-np.inf, np.inf)
        if np.shape(numbers) != items.shape or np.asarray(numbers).dtype.kind not in "fiu":
            raise BadWeights(
                f"{self._environment!r} must give {items.size} numbers, one per item, got {numbers!r:.200}"
            )
        fine = (numbers >= lowest) & (numbers <= highest)
        if not fine.all():
            at = int(np.argmin(fine))
            raise BadWeights(
                f"item {items[at]} {what} {numbers[at]} in {self._environment!r}, not in its bounds "
                f"{self._environment.bounds}"
            )
        return numbers

    def _drawn(self, round: int, items: Items) -> Weights:
        if self._ahead < 16:
            return self._environment.weights(round, int(rng.below(self._stream, round)), items)
        if (round - 1) % self._ahead == 0:
            keys = rng.keys(self._seed, self._run, round, min(self._ahead, self._horizon - round + 1), rng.WORLD)
            self._rows = iter(self._environment.weights(round, keys[:, None]))
        row: Weights = next(self._rows)[items]
        return row
