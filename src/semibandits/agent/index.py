"""An index policy at work."""

from collections.abc import Sequence
from operator import setitem

import numpy as np

from semibandits import rng
from semibandits._util.atomic import Step, take
from semibandits.agent.base import Agent, Choice, Learned, Setting, fill, in_layers
from semibandits.agent.scores import Scores
from semibandits.errors import BadArgument, Unsupported
from semibandits.oracle import solve
from semibandits.types import FeasibleSet, IndexPolicy, Items, Stats, Weights

FLOAT = np.dtype(np.float64)


class IndexAgent(Agent):
    """An index policy with its statistics, one row per number in `Stats` and one column per item."""

    policy: IndexPolicy

    def __init__(self, policy: IndexPolicy, setting: Setting) -> None:
        super().__init__(policy, setting)
        forgets = type(policy).forget is not IndexPolicy.forget
        if (type(policy).share is None) != (type(policy).pooled is IndexPolicy.pooled):
            raise Unsupported(f"{policy!r} needs both share() and pooled(), or neither")
        if self.init == "paper" and not forgets:
            raise Unsupported(f"{policy!r} has init='paper', which overwrites observations, but no forget()")
        if policy.window and not (forgets and self.init == "optimistic"):
            raise Unsupported(f"{policy!r} has a window: it needs init='optimistic' and a forget()")
        self.params = policy.params(self.game)
        self.stats = np.repeat(np.array(policy.prior, dtype=np.float64)[:, None], self.feasible.n_items, axis=1)
        # The newest observation that Init made of each item, and in which round (0: none).
        self.init_round = np.zeros(self.feasible.n_items, dtype=np.int64)
        self.init_x = np.zeros(self.feasible.n_items)
        # Where only a window counts: what was observed in each of its rounds, and the latest round decided.
        self.recent: dict[int, list[tuple[Items, Weights]]] = {}
        self.latest = 0
        self._rows = tuple(self.stats)
        self._score = Scores(policy, self.params, self.stats)
        self._item_numbers = np.arange(self.feasible.n_items, dtype=np.uint64)

    def _decide(self, part: FeasibleSet, round: int) -> Choice:
        return Choice(solve(part, self.scale.for_oracle(self._scores(round))), False)

    def closing(self, round: int) -> list[Step]:
        """The round that leaves the window is forgotten."""
        if not self.policy.window:
            return []
        return [(setattr, self, "latest", round), *self._forgetting(round - self.policy.window, round)]

    def _forgetting(self, old: int, latest: int) -> list[Step]:
        parts = self.recent.get(old)
        if parts is None:
            return []
        distinct = np.unique(np.concatenate([items for items, _ in parts]))
        stats = [row[distinct] for row in self._rows]
        for items, x in parts:
            at = np.searchsorted(distinct, items)
            after = self.policy.forget(tuple([row[at] for row in stats]), x, latest, self.params)
            for row, values in zip(stats, after, strict=True):
                row[at] = values
        return [*self._writing(distinct, tuple(stats)), (self.recent.pop, old)]

    def _scores(self, round: int) -> Weights:
        scores = self._score(round, self._key(self._policy_key, round))
        return scores if self.feasible.signed else np.minimum(scores, 1.0)

    def _learning(self, round: int, choice: Choice, x: Weights) -> list[Step]:
        if self.policy.window and round <= self.latest - self.policy.window:
            return []  # that round has left the window
        items = choice.items
        overwrites = choice.initial and self.init == "paper"
        if overwrites:  # of Init's observations of an item only that of the latest round stays
            newer = self.init_round[items] < round
            items, x = items[newer], x[newer]
        stats = tuple([row[items] for row in self._rows])
        if overwrites:
            stats = self._without_older(round, items, stats)
        key = self._key(self._feedback_key, round)
        after = self.policy.observe(stats, x, round, key, self._item_numbers[items], self.params)
        steps = self._writing(items, after)
        if overwrites:
            steps += [(setitem, self.init_round, items, round), (setitem, self.init_x, items, x)]
        if self.policy.window:
            steps += self._remembering(round, [(items, x)])
        return steps

    def _remembering(self, round: int, parts: list[tuple[Items, Weights]]) -> list[Step]:
        parts = [(items.copy(), x.copy()) for items, x in parts]
        known = self.recent.get(round)
        return [(setitem, self.recent, round, parts) if known is None else (known.extend, parts)]

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

    def _learning_sum(self, round: int, choice: Choice, x: float) -> list[Step]:
        raise Unsupported(f"{self.policy!r} must see the weight of every chosen item, not their sum")

    def _learning_logged(self, round: int, items: Items, x: Weights) -> list[Step]:
        distinct, which = np.unique(items, return_inverse=True)
        stats = tuple([row[distinct] for row in self._rows])
        above = self._key(self._feedback_key, 0)
        layers = in_layers(items)
        for number, layer in enumerate(layers, start=self.logged + 1):
            at = which[layer]
            key = self._key(above, number)
            numbers = self._item_numbers[distinct[at]]
            after = self.policy.observe(tuple([row[at] for row in stats]), x[layer], round, key, numbers, self.params)
            for row, values in zip(stats, after, strict=True):
                row[at] = values
        steps = self._writing(distinct, stats)
        if self.policy.window:
            steps += self._remembering(round, [(items[layer], x[layer]) for layer in layers])
        return [*steps, (setattr, self, "logged", self.logged + len(layers))]

    def learned(self) -> Learned:
        recent = [(round, items, x) for round, parts in self.recent.items() for items, x in parts]
        return Learned(self.stats, self.logged, self.init_round, self.init_x, recent)

    def restore(self, learned: Learned, round: int, finite: bool) -> None:
        super().restore(learned, round, finite)
        fill("init_round", self.init_round, learned.init_round)
        fill("init_x", self.init_x, learned.init_x)
        if self.init_round.max() > round or self.init_x.min() < 0.0 or self.init_x.max() > 1.0:
            raise BadArgument("observations of the initialisation are out of range")
        self._restore_window(round, learned.recent)

    def _restore_window(self, latest: int, observed: Sequence[tuple[int, Items, Weights]]) -> None:
        """Takes over the observations that the statistics are made of; those beyond today's window are forgotten."""
        self.latest = latest
        for round, items, x in observed if self.policy.window else ():
            take(self._remembering(round, [(items, x)]))
        parts = [part for parts in self.recent.values() for part in parts]
        items = np.concatenate([items for items, _ in parts] or [np.empty(0, dtype=np.int64)])
        counts = np.bincount(items, minlength=self.feasible.n_items)
        sums = np.bincount(items, np.concatenate([x for _, x in parts] or [np.empty(0)]), self.feasible.n_items)
        rounding = 1e-6 + 1e-9 * self.policy.window  # of sums that went up and down for very long
        same = np.array_equal(counts, self.stats[0]) and np.allclose(sums, self.stats[1], rtol=0.0, atol=rounding)
        if self.policy.window and not observed and self.stats[0].any():
            raise BadArgument("what was learned without a window cannot be put into one: no round is kept with it")
        if self.policy.window and not same:
            raise BadArgument("the observations of the window and the statistics contradict each other")
        for old in sorted(round for round in self.recent if round <= latest - self.policy.window):
            take(self._forgetting(old, latest))

    def _key(self, above: int, number: int) -> int:
        return int(rng.below(above, number)) if self.policy.random else 0

    def _writing(self, items: Items, after: Stats) -> list[Step]:
        """These statistics of these items take the place of the old ones."""
        steps: list[Step] = []
        for row, values in zip(self._rows, after, strict=True):
            if type(values) is np.ndarray and values.shape == items.shape and values.dtype is FLOAT:
                steps.append((setitem, row, items, values))
            else:  # it may not fit, which must not show later
                numbers = np.empty(items.size)
                numbers[:] = values
                steps.append((setitem, row, items, numbers))
        return steps
