"""The ratios |A \\ A*| / Δ_A against enumeration, and what they cost."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from semibandits import Problem, environments, errors, policies, problems, sets, simulate
from semibandits.theory import ratio, tight
from semibandits.theory.terms import PER_ITEM
from semibandits.types import FeasibleSet, Items, Weights, total
from support.families import FAMILIES
from support.reference import Solution, value

families = pytest.mark.parametrize("family", FAMILIES)
eighths = st.integers(0, 8).map(lambda i: i / 8)  # exact sums, many ties
thousandths = st.integers(0, 1000).map(lambda i: i / 1000)


def enumerated(problem: Problem, solutions: list[Solution]) -> tuple[list[float], list[float]]:
    """For every item what `ratios` is to say, and what is true; they differ where a tied solution has the item."""
    means = problem.means.tolist()
    optimum = set(problem.optimum.tolist())
    best = value(sorted(optimum), means)
    gaps = {one: abs(best - value(sorted(one), means)) for one in solutions}
    most = max(len(set(one) - optimum) for one in solutions)
    said, true = [], []
    for item in range(problem.n_items):
        if item in optimum:
            said.append(math.nan)
            true.append(math.nan)
            continue
        mine = {one: gap for one, gap in gaps.items() if item in one}
        worse = {one: gap for one, gap in mine.items() if gap > 1e-12 * max(1.0, abs(best))}
        true.append(max((len(set(one) - optimum) / gap for one, gap in worse.items()), default=0.0))
        tied = len(worse) < len(mine)
        said.append(most / min(worse.values(), default=math.inf) if tied else true[-1])
    return said, true


def any_problem(data: st.DataObject, family: str, sense: str) -> tuple[Problem, list[Solution]] | None:
    feasible, solutions = data.draw(FAMILIES[family])
    if feasible.ratio < 1.0 or not feasible.signed:
        return None
    each = data.draw(st.sampled_from([eighths, thousandths]))
    means = np.array(data.draw(st.lists(each, min_size=feasible.n_items, max_size=feasible.n_items)))
    lo, hi = data.draw(st.sampled_from([(0.0, 1.0), (-3.0, 5.0), (2.0, 6.0), (-40.0, -8.0)]))
    means = lo + (hi - lo) * means
    return Problem(feasible, environments.Uniform(means, means, bounds=(lo, hi)), sense=sense), solutions  # type: ignore[arg-type]


@families
@pytest.mark.parametrize("sense", ["max", "min"])
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_ratios_equal_enumeration(family: str, sense: str, data: st.DataObject) -> None:
    drawn = any_problem(data, family, sense)
    if drawn is None:
        return
    problem, solutions = drawn
    said, true = enumerated(problem, solutions)
    found = tight.ratios(problem)
    np.testing.assert_allclose(found, said, rtol=1e-9)
    outside = ~np.isnan(true)
    assert (found[outside] >= np.array(true)[outside] * (1.0 - 1e-9)).all()
    lo, hi = problem.bounds
    bound = tight.ratio(problem, [1, math.e**2])
    additive = PER_ITEM * problem.max_size * problem.n_items * (max(hi, 0.0) - min(lo, 0.0))
    assert bound[0] == pytest.approx(additive)
    assert bound[1] == pytest.approx(additive + 48.0 * (hi - lo) ** 2 * np.nansum(found))
    if problem.max_size:  # at most the form by the items' least gaps, of weights scaled to [0, 1]
        corollary = 48.0 * (hi - lo) ** 2 * problem.max_size * np.nansum(1.0 / problem.item_gaps)
        assert bound[1] <= (additive + corollary) * (1.0 + 1e-9)


@families
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_both_ways_agree(family: str, data: st.DataObject) -> None:
    drawn = any_problem(data, family, "max")
    if drawn is None:
        return
    problem = drawn[0]
    outside = np.ones(problem.n_items)
    outside[problem.optimum] = 0.0
    best = total(problem.means, problem.optimum)
    arguments = (problem.feasible, problem.means, outside, best, 1e-12 * max(1.0, abs(best)))
    one, other = (find(*arguments)[outside > 0] for find in (ratio._item_by_item, ratio._all_at_once))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def top_k_ratios(means: Weights, k: int) -> Weights:
    """By sizes: with j items from outside, they are e and the best j - 1 others, in place of the worst j inside."""
    order = np.argsort(-means, kind="stable")
    goes = np.cumsum(np.append(0.0, means[order[:k]][::-1]))
    comes = np.cumsum(np.append(0.0, means[order[k:]]))
    ratios = np.full(means.size, np.nan)
    for rank, item in enumerate(order[k:]):
        j = np.arange(1, min(k, means.size - k) + 1)
        gained = np.where(rank < j, comes[j], comes[j - 1] + means[item])
        ratios[item] = (j / (goes[j] - gained)).max()
    return ratios


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """One entry for each call of `TopK.best_with_each`."""
    calls: list[float] = []
    plain = sets.TopK.best_with_each

    def counted(self: sets.TopK, weights: ArrayLike) -> Weights:
        calls.append(1.0)
        return plain(self, weights)

    monkeypatch.setattr(sets.TopK, "best_with_each", counted)
    return calls


@pytest.mark.parametrize(("n_items", "k"), [(60, 7), (500, 250), (10_000, 50)])
def test_very_many_items(n_items: int, k: int, evaluations: list[float]) -> None:
    means = np.random.default_rng(n_items).random(n_items)
    problem = Problem(sets.TopK(n_items, k), environments.Bernoulli(means))
    np.testing.assert_allclose(tight.ratios(problem), top_k_ratios(means, k), rtol=1e-9)
    assert len(evaluations) <= 10 * k


@pytest.mark.parametrize("limit", [2, 3, 4, 7, 20, 50])
def test_what_is_cut_short_is_never_too_small(
    limit: int, evaluations: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ratio, "EVALUATIONS", limit)
    means = np.random.default_rng(5).random(300)
    found = tight.ratios(Problem(sets.TopK(300, 40), environments.Bernoulli(means)))
    exact = top_k_ratios(means, 40)
    outside = ~np.isnan(exact)
    assert len(evaluations) == limit
    assert (found[outside] >= exact[outside] * (1.0 - 1e-12)).all()
    assert (found[outside] <= 40 * exact[outside]).all()
    assert found[outside].sum() < exact[outside].sum() * (1.02 if limit >= 20 else 40.0)
    assert found[outside].sum() > exact[outside].sum() * (1.1 if limit == 2 else 1.0)


def test_other_solvers_are_asked_a_few_times_per_item() -> None:
    generator = np.random.default_rng(3)
    grid = sets.GridPaths(4)
    calls = 0

    def solver(weights: Weights) -> Items:
        nonlocal calls
        calls += 1
        return grid.argmax(weights)

    coins = environments.Bernoulli(generator.random(grid.n_items))
    found = tight.ratios(Problem(sets.Oracle(solver, grid.n_items, 8), coins))
    assert calls <= 6 * grid.n_items
    np.testing.assert_allclose(found, tight.ratios(Problem(grid, coins)), rtol=1e-9)


class Listed(FeasibleSet):
    """A user's own set, with nothing but what it must have."""

    def __init__(self, plain: sets.Enumerated) -> None:
        self.plain = plain
        self.n_items, self.max_size = plain.n_items, plain.max_size

    def argmax(self, weights: ArrayLike) -> Items:
        return self.plain.argmax(weights)

    def contains(self, items) -> bool:  # type: ignore[no-untyped-def]
        return self.plain.contains(items)

    def restrict(self, include=(), exclude=()) -> FeasibleSet:  # type: ignore[no-untyped-def]
        return Listed(self.plain.restrict(include=include, exclude=exclude))


