"""The baseline that chooses at random."""

from dataclasses import dataclass
from typing import ClassVar

from semibandits.policies.index.counted import Counted
from semibandits.rng import uniform
from semibandits.types import Clock, Params, Scalar, Stats


@dataclass(frozen=True)
class Random(Counted):
    """Chooses the best solution under random weights: each item's uniform between its bounds, anew in every round.

    That is the uniform distribution over solutions where items with the same bounds can be exchanged for each other, as
    in `TopK`. In general it is not: of spanning trees, say, it draws those that Kruskal's algorithm finds in random
    order.
    """

    needs = "nothing"
    guarantee = "none"
    use = "a baseline: what learning is worth"
    formula = "uniform: what solution that makes is said in its docstring"

    random: ClassVar[bool] = True

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return uniform(key, item)
