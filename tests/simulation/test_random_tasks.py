"""Machine code against the plain loop on random tasks: the same bits."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semibandits import Problem, environments, policies, sets
from semibandits.simulation.schedule import engine_of, play_with
from semibandits.simulation.task import Outcome, Task
from semibandits.types import Environment, FeasibleSet
from support.misdeeds import EachPairs, LanePairs
from support.pooling import PooledUCB
from support.tasks import EVERYTHING, long
from support.worlds import Steps, Sum, Window, Wobbling

Random = np.random.Generator
HORIZON = 80


def listed(random: Random) -> FeasibleSet:
    n_items = int(random.integers(3, 9))
    some = [np.flatnonzero(random.random(n_items) < 0.4).tolist() for _ in range(12)]
    return sets.Enumerated([*some, *([item] for item in range(n_items))])


def few(random: Random, bases: bool) -> FeasibleSet:
    n_items = int(random.integers(2, 30))
    return sets.TopK(n_items, int(random.integers(1, min(n_items, 12) + 1)), bases=bases)


def groups(random: Random) -> FeasibleSet:
    return sets.PartitionMatroid(random.integers(0, 3, size=int(random.integers(3, 12))).tolist(), {0: 1, 1: 2, 2: 1})


SETS: dict[str, Callable[[Random], FeasibleSet]] = {
    "top-k": lambda random: few(random, True),
    "at most k": lambda random: few(random, False),
    "grid": lambda random: sets.GridPaths(int(random.integers(1, 4))),
    "listed": listed,
    "groups": groups,
    "tree": lambda random: sets.GraphicMatroid([(a, b) for b in range(int(random.integers(2, 6))) for a in range(b)]),
    "user's": lambda random: Window(int(random.integers(4, 12)), int(random.integers(1, 4))),
    "user's pairs": lambda random: EachPairs(-1),
    "user's lanes": lambda random: LanePairs(-1),
}
WORLDS: dict[str, Callable[[Random, int], Environment]] = {
    "coins": lambda random, n: environments.Bernoulli(random.random(n)),
    "uniform": lambda random, n: environments.Uniform(random.random(n), 1.0 + random.random(n), bounds=(0.0, 3.0)),
    "resampled": lambda random, n: environments.Table(random.random((7, n))),
    "user's": lambda random, n: Steps(random.random(n)),
    "drifting": lambda random, n: environments.Drifting(random.random((3, n)), [1, 20, 45], smooth=True),
    "adversarial": lambda random, n: environments.Adversarial(random.random((HORIZON, n))),
}
POLICIES: dict[str, Callable[[Random], Any]] = {
    "CombUCB1": lambda random: policies.CombUCB1(alpha=0.5 + random.random()),
    "UCB-V": lambda random: policies.UCBV(),
    "window": lambda random: policies.SlidingWindow(int(random.integers(2, 40))),
    "pooled": lambda random: policies.PooledCTS(discount=0.5 + 0.5 * random.random()),
    "user's": lambda random: Wobbling(width=random.random()),
    "user's sum": lambda random: Sum(),
    "user's pooled": lambda random: PooledUCB(width=random.random()),
    "FPL": lambda random: policies.FPL(eta=0.05 + random.random()),
}
CHANGING = ("drifting", "adversarial")
SHORT = [("grid", "coins", "CombUCB1")]


def combinations(count: int) -> list[tuple[str, str, str]]:
    """Every one is machine code of its own; each set, world and policy comes up again and again."""
    random = np.random.default_rng(2)
    names = [list(kinds) for kinds in (SETS, WORLDS, POLICIES)]
    drawn = [[kinds[(at + int(random.integers(2))) % len(kinds)] for kinds in names] for at in range(count)]
    # Moves are played one run at a time, for which there must be an oracle.
    in_lanes = {"user's lanes": "user's pairs"}
    return [(in_lanes.get(one, one) if policy == "FPL" else one, world, policy) for one, world, policy in drawn]


def random_task(combination: tuple[str, str, str], random: Random) -> Task:
    set_name, world_name, policy_name = combination
    feasible = SETS[set_name](random)
    world = WORLDS[world_name](random, feasible.n_items)
    fixed = np.random.default_rng(sum(map(ord, "".join(combination))))  # what the machine code depends on
    sense = "max" if set_name.startswith("user") else str(fixed.choice(["max", "min"]))
    kinds = ["dynamic", "static"] if world_name in CHANGING else ["expected", "realised", "ratio"]
    record = EVERYTHING if fixed.random() < 0.8 else frozenset()
    horizon = int(random.integers(1, HORIZON + 1))
    checkpoints = np.unique(np.append(random.integers(1, horizon + 1, size=5), horizon))
    kind: Any = "expected" if combination in SHORT else str(fixed.choice(kinds))
    problem = Problem(feasible, world, sense=sense)  # type: ignore[arg-type]
    return Task(
        problem, POLICIES[policy_name](random), horizon, int(random.integers(1000)), checkpoints, kind, "ignore", record
    )


@pytest.mark.parametrize(("count", "each"), [(0, 3), long(26, 10)])
def test_machine_code_does_what_the_plain_loop_does(
    count: int, each: int, campaign: Callable[[str, list[str]], None]
) -> None:
    broke, tried = [], 0
    for number, combination in enumerate(combinations(count) or SHORT):
        for at in range(each):
            one = random_task(combination, np.random.default_rng([number, at]))
            first, runs = 3 * at, 1 + at % 3
            fast, plain = engine_of(one).play(first, runs), play_with(None, one, first, runs)
            tried += 1
            alike = isinstance(fast, Outcome) and all(
                np.array_equal(array, plain.arrays()[name]) for name, array in fast.arrays().items()
            )
            if not alike:
                broke.append(f"{combination}, number {at}: {one.problem!r}, {one.policy!r}: {fast!r:.200}")
    campaign(f"machine code and the plain loop: {tried} random tasks", broke)
