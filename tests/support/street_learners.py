"""Learners on a small network of streets, in the middle of things, and what they know by name."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from semibandits import Learner, sets
from semibandits.types import FeasibleSet, IndexPolicy, Policy

EDGES = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("s", "t"), ("b", "c"), ("c", "t")]
COSTS = dict(zip([f"{a}->{b}" for a, b in EDGES], [0.21, 0.33, 0.12, 0.54, 0.37, 0.83, 0.11, 0.29], strict=True))


def roads(order: Iterable[int] = range(len(EDGES))) -> sets.DagPaths:
    return sets.DagPaths([EDGES[item] for item in order], "s", "t")


def tell(learner: Learner, decision: Any, noise: np.random.Generator) -> None:
    """All of it, or the part that is missing; by name, so that it does not depend on the order."""
    waiting = learner._log.find(decision.id).waiting()
    drawn = dict(zip(COSTS, noise.uniform(-0.1, 0.1, len(COSTS)), strict=True))
    weights = {label: COSTS[label] + drawn[label] for label in learner._reader.names(waiting)}
    learner.tell(decision.id, sum(weights.values()) if learner._feedback == "bandit" else weights)


def begun(policy: IndexPolicy | Policy, feasible: FeasibleSet | None = None, **options: Any) -> Learner:
    """With decisions outstanding, told in part, and cancelled."""
    learner = Learner(feasible or roads(), policy, sense="min", seed=3, uncovered="ignore", **options)
    noise = np.random.default_rng(5)
    sees_items = not (isinstance(policy, Policy) and policy.feedback == "bandit")
    for round in range(20):
        decision = learner.ask()
        if round % 6 == 2 and sees_items:
            learner.tell(decision.id, {decision.labels[-1]: COSTS[decision.labels[-1]]})
        elif round % 6 == 3:
            learner.cancel(decision.id)
        elif round % 6 != 4:
            tell(learner, decision, noise)
    return learner


def seen(learner: Learner) -> Any:
    """What is known, by name."""
    labels = learner._reader.labels
    assert labels is not None
    known = zip(learner.counts.tolist(), map(str, learner.estimates.tolist()), strict=True)
    return (
        dict(zip(labels, known, strict=True)),
        [(one.round, sorted(one.labels)) for one in learner.outstanding],
        sorted(labels[item] for item in learner.best()) if learner._feedback == "semi" else None,
    )


def goes_on(learner: Learner, rounds: int = 15) -> list[Any]:
    noise = np.random.default_rng(6)
    for decision in learner.outstanding:
        tell(learner, decision, noise)
    decided = []
    for _ in range(rounds):
        decision = learner.ask()
        decided.append(sorted(decision.labels))
        tell(learner, decision, noise)
    return decided
