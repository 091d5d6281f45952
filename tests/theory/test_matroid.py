"""Bounds on matroids: the exchange they rest on, the counting, the gaps and numbers worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import zeta

from semibandits import Problem, environments, errors, sets
from semibandits.theory import matroid
from semibandits.types import FeasibleSet
from support import families, strategies
from support.reference import PaperCombUCB1, Solution

BASES = {"TopK": strategies.top_k()} | {
    name: family.filter(lambda instance: instance[0].bases) for name, family in families.matroids.FAMILIES.items()
}
del BASES["AtMostK"]
few_values = st.integers(0, 4).map(lambda i: i / 4)
fractions = st.one_of(few_values, st.floats(0.0, 1.0).map(lambda x: round(x, 3)))
kinds = pytest.mark.parametrize("kind", BASES)


def pairs(solutions: list[Solution], chosen: Solution, best: Solution) -> list[tuple[int, int]]:
    """A bijection from chosen - best to best - chosen, each pair an exchange that leads from `chosen` to a solution."""
    listed = {frozenset(one) for one in solutions}
    out, into = sorted(set(chosen) - set(best)), sorted(set(best) - set(chosen))
    exchange = np.array([[(frozenset(chosen) - {e}) | {a} in listed for a in into] for e in out], dtype=float)
    rows, columns = linear_sum_assignment(-exchange.reshape(len(out), len(into)))
    found = [(out[i], into[j]) for i, j in zip(rows, columns, strict=True) if exchange[i, j]]
    assert len(found) == len(out) == len(into), "no bijection"
    return found


def brute_force_gaps(means: list[float], optimum: Solution, solutions: list[Solution]) -> list[float]:
    gaps = []
    for item, mean in enumerate(means):
        better = [means[a] - mean for a in optimum if means[a] - mean > 1e-9]
        in_some = any(item in one for one in solutions)
        gaps.append(math.nan if item in optimum else min(better, default=math.inf) if in_some else math.inf)
    return gaps


@kinds
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_best_under_any_scores_is_exchanged_pair_by_pair(kind: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(BASES[kind])
    assert matroid.is_matroid_bases(feasible)
    means, scores = data.draw(strategies.weights(feasible, fractions)), data.draw(strategies.weights(feasible))
    problem = Problem(feasible, environments.Bernoulli(means))
    gaps = matroid.exchange_gaps(problem)
    chosen, best = tuple(feasible.argmax(scores).tolist()), tuple(problem.optimum.tolist())
    matched = pairs(solutions, chosen, best)
    differences = {e: means[a] - means[e] for e, a in matched}
    assert all(scores[e] >= scores[a] for e, a in matched)
    assert sum(differences.values()) == pytest.approx(problem.gap(chosen), abs=1e-9)
    assert all(gaps[e] <= loss + 1e-9 for e, loss in differences.items() if loss > 1e-9)


@kinds
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_item_gaps(kind: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(BASES[kind])
    means = data.draw(strategies.weights(feasible, fractions))
    cheap = Problem(feasible, environments.Bernoulli(means), sense="min")
    for problem, signed in ((Problem(feasible, environments.Bernoulli(means)), 1.0), (cheap, -1.0)):
        expected = brute_force_gaps([signed * mean for mean in means], tuple(problem.optimum.tolist()), solutions)
        np.testing.assert_allclose(matroid.exchange_gaps(problem), expected, rtol=0.0, atol=1e-9)


def test_item_gaps_by_hand() -> None:
    # Groups {0, 1}, {2, 3}, {4} (never chosen): the optimum is {0, 2}; 3 has no exchange with 0, but counts.
    feasible = sets.PartitionMatroid([0, 0, 1, 1, 2], [1, 1, 0])
    rewards = Problem(feasible, environments.Bernoulli([0.5, 0.3, 0.9, 0.45, 0.1]))
    np.testing.assert_allclose(matroid.exchange_gaps(rewards), [np.nan, 0.2, np.nan, 0.05, np.inf], atol=1e-12)
    world = environments.Uniform(
        [0.0] * 5, [4.0, 6.0, 4.0, 4.0 + 1e-13, 1.0], bounds=(0.0, 6.0)
    )  # means 2, 3, 2, 2, 0.5
    costs = Problem(feasible, world, sense="min")
    np.testing.assert_allclose(matroid.exchange_gaps(costs), [np.nan, 1.0, np.nan, np.inf, np.inf], atol=1e-12)


def test_item_gaps_need_a_matroid() -> None:
    with pytest.raises(errors.Unsupported, match="bases of a matroid"):
        matroid.exchange_gaps(Problem(sets.TopK(3, 2, bases=False), environments.Bernoulli([0.1, 0.2, 0.3])))
    with pytest.raises(errors.BadArgument, match="must be a Problem, got 3"):
        matroid.exchange_gaps(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("feasible", "expected"),
    [
        (sets.TopK(4, 2), True),
        (sets.PartitionMatroid([0, 0, 1], 1), True),
        (sets.LaminarMatroid(3, [([0, 1], 1)]), True),
        (sets.GraphicMatroid([(0, 1), (1, 2), (2, 0)]), True),
        (sets.Matroid(lambda items: items.size <= 2, 4), True),
        (sets.TopK(4, 2, bases=False), False),
        (sets.PartitionMatroid([0, 0, 1], 1, bases=False), False),
        (sets.LaminarMatroid(3, [([0, 1], 1)], bases=False), False),
        (sets.GraphicMatroid([(0, 1), (1, 2), (2, 0)], bases=False), False),
        (sets.Matroid(lambda items: items.size <= 2, 4, bases=False), False),
        (sets.TopK(4, 2).restrict(include=[1]), False),
        (sets.TopK(4, 2).restrict(exclude=[1]), False),
        (sets.TopK(4, 2).restrict(), True),
        (sets.Enumerated([[0], [1]]), False),
        (sets.GridPaths(2), False),
        (sets.Product([sets.TopK(4, 2), sets.TopK(3, 1)]), False),
    ],
)
def test_is_matroid_bases(feasible: FeasibleSet, expected: bool) -> None:
    assert matroid.is_matroid_bases(feasible) is expected


@pytest.mark.parametrize(("bound", "alpha"), [(matroid.combucb1, 1.5), (matroid.omm, 2.0)])
def test_counting(bound: object, alpha: float) -> None:
    """The most that an item can lose if each value of its counter is charged the largest gap still possible."""
    assert callable(bound)
    rng = np.random.default_rng(5)
    n = 10**6
    factor = 2.0 * math.sqrt(alpha * math.log(n))  # a gap may be chosen while it is at most factor / sqrt(counter)

    def lost(gaps: NDArray[np.float64]) -> float:
        counter = np.arange(1, int((factor / gaps.min()) ** 2) + 2)
        radius = factor / np.sqrt(counter)
        ordered = np.append(0.0, np.sort(gaps))
        return float(ordered[np.searchsorted(ordered, radius, side="right") - 1].sum())

    def promised(least: float) -> float:
        return float(bound(n, 5, 2, [np.nan, least]) - bound(1, 5, 2, [np.nan, least]))

    for _ in range(50):
        gaps = rng.uniform(0.02, 1.0, rng.integers(1, 6))
        assert lost(gaps) <= promised(gaps.min())
    assert lost(np.linspace(0.01, 1.0, 3000)) >= 0.98 * promised(0.01)


@pytest.mark.parametrize("seed", range(4))
def test_combucb1_keeps_what_the_proof_says_of_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    solutions = families.matroids.solutions(6, lambda items: families.matroids.is_forest(EDGES, items), bases=True)
    means = rng.random(6).round(2)
    problem = Problem(sets.GraphicMatroid(EDGES), environments.Bernoulli(means))
    gaps = matroid.exchange_gaps(problem)
    learner, best, n = PaperCombUCB1(solutions, 6), tuple(problem.optimum.tolist()), 1500
    regret = checked = 0.0
    while learner.t <= n:
        chosen, weights = learner.choose(), (rng.random(6) < means).astype(float)
        regret += problem.gap(chosen)
        if not learner.initialising:
            radii = [math.sqrt(1.5 * math.log(learner.t - 1) / count) for count in learner.T]
            if (np.abs(learner.w_hat - means) <= radii).all():
                for e, a in pairs(solutions, chosen, best):
                    loss = means[a] - means[e]
                    assert loss <= 0 or gaps[e] - 1e-9 <= loss <= math.sqrt(6.0 * math.log(n) / learner.T[e])
                    checked += loss > 0
        learner.update(chosen, lambda e, weights=weights: float(weights[e]))
    assert checked > 50
    assert regret <= matroid.combucb1(n, 6, 3, gaps)


EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]


def test_numbers() -> None:
    gaps = [np.nan, 0.5, np.inf, 0.2]  # 1 / 0.5 + 1 / 0.2 = 7
    # n = e^2: log n = 2
    assert matroid.combucb1(math.e**2, 4, 3, gaps) == pytest.approx(12 * 7 * 2 + 4.2898681 * 12)
    assert matroid.omm(math.e**2, 4, 3, gaps) == pytest.approx(16 * 7 * 2 + 3.4041138 * 12)  # ζ(3) = 1.2020569
    assert matroid.omm_gap_free(math.e**2, 8, 2) == pytest.approx(4 * math.sqrt(64) * math.e + 3.4041138 * 16)
    assert matroid.combucb1(100, 4, 3, [np.nan] * 4) == pytest.approx(4.2898681 * 12)
    # Hoeffding's bound of each failure, added up: rounds t, counters up to t
    for per_item, alpha in ((matroid.PER_ITEM, 1.5), (matroid.OMM_PER_ITEM, 2.0)):
        t = np.arange(1.0, 1e6)
        assert per_item == pytest.approx(1.0 + np.sum(t * 2.0 * np.exp(-2.0 * alpha * np.log(t))), abs=1e-5)


def test_arrays() -> None:
    rounds = np.array([[1, 10], [1000, 10**9]])
    for bound in (
        lambda n: matroid.combucb1(n, 4, 3, [0.5]),
        lambda n: matroid.omm(n, 4, 3, [0.5]),
        lambda n: matroid.omm_gap_free(n, 4, 3),
    ):
        values = bound(rounds)
        assert values.shape == (2, 2)
        assert [float(bound(int(n))) for n in rounds.ravel()] == values.ravel().tolist()
        assert np.ndim(bound(5)) == 0
        for bad in (0, math.nan, "many"):
            with pytest.raises(errors.BadArgument, match="n must be"):
                bound(bad)


def test_bad_input() -> None:
    with pytest.raises(errors.BadArgument, match="item_gaps must be > 0"):
        matroid.combucb1(10, 4, 3, [0.5, 0.0])
    with pytest.raises(errors.BadArgument, match="K must be at most L"):
        matroid.omm(10, 3, 4, [0.5])
    with pytest.raises(errors.BadArgument, match="K must be at most L"):
        matroid.omm_gap_free(10, 3, 4)


def test_wrong_confidence_intervals_of_omm() -> None:
    assert pytest.approx(2.0 * zeta(3.0) + 1.0, rel=1e-15) == matroid.OMM_PER_ITEM
