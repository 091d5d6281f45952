"""The bounds of ESCB: constants against quadrature and a search, the proof's steps against chance and adversaries."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from semibandits import errors
from semibandits.theory import escb, tight

LOG_Q = np.linspace(-12.0, 12.0, 4801)


@pytest.mark.parametrize("K", [1, 2, 3, 5, 17, 200])
def test_constants_against_a_search(K: int) -> None:
    q = np.exp(LOG_Q)
    one = 2.0 * (1.0 + q * K) * np.log1p(1.0 / q)
    each = 2.0 * (1.0 + q * K) * (np.log1p(1.0 / q) + 1.0 / (1.0 + q))
    assert escb.one_gap_constant(K) == pytest.approx(one.min(), rel=1e-5)
    assert escb.item_gap_constant(K) == pytest.approx(each.min(), rel=1e-5)
    assert escb.one_gap_constant(K) <= 4.0 * math.log1p(K) + 1e-9


@pytest.mark.parametrize("K", [1, 2, 3, 10])
@pytest.mark.parametrize("q", [0.05, 0.3, 1.0, 20.0])
def test_what_an_item_is_charged(K: int, q: float) -> None:
    """In units of 2 f(n), with the gap 1 or any that is larger."""
    a = 1.0 + q * K
    one = quad(lambda y: tight.charge(y, K, q) / y**2, q / a, (1.0 + q) / a)[0] + a / (1.0 + q)
    assert one == pytest.approx(a * math.log1p(1.0 / q))

    def worst(s: float) -> float:
        gap = max(1.0, math.sqrt(a / ((1.0 + q) * s)))
        return float(gap * tight.charge(1.0 / (gap**2 * s), K, q))

    each = quad(worst, 0.0, a / (1.0 + q))[0] + quad(worst, a / (1.0 + q), a / q)[0]
    assert each == pytest.approx(a * (math.log1p(1.0 / q) + 1.0 / (1.0 + q)), rel=1e-6)
    for s in (0.01, 0.3, 1.0, 2.5, 30.0):
        for gap in (1.0, 1.2, 2.0, 9.0):
            assert gap * tight.charge(1.0 / (gap**2 * s), K, q) <= worst(s) + 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_no_adversary_gets_more(seed: int) -> None:
    """Who may choose any solution with Δ² <= 2 f Σ 1/T, whatever ESCB would."""
    generator = np.random.default_rng(seed)
    M, K = int(generator.integers(2, 8)), int(generator.integers(1, 5))
    solutions = [generator.permutation(M)[: generator.integers(1, min(K, M) + 1)] for _ in range(10)]
    gaps = generator.choice([0.5, 0.5, 0.7, 1.0, 2.0], size=10)
    if seed % 2:
        gaps[:] = 0.5
    member = np.array([np.isin(np.arange(M), one) for one in solutions])
    least = [min((gap for gap, has in zip(gaps, member[:, e], strict=True) if has), default=math.inf) for e in range(M)]
    f = 20.0
    bound = f * escb.item_gap_form(max(M, K), K, least, float(gaps.min()))
    if seed % 2:
        bound = min(bound, f * escb.one_gap(int(member.any(axis=0).sum()) + K, K, 0.5))
    for prefer in ("random", "largest", "smallest"):
        counters, regret = np.ones(M), 0.0
        while (free := np.flatnonzero(2.0 * f * (member @ (1.0 / counters)) >= gaps**2)).size:
            sign = {"largest": 1.0, "smallest": -1.0}.get(prefer, 0.0)
            chosen = int(generator.choice(free) if sign == 0.0 else free[np.argmax(sign * gaps[free])])
            regret += gaps[chosen]
            counters += member[chosen]
        assert regret <= bound


def test_how_far_means_stray() -> None:
    """P(max over s <= t of 2 s (mean - 1/2)² >= x) <= 2 D exp(-x/(1+η)), over 4,000 sequences of coins."""
    t, repeats = 400, 4000
    tosses = np.random.default_rng(1).integers(0, 2, size=(repeats, t)).cumsum(axis=1)
    s = np.arange(1, t + 1)
    strayed = (2.0 * s * (tosses / s - 0.5) ** 2).max(axis=1)
    eta = 1.0 / math.log(t)
    ranges = math.ceil(math.log(t) / math.log1p(eta))
    for x in (3.0, 4.0, 5.0, 6.0, 8.0):
        assert (strayed >= x).mean() <= 2 * ranges * math.exp(-x / (1.0 + eta))


@pytest.mark.parametrize("K", [1, 2, 5])
def test_failures_are_summable(K: int) -> None:
    """The probability of step 1 times t (log t)², for t = e^l, does not grow without end."""

    def scaled(log: float) -> float:
        eta = 1.0 / log
        ranges = 1.0 + log / math.log1p(eta)
        y = (log + 4 * K * math.log(log)) / (1.0 + eta) - K * math.log(2.0 * ranges)
        return -y + (K - 1) * math.log1p(y) + log + 2.0 * math.log(log)

    values = [scaled(10.0**power) for power in range(2, 9)]
    assert max(values) < values[0] + 10.0
    assert values[-1] <= values[-2] + 1e-6


def test_factors_by_hand() -> None:
    assert escb.one_gap(8, 1, 0.5) == pytest.approx(2 * 8 / 0.5)
    assert escb.one_gap(8, 2, 0.5) == pytest.approx(4 * 8 / 0.5)
    assert escb.item_gap_form(4, 1, [math.nan, 0.5, 0.25, math.inf], 0.25) == pytest.approx(4 * (4 + 2 + 4))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: escb.one_gap(8, 2, 0.0), "gap must be a finite number > 0, got 0.0"),
        (lambda: escb.one_gap(2, 3, 0.5), "K must be at most L"),
        (lambda: escb.item_gap_form(3, 2, [0.5, -1.0], 0.5), "item_gaps must be > 0"),
        (lambda: escb.item_gap_form(3, 2, [0.5], math.inf), "gap must be a finite number"),
        (lambda: escb.one_gap_constant(0), "K must be an integer >= 1"),
    ],
)
def test_bad_input(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(errors.BadArgument, match=says):
        call()
