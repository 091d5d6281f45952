"""Policies, environments and sets such as a user might write, and problems of every compiled kind."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from semibandits import Problem, environments, problems, sets
from semibandits.errors import EmptyFeasibleSet
from semibandits.kernel import log, sqrt, where
from semibandits.rng import uniform
from semibandits.types import (
    Arrays,
    Clock,
    Environment,
    FeasibleSet,
    Game,
    IndexPolicy,
    Init,
    Items,
    Params,
    Scalar,
    Solver,
    Stats,
)
from support import families

SHARE = 0.25


def squeezed(x: Scalar, power: float = 0.5) -> Scalar:
    return x * (1.0 - SHARE) + SHARE * power


@dataclass(frozen=True)
class Wobbling(IndexPolicy):
    """A random score, a random clock of two numbers, coins thrown on feedback, five statistics, helpers, constants."""

    width: float = 1.0
    init: Init = "all"
    prior: ClassVar[Stats] = (0.0, 0.0, 0.0, 1.0, -1.0)

    def params(self, game: Game) -> Params:
        return (self.width, game.max_size)

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (p[0] * log(round), uniform(key, 0, 1))

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        coin = where(uniform(key, item) < 0.25 + 0.5 * x, 1.0, 0.0)
        return (s[0] + 1.0, s[1] + x, s[2] + coin, squeezed(s[3]), s[4] + round)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        radius = sqrt((c[0] + c[1]) / (s[0] + p[1]))
        return s[2] / (s[0] + 1.0) + radius * uniform(key, item) + 1e-3 * s[3]


@dataclass(frozen=True)
class Sum(IndexPolicy):
    """Follows the largest sum: ties everywhere, and two statistics only."""

    init: Init = "paper"
    prior: ClassVar[Stats] = (0.0, 0.0)
    random: ClassVar[bool] = False

    @staticmethod
    def clock(round: int, key: int, p: Params) -> Clock:
        return (0.0,)

    @staticmethod
    def observe(s: Stats, x: Scalar, round: int, key: int, item: Scalar, p: Params) -> Stats:
        return (s[0] + 1.0, s[1] + x)

    @staticmethod
    def forget(s: Stats, x: Scalar, round: int, p: Params) -> Stats:
        return (s[0] - 1.0, s[1] - x)

    @staticmethod
    def score(s: Stats, c: Clock, key: int, item: Scalar, p: Params) -> Scalar:
        return where(s[1] < 4.0, s[1], 4.0)


class Steps(Environment):
    """Weights of three levels around a mean per item: a user's own draw."""

    batched = True

    def __init__(self, means: ArrayLike) -> None:
        self.means = np.asarray(means, dtype=np.float64)
        self.n_items = self.means.size
        self.bounds = (0.0, 1.0)
        self.tables = (self.means, np.minimum(self.means, 1.0 - self.means))

    @staticmethod
    def draw(round: int, key: Scalar, item: Scalar, tables: Arrays) -> Scalar:
        u = uniform(key, item)
        return tables[0][item] + where(u < 0.25, -1.0, where(u < 0.5, 1.0, 0.0)) * tables[1][item]


class Window(FeasibleSet):
    """Any run of `width` consecutive items, or nothing: a user's own set, one run at a time."""

    def __init__(self, n_items: int, width: int) -> None:
        self.n_items, self.max_size = n_items, width

    def argmax(self, weights: ArrayLike) -> Items:
        w = np.asarray(weights, dtype=np.float64)
        best, start = 0.0, -1
        for first in range(self.n_items - self.max_size + 1):
            total = 0.0
            for item in range(first, first + self.max_size):
                total += w[item]
            if total > best:
                best, start = total, first
        return np.arange(start, start + self.max_size) if start >= 0 else np.empty(0, dtype=np.int64)

    def contains(self, items: Iterable[int]) -> bool:
        chosen = sorted(items)
        whole = len(chosen) == self.max_size and chosen == list(range(chosen[0], chosen[0] + self.max_size))
        return not chosen or (whole and chosen[0] >= 0 and chosen[-1] < self.n_items)

    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> FeasibleSet:
        starts = range(self.n_items - self.max_size + 1)
        listed = [list(range(start, start + self.max_size)) for start in starts] + [[]]
        fits = [one for one in listed if set(include) <= set(one) and not set(exclude) & set(one)]
        if not fits:
            raise EmptyFeasibleSet("no window is left")
        return sets.Enumerated(fits, n_items=self.n_items)

    @staticmethod
    def best_window(w: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
        width = data[0][0]
        best, start = 0.0, -1
        for first in range(w.size - width + 1):
            total = 0.0
            for item in range(first, first + width):
                total += w[item]
            if total > best:
                best, start = total, first
        if start < 0:
            return 0
        for k in range(width):
            out[k] = start + k
        return width

    def solver(self) -> Solver:
        return Solver(self.best_window, (np.array([self.max_size]),), numbers=1, integers=1)


# Parallel edges, paths of one to four edges, numbers that do not ascend along a path, and a dead end.
CROOKED = sets.DagPaths(
    [("c", "t"), ("a", "b"), ("s", "a"), ("s", "a"), ("b", "c"), ("a", "c"), ("s", "t"), ("b", "t"), ("s", "c")],
    source="s",
    target="t",
)
LISTED = sets.Enumerated([[0, 3], [1, 2, 4], [], [5], [0, 1, 5], [2, 3]])
spread = np.random.default_rng(5).random

OWN_LEAST = np.linspace(0.9, 0.1, 9)
PROBLEMS = {
    "grid": problems.grid_path(3, 0.3),
    "K-path": problems.k_path(12, 3, 0.6),
    "crooked graph": Problem(CROOKED, environments.Bernoulli([0.5] * 9)),
    "small top-k": Problem(sets.TopK(9, 3), environments.Bernoulli([0.5] * 9)),
    "large top-k": Problem(sets.TopK(70, 30), environments.Bernoulli(np.linspace(0.3, 0.6, 70))),
    "restricted top-k": Problem(
        sets.TopK(40, 20).restrict(include=[3, 38], exclude=[0, 17, 39]), environments.Bernoulli(spread(40))
    ),
    "enumerated": Problem(LISTED, environments.Bernoulli([0.5] * 6)),
    "user's set": Problem(Window(8, 3), environments.Bernoulli(spread(8)), sense="max"),
    "user's draw": Problem(sets.TopK(6, 2), Steps(spread(6))),
    "costs": Problem(CROOKED, environments.Uniform(1.0 + spread(9), 4.0 + spread(9), bounds=(0.5, 6.0)), sense="min"),
    "rewards": Problem(LISTED, environments.Uniform(-2.0 * spread(6), 3.0 * spread(6), bounds=(-3.0, 5.0))),
    "beta": Problem(sets.TopK(6, 2), environments.Beta(1.0 + 3.0 * spread(6), 2.0, groups=[0, 1, 1, 2, 2, 2])),
    "gaussian": Problem(sets.TopK(6, 2), environments.Gaussian(3.0 * spread(6) - 1.0, 0.5)),
    "resampled": Problem(LISTED, environments.Table(spread((11, 6)))),
    "recorded": Problem(LISTED, environments.Table(spread((3000, 6)), order="recorded")),
    "costs per item": Problem(
        CROOKED,
        environments.Scaled(
            environments.Bernoulli(np.linspace(0.7, 0.2, 9)), (1.0 + OWN_LEAST, 1.0 + OWN_LEAST + np.arange(9) // 2)
        ),
        sense="min",
    ),
    **families.PROBLEMS,
}
