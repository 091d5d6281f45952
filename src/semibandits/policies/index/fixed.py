"""The baseline that always chooses the same."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from semibandits.errors import BadArgument, InfeasibleSolution
from semibandits.policies.index.counted import Counted
from semibandits.types import Clock, FeasibleSet, Game, Params, Scalar, Stats

WANTED = 1e12
"""The score of the items to choose, on a scale where weights are from 0 to 1; of the others it is minus that.

So large that it outweighs bounds far from 0, up to 1e12 times their width."""


@dataclass(frozen=True)
class Fixed(Counted):
    """Chooses the solution `items` in every round: what is done today, for instance.

    The oracle is handed scores that make it the best by far; where not all of it is available, it chooses what comes
    nearest.

    >>> import semibandits as sb
    >>> sb.Learner(sb.sets.TopK(5, 2), Fixed([1, 3])).ask().items
    array([1, 3])
    """

    needs = "a solution"
    guarantee = "none"
    use = "a baseline: what is done today"
    formula = "what makes the oracle answer `items`"

    common_scale: ClassVar[bool] = True
    items: Iterable[int]

    def __post_init__(self) -> None:
        try:
            numbers = np.asarray(list(self.items))
        except (TypeError, ValueError) as error:
            raise BadArgument(f"items must be item numbers, got {self.items!r:.100}") from error
        if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu") or (numbers < 0).any():
            raise BadArgument(f"items must be item numbers, got {self.items!r:.100}")
        ordered = tuple(sorted(numbers.tolist()))
        if len(set(ordered)) < len(ordered):
            raise BadArgument(f"items must not repeat, got {self.items!r:.100}")
        object.__setattr__(self, "items", ordered)

    def check(self, feasible: FeasibleSet) -> None:
        if not feasible.contains(self.items):
            raise InfeasibleSolution(f"{list(self.items)!r:.200} is not a solution of {feasible!r:.200}")

    def params(self, game: Game) -> Params:
        scores = np.full(game.n_items, -WANTED)
        scores[list(self.items)] = WANTED
        return (scores,)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return p[0][item]
