"""Independent plain implementations to test against: brute force over listed solutions, and the paper's pseudocode."""

import itertools
import math
from collections.abc import Callable, Sequence

Solution = tuple[int, ...]


def value(solution: Sequence[int], weights: Sequence[float]) -> float:
    answer = 0.0
    for item in solution:
        answer += weights[item]
    return answer


def best_value(solutions: list[Solution], weights: Sequence[float]) -> float:
    return max(value(solution, weights) for solution in solutions)


def restricted(solutions: list[Solution], include: set[int], exclude: set[int]) -> list[Solution]:
    return [one for one in solutions if include <= set(one) and not exclude & set(one)]


def best_with_each(solutions: list[Solution], weights: Sequence[float], n_items: int) -> list[float]:
    return [
        max((value(one, weights) for one in solutions if item in one), default=-math.inf) for item in range(n_items)
    ]


def subsets(n_items: int, sizes: Sequence[int] | None = None) -> list[Solution]:
    sizes = range(n_items + 1) if sizes is None else sizes
    return [one for size in sizes for one in itertools.combinations(range(n_items), size)]


def paths(edges: Sequence[tuple[object, object]], source: object, target: object) -> list[Solution]:
    """All paths, by depth-first search."""
    found: list[Solution] = []

    def walk(node: object, used: tuple[int, ...]) -> None:
        if node == target:
            found.append(tuple(sorted(used)))
            return
        for item, (tail, head) in enumerate(edges):
            if tail == node:
                walk(head, (*used, item))

    walk(source, ())
    return found


class PaperCombUCB1:
    """Algorithms 1 and 2 of the paper, line by line, over a list of solutions; of tied ones the first."""

    def __init__(self, solutions: list[Solution], n_items: int) -> None:
        self.solutions = solutions
        self.n_items = n_items
        self.w_hat = [0.0] * n_items
        self.u = [1.0] * n_items
        self.T = [0] * n_items
        self.t = 1
        self.initialising = True

    def scores(self) -> list[float]:
        if self.initialising:
            return self.u
        return [self.w_hat[e] + math.sqrt(1.5 * math.log(self.t - 1) / self.T[e]) for e in range(self.n_items)]

    def choose(self) -> Solution:
        scores = self.scores()
        return max(self.solutions, key=lambda one: value(one, scores))

    def update(self, chosen: Solution, weight_of: Callable[[int], float]) -> None:
        for e in chosen:
            if self.initialising:
                self.w_hat[e] = weight_of(e)
                self.u[e] = 0.0
            else:
                self.w_hat[e] = (self.T[e] * self.w_hat[e] + weight_of(e)) / (self.T[e] + 1)
                self.T[e] += 1
        self.t += 1
        if self.initialising and 1.0 not in self.u:
            self.initialising = False
            self.T = [1] * self.n_items
