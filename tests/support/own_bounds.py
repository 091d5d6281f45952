"""Where items have bounds of their own: CombUCB1 once more, in NumPy, and the worst its confidence intervals allow."""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import Problem, environments, sets
from semibandits.types import FeasibleSet, Sense
from support.reference import Solution

Numbers = NDArray[np.float64]


class Play(NamedTuple):
    regret: Numbers
    """Shape (runs, rounds), added up."""
    exceptions: int
    """Suboptimal rounds after Init in which all intervals held, and which are more than twice the radii apart."""
    failures: int
    """Rounds in which some interval did not hold."""


def play(problem: Problem, listed: list[Solution], horizon: int, runs: int, seed: int, alpha: float = 1.5) -> Play:
    """CombUCB1 with the paper's Init, of weights at either end of their bounds, the items of half the runs alike."""
    generator = np.random.default_rng(seed)
    sign = 1.0 if problem.sense == "max" else -1.0
    lo, hi = (np.broadcast_to(side, problem.n_items) for side in problem.bounds)
    mean, span, least = sign * problem.means, hi - lo, lo if sign > 0.0 else -hi
    member = np.array([np.isin(np.arange(problem.n_items), one) for one in listed])
    gaps = (member @ mean).max() - member @ mean
    best = member[int(gaps.argmin())]
    chance = np.divide(mean - least, span, out=np.zeros_like(span), where=span > 0.0)
    counts, sums = np.zeros((runs, span.size)), np.zeros((runs, span.size))
    begun = np.zeros(runs, dtype=bool)
    regret = np.zeros((runs, horizon))
    exceptions = failures = 0
    for t in range(1, horizon + 1):
        coins = generator.random((runs, span.size))
        coins[: runs // 2] = coins[: runs // 2, :1]
        x = np.where((coins < chance) & (span > 0.0), 1.0, 0.0)
        begun |= (counts > 0.0).all(axis=1)
        seen = np.maximum(counts, 1.0)
        radius = span * np.sqrt(alpha * math.log(max(t - 1, 1)) / seen)
        estimate = least + span * sums / seen
        scores = np.where(begun[:, None], estimate + radius, counts == 0.0)
        chosen = (scores @ member.T).argmax(axis=1)
        items, gap = member[chosen], gaps[chosen]
        regret[:, t - 1] = gap
        held = (np.abs(estimate - mean) <= radius + 1e-12).all(axis=1)
        failures += int((begun & ~held).sum())
        apart = 2.0 * np.where(items & ~best, radius, 0.0).sum(axis=1)
        exceptions += int((begun & held & (gap > apart + 1e-9)).sum())
        kept = np.where(items & ~begun[:, None], 0.0, 1.0)  # Init forgets what it sees again
        counts, sums = counts * kept + items, sums * kept + np.where(items, x, 0.0)
    return Play(regret.cumsum(axis=1), exceptions, failures)


def worst_case(solutions: list[Solution], gaps: Numbers, spans: Numbers, u: float, rounds: int = 10**9) -> float:
    """The most that any sequence of choices can lose while Δ_A ≤ Σ_A c_e sqrt(u / T(e)) in every round.

    Every counter T is 1 at first and grows by one when its item is chosen. Of solutions only the items that are not in
    the optimum count. Dynamic programming over all counters that can be reached, and the rounds that are left.
    """
    member = [tuple(item in one for item in range(spans.size)) for one in solutions]
    known: dict[tuple[tuple[int, ...], int], float] = {}

    def choices(counts: tuple[int, ...]) -> Iterator[int]:
        reach = [c * math.sqrt(u / count) for c, count in zip(spans.tolist(), counts, strict=True)]
        for number, items in enumerate(member):
            if gaps[number] > 0.0 and gaps[number] <= sum(itertools.compress(reach, items)):
                yield number

    limited = rounds < 10**9
    stack = [((1,) * spans.size, rounds)]
    while stack:  # depth first, without recursion
        state = stack[-1]
        counts, left = state
        if state in known:
            stack.pop()
            continue
        after = []
        if left > 0:
            for number in choices(counts):
                grown = tuple(count + inside for count, inside in zip(counts, member[number], strict=True))
                after.append((number, (grown, left - 1 if limited else left)))
        missing = [one for _, one in after if one not in known]
        if missing:
            stack.extend(missing)
            continue
        known[state] = max((float(gaps[number]) + known[one] for number, one in after), default=0.0)
        stack.pop()
    return known[((1,) * spans.size, rounds)]


def listed_solutions(feasible: FeasibleSet) -> list[Solution]:
    """By asking about every subset of the items."""
    items = range(feasible.n_items)
    every = itertools.chain.from_iterable(itertools.combinations(items, size) for size in range(feasible.max_size + 1))
    return [one for one in every if feasible.contains(one)]


def item_gaps_of(solutions: list[Solution], gaps: Numbers, M: int) -> list[float]:
    return [
        min((gap for one, gap in zip(solutions, gaps, strict=True) if e in one), default=math.inf) for e in range(M)
    ]


def ratio_sum(solutions: list[Solution], gaps: Numbers, factors: Numbers, parts: Numbers) -> float:
    """Σ_e factor_e max_{A ∋ e} Σ_A parts / Δ_A"""
    pairs = list(zip(solutions, gaps, strict=True))
    return sum(
        factors[e] * max((parts[list(one)].sum() / gap for one, gap in pairs if e in one), default=0.0)
        for e in range(parts.size)
        if parts[e] > 0.0
    )


SETS = {
    "best two": lambda: sets.TopK(5, 2),
    "up to two": lambda: sets.TopK(5, 2, bases=False),
    "grid": lambda: sets.GridPaths(2),
    "jobs": lambda: sets.Assignment(2, 3),
    "paths": lambda: sets.KPaths(6, 2),
    "listed": lambda: sets.Enumerated([[0, 1, 2], [1, 3], [4], [0, 4], [2, 3, 5]], n_items=6),
    "forest": lambda: sets.GraphicMatroid([(0, 1), (1, 2), (2, 0), (2, 3)]),
}


def random_problem(feasible: FeasibleSet, sense: Sense, generator: np.random.Generator) -> Problem:
    """Spans over two decades, some 0; coins between the bounds, which are near each other's."""
    span = 10.0 ** generator.uniform(-1.0, 1.0, feasible.n_items)
    span[generator.random(feasible.n_items) < 0.2] = 0.0
    span[generator.integers(feasible.n_items)] = 3.0
    lo = generator.normal(size=feasible.n_items) - span / 2.0
    coins = environments.Bernoulli(generator.random(feasible.n_items))
    return Problem(feasible, environments.Scaled(coins, (lo, lo + span)), sense)
