"""Approximate oracles: optimism survives them, Thompson sampling need not."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from semibandits import Problem, environments, policies, sets, simulate
from semibandits.types import FeasibleSet, IndexPolicy, Items, Solver


def slopes(regret: NDArray[np.float64], rounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Regret per round between the last two checkpoints, run by run."""
    late: NDArray[np.float64] = (regret[:, -1] - regret[:, -2]) / (rounds[-1] - rounds[-2])
    return late


@pytest.mark.long
def test_the_regret_of_a_greedy_knapsack_is_sublinear() -> None:
    generator = np.random.default_rng(8)
    costs = generator.integers(2, 9, size=10).tolist()
    problem = Problem(sets.GreedyKnapsack(costs, 20), environments.Bernoulli(generator.uniform(0.2, 0.9, 10).round(2)))
    options: Any = {"horizon": 100_000, "runs": 32, "seed": 1, "checkpoints": [1000, 2000, 50_000], "record": "counts"}
    own = simulate(problem, policies.CombUCB1(), **options)
    early, late = slopes(own.regret[0, :, :2], own.rounds[:2]), slopes(own.regret[0], own.rounds)
    assert late.mean() < 0.2 * early.mean()
    promise = simulate(problem, policies.CombUCB1(), **options, regret="ratio")
    assert (slopes(promise.regret[0], promise.rounds) < 0.0).all()  # half of the best is less than what greed finds


RATIO = 0.5
MEANS = np.array([0.96, 0.6, *[0.45] * 30])


class Lazy(FeasibleSet):
    """One item, the last that is worth half of the best: all that a ratio of 1/2 asks for."""

    ratio = RATIO

    def __init__(self, n_items: int) -> None:
        self.n_items, self.max_size = n_items, 1

    def argmax(self, weights: ArrayLike) -> Items:
        w = np.asarray(weights, dtype=np.float64)
        return np.flatnonzero(w >= RATIO * w.max())[-1:]

    def contains(self, items: Iterable[int]) -> bool:
        chosen = list(items)
        return len(chosen) == 1 and 0 <= chosen[0] < self.n_items

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> FeasibleSet:
        raise NotImplementedError

    def solver(self) -> Solver:
        return Solver(last_that_is_good_enough, (), variable_size=False)


def last_that_is_good_enough(w: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
    best = w[0]
    for item in range(w.size):
        best = max(best, w[item])
    for item in range(w.size):
        if w[item] >= RATIO * best:
            out[0] = item
    return 1


@pytest.mark.long
@pytest.mark.parametrize("policy", [policies.CombUCB1(init="all"), policies.CTS(), policies.PooledCTS()], ids=repr)
def test_an_oracle_that_traps_thompson_sampling(policy: IndexPolicy) -> None:
    """After Wang and Chen 2018, who prove that such oracles exist.

    One of thirty poor items is good enough for the oracle as long as the best, item 0, is not known to be that good;
    and item 1, which is better than good enough, keeps the oracle from asking for item 0. So who draws, unless he was
    lucky early on, chooses poor items for ever, each worth less than half of item 0. CombUCB1 is optimistic about item
    0 until it knows it.
    """
    problem = Problem(Lazy(MEANS.size), environments.Bernoulli(MEANS), true_optimum=[0])
    assert problem.target == pytest.approx(0.48)
    result = simulate(
        problem, policy, horizon=60_000, runs=32, seed=3, regret="ratio", checkpoints=[30_000], engine="compiled"
    )
    trapped = slopes(result.regret[0], result.rounds) > 0.5 * (0.48 - 0.45)
    assert not trapped.any() if isinstance(policy, policies.CombUCB1) else trapped.sum() > 3