@pytest.mark.parametrize(
    ("make", "per_item"),
    [
        (lambda: sets.TopK(3, 2), False),
        (lambda: sets.Enumerated([[0, 1], [2]]), False),
        (lambda: sets.GridPaths(2), False),
        (lambda: Listed(sets.Enumerated([[0, 1], [2]])), True),
        (lambda: sets.Oracle(sets.TopK(3, 2).argmax, 3, 2), True),
        (lambda: sets.Knapsack([1.5, 2.5], 3.0), True),
        (lambda: sets.Product([sets.TopK(3, 2), sets.TopK(2, 1)]), False),
        (lambda: sets.Product([sets.TopK(3, 2), sets.Oracle(sets.TopK(3, 2).argmax, 3, 2)]), True),
    ],
)
def test_which_way(make: Callable[[], FeasibleSet], per_item: bool) -> None:
    assert ratio.asks_once_per_item(make()) == per_item


def test_by_hand() -> None:
    solutions = [[0, 1, 2], [0, 1], [0, 1, 3], [3, 5], [4, 5], [6]]
    means = [0.25, 0.5, 0.125, 0.125, 0.25, 0.125, 0.875]
    for feasible in (sets.Enumerated(solutions, n_items=8), Listed(sets.Enumerated(solutions, n_items=8))):
        problem = Problem(feasible, environments.Bernoulli([*means, 0.5]))
        assert problem.optimum.tolist() == [0, 1, 2]
        # 3 is in the tied [0, 1, 3], else in [3, 5]: 2 / 0.625. 4 and 5: 2 / 0.5. 6 is only in a tied one, 7 in none.
        np.testing.assert_allclose(tight.ratios(problem), [math.nan] * 3 + [2 / 0.625, 4.0, 4.0, 0.0, 0.0])


