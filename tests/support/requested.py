"""A world, such as a user might write, of which rounds have feasible sets of their own."""

from typing import Any

from semibandits import Environment, environments, sets
from semibandits.types import FeasibleSet, Scalar

COINS = environments.Bernoulli([0.9, 0.8, 0.5, 0.3, 0.1])


class Own(Environment):
    """A user's own: odd rounds ask for one item, others for what the problem has."""

    bounds = (0.0, 1.0)
    n_items = 5
    drifts = says_sets = True

    def __init__(self, **broken: Any) -> None:
        self.one, self.broken, self.calls = sets.TopK(5, 1), broken, 0

    def weights(self, round: int, key: Scalar, items: Any = None) -> Any:
        return COINS.weights(round, key, items)

    def means(self, round: int) -> Any:  # type: ignore[override]
        return COINS.means

    def feasible(self, round: int, key: Scalar) -> FeasibleSet | None:
        self.calls += 1
        if "always" in self.broken:
            return self.broken["always"]
        if "forgets" in self.broken:
            return sets.TopK(5, 1 + self.calls % 2)
        return self.one if round % 2 else None
