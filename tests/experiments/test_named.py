"""Names and calls, against the objects made by hand and against Python's own reading of calls."""

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semibandits as sb
from semibandits.errors import BadArgument
from semibandits.experiments.files import registry
from semibandits.experiments.files.registry import make_environment, make_policy, make_problem, make_set, parse_call


def test_everything_public_has_its_name() -> None:
    public = {name for name in sb.policies.__all__ if isinstance(getattr(sb.policies, name), type)}
    assert set(registry.POLICIES) == public - {"Recommendation"}
    assert set(registry.SETS) == set(sb.sets.__all__) - {"from_spec"}
    assert set(registry.ENVIRONMENTS) >= set(sb.environments.__all__) - {"Independent"}
    assert all(getattr(sb.problems, name) is made for name, made in registry.PROBLEMS.items())


def test_things_by_name_are_those_made_by_hand() -> None:
    assert make_policy("CombUCB1", {"alpha": 0.5, "init": "all"}) == sb.policies.CombUCB1(0.5, "all")
    assert make_policy("Fixed", {"items": [3, 1]}) == sb.policies.Fixed([1, 3])
    by_name, by_hand = make_problem("grid_path", {"m": 3, "sigma": 0.2}), sb.problems.grid_path(3, 0.2)
    assert np.array_equal(by_name.means, by_hand.means)
    made = make_set("Paths", {"graph": [[[0, 0], [0, 1]], [[0, 1], [1, 1]]], "source": [0, 0], "target": [1, 1]})
    assert made.labels == ("(0, 0)->(0, 1)", "(0, 1)->(1, 1)")
    blocks = [{"kind": "TopK", "n_items": 4, "k": 2}, {"kind": "GridPaths", "m": 1}]
    assert make_set("Product", {"blocks": blocks}).n_items == 8
    assert make_environment("CorrelatedGaussian.equicorrelated", {"means": [0.5, 0.5], "sigma": 0.1, "rho": 0.5})
    problem = make_problem(*parse_call("coin_table(feasible=TopK(n_items=4, k=2), horizon=7, seed=1)"))
    expected = sb.problems.coin_table(sb.sets.TopK(4, 2), 7, seed=1)
    assert np.array_equal(problem.environment.losses, expected.environment.losses)  # type: ignore[attr-defined]


def test_the_clairvoyant_is_told_the_problem() -> None:
    problem = sb.problems.grid_path(2, 0.4)
    result = sb.simulate(problem, make_policy("Clairvoyant", {}, problem), horizon=20, runs=1, seed=0)
    assert result.regret.max() == 0.0


