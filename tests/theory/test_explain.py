"""Bounds in words, in tables and in pictures."""

import dataclasses
import json
import math

import numpy as np
import pytest

from semibandits import Problem, environments, errors, problems, sets, simulate, theory
from semibandits.policies import CombUCB1

N = 5000
ADDITIVE = math.pi**2 / 3 + 1


def titles(problem: Problem) -> set[str]:
    return {bound.title for bound in theory.bounds(problem, N).of("upper", "CombUCB1")}


def test_several_optima_are_said_to_be() -> None:
    """Gaps are over strictly suboptimal solutions."""
    problem = Problem(sets.TopK(4, 2), environments.Bernoulli([0.75, 0.5, 0.5, 0.25]))
    explanation = theory.explain(problem, N)
    assert explanation.several_optima is True
    assert "one of several optima" in str(explanation)
    assert explanation.min_gap == 0.25
    bounds = {bound.title: bound.value[0] for bound in explanation.bounds}
    # Item 2 is in an optimum, and in {1, 2} and {2, 3}, worse by 0.25 and 0.5; item 3 in {0, 3}, worse by 0.25.
    assert bounds["semibandits, C, item gaps"] == pytest.approx(24 * 2 * 8 * math.log(N) + ADDITIVE * 8)
    assert not theory.explain(problems.grid_path(2, 0.4)).several_optima


def test_optima_of_very_long_paths() -> None:
    explanation = theory.explain(problems.k_path(20_000, 10_000, 900.0), N)
    assert explanation.several_optima is False


def test_nothing_to_lose() -> None:
    problem = Problem(sets.Enumerated([[0, 1]]), environments.Bernoulli([0.5, 0.5]))
    explanation = theory.explain(problem, N)
    assert explanation.guarantee is None
    assert explanation.guaranteed == 0.0
    assert "nothing to lose" in str(explanation)
    assert all(bound.vacuous.all() for bound in explanation.bounds.of("upper"))
    json.dumps(explanation.as_dict(), allow_nan=False)


def test_nothing_to_choose() -> None:
    problem = Problem(sets.Enumerated([[]], n_items=2), environments.Bernoulli([0.5, 0.5]))
    assert theory.bounds(problem, N).trivial.tolist() == [0.0]
    str(theory.explain(problem))


def test_explanations() -> None:
    explanation = theory.explain(problems.grid_path(m=2, sigma=0.4), horizon=1_000_000)
    assert explanation.guarantee is not None
    assert explanation.lower is not None
    assert explanation.guarantee.title == "semibandits, C, ratio form"
    assert explanation.lower.title == "Graves and Lai 1997, lower bound"
    assert explanation.unavoidable == pytest.approx(2.964 * math.log(1e6), rel=1e-3)
    assert explanation.apart == pytest.approx(explanation.guaranteed / (2.964 * math.log(1e6)), rel=1e-3)
    assert (explanation.n_items, explanation.max_size, explanation.optimal_size) == (12, 4, 4)
    assert explanation.min_gap == pytest.approx(0.8)
    assert explanation.max_gap == pytest.approx(1.6)
    document = json.loads(json.dumps(explanation.as_dict(), allow_nan=False))
    assert document["guarantee"] == "semibandits, C, ratio form"
    assert {bound["name"] for bound in document["bounds"]} >= {"Theorem 5", "C, ratio form"}


def test_the_table() -> None:
    bounds = theory.bounds(problems.grid_path(7, 0.2), [10, 1000, 10_000, 100_000])
    printed = str(bounds).splitlines()
    assert "n = 10" not in printed[0].split("  ")
    assert printed[0].endswith("n = 100,000")
    (row,) = (line for line in printed if "Theorem 6" in line)
    assert row.endswith("*")
    (row,) = (line for line in printed if "no policy loses more" in line)
    assert row.endswith("280,000")
    assert printed[-1] == "the last 3 of 4 horizons"
    assert max(map(len, printed)) <= 120
    easy = str(theory.bounds(problems.k_path(12, 3, 0.6), 1e12))
    assert "* " not in easy
    assert "~ holds in the limit" in easy
    assert json.loads(json.dumps(bounds.as_dict(), allow_nan=False))["trivial"][-1] == pytest.approx(280_000)


