"""Tasks for both engines, and how their outcomes are compared."""

from typing import Any

import numpy as np
import pytest

from semibandits import Learner, Problem, policies, rng
from semibandits.simulation.schedule import engine_of, play_with
from semibandits.simulation.task import Outcome, Task
from semibandits.types import Clock, IndexPolicy, Params, Policy, Scalar, Stats, total
from support.worlds import Sum

ucb = policies.CombUCB1()
EVERYTHING: Any = frozenset({"counts", "sums", "solutions"})


def long(*values: Any) -> Any:
    """Left to the longer campaigns: every combination has to be compiled."""
    return pytest.param(*values, marks=pytest.mark.long)


def task(
    problem: Problem, policy: IndexPolicy | Policy = ucb, horizon: int = 2000, seed: int = 7, **changes: Any
) -> Task:
    checkpoints = np.unique(np.geomspace(1, horizon, num=40).round().astype(np.int64))
    plain = Task(problem, policy, horizon, seed, checkpoints, "expected", "ignore", EVERYTHING)
    return plain._replace(**changes)


def same(a: Outcome, b: Outcome) -> None:
    assert a.arrays().keys() == b.arrays().keys()
    for name, array in a.arrays().items():
        np.testing.assert_array_equal(array, b.arrays()[name], err_msg=name)


def learned(one: Task) -> list[list[int]]:
    """What a live learner decides in that world."""
    problem = one.problem
    learner = Learner(
        problem.feasible,
        one.policy,
        sense=problem.sense,
        bounds=problem.bounds,
        seed=one.seed,
        uncovered="ignore",
        feedback=one.feedback,
    )
    decisions = []
    for round in range(1, one.horizon + 1):
        decision = learner.ask()
        weights = problem.environment.weights(round, rng.key(one.seed, 0, round, rng.WORLD), decision.items)
        learner.tell(decision.id, total(weights, slice(None)) if one.feedback == "bandit" else weights)
        decisions.append(decision.items.tolist())
    return decisions


def chosen(outcome: Outcome) -> list[list[int]]:
    assert outcome.solutions is not None
    return [[item for item in row if item >= 0] for row in outcome.solutions[0].tolist()]


def agree_everywhere(one: Task, runs: int) -> None:
    """Machine code, plain loop and, where it can play without a horizon, a live learner decide alike."""
    fast = engine_of(one).play(0, runs)
    assert fast is not None
    same(fast, play_with(None, one, 0, runs))
    if not one.policy.needs_horizon:
        assert chosen(fast) == learned(one)


def policy(**changes: Any) -> IndexPolicy:
    """A policy with some functions replaced, as users might."""
    functions = {name: staticmethod(change) if callable(change) else change for name, change in changes.items()}
    kind = type("Changed", (Sum,), {"init": "all", "__eq__": object.__eq__, "__hash__": object.__hash__, **functions})
    return kind()  # type: ignore[no-any-return]


def mean(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
    return s[1] / (s[0] + 1.0)
