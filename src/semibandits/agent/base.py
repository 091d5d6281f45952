"""The agent: a policy with what it has learned, between the user's units and its own."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.atomic import Step, take
from semibandits._util.checks import check_choice
from semibandits._util.item_bounds import spans_of
from semibandits.agent.choice import Choice, Request, Solving
from semibandits.agent.confidence import confidence_radii
from semibandits.agent.manner import in_its_manner, plainly
from semibandits.agent.scale import Scale
from semibandits.errors import BadArgument, UncoveredItems, Unsupported
from semibandits.kernel.warm import at_once
from semibandits.oracle import solve
from semibandits.sets.base import BuiltIn
from semibandits.types import FeasibleSet, Game, IndexPolicy, Init, Items, Policy, Weights

Uncovered = Literal["error", "ignore"]


class Setting(NamedTuple):
    """Where a policy is at work."""

    feasible: FeasibleSet
    scale: Scale
    seed: int
    run: int = 0
    horizon: int = 0
    """0: it is not known."""
    uncovered: Uncovered = "error"
    compiles: bool = True
    """Whether machine code is used, once plain code has taken long."""


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
        feasible, scale, seed, run, horizon, uncovered, self.compiles = setting
        if policy.needs_horizon and horizon == 0:
            raise BadArgument(
                f"{policy!r} needs to know the horizon, which a live learner does not{policy.instead_of_horizon}"
            )
        self.policy = policy
        self.feasible = feasible
        self.whole = Request(feasible)
        self.units = scale
        """That of the bounds, each item's own; `scale` is the policy's, which may be one for all."""
        self.scale = scale.common() if policy.common_scale else scale
        self.init: Init = check_choice("init", policy.init, Init) if feasible.signed else "optimistic"
        policy.check(feasible)
        self.game = Game(feasible.n_items, feasible.max_size, horizon, feasible.signed, self.scale.offset)
        self._uncovered = uncovered
        self._ignored = np.zeros(feasible.n_items, dtype=bool)
        self._checked = False
        self.initialised = self.init == "optimistic"
        self._policy_key = rng.stream_key(seed, run, rng.POLICY)
        self._feedback_key = rng.stream_key(seed, run, rng.FEEDBACK)
        self.logged = 0

    # Deciding

    def check_other(self, feasible: FeasibleSet) -> None:
        """Raises where the policy cannot choose from this other set of the same items for once."""
        self.policy.check(feasible)

    def choose(self, round: int, feasible: FeasibleSet | None = None) -> Choice:
        """The solution for this round, which is closed with it; from another set of the same items, if one is given."""
        choice = self.decide(round, self.whole if feasible is None else Request(feasible))
        take(self.closing(round))
        return choice

    def decide(self, round: int, request: Request) -> Choice:
        """The solution for this round; nothing is changed that anybody sees."""
        choice = self.prepared(round, request)() or self.prepared(round, request, initial=False)()
        assert choice is not None
        return choice

    def prepared(
        self, round: int, request: Request, pending: NDArray[np.int64] | None = None, initial: bool = True
    ) -> Solving:
        """A decision for this round as far as it depends on what was learned: the rest is left to be run.

        `pending` counts, for each item, the decisions whose feedback on it is outstanding. `initial=False`: Init has
        had its chance.
        """
        solving = self._begun(round, request, pending, initial)
        return solving if self.compiles else partial(plainly, solving)

    @in_its_manner
    def _begun(self, round: int, request: Request, pending: NDArray[np.int64] | None, initial: bool) -> Solving:
        if initial and not self.initialised and request.feasible.signed:  # else it cannot be asked for most items
            wanted = self._wanted(pending)
            if wanted is not None:
                return partial(self._choose_unseen, request, wanted)
        return self._prepared(round, request)

    def closing(self, round: int) -> list[Step]:
        """What is to be done once this round is decided."""
        return []

    @abstractmethod
    def _prepared(self, round: int, request: Request) -> Solving:
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

    @in_its_manner
    def learning(
        self, round: int, choice: Choice, weights: Weights, positions: NDArray[np.int64] | None = None
    ) -> list[Step]:
        """The steps of `learn`, worked out and not yet taken; `positions`: these are the weights of a part of it."""
        part = choice if positions is None else self._part(choice, positions)
        return self._learning(round, part, self.scale.to_unit(weights, part.items))

    @in_its_manner
    def learning_sum(self, round: int, choice: Choice, sum: float) -> list[Step]:
        """The steps of `learn_sum`."""
        return self._learning_sum(round, choice, self.scale.sum_to_unit(sum, choice.items.size))

    @in_its_manner
    def learning_logged(self, round: int, items: Items, weights: Weights) -> list[Step]:
        """The steps of `learn_logged`."""
        return self._learning_logged(round, items, self.scale.to_unit(weights, items))

    @in_its_manner
    def learning_totals(self, round: int, counts: Weights, sums: Weights, squares: Weights) -> list[Step]:
        """The steps that take in what was added up elsewhere: for every item number, sum and sum of squares of x.

        The x are those of the items' own bounds.
        """
        if self.scale is not self.units:
            sums, squares = self.units.totals_on(self.scale, counts, sums, squares)
        items = np.flatnonzero(counts)
        return self._learning_totals(round, items, counts[items], sums[items], squares[items]) if items.size else []

    def _cannot_take_totals(self) -> Unsupported:
        return Unsupported(
            f"{self.policy!r} must see every observation by itself: it cannot take in sums of many (observe_many)"
        )

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

    @abstractmethod
    def _learning_totals(
        self, round: int, items: Items, counts: Weights, sums: Weights, squares: Weights
    ) -> list[Step]: ...

    # What was learned

    @in_its_manner
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
        width = spans_of(self.units.bounds, self.feasible.n_items)
        radius = width * np.where(width > 0.0, confidence_radii(self.stats[0], confidence), 0.0)
        middle = self.scale.from_unit(self._means(unseen=0.0))
        return np.stack([np.clip(end, *self.units.bounds) for end in (middle - radius, middle + radius)], axis=1)

    def best(self) -> Callable[[], Items]:
        """The best solution by the estimates, which is left to the solver; items never observed count as worst."""
        expected = self._expected()
        x = self._means(unseen=0.0) if expected is None else np.clip(expected, 0.0, 1.0)
        weights = self.scale.for_oracle(x)
        if self.scale is not self.units:
            ends = [self.units.for_oracle(np.full(x.size, end)) for end in (0.0, 1.0)]
            weights = np.clip(weights, *ends)
        solving = partial(solve, self.feasible, weights)
        return solving if self.compiles else partial(plainly, solving)

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
        weights: Weights = np.clip(self.scale.from_unit(x), *self.units.bounds)
        return weights

    # Machine code

    def warming(self, round: int) -> Callable[[], tuple[str, ...]]:
        """What has everything compiled that this agent may use, on copies, and tells what is machine code then."""
        return partial(self._warm_up, list(self._warming(round)) if self.compiles else None)

    def _warm_up(self, calls: Iterable[Callable[[], object]] | None) -> tuple[str, ...]:
        if calls is None:
            return ()
        with at_once() as manner:
            for call in calls:
                call()
            if isinstance(self.feasible, BuiltIn):
                self.feasible.warm_up()
        return tuple(dict.fromkeys(manner.had))

    @abstractmethod
    def _warming(self, round: int) -> Iterable[Callable[[], object]]:
        """Calls of the policy's kernel functions, on copies, which change nothing."""

    # Keeping

    @abstractmethod
    def learned(self) -> Learned:
        """All of it, to be saved."""

    @in_its_manner
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

    @in_its_manner
    def init_plan(self, rounds: int) -> list[Items]:
        """The solutions that Init will choose in its rounds, at most so many, if every one is observed at once.

        They depend on the set alone. For an agent that has not begun: it is of no other use afterwards.
        """
        plan: list[Items] = []
        while len(plan) < rounds and not self.initialised:
            wanted = self._wanted(None)
            choice = None if wanted is None else self._choose_unseen(self.whole, wanted)
            if choice is None:
                break
            self.stats[0, choice.items] = 1.0
            plan.append(choice.items)
        return plan

    def _wanted(self, pending: NDArray[np.int64] | None) -> NDArray[np.bool_] | None:
        """The items that Init is to have observed, as truth values; None where there are none."""
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
        return wanted if wanted.any() else None

    def _choose_unseen(self, request: Request, wanted: NDArray[np.bool_]) -> Choice | None:
        """Init's choice: as many of these items as possible; None where none of them can be had."""
        items = request.solve(wanted.astype(np.float64))
        if wanted[items].any():
            return Choice(items, True)
        if request is self.whole:
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
