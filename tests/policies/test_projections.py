"""The points of convex hulls that OSMD and HYBRID play from, against slower searches and conditions of optimality; and
the solutions drawn with such a mean."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize, stats

from semibandits import problems, rng, sets
from semibandits.policies.solution import polytope, quota_projection, sampling
from semibandits.policies.solution.losses import Loss, loss_scale, same_size
from semibandits.policies.solution.quota_projection import (
    entropy_in_group,
    grouped,
    hybrid_in_group,
    inf_in_group,
    quotas_of,
)
from semibandits.types import ALWAYS, NEVER, FeasibleSet, Game
from support.hulls import starts

Numbers = NDArray[np.float64]
KINDS = ["entropy", "inf", "hybrid"]
EXTREMES = [0.0, 1e-9, 0.3, 3.0, 40.0, 1e3, 1e6]


def projected(kind: str, c: Numbers, k: int, exact: bool = True, gamma: float = 1.0, guess: float = 0.0) -> Numbers:
    n = c.size
    x, room = np.full(n, np.nan), np.zeros(4 * n)
    group = (c, x, np.arange(n), 0, n, k, int(exact))
    with np.errstate(all="ignore"):
        if kind == "hybrid":
            hybrid_in_group(*group, gamma, guess, room)
        else:
            {"entropy": entropy_in_group, "inf": inf_in_group}[kind](*group, room)
    return x


def by_bisection(kind: str, c: Numbers, k: int, gamma: float = 1.0) -> Numbers:
    """The multiplier by halving, and HYBRID's x, as a logit, by halving too: nothing clever."""

    def point(multiplier: float) -> Numbers:
        z = c + multiplier
        if kind == "entropy":
            return np.exp(np.minimum(-z, 0.0))
        if kind == "inf":
            return np.maximum(z, 1.0) ** -2.0
        low, high = np.full(c.size, -700.0), np.full(c.size, 700.0)
        for _ in range(70):
            q = 0.5 * (low + high)
            h = 0.5 * np.sqrt(1.0 + np.exp(-q)) + gamma * (1.0 - np.logaddexp(0.0, q))
            low, high = np.where(h > z, q, low), np.where(h > z, high, q)
        x: Numbers = 1.0 / (1.0 + np.exp(-low))
        return x

    low, high = -c.max() - 1e4, -c.min() + 1e4
    for _ in range(90):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if point(middle).sum() > k else (low, middle)
    return point(low)


def h(kind: str, x: Numbers, gamma: float) -> Numbers:
    """Minus the regulariser's derivative."""
    if kind == "entropy":
        return -np.log(x)
    if kind == "inf":
        return 1.0 / np.sqrt(x)
    return 0.5 / np.sqrt(x) + gamma * (1.0 + np.log1p(-x))


def is_optimal(kind: str, c: Numbers, x: Numbers, k: int, exact: bool, gamma: float = 1.0) -> None:
    """The conditions of Karush, Kuhn and Tucker, as far as doubles can meet them."""
    assert ((x >= 0.0) & (x <= 1.0)).all()
    total = math.fsum(x)
    assert abs(total - k) <= 1e-12 * k if exact else total <= k + 1e-12 * k
    inside = (x < 1.0) & (x > 1e-99)
    multipliers = h(kind, x[inside], gamma) - c[inside]
    # The last digit of x moves h by x times so much.
    steep = {
        "entropy": 1.0 / x[inside],
        "inf": x[inside] ** -1.5,
        "hybrid": x[inside] ** -1.5 + gamma / (1.0 - x[inside]),
    }[kind]
    rounding = 1e-13 * np.abs(c).max()
    slack = 1e-9 + rounding + 4e-16 * x[inside] * steep
    if inside.any():
        best = np.argmin(slack)
        multiplier = multipliers[best]
        assert (np.abs(multipliers - multiplier) <= slack + slack[best]).all(), (multipliers, slack)
        if not exact:
            assert multiplier >= -slack[best]
            assert total >= k - 1e-9 or abs(multiplier) <= slack[best]
        if kind != "hybrid":
            assert (h(kind, np.ones(1), gamma) - c[x == 1.0] >= multiplier - 1e-9 - rounding).all()
        assert (h(kind, x[x <= 1e-99], gamma) - c[x <= 1e-99] <= multiplier + 1e-9 + rounding).all()


