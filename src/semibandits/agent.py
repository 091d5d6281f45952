"""A policy at work on a set: what the live learner and the simulation share, so that both decide alike."""

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits.errors import BadArgument, UncoveredItems, Unsupported
from semibandits.scoring import Scores
from semibandits.sets.base import solve
from semibandits.types import (
    Bounds,
    FeasibleSet,
    Game,
    IndexPolicy,
    Init,
    Items,
    Scalar,
    Sense,
    Stats,
    Weights,
    check_choice,
)

Uncovered = Literal["error", "ignore"]


def _same(x: Scalar, lo: float, hi: float) -> Scalar:
    return x


def _x_of_weight(w: Scalar, lo: float, hi: float) -> Scalar:
    return (w - lo) / (hi - lo)


def _weight_of_x(x: Scalar, lo: float, hi: float) -> Scalar:
    return lo + (hi - lo) * x


def _x_of_cost(w: Scalar, lo: float, hi: float) -> Scalar:
    return (hi - w) / (hi - lo)


def _cost_of_x(x: Scalar, lo: float, hi: float) -> Scalar:
    return hi - (hi - lo) * x


def _negated_cost_of_x(x: Scalar, lo: float, hi: float) -> Scalar:
    return -(hi - (hi - lo) * x)


class Scale(NamedTuple):
    """Between the user's weights or costs and the policy's x in [0, 1], of which more is better.

    What the oracle maximises is weights, or costs negated. This is not the same as maximising x: solutions of different
    sizes would then be compared by the wrong totals.
    """

    lo: float
    hi: float
    x_of_weight: Callable[[Scalar, float, float], Scalar]
    weight_of_x: Callable[[Scalar, float, float], Scalar]
    oracle_of_x: Callable[[Scalar, float, float], Scalar]

    @classmethod
    def of(cls, bounds: Bounds, sense: Sense) -> "Scale":
        if sense == "min":
            return cls(*bounds, _x_of_cost, _cost_of_x, _negated_cost_of_x)
        if bounds == (0.0, 1.0):
            return cls(*bounds, _same, _same, _same)
        return cls(*bounds, _x_of_weight, _weight_of_x, _weight_of_x)

    def to_unit(self, weights: Weights) -> Weights:
        x: Weights = self.x_of_weight(weights, self.lo, self.hi)
        return x

    def from_unit(self, x: Weights) -> Weights:
        """In the user's units: a score of a cost becomes an optimistic cost."""
        weights: Weights = self.weight_of_x(x, self.lo, self.hi)
        return weights

    def for_oracle(self, x: Weights) -> Weights:
        weights: Weights = self.oracle_of_x(x, self.lo, self.hi)
        return weights


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
        given: Any = policy
        if not isinstance(given, IndexPolicy):
            hint = ": an instance, such as CTS(), is wanted, not the class" if isinstance(given, type) else ""
            raise BadArgument(f"policy must be an IndexPolicy, got {policy!r:.200}{hint}")
        if policy.needs_horizon and horizon == 0:
            raise BadArgument(
                f"{policy!r} needs to know the horizon, which a live learner does not{policy.instead_of_horizon}"
            )
        self.feasible = feasible
        self.policy = policy
        self.scale = scale
        self.init: Init = check_choice("init", policy.init, Init) if feasible.signed else "optimistic"
        policy.check(feasible)
        forgets = type(policy).forget is not IndexPolicy.forget
        if self.init == "paper" and not forgets:
            raise Unsupported(f"{policy!r} has init='paper', which overwrites observations, but no forget()")
        if policy.window and not (forgets and self.init == "optimistic"):
            raise Unsupported(f"{policy!r} has a window: it needs init='optimistic' and a forget()")
        self.params = policy.params(Game(feasible.n_items, feasible.max_size, horizon, feasible.signed))
        self.stats = np.repeat(np.array(policy.prior, dtype=np.float64)[:, None], feasible.n_items, axis=1)
        # The newest observation that Init made of each item, and in which round (0: none).
        self.init_round = np.zeros(feasible.n_items, dtype=np.int64)
        self.init_x = np.zeros(feasible.n_items)
        self.logged = 0
        # Where only a window counts: what was observed in each of its rounds, and the latest round decided.
        self.recent: dict[int, list[tuple[Items, Weights]]] = {}
        self.latest = 0
        self._rows = tuple(self.stats)
        self._score = Scores(policy, self.params, self.stats)
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
        items = solve(part, self.scale.for_oracle(self.scores(round)))
        self._close(round)
        return items, False

    def _close(self, round: int) -> None:
        """Once this round is decided, the one that leaves the window is forgotten."""
        self.latest = round
        self._forget(round - self.policy.window)

    def _forget(self, old: int) -> None:
        for items, x in self.recent.pop(old, ()):
            before = tuple([row[items] for row in self._rows])
            self._write(items, before, self.policy.forget(before, x, self.latest, self.params))

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

    def scores(self, round: int) -> Weights:
        """U_t on the policy's scale."""
        scores = self._score(round, self._key(self._policy_key, round))
        return scores if self.feasible.signed else np.minimum(scores, 1.0)

    def learn(self, round: int, items: Items, x: Weights, initial: bool) -> None:
        """Takes in the weights, scaled to [0, 1], of items chosen in that round (by Init or not)."""
        if self.policy.window and round <= self.latest - self.policy.window:
            return  # that round has left the window
        overwrites = initial and self.init == "paper"
        if overwrites:  # of Init's observations of an item only that of the latest round stays
            newer = self.init_round[items] < round
            items, x = items[newer], x[newer]
        before = tuple([row[items] for row in self._rows])
        stats = self._without_older(round, items, before) if overwrites else before
        key = self._key(self._feedback_key, round)
        self._write(items, before, self.policy.observe(stats, x, round, key, self._item_numbers[items], self.params))
        if overwrites:
            self.init_round[items] = round
            self.init_x[items] = x
        self._remember(round, items, x)

    def _remember(self, round: int, items: Items, x: Weights) -> None:
        if self.policy.window:
            self.recent.setdefault(round, []).append((items.copy(), x.copy()))

    def _without_older(self, round: int, items: Items, stats: Stats) -> Stats:
        """Algorithm 2's ŵ(e) ← w_t(e): what Init observed of these items before is taken back."""
        again = self.init_round[items] > 0
        if not again.any():
            return stats
        older = self.init_x[items[again]]
        taken_back = self.policy.forget(tuple([row[again] for row in stats]), older, round, self.params)
        without = tuple([row.copy() for row in stats])
        for row, values in zip(without, taken_back, strict=True):
            row[again] = values
        return without

    def learn_logged(self, round: int, items: Items, x: Weights) -> None:
        """Takes in observations made elsewhere; an item may occur any number of times."""
        distinct, which = np.unique(items, return_inverse=True)
        order = np.argsort(which, kind="stable")
        counts = np.bincount(which)
        occurrence = np.empty(items.size, dtype=np.int64)  # 0 for an item's first observation, 1 for its second, ...
        occurrence[order] = np.arange(items.size) - np.repeat(np.cumsum(counts) - counts, counts)
        before = tuple([row[distinct] for row in self._rows])
        stats = tuple([row.copy() for row in before])
        above = self._key(self._feedback_key, 0)
        layers = np.split(np.argsort(occurrence, kind="stable"), np.cumsum(np.bincount(occurrence))[:-1])
        for number, layer in enumerate(layers, start=self.logged + 1):
            at = which[layer]
            key = self._key(above, number)
            numbers = self._item_numbers[distinct[at]]
            after = self.policy.observe(tuple([row[at] for row in stats]), x[layer], round, key, numbers, self.params)
            for row, values in zip(stats, after, strict=True):
                row[at] = values
        self._write(distinct, before, stats)
        for layer in layers:
            self._remember(round, items[layer], x[layer])
        self.logged += len(layers)

    def restore_window(self, latest: int, observed: Iterable[tuple[int, Items, Weights]]) -> None:
        """Takes over the observations that the statistics are made of; those beyond today's window are forgotten."""
        self.latest = latest
        for round, items, x in observed:
            self._remember(round, items, x)
        parts = [part for parts in self.recent.values() for part in parts]
        items = np.concatenate([items for items, _ in parts] or [np.empty(0, dtype=np.int64)])
        counts = np.bincount(items, minlength=self.feasible.n_items)
        sums = np.bincount(items, np.concatenate([x for _, x in parts] or [np.empty(0)]), self.feasible.n_items)
        rounding = 1e-6 + 1e-9 * self.policy.window  # of sums that went up and down for very long
        same = np.array_equal(counts, self.stats[0]) and np.allclose(sums, self.stats[1], rtol=0.0, atol=rounding)
        if self.policy.window and not same:
            raise BadArgument("the observations of the window and the statistics contradict each other")
        for old in sorted(round for round in self.recent if round <= latest - self.policy.window):
            self._forget(old)

    def _key(self, above: int, number: int) -> int:
        return int(rng.below(above, number)) if self.policy.random else 0

    def _write(self, items: Items, before: Stats, after: Stats) -> None:
        """All of it or nothing."""
        try:
            for row, values in zip(self._rows, after, strict=True):
                row[items] = values
        except BaseException:
            for row, values in zip(self._rows, before, strict=True):
                row[items] = values
            raise