def test_what_is_left_out_says_only_what_fails() -> None:
    problem = Problem(sets.TopK(3, 1), environments.Uniform(0.1, [0.2, 0.3, 0.4]))
    left_out = {one.name: one.missing for one in theory.bounds(problem, N).left_out}
    assert left_out["lower bound"] == ("weights 0 or 1",)
    large = theory.explain(problems.grid_path(9, 0.2), N)
    left_out = {one.name: one.missing for one in large.bounds.left_out}
    assert left_out["lower bound"] == ("at most 150 items and a quick oracle, or a formula",)
    assert "see theory.graves_lai_constant" in str(large)


def test_nothing_to_learn() -> None:
    """No other means would explain what is seen of the optimum."""
    problem = Problem(sets.TopK(3, 1), environments.Bernoulli([1.0, 0.5, 0.0]))
    explanation = theory.explain(problem, N)
    assert explanation.unavoidable == 0.0
    assert explanation.apart is None
    assert "No loss beyond a constant is unavoidable" in str(explanation)
    few = str(theory.explain(problems.grid_path(2, 0.4), 1))
    assert "After 1 round " in few
    assert "So few rounds tell nothing about the limit" in few


def test_what_oracles_promise() -> None:
    world = environments.Bernoulli([0.5, 0.4, 0.8, 0.1])
    greedy = theory.explain(Problem(sets.GreedyKnapsack([3.0, 2.0, 4.0, 1.0], 5.0), world))
    assert "the oracle's answer on the means has" in str(greedy)
    assert "it promises 0.5 of the best" in str(greedy)
    assert greedy.ratio == 0.5
    assert "against what the oracle promises" in str(theory.explain(Problem(greedy_set(), world), 10**7))
    cut = theory.explain(Problem(sets.MILP([[3.0, 2.0, 4.0, 1.0]], upper=5, max_nodes=1), world))
    assert "promises nothing in advance" in str(cut)
    assert cut.ratio is None
    json.dumps(cut.as_dict(), allow_nan=False)


def greedy_set() -> sets.GreedyKnapsack:
    return sets.GreedyKnapsack([3.0, 2.0, 4.0, 1.0], 5.0)


def test_lower_bounds_that_are_not_searched_for() -> None:
    slow = sets.Oracle(sets.TopK(4, 2).argmax, 4, 2)
    explanation = theory.explain(Problem(slow, environments.Bernoulli([0.9, 0.8, 0.5, 0.4])))
    assert "was not searched for" in str(explanation)
    tiny = Problem(sets.Enumerated([[0, 1], [1, 2]]), environments.Bernoulli([0.5, 0.5, 1e-120]))
    assert "No lower bound is known" in str(theory.explain(tiny))
    missing = {one.name: one.missing for one in theory.bounds(tiny, N).left_out}
    assert missing["lower bound"] == ("within reach of graves_lai_constant",)


def test_drawn_over_measured_regret() -> None:
    problem = problems.grid_path(2, 0.4)
    result = simulate(problem, [CombUCB1(), CombUCB1(alpha=0.5)], horizon=2000, runs=4, seed=0)
    bounds = theory.bounds(problem, result.rounds)
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in result.plot(bounds=bounds).get_lines()}
    telling = {bound.title for bound in bounds.of("upper", "CombUCB1") if not bound.vacuous.all()}
    assert telling < titles(problem)
    assert {label for label in lines if label in titles(problem)} == telling
    for bound in bounds:
        if bound.title in telling:
            np.testing.assert_array_equal(lines[bound.title], np.where(bound.vacuous, np.nan, bound.value))
    assert any("(in the limit: curves may lie below)" in str(label) for label in lines)
    assert not any("OMM" in str(label) or "Proposition 2" in str(label) for label in lines)
    other = simulate(problem, CombUCB1(alpha=0.5), horizon=2000, runs=4, seed=0)
    drawn = {str(line.get_label()) for line in other.plot(bounds=bounds).get_lines()}
    assert not drawn & titles(problem)
    assert "no policy loses more" in drawn
    with pytest.raises(errors.BadArgument, match=r"make them by theory.bounds\(problem, result.rounds\)"):
        result.plot(bounds=theory.bounds(problem, 2000))
    with pytest.raises(errors.BadArgument, match="is of another problem than the result, Problem"):
        result.plot(bounds=theory.bounds(problems.grid_path(3, 0.4), result.rounds))
    for some in (bounds[:2], bounds.of("upper")[:2]):
        labels = [line.get_label() for line in result.plot(bounds=some).get_lines()]
        assert labels[2:] == [bound.title for bound in bounds[:2]]
    assert len(result.plot(bounds=bounds[0]).get_lines()) == 3
    assert len(result.plot(bounds=()).get_lines()) == 2


