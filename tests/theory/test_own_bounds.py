"""Bounds on the regret where items have bounds of their own: the worst that can happen, and plays."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from semibandits import Problem, environments, sets, simulate, theory
from semibandits.policies import CombUCB1
from semibandits.theory import chen2013, kveton2015, matroid, tight
from semibandits.types import Scalar, Sense
from support.own_bounds import (
    SETS,
    Numbers,
    item_gaps_of,
    listed_solutions,
    play,
    random_problem,
    ratio_sum,
    worst_case,
)
from support.reference import Solution

ADDITIVE = math.pi**2 / 3 + 1
Bound = Callable[[float], Scalar]
PAPER, OURS, CHEN, MATROID = "Kveton et al. 2015", "semibandits", "Chen et al. 2013", "after Kveton et al. 2014"
WHATEVER = (f"{PAPER}, Theorem 6", f"{OURS}, D, gap-free", f"{CHEN}, Theorem 2")
"""Bounds of so many rounds, whatever the gaps."""


def growing(bound: Bound, n: float) -> float:
    """The part that grows: at one round log n is 0."""
    return float(bound(n) - bound(1))


def by_gaps(solutions: list[Solution], gaps: Numbers, spans: Numbers, K: int) -> dict[str, Bound]:
    """All bounds by gaps, of so many items outside the optimum and none inside."""
    M, of_items = spans.size, item_gaps_of(solutions, gaps, spans.size)
    least, most = float(gaps.min()), float(gaps.max())
    bounds: dict[str, Bound] = {
        "Theorem 3": lambda n: kveton2015.theorem_3(n, M, K, of_items, spans=spans),
        "Theorem 5": lambda n: kveton2015.theorem_5(n, M, K, of_items, spans=spans),
        "B, item gaps": lambda n: tight.amortised_item_gaps(n, M, K, of_items, spans=spans),
        "C, item gaps": lambda n: tight.item_gap_form(n, M, K, of_items, spans=spans),
        "Chen 1": lambda n: chen2013.theorem_1(n, M, K, of_items, least, most, spans=spans),
        "C, counted": lambda n: 24 * math.log(n) * ratio_sum(solutions, gaps, spans * spans, np.sign(spans)),
        "C, weighed": lambda n: 24 * math.log(n) * ratio_sum(solutions, gaps, spans, spans),
    }
    if least == most:
        bounds |= {
            "Theorem 2": lambda n: kveton2015.theorem_2(n, M, K, least, spans=spans),
            "Theorem 4": lambda n: kveton2015.theorem_4(n, M, K, least, spans=spans),
            "A": lambda n: tight.cascade_one_gap(n, M, K, least, 0, spans=spans, optimum=()),
            "B": lambda n: tight.one_gap(n, M, K, least, 0, spans=spans, optimum=()),
        }
    return bounds


def whatever_the_gaps(M: int, K: int, spans: Numbers) -> dict[str, Bound]:
    return {
        "Theorem 6": lambda n: kveton2015.theorem_6(n, M, K, spans=spans),
        "D": lambda n: tight.gap_free(n, M, K, 0, spans=spans),
        "Chen 2": lambda n: chen2013.theorem_2(n, M, K, spans=spans),
    }


def a_case(seed: int, one_gap: bool) -> tuple[list[Solution], Numbers, Numbers, int]:
    """Solutions, gaps, spans and K: with log n = 1, few enough counters can be reached."""
    generator = np.random.default_rng(seed)
    M, K = [(2, 1), (2, 2), (3, 2), (3, 3)][seed % 4]
    unit = 10.0 ** generator.integers(-3, 4)
    spans = unit * 10.0 ** generator.uniform(-2.0, 0.0, M)
    spans[0] = unit
    if seed % 3 == 0:
        spans[-1] = 0.0
    every = [one for size in range(1, K + 1) for one in itertools.combinations(range(M), size)]
    solutions = [one for one in every if generator.random() < 0.7] or every
    reach = np.array([spans[list(one)].sum() for one in solutions]) * math.sqrt(6.0)
    gaps = np.maximum(reach, 1e-3 * unit) / np.sqrt(generator.uniform(1.0, 12.0, len(solutions)))
    if one_gap:
        gaps[:] = max(reach.max(), 1e-3 * unit) / math.sqrt(generator.uniform(1.0, 20.0))
    return solutions, gaps, spans, K


# The worst case


@pytest.mark.parametrize("u", [1.0, 7.3, 41.0])
def test_the_worst_case_of_single_items(u: float) -> None:
    """An item may be chosen until its counter exceeds c² u / Δ²."""
    spans, gaps = np.array([3.0, 0.5, 0.0]), np.array([2.0, 0.3, 0.1])
    alone: list[Solution] = [(0,), (1,), (2,)]
    expected = sum(gap * math.floor(c * c * u / gap**2) for c, gap in zip(spans, gaps, strict=True))
    assert worst_case(alone, gaps, spans, u) == pytest.approx(expected)
    assert worst_case([(0, 1)], np.array([2.0]), spans, u) == pytest.approx(2.0 * math.floor(3.5**2 * u / 4.0))
    assert worst_case([(0, 2)], np.array([2.0]), spans, u, rounds=1) == (2.0 if u * 9 >= 4 else 0.0)


@pytest.mark.parametrize("one_gap", [False, True])
@pytest.mark.parametrize("seed", range(24))
def test_no_choices_lose_more_than_bounds_by_gaps(seed: int, one_gap: bool) -> None:
    solutions, gaps, spans, K = a_case(seed, one_gap)
    lost = worst_case(solutions, gaps, spans, u=6.0)
    for name, bound in by_gaps(solutions, gaps, spans, K).items():
        assert lost <= growing(bound, math.e) * (1.0 + 1e-12), name


@pytest.mark.parametrize("seed", range(12))
def test_no_choices_lose_more_than_bounds_whatever_the_gaps(seed: int) -> None:
    solutions, gaps, spans, K = a_case(seed, False)
    n = 9
    lost = worst_case(solutions, gaps * 1.5, spans, u=6.0 * math.log(n), rounds=n)
    for name, bound in whatever_the_gaps(spans.size, K, spans).items():
        assert lost <= growing(bound, n) * (1.0 + 1e-12), name


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_no_choices_lose_more_in_many_cases(seed: int) -> None:
    test_no_choices_lose_more_than_bounds_by_gaps(seed, seed % 2 == 0)
    test_no_choices_lose_more_than_bounds_whatever_the_gaps(seed)


@pytest.mark.parametrize("spans", [[10.0, 0.1], [7.0, 1.0, 0.02, 0.0]])
def test_little_is_given_away(spans: list[float]) -> None:
    """For single items A and B are what can be lost, but for rounding down; so is D, of gaps that shrink."""
    c = np.array(spans)
    alone: list[Solution] = [(e,) for e in range(c.size)]
    gap = 0.05 * float(c[c > 0.0].min())
    lost = sum(gap * math.floor(6.0 * one**2 / gap**2) for one in spans)
    for bound in (tight.one_gap, tight.cascade_one_gap):
        promised = growing(lambda n, bound=bound: bound(n, c.size, 1, gap, 0, spans=c), math.e)  # type: ignore[misc]
        assert 0.999 * promised <= lost <= promised * (1.0 + 1e-12)
    by_items = growing(by_gaps(alone, np.full(c.size, gap), c, 1)["B, item gaps"], math.e)
    assert by_items == pytest.approx(2.0 * lost, rel=1e-3)
    n = 200_000
    u = 6.0 * math.log(n)
    often = np.floor(n * c**2 / (c**2).sum())  # each is chosen so often, with the largest gap that is allowed
    lost = sum(one * (1.0 / np.sqrt(np.arange(1, k + 1))).sum() for one, k in zip(c, often, strict=True)) * math.sqrt(u)
    promised = growing(lambda n: tight.gap_free(n, c.size, 1, 0, spans=c), n)
    assert 0.98 * promised <= lost <= promised


@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_the_counting_on_matroids(alpha: float) -> None:
    """The most that an item can lose if each value of its counter is charged the largest gap still possible."""
    n, bound = 10**4, matroid.combucb1 if alpha == 1.5 else matroid.omm
    for c, least in ((30.0, 0.7), (0.02, 0.002)):
        s = np.arange(1, int(4.0 * alpha * math.log(n) * (c / least) ** 2) + 1)
        lost = float((2.0 * c * math.sqrt(alpha * math.log(n)) / np.sqrt(s)).sum())
        promised = growing(lambda n, c=c, least=least: bound(n, 2, 1, [math.nan, least], spans=[5.0, c]), n)  # type: ignore[misc]
        assert 0.95 * promised <= lost <= promised


def test_a_problem_from_the_solutions_to_its_bounds() -> None:
    """Whatever is offered for CombUCB1 is above the worst case of the problem's own solutions."""
    compared = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        listed = [(0,), (1, 2), (2, 3), (3,)] if seed % 2 else [(0, 1), (0, 2), (1, 3), (2, 3)]
        problem = random_problem(sets.Enumerated(listed, n_items=4), "min" if seed % 3 == 0 else "max", generator)
        best = set(problem.optimum.tolist())
        gaps = np.array([problem.gap(one) for one in listed])
        beyond = [tuple(sorted(set(one) - best)) for one in listed]
        reach = np.array([problem.spans[list(one)].sum() for one in beyond])
        hard = [one for one in np.flatnonzero(gaps > 1e-9) if gaps[one] * 10.0 > reach[one] * math.sqrt(6.0)]
        if not hard or len(hard) < np.count_nonzero(gaps > 1e-9):
            continue  # too many counters
        n = 5
        bounds = theory.bounds(problem, [1, math.e, n])
        suboptimal = [beyond[one] for one in hard], gaps[hard], problem.spans
        ever, soon = worst_case(*suboptimal, u=6.0), worst_case(*suboptimal, u=6.0 * math.log(n), rounds=n)
        for bound in bounds.of("upper", "CombUCB1"):
            grown = (bound.value - bound.value[0]) * (1.0 + 1e-9)
            assert soon <= grown[2], (seed, bound.title)
            assert ever <= grown[1] or bound.title in WHATEVER, (seed, bound.title)
        compared += ever > 0.0
    assert compared >= 8


