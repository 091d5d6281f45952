"""The contract of an environment."""

from abc import ABC
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semibandits._util.arrays import Arrays, Bounds, Items, Scalar, Weights
from semibandits._util.checks import check_bounds
from semibandits._util.forks import cached_property
from semibandits._util.item_bounds import bounds_of, pair_of
from semibandits._util.ownership import ours
from semibandits._util.showing import Shown
from semibandits.errors import BadWeights, Unsupported
from semibandits.types.sets import FeasibleSet

if TYPE_CHECKING:
    from semibandits.types.worlds import World

DrawFunction: TypeAlias = Callable[[int, Scalar, Scalar, Arrays], Scalar]


class Environment(Shown, ABC):
    """A distribution P of the items' weights.

    The weights of a round are a pure function of the round's `key` (see `semibandits.rng`), so that only the items
    that were chosen need to be drawn, and every policy plays in the same world.

    A subclass sets `n_items`, `bounds` and `means` and writes either a static function

        draw(round, key, item, tables) -> weight

    of one item, made like a policy's functions (it may read `tables`, a tuple of arrays, at the item), which then
    serves everything, compiled too; or `weights`, any Python code.

    Where the means change from round to round, it sets `drifts`, `means` is a method, `means(round)`, and a static
    function `mean(round, item, tables)` beside `draw` serves the compiler.

    Where every round has a feasible set of its own, it sets `says_sets` and `drifts`, and writes `feasible` and
    `means(round)`.
    """

    n_items: int
    bounds: Bounds
    means: Weights
    independent: bool = False
    """Whether the items' weights are known to be independent of each other."""
    drifts: bool = False
    """True: the means change from round to round, and `means(round)` is a method."""
    says_sets: bool = False
    """True: `feasible` tells from which set a round's solution is chosen. What is best then changes: so it `drifts`."""
    sets: tuple[FeasibleSet, ...] = ()
    """All sets that `feasible` may return, where they are known: they are looked at before the first round."""
    hindsight: bool = False
    """True: a sequence by no law, recorded or an adversary's. Regret is against the best solution in hindsight."""
    batched: bool = False
    """True: `weights` also takes a column of keys, shape (rounds, 1), and returns one row of weights per key."""
    tables: Arrays = ()
    labels: tuple[str, ...] = ()
    """The items' names, where it was made of data that has any: they must be the set's."""
    last_round: int | None = None
    """The last round that can be drawn; None: there is none."""

    def __init_subclass__(cls) -> None:
        """What a class above says of its own functions does not hold for others in their place."""
        super().__init_subclass__()
        if "draw" in vars(cls) and "drawing" not in vars(cls):
            cls.drawing = Environment.drawing  # type: ignore[method-assign]
        if not {"draw", "drawing", "weights"}.isdisjoint(vars(cls)) and "batched" not in vars(cls):
            cls.batched = False

    def drawing(self) -> DrawFunction | None:
        """The function that draws one item; None where there is but `weights`."""
        return getattr(self, "draw", None)

    def weights(self, round: int, key: Scalar, items: Items | None = None) -> Weights:
        """The weights of `items` (None: of all) in that round."""
        draw = self.drawing()
        if draw is None:
            raise Unsupported(f"{type(self).__name__} must define draw() or weights()")
        chosen = self._numbers if items is None else items
        drawn: Weights = draw(round, key, chosen, self.tables)
        if np.shape(drawn)[-1:] != chosen.shape:
            raise BadWeights(
                f"draw() must work on arrays of items (where() instead of if): of {chosen.size} it made {drawn!r:.100}"
            )
        return drawn

    def feasible(self, round: int, key: Scalar) -> FeasibleSet | None:
        """The set from which this round's solution is chosen, with the items of the problem's; None: the problem's own.

        As the weights, it is a pure function of the round and its key.
        """
        return None

    def at(self, round: int) -> "Environment":
        """The world that is in every round as this one is in `round`: itself, unless it drifts."""
        if self.drifts:
            raise Unsupported(f"{type(self).__name__} drifts, so that it must define at(round)")
        return self

    def world(self, seed: int | None = None, run: int = 0) -> "World":
        """One run of it, to play in by hand: that of a simulation with this seed. None draws a seed."""
        from semibandits.types.worlds import World

        return World(self, seed, run)

    @cached_property
    def _numbers(self) -> Items:
        return np.arange(self.n_items)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_items} items)"


def bounds_in(environment: Environment) -> Bounds:
    """The bounds of the weights: those of each item as arrays, also where a user's class has lists."""
    bounds = environment.bounds
    if ours(environment) or not any(np.ndim(side) > 0 for side in bounds):
        return bounds
    return check_bounds(bounds, environment.n_items, environment.labels)


def means_in(environment: Environment, round: int) -> Weights:
    """The means of the weights of this round, also where they drift."""
    means: Any = environment.means
    return means(round) if environment.drifts else means  # type: ignore[no-any-return]


def checked_numbers(environment: Environment, what: str, numbers: Any, items: Items, limits: Bounds) -> Weights:
    """One number for each of these items, as an environment of a user's own gives them, within the limits."""
    lowest, highest = bounds_of(limits, items)
    if np.shape(numbers) != items.shape or np.asarray(numbers).dtype.kind not in "fiu":
        raise BadWeights(f"{environment!r} must give {items.size} numbers, one per item, got {numbers!r:.200}")
    fine = (numbers >= lowest) & (numbers <= highest)
    if not fine.all():
        at = int(np.argmin(fine))
        raise BadWeights(
            f"item {items[at]} {what} {numbers[at]} in {environment!r}, not in its bounds "
            f"{pair_of(bounds_in(environment), items[at])}"
        )
    return numbers  # type: ignore[no-any-return]
