"""A user's script for an earlier version, with code of his own and import paths of then, and stores of what it played.

    PYTHONPATH=<the version before>/src python tests/data/before/users_script.py tests/data/before/users_stores

With a second argument nothing may be played.
"""

import sys
import warnings
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

import semibandits as sb

warnings.simplefilter("ignore", DeprecationWarning)

from semibandits.moves import Moved, Moves, best_of, score_items  # noqa: E402
from semibandits.policies.combucb1 import CombUCB1  # noqa: E402

from semibandits.errors import EmptyFeasibleSet  # noqa: E402
from semibandits.kernel import sqrt  # noqa: E402
from semibandits.rng import uniform  # noqa: E402
from semibandits.types import FeasibleSet, Solver  # noqa: E402


def choose_best(state: Any, out: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> Any:
    score_items(state, work[2], round, key, data)
    return best_of(work[2], out, work)


def add(state: Any, items: Any, x: Any, note: Any, round: int, key: Any, data: Any, work: Any) -> None:
    for k in range(len(items)):
        state[0][items[k]] += x[k]


def noisy(state: Any, round: int, key: Any, item: Any, data: Any) -> Any:
    return sqrt(state[0][item]) + uniform(key, item)


class Noisy(Moved):
    def start(self, game: Any, feasible: Any) -> Any:
        return (np.zeros(game.n_items),)

    def moves(self, feasible: Any) -> Any:
        return Moves(choose_best, add, score=noisy, solves=True)


class Bold(CombUCB1):
    pass


def two_best(weights: Any, out: Any, data: Any, numbers: Any, integers: Any) -> int:
    first, second = 0, 1
    if weights[1] > weights[0]:
        first, second = 1, 0
    for item in range(2, len(weights)):
        if weights[item] > weights[first]:
            first, second = item, first
        elif weights[item] > weights[second]:
            second = item
    out[0], out[1] = min(first, second), max(first, second)
    return 2


class Two(FeasibleSet):
    n_items, max_size = 6, 2

    def argmax(self, weights: Any) -> Any:
        return np.sort(np.argsort(-np.asarray(weights), kind="stable")[:2])

    def contains(self, items: Any) -> bool:
        return len(set(items)) == 2

    def restrict(self, include: Any = (), exclude: Any = ()) -> Any:
        if len(list(include)) > 2:
            raise EmptyFeasibleSet("two items at most")
        return sb.sets.TopK(6, 2).restrict(include, exclude)

    def solver(self) -> Any:
        return Solver(two_best, (), ragged=False)


class Nobody(Executor):
    def submit(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("a run is played again")


def play(folder: Path, **how: Any) -> None:
    for name, feasible in {"own": Two(), "ours": sb.sets.TopK(6, 2)}.items():
        problem = sb.Problem(feasible, sb.environments.Bernoulli(np.linspace(0.1, 0.9, 6)))
        played: list[Any] = [Noisy(), Bold(), sb.policies.Clairvoyant(problem)]
        settings: dict[str, Any] = {"horizon": 40, "runs": 2, "seed": 3, "checkpoints": [40]}
        print(name, sb.simulate(problem, played, store=folder / name, **settings, **how).regret.tolist())


if __name__ == "__main__":
    play(Path(sys.argv[1]), **({"executor": Nobody()} if len(sys.argv) > 2 else {"engine": "plain"}))
