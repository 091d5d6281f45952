"""Who plays: policies of the catalogue that need nothing but a set and bounds, greedy, and one that is told more."""

import dataclasses
import functools
import inspect
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from semibandits import rng
from semibandits.errors import SemiBanditError
from semibandits.oracle import all_solutions
from semibandits.policies import ESCB, FPL, OLSUCB, EpsilonGreedy, GaussianCTS
from semibandits.policies.catalogue import CATALOGUE
from semibandits.policies.solution.from_hull import FromHull
from semibandits.problem import Problem
from semibandits.types import FeasibleSet, IndexPolicy, Policy

Player: TypeAlias = IndexPolicy | Policy

GREEDY = "greedy"
TOLD = "GaussianCTS, told sigma"
"""What nobody knows: it is a line of reference, never the best."""
SAMPLE = 2_000
"""Rounds drawn to see how weights spread."""
FEW, SMALL = 1_000, 64
"""Solutions of a set, and its items, if policies are to look at all solutions."""
MOST_LOOKS = 10_000_000
"""Solutions that a policy may look at in a run, if it looks at all of them in every round."""
MOST_SOLVED = 1_500_000
"""Items times rounds of a run for a policy that solves many problems in every round."""


def _at_home() -> dict[str, Player]:
    """The catalogue's policies that play on what is seen of every chosen item, with the parameters they come with."""
    found: dict[str, Player] = {}
    for entry in CATALOGUE:
        required = [one for one in inspect.signature(entry.policy).parameters.values() if one.default is one.empty]
        if not required and getattr(entry.policy, "feedback", "semi") == "semi":
            found[entry.name] = entry.policy()
    return found


PLAYERS: Mapping[str, Player] = MappingProxyType({**_at_home(), GREEDY: EpsilonGreedy(epsilon=0.0)})
"""By name."""


def label(player: Player) -> str:
    """Its name in the table: that of the roster, or its class with the parameters that are not as by default.

    >>> label(EpsilonGreedy()), label(EpsilonGreedy(epsilon=0.0)), label(EpsilonGreedy(epsilon=0.5, decay=1.0))
    ('EpsilonGreedy', 'greedy', 'EpsilonGreedy(epsilon=0.5, decay=1.0)')
    """
    for name, one in PLAYERS.items():
        if type(one) is type(player) and repr(one) == repr(player):
            return name
    fields: dict[str, dataclasses.Field[object]] | None = getattr(player, "__dataclass_fields__", None)
    if fields is None:
        return repr(player)
    values = [(name, repr(getattr(player, name)), repr(one.default)) for name, one in fields.items() if one.init]
    return f"{type(player).__name__}({', '.join(f'{name}={one}' for name, one, usual in values if one != usual)})"


def spread(problem: Problem) -> float:
    """The largest standard deviation of an item's weights, as drawn, relative to its bounds."""
    keys = (rng.key(0, 0, round, rng.WORLD) for round in range(1, SAMPLE + 1))
    drawn = np.array([problem.environment.weights(round, key) for round, key in enumerate(keys, 1)])
    unknown = problem.spans > 0.0
    relative = drawn.std(axis=0)[unknown] / problem.spans[unknown]
    return max(0.005, math.ceil(200.0 * float(relative.max())) / 200.0)


def told(problem: Problem) -> GaussianCTS:
    """Thompson sampling that knows the spread of the weights."""
    return GaussianCTS(sigma=spread(problem))


def left_out(player: Player, problem: Problem, horizon: int) -> str:
    """Why a policy does not play there: it cannot, or it would take longer than all others; nothing: it does."""
    feasible = problem.feasible
    if isinstance(player, FPL):
        dear = feasible.n_items * horizon > MOST_SOLVED
        return "it solves many problems in every round, which takes too long there" if dear else ""
    if isinstance(player, FromHull):
        return "" if feasible.quotas() is not None else "its hull is too dear there"
    if isinstance(player, ESCB | OLSUCB) or getattr(player, "feedback", "semi") == "bandit":
        most = min(FEW, MOST_LOOKS // horizon)
        many = _solutions(feasible) > most
        return f"it looks at every solution in every round, and there may be over {most:,}" if many else ""
    try:
        player.check(feasible)
    except SemiBanditError as error:
        return str(error)
    return ""


@functools.cache
def _solutions(feasible: FeasibleSet) -> float:
    """How many there are, if they are few. Of large sets it is not asked: the answer would take long."""
    listed = all_solutions(feasible, FEW) if feasible.signed and feasible.n_items <= SMALL else None
    return math.inf if listed is None else len(listed)
