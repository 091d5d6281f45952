"""What all agents share: the initialisation, and the counts it goes by."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.atomic import Step, take
from semibandits._util.checks import check_choice
from semibandits.agent.confidence import hoeffding_radii
from semibandits.agent.scale import Scale
from semibandits.errors import BadArgument, UncoveredItems
from semibandits.oracle import solve
from semibandits.types import FeasibleSet, Game, IndexPolicy, Init, Items, Note, Policy, Weights

Uncovered = Literal["error", "ignore"]


class Choice(NamedTuple):
    """A solution, whether it belongs to Init, and what the policy wants to know of it later."""

    items: Items
    initial: bool
    note: Note = None


class Agent(ABC):
    """A policy on a set: it begins, chooses, learns. `stats` has a column for every item: the number of its
    observations, their sum, and whatever else the policy keeps of it."""

    stats: Weights

    def __init__(
        self,
        feasible: FeasibleSet,
        policy: IndexPolicy | Policy,
        scale: Scale,
        *,
        seed: int,
        run: int = 0,
        horizon: int = 0,
        uncovered: Uncovered = "error",
    ) -> None:
        if policy.needs_horizon and horizon == 0:
            raise BadArgument(
                f"{policy!r} needs to know the horizon, which a live learner does not{policy.instead_of_horizon}"
            )
        self.feasible = feasible
        self.scale = scale
        self.init: Init = check_choice("init", policy.init, Init) if feasible.signed else "optimistic"
        policy.check(feasible)
        self.game = Game(feasible.n_items, feasible.max_size, horizon, feasible.signed, scale.offset)
        self._uncovered = uncovered
        self._ignored = np.zeros(feasible.n_items, dtype=bool)
        self._checked = False
        self.initialised = self.init == "optimistic"
        self._policy_key = rng.stream_key(seed, run, rng.POLICY)
        self._feedback_key = rng.stream_key(seed, run, rng.FEEDBACK)
        self.logged = 0

    def choose(
        self, round: int, pending: NDArray[np.int64] | None = None, exclude: Iterable[int] | None = None
    ) -> Choice:
        """The solution for this round, which is closed with it."""
        choice = self.decide(round, pending, exclude)
        take(self.closing(round))
        return choice

    def decide(
        self, round: int, pending: NDArray[np.int64] | None = None, exclude: Iterable[int] | None = None
    ) -> Choice:
        """The solution for this round; nothing is changed that anybody sees.

        `pending` counts, for each item, the decisions whose feedback on it is outstanding; `exclude` are items that
        cannot be had this time.
        """
        part = self.feasible if exclude is None else self.feasible.restrict(exclude=exclude)
        if not self.initialised:
            items = self._choose_unseen(part, pending)
            if items is not None:
                return Choice(items, True)
        return self._decide(part, round)

    def closing(self, round: int) -> list[Step]:
        """What is to be done once this round is decided."""
        return []

    @abstractmethod
    def _decide(self, part: FeasibleSet, round: int) -> Choice:
        """By the policy itself."""

    @abstractmethod
    def scores(self, round: int) -> Weights:
        """U_t on the policy's scale."""

    def learn(self, round: int, items: Items, x: Weights, initial: bool, note: Note = None) -> None:
        """Takes in the weights, scaled to [0, 1], of items chosen in that round (by Init or not)."""
        take(self.learning(round, items, x, initial, note))

    def learn_logged(self, round: int, items: Items, x: Weights) -> None:
        """Takes in observations made elsewhere; an item may occur any number of times."""
        take(self.learning_logged(round, items, x))

    @abstractmethod
    def learning(self, round: int, items: Items, x: Weights, initial: bool, note: Note = None) -> list[Step]:
        """The steps of `learn`, worked out and not yet taken."""

    @abstractmethod
    def learning_logged(self, round: int, items: Items, x: Weights) -> list[Step]:
        """The steps of `learn_logged`."""

    def means(self, unseen: float) -> Weights:
        """Of the observations of each item, on the policy's scale."""
        counts, sums = self.stats[0], self.stats[1]
        return np.where(counts > 0.0, sums / np.maximum(counts, 1.0), unseen)

    def radii(self, confidence: float) -> Weights:
        """How far these are from the truth, at most, in all rounds at once; infinite for items never observed."""
        return hoeffding_radii(self.stats[0], confidence)

    def init_plan(self, rounds: int) -> list[Items]:
        """The solutions that Init will choose in its rounds, at most so many, if every one is observed at once.

        They depend on the set alone. For an agent that has not begun: it is of no other use afterwards.
        """
        plan: list[Items] = []
        while len(plan) < rounds and not self.initialised:
            items = self._choose_unseen(self.feasible, None)
            if items is None:
                break
            self.stats[0, items] = 1.0
            plan.append(items)
        return plan

    def _choose_unseen(self, part: FeasibleSet, pending: NDArray[np.int64] | None) -> Items | None:
        """Init's choice: as many items as possible that were never observed; None where it has nothing to choose."""
        unseen = (self.stats[0] == 0.0) & ~self._ignored
        if not unseen.any():
            self.initialised = True
            return None
        wanted = unseen if pending is None else unseen & (pending == 0)
        if not self._checked:
            known = np.zeros_like(wanted)
            known[self.feasible.uncovered()] = True
            self._drop(wanted & known, searched=False)
            wanted &= ~known
            self._checked = True
        if not wanted.any():
            return None
        items = solve(part, wanted.astype(np.float64))
        if wanted[items].any():
            return items
        if part is self.feasible:
            self._drop(wanted, searched=True)
        return None

    def _drop(self, items: NDArray[np.bool_], searched: bool) -> None:
        """Gives up observing items that no solution contains."""
        if self._uncovered == "error" and items.any():
            raise UncoveredItems(np.flatnonzero(items).tolist(), searched=searched)
        self._ignored |= items


def in_layers(items: Items) -> list[NDArray[np.int64]]:
    """Positions in a list of items with repeats: all first observations, then all second ones, ..."""
    _, which = np.unique(items, return_inverse=True)
    order = np.argsort(which, kind="stable")
    counts = np.bincount(which)
    occurrence = np.empty(items.size, dtype=np.int64)  # 0 for an item's first observation, 1 for its second, ...
    occurrence[order] = np.arange(items.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.split(np.argsort(occurrence, kind="stable"), np.cumsum(np.bincount(occurrence))[:-1])
