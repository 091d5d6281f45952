"""What advice costs: `python benchmarks/recommend.py`. Large sets of every kind, in worlds of every kind."""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from typing import Any

import numpy as np

import semibandits as sb
from common import Goal, Table, report
from semibandits import environments, policies, sets

Edges = list[tuple[tuple[int, int], tuple[int, int]]]


def streets(side: int) -> Edges:
    """A grid of side x side junctions."""
    nodes = list(product(range(side), repeat=2))
    return [
        (one, other)
        for x, y in nodes
        for one, other in (((x, y), (x + 1, y)), ((x, y), (x, y + 1)))
        if max(other) < side
    ]


def roads(side: int) -> sb.FeasibleSet:
    return sets.Paths(streets(side), (0, 0), (side - 1, side - 1), directed=False)


def largest(weights: Any) -> Any:
    """A solver of one's own."""
    return np.argsort(-weights)[:4]


NUMBERS = np.random.default_rng(0)
SETS: dict[str, Callable[[], sb.FeasibleSet]] = {
    "TopK(100_000, 50_000)": lambda: sets.TopK(100_000, 50_000),
    "PartitionMatroid, 20,000 groups": lambda: sets.PartitionMatroid(np.arange(100_000) % 20_000, 2),
    "PartitionMatroid, 50 groups": lambda: sets.PartitionMatroid(np.arange(500) % 50, 2),
    "LaminarMatroid": lambda: sets.LaminarMatroid(10_000, [(range(10_000), 50), (range(5_000), 30)]),
    "GraphicMatroid, 100 x 100": lambda: sets.GraphicMatroid(streets(100)),
    "Matroid": lambda: sets.Matroid(lambda items: len(items) <= 5, n_items=40),
    "GridPaths(150)": lambda: sets.GridPaths(150),
    "GridPaths(12)": lambda: sets.GridPaths(12),
    "KPaths(100_000, 100)": lambda: sets.KPaths(100_000, 100),
    "DagPaths, one path": lambda: sets.DagPaths([(i, i + 1) for i in range(50_000)], 0, 50_000),
    "Paths, 6 x 6": lambda: roads(6),
    "Paths, 100 x 100": lambda: roads(100),
    "Assignment(200, 200)": lambda: sets.Assignment(200, 200),
    "BMatching(100, 50)": lambda: sets.BMatching(100, 50, row_capacities=1, column_capacities=2),
    "Knapsack": lambda: sets.Knapsack(NUMBERS.integers(1, 100, 400), 5_000),
    "GreedyKnapsack": lambda: sets.GreedyKnapsack(NUMBERS.integers(1, 100, 10_000), 5_000),
    "MILP": lambda: sets.MILP((NUMBERS.random((20, 200)) < 0.1).astype(float), -np.inf, 3),
    "Intersection": lambda: sets.Intersection(sets.GridPaths(6), [np.arange(84.0)], upper=600.0),
    "Product of 100": lambda: sets.Product([sets.TopK(1_000, 10)] * 100),
    "Product of roads": lambda: sets.Product(roads(6), sets.TopK(9, 3)),
    "Enumerated, 5,000": lambda: sets.Enumerated([NUMBERS.choice(300, 5, replace=False) for _ in range(5_000)]),
    "TopK, restricted": lambda: sets.TopK(100_000, 100).restrict(include=[3], exclude=range(10, 20_000)),
    "Paths, restricted": lambda: roads(6).restrict(exclude=[7]),
    "a solver of one's own": lambda: sets.Oracle(largest, n_items=40, max_size=4),
}


