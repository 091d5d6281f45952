"""Constants in a state: a learner that is loaded takes them from `start`, and results tell them."""

from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, Policy, Problem, environments, sets, simulate
from semibandits.types import FeasibleSet, Game

NAMED_TUPLE: Any = namedtuple


class Own(Policy):
    """Its state has a field for constants, by one of the two names."""

    def __init__(self, field: str, scale: float) -> None:
        self.kind = NAMED_TUPLE("State", ["sums", field])
        self.scale = scale

    def start(self, game: Game, feasible: FeasibleSet) -> Any:
        return self.kind(np.zeros(game.n_items), np.array([self.scale, np.inf]))

    def choose(self, state: Any, feasible: FeasibleSet, round: int, key: int) -> Any:
        return feasible.argmax(state.sums), None

    def learn(
        self, state: Any, feasible: FeasibleSet, round: int, items: Any, weights: Any, note: Any, key: int
    ) -> Any:
        sums = state.sums.copy()
        sums[items] += weights
        return state._replace(sums=sums)


@pytest.mark.parametrize("field", ["facts", "constants"])
def test_constants_are_those_of_start(field: str, tmp_path: Path) -> None:
    """Those that a user calls so; under any other name they may have been learned."""
    feasible = sets.TopK(3, 1)
    learner = Learner(feasible, Own(field, 1.0), seed=0)
    learner.tell(learner.ask().id, [0.5])
    learner.save(tmp_path / "it.json")
    again = Learner.load(tmp_path / "it.json", feasible, Own(field, 2.0))
    state = again._agent.state  # type: ignore[union-attr]
    assert state.sums.tolist() == [0.5, 0.0, 0.0]
    assert getattr(state, field).tolist() == [2.0 if field == "facts" else 1.0, np.inf]


def test_results_tell_the_finite_ones() -> None:
    problem = Problem(sets.TopK(3, 1), environments.Bernoulli([0.1, 0.2, 0.3]))
    result = simulate(problem, Own("facts", 3.0), horizon=5, runs=1, seed=0, engine="plain", threads=1)
    (told,) = result.provenance["parameters"]
    assert told["facts"] == [3.0]
