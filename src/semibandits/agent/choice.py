"""Choices, and from what they are to be made."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from semibandits.oracle import solve, solve_without
from semibandits.types import FeasibleSet, Items, Note, Weights


class Choice(NamedTuple):
    """A solution, whether it belongs to Init, and what the policy wants to know of it later."""

    items: Items
    initial: bool
    note: Note = None


Solving: TypeAlias = Callable[[], Choice | None]
"""What is left of a decision when scores are known: it calls the oracle, reads nothing that feedback changes, and may
so be run beside everything else. None: Init has nothing to choose there, and the policy is to."""


class Request(NamedTuple):
    """From what a decision is to be made: a set with the items of the agent's own, without some of them."""

    feasible: FeasibleSet
    exclude: Items | None = None

    def solve(self, weights: Weights) -> Items:
        if self.exclude is None:
            return solve(self.feasible, weights)
        return solve_without(self.feasible, weights, self.exclude)

    def part(self) -> FeasibleSet:
        return self.feasible if self.exclude is None else self.feasible.restrict(exclude=self.exclude)
