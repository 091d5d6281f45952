"""Which bounds are offered, and their values, against formulas written out over listed solutions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Problem, environments, errors, problems, sets, simulate, theory
from semibandits.policies import CombUCB1
from semibandits.types import Sense
from support.families import FAMILIES
from support.measured import below_every_bound
from support.reference import Solution, value

N = 5000
ADDITIVE = math.pi**2 / 3 + 1
PAPER = [f"Kveton et al. 2015, Theorem {number}" for number in (2, 3, 4, 5, 6)]
ONE_GAP = {PAPER[0], PAPER[2], "semibandits, A, exact cascade", "semibandits, B, amortised"}


def titles(problem: Problem, kind: Any = "upper", policy: str | None = "CombUCB1") -> set[str]:
    return {bound.title for bound in theory.bounds(problem, N).of(kind, policy)}


def least(charged: Callable[[np.ndarray], np.ndarray]) -> float:
    """Over a grid of q, so fine that what it misses is below 1e-7."""
    return float(charged(np.geomspace(1e-4, 1e9, 200_001)).min())


def written_out(problem: Problem, listed: list[Solution], span: float, loss: float) -> dict[str, float]:
    """All upper bounds at round N, from the list of all solutions, of which one is the best."""
    means, sense, L, K = problem.means.tolist(), problem.sense, problem.n_items, max(problem.max_size, 1)
    sign = 1.0 if sense == "max" else -1.0
    values = {one: sign * value(one, means) for one in listed}
    best = max(values.values())
    gaps = {one: best - v for one, v in values.items() if best - v > 1e-12 * max(1.0, abs(best))}
    (optimum,) = (one for one in values if one not in gaps)
    with_each = {e: {one: gap for one, gap in gaps.items() if e in one} for e in range(L)}
    outside = {e: found for e, found in with_each.items() if e not in optimum and found}
    inverse = sum(1 / min(found.values()) for found in outside.values())
    ratios = sum(max(len(set(one) - set(optimum)) / gap for one, gap in found.items()) for found in outside.values())
    log, more = math.log(N), ADDITIVE * K * L * loss
    root, scale = span * math.sqrt(K * N * log), span**2 * log
    amortised = least(lambda q: 6 * (1 + q * K) ** 2 * (1 + 2 * q) / (q * (1 + q) ** 2))
    bounds = {
        PAPER[1]: 96 * K ** (4 / 3) * scale * inverse + more,
        PAPER[3]: 534 * K * scale * inverse + more,
        PAPER[4]: 47 * root * math.sqrt(L) + more,
        "semibandits, B, item gaps": amortised * scale * inverse + more,
        "semibandits, C, item gaps": 24 * K * scale * inverse + more,
        "semibandits, D, gap-free": 2 * math.sqrt(6 * (L - len(optimum))) * root + more,
    }
    if problem.feasible.signed:
        bounds["semibandits, C, ratio form"] = 24 * scale * ratios + more
    if theory.matroid.is_matroid_bases(problem.feasible):
        better = {
            e: [sign * (means[f] - means[e]) for f in optimum if sign * (means[f] - means[e]) > 1e-12]
            for e in range(L)
            if e not in optimum and any(e in one for one in listed)
        }
        exchanges = sum(1 / min(found) for found in better.values() if found)
        omm = (2 * 1.2020569031595942 + 1) * K * L * loss
        bounds["after Kveton et al. 2014, matroid"] = 12 * scale * exchanges + more
        bounds["after Kveton et al. 2014, OMM on a matroid"] = 16 * scale * exchanges + omm
        bounds["after Kveton et al. 2014, OMM, gap-free"] = 4 * math.sqrt(2 * L) * root + omm
    if gaps:
        smallest, largest = min(gaps.values()), max(gaps.values()) if problem.feasible.signed else K * loss
        # Sums over all items: for those of the optimum the least gap of all stands in.
        counted, everywhere = len(outside) + len(optimum), inverse + len(optimum) / smallest
        tail = ADDITIVE * L * largest
        bounds["Chen et al. 2013, Theorem 1"] = 6 * K**2 * scale * (2 * everywhere - counted / largest) + tail
        bounds["Chen et al. 2013, Theorem 2"] = 2 * K * span * math.sqrt(6 * L * N * log) + tail
        exploration = span**2 * (log + 4 * K * math.log(log))
        escb = least(lambda q: 2 * (1 + q * K) * (np.log1p(1 / q) + 1 / (1 + q)))
        bounds["semibandits, ESCB-2, item gaps"] = escb * exploration * everywhere
        if problem.feasible.signed and largest - smallest <= 1e-9 * largest:
            bounds[PAPER[0]] = 48 * K ** (4 / 3) * L * scale / smallest + more
            bounds[PAPER[2]] = 267 * K * L * scale / smallest + more
            single = 6 if K == 1 else 24 * (K - 1)
            bounds["semibandits, B, amortised"] = single * (L - len(optimum)) * scale / smallest + more
            cascade = theory.tight.cascade_constant(K)  # against all chains in test_tight.py
            bounds["semibandits, A, exact cascade"] = cascade * (L - len(optimum)) * scale / smallest + more
            escb = least(lambda q: 2 * (1 + q * K) * np.log1p(1 / q))
            bounds["semibandits, ESCB-2, one gap"] = escb * exploration * L / smallest
    return bounds


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=15)
@given(data=st.data())
def test_values_equal_formulas_over_listed_solutions(family: str, data: st.DataObject) -> None:
    feasible, listed = data.draw(FAMILIES[family])
    listed = list(dict.fromkeys(listed))
    lo, span = data.draw(st.sampled_from([(0.0, 1.0), (0.0, 30.0), (2.0, 0.5), (-3.0, 4.0)]))
    if not feasible.signed:
        lo = max(lo, 0.0)
    each = st.integers(0, 40).map(lambda i: lo + span * i / 40)
    means = data.draw(st.lists(each, min_size=feasible.n_items, max_size=feasible.n_items))
    sense: Sense = data.draw(st.sampled_from(["max", "min"])) if feasible.signed else "min"
    hi = lo + span
    problem = Problem(feasible, environments.Uniform(means, means, bounds=(lo, hi)), sense)
    bounds = theory.bounds(problem, [10, N])
    offered = {bound.title: bound.value[-1] for bound in bounds.of("upper")}
    if feasible.ratio < 1.0:
        promised = {"semibandits, D, gap-free, approximate oracle"}
        assert set(offered) == (promised if sense == "max" and lo >= 0.0 else set())
        return
    sign = 1.0 if sense == "max" else -1.0
    values = sorted((sign * value(one, means) for one in listed), reverse=True)
    if (len(values) > 1 and values[0] - values[1] <= 1e-9) or problem.max_size == 0:
        return  # with several optima the oracle chooses A*
    expected = written_out(problem, listed, span, max(hi, 0.0) - min(lo, 0.0))
    assert set(offered) == set(expected)
    for title, bound in expected.items():
        assert offered[title] == pytest.approx(bound, rel=1e-7), title
    if feasible.signed:
        worst = values[0] - values[-1]
        np.testing.assert_allclose(bounds.trivial, [10 * worst, N * worst], atol=1e-9 * N)
        for bound in bounds.of("upper"):
            assert bound.vacuous.tolist() == (bound.value > bounds.trivial).tolist()


def test_the_paper_s_largest_grid() -> None:
    """After 100,000 rounds the paper's bounds are above what can be lost at all; C and D are not."""
    bounds = theory.bounds(problems.grid_path(m=7, sigma=0.2), 100_000)
    assert bounds.trivial == pytest.approx([280_000.0])
    values = {bound.title: bound.value[0] for bound in bounds}
    vacuous = {bound.title: bound.vacuous[0] for bound in bounds}
    assert values["semibandits, C, ratio form"] == pytest.approx(48 * 49 * math.log(1e5) / 0.2 + ADDITIVE * 14 * 112)
    assert not vacuous["semibandits, C, ratio form"]
    assert not vacuous["semibandits, D, gap-free"]
    for title in ("Theorem 3", "Theorem 5", "Theorem 6", "Section 7"):
        assert vacuous[f"Kveton et al. 2015, {title}"], title
    assert values["Kveton et al. 2015, Section 7"] == pytest.approx(
        4272 * 49 * math.log(1e5) / 0.2 + ADDITIVE * 14 * 112
    )
    assert bounds.of("upper", "CombUCB1")[0].title == "semibandits, C, ratio form"


