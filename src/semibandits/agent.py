"""A policy at work on a set: what the live learner and the simulation share, so that both decide alike."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits.errors import BadArgument, UncoveredItems, Unsupported
from semibandits.sets.base import solve
from semibandits.types import Bounds, FeasibleSet, Game, IndexPolicy, Items, Sense, Stats, Weights

Uncovered = Literal["error", "ignore"]


class Scale(NamedTuple):
    """Between the user's weights or costs and the policy's x in [0, 1], of which more is better."""

    lo: float
    hi: float
    sense: Sense

    @classmethod
    def of(cls, bounds: Bounds, sense: Sense) -> "Scale":
        return cls(*bounds, sense)

    def to_unit(self, weights: Weights) -> Weights:
        if self.sense == "min":
            return (self.hi - weights) / (self.hi - self.lo)
        return weights if self._is_unit else (weights - self.lo) / (self.hi - self.lo)

    def from_unit(self, x: Weights) -> Weights:
        """In the user's units: a score of a cost becomes an optimistic cost."""
        if self.sense == "min":
            return self.hi - (self.hi - self.lo) * x
        return x if self._is_unit else self.lo + (self.hi - self.lo) * x

    def for_oracle(self, x: Weights) -> Weights:
        """What the oracle maximises: weights, or costs negated.

        Not the same as maximising x: solutions of different sizes would then be compared by the wrong totals.
        """
        return -self.from_unit(x) if self.sense == "min" else self.from_unit(x)

    @property
    def _is_unit(self) -> bool:
        return self.lo == 0.0 and self.hi == 1.0


class IndexAgent:
    """An index policy with its statistics, one row per number in `Stats` and one column per item."""

    def __init__(
        self,
        feasible: FeasibleSet,
        policy: IndexPolicy,
        scale: Scale,
        *,
        seed: int,
        run: int = 0,
        horizon: int = 0,
        uncovered: Uncovered = "error",
    ) -> None:
        if not isinstance(policy, IndexPolicy):
            raise BadArgument(f"policy must be an IndexPolicy, got {policy!r:.200}")
        if policy.needs_horizon and horizon == 0:
            raise BadArgument(f"{policy!r} needs to know the horizon, which a live learner does not")
        if uncovered not in ("error", "ignore"):
            raise BadArgument(f"uncovered must be 'error' or 'ignore', got {uncovered!r}")
        self.feasible = feasible
        self.policy = policy
        self.scale = scale
        self.init = policy.init if feasible.signed else "optimistic"
        if self.init == "paper" and type(policy).forget is IndexPolicy.forget:
            raise Unsupported(f"{policy!r} has init='paper', which overwrites observations, but no forget()")
        self.params = policy.params(Game(feasible.n_items, feasible.max_size, horizon))
        self.stats = np.repeat(np.array(policy.prior, dtype=np.float64)[:, None], feasible.n_items, axis=1)
        # The newest observation that Init made of each item, and in which round (0: none).
        self.init_round = np.zeros(feasible.n_items, dtype=np.int64)
        self.init_x = np.zeros(feasible.n_items)
        self.logged = 0
        self._rows = tuple(self.stats)
        self._item_numbers = np.arange(feasible.n_items, dtype=np.uint64)
        self._uncovered = uncovered
        self._ignored = np.zeros(feasible.n_items, dtype=bool)
        self._checked = False
        self.initialised = self.init == "optimistic"
        self._policy_key = rng.stream_key(seed, run, rng.POLICY)
        self._feedback_key = rng.stream_key(seed, run, rng.FEEDBACK)

    def choose(
        self, round: int, pending: NDArray[np.int64] | None = None, exclude: Iterable[int] | None = None
    ) -> tuple[Items, bool]:
        """The solution for this round and whether it belongs to Init.

        `pending` counts, for each item, the decisions whose feedback on it is outstanding; `exclude` are items that
        cannot be had this time.
        """
        part = self.feasible if exclude is None else self.feasible.restrict(exclude=exclude)
        if not self.initialised:
            items = self._choose_unseen(part, pending)
            if items is not None:
                return items, True
        return solve(part, self.scale.for_oracle(self.scores(round))), False

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
            self._drop(wanted & known)
            wanted &= ~known
            self._checked = True
        if not wanted.any():
            return None
        items = solve(part, wanted.astype(np.float64))
        if wanted[items].any():
            return items
        if part is self.feasible:
            self._drop(wanted)
        return None

    def _drop(self, items: NDArray[np.bool_]) -> None:
        """Gives up observing items that no solution contains."""
        if self._uncovered == "error" and items.any():
            raise UncoveredItems(np.flatnonzero(items).tolist())
        self._ignored |= items

    def scores(self, round: int) -> Weights:
        """U_t on the policy's scale."""
        key = self._key(self._policy_key, round)
        clock = self.policy.clock(round, key, self.params)
        scores: Weights = self.policy.score(self._rows, clock, key, self._item_numbers, self.params)
        return scores if self.feasible.signed else np.minimum(scores, 1.0)

    def learn(self, round: int, items: Items, x: Weights, initial: bool) -> None:
        """Takes in the weights, scaled to [0, 1], of items chosen in that round (by Init or not)."""
        if initial and self.init == "paper":
            items, x = self._overwrite(round, items, x)
        self._observe(round, self._key(self._feedback_key, round), items, x)

    def learn_logged(self, round: int, items: Items, x: Weights) -> None:
        """Takes in observations made elsewhere; an item may occur any number of times."""
        order = np.argsort(items, kind="stable")
        items, x = items[order], x[order]
        first = np.flatnonzero(np.diff(items, prepend=-1))
        occurrence = np.arange(items.size) - np.repeat(first, np.diff(first, append=items.size))
        by_layer = np.argsort(occurrence, kind="stable")
        above = self._key(self._feedback_key, 0)
        for layer in np.split(by_layer, np.cumsum(np.bincount(occurrence))[:-1]):
            self.logged += 1
            self._observe(round, self._key(above, self.logged), items[layer], x[layer])

    def _key(self, above: int, number: int) -> int:
        return int(rng.below(above, number)) if self.policy.random else 0

    def _observe(self, round: int, key: int, items: Items, x: Weights) -> None:
        numbers = self._item_numbers[items]
        self._write(items, self.policy.observe(self._read(items), x, round, key, numbers, self.params))

    def _read(self, items: Items) -> Stats:
        return tuple([row[items] for row in self._rows])

    def _write(self, items: Items, stats: Stats) -> None:
        for row, values in zip(self._rows, stats, strict=True):
            row[items] = values

    def _overwrite(self, round: int, items: Items, x: Weights) -> tuple[Items, Weights]:
        """Algorithm 2's ŵ(e) ← w_t(e): of Init's observations of an item only that of the latest round stays."""
        newer = self.init_round[items] < round
        if not newer.all():
            items, x = items[newer], x[newer]
        again = items[self.init_round[items] > 0]
        if again.size:
            self._write(again, self.policy.forget(self._read(again), self.init_x[again], round, self.params))
        self.init_round[items] = round
        self.init_x[items] = x
        return items, x
