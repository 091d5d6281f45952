"""The Graves–Lai bound against closed forms, a fine grid of confusing means, and another optimiser."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, linprog, minimize

from semibandits import environments, errors, problems, sets
from semibandits.problem import Problem
from semibandits.theory.graves_lai.constant import anantharam, graves_lai_constant, independent_paths, lai_robbins
from semibandits.theory.graves_lai.cuts import information, solve_inner
from semibandits.types import FeasibleSet, Sense
from support.reference import paths, restricted

Solutions = Sequence[Sequence[int]]


def kl(p: float, q: float) -> float:
    q = min(q, 1.0 - 1e-15)
    up = p * math.log(p / q) if p > 0.0 else 0.0
    down = (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) if p < 1.0 else 0.0
    return up + down


def coins(feasible: FeasibleSet | Solutions, means: Sequence[float], sense: str = "max") -> Problem:
    if not isinstance(feasible, FeasibleSet):
        feasible = sets.Enumerated(feasible, n_items=len(means))
    return Problem(feasible, environments.Bernoulli(means), sense=sense)  # type: ignore[arg-type]


def check(problem: Problem, expected: float, tolerance: float = 1e-6, **limits: int) -> None:
    lower, upper = graves_lai_constant(problem, tolerance=tolerance, **limits)
    assert type(lower) is type(upper) is float
    assert lower <= expected * (1 + 1e-11)
    assert expected <= upper * (1 + 1e-11)
    assert upper - lower <= (tolerance + 4e-12) * upper


class Facts:
    """Gaps and the items outside all optima, by listing."""

    def __init__(self, solutions: Solutions, means: Sequence[float], sense: str) -> None:
        sign = 1.0 if sense == "max" else -1.0
        value = [sign * sum(means[i] for i in one) for one in solutions]
        self.p = [m if sense == "max" else 1.0 - m for m in means]
        self.gaps = [max(value) - v for v in value]
        known = {i for one, gap in zip(solutions, self.gaps, strict=True) if gap < 1e-9 for i in one}
        self.outside = [[i for i in one if i not in known] for one in solutions]


def by_grid(solutions: Solutions, means: Sequence[float], sense: str, points: int = 300) -> float:
    """The linear programme with a constraint for each of many confusing means; for at most two unknown items."""
    facts = Facts(solutions, means, sense)
    rows = []
    for outside, gap in zip(facts.outside, facts.gaps, strict=True):
        for share in np.linspace(0.0, 1.0, points + 1) if len(outside) == 2 else [1.0]:
            moved = dict(zip(outside, [share * gap, gap - share * gap], strict=False))
            if outside and all(facts.p[i] + more < 1.0 - 1e-9 for i, more in moved.items()):
                cost = {i: kl(facts.p[i], facts.p[i] + more) for i, more in moved.items()}
                rows.append([-sum(cost.get(i, 0.0) for i in one) for one in solutions])
    return float(linprog(facts.gaps, A_ub=rows, b_ub=[-1.0] * len(rows)).fun) if rows else 0.0


def by_slsqp(solutions: Solutions, means: Sequence[float], sense: str = "max") -> float:
    facts = Facts(solutions, means, sense)
    constrained = [
        (outside, gap)
        for outside, gap in zip(facts.outside, facts.gaps, strict=True)
        if sum(1.0 - facts.p[i] for i in outside) > gap + 1e-9
    ]
    holds = np.array([[float(i in one) for i in range(len(means))] for one in solutions])

    def change(outside: list[int], gap: float, t: np.ndarray) -> dict[int, float]:
        def at(eta: float) -> dict[int, float]:
            return {
                i: brentq(lambda q, i=i: t[i] * (q - facts.p[i]) - eta * q * (1.0 - q), facts.p[i], 1.0) - facts.p[i]
                for i in outside
            }

        return at(brentq(lambda eta: sum(at(eta).values()) - gap, 1e-12, 1e9, xtol=1e-14))

    def slack(x: np.ndarray) -> np.ndarray:
        t = x @ holds + 1e-12
        answers = [change(outside, gap, t) for outside, gap in constrained]
        return np.array([sum(t[i] * kl(facts.p[i], facts.p[i] + m) for i, m in one.items()) - 1.0 for one in answers])

    def slope(x: np.ndarray) -> np.ndarray:
        t = x @ holds + 1e-12
        return np.array(
            [
                holds @ [kl(facts.p[i], facts.p[i] + one[i]) if i in one else 0.0 for i in range(len(means))]
                for one in (change(outside, gap, t) for outside, gap in constrained)
            ]
        )

    gaps = np.array(facts.gaps)
    start = np.full(len(solutions), 100.0)
    answer = minimize(
        lambda x: x @ gaps / 10.0,
        start,
        jac=lambda x: gaps / 10.0,
        bounds=[(0.0, None)] * len(solutions),
        constraints={"type": "ineq", "fun": slack, "jac": slope},
        method="SLSQP",
        options={"ftol": 1e-10, "maxiter": 300},
    )
    assert answer.success
    assert slack(answer.x).min() > -1e-6
    return float(answer.fun) * 10.0


def test_lai_robbins_and_anantharam() -> None:
    means = [0.9, 0.5, 0.8, 0.0]
    expected = sum((0.9 - m) / kl(m, 0.9) for m in means[1:])
    assert lai_robbins(means) == pytest.approx(expected, rel=1e-13)
    assert anantharam(means, 1) == lai_robbins(means)
    assert anantharam(means, 2) == pytest.approx(0.3 / kl(0.5, 0.8) + 0.8 / kl(0.0, 0.8), rel=1e-13)
    assert anantharam(means, 4) == 0.0
    assert anantharam([0.7, 0.5, 0.5, 0.2], 2) == pytest.approx(0.3 / kl(0.2, 0.5), rel=1e-13)
    assert anantharam([0.5, 0.5 - 1e-13], 1) == 0.0
    assert anantharam([1.0, 0.3], 1) == 0.0
    assert anantharam([1.0, 0.3, 0.1], 2) == pytest.approx(0.2 / kl(0.1, 0.3), rel=1e-13)


def test_tiny_differences_keep_their_digits() -> None:
    p = np.array([0.3, 0.5, 1e-3, 0.999])
    delta = 1e-9 * p
    np.testing.assert_allclose(information(p, delta), delta**2 / (2 * p * (1 - p)), rtol=1e-5)
    exact = [kl(0.3, 0.3 + 0.3 * x) for x in (0.0199, 0.0201, 0.5)]  # on both sides of where the series ends
    np.testing.assert_allclose(information(np.full(3, 0.3), 0.3 * np.array([0.0199, 0.0201, 0.5])), exact, rtol=1e-11)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(-6.0, 6.0)), min_size=1, max_size=4),
    st.floats(0.001, 0.999),
)
def test_inner_problem(items: list[tuple[float, float]], share: float) -> None:
    """Weak duality closes; and for two items a grid of changes is never below."""
    p = np.array([one[0] for one in items] + [1.0])
    t = np.array([10.0 ** one[1] for one in items] + [1.0])
    room = float((1.0 - p).sum())
    assume(room > 1e-3)
    gap = share * room
    inner = solve_inner(np.arange(p.size)[None, :], np.array([gap]), t, p)
    above = float(inner.information[0] @ t)
    assert inner.value[0] <= above * (1 + 1e-11)
    assert inner.value[0] >= above * (1 - 1e-7)
    if len(items) == 2:
        first = np.linspace(max(0.0, gap - (1 - p[1])), min(gap, 1 - p[0]), 100)[1:-1]
        changes = np.stack([first, gap - first])
        grid = t[:2] @ information(np.broadcast_to(p[:2, None], changes.shape), changes)
        assert grid.min() >= inner.value[0] * (1 - 1e-9)


def test_the_paper_s_grid() -> None:
    problem = problems.grid_path(2, 0.4)
    lower, upper = graves_lai_constant(problem)
    assert f"{lower:.3f} {upper:.3f}" == "2.964 2.964"
    listed = paths(problem.feasible.edges, (0, 0), (2, 2))  # type: ignore[attr-defined]
    assert by_slsqp(listed, problem.means.tolist()) == pytest.approx(lower, rel=1e-5)
    lower, upper = graves_lai_constant(problems.grid_path(4, 0.2))
    assert lower <= upper <= lower * (1 + 1e-6)
    found = graves_lai_constant(problems.grid_path(4, 0.2), max_solutions=69)
    assert max(lower, found.lower) <= min(upper, found.upper)
    assert found.upper <= found.lower * (1 + 1e-6)


@pytest.mark.parametrize("limit", [1, 1000])
@pytest.mark.parametrize(("L", "K", "gap"), [(12, 1, 0.3), (12, 3, 0.3), (8, 4, 1.7), (4, 4, 0.5), (6, 2, 1e-3)])
def test_independent_paths(L: int, K: int, gap: float, limit: int) -> None:
    means = np.where(np.arange(L) < K, 0.5, 0.5 - gap / K).tolist()
    expected = (L / K - 1) * gap / (K * kl(0.5 - gap / K, 0.5))
    assert independent_paths(L, K, gap) == pytest.approx(expected, rel=1e-9)
    check(coins(sets.KPaths(L, K), means), independent_paths(L, K, gap), max_solutions=limit)


@settings(max_examples=40)
@given(st.data())
def test_top_k(data: st.DataObject) -> None:
    """The formula, the list, and the search agree: also with ties, and means 0 and 1."""
    means = data.draw(st.lists(st.integers(0, 10).map(lambda i: i / 10), min_size=1, max_size=6))
    k = data.draw(st.integers(1, len(means)))
    sense = data.draw(st.sampled_from(["max", "min"]))
    expected = anantharam(means if sense == "max" else [1.0 - m for m in means], k)
    formula = graves_lai_constant(coins(sets.TopK(len(means), k), means, sense))
    assert formula.lower == formula.upper == pytest.approx(expected, rel=1e-12)
    check(coins(list(itertools.combinations(range(len(means)), k)), means, sense), expected)
    solver = sets.TopK(len(means), k)
    check(coins(sets.Oracle(solver.argmax, len(means), k), means, sense), expected, max_solutions=1)


def test_top_k_of_very_many_needs_no_listing_and_may_be_restricted() -> None:
    means = np.linspace(0.1, 0.9, 5000)
    lower, upper = graves_lai_constant(coins(sets.TopK(5000, 50), means.tolist()))
    assert lower == upper == anantharam(means, 50)
    means = np.array([0.9, 0.8, 0.6, 0.5, 0.4, 0.2])
    some = [set(one) for one in itertools.combinations(range(6), 3)]
    for include, exclude in [((5,), ()), ((), (0, 1)), ((4, 5), (0,)), ((0, 1, 5), ()), ((), (0, 1, 2))]:
        listed = restricted([tuple(sorted(one)) for one in some], set(include), set(exclude))
        part = graves_lai_constant(coins(sets.TopK(6, 3).restrict(include, exclude), means.tolist()))
        assert part.lower == part.upper
        check(coins(listed, means.tolist()), part.lower)


@st.composite
def instances(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[float], str]:
    n_items = draw(st.integers(2, 5))
    every = [one for size in range(3) for one in itertools.combinations(range(n_items), size)]
    solutions = draw(st.lists(st.sampled_from(every), min_size=2, max_size=8, unique=True))
    means = draw(st.lists(st.integers(0, 20).map(lambda i: i / 20), min_size=n_items, max_size=n_items))
    return solutions, means, draw(st.sampled_from(["max", "min"]))


@settings(max_examples=150)
@given(instances())
def test_against_a_grid_of_confusing_means(instance: tuple[list[tuple[int, ...]], list[float], str]) -> None:
    solutions, means, sense = instance
    lower, upper = graves_lai_constant(coins(solutions, means, sense))
    grid = by_grid(solutions, means, sense)  # from below
    assert 0.0 <= lower <= upper <= lower * (1 + 1e-6) + 1e-300
    assert grid <= upper * (1 + 1e-9)
    assert grid >= lower * (1 - 1e-3)


@settings(max_examples=60)
@given(instances())
def test_search_agrees_with_list(instance: tuple[list[tuple[int, ...]], list[float], str]) -> None:
    solutions, means, sense = instance
    listed = graves_lai_constant(coins(solutions, means, sense))
    solver = sets.Enumerated(solutions, n_items=len(means))
    oracle = sets.Oracle(solver.argmax, len(means), max(1, solver.max_size))
    found = graves_lai_constant(coins(oracle, means, sense), max_solutions=1)
    assert found.lower <= listed.upper
    assert listed.lower <= found.upper
    assert found.upper - found.lower <= 1.1e-6 * found.upper


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sense", ["max", "min"])
def test_against_another_optimiser(seed: int, sense: str) -> None:
    rng = np.random.default_rng(seed)
    solutions = [tuple(sorted(rng.choice(6, size=3, replace=False).tolist())) for _ in range(5)]
    means = rng.uniform(0.1, 0.9, size=6).round(2).tolist()
    expected = by_slsqp(solutions, means, sense)
    lower, upper = graves_lai_constant(coins(solutions, means, sense))
    assert lower == pytest.approx(expected, rel=1e-5)
    assert upper == pytest.approx(expected, rel=1e-5)


def test_costs_are_rewards_mirrored() -> None:
    rng = np.random.default_rng(5)
    means = rng.uniform(size=16)
    rewards = graves_lai_constant(coins(sets.Assignment(4, 4), means.tolist()), tolerance=1e-9)
    costs = graves_lai_constant(coins(sets.Assignment(4, 4), (1.0 - means).tolist(), "min"), tolerance=1e-9)
    assert costs.lower == pytest.approx(rewards.lower, rel=3e-9)


def test_several_optima_and_items_in_every_solution() -> None:
    one = 0.5 / kl(0.3, 0.8)
    check(coins([[0], [1], [2]], [0.8, 0.8, 0.3]), one)
    check(coins([[0, 3], [1, 3], [2, 3]], [0.8, 0.8, 0.3, 0.4]), one)
    check(coins([[0, 1], [2, 3], [0, 2], [1, 4]], [0.5, 0.5, 0.5, 0.5, 0.2]), 0.3 / kl(0.2, 0.5))
    # [0, 2] is worse than the optima [0, 1] and [2, 3] but made of their items only: it has no constraint
    check(coins([[0, 1], [2, 3], [0, 2]], [0.5, 0.3, 0.2, 0.6]), 0.0)


def test_nothing_to_learn() -> None:
    for problem in [
        coins([[0], [1]], [0.5, 0.5]),
        coins([[0, 1]], [0.5, 0.2]),
        coins([[0], [1]], [1.0, 0.5]),  # 1 cannot be surpassed
        coins([[0], [1]], [0.0, 0.5], "min"),
        coins([[], [0]], [0.3], "min"),  # nothing costs nothing
        coins([[], [0]], [0.3]),
        coins([[0, 1, 2], [3, 4]], [0.9, 0.9, 0.4, 0.1, 0.2]),  # two items are never worth more than 2
        coins(sets.Oracle(sets.TopK(3, 1).argmax, 3, 1), [1.0, 0.5, 0.1]),
    ]:
        assert graves_lai_constant(problem, max_solutions=1) == (0.0, 0.0)


def test_close_to_impossible() -> None:
    """λ must come so close to 1 that its information is large, and C small."""
    problem = coins([[0, 1], [2, 3]], [0.999, 1.0, 0.5, 0.5])
    check(problem, 0.999 / (2 * kl(0.5, 0.9995)))


def test_oracles_that_need_negative_weights_are_listed_or_refused() -> None:
    edges = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "b"), ("b", "d"), ("c", "d"), ("a", "d")]
    means = [0.2, 0.3, 0.2, 0.1, 0.6, 0.4, 0.9]
    roads = sets.Paths(edges, "a", "d")
    assert not roads.signed
    listed = [(0, 4), (1, 5), (0, 2, 5), (1, 3, 4), (6,)]
    expected = graves_lai_constant(coins(listed, means, "min"))
    got = graves_lai_constant(coins(roads, means, "min"), max_solutions=5)
    assert got.lower == pytest.approx(expected.lower, rel=1e-6)
    assert expected.lower == pytest.approx(by_slsqp(listed, means, "min"), rel=1e-5)
    with pytest.raises(errors.Unsupported, match="more than max_solutions=4 solutions"):
        graves_lai_constant(coins(roads, means, "min"), max_solutions=4)


def test_gaps_of_very_different_size() -> None:
    rng = np.random.default_rng(11)
    solutions = [one for size in (1, 2, 3) for one in itertools.combinations(range(5), size)]
    for _ in range(10):
        means = 0.5 + 1e-4 * rng.standard_normal(5)
        lower, upper = graves_lai_constant(coins(solutions, means.tolist(), "min"))
        assert 0.0 < lower <= upper <= lower * (1 + 1e-6)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-9])
def test_tolerance(tolerance: float) -> None:
    problem = problems.grid_path(3, 0.3)
    value = graves_lai_constant(problem, tolerance=1e-10).lower
    check(problem, value, tolerance)
    check(problem, value, tolerance, max_solutions=1)


def test_few_observations_suffice_for_what_the_bound_says() -> None:
    """Gaps close to the rounding of sums: still certified, if not as tight."""
    lower, upper = graves_lai_constant(coins([[0, 1], [2, 3], [1, 2]], [0.5, 0.5, 0.5 - 1e-9, 0.5 - 1e-9]))
    assert 0.0 < lower <= upper < math.inf
    check(coins([[0], [1]], [0.5, 0.5 - 1e-7]), anantharam([0.5, 0.5 - 1e-7], 1))


def test_what_is_missing_is_named() -> None:
    with pytest.raises(errors.Unsupported, match="share a coin"):
        graves_lai_constant(problems.k_path(4, 2, 0.5))
    with pytest.raises(errors.Unsupported, match="Bernoulli environment, got Beta"):
        graves_lai_constant(Problem(sets.TopK(2, 1), environments.Beta([0.5, 0.4], 2.0)))
    rough = sets.Oracle(sets.TopK(3, 1).argmax, 3, 1, ratio=0.5)
    with pytest.raises(errors.Unsupported, match=r"ratio=0\.5"):
        graves_lai_constant(coins(rough, [0.5, 0.4, 0.3]))
    own = Problem(sets.TopK(2, 1), environments.Bernoulli([0.5, 0.4], groups=[7, 3]))
    assert graves_lai_constant(own).lower == pytest.approx(0.1 / kl(0.4, 0.5))


def test_bad_input() -> None:
    problem = coins([[0], [1]], [0.5, 0.4])
    for tolerance in (0.0, -1.0, 1.0, math.nan, "1", True, None):
        with pytest.raises(errors.BadArgument, match="tolerance must be"):
            graves_lai_constant(problem, tolerance=tolerance)  # type: ignore[arg-type]
    for limit in (0, 1.5, True, None):
        with pytest.raises(errors.BadArgument, match="max_solutions must be"):
            graves_lai_constant(problem, max_solutions=limit)  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match="must be a Problem, got 3"):
        graves_lai_constant(3)  # type: ignore[arg-type]
    for means in ([], [0.5, 1.5], [-0.1], [math.nan], "ab", [[0.5]]):
        with pytest.raises(errors.BadArgument, match="means must be"):
            lai_robbins(means)  # type: ignore[arg-type]
    for k in (0, 3, 1.0, True):
        with pytest.raises(errors.BadArgument, match="k must be"):
            anantharam([0.5, 0.4], k)  # type: ignore[arg-type]
    for L, K, gap, says in [
        (5, 2, 0.5, "multiple of K = 2, got 5"),
        (4, 2, 1.0, "less than K/2 = 1.0, got 1.0"),
        (4, 2, 0.0, "gap must be a finite number > 0"),
        (2, 4, 0.5, "K must be at most L"),
    ]:
        with pytest.raises(errors.BadArgument, match=says):
            independent_paths(L, K, gap)


@pytest.mark.parametrize(("sense", "means"), [("min", [1e-15, 1e-3]), ("max", [1e-10, 1e-300])])
def test_means_whose_digits_would_be_lost(sense: Sense, means: list[float]) -> None:
    for feasible in (sets.TopK(2, 1), sets.Enumerated([[0], [1]])):
        problem = Problem(feasible, environments.Bernoulli(means), sense)
        with pytest.raises(errors.Unsupported, match=f"0 or at least .*, got {min(means)}"):
            graves_lai_constant(problem)
