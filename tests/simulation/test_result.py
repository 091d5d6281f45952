"""Results: their shapes, and comparing policies."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from semibandits import IndexPolicy, SimulationResult, errors, policies, problems, simulate
from support.results import make


def test_defaults() -> None:
    result = make()
    assert result.counts is None
    assert result.sums is None
    assert result.solutions is None
    plain = SimulationResult(result.regret, result.rounds, result.policies, "", 0, "expected", "", 0.0, "")
    assert plain.provenance == {}
    assert "2 policies x 5 runs of 1000 rounds" in repr(result)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"regret": np.zeros((2, 5, 3))},
            r"regret must be float64 of shape \(2, 5, 4\), got float64 of shape \(2, 5, 3\)",
        ),
        ({"regret": np.zeros((3, 5, 4))}, "regret"),
        ({"regret": np.zeros((2, 0, 4))}, "regret"),
        ({"regret": np.zeros(4)}, "regret"),
        ({"regret": np.zeros((2, 5, 4), dtype=np.float32)}, "got float32"),
        ({"rounds": np.zeros((4, 1), dtype=np.int64)}, "rounds"),
        ({"rounds": np.array([1.0, 2.0, 3.0, 4.0])}, "rounds must be int64"),
        ({"counts": np.zeros((2, 4, 12), dtype=np.int64)}, r"counts must be int64 of shape \(2, 5, any\)"),
        ({"counts": np.zeros((2, 5, 12))}, "counts"),
        ({"sums": np.zeros((2, 4, 12))}, r"sums must be float64 of shape \(2, 5, any\)"),
        ({"sums": np.zeros((2, 5, 12), dtype=np.int64)}, "sums"),
        ({"solutions": np.zeros((2, 5, 12), dtype=np.int32)}, "solutions"),
    ],
)
def test_shapes_are_checked(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        replace(make(), **changes)


# Comparing


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("round", [None, 10])
def test_compare_is_the_paired_t_test(round: int | None, confidence: float) -> None:
    result = make(policies=3, runs=7)
    at = -1 if round is None else 1
    a, b = result.regret[2, :, at], result.regret[0, :, at]
    found = result.compare(2, "Policy(0)", round=round, confidence=confidence)
    test = stats.ttest_rel(a, b)
    interval = test.confidence_interval(confidence)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.difference / found.error == pytest.approx(test.statistic)
    assert found.deviation == pytest.approx(np.std(a - b, ddof=1))
    assert found.unpaired == pytest.approx(np.sqrt(np.var(a, ddof=1) / 7 + np.var(b, ddof=1) / 7))
    assert found.error < found.unpaired
    assert (found.a, found.b, found.round, found.runs) == ("Policy(2)", "Policy(0)", 1000 if round is None else 10, 7)
    assert all(type(value) in (str, int, float) for value in found)
    turned = result.compare(0, 2, round=round, confidence=confidence)
    assert (turned.difference, turned.low, turned.high) == pytest.approx((-found.difference, -found.high, -found.low))


def test_compare_in_words() -> None:
    regret = np.array([[[10.0], [12.0], [14.0]], [[20.0], [23.0], [26.0]], [[11.0], [12.0], [12.0]]])
    result = make(policies=3, rounds=[50], regret=regret)
    # differences -10, -11, -12: error 1/sqrt(3), Student's quantile for 2 degrees of freedom 4.3027
    less = (
        "Policy(0) has less regret than Policy(1) after 50 rounds:\n"
        "11.00 less, 95% interval [8.52, 13.48], standard error 0.58 over 3 paired runs (unpaired: 2.08)"
    )
    assert str(result.compare(0, 1)) == repr(result.compare(0, 1)) == less
    assert str(result.compare(1, 0)) == less
    assert str(result.compare(0, 2, confidence=0.9)).startswith(
        "Policy(0) and Policy(2) cannot be told apart after 50 rounds:\ndifference 0.33, 90% interval [-2.24, 2.91]"
    )
    assert "cannot be told apart" in str(result.compare(0, 0))
    single = make(policies=3, rounds=[50], regret=regret[:, :1]).compare(0, 1)
    assert np.isnan([single.error, single.deviation, single.low, single.high, single.unpaired]).all()
    assert str(single) == "Policy(0) and Policy(1) after 50 rounds of a single run:\ndifference -10.00, error unknown"


def test_policies_by_their_names_alone() -> None:
    problem = problems.grid_path(2, 0.3)
    players: list[IndexPolicy] = [policies.Random(), policies.CombUCB1(), policies.CombUCB1(alpha=0.5)]
    result = simulate(problem, players, horizon=20, runs=3, seed=0)
    assert result.compare("Random", 1) == result.compare(0, "CombUCB1(alpha=1.5, init='paper')")
    with pytest.raises(errors.BadArgument, match="'CombUCB1' is the name of several policies"):
        result.compare("Random", "CombUCB1")


@pytest.mark.parametrize("which", [2, -1, True, 0.5, "Politics", None, "Policy(7)", [0], np.arange(2)])
def test_unknown_policies(which: Any) -> None:
    with pytest.raises(errors.BadArgument, match=r"is no policy; there are 0: Policy\(0\), 1: Policy\(1\)"):
        make().compare(0, which)


def test_ambiguous_policies() -> None:
    result = replace(make(policies=3), policies=("Same()", "Same()", "Other()"))
    with pytest.raises(
        errors.BadArgument, match=r"'Same\(\)' is the name of several policies; give a number; there are 0"
    ):
        result.compare("Other()", "Same()")
    assert result.compare("Other()", 1).b == "Same()"


def test_a_class_stands_for_its_only_policy() -> None:
    result = replace(make(), policies=("CTS()", "KLUCB(c=2.0, init='all')"))
    assert result.policy_number(policies.CTS) == 0
    assert result.policy_number("KLUCB") == 1
    twins = replace(result, policies=("Mine()", "Mine() #2"))
    assert twins.policy_number("Mine()") == 0
    with pytest.raises(errors.BadArgument, match="'Mine' is the name of several policies; give a number"):
        twins.policy_number("Mine")


def test_policies_that_print_alike_are_not_told_apart_as_objects() -> None:
    class Prior(policies.CTS):
        def __init__(self, strength: float) -> None:
            self._strength = strength

    problem, one, two = problems.grid_path(1, 0.4), Prior(1.0), Prior(2.0)
    result = simulate(problem, [one, two], horizon=20, runs=2, seed=0, engine="plain", threads=1)
    for call in (lambda: result.compare(one, two), lambda: result.plot(labels={two: "strong"})):  # type: ignore[arg-type]
        with pytest.raises(errors.BadArgument, match="is the name of several policies; give a number"):
            call()
    assert result.policy_number(1) == 1
    assert result.policy_number(result.policies[1]) == 1


def test_differences_that_are_no_numbers() -> None:
    problem = problems.grid_path(1, 0.4)
    result = simulate(problem, ["CTS", "CombUCB1"], horizon=20, runs=3, seed=0, threads=1)
    result.regret[0, 0] = np.nan
    assert "cannot be told apart" in str(result.compare(0, 1))


@pytest.mark.parametrize("round", [0, 11, 10.5, "10", [10], float("nan")])
def test_unknown_rounds(round: Any) -> None:
    for method in (make().summary, lambda round: make().compare(0, 1, round=round)):
        with pytest.raises(errors.BadArgument, match=r"is not a checkpoint; they are \[1, 10, 100, 1000\]"):
            method(round=round)
    assert make().summary(round=np.int64(10)) == make().summary(round=1e1)  # type: ignore[arg-type]


@pytest.mark.parametrize("confidence", [0, 1, 95, None, float("nan")])
def test_bad_confidence(confidence: Any) -> None:
    result = make()
    for method in (result.summary, result.plot, lambda confidence: result.compare(0, 1, confidence=confidence)):
        with pytest.raises(errors.BadArgument, match="confidence must be between 0 and 1"):
            method(confidence=confidence)
