"""One run of one policy, a plain loop for any set, environment and policy."""

import time
from collections.abc import Iterator

import numpy as np

from semibandits import rng
from semibandits._util.item_bounds import with_rounding
from semibandits._util.ownership import ours
from semibandits.agent import Agent
from semibandits.errors import BadArgument, BadWeights, EndOfTable, SemiBanditError
from semibandits.simulation.round_sets import RoundSets
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import Environment, FeasibleSet, Items, Weights, bounds_in, checked_numbers, means_in, total


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
    sets = RoundSets(problem, agent, task.seed, run) if problem.environment.says_sets else None
    against = task.references_in_turn() if task.drifts and sets is None else None
    best, reference = (np.empty(0, dtype=np.int64), 0.0) if task.drifts else (problem.optimum, task.reference)
    world = World(problem.environment, task.seed, run, task.horizon)
    outcome = Outcome.empty(task, runs=1)
    regret = 0.0
    reached = 0
    round = 0
    ticked, told = time.perf_counter(), 0
    try:
        for round in range(1, (rounds or task.horizon) + 1):
            feasible = None if sets is None else sets.of(round)
            choice = agent.choose(round, None if feasible is problem.feasible else feasible)
            items = choice.items
            if sets is not None and feasible is not None:
                best = sets.best(feasible, world.all_means(round))
                _check_room(outcome, items, feasible)
            if sets is not None and task.kind != "realised":
                weights = world.weights(round, items)
                means = world.means(round, np.union1d(items, best))
                regret += task.sign * (total(means, best) - total(means, items))
            elif against is not None:
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


def _check_room(outcome: Outcome, items: Items, feasible: FeasibleSet) -> None:
    if outcome.solutions is not None and items.size > outcome.solutions.shape[2]:
        raise BadArgument(
            f"record='solutions' has room for the {outcome.solutions.shape[2]} items of the largest solution of the "
            f"problem's own set, and {items.size} were chosen from {feasible!r:.200}: give the problem a set of "
            "max_size as large as that of any round's"
        )


class World:
    """The weights of one run. Where items are few, many rounds are drawn at once, with the same result."""

    _CELLS = 1 << 16

    def __init__(self, environment: Environment, seed: int, run: int, horizon: int) -> None:
        self._environment = environment
        self._seed, self._run, self._horizon = seed, run, horizon
        self._stream = rng.stream_key(seed, run, rng.WORLD)
        self._ahead = min(1024, self._CELLS // environment.n_items) if environment.batched else 0
        self._rows: Iterator[Weights] = iter(())
        self._limits = None if ours(environment) else with_rounding(bounds_in(environment))

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
        return checked_numbers(self._environment, "weighs", drawn, items, self._limits)

    def means(self, round: int, items: Items) -> Weights:
        """Those of all items in a world that drifts, of which these will be looked at."""
        means = self.all_means(round)
        if self._limits is not None:
            checked_numbers(self._environment, "has the mean", means[items], items, self._limits)
        return means

    def all_means(self, round: int) -> Weights:
        """The same, none of which was looked at."""
        means = means_in(self._environment, round)
        if self._limits is not None and np.shape(means) != (self._environment.n_items,):
            raise BadWeights(
                f"means(round) of {self._environment!r} must be {self._environment.n_items} numbers, one per item, "
                f"got {means!r:.200}"
            )
        return means

    def _drawn(self, round: int, items: Items) -> Weights:
        if self._ahead < 16:
            return self._environment.weights(round, int(rng.below(self._stream, round)), items)
        if (round - 1) % self._ahead == 0:
            keys = rng.keys(self._seed, self._run, round, min(self._ahead, self._horizon - round + 1), rng.WORLD)
            self._rows = iter(self._environment.weights(round, keys[:, None]))
        row: Weights = next(self._rows)[items]
        return row
