"""Side constraints on every kind of set, against all subsets that the set and the constraints accept."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semibandits import errors, sets
from semibandits.types import FeasibleSet
from support.reference import Solution, best_value, best_with_each, subsets, value

SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
CHAIN = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("s", "t"), ("b", "a")]

KINDS: dict[str, Callable[[], FeasibleSet]] = {
    "Enumerated": lambda: sets.Enumerated([[0, 1], [2, 3, 4], [], [0, 4], [1, 2], [3]]),
    "TopK": lambda: sets.TopK(6, 3),
    "TopK, at most": lambda: sets.TopK(6, 3, bases=False),
    "TopK, restricted": lambda: sets.TopK(7, 3).restrict(include=[2], exclude=[5]),
    "PartitionMatroid": lambda: sets.PartitionMatroid([0, 0, 1, 1, 1, 2, 2], {0: 1, 1: 2, 2: 1}),
    "LaminarMatroid": lambda: sets.LaminarMatroid(6, [([0, 1, 2], 2), ([0, 1, 2, 3, 4, 5], 3)]),
    "GraphicMatroid": lambda: sets.GraphicMatroid(SQUARE),
    "GraphicMatroid, forests": lambda: sets.GraphicMatroid(SQUARE, bases=False),
    "DagPaths": lambda: sets.DagPaths(CHAIN[:6], "s", "t"),
    "GridPaths": lambda: sets.GridPaths(2),
    "Paths": lambda: sets.Paths(CHAIN, "s", "t"),
    "Paths, undirected": lambda: sets.Paths(SQUARE, 0, 2, directed=False),
    "Assignment": lambda: sets.Assignment(3, 3),
    "BMatching": lambda: sets.BMatching(3, 3, 1, 2),
    "Knapsack": lambda: sets.Knapsack([3, 1, 4, 1, 5, 2], 8, groups=[0, 0, 1, 2, 2, 3]),
    "Knapsack, real": lambda: sets.Knapsack([0.3, 0.1, 0.4, 0.1, 0.5, 0.2], 0.8),
    "GreedyKnapsack": lambda: sets.GreedyKnapsack([3, 1, 4, 1, 5, 2], 8),
    "MILP": lambda: sets.MILP([[1, 1, 1, 1, 1, -2]], 0, 0, n_items=5, integer=True),
    "Product": lambda: sets.Product(sets.TopK(3, 1), sets.Enumerated([[0, 1], [2], []]), sets.TopK(2, 1)),
    "Intersection": lambda: sets.Intersection(sets.TopK(6, 3), [[1, 0, 1, 0, 1, 0]], upper=2),
}


def all_solutions(feasible: FeasibleSet) -> list[Solution]:
    return [one for one in subsets(feasible.n_items) if feasible.contains(one)]


@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_trying_all_subsets(kind: str) -> None:
    inner = KINDS[kind]()
    solutions = all_solutions(inner)
    generator = np.random.default_rng(3)
    n_items = inner.n_items
    for _ in range(4):
        rows = generator.integers(-2, 4, (2, n_items)).astype(float)
        middle = rows[:, list(solutions[generator.integers(len(solutions))])].sum(axis=1)
        lower, upper = [float(middle[0]) - 1.0, None], (middle + 1.0).tolist()
        left = [
            one
            for one in solutions
            if middle[0] - 1.0 <= value(one, rows[0]) <= upper[0] and value(one, rows[1]) <= upper[1]
        ]
        feasible = sets.Intersection(inner, rows, lower, upper)
        assert all_solutions(feasible) == left
        assert feasible.max_size == max(len(one) for one in left)
        covered = {item for one in left for item in one}
        assert set(feasible.uncovered().tolist()) == set(range(n_items)) - covered
        for w in (generator.normal(size=n_items), generator.integers(-1, 2, n_items).astype(float)):
            items = feasible.argmax(w)
            assert tuple(items.tolist()) in left
            assert value(items.tolist(), w) == pytest.approx(best_value(left, w), abs=1e-12)
            np.testing.assert_allclose(feasible.best_with_each(w), best_with_each(left, w, n_items), atol=1e-12)


def test_weights_of_any_sign_and_exact_answers() -> None:
    """Whatever the oracle of the set itself takes or promises."""
    paths = sets.Intersection(sets.Paths(CHAIN, "s", "t"), [1.0] * 7)
    assert paths.signed
    assert paths.argmax([1.0, 2.0, 1.0, 5.0, 1.0, 1.0, 3.0]).tolist() == [1, 3, 6]
    exact = sets.Intersection(sets.GreedyKnapsack([6, 5, 5], 10), [1.0] * 3)
    assert exact.ratio == 1.0
    assert exact.argmax([6.1, 5.0, 5.0]).tolist() == [1, 2]


def test_what_it_says() -> None:
    inner = sets.DagPaths(CHAIN[:6], "s", "t")
    feasible = sets.Intersection(inner, [1, 1, 1, 1, 1, 1], upper=2)
    assert repr(feasible) == f"Intersection({inner!r} with 1 row, by MILP)"
    assert repr(feasible.restrict(exclude=[0])) == f"Intersection({inner!r} with 1 row, by MILP, restricted)"
    assert feasible.labels == inner.labels
    assert feasible.solver() is None


def test_made_again_from_its_specification() -> None:
    inner = sets.Intersection(sets.TopK(5, 2).restrict(exclude=[4]), [1, 2, 0, 0, 0], lower=1)
    feasible = sets.Intersection(inner, [[1, 1, 0, 0, 0]], [None], [1]).restrict(include=[3])
    again = sets.from_spec(json.loads(json.dumps(feasible.to_spec())))
    assert repr(again) == repr(feasible)
    assert all_solutions(again) == all_solutions(feasible) == [(0, 3), (1, 3)]


def test_nothing_left() -> None:
    inner = sets.TopK(4, 2)
    with pytest.raises(errors.EmptyFeasibleSet, match="no values of the columns satisfy all rows"):
        sets.Intersection(inner, [1, 1, 1, 1], upper=1)
    feasible = sets.Intersection(inner, [1, 0, 0, 0], upper=0)
    with pytest.raises(errors.EmptyFeasibleSet, match=r"has no solution with items \[0\]"):
        feasible.restrict(include=[0])
    with pytest.raises(errors.EmptyFeasibleSet, match="demanded and excluded"):
        sets.Intersection(inner.restrict(exclude=[1]), [1, 0, 0, 0]).restrict(include=[1])


class Own(FeasibleSet):
    """A user's set."""

    n_items, max_size = 2, 1

    def argmax(self, weights: Any) -> Any:
        return np.array([0])

    def contains(self, items: Any) -> bool:
        return True

    def restrict(self, include: Any = (), exclude: Any = ()) -> "Own":
        return self


def test_bad_input() -> None:
    solver = sets.Oracle(lambda w: [0], 2, 1)
    for inner in (solver, Own(), sets.Product(solver, sets.TopK(2, 1))):
        columns = [1.0] * inner.n_items
        with pytest.raises(errors.Unsupported, match="cannot be written as a mixed integer program"):
            sets.Intersection(inner, columns)
    with pytest.raises(errors.InvalidSet, match="feasible must be a FeasibleSet, got"):
        sets.Intersection([[0]], [1.0])  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidSet, match="must have 4 columns, one per item, got 3"):
        sets.Intersection(sets.TopK(4, 2), [1, 1, 1])
    with pytest.raises(errors.InvalidSet, match="between the bounds of row 0"):
        sets.Intersection(sets.TopK(4, 2), [1, 1, 1, 1], 2, 1)