def test_all_of_the_paper_on_its_k_path_problem() -> None:
    """Items of a path share a coin: what needs independent items is left out."""
    problem = problems.k_path(n_items=12, k=3, gap=0.6)
    assert titles(problem) >= {*PAPER, *ONE_GAP, "semibandits, C, ratio form", "semibandits, D, gap-free"}
    lower = {bound.title: bound.value[0] for bound in theory.bounds(problem, N).of("lower")}
    kl = 0.3 * math.log(0.3 / 0.5) + 0.7 * math.log(0.7 / 0.5)
    assert lower == {
        "Kveton et al. 2015, Proposition 1": pytest.approx(9 * 3 / (4 * 0.6) * math.log(N)),
        "Kveton et al. 2015, Proposition 1, exact": pytest.approx(3 * 0.6 / kl * math.log(N)),
    }
    assert titles(problem, "worst case", None) == {"Kveton et al. 2015, Proposition 2"}
    missing = {one.name: one.missing for one in theory.bounds(problem, N).left_out}
    assert "independent items" in missing["lower bound"]
    assert missing["Section 7"] == ("the grid-path problem",)


def k_path_like(means: list[float], groups: Any, k: int = 2, **restriction: Any) -> Problem:
    feasible = sets.KPaths(len(means), k)
    return Problem(
        feasible.restrict(**restriction) if restriction else feasible, environments.Bernoulli(means, groups=groups)
    )


