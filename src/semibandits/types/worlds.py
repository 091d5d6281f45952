"""One run of an environment, to play in by hand."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from semibandits._util.arrays import Items, Weights
from semibandits._util.checks import check_count, check_items, is_number
from semibandits._util.item_bounds import with_rounding
from semibandits._util.ownership import ours
from semibandits._util.showing import above
from semibandits._util.suggestions import Suggests
from semibandits.errors import BadArgument, EndOfTable, UnknownItem
from semibandits.types.environments import Environment, bounds_in, checked_numbers
from semibandits.types.sets import FeasibleSet
from semibandits.types.words import Decision

MOST = 10**12
"""Runs, and rounds."""


class World(Suggests):
    """What happens in one run: the weights of every round, as a simulation with this seed draws them.

    Made by `environment.world(seed)` or `problem.world(seed)`. Weights depend on the round alone: they may be asked for
    in any order, and again, and two learners in one world meet the same.

    >>> import semibandits as sb
    >>> learner = sb.Learner(sb.sets.TopK(4, 2), seed=7)
    >>> visitors = sb.environments.Bernoulli([0.9, 0.8, 0.5, 0.1]).world(seed=7)
    >>> decision = learner.ask()
    >>> visitors.weights(decision)
    array([1., 0.])
    >>> learner.tell(decision, visitors.weights(decision))
    2
    """

    def __init__(
        self, environment: Environment, seed: int | None = None, run: int = 0, *, names: Sequence[Sequence[str]] = ()
    ) -> None:
        self.environment = environment
        self.seed: int = above("rng").check_seed(seed)
        if isinstance(run, bool) or not isinstance(run, int | np.integer) or not 0 <= run < MOST:
            raise BadArgument(f"run must be a whole number from 0 to {MOST - 1:,}, got {run!r:.100}")
        self.run = int(run)
        self._names = [one for one in (environment.labels, *names) if one]
        self._known = {name for one in self._names for name in one}

    def weights(self, when: Decision | int, items: Iterable[int] | None = None) -> Weights:
        """The weights of a decision's items, in their order; or, of a round, those of `items`, by default of all."""
        if not isinstance(when, Decision):
            return self._drawn(self._round(when), None if items is None else self._in_order(items))
        if items is not None:
            raise BadArgument("a decision has its items: give the decision alone, or its round and items")
        check_items(when.items, self.environment.n_items)
        for item, label in zip(when.items, when.labels, strict=False):
            if (self.environment.labels or label in self._known) and all(names[item] != label for names in self._names):
                raise UnknownItem(
                    f"item {item} is {self._names[0][item]!r:.100} in {self.environment!r}, and "
                    f"{label!r:.100} in the decision: are these other items, or the same in another order? If they are "
                    "the same, give the decision's round and items"
                )
        return self._drawn(when.round, when.items)

    def feasible(self, round: int) -> FeasibleSet | None:
        """The set that this round asks to choose from, where the environment says one (`Requests`); otherwise None."""
        round = self._round(round)
        return self.environment.feasible(round, self._key(round))

    def _drawn(self, round: int, items: Items | None) -> Weights:
        last = self.environment.last_round
        if last is not None and round > last:
            raise EndOfTable(f"round {round} was asked of {self.environment!r}, which ends with round {last}")
        drawn = self.environment.weights(round, self._key(round), items)
        if not ours(self.environment):
            asked = np.arange(self.environment.n_items) if items is None else items
            checked_numbers(self.environment, "weighs", drawn, asked, with_rounding(bounds_in(self.environment)))
        return np.array(drawn, dtype=np.float64)

    def _in_order(self, items: Iterable[int]) -> Items:
        if isinstance(items, Set | Mapping):
            raise BadArgument(f"weights come in the order of the items, and this has none: {items!r:.200}")
        listed = items if isinstance(items, np.ndarray) else list(items) if isinstance(items, Iterable) else items
        check_items(listed, self.environment.n_items)
        return np.array(listed, dtype=np.int64)

    def _key(self, round: int) -> int:
        rng = above("rng")
        key: int = rng.key(self.seed, self.run, round, rng.WORLD)
        return key

    def _round(self, given: Any) -> int:
        if not is_number(given):
            raise BadArgument(f"expected a decision, or the number of a round, got {given!r:.200}")
        return check_count("round", given, BadArgument, MOST)

    def __repr__(self) -> str:
        run = f", run={self.run}" if self.run else ""
        return f"World({self.environment!r}, seed={self.seed}{run})"