# Plays


def below_every_bound(problem: Problem, listed: list[Solution], horizon: int, runs: int, seed: int) -> None:
    played = {
        "CombUCB1": play(problem, listed, horizon, runs, seed),
        "OMM": play(problem, listed, horizon, runs, seed, alpha=2.0),
    }
    rounds = np.unique([horizon // 50, horizon // 5, horizon])
    bounds = theory.bounds(problem, rounds)
    for policy, result in played.items():
        assert result.exceptions == 0
        for bound in bounds.of("upper", policy):
            assert (result.regret.mean(axis=0)[rounds - 1] <= bound.value).all(), bound.title
    assert len(bounds.of("upper", "CombUCB1")) >= 9


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("name", SETS)
def test_regret_is_below_every_bound(name: str, sense: Sense) -> None:
    feasible = SETS[name]()
    problem = random_problem(feasible, sense, np.random.default_rng(len(name)))
    below_every_bound(problem, listed_solutions(feasible), horizon=600, runs=8, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("name", SETS)
def test_regret_is_below_every_bound_for_long(name: str, sense: Sense, seed: int) -> None:
    feasible = SETS[name]()
    problem = random_problem(feasible, sense, np.random.default_rng(1000 + seed))
    below_every_bound(problem, listed_solutions(feasible), horizon=10_000, runs=20, seed=seed)


def test_intervals_as_wide_as_the_widest_lose_more() -> None:
    """What bounds per item are for: an item that is known to vary little is soon told apart."""
    lo, span = np.array([0.0, 4.0, 4.5, 4.7]), np.array([10.0, 0.5, 0.4, 0.2])
    coins = environments.Bernoulli([0.5, 0.5, 0.5, 0.5])
    problem = Problem(sets.TopK(4, 1), environments.Scaled(coins, (lo, lo + span)))
    common = Problem(sets.TopK(4, 1), environments.Table([lo + 0.5 * span] * 2, bounds=(0.0, 10.0)))
    own = play(problem, [(0,), (1,), (2,), (3,)], 3000, 8, 0).regret.mean(axis=0)[-1]
    wide = play(common, [(0,), (1,), (2,), (3,)], 3000, 8, 0).regret.mean(axis=0)[-1]
    assert own < 0.2 * wide
    one, other = (theory.bounds(each, 3000).of("upper", "CombUCB1")[0].value[0] for each in (problem, common))
    assert one < 0.2 * other


@pytest.mark.parametrize(("name", "sense"), [("up to two", "max"), ("paths", "min")])
def test_regret_of_the_engine_is_below_every_bound(name: str, sense: Sense) -> None:
    problem = random_problem(SETS[name](), sense, np.random.default_rng(5))
    result = simulate(problem, [CombUCB1(), CombUCB1(alpha=2.0)], horizon=2000, runs=10, seed=0, progress=False)
    bounds = theory.bounds(problem, result.rounds)
    for policy, regret in zip(("CombUCB1", "OMM"), result.regret, strict=True):
        for bound in bounds.of("upper", policy):
            assert (regret.mean(axis=0) <= bound.value).all(), bound.title
    other = play(problem, listed_solutions(problem.feasible), 2000, 60, 0).regret[30:, -1]  # items drawn apart
    ours = result.regret[0, :, -1]
    error = math.sqrt(ours.var(ddof=1) / ours.size + other.var(ddof=1) / other.size)
    assert abs(ours.mean() - other.mean()) <= 4.5 * error + 1e-9