@pytest.mark.parametrize(
    ("problem", "is_it"),
    [
        (k_path_like([0.5, 0.5, 0.3, 0.3, 0.3, 0.3], [7, 7, 3, 3, 5, 5]), True),
        (k_path_like([0.5, 0.5, 0.3, 0.3, 0.3, 0.3], None), False),
        (k_path_like([0.5, 0.5, 0.3, 0.3, 0.3, 0.3], [0, 0, 1, 1, 1, 1]), False),
        (k_path_like([0.6, 0.6, 0.3, 0.3, 0.3, 0.3], [0, 0, 1, 1, 2, 2]), False),
        (k_path_like([0.5, 0.5, 0.3, 0.3, 0.2, 0.2], [0, 0, 1, 1, 2, 2]), False),
        (k_path_like([0.3, 0.3, 0.5, 0.5, 0.3, 0.3], [0, 0, 1, 1, 2, 2]), False),
        (k_path_like([0.5, 0.5, 0.3, 0.3, 0.3, 0.3], [0, 0, 1, 1, 2, 2], exclude=[4]), False),
        (k_path_like([0.5, 0.5], [0, 0]), False),
        (k_path_like([0.5, 0.0], [0, 1], k=1), False),
    ],
)
def test_what_is_the_k_path_problem(problem: Problem, is_it: bool) -> None:
    assert ("Kveton et al. 2015, Proposition 1" in titles(problem, "lower", None)) is is_it