def steps(n_items: int, smooth: bool = False) -> sb.Environment:
    rows = max(2, min(100, 2_000_000 // n_items))
    means = np.where(np.arange(rows)[:, None] % 2 == 0, 0.5, 0.0) + 0.5 * np.linspace(1.0, 0.0, n_items)
    return environments.Drifting(means, 1 + 100 * np.arange(rows), smooth)


WORLDS: dict[str, Callable[[int], sb.Environment]] = {
    "coins": lambda n: environments.Bernoulli(np.linspace(0.1, 0.9, n)),
    "coins in groups": lambda n: environments.Bernoulli(np.full(n, 0.5), groups=np.arange(n) // 2),
    "Beta": lambda n: environments.Beta(np.linspace(1.0, 3.0, n), 2.0),
    "Gaussian": lambda n: environments.Gaussian(np.linspace(10.0, 50.0, n), sigma=6.0, bounds=(0.0, 60.0)),
    "CorrelatedGaussian": lambda n: environments.CorrelatedGaussian(np.full(n, 0.5), 0.01 * np.eye(n)),
    "Table": lambda n: environments.Table(np.random.default_rng(1).random((20, n))),
    "steps": steps,
    "slow drift": lambda n: steps(n, smooth=True),
    "Adversarial": lambda n: environments.Adversarial(np.random.default_rng(1).random((20, n))),
    "Custom": lambda n: environments.Custom(lambda generator: generator.random(n), np.full(n, 0.5)),
}
MOST_CORRELATED = 1_000


def questions(feasible: sb.FeasibleSet) -> Iterator[tuple[str, Callable[[], object]]]:
    """All that can be asked, by the world."""
    for feedback in ("semi", "bandit"):
        yield "none", lambda f=feedback: policies.recommend(feasible, feedback=f)
    for name, make in WORLDS.items():
        if name != "CorrelatedGaussian" or feasible.n_items <= MOST_CORRELATED:
            problem = sb.Problem(feasible, make(feasible.n_items), sense="min")
            for feedback in ("semi", "bandit"):
                yield name, lambda p=problem, f=feedback: policies.recommend(p, feedback=f)


def seconds(question: Callable[[], object]) -> float:
    """Of the first time that it is asked."""
    start = time.perf_counter()
    with suppress(sb.errors.Unsupported):  # too many solutions for sums: an answer, too
        question()
    return time.perf_counter() - start


@contextmanager
def counted_calls(kind: type[sb.FeasibleSet]) -> Iterator[list[str]]:
    """What is asked of sets of this class."""
    calls: list[str] = []

    def counted(name: str, method: Any) -> Any:
        return lambda self, *given, **named: (calls.append(name), method(self, *given, **named))[1]

    names = [name for name in ("argmax", "restrict", "listed") if name in vars(kind)]
    methods = {name: vars(kind)[name] for name in names}
    for name, method in methods.items():
        setattr(kind, name, counted(name, method))
    try:
        yield calls
    finally:
        for name, method in methods.items():
            setattr(kind, name, method)


def asked(make: Callable[[], sb.FeasibleSet], repeats: int) -> tuple[dict[tuple[str, int], float], int]:
    """For each question the median time in ms, each time of a new set, and the most calls that one has made."""
    taken: dict[tuple[str, int], list[float]] = {}
    most = 0
    for _ in range(repeats):
        feasible = make()
        with counted_calls(next(one for one in type(feasible).__mro__ if "argmax" in vars(one))) as calls:
            for number, (world, question) in enumerate(questions(feasible)):
                calls.clear()
                taken.setdefault((world, number), []).append(1e3 * seconds(question))
                most = max(most, len(calls))
    return {which: statistics.median(times) for which, times in taken.items()}, most


def advice(repeats: int) -> Table:
    table = Table("recommend: ms of the first call, for a set alone and in the slowest world; calls of the oracle")
    seconds(lambda: policies.recommend(sb.Problem(sets.TopK(2, 1), WORLDS["Beta"](2))))  # imports SciPy
    for name, make in SETS.items():
        times, calls = asked(make, repeats)
        slowest, where = max((taken, world) for (world, _), taken in times.items())
        alone = max(taken for (world, _), taken in times.items() if world == "none")
        row: dict[str, str | float] = {"set": name, "items": make().n_items, "alone, ms": alone}
        table.rows.append(row | {"slowest, ms": slowest, "in": where, "calls": float(calls)})
    table.goals.append(Goal("ms, the slowest", max(float(row["slowest, ms"]) for row in table.rows), 50.0))
    own = float(table.rows[-1]["calls"])
    table.goals.append(Goal("calls of a solver of one's own", own, 10.0, check=True))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="once each, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print a JSON document and nothing else")
    chosen = parser.parse_args()
    table = advice(1 if chosen.quick else 5)
    report([table], chosen.json)
    sys.exit(not all(goal.met for goal in table.goals if goal.check))


if __name__ == "__main__":
    main()
