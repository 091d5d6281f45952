"""The agent: a policy with what it has learned, between the user's units and its own."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.atomic import Step, take
from semibandits._util.checks import check_choice
from semibandits.agent.confidence import confidence_radii
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


class Setting(NamedTuple):
    """Where a policy is at work."""

    feasible: FeasibleSet
    scale: Scale
    seed: int
    run: int = 0
    horizon: int = 0
    """0: it is not known."""
    uncovered: Uncovered = "error"


class Learned(NamedTuple):
    """All that an agent knows, on the policy's scale."""

    stats: Weights
    logged: int
    init_round: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    init_x: Weights = np.empty(0)
    recent: Sequence[tuple[int, Items, Weights]] = ()
    """What was observed in each round of a window."""
    state: list[NDArray[Any]] | None = None
    """Of a policy that chooses whole solutions."""


class Agent(ABC):
    """A policy on a set: it begins, chooses, learns, all in the user's units. `stats`, on the policy's scale, has a
    column for every item: the number of its observations, their sum, and whatever else the policy keeps of it."""

    policy: IndexPolicy | Policy
    stats: Weights

    def __init__(self, policy: IndexPolicy | Policy, setting: Setting) -> None:
        feasible, scale, seed, run, horizon, uncovered = setting
        if policy.needs_horizon and horizon == 0:
            raise BadArgument(
                f"{policy!r} needs to know the horizon, which a live learner does not{policy.instead_of_horizon}"
            )
        self.policy = policy
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

    # Deciding

    def choose(self, round: int) -> Choice:
        """The solution for this round, which is closed with it."""
        choice = self.decide(round)
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

    # Feedback

    def learn(self, round: int, choice: Choice, weights: Weights) -> None:
        """Takes in what the items were worth that were chosen in that round."""
        take(self.learning(round, choice, weights))

    def learn_sum(self, round: int, choice: Choice, sum: float) -> None:
        """Takes in their sum alone, where nothing else is known."""
        take(self.learning_sum(round, choice, sum))

    def learn_logged(self, round: int, items: Items, weights: Weights) -> None:
        """Takes in observations made elsewhere; an item may occur any number of times."""
        take(self.learning_logged(round, items, weights))

    def learning(
        self, round: int, choice: Choice, weights: Weights, positions: NDArray[np.int64] | None = None
    ) -> list[Step]:
        """The steps of `learn`, worked out and not yet taken; `positions`: these are the weights of a part of it."""
        part = choice if positions is None else self._part(choice, positions)
        return self._learning(round, part, self.scale.to_unit(weights))

    def learning_sum(self, round: int, choice: Choice, sum: float) -> list[Step]:
        """The steps of `learn_sum`."""
        return self._learning_sum(round, choice, self.scale.sum_to_unit(sum, choice.items.size))

    def learning_logged(self, round: int, items: Items, weights: Weights) -> list[Step]:
        """The steps of `learn_logged`."""
        return self._learning_logged(round, items, self.scale.to_unit(weights))

    def _part(self, choice: Choice, positions: NDArray[np.int64]) -> Choice:
        """The items at these positions, and what the note says of them."""
        return choice._replace(items=choice.items[positions])

    @abstractmethod
    def _learning(self, round: int, choice: Choice, x: Weights) -> list[Step]:
        """These three take x in [0, 1], or a sum of such."""

    @abstractmethod
    def _learning_sum(self, round: int, choice: Choice, x: float) -> list[Step]: ...

    @abstractmethod
    def _learning_logged(self, round: int, items: Items, x: Weights) -> list[Step]: ...

    # What was learned

    def scores(self, round: int) -> Weights:
        """U_t: a score of a cost is an optimistic cost."""
        return np.array(self.scale.from_unit(self._scores(round)), dtype=np.float64)

    def estimates(self) -> Weights:
        """What is to be expected of every item; NaN where nothing is known."""
        expected = self._expected()
        return self._in_units(self._means(unseen=np.nan) if expected is None else expected)

    @property
    def estimates_items(self) -> bool:
        """Whether the policy has more to go by than each item's own observations."""
        return self._expected() is not None

    def intervals(self, confidence: float) -> NDArray[np.float64]:
        """The lower and the upper ends, one row per item."""
        radius = (self.scale.hi - self.scale.lo) * confidence_radii(self.stats[0], confidence)
        middle = self.scale.from_unit(self._means(unseen=0.0))
        ends: Weights = np.stack((middle - radius, middle + radius), axis=1)
        return np.clip(ends, self.scale.lo, self.scale.hi)

    def best(self) -> Items:
        """The best solution by the estimates; items never observed count as worst."""
        expected = self._expected()
        x = self._means(unseen=0.0) if expected is None else np.clip(expected, 0.0, 1.0)
        return solve(self.feasible, self.scale.for_oracle(x))

    @abstractmethod
    def _scores(self, round: int) -> Weights:
        """U_t on the policy's scale."""

    def _expected(self) -> Weights | None:
        """x of every item, if the policy has more to go by than the item's own observations."""
        return None

    def _means(self, unseen: float) -> Weights:
        """Of each item's observations, on the policy's scale."""
        counts, sums = self.stats[0], self.stats[1]
        return np.where(counts > 0.0, sums / np.maximum(counts, 1.0), unseen)

    def _in_units(self, x: Weights) -> Weights:
        weights: Weights = np.clip(self.scale.from_unit(x), self.scale.lo, self.scale.hi)
        return weights

    # Keeping

    @abstractmethod
    def learned(self) -> Learned:
        """All of it, to be saved."""

    def restore(self, learned: Learned, round: int, finite: bool) -> None:
        """Takes over what was known after that round, and refuses what no agent could have learned.

        `finite`: its statistics can be nothing else.
        """
        fill("stats", self.stats, learned.stats)
        counts, sums = self.stats[0], self.stats[1]
        if not ((counts >= 0.0) & (sums >= 0.0) & (sums <= counts * (1.0 + 1e-9)) & np.isfinite(counts)).all():
            raise BadArgument("counts and sums of weights contradict each other")
        if finite and not np.isfinite(self.stats).all():
            raise BadArgument("statistics must be finite")
        self.logged = learned.logged

    def reordered(self, state: list[NDArray[Any]], order: NDArray[np.int64]) -> list[NDArray[Any]] | None:
        """A state where the items have other numbers: `order` tells those they have in it."""
        return None

    def check_note(self, round: int, choice: Choice) -> None:
        """Refuses a note that the policy cannot have made for this choice."""
        found, expected = getattr(choice.note, "shape", None), self._note_shape(choice)
        if found != expected:
            raise BadArgument(f"the note of the decision of round {round} should have shape {expected}, got {found}")

    def _note_shape(self, choice: Choice) -> tuple[int, ...] | None:
        return None

    # The initialisation

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


def fill(name: str, array: NDArray[Any], values: NDArray[Any]) -> None:
    if values.shape != array.shape:
        raise BadArgument(f"{name} should have shape {array.shape}, got {values.shape}")
    array[...] = values
