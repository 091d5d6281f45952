"""Another feasible set in every round."""

from collections.abc import Iterable
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from semibandits import rng
from semibandits._util.checks import check_choice, check_vector
from semibandits.errors import BadArgument, Unsupported
from semibandits.problem import check_same_items
from semibandits.types import Environment, FeasibleSet, Items, Scalar, Weights, bounds_in, means_in

Order = Literal["drawn", "in turn"]
BRANCH = 0x5E75
"""Of the round's key: that of its set, from which no weight is drawn."""


class Requests(Environment):
    """A world of which every round asks for a solution from a set of its own: one of `sets`, all of the same items.

    The weights are those of another `environment`, number for number. With `order="drawn"` each set comes with its
    chance, by default all with the same; with "in turn" one after the other, from the first again after the last.
    `feasible(round, key)` tells the set of a round. The set of a `Problem` is where policies begin, from which they
    know the items and the size of the largest solution.

    >>> import semibandits as sb
    >>> slates = [sb.sets.TopK(4, 1), sb.sets.TopK(4, 3)]
    >>> world = Requests(sb.environments.Bernoulli([0.9, 0.8, 0.5, 0.1]), slates, order="in turn")
    >>> world.feasible(1, key=0), world.feasible(2, key=0)
    (TopK(4, 1), TopK(4, 3))
    """

    drifts = True
    says_sets = True

    def __init__(
        self,
        environment: Environment,
        sets: Iterable[FeasibleSet],
        *,
        chances: ArrayLike | None = None,
        order: Order = "drawn",
    ) -> None:
        if not isinstance(environment, Environment):
            raise BadArgument(f"environment must be an Environment, got {environment!r:.200}")
        if environment.says_sets:
            raise BadArgument(f"environment must be one that says no sets itself, got {environment!r:.200}")
        self.environment = environment
        self.blocks = (environment,)
        self.n_items, self.bounds = environment.n_items, bounds_in(environment)
        self.labels, self.last_round = environment.labels, environment.last_round
        self.independent, self.batched = environment.independent, environment.batched
        self.sets = _read_sets(sets, self.n_items)
        self.order: Order = check_choice("order", order, Order)
        if chances is not None and self.order == "in turn":
            raise BadArgument("chances are for order='drawn': in turn every set comes as often as the others")
        self.chances = _read_chances(chances, len(self.sets))
        self._ends = np.cumsum(self.chances)

    def feasible(self, round: int, key: Scalar) -> FeasibleSet:
        if self.order == "in turn":
            return self.sets[(int(round) - 1) % len(self.sets)]
        u = float(rng.uniform(int(rng.below(int(key), BRANCH)), 0))
        return self.sets[int(np.searchsorted(self._ends, u * self._ends[-1], side="right"))]

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        return self.environment.weights(round, key, items)

    def means(self, round: int) -> Weights:  # type: ignore[override]
        """The means of the weights of this round."""
        return means_in(self.environment, round)

    def at(self, round: int) -> NoReturn:
        raise Unsupported(
            f"the set of a round of {self!r} is another one in every run: take that of feasible(round, key), and a "
            "Problem of it and the environment that is in this one"
        )

    def __repr__(self) -> str:
        kinds = ", ".join(f"{one!r:.60}" for one in self.sets[:2]) + (", ..." if len(self.sets) > 2 else "")
        return f"Requests({self.environment!r}, {len(self.sets)} sets {self.order}: {kinds})"


def _read_sets(given: Any, n_items: int) -> tuple[FeasibleSet, ...]:
    sets = tuple(given) if isinstance(given, Iterable) else ()
    if not sets or not all(isinstance(one, FeasibleSet) for one in sets):
        raise BadArgument(f"sets must be a list of feasible sets, at least one, got {given!r:.200}")
    for number, one in enumerate(sets):
        if one.n_items != n_items:
            raise BadArgument(f"set {number} must have the {n_items} items of the environment, got {one!r:.200}")
    for known in (lambda one: one.labels, lambda one: one.identities):
        first = next(filter(known, sets), sets[0])
        for one in sets:
            check_same_items(one, first)
    return sets


def _read_chances(given: ArrayLike | None, count: int) -> Weights:
    chances = np.full(count, 1.0 / count) if given is None else check_vector("chances", given)
    if chances.size != count or (chances <= 0.0).any() or abs(chances.sum() - 1.0) > 1e-9:
        raise BadArgument(f"chances must be {count} numbers > 0 that sum to 1, one per set, got {given!r:.200}")
    chances.setflags(write=False)
    return chances