@pytest.mark.parametrize(
    ("make", "name", "parameters", "message"),
    [
        (make_policy, "CombUBC1", {}, "no policy is called 'CombUBC1': did you mean 'CombUCB1'?"),
        (make_policy, "combucb1", {}, "no policy is called 'combucb1': did you mean 'CombUCB1'?"),
        (make_policy, "CombUCB1", {"alhpa": 1}, "policy CombUCB1 has no 'alhpa': did you mean 'alpha'?"),
        (make_policy, "CombUCB1", {"zzz": 1}, "policy CombUCB1 has no 'zzz'; there are alpha, init"),
        (make_policy, "CombUCB1", {"alpha": "x"}, "alpha must be a number, got 'x'"),
        (make_policy, "CombUCB1", {"alpha": True}, "alpha must be a number, got True"),
        (make_policy, "CombUCB1", {"alpha": -1}, "alpha must be a positive number, got -1"),
        (make_policy, "CombUCB1", {"alpha": float("nan")}, "alpha must be a positive number, got nan"),
        (make_policy, "CTS", {"a": 1}, "policy CTS has no 'a'; it has no parameters"),
        (make_policy, "Discounted", {}, "policy Discounted needs 'gamma'"),
        (make_policy, "CMOSS", {"anytime": 1}, "anytime must be true or false, got 1"),
        (make_policy, "CMOSS", {"delta": "x"}, "delta must be a number, got 'x'"),
        (make_problem, "grid_path", {}, "problem grid_path needs 'm' and 'sigma'"),
        (make_problem, "grid_path", {"m": 2.0, "sigma": 0.2}, "m must be a whole number, got 2.0"),
        (make_problem, "gridpath", {}, "no problem is called 'gridpath': did you mean 'grid_path'?"),
        (make_set, "Quux", {}, "no set is called 'Quux'; there are"),
        (make_set, "Product", {"blocks": 3}, "blocks must be a list, got 3"),
        (make_set, "LaminarMatroid", {"n_items": 3, "families": 5}, "families"),
        (make_environment, "Bernouli", {}, "did you mean 'Bernoulli'?"),
        (make_environment, "Bernoulli", {"means": [0.5, 2.0]}, "means must be in [0, 1]"),
    ],
)
def test_what_is_wrong_is_said(make: Any, name: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument) as caught:
        make(name, parameters)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name", "parameters"),
    [
        ("CombUCB1", "CombUCB1", {}),
        (" CTS ", "CTS", {}),
        ("CTS()", "CTS", {}),
        ("CombUCB1:alpha=0.5,init=all", "CombUCB1", {"alpha": 0.5, "init": "all"}),
        ("CombUCB1(alpha=0.5, init='all')", "CombUCB1", {"alpha": 0.5, "init": "all"}),
        ("OSMD:regulariser=inf", "OSMD", {"regulariser": "inf"}),
        ("CMOSS:anytime=true,delta=None", "CMOSS", {"anytime": True, "delta": None}),
        ("Fixed:items=[0, 1, 5]", "Fixed", {"items": [0, 1, 5]}),
        ("k_path:n_items=1_000,k=2,gap=-1e-3", "k_path", {"n_items": 1000, "k": 2, "gap": -0.001}),
        ("x(y={'a': 1, b: (2, 3)})", "x", {"y": {"a": 1, "b": [2, 3]}}),
    ],
)
def test_calls_are_read(text: str, name: str, parameters: dict[str, Any]) -> None:
    assert parse_call(text) == (name, parameters)


@pytest.mark.parametrize(
    "text",
    [
        "", "(", "CombUCB1(", "CombUCB1:", "1", "'CTS'", "a b", "a=1", "CombUCB1:alpha", "CombUCB1:alpha=",
        "CombUCB1(0.5)", "CombUCB1(**x)", "x(y=1)(z=2)", "__import__('os').system('true')", "x(y=[z for z in w])",
        "x(y=1+1j*z)", "x(y=lambda: 1)", "x(y=a.b)", "x(" + "(" * 500, "x(y='\0')", "x(y={**z})", "x(y={[]: 1})",
        "x(y=1,y=1)", "x(y=Z(a=1,a=2))", "x(y=Z(kind=1))", "x(y={'a': 1, 'a': 2})", "x(y=b'z')", "x(y={1, 2})",
        "x(y=1j)", f"x(y={2**64})", f"x(y={-(2**64)})", "x(y=0x" + "f" * 5000 + ")", "x(y=" + "9" * 5000 + ")",
    ],
)  # fmt: skip
def test_nothing_else_is_read(text: str) -> None:
    if text == "CombUCB1:":
        assert parse_call(text) == ("CombUCB1", {})
        return
    with pytest.raises(BadArgument):
        parse_call(text)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**64, 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.from_regex(r"p_[a-z0-9]{1,5}", fullmatch=True), values, max_size=3))
@settings(max_examples=60, deadline=None)
def test_what_python_writes_is_read_back(parameters: dict[str, Any]) -> None:
    text = f"Name({', '.join(f'{name}={value!r}' for name, value in parameters.items())})"
    assert parse_call(text) == ("Name", parameters)


def test_descriptions_fit_on_a_line_and_name_the_parameters() -> None:
    for listed, there in (
        (registry.describe_policies(), registry.POLICIES),
        (registry.describe_sets(), registry.SETS),
        (registry.describe_problems(), registry.PROBLEMS),
        (registry.describe_environments(), registry.ENVIRONMENTS),
    ):
        assert [one.name for one in listed] == list(there)
        for one in listed:
            assert one.what
            assert len(one.what) < 130
            assert "\n" not in one.what
            expected = [] if one.name == "Clairvoyant" else list(inspect.signature(there[one.name]).parameters)
            written = [part.partition("=")[0] for part in one.parameters.split(", ") if part]
            assert [name for name in written if name.isidentifier()] == expected
