"""An index policy at work."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import setitem

import numpy as np

from semibandits import rng
from semibandits._util.atomic import Step, take
from semibandits._util.item_bounds import spans_of
from semibandits._util.ownership import up_to_date
from semibandits.agent.base import Agent, Learned, Setting, fill, in_layers
from semibandits.agent.choice import Choice, Request, Solving
from semibandits.agent.scores import Scores
from semibandits.errors import BadArgument, Unsupported
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
        # Where only a window counts: what was observed in each of its rounds.
        self.recent: dict[int, list[tuple[Items, Weights]]] = {}
        self.forgotten = -1
        """All rounds up to this one have left the window."""
        self._rows = tuple(self.stats)
        self._known = spans_of(self.scale.bounds, self.feasible.n_items) == 0.0
        self._score = Scores(policy, self.params, self.stats, self._known)
        self._item_numbers = np.arange(self.feasible.n_items, dtype=np.uint64)

    def _prepared(self, round: int, request: Request) -> Solving:
        scores = self._scores(round, request.feasible)
        return partial(_solved, request, self.scale.for_oracle(scores))

    def closing(self, round: int) -> list[Step]:
        """The round that leaves the window is forgotten."""
        return self._forgetting_until(round) if self.policy.window else []

    def _forgetting_until(self, round: int) -> list[Step]:
        """The rounds that a window up to this one does not cover are forgotten: one at a time, as a rule."""
        last = round - self.policy.window
        if last <= self.forgotten:
            return []
        steps: list[Step] = [(setattr, self, "forgotten", last)]
        old = self._beyond(round)
        if old:
            steps += self._writing(*self._without(old, round))
        return [*steps, *[(self.recent.pop, before) for before in old]]

    def _beyond(self, round: int) -> list[int]:
        """The rounds that a window up to this one does not cover, if anything was observed in them."""
        return sorted(old for old in self.recent if self.forgotten < old <= round - self.policy.window)

    def _without(self, old: list[int], latest: int) -> tuple[Items, Stats]:
        """The items that were observed in these rounds, and their statistics without that."""
        parts = [part for round in old for part in self.recent[round]]
        distinct = np.unique(np.concatenate([items for items, _ in parts]))
        stats = [row[distinct] for row in self._rows]
        for items, x in parts:
            at = np.searchsorted(distinct, items)
            after = self.policy.forget(tuple([row[at] for row in stats]), x, latest, self.params)
            for row, values in zip(stats, after, strict=True):
                row[at] = values
        return distinct, tuple(stats)

    def _scores(self, round: int, feasible: FeasibleSet | None = None) -> Weights:
        key, old = self._key(self._policy_key, round), self._beyond(round - 1) if self.policy.window else []
        scores = self._scores_without(old, round, key) if old else self._score(round, key)
        return scores if (feasible or self.feasible).signed else np.minimum(scores, 1.0)

    def _scores_without(self, old: list[int], round: int, key: int) -> Weights:
        """Where rounds before this one are still being decided, so that what they are to forget is there."""
        items, stats = self._without(old, round - 1)
        ahead = self.stats.copy()
        ahead[:, items] = stats
        scores = Scores(self.policy, self.params, ahead, self._known)
        scores.warm = self._score.warm
        return scores(round, key)

    def _warming(self, round: int) -> Iterable[Callable[[], object]]:
        if self._score.warm.compilable:
            scores = Scores(self.policy, self.params, self.stats.copy(), self._known)
            yield partial(self._take_over, scores, round)

    def _take_over(self, scores: Scores, round: int) -> None:
        scores(round, self._key(self._policy_key, round))
        self._score.warm = scores.warm

    def _learning(self, round: int, choice: Choice, x: Weights) -> list[Step]:
        if self.policy.window and round <= self.forgotten:
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

    def _learning_totals(
        self, round: int, items: Items, counts: Weights, sums: Weights, squares: Weights
    ) -> list[Step]:
        policy = self.policy
        if policy.window:
            raise Unsupported(f"{policy!r} forgets by rounds, and what was added up has none")
        if policy.observe_many is None or not up_to_date(policy, "observe_many", "observe"):
            raise self._cannot_take_totals()
        stats = tuple([row[items] for row in self._rows])
        return self._writing(items, policy.observe_many(stats, counts, sums, squares, round, self.params))

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
        if self.policy.window:
            take(self._forgetting_until(latest))

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


def _solved(request: Request, weights: Weights) -> Choice:
    return Choice(request.solve(weights), False)