def cases() -> list[Any]:
    found: list[Any] = []
    for n, k in [(2, 1), (5, 1), (5, 4), (6, 3), (10, 3), (12, 11), (40, 7)]:
        for number, scale in enumerate(EXTREMES):
            generator = np.random.default_rng((n, k, number))
            found.append((n, k, scale, generator.normal(size=n) * scale))
            found.append((n, k, scale, generator.integers(0, 2, size=n) * scale))  # ties
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_exact_quotas_against_bisection(kind: str) -> None:
    for number, (n, k, scale, c) in enumerate(cases()):
        gamma = [1.0, 0.5][number % 2]
        x = projected(kind, c, k, gamma=gamma)
        is_optimal(kind, c, x, k, exact=True, gamma=gamma)
        if kind == "hybrid" and (n > 6 or number % 3):  # slow
            continue
        np.testing.assert_allclose(x, by_bisection(kind, c, k, gamma), rtol=1e-6, atol=2e-9, err_msg=str((n, k, scale)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exact", [True, False])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_conditions_of_optimality(kind: str, exact: bool, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 9))
    k = data.draw(st.integers(1, n))
    number = st.floats(-1e6, 1e6) | st.floats(-2.0, 2.0) | st.sampled_from([0.0, 1.0, -1.0, 1e-12])
    c = np.array(data.draw(st.lists(number, min_size=n, max_size=n)))
    gamma = data.draw(st.sampled_from([1.0, 0.66, 0.01]))
    guess = data.draw(st.sampled_from([0.0, 1e9, -1e9]))
    x = projected(kind, c, k, exact, gamma, guess)
    if exact and k == n:
        assert (x == 1.0).all()
    else:
        is_optimal(kind, c, x, k, exact, gamma)


@pytest.mark.parametrize("kind", KINDS)
def test_at_most_so_many(kind: str) -> None:
    """A bound that is not reached costs nothing; one that is, is met with equality."""
    c = np.array([3.0, 4.0, 5.0, 2.5])
    free = {"entropy": np.exp(-c), "inf": c**-2.0}.get(kind)
    if free is None:
        free = np.array([optimize.brentq(lambda x, z=z: h("hybrid", np.array(x), 1.0) - z, 1e-9, 1 - 1e-9) for z in c])
    assert free.sum() < 2
    np.testing.assert_allclose(projected(kind, c, 2, exact=False), free, rtol=1e-9)
    many = projected(kind, c - 6.0, 2, exact=False)
    assert many.sum() == pytest.approx(2.0, abs=1e-12)
    np.testing.assert_allclose(many, projected(kind, c - 6.0, 2), rtol=1e-12)


def least(value: Any, n: int, total: float) -> Numbers:
    """By sequential quadratic programs: x in [0, 1]^n that adds up to the total."""
    minimize: Any = optimize.minimize
    found: Numbers = minimize(
        value,
        np.full(n, total / n),
        bounds=[(1e-9, 1.0 - 1e-9)] * n,
        constraints={"type": "eq", "fun": lambda x: x.sum() - total},
        options={"ftol": 1e-14, "maxiter": 1000},
    ).x
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_against_a_general_solver(kind: str) -> None:
    regulariser: dict[str, Callable[[Numbers], float]] = {
        "entropy": lambda x: float(np.sum(x * np.log(x) - x)),
        "inf": lambda x: float(-2.0 * np.sum(np.sqrt(x))),
        "hybrid": lambda x: float(np.sum(-np.sqrt(x) + 0.7 * (1.0 - x) * np.log1p(-x))),
    }
    generator = np.random.default_rng(3)
    for k in (1, 2, 4):
        c = generator.normal(size=5)
        solved = least(lambda x, c=c: float(c @ x) + regulariser[kind](x), 5, k)
        np.testing.assert_allclose(projected(kind, c, k, gamma=0.7), solved, atol=2e-5)


def test_both_searches_of_hybrid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together, and one by one where that does not come to an end."""
    some = cases()[::5]
    together = [projected("hybrid", c, k) for _, k, _, c in some]
    monkeypatch.setattr(quota_projection, "TOGETHER", 0)
    for one, (_, k, _, c) in zip(together, some, strict=True):
        np.testing.assert_allclose(projected("hybrid", c, k), one, rtol=1e-11)


# The sets' quotas

SETS: list[FeasibleSet] = [
    sets.TopK(6, 2),
    sets.TopK(5, 5),
    sets.TopK(6, 3, bases=False),
    sets.PartitionMatroid([0, 1, 0, 1, 1, 2], [1, 2, 1]),
    sets.PartitionMatroid(["a", "b", "a", "b", "b"], {"a": 2, "b": 0}),
    sets.PartitionMatroid([0, 1, 0, 1, 1], [1, 2], bases=False),
]
PARTS: list[FeasibleSet] = [
    *SETS,
    SETS[0].restrict(include=[4], exclude=[0]),
    SETS[0].restrict(include=[4, 5]),
    SETS[2].restrict(include=[0], exclude=[1, 2, 3, 4]),
    SETS[3].restrict(include=[4], exclude=[5 - 3]),
    SETS[5].restrict(include=[0, 1], exclude=[4]),
]


@pytest.mark.parametrize("feasible", PARTS, ids=str)
def test_quotas_say_what_the_solutions_are(feasible: FeasibleSet) -> None:
    quotas = feasible.quotas()
    assert quotas is not None
    found = set()
    for size in range(feasible.n_items + 1):
        for items in itertools.combinations(range(feasible.n_items), size):
            inside = np.isin(np.arange(feasible.n_items), items)
            counts = np.bincount(quotas.group[inside & (quotas.group >= 0)], minlength=quotas.sizes.size)
            right = (counts == quotas.sizes if quotas.exact else counts <= quotas.sizes).all()
            if right and inside[quotas.group == ALWAYS].all() and not inside[quotas.group == NEVER].any():
                found.add(items)
    listed = feasible.listed(1000)
    assert listed is not None
    assert found == {tuple(items.tolist()) for items in listed}


def test_quotas_of_a_set_with_another_oracle() -> None:
    class Fussy(sets.TopK):
        def argmax(self, weights: Any) -> Any:
            return super().argmax(weights)

    assert quotas_of(sets.TopK(4, 2)) is not None
    assert quotas_of(Fussy(4, 2)) is None
    assert same_size(Fussy(4, 2))


# Losses


def test_losses() -> None:
    def of(feasible: FeasibleSet, offset: float, least: float) -> Loss:
        return loss_scale(Game(feasible.n_items, feasible.max_size, offset=offset), feasible, least)

    equal, variable_size = sets.TopK(4, 2), sets.TopK(4, 2, bases=False)
    for offset in (0.0, -1.0, 2.5):
        assert of(equal, offset, 0.0) == (1.0, 1.0)
        assert of(equal, offset, -1.0) == (1.0, 2.0)
    assert of(variable_size, 0.0, 0.0) == of(variable_size, 0.0, -1.0) == (0.0, 1.0)
    assert of(variable_size, -1.0, 0.0) == (1.0, 1.0)
    assert of(variable_size, 1.0, 0.0) == (-0.5, 0.5)
    assert of(variable_size, -0.25, 0.0) == pytest.approx((1 / 3, 4 / 3))
    for offset in (0.0, -1.0, 1.0, -0.25, 7.0):
        loss = of(variable_size, offset, -1.0)
        assert -1.0 <= loss.lowest == loss.at_zero - loss.slope < loss.at_zero <= 1.0
        assert max(abs(loss.lowest), abs(loss.at_zero)) == pytest.approx(1.0)


def test_sizes() -> None:
    assert same_size(sets.TopK(4, 2))
    assert not same_size(sets.TopK(4, 2, bases=False))
    assert same_size(sets.Enumerated([[0, 1], [2, 3]]))
    assert not same_size(sets.Enumerated([[0, 1], [2]]))
    assert same_size(problems.grid_path(2, 0.2).feasible)


# Hulls of listed solutions

LISTED: list[FeasibleSet] = [
    sets.Enumerated([[0, 1], [0, 2], [0, 3, 4]]),
    sets.Enumerated([[0], [1, 2], [3, 4, 5], [0, 5]], n_items=7),
    problems.grid_path(2, 0.2).feasible,
    sets.Enumerated([list(items) for items in itertools.combinations(range(6), 3)]),
    sets.Enumerated([[0, 2]]),
]


def rules() -> list[polytope.Rule]:
    return [polytope.ENTROPY, polytope.INF, polytope.hybrid(1.0), polytope.hybrid(0.5)]


@pytest.mark.parametrize("feasible", LISTED, ids=str)
def test_minimum_over_a_hull(feasible: FeasibleSet) -> None:
    """The mean of its weights is the point, and no solution lies further down than the certificate says."""
    hull = polytope.hull(feasible, "it")
    rows = np.array([np.isin(np.arange(feasible.n_items), items) for items in feasible.listed(100) or []], dtype=float)
    for number, (scale, rule) in enumerate(itertools.product(EXTREMES, rules())):
        c = np.random.default_rng(number).normal(size=feasible.n_items) * scale
        weights, x = polytope.minimum(hull, c, rule)
        assert (weights > 0.0).all()
        assert abs(weights.sum() - 1.0) < 1e-14
        np.testing.assert_allclose(weights @ rows, x, atol=1e-15)
        if len(rows) > 1:
            g = (c + rule.slope(x, np.array([weights @ (1.0 - rows[:, i]) for i in range(x.size)])))[hull.varying]
            values = rows[:, hull.varying] @ g
            assert weights @ (values - values.min()) <= 1e-9 + 1e-13 * np.abs(values).max(), (scale, number)


def test_derivatives() -> None:
    """Of the regularisers as they are written down, by differences."""
    written: list[Callable[[Numbers], Numbers]] = [
        lambda x: x * np.log(x) - x,
        lambda x: -2.0 * np.sqrt(x),
        lambda x: -np.sqrt(x) + (1.0 - x) * np.log(1.0 - x),
        lambda x: -np.sqrt(x) + 0.5 * (1.0 - x) * np.log(1.0 - x),
    ]
    x, d = np.array([0.01, 0.3, 0.8, 0.99]), 1e-6
    for rule, value in zip(rules(), written, strict=True):
        np.testing.assert_allclose(
            rule.slope(x, 1.0 - x), (value(x + d) - value(x - d)) / (2 * d), rtol=1e-6, atol=1e-6
        )
        difference = rule.slope(x + d, 1.0 - x - d) - rule.slope(x - d, 1.0 - x + d)
        np.testing.assert_allclose(rule.curvature(x, 1.0 - x), difference / (2 * d), rtol=1e-6)


def test_hull_against_quotas() -> None:
    """All triples of six items, by both roads. A gap of 1e-9 leaves x uncertain by its root."""
    hull = polytope.hull(LISTED[3], "it")
    for number, scale in enumerate(EXTREMES[:6]):
        c = np.random.default_rng(number).normal(size=6) * scale
        for kind, rule in zip(KINDS, rules(), strict=False):
            x = polytope.minimum(hull, c, rule)[1]
            np.testing.assert_allclose(x, projected(kind, c, 3), rtol=0.0, atol=3e-5)


def test_hull_against_a_general_solver() -> None:
    rows = np.array([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 1, 1, 1, 0], [1, 0, 0, 0, 1.0]])
    hull = polytope.hull(sets.Enumerated([np.flatnonzero(row).tolist() for row in rows]), "it")
    for seed in range(4):
        c = np.random.default_rng(seed).normal(size=5)

        def value(p: Numbers, c: Numbers = c) -> float:
            x = np.clip(p @ rows, 1e-12, 1.0 - 1e-12)
            return float(c @ x + np.sum(-np.sqrt(x) + (1.0 - x) * np.log1p(-x)))

        theirs, ours = least(value, 4, 1.0), polytope.minimum(hull, c, polytope.hybrid(1.0))[0]
        assert value(ours) <= value(theirs) + 1e-8
        np.testing.assert_allclose(ours, theirs, atol=1e-3)


# Sampling


def sampled(x: Numbers, feasible: FeasibleSet) -> tuple[list[int], Numbers]:
    quotas = feasible.quotas()
    assert quotas is not None
    groups = quotas.sizes.size
    out, note = np.zeros(feasible.max_size, dtype=np.int64), np.zeros(feasible.n_items)
    size = sampling.systematic(x, out, note, grouped(quotas), 0, np.zeros(2 * groups), np.zeros(groups, dtype=np.int64))
    return out[:size].tolist(), note


@pytest.mark.parametrize("feasible", [s for s in PARTS if s.max_size], ids=str)
def test_systematic_sampling_has_the_marginals(feasible: FeasibleSet, monkeypatch: pytest.MonkeyPatch) -> None:
    quotas = feasible.quotas()
    assert quotas is not None
    generator = np.random.default_rng(11)
    for _ in range(5):
        x = (quotas.group == ALWAYS).astype(np.float64)
        for g, k in enumerate(quotas.sizes.tolist()):
            members = np.flatnonzero(quotas.group == g)
            if members.size:
                x[members] = projected("entropy", generator.normal(size=members.size) * 2.0 + 1.0, k, quotas.exact)
        marginals = np.zeros(feasible.n_items)
        for chance, places in starts(x, feasible):
            monkeypatch.setattr(sampling, "uniform", lambda key, g, places=places: places[int(g)])
            items, note = sampled(x, feasible)
            if chance > 1e-12:
                assert feasible.contains(items)
                assert items == sorted(items)
            marginals[items] += chance
            expected = x[items] if quotas.exact else np.where(np.isin(np.arange(x.size), items), x, -x)
            np.testing.assert_array_equal(note[: len(items)] if quotas.exact else note, expected)
        np.testing.assert_allclose(marginals, x, atol=1e-12)


def test_what_rounding_leaves_out_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly so many items, also where the chances add up to less."""
    feasible = sets.PartitionMatroid([0, 1, 0, 1, 0], [2, 1])
    monkeypatch.setattr(sampling, "uniform", lambda key, g: 0.95)
    items, note = sampled(np.array([0.9, 0.6, 0.4, 0.3, 0.6]), feasible)
    assert items == [0, 1, 2]
    assert note[:3].tolist() == [0.9, 0.6, 0.4]


def test_draws_by_weight() -> None:
    weights = np.array([0.1, 0.0, 0.5, 0.4])
    drawn = [sampling.one_of(weights, rng.key(5, 0, t, rng.POLICY)) for t in range(1, 5001)]
    counts = np.bincount(drawn, minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], 5000 * weights[[0, 2, 3]]).pvalue > 1e-4
