"""Tasks and their outcomes: what all engines play, and workers are sent."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.agent import Agent, Scale, Setting, Uncovered, make_agent
from semibandits.problem import Problem
from semibandits.simulation import comparator
from semibandits.simulation.round_sets import check_sets
from semibandits.types import FeedbackKind, IndexPolicy, Policy, Weights, total

RegretKind = Literal["expected", "realised", "ratio", "dynamic", "static"]
Recorded = Literal["counts", "sums", "solutions"]

Tick = Callable[[int], None]
"""Called now and then with the rounds played since; it may raise to stop the work."""


class Task(NamedTuple):
    """One policy on one problem."""

    problem: Problem
    policy: IndexPolicy | Policy
    horizon: int
    seed: int
    checkpoints: NDArray[np.int64]
    kind: RegretKind
    uncovered: Uncovered
    record: frozenset[Recorded]
    feedback: FeedbackKind = "semi"

    def agent(self, run: int) -> Agent:
        scale = Scale.of(self.problem.bounds, self.problem.sense)
        setting = Setting(self.problem.feasible, scale, self.seed, run, self.horizon, self.uncovered)
        return make_agent(self.policy, setting)

    @property
    def reference(self) -> float:
        """What regret is measured against in every round, but for realised regret and worlds that drift."""
        return self.problem.target if self.kind == "ratio" else total(self.problem.means, self.problem.optimum)

    @property
    def drifts(self) -> bool:
        return self.problem.environment.drifts

    def references(self) -> Weights:
        """The same for each round of a world that drifts."""
        return comparator.reference(self.problem, self.horizon, static=self.kind == "static")

    def references_in_turn(self) -> Iterator[float]:
        """The same, one after the other: they need not be in memory together."""
        return comparator.in_turn(self.problem, self.horizon, static=self.kind == "static")

    def check_reference(self) -> None:
        """Works out what it is, which may fail."""
        if self.problem.environment.says_sets:
            check_sets(self.problem, self.agent(run=0))
        elif self.drifts:
            comparator.stretches(self.problem, self.horizon, static=self.kind == "static")
        else:
            _ = self.reference

    @property
    def sign(self) -> float:
        return 1.0 if self.problem.sense == "max" else -1.0


class Outcome(NamedTuple):
    """Of consecutive runs: what `SimulationResult` holds of one policy."""

    regret: NDArray[np.float64]
    """(runs, checkpoints)"""
    counts: NDArray[np.int64] | None = None
    """(runs, items)"""
    sums: NDArray[np.float64] | None = None
    """(runs, items)"""
    solutions: NDArray[np.int32] | None = None
    """(runs, horizon, max_size), padded with -1"""
    replayed: bool = False
    """Whether the plain loop had to take over from machine code."""
    seconds: NDArray[np.float64] | None = None
    """(runs,): how long it took to play each, where that is known."""

    @classmethod
    def empty(cls, task: Task, runs: int) -> "Outcome":
        shape = (runs, task.horizon, task.problem.max_size)
        return cls(
            np.empty((runs, task.checkpoints.size)),
            np.zeros((runs, task.problem.n_items), dtype=np.int64) if "counts" in task.record else None,
            np.zeros((runs, task.problem.n_items)) if "sums" in task.record else None,
            np.full(shape, -1, dtype=np.int32) if "solutions" in task.record else None,
        )

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], replayed: bool = False) -> "Outcome":
        counts, sums, solutions, seconds = (arrays.get(name) for name in ("counts", "sums", "solutions", "seconds"))
        return cls(arrays["regret"], counts, sums, solutions, replayed, seconds)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is the same whenever these runs are played, and wherever."""
        known = {"regret": self.regret, "counts": self.counts, "sums": self.sums, "solutions": self.solutions}
        return {name: array for name, array in known.items() if array is not None}