def test_what_is_the_grid_path_problem() -> None:
    title = "Kveton et al. 2015, Section 7"
    problem = problems.grid_path(3, 0.35)
    assert title in titles(problem)
    for other in (
        Problem(problem.feasible, environments.Bernoulli(problem.means[::-1])),
        Problem(problem.feasible, environments.Bernoulli(problem.means, groups=np.arange(24) // 2)),
        Problem(problem.feasible, environments.Bernoulli(0.5 * problem.means)),
        Problem(problem.feasible, environments.Bernoulli(problem.means), sense="min"),
        Problem(problem.feasible.restrict(exclude=[5]), environments.Bernoulli(problem.means)),
        Problem(problem.feasible, environments.Uniform(problem.means, problem.means)),
        Problem(problem.feasible, environments.Bernoulli([0.5] * 24)),
    ):
        assert title not in titles(other)


def test_unequal_gaps() -> None:
    problem = Problem(sets.TopK(5, 2), environments.Bernoulli([0.9, 0.8, 0.5, 0.4, 0.1]))
    assert not titles(problem) & ONE_GAP
    left_out = {one.name: one.missing for one in theory.bounds(problem, N).left_out}
    assert left_out["B, amortised"] == ("all suboptimal solutions have the same gap",)
    nearly = Problem(sets.Enumerated([[0], [1], [2]]), environments.Bernoulli([0.5, 0.25, 0.25 + 1e-8]))
    assert not titles(nearly) & ONE_GAP


def test_a_worse_solution_inside_the_optimum_is_a_gap_too() -> None:
    problem = Problem(sets.Enumerated([[0, 1], [0], [2]]), environments.Bernoulli([0.5, 0.25, 0.25]))
    assert not titles(problem) & ONE_GAP  # 0.25 and 0.5
    same = Problem(sets.Enumerated([[0, 1], [0], [2]]), environments.Bernoulli([0.5, 0.25, 0.5]))
    assert titles(same) >= ONE_GAP


def test_approximate_oracles() -> None:
    """Only what was proved for one, about the regret against what it promises; and that for rewards >= 0 alone."""
    feasible = sets.GreedyKnapsack([3.0, 2.0, 4.0, 1.0], 5.0)
    means = [0.5, 0.4, 0.8, 0.1]
    (bound,) = theory.bounds(Problem(feasible, environments.Bernoulli(means)), N).of("upper")
    assert bound.title == "semibandits, D, gap-free, approximate oracle"
    assert bound.regret == "ratio"
    K = feasible.max_size
    assert bound.value[0] == pytest.approx(2 * math.sqrt(6 * K * 4 * N * math.log(N)) + ADDITIVE * K * 4)
    below = Problem(feasible, environments.Uniform(-1.0, means, bounds=(-1.0, 1.0)))
    costs = Problem(sets.Oracle(lambda w: [0], 4, 1, ratio=0.5), environments.Bernoulli(means), sense="min")
    for problem in (below, costs):
        assert not theory.bounds(problem, N).of("upper")
        assert theory.explain(problem, N).guarantee is None


def test_correlated_items_have_no_lower_bound_of_independent_ones() -> None:
    means = [0.9, 0.5, 0.4]
    independent = Problem(sets.TopK(3, 1), environments.Bernoulli(means))
    assert titles(independent, "lower", None) == {"Graves and Lai 1997, lower bound"}
    for world in (
        environments.Bernoulli(means, groups=[0, 1, 1]),
        environments.Beta([9.0, 5.0, 4.0], [1.0, 5.0, 6.0]),
        environments.Table([means, means]),
    ):
        assert not titles(Problem(sets.TopK(3, 1), world), "lower", None)


class Ending(environments.Bernoulli):
    """A user's world that says when it ends."""

    last_round = 10


def test_rounds_that_are_not_drawn() -> None:
    problem = Problem(sets.TopK(2, 1), Ending([0.5, 0.25]))
    assert not theory.bounds(problem, 10).of("upper")


def test_sets_without_signs() -> None:
    roads = sets.Paths([(0, 1), (1, 2), (0, 2)], 0, 2)
    problem = Problem(roads, environments.Bernoulli([0.25, 0.25, 0.75]), sense="min")
    offered = titles(problem)
    assert "semibandits, C, ratio form" not in offered
    assert not offered & ONE_GAP
    assert {"semibandits, C, item gaps", PAPER[3], "semibandits, D, gap-free"} <= offered
    bounds = theory.bounds(problem, N)
    assert bounds.trivial == pytest.approx([N * 2.0])  # the worst solution is out of reach: K times the bounds


def test_matroids_only() -> None:
    world = environments.Bernoulli([0.9, 0.8, 0.5, 0.4])
    title = "after Kveton et al. 2014, matroid"
    assert title in titles(Problem(sets.TopK(4, 2), world))
    for feasible in (
        sets.TopK(4, 2, bases=False),
        sets.TopK(4, 2).restrict(exclude=[3]),
        sets.Enumerated([[0, 1], [0, 2], [1, 2]], n_items=4),
        sets.KPaths(4, 2),
    ):
        assert title not in titles(Problem(feasible, world))


@pytest.mark.parametrize("scale", [0.125, 16.0])
def test_units_do_not_matter(scale: float) -> None:
    rows = np.random.default_rng(3).random((7, 6))
    feasible = sets.Enumerated([[0, 1, 2], [3, 4], [5], [1, 5]])
    unit = theory.bounds(Problem(feasible, environments.Table(rows)), [50, N])
    scaled = theory.bounds(Problem(feasible, environments.Table(scale * rows, bounds=(0.0, scale))), [50, N])
    assert [bound.title for bound in unit] == [bound.title for bound in scaled]
    for a, b in zip(unit, scaled, strict=True):
        np.testing.assert_allclose(scale * a.value, b.value, err_msg=a.title)
        assert a.vacuous.tolist() == b.vacuous.tolist()


def test_rewards_and_costs_are_mirror_images() -> None:
    """Where all solutions are equally large."""
    means = np.array([0.9, 0.7, 0.4, 0.35, 0.1])
    rewards = theory.bounds(Problem(sets.TopK(5, 2), environments.Bernoulli(means)), [50, N])
    costs = theory.bounds(Problem(sets.TopK(5, 2), environments.Bernoulli(1.0 - means), sense="min"), [50, N])
    assert [bound.title for bound in rewards] == [bound.title for bound in costs]
    for a, b in zip(rewards, costs, strict=True):
        np.testing.assert_allclose(a.value, b.value, err_msg=a.title)


def test_an_item_in_every_solution() -> None:
    problem = Problem(sets.Enumerated([[0, 1], [0, 2]]), environments.Bernoulli([0.1, 0.75, 0.5]))
    bounds = {bound.title: bound.value[0] for bound in theory.bounds(problem, N).of("upper", "CombUCB1")}
    assert bounds["semibandits, B, amortised"] == pytest.approx(24 * 1 / 0.25 * math.log(N) + ADDITIVE * 6)


@pytest.mark.parametrize(
    "horizons", [0, -3, [10, 0.5], float("nan"), float("inf"), "many", True, [[1], [2, 3]], None, []]
)
def test_bad_horizons(horizons: Any) -> None:
    with pytest.raises(errors.BadArgument, match="horizons must be one or more rounds"):
        theory.bounds(problems.grid_path(2, 0.4), horizons)


def test_bad_problems_and_kinds() -> None:
    for function in (theory.bounds, theory.explain):
        with pytest.raises(errors.BadArgument, match="problem must be a Problem, got 'grid'"):
            function("grid", 10)  # type: ignore[operator]
    with pytest.raises(errors.BadArgument, match="horizon must be an integer >= 1, got 0"):
        theory.explain(problems.grid_path(2, 0.4), horizon=0)
    with pytest.raises(errors.BadArgument, match="kind must be 'upper' or 'lower' or 'worst case', got 'best'"):
        theory.bounds(problems.grid_path(2, 0.4), 10).of("best")  # type: ignore[arg-type]
    with pytest.raises(errors.BadArgument, match="policy must be a name, such as 'CombUCB1', got CombUCB1"):
        theory.bounds(problems.grid_path(2, 0.4), 10).of("upper", CombUCB1())  # type: ignore[arg-type]


def test_horizons_of_any_shape() -> None:
    problem = problems.grid_path(2, 0.4)
    assert theory.bounds(problem, 10)[0].value.shape == (1,)
    assert theory.bounds(problem, np.array([[1, 10], [100, 1000]]))[0].value.shape == (4,)
    assert theory.bounds(problem, [2**70, 3]).rounds.tolist() == [2.0**70, 3.0]


def test_weights_so_small_that_gaps_count_as_ties() -> None:
    """Bounds stay true: what the ties may lose is in them."""
    rows = 1e-12 * np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0] * 4, [0.2, 0.0, 0.0, 0.0]])
    problem = Problem(sets.TopK(4, 1), environments.Table(rows, bounds=(0.0, 1e-12)))
    result = simulate(problem, CombUCB1(), horizon=2000, runs=20, seed=0)
    assert result.regret[0, :, -1].mean() > 5e-11
    assert below_every_bound(problem, result.rounds, result.regret[0]) > 5


