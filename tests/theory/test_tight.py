"""The tighter bounds: constants against brute force, quadrature and an optimiser, proofs against adversaries.

Throughout u = 6 log n / Δ², so that on the event F_t, Σ sqrt(u / T) >= 1 over the items of A_t outside the optimum.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar

from semibandits import errors
from semibandits.theory import kveton2015, tight
from semibandits.theory.terms import PER_ITEM

GOLDEN = (1.0 + math.sqrt(5.0)) / 2.0


def chain_constant(chain: tuple[int, ...]) -> float:
    return 6.0 * sum((a - b) ** (2 / 3) * (b + 1) ** (-1 / 3) for a, b in itertools.pairwise(chain)) ** 3


# A: the cascade


@pytest.mark.parametrize(
    ("K", "constant"),
    [
        (1, 6.0),
        (2, 24.0),
        (3, 54.0),
        (5, 150.0),
        (8, 349.6),
        (10, 497.6),
        (16, 1032.9),
        (50, 5326.1),
        (100, 13047.8),
        (1000, 194433.0),
    ],
)
def test_cascade_constants(K: int, constant: float) -> None:
    assert tight.cascade_constant(K) == pytest.approx(constant, abs=0.5 if K == 1000 else 0.05)
    assert tight.cascade_constant(np.int64(K)) == tight.cascade(K).constant  # type: ignore[arg-type]


@pytest.mark.parametrize("K", range(1, 13))
def test_cascade_against_all_chains(K: int) -> None:
    between = range(1, K)
    chains = [
        (K, *sorted(some, reverse=True), 0) for size in range(K) for some in itertools.combinations(between, size)
    ]
    assert len(chains) == 2 ** (K - 1)
    assert tight.cascade_constant(K) == pytest.approx(min(map(chain_constant, chains)), rel=1e-13)
    assert chain_constant(tight.cascade(K).thresholds) == pytest.approx(tight.cascade_constant(K), rel=1e-13)


@pytest.mark.parametrize("K", [*range(1, 301), 1023, 1024, 1025, 5000])
def test_cascade_is_one(K: int) -> None:
    constant, thresholds, alphas = tight.cascade(K)
    kappa, alpha = np.array(thresholds), np.array(alphas)
    assert kappa[0] == K
    assert kappa[-1] == 0
    assert (np.diff(kappa) < 0).all()
    assert (np.diff(alpha) < 0).all()
    assert math.sqrt(6.0) * (-np.diff(kappa) / np.sqrt(alpha)).sum() == pytest.approx(1.0)
    assert (alpha / (kappa[1:] + 1)).sum() == pytest.approx(constant)
    # Better than the paper's, worse than amortisation.
    assert constant <= 24.0 * GOLDEN**5 * K
    assert constant <= 48.0 * K ** (4 / 3)
    assert tight.amortised_constant(K) <= constant * (1.0 + 1e-14)


@pytest.mark.parametrize("thresholds", [(7, 0), (7, 2, 0), (40, 9, 1, 0), (9, 8, 3, 2, 0)])
def test_alphas_are_best(thresholds: tuple[int, ...]) -> None:
    """Against an optimiser: 6 S³ is the least Σ α_i / (κ_i + 1) with √6 Σ d_i / √α_i = 1."""
    kappa = np.array(thresholds)
    d, counts = -np.diff(kappa), kappa[1:] + 1.0

    def cost(logs: np.ndarray) -> float:
        alpha = np.exp(logs)  # scaled so that the constraint holds
        return float((alpha / counts).sum() * 6.0 * (d / np.sqrt(alpha)).sum() ** 2)

    found = minimize(cost, np.zeros(d.size), tol=1e-12)
    assert found.fun == pytest.approx(chain_constant(thresholds), rel=1e-8)


def test_the_best_infinite_cascade_is_geometric() -> None:
    """Each step lowers v·β^(1/3) by no more than it costs, with equality at the ratio √5 - 2; and 6 v³ = 24 φ⁵."""

    def cost(r: float) -> float:
        return (1 - r) ** (2 / 3) * r ** (-1 / 3) / (1 - r ** (1 / 3))

    best = minimize_scalar(cost, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-12})
    assert best.x == pytest.approx(math.sqrt(5.0) - 2.0, abs=1e-6)
    assert best.fun == pytest.approx((4.0 * GOLDEN**5) ** (1 / 3), rel=1e-12)
    assert 6.0 * best.fun**3 == pytest.approx(266.164, abs=1e-3)

    def sequence(logits: np.ndarray) -> float:
        """The cost of any finite sequence, and then on geometrically."""
        beta = np.cumprod(np.append(1.0, 1.0 / (1.0 + np.exp(logits))))
        steps = (beta[:-1] - beta[1:]) ** (2 / 3) * beta[1:] ** (-1 / 3)
        return float(steps.sum() + best.fun * beta[-1] ** (1 / 3))

    generator = np.random.default_rng(0)
    for _ in range(5):
        found = minimize(sequence, generator.normal(1.0, 1.0, 4))
        assert found.fun == pytest.approx(best.fun, rel=1e-7)


def some_event(counters: np.ndarray, K: int, u: float) -> bool:
    _, thresholds, alphas = tight.cascade(K)
    return any(
        np.count_nonzero(counters <= alpha * u / 6.0) >= kappa + 1
        for kappa, alpha in zip(thresholds[1:], alphas, strict=True)
    )


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_some_event_happens(data: st.DataObject) -> None:
    K = data.draw(st.integers(1, 60))
    size = data.draw(st.integers(1, K))
    logs = data.draw(st.lists(st.floats(-4.0, 8.0), min_size=size, max_size=size))
    counters = np.exp(logs)
    u = float(np.sqrt(1.0 / counters).sum() ** -2.0)  # F_t only just happens
    assert some_event(counters, K, u * (1.0 + 1e-9))


@pytest.mark.parametrize("K", [1, 2, 3, 7, 8, 10, 31, 100, 731])
def test_the_worst_counters_for_the_cascade(K: int) -> None:
    """d_i items just above m_i: no event, and F_t only just fails. So nothing is given away."""
    _, thresholds, alphas = tight.cascade(K)
    u = 1e6
    worst = np.repeat(np.array(alphas), -np.diff(thresholds)) * u / 6.0
    assert worst.size == K
    assert np.sqrt(u / worst).sum() == pytest.approx(1.0)
    assert not some_event(worst * (1.0 + 1e-9), K, u)
    assert some_event(worst * (1.0 - 1e-9), K, u)


# B: amortisation


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_charges_add_up_to_one(data: st.DataObject) -> None:
    K = data.draw(st.integers(1, 40))
    size = data.draw(st.integers(1, K))
    q = data.draw(st.floats(1e-3, 1e3))
    y = np.array(data.draw(st.lists(st.floats(1e-6, 1.0), min_size=size, max_size=size)))
    y *= (1.0 + 1e-12) / y.sum()
    assert tight.charge(y, K, q).sum() >= 1.0 - 1e-9
    least = q / (1.0 + q * K)  # the most that is charged nothing
    y = np.full(size, least)
    y[0] += 1.0 - y.sum()
    assert tight.charge(y, K, q).sum() >= 1.0 - 1e-9


@pytest.mark.parametrize("K", [1, 2, 3, 10, 57])
@pytest.mark.parametrize("q", [0.05, 0.3, 1.0, 20.0])
def test_what_an_item_is_charged(K: int, q: float) -> None:
    even = tight.charge(np.full(K, 1.0 / K), K, q)
    assert even.sum() == pytest.approx(1.0)  # no charge to spare
    kinks = (q / (1.0 + q * K), (1.0 + q) / (1.0 + q * K))
    rising = quad(lambda y: tight.charge(y, K, q) * 2.0 * y**-3.0, *kinks)[0]
    full = quad(lambda y: tight.charge(y, K, q) * 2.0 * y**-3.0, kinks[1], math.inf)[0]
    assert tight.charge(kinks[0] * (1 - 1e-9), K, q) == 0.0
    assert tight.charge_total(K, q) == pytest.approx(rising + full, rel=1e-7)
    u = 543.0  # the sum over a counter's values is less than the integral, by one charge at most
    s = np.arange(1, int(u / kinks[0] ** 2) + 2)
    charged = tight.charge(np.sqrt(u / s), K, q).sum()
    assert tight.charge_total(K, q) * u - 1.0 <= charged <= tight.charge_total(K, q) * u


@pytest.mark.parametrize("K", [*range(3, 30), 100, 1000])
def test_the_best_charge(K: int) -> None:
    best = minimize_scalar(lambda log: tight.charge_total(K, math.exp(log)), bounds=(-12.0, 8.0), method="bounded")
    assert math.exp(best.x) == pytest.approx(1.0 / (K - 2), rel=1e-3)
    assert tight.amortised_constant(K) == pytest.approx(6.0 * best.fun, rel=1e-9)
    assert tight.amortised_constant(K) == pytest.approx(6.0 * tight.charge_total(K, 1.0 / (K - 2)), rel=1e-13)


@pytest.mark.parametrize("K", [1, 2])
def test_the_best_charge_of_one_and_two(K: int) -> None:
    totals = [6.0 * tight.charge_total(K, q) for q in (1.0, 10.0, 1e3, 1e6, 1e9)]
    assert totals == sorted(totals, reverse=True)
    assert totals[-1] == pytest.approx(tight.amortised_constant(K), rel=1e-8)
    assert min(totals) >= tight.amortised_constant(K)


@pytest.mark.parametrize("K", [*range(2, 30), 100, 1000])
def test_the_best_charge_by_item_gaps(K: int) -> None:
    def total(log_q: float) -> float:
        """By quadrature: what an item with the gap 1 is charged at most, in units of 6 log n."""
        q = math.exp(log_q)

        def worst(s: float) -> float:
            x = 1.0 / math.sqrt(s)
            gap = max(1.0, (1.0 + q * K) * x / (1.0 + q))
            return max(0.0, min(gap, (1.0 + q * K) * x - q * gap))

        first, last = ((1.0 + q * K) / (1.0 + q)) ** 2, ((1.0 + q * K) / q) ** 2
        return float(quad(worst, 0.0, first)[0] + quad(worst, first, last)[0])

    found = minimize_scalar(total, bounds=(-10.0, 5.0), method="bounded")
    assert tight.item_gap_constant(K) == pytest.approx(6.0 * found.fun, rel=1e-6)
    assert tight.item_gap_constant(K) < 24.0 * K


@settings(max_examples=100, deadline=None)
@given(
    x=st.floats(0.001, 10.0),
    g=st.floats(0.01, 5.0),
    more=st.floats(0.0, 20.0),
    K=st.integers(1, 9),
    q=st.floats(0.01, 9),
)
def test_no_gap_is_charged_more_than_the_worst(x: float, g: float, more: float, K: int, q: float) -> None:
    gap, worst = g + more, max(g, (1.0 + q * K) * x / (1.0 + q))
    assert gap * tight.charge(x / gap, K, q) <= worst * tight.charge(x / worst, K, q) + 1e-12


# Play against the bounds. An adversary may choose any set for which F_t happens, whatever an oracle would say.


def play(adversary: str, M: int, K: int, u: float, seed: int) -> int:
    """How many rounds an adversary gets out of M items with one gap."""
    generator = np.random.default_rng(seed)
    counters = np.ones(M)
    q = 1.0 / (K - 2) if K > 2 else 1e4
    potential = 0.0
    for rounds in itertools.count():
        order = np.argsort(counters, kind="stable")
        if np.sqrt(u / counters[order[:K]]).sum() < 1.0:
            return rounds
        chosen = order[:K]
        if adversary == "random":
            some = generator.permutation(M)[: generator.integers(1, K + 1)]
            chosen = some if np.sqrt(u / counters[some]).sum() >= 1.0 else chosen
        elif adversary == "most seen":  # of the windows of K the last that still counts
            sums = np.convolve(np.sqrt(u / counters[order]), np.ones(K), mode="valid")
            start = int(np.flatnonzero(sums >= 1.0)[-1])
            chosen = order[start : start + K]
        elif adversary == "few and many":  # one little seen, and those seen most that still count
            rest = np.sqrt(u / counters[order[1:]])
            sums = np.convolve(rest, np.ones(K - 1), mode="valid") if K > 1 else np.zeros(1)
            start = int(np.flatnonzero(sums + np.sqrt(u / counters[order[0]]) >= 1.0)[-1])
            chosen = np.append(order[:1], order[1 + start : start + K])
        elif adversary == "fewest":  # as few items as possible
            y = np.cumsum(np.sqrt(u / counters[order[:K]]))
            chosen = order[: int(np.argmax(y >= 1.0)) + 1]
        charged = tight.charge(np.sqrt(u / counters[chosen]), K, q).sum()
        assert charged >= 1.0 - 1e-9
        potential += charged
        assert potential >= rounds
        counters[chosen] += 1.0
    raise AssertionError


@pytest.mark.parametrize("adversary", ["least seen", "random", "most seen", "few and many", "fewest"])
@pytest.mark.parametrize(("M", "K", "u"), [(4, 1, 40.3), (5, 2, 30.0), (7, 3, 13.7), (9, 8, 3.1), (12, 4, 5.5)])
def test_no_adversary_gets_more_with_one_gap(adversary: str, M: int, K: int, u: float) -> None:
    rounds = play(adversary, M, K, u, seed=M)
    gap, n = 0.7, math.exp(u * 0.7**2 / 6.0)
    additive = PER_ITEM * K * (M + K)
    assert rounds * gap <= tight.one_gap(n, M + K, K, gap, K) - additive
    assert rounds * gap <= tight.cascade_one_gap(n, M + K, K, gap, K) - additive
    if K == 1:  # which is then all that can be said: each item floor(u) times
        assert rounds == M * int(u)


@pytest.mark.parametrize("seed", range(30))
def test_no_adversary_gets_more_with_any_gaps(seed: int) -> None:
    """Random solutions with arbitrary gaps; log n = 1 / 6 scales the counters."""
    generator = np.random.default_rng(seed)
    M, K = int(generator.integers(2, 8)), int(generator.integers(1, 5))
    solutions = [generator.permutation(M)[: generator.integers(1, min(K, M) + 1)] for _ in range(12)]
    gaps = np.array(
        [generator.choice([0.03, 0.1, 0.3, 1.0]) * len(one) ** generator.integers(0, 2) for one in solutions]
    )
    member = np.array([np.isin(np.arange(M), one) for one in solutions])
    ratios = [
        max((len(one) / gap for one, gap in zip(solutions, gaps, strict=True) if e in one), default=0.0)
        for e in range(M)
    ]
    item_gaps = [
        min((gap for one, gap in zip(solutions, gaps, strict=True) if e in one), default=math.inf) for e in range(M)
    ]
    bound = 24.0 / 6.0 * sum(ratios)
    additive = PER_ITEM * K * max(M, K)
    assert bound <= tight.item_gap_form(math.exp(1 / 6), max(M, K), K, item_gaps) - additive + 1e-9
    amortised = tight.amortised_item_gaps(math.exp(1 / 6), max(M, K), K, item_gaps) - additive
    for prefer in ("random", "largest gap", "smallest gap", "largest gap per item"):
        counters, regret = np.ones(M), 0.0
        for rounds in range(1, 3001):
            free = np.flatnonzero(member @ np.sqrt(1.0 / counters) >= gaps)
            if free.size == 0:
                break
            if prefer == "random":
                chosen = int(generator.choice(free))
            elif prefer == "largest gap per item":
                chosen = int(free[np.argmax(gaps[free] / member[free].sum(axis=1))])
            else:
                chosen = int(free[np.argmax(gaps[free] * (1.0 if prefer == "largest gap" else -1.0))])
            regret += gaps[chosen]
            counters += member[chosen]
            assert regret <= bound
            assert regret <= amortised
            # n only counts the rounds here: sqrt(n log n) with log n = 1/6
            assert regret <= 2.0 * math.sqrt(6.0) * math.sqrt(K * M * rounds / 6.0)


# The bounds as formulas


def test_bounds_by_hand() -> None:
    n = math.e**2  # log n = 2
    additive = (math.pi**2 / 3 + 1) * 4 * 20
    assert tight.one_gap(n, 20, 4, 0.5, 3) == pytest.approx(24 * 3 * 17 * 2 / 0.5 + additive)
    assert tight.cascade_one_gap(n, 20, 4, 0.5, 3) == pytest.approx(96 * 17 * 2 / 0.5 + additive)
    assert tight.one_gap(n, 5, 1, 0.5, 1) == pytest.approx(6 * 4 * 2 / 0.5 + additive / 16)
    assert tight.one_gap(n, 20, 4, 0.5, 0) == pytest.approx(24 * 3 * 20 * 2 / 0.5 + additive)
    assert tight.one_gap(n, 3, 3, 0.5, 3) == pytest.approx(additive * 9 / 80)
    gaps = [math.nan, 0.5, math.inf, 0.25, 4.0]
    assert tight.item_gap_form(n, 20, 4, gaps) == pytest.approx(24 * 4 * 2 * (2 + 4 + 0.25) + additive)
    assert tight.amortised_item_gaps(n, 20, 2, gaps) == pytest.approx(40.5 * 2 * (2 + 4 + 0.25) + additive / 2)
    assert tight.amortised_item_gaps(n, 20, 1, gaps) == pytest.approx(12 * 2 * (2 + 4 + 0.25) + additive / 4)
    assert tight.gap_free(n, 20, 4, 3) == pytest.approx(2 * math.sqrt(6 * 4 * 17 * 2) * math.e + additive)


@pytest.mark.parametrize(
    "bound",
    [
        lambda n: tight.one_gap(n, 20, 4, 0.5, 3),
        lambda n: tight.cascade_one_gap(n, 20, 4, 0.5, 3),
        lambda n: tight.item_gap_form(n, 20, 4, [0.5, 0.1]),
        lambda n: tight.gap_free(n, 20, 4, 3),
    ],
)
def test_rounds_may_be_an_array(bound) -> None:  # type: ignore[no-untyped-def]
    rounds = np.array([[1, 10], [1000, 10**12]])
    assert bound(rounds).shape == (2, 2)
    assert [float(bound(int(n))) for n in rounds.ravel()] == bound(rounds).ravel().tolist()
    assert np.ndim(bound(5)) == 0
    assert bound(1) == pytest.approx(PER_ITEM * 4 * 20)


@pytest.mark.parametrize("K", [1, 2, 10, 200])
def test_tighter_than_the_paper(K: int) -> None:
    n, L, gaps = 10**5, 400, np.full(300, 0.3)
    theorem = min(kveton2015.theorem_2(n, L, K, 0.3), kveton2015.theorem_4(n, L, K, 0.3))
    assert tight.one_gap(n, L, K, 0.3, 0) <= tight.cascade_one_gap(n, L, K, 0.3, 0) * (1 + 1e-14) < theorem
    theorem = min(kveton2015.theorem_3(n, L, K, gaps), kveton2015.theorem_5(n, L, K, gaps))
    assert tight.item_gap_form(n, L, K, gaps) < theorem
    assert tight.gap_free(n, L, K, 0) < kveton2015.theorem_6(n, L, K)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: tight.cascade_constant(20_001), "K up to 20,000, got 20001"),
        (lambda: tight.cascade(0), "K must be an integer >= 1, got 0"),
        (lambda: tight.amortised_constant(2.0), "got 2.0"),  # type: ignore[arg-type]
        (lambda: tight.charge(0.5, 3, 0.0), "q must be a finite number > 0, got 0.0"),
        (lambda: tight.charge_total(3, math.inf), "got inf"),
        (lambda: tight.charge_total(3, "1"), "got '1'"),  # type: ignore[arg-type]
        (lambda: tight.one_gap(0, 5, 2, 0.5, 2), "n must be one or more rounds >= 1, got 0"),
        (lambda: tight.one_gap(9, 5, 6, 0.5, 2), "K must be at most L"),
        (lambda: tight.one_gap(9, 5, 2, 0.0, 2), "gap must be a finite number > 0, got 0.0"),
        (lambda: tight.one_gap(9, 5, 2, 0.5, 3), "optimal_size must be an integer from 0 to K = 2, got 3"),
        (lambda: tight.cascade_one_gap(9, 5, 2, 0.5, -1), "got -1"),
        (lambda: tight.gap_free(9, 5, 2, 1.0), "got 1.0"),  # type: ignore[arg-type]
        (lambda: tight.gap_free(9, 5, 2, True), "got True"),
        (lambda: tight.item_gap_form(9, 5, 2, [0.1, 0.0]), "item_gaps must be > 0"),
    ],
)
def test_bad_input(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(errors.BadArgument, match=says):
        call()