def test_bounds_in_the_limit_are_broad_and_pale() -> None:
    """Where so much can be lost; asked for by themselves they are drawn from the first round on."""
    problem = problems.k_path(8, 2, 0.5)
    result = simulate(problem, CombUCB1(), horizon=2000, runs=2, seed=0)
    bounds = theory.bounds(problem, result.rounds)
    lower = {f"{bound.title} (in the limit: curves may lie below)": bound for bound in bounds.of("lower")}
    lines = {str(line.get_label()): line for line in result.plot(bounds=bounds).get_lines()}
    assert len(lower) > 1
    for name, bound in lower.items():
        hidden = bound.vacuous | (bound.value > bounds.trivial)
        assert 0 < np.count_nonzero(hidden) < hidden.size
        np.testing.assert_array_equal(np.isnan(np.asarray(lines[name].get_ydata())), hidden)
        assert lines[name].get_linewidth() > 2.0 * lines["CombUCB1"].get_linewidth()
        assert lines[name].get_alpha() < 0.5
    assert len({str(lines[name]._dash_pattern) for name in lower}) == len(lower)  # type: ignore[attr-defined]
    asked = result.plot(bounds=bounds.of("lower"), log="xy").get_lines()[1:]
    assert [line.get_label() for line in asked] == list(lower)
    np.testing.assert_array_equal(np.isnan(np.asarray(asked[0].get_ydata())), bounds.of("lower")[0].value <= 0.0)
    assert next(iter(bounds)).vacuous.any()
    explicit = result.plot(bounds=bounds[:1]).get_lines()[1]
    np.testing.assert_array_equal(np.asarray(explicit.get_ydata()), bounds[0].value)


def test_bounds_fit_the_kind_of_regret() -> None:
    problem = Problem(greedy_set(), environments.Bernoulli([0.5, 0.4, 0.8, 0.1]))
    own, promised = (
        simulate(problem, CombUCB1(), horizon=100, runs=2, seed=0, regret=kind, engine="plain")
        for kind in ("expected", "ratio")
    )
    bounds = theory.bounds(problem, own.rounds)
    assert len(own.plot(bounds=bounds).get_lines()) == 2  # what nothing can exceed
    assert bounds[0].vacuous.all()
    assert len(promised.plot(bounds=bounds).get_lines()) == 1
    assert len(promised.plot(bounds=bounds[0]).get_lines()) == 2
    with pytest.raises(errors.BadArgument, match="approximate oracle bounds ratio regret, but this is expected regret"):
        own.plot(bounds=bounds[:1])
    exact = problems.grid_path(1, 0.8)
    same = simulate(exact, CombUCB1(), horizon=2000, runs=2, seed=0, regret="ratio", engine="plain")
    assert len(same.plot(bounds=theory.bounds(exact, same.rounds)).get_lines()) > 5


def test_bounds_at_a_single_checkpoint_are_seen() -> None:
    problem = problems.grid_path(1, 0.4)
    result = simulate(problem, CombUCB1(), horizon=100, runs=9, seed=0, checkpoints=[100], engine="plain")
    ax = result.plot(bounds=theory.bounds(problem, result.rounds))
    assert all(line.get_marker() in ("o", "_") for line in ax.get_lines())


def test_omm_is_combucb1_with_another_alpha() -> None:
    problem = Problem(sets.TopK(4, 2), environments.Bernoulli([0.9, 0.8, 0.5, 0.4]))
    result = simulate(problem, CombUCB1(alpha=2.0), horizon=200, runs=2, seed=0, engine="plain", checkpoints=[200])
    result = dataclasses.replace(result, rounds=np.array([2_000_000]))
    bounds = theory.bounds(problem, result.rounds)
    drawn = {str(line.get_label()) for line in result.plot(bounds=bounds).get_lines()}
    assert {bound.title for bound in bounds.of("upper", "OMM")} <= drawn
    assert not titles(problem) & drawn


def test_an_optimum_inside_the_optimum() -> None:
    problem = Problem(sets.Enumerated([[0, 1], [1], []]), environments.Bernoulli([0.0, 0.9]))
    explanation = theory.explain(problem)
    assert explanation.several_optima is True
    assert "Every suboptimal solution is worse by 0.9" in str(explanation)
    alone = Problem(sets.Enumerated([[0, 1], [1], []]), environments.Bernoulli([0.1, 0.9]))
    assert theory.explain(alone).several_optima is False