@pytest.mark.long
def test_very_long_paths() -> None:
    found = theory.bounds(problems.k_path(60_000, 30_000, 900.0), N)
    assert "semibandits, B, amortised" in {bound.title for bound in found}
    assert ("K at most 20,000",) in {one.missing for one in found.left_out}


def test_gaps_that_rounding_swaps() -> None:
    tiny = 2e-9
    for feasible in (sets.TopK(4, 3), sets.PartitionMatroid([0] * 4, {0: 3})):
        problem = Problem(feasible, environments.Bernoulli([0.5 + tiny, 0.5, 0.5 + tiny, 0.5 + tiny]))
        assert "Chen et al. 2013, Theorem 1" in titles(problem)


def test_a_ratio_that_may_fall_is_no_promise() -> None:
    rows = [[3.0, 2.0, 4.0, 1.0]]
    world = environments.Bernoulli([0.5, 0.4, 0.8, 0.1])
    cut_short = sets.MILP(rows, upper=5, max_nodes=1)
    assert cut_short.ratio == 1.0
    for feasible, kind in (
        (cut_short, world),
        (sets.Product(cut_short, sets.TopK(2, 1)), environments.Bernoulli([0.5, 0.4, 0.8, 0.1, 0.3, 0.2])),
    ):
        found = theory.bounds(Problem(feasible, kind), N)
        assert not found.of("upper")
        assert found.trivial.tolist() == [N * feasible.max_size]
    assert theory.bounds(Problem(sets.MILP(rows, upper=5), world), N).of("upper")