def test_tied_but_for_rounding() -> None:
    """0.1 + 0.2 is not quite 0.3."""
    plain = sets.Enumerated([[1, 2], [0], [0, 3], [4]])
    environment = environments.Uniform(means := [0.3, 0.1, 0.2, -0.1, 0.0], means, bounds=(-1.0, 1.0))
    for feasible in (plain, Listed(plain)):
        problem = Problem(feasible, environment)
        assert problem.gap([0]) > 0.0
        np.testing.assert_allclose(tight.ratios(problem), [20.0, math.nan, math.nan, 20.0, 1 / 0.3])


@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_the_grid_of_the_paper(m: int) -> None:
    """Δ_A = σ |A \\ A*|, with 2m² items outside the best path."""
    problem = problems.grid_path(m, 0.2)
    assert tight.ratio(problem, 1000) == pytest.approx(
        48 * m**2 / 0.2 * math.log(1000) + PER_ITEM * problem.max_size * problem.n_items
    )


def test_combucb1_stays_below() -> None:
    problem = problems.grid_path(2, 0.4)
    result = simulate(problem, policies.CombUCB1(), horizon=20_000, runs=10, seed=0)
    assert result.regret[0].mean(axis=0)[-1] < tight.ratio(problem, 20_000)


def test_nothing_to_lose() -> None:
    for solutions in ([[]], [[0, 1]], [[], [0]]):
        problem = Problem(sets.Enumerated(solutions, n_items=2), environments.Bernoulli([0.0, 0.0]))
        np.testing.assert_array_equal(np.nan_to_num(tight.ratios(problem)), [0.0, 0.0])
        assert tight.ratio(problem, 10) == PER_ITEM * problem.max_size * 2


def test_what_cannot_be_had() -> None:
    costs = environments.Uniform([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    rough = Problem(sets.Oracle(sets.TopK(3, 1).argmax, 3, 1, ratio=0.5), costs)
    with pytest.raises(errors.Unsupported, match=r"exact oracle; this one has ratio=0\.5"):
        tight.ratios(rough)
    unsigned = Problem(sets.Oracle(sets.TopK(3, 1).argmax, 3, 1, signed=False), costs, sense="min")
    with pytest.raises(errors.Unsupported, match="weights of either sign"):
        tight.ratio(unsigned, 10)
    with pytest.raises(errors.BadArgument, match="problem must be a Problem, got 3"):
        tight.ratios(3)  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match="n must be one or more rounds >= 1, got 0"):
        tight.ratio(problems.grid_path(1, 0.5), 0)
