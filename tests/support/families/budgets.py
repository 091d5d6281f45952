"""Sets of linear constraints: knapsacks, programs, intersections. All solutions by trying all subsets."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from hypothesis import strategies as st

from semibandits import Problem, environments, sets
from support.reference import Solution, subsets
from support.strategies import BASIC, Instance

whole_costs = st.integers(0, 6)
tenths = st.integers(0, 12).map(lambda i: i / 10)


def fits(one: Iterable[int], costs: Sequence[float], capacity: float, groups: Sequence[object] | None) -> bool:
    chosen = list(one)
    alone = groups is None or len({groups[item] for item in chosen}) == len(chosen)
    return alone and math.fsum(costs[item] for item in chosen) <= capacity * (1.0 + 1e-12)


@st.composite
def knapsack(draw: st.DrawFn, kind: type[sets.Knapsack], cost: st.SearchStrategy[float], most: int) -> Instance:
    """Of all items at no cost, of no capacity and of more than enough; in groups of all sizes or none."""
    n_items = draw(st.integers(1, most))
    costs = draw(st.lists(cost, min_size=n_items, max_size=n_items))
    capacity = draw(st.one_of(cost.map(lambda c: 2 * c), st.floats(0.0, 1.2).map(lambda x: round(x * sum(costs), 1))))
    groups = draw(st.none() | st.lists(st.sampled_from("abcd"), min_size=n_items, max_size=n_items))
    feasible = kind(costs, capacity, groups=groups)
    return feasible, [one for one in subsets(n_items) if fits(one, costs, capacity, groups)]


@st.composite
def bounds(draw: st.DrawFn, activity: float) -> tuple[float | None, float | None]:
    """Around what some solution has, so that there is one."""
    slack = st.none() | st.integers(0, 4).map(lambda i: i / 2)
    below, above = draw(slack), draw(slack)
    return None if below is None else activity - below, None if above is None else activity + above


@st.composite
def milp(draw: st.DrawFn) -> Instance:
    n_items, n_rows = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    entries = st.lists(st.integers(-3, 3).map(float), min_size=n_items, max_size=n_items)
    rows = draw(st.lists(entries, min_size=n_rows, max_size=n_rows))
    some = draw(st.sampled_from(subsets(n_items)))
    limits = [draw(bounds(sum(row[item] for item in some))) for row in rows]
    matrix = np.array(rows).reshape(n_rows, n_items)
    feasible = sets.MILP(matrix, [low for low, _ in limits], [high for _, high in limits])
    return feasible, [one for one in subsets(n_items) if satisfies(one, rows, limits)]


def satisfies(
    one: Solution, rows: list[list[float]], limits: list[tuple[float | None, float | None]], more: float = 0.0
) -> bool:
    totals = [sum(row[item] for item in one) + more for row in rows]
    pairs = zip(totals, limits, strict=True)
    return all((low is None or low <= total) and (high is None or total <= high) for total, (low, high) in pairs)


@st.composite
def milp_with_helpers(draw: st.DrawFn) -> Instance:
    """One whole helper of 0 to 2 whose share in all rows is 1, and per row one of 0 to 1/2, and nothing forgotten."""
    n_items, n_rows = draw(st.integers(1, 5)), draw(st.integers(1, 2))
    entries = st.lists(st.integers(-3, 3).map(float), min_size=n_items, max_size=n_items)
    rows = draw(st.lists(entries, min_size=n_rows, max_size=n_rows))
    some, more = draw(st.sampled_from(subsets(n_items))), draw(st.integers(0, 2))
    limits = [draw(bounds(sum(row[item] for item in some) + more)) for row in rows]
    matrix = np.hstack([np.array(rows), np.ones((n_rows, 1)), np.eye(n_rows)])
    feasible = sets.MILP(
        matrix,
        [low for low, _ in limits],
        [high for _, high in limits],
        n_items=n_items,
        column_upper=[2.0] + [0.5] * n_rows,
        integer=[True] + [False] * n_rows,
    )
    wider = [(None if low is None else low - 0.5, high) for low, high in limits]
    possible = [one for one in subsets(n_items) if any(satisfies(one, rows, wider, m) for m in (0.0, 1.0, 2.0))]
    return feasible, possible


@st.composite
def intersection(draw: st.DrawFn, inner: st.SearchStrategy[Instance]) -> Instance:
    feasible, solutions = draw(inner)
    n_rows = draw(st.integers(1, 2))
    entries = st.lists(st.integers(-3, 3).map(float), min_size=feasible.n_items, max_size=feasible.n_items)
    rows = draw(st.lists(entries, min_size=n_rows, max_size=n_rows))
    some = draw(st.sampled_from(solutions))
    limits = [draw(bounds(sum(row[item] for item in some))) for row in rows]
    crossed = sets.Intersection(feasible, rows, [low for low, _ in limits], [high for _, high in limits])
    return crossed, [one for one in solutions if satisfies(one, rows, limits)]


BAGS = knapsack(sets.Knapsack, whole_costs, 5)
FAMILIES: dict[str, st.SearchStrategy[Instance]] = {
    "Knapsack": knapsack(sets.Knapsack, whole_costs, 8),
    "Knapsack by MILP": knapsack(sets.Knapsack, tenths, 6),
    "GreedyKnapsack": knapsack(sets.GreedyKnapsack, whole_costs | tenths, 8),
    "MILP": milp(),
    "MILP with helpers": milp_with_helpers(),
    "Intersection": intersection(BASIC["Enumerated"] | BAGS | intersection(BAGS)),
}

COSTS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]
PROBLEMS: dict[str, Problem] = {
    "knapsack": Problem(sets.Knapsack(COSTS, 14), environments.Bernoulli([0.5] * 12)),
    "knapsack with groups": Problem(
        sets.Knapsack(COSTS, 14, groups=[0, 1, 2] * 4).restrict(include=[3], exclude=[2]),
        environments.Uniform(-np.arange(12) % 5 / 4.0, 1.0 + np.arange(12) % 3, bounds=(-1.0, 3.0)),
    ),
    "greedy knapsack": Problem(sets.GreedyKnapsack(COSTS, 14), environments.Bernoulli([0.5] * 12)),
    "greedy knapsack with groups": Problem(
        sets.GreedyKnapsack(np.sqrt(COSTS), 5.0, groups=list("aabbbccccdde")),
        environments.Bernoulli(np.linspace(0.3, 0.7, 12)),
    ),
}
