"""Bounds on the regret where items have bounds of their own: formulas over listed solutions, and what is said."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Problem, environments, errors, sets, simulate, theory
from semibandits.cli import main
from semibandits.experiments.paper import lemma_1
from semibandits.policies import CombUCB1
from semibandits.theory import chen2013, kveton2015, matroid, ratio, terms, tight
from semibandits.types import Scalar, Sense
from support.own_bounds import SETS, item_gaps_of, listed_solutions, random_problem, ratio_sum
from support.reference import Solution

ADDITIVE = math.pi**2 / 3 + 1
Bound = Callable[[float], Scalar]
PAPER, OURS, CHEN, MATROID = "Kveton et al. 2015", "semibandits", "Chen et al. 2013", "after Kveton et al. 2014"
WHATEVER = (f"{PAPER}, Theorem 6", f"{OURS}, D, gap-free", f"{CHEN}, Theorem 2")
"""Bounds of so many rounds, whatever the gaps."""


# Formulas


def written_out(problem: Problem, listed: list[Solution], n: float) -> dict[str, float]:
    """All upper bounds from the list of all solutions, of which one is the best."""
    sign = 1.0 if problem.sense == "max" else -1.0
    means, c, L, K = sign * problem.means, problem.spans, problem.n_items, problem.max_size
    values = np.array([means[list(one)].sum() for one in listed])
    gaps = values.max() - values
    optimum = set(listed[int(gaps.argmin())])
    worse = [(one, gap) for one, gap in zip(listed, gaps, strict=True) if gap > 1e-9]
    beyond = [tuple(sorted(set(one) - optimum)) for one, _ in worse]
    of_worse = np.array([gap for _, gap in worse])
    least = item_gaps_of([one for one, _ in worse], of_worse, L)
    outside = [e for e in range(L) if e not in optimum]
    inverse = sum(c[e] ** 2 / least[e] for e in outside)
    lo, hi = problem.bounds
    loss = sum(sorted(np.maximum(hi, 0.0))[-K:]) + sum(sorted(np.maximum(-lo, 0.0))[-K:])
    uncertain = np.count_nonzero(c)
    more, log = (math.pi**2 / 3 * uncertain + L) * loss, math.log(n)
    everything, others = (c**2).sum(), sum(c[e] ** 2 for e in outside)
    ratios = min(ratio_sum(beyond, of_worse, c * c, np.sign(c)), ratio_sum(beyond, of_worse, c, c))
    smallest, largest = of_worse.min(), of_worse.max()
    counted = [*(e for e in outside if least[e] < math.inf), *optimum]
    all_inverse = inverse + sum(c[e] ** 2 for e in optimum) / smallest
    widest = float(np.max(hi) - np.min(lo))
    exploration = widest**2 * (log + 4 * K * math.log(log))
    bounds = {
        f"{PAPER}, Theorem 3": 96 * K ** (4 / 3) * inverse * log + more,
        f"{PAPER}, Theorem 5": 534 * K * inverse * log + more,
        f"{PAPER}, Theorem 6": 47 * math.sqrt(K * everything * n * log) + more,
        f"{OURS}, B, item gaps": tight.item_gap_constant(K) * inverse * log + more,
        f"{OURS}, C, item gaps": 24 * K * inverse * log + more,
        f"{OURS}, C, ratio form": 24 * ratios * log + more,
        f"{OURS}, D, gap-free": 2 * math.sqrt(6 * K * others * n * log) + more,
        f"{CHEN}, Theorem 1": 6 * K**2 * log * (2 * all_inverse - sum(c[e] ** 2 for e in counted) / largest)
        + (math.pi**2 / 3 * uncertain + L) * largest,
        f"{CHEN}, Theorem 2": 2 * K * math.sqrt(6 * everything * n * log) + (math.pi**2 / 3 * uncertain + L) * largest,
        f"{OURS}, ESCB-2, item gaps": theory.escb.item_gap_constant(K)
        * exploration
        * (sum(1 / least[e] for e in outside) + len(optimum) / smallest),
    }
    if matroid.is_matroid_bases(problem.feasible):
        exchanges = 0.0
        for e in (e for e in outside if any(e in one for one in listed)):
            better = [means[f] - means[e] for f in optimum if means[f] - means[e] > 1e-9]
            exchanges += c[e] ** 2 / min(better, default=math.inf)
        omm = (2 * 1.2020569031595942 * uncertain + L) * loss
        bounds[f"{MATROID}, matroid"] = 12 * exchanges * log + more
        bounds[f"{MATROID}, OMM on a matroid"] = 16 * exchanges * log + omm
        bounds[f"{MATROID}, OMM, gap-free"] = 4 * math.sqrt(2 * K * everything * n * log) + omm
    if largest - smallest <= 1e-9 * largest:
        bounds[f"{PAPER}, Theorem 2"] = 48 * K ** (4 / 3) * everything / smallest * log + more
        bounds[f"{PAPER}, Theorem 4"] = 267 * K * everything / smallest * log + more
        bounds[f"{OURS}, B, amortised"] = (6 if K == 1 else 24 * (K - 1)) * others / smallest * log + more
        bounds[f"{OURS}, A, exact cascade"] = tight.cascade_constant(K) * others / smallest * log + more
        bounds[f"{OURS}, ESCB-2, one gap"] = theory.escb.one_gap_constant(K) * exploration * L / smallest
    return bounds


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("seed", range(4))
def test_values_equal_formulas_over_listed_solutions(name: str, sense: Sense, seed: int) -> None:
    feasible = SETS[name]()
    problem = random_problem(feasible, sense, np.random.default_rng(seed))
    n = 5000.0
    bounds = theory.bounds(problem, n)
    expected = written_out(problem, listed_solutions(feasible), n)
    offered = {bound.title: float(bound.value[0]) for bound in bounds.of("upper")}
    assert set(offered) == set(expected)
    for title, value in expected.items():
        assert offered[title] == pytest.approx(value, rel=1e-7), title
    assert not bounds.of("lower")
    assert not bounds.of("worst case")


def with_one_gap(sense: Sense) -> Problem:
    lo = np.array([0.0, 2.0, -7.0, 1.0, 5.0])
    means = np.array([3.0, 2.0, 1.0, 3.0, 5.0])
    means = means if sense == "max" else -means
    span = np.array([20.0, 3.0, 40.0, 2.0, 0.0])
    world = environments.Scaled(
        environments.Bernoulli(np.divide(means - lo, span, out=np.zeros(5), where=span > 0.0)), (lo, lo + span)
    )
    return Problem(sets.Enumerated([[4], [0], [1, 2], [3]], n_items=5), world, sense)


def test_one_gap() -> None:
    problem = with_one_gap("max")
    assert problem.item_gaps[[0, 1, 2, 3]].tolist() == pytest.approx([2.0] * 4)
    expected = written_out(problem, [(4,), (0,), (1, 2), (3,)], 1e6)
    bounds = theory.bounds(problem, 1e6)
    assert {bound.title for bound in bounds.of("upper")} == set(expected)
    for bound in bounds.of("upper"):
        assert bound.value[0] == pytest.approx(expected[bound.title], rel=1e-7), bound.title


@pytest.mark.parametrize("name", SETS)
def test_units_do_not_matter(name: str) -> None:
    """Gaps and spans a thousand times as large: so are all bounds."""
    feasible = SETS[name]()
    small = random_problem(feasible, "max", np.random.default_rng(9))
    lo, hi = small.bounds
    assert isinstance(small.environment, environments.Scaled)
    large = Problem(feasible, environments.Scaled(small.environment.environment, (1024.0 * lo, 1024.0 * hi)))
    for a, b in zip(theory.bounds(small, [2, 10**6]), theory.bounds(large, [2, 10**6]), strict=True):
        np.testing.assert_allclose(1024.0 * a.value, b.value, rtol=1e-9, err_msg=a.title)


def test_the_same_bounds_for_every_item_are_one_pair() -> None:
    """To the last bit."""
    means = [7.0, 6.5, 5.0, 4.0, 3.0, 3.0]
    for feasible in (sets.TopK(6, 2), sets.KPaths(6, 2)):
        one = Problem(feasible, environments.Uniform(means, means, bounds=(-1.0, 8.0)))
        each = Problem(feasible, environments.Uniform(means, means, bounds=(np.full(6, -1.0), np.full(6, 8.0))))
        for a, b in zip(theory.bounds(one, [5, 500]), theory.bounds(each, [5, 500]), strict=True):
            assert a.title == b.title
            assert a.value.tolist() == b.value.tolist()


def test_as_wide_but_elsewhere() -> None:
    """What grows depends on the spans alone."""
    means = np.array([7.0, 6.5, 5.0, 4.0, 3.0, 3.0])
    lo = means - [2.5, 0.25, 5.75, 1.0, 0.0, 0.125]
    one = Problem(sets.TopK(6, 2), environments.Uniform(means, means, bounds=(2.0, 8.0)))
    each = Problem(sets.TopK(6, 2), environments.Uniform(means, means, bounds=(lo, lo + 6.0)))
    pairs = {bound.title: bound.value for bound in theory.bounds(one, [1, 500]).of("upper", "CombUCB1")}
    bounds = theory.bounds(each, [1, 500]).of("upper", "CombUCB1")
    assert len(bounds) == len(pairs)
    for bound in bounds:
        a, b = np.diff(bound.value), np.diff(pairs[bound.title])
        np.testing.assert_allclose(a, b, rtol=1e-9, err_msg=bound.title)


def test_functions_with_spans_of_one_are_the_functions() -> None:
    gaps, ones = [math.nan, math.nan, 0.5, 0.25, math.inf], np.ones(5)
    for n in (1, 30, 1e6):
        for plain, spans in (
            (kveton2015.theorem_2(n, 5, 3, 0.4), kveton2015.theorem_2(n, 5, 3, 0.4, spans=ones)),
            (kveton2015.theorem_3(n, 5, 3, gaps), kveton2015.theorem_3(n, 5, 3, gaps, spans=ones)),
            (kveton2015.theorem_4(n, 5, 3, 0.4), kveton2015.theorem_4(n, 5, 3, 0.4, spans=ones)),
            (kveton2015.theorem_5(n, 5, 3, gaps), kveton2015.theorem_5(n, 5, 3, gaps, spans=ones)),
            (kveton2015.theorem_6(n, 5, 3), kveton2015.theorem_6(n, 5, 3, spans=ones)),
            (tight.one_gap(n, 5, 3, 0.4, 2), tight.one_gap(n, 5, 3, 0.4, 2, spans=ones, optimum=[0, 1])),
            (tight.cascade_one_gap(n, 5, 3, 0.4, 2), tight.cascade_one_gap(n, 5, 3, 0.4, 2, spans=ones)),
            (tight.item_gap_form(n, 5, 3, gaps), tight.item_gap_form(n, 5, 3, gaps, spans=ones)),
            (tight.amortised_item_gaps(n, 5, 3, gaps), tight.amortised_item_gaps(n, 5, 3, gaps, spans=ones)),
            (tight.gap_free(n, 5, 3, 2), tight.gap_free(n, 5, 3, 2, spans=ones, optimum=[3, 4])),
            (matroid.combucb1(n, 5, 3, gaps), matroid.combucb1(n, 5, 3, gaps, spans=ones)),
            (matroid.omm(n, 5, 3, gaps), matroid.omm(n, 5, 3, gaps, spans=ones)),
            (matroid.omm_gap_free(n, 5, 3), matroid.omm_gap_free(n, 5, 3, spans=ones)),
            (chen2013.theorem_1(n, 5, 3, gaps, 0.2), chen2013.theorem_1(n, 5, 3, gaps, 0.2, spans=ones)),
            (chen2013.theorem_2(n, 5, 3), chen2013.theorem_2(n, 5, 3, spans=ones)),
        ):
            assert float(spans) == pytest.approx(float(plain), rel=1e-15)


def test_where_the_optimum_is_not_said_the_widest_items_count() -> None:
    spans = [5.0, 1.0, 2.0, 3.0]
    said = tight.gap_free(100, 4, 2, 2, spans=spans, optimum=[0, 1])
    assert said - tight.gap_free(1, 4, 2, 2, spans=spans) == pytest.approx(
        2 * math.sqrt(6 * 2 * 13 * 100 * math.log(100))
    )
    assert tight.gap_free(100, 4, 2, 2, spans=spans) == tight.gap_free(100, 4, 2, 2, spans=spans, optimum=[1, 2])


def test_what_a_round_may_lose() -> None:
    lo, hi = np.array([-4.0, 1.0, -1.0, 2.0]), np.array([-3.0, 9.0, 5.0, 2.0])
    assert [terms.largest_loss((lo, hi), K) for K in (1, 2, 3, 4, 7)] == [13.0, 19.0, 21.0, 21.0, 21.0]
    assert terms.largest_loss((-2.0, 3.0), 4) == 20.0
    generator = np.random.default_rng(0)
    for _ in range(30):
        feasible = SETS["listed"]()
        problem = random_problem(feasible, "max", generator)
        assert isinstance(problem.bounds[0], np.ndarray)
        assert isinstance(problem.bounds[1], np.ndarray)
        ends = generator.choice(2, (50, 6))
        for end in np.where(ends == 0, problem.bounds[0], problem.bounds[1]):
            values = [end[list(one)].sum() for one in listed_solutions(feasible)]
            assert max(values) - min(values) <= terms.largest_loss(problem.bounds, problem.max_size) + 1e-12


def test_known_weights_count_nothing() -> None:
    """No confidence interval of theirs is wrong, and none keeps a solution in the race."""
    gaps = [math.nan, 0.5, 0.25, 0.125]
    bound = tight.item_gap_form(math.e, 4, 2, gaps, spans=[0.0, 3.0, 0.0, 1.0])
    assert bound == pytest.approx(48 * (9 / 0.5 + 1 / 0.125) + (math.pi**2 / 3 * 2 + 4) * 4.0)
    assert tight.gap_free(9, 4, 2, 1, spans=[3.0, 0.0, 0.0, 0.0], optimum=[0]) == pytest.approx(3 * (ADDITIVE + 3))


# Ratios of parts


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_ratios_of_parts(data: st.DataObject) -> None:
    feasible = SETS[data.draw(st.sampled_from(sorted(SETS)))]()
    L = feasible.n_items
    each = st.integers(0, 1000).map(lambda i: i / 1000)
    means = np.array(data.draw(st.lists(each, min_size=L, max_size=L)))
    parts = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.01, 0.5, 1.0, 30.0]), min_size=L, max_size=L)))
    problem = Problem(feasible, environments.Bernoulli(means))
    optimum = set(problem.optimum.tolist())
    found = ratio.ratios(problem, parts)
    for e in range(L):
        if e in optimum:
            assert math.isnan(found[e])
            continue
        worse = {one: problem.gap(one) for one in listed_solutions(feasible) if e in one}
        tied = any(gap <= problem.tolerance for gap in worse.values())
        sums = {one: sum(parts[i] for i in one if i not in optimum) for one in worse}
        true = max((sums[one] / gap for one, gap in worse.items() if gap > problem.tolerance), default=0.0)
        if parts[e] == 0.0:
            assert found[e] == 0.0
        elif tied:
            assert found[e] >= true * (1.0 - 1e-9)
        else:
            assert found[e] == pytest.approx(true, rel=1e-8)
    outside = parts.copy()
    outside[problem.optimum] = 0.0
    best = problem.value(problem.optimum)
    arguments = (feasible, problem.means, outside, best, problem.tolerance)
    one, other = (find(*arguments)[outside > 0] for find in (ratio._item_by_item, ratio._all_at_once))
    np.testing.assert_allclose(one, other, rtol=1e-8)


# What is said


def test_what_needs_one_pair_says_so() -> None:
    problem = random_problem(sets.TopK(6, 3), "max", np.random.default_rng(3))
    bounds = theory.bounds(problem, 100_000)
    needy = {one.name for one in bounds.left_out if "one pair of bounds for all items" in one.missing}
    assert needy == {"Section 7", "Proposition 1", "Proposition 1, exact", "lower bound", "Proposition 2"}
    assert "each by its own span" in bounds.notes[0]
    assert all(name in bounds.notes[0] for name in needy)
    assert "Items have bounds of their own" in str(bounds)
    explanation = theory.explain(problem)
    assert "No lower bound is known" in str(explanation)
    json.dumps(explanation.as_dict() | bounds.as_dict(), allow_nan=False)
    pair = theory.bounds(Problem(sets.TopK(6, 3), environments.Bernoulli([0.1] * 6)), 10)
    assert not any("one pair of bounds for all items" in one.missing for one in pair.left_out)


def test_approximate_oracles() -> None:
    feasible = sets.GreedyKnapsack([3.0, 2.0, 4.0, 1.0], 5.0)
    coins = environments.Bernoulli([0.5, 0.4, 0.8, 0.1])
    spans, n = np.array([1.0, 0.0, 6.0, 2.0]), 5000
    (bound,) = theory.bounds(Problem(feasible, environments.Scaled(coins, (0.5, 0.5 + spans))), n).of("upper")
    K = feasible.max_size
    loss = sum(sorted(0.5 + spans)[-K:])
    grows = 2 * math.sqrt(6 * K * 41 * n * math.log(n))
    assert bound.regret == "ratio"
    assert bound.value[0] == pytest.approx(grows + (math.pi**2 / 3 * 3 + 4) * loss)
    below = environments.Scaled(coins, (np.array([0.5, -0.1, 0.5, 0.5]), 0.5 + spans))
    assert not theory.bounds(Problem(feasible, below), n).of("upper")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: kveton2015.theorem_6(9, 3, 2, spans=[1.0, -1.0, 2.0]), "spans must be >= 0, got -1.0"),
        (lambda: kveton2015.theorem_4(9, 3, 2, 0.5, spans=[1.0, 2.0]), "spans must be 3 numbers"),
        (lambda: tight.gap_free(9, 3, 2, 1, spans=[1.0, math.nan, 2.0]), "spans must be finite"),
        (lambda: tight.item_gap_form(9, 3, 2, [0.5], spans=[1.0, 2.0, 3.0]), "one entry for each of 3 spans, got 1"),
        (lambda: tight.gap_free(9, 3, 2, 1, spans=[1.0, 2.0, 3.0], optimum=[0, 1]), "optimal_size = 1 items, got 2"),
        (lambda: matroid.omm(9, 3, 2, [0.5, 0.5], spans=[1.0, 2.0, 3.0]), "one entry for each of 3 spans, got 2"),
        (lambda: chen2013.theorem_1(9, 1, 1, [0.5], 0.5, spans=[0.25]), "got none, that is 0.25, and 0.5"),
        (lambda: ratio.ratios(with_one_gap("max"), [1.0, 1.0, -2.0, 1.0, 1.0]), "parts must be >= 0, got -2.0"),
    ],
)
def test_bad_input(call: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        call()


def test_drawn_over_measured_regret() -> None:
    """Drawn as if at later rounds, when bounds say something."""
    problem = random_problem(sets.TopK(5, 2), "max", np.random.default_rng(0))
    result = simulate(problem, CombUCB1(), horizon=200, runs=3, seed=0, engine="plain", checkpoints=[100, 200])
    result = replace(result, rounds=np.array([1_000_000, 100_000_000]))
    bounds = theory.bounds(problem, result.rounds)
    drawn = {line.get_label(): np.asarray(line.get_ydata()) for line in result.plot(bounds=bounds).get_lines()}
    assert set(drawn) >= {bound.title for bound in bounds.of("upper", "CombUCB1") if not bound.vacuous.all()}
    whatever = {line.get_label(): np.asarray(line.get_ydata()) for line in result.plot(bounds=True).get_lines()}
    theorem = next(bound for bound in bounds if bound.title == WHATEVER[0])
    np.testing.assert_allclose(whatever[WHATEVER[0]], theorem.value)
    gap_free = next(bound for bound in bounds if bound.title == WHATEVER[1])  # here the optimum is not known
    assert (whatever[WHATEVER[1]] >= gap_free.value * (1.0 - 1e-12)).all()
    assert (whatever[WHATEVER[1]] <= theorem.value).all()


def test_the_parts_of_lemma_1_need_one_pair() -> None:
    problem = random_problem(sets.TopK(5, 2), "max", np.random.default_rng(0))
    with pytest.raises(errors.Unsupported, match="here items have bounds of their own"):
        lemma_1.measure(problem, horizon=100, runs=2, seed=0)


def test_at_the_command_line(tmp_path: Path) -> None:
    lines = [
        "[problem.set]",
        "kind = 'TopK'",
        "n_items = 3",
        "k = 1",
        "[problem.environment]",
        "kind = 'Scaled'",
        "bounds = [[0.0, 1.0, 2.0], [9.0, 2.0, 2.0]]",
        "[problem.environment.environment]",
        "kind = 'Bernoulli'",
        "means = [0.5, 0.5, 0.5]",
        "[[policies]]",
        "name = 'CombUCB1'",
    ]
    file = tmp_path / "own.toml"
    file.write_text("horizon = 100\nruns = 2\n" + "\n".join(lines) + "\n")
    said = CliRunner().invoke(main, ["bounds", str(file), "--horizon", "100000"])
    assert said.exit_code == 0
    (row,) = (line for line in said.stdout.splitlines() if "C, ratio form" in line)
    # Item 1, of span 1, is worse by 3; item 2 is known. Two intervals can be wrong, and a round lose 9.
    promised = 24 / 3 * math.log(1e5) + 9 * (math.pi**2 / 3 * 2 + 3)
    assert float(row.split()[-1].strip("*")) == pytest.approx(promised, abs=0.1)
    assert "What needs one pair of bounds for all items is left out" in " ".join(said.stdout.split())
