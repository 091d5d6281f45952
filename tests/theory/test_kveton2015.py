"""The paper's bounds, against numbers worked out by hand, and its constants, derived in other ways."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import rel_entr

from semibandits import errors, problems, sets
from semibandits.theory import kveton2015

NAN, INF = float("nan"), float("inf")


def test_theorem_6() -> None:
    # 1 round: log n = 0 leaves the additive term, (9.8696044 / 3 + 1) * 4 * 12 = 4.2898681 * 48
    assert kveton2015.theorem_6(1, 12, 4) == pytest.approx(205.9136709)
    # K L n = 1,000,000 with log n = 9.2103404: 47 * 1000 * 3.0348542 = 142638.15, and 428.98681 more
    assert kveton2015.theorem_6(10_000, 20, 5) == pytest.approx(143067.134, abs=0.01)
    # L = K = 1, n = e^2 (the formula asks for no whole number): 47 * e * sqrt(2) + 4.2898681
    assert kveton2015.theorem_6(math.e**2, 1, 1) == pytest.approx(47 * math.e * math.sqrt(2) + 4.2898681)


def test_one_gap() -> None:
    # K^(4/3) = 16 for K = 8: 16 * 10 * 48 / 0.5 = 15360 times log n = 2, and 4.2898681 * 80 = 343.18945
    assert kveton2015.theorem_2(math.e**2, 10, 8, 0.5) == pytest.approx(30720 + 343.18945)
    # 8 * 10 * 267 / 0.5 = 42720
    assert kveton2015.theorem_4(math.e**2, 10, 8, 0.5) == pytest.approx(85440 + 343.18945)
    assert kveton2015.theorem_2(1, 12, 4, 0.1) == kveton2015.theorem_4(1, 12, 4, 0.7) == pytest.approx(205.9136709)


def test_many_gaps() -> None:
    # 1/Δ adds up to 2 + 4 + 8 = 14: 16 * 96 * 14 = 21504, 8 * 534 * 14 = 59808, times log n = 2
    gaps = [NAN, 0.5, INF, 0.25, NAN, 0.125]
    assert kveton2015.theorem_3(math.e**2, 10, 8, gaps) == pytest.approx(43008 + 343.18945)
    assert kveton2015.theorem_5(math.e**2, 10, 8, gaps) == pytest.approx(119616 + 343.18945)
    assert kveton2015.theorem_5(math.e**2, 10, 8, np.array([[0.5], [0.25], [0.125]])) == pytest.approx(119959.18945)
    for nothing in ([], [NAN, INF], np.full(3, np.nan)):
        assert kveton2015.theorem_3(50, 10, 8, nothing) == pytest.approx(343.18945)
        assert kveton2015.theorem_5(50, 10, 8, nothing) == pytest.approx(343.18945)


@given(
    n=st.floats(2, 1e15),
    L=st.integers(1, 50),
    K=st.integers(1, 50),
    gap=st.floats(1e-6, 50),
)
def test_unequal_gaps_cost_a_factor_of_two(n: float, L: int, K: int, gap: float) -> None:
    """Theorems 3 and 5 with L equal gaps have twice the log terms of Theorems 2 and 4."""
    K = min(K, L)
    rest = kveton2015.theorem_6(1, L, K)
    for one, many in ((kveton2015.theorem_2, kveton2015.theorem_3), (kveton2015.theorem_4, kveton2015.theorem_5)):
        assert many(n, L, K, [gap] * L) - rest == pytest.approx(2 * (one(n, L, K, gap) - rest))


BOUNDS: dict[str, Callable[[Any], Any]] = {
    "theorem_2": lambda n: kveton2015.theorem_2(n, np.int64(7), 7, 0.3),
    "theorem_3": lambda n: kveton2015.theorem_3(n, 7, 5, [0.3, NAN]),
    "theorem_4": lambda n: kveton2015.theorem_4(n, 7, np.int64(7), 0.3),
    "theorem_5": lambda n: kveton2015.theorem_5(n, 7, 5, [0.3, NAN]),
    "theorem_6": lambda n: kveton2015.theorem_6(n, np.int64(7), 7),
    "proposition_2": lambda n: kveton2015.proposition_2(n, 8, 2),
    "grid_path_bound": lambda n: kveton2015.grid_path_bound(n, 3, 0.2),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_arrays_of_rounds(name: str) -> None:
    rounds = np.array([[1, 10], [1000, 10**12]])
    bound = BOUNDS[name](rounds)
    assert bound.shape == (2, 2)
    assert bound.dtype == np.float64
    assert [BOUNDS[name](int(n)) for n in rounds.ravel()] == pytest.approx(bound.ravel().tolist(), rel=1e-15)
    assert (np.diff(bound.ravel()) > 0).all()
    assert rounds.dtype == np.int64
    assert np.ndim(BOUNDS[name](5)) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0, 5, 2), "n must be one or more rounds >= 1, got 0"),
        (([3, 0.5], 5, 2), "got \\[3, 0.5\\]"),
        ((float("nan"), 5, 2), "got nan"),
        ((float("inf"), 5, 2), "got inf"),
        (([[1], [2, 3]], 5, 2), "n must be one or more rounds"),
        (("many", 5, 2), "got 'many'"),
        ((True, 5, 2), "got True"),
        ((10, 0, 1), "L must be an integer >= 1, got 0"),
        ((10, 5, 0), "K must be an integer >= 1, got 0"),
        ((10, 5.0, 2), "got 5.0"),
        ((10, 2, 3), "K must be at most L, got K = 3 and L = 2"),
    ],
)
def test_bad_input(arguments: tuple[object, object, object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        kveton2015.theorem_6(*arguments)  # type: ignore[arg-type]


# Lower bounds


def kl(p: float, q: float) -> float:
    return float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


@given(K=st.integers(1, 20), paths=st.integers(1, 20), share=st.floats(1e-3, 0.499))
def test_proposition_1(K: int, paths: int, share: float) -> None:
    L, gap = K * paths, K * share
    simple, exact = (kveton2015.proposition_1(L, K, gap, exact=exact) for exact in (False, True))
    assert simple == pytest.approx((L - K) * K / 4 / gap)
    assert exact == pytest.approx((paths - 1) * gap / kl(0.5 - gap / K, 0.5), rel=1e-8)
    if paths > 1:
        assert 1 / math.log(2) < exact / simple < 2  # inequality (b) of the proof loses so much
    else:
        assert simple == exact == 0


def test_proposition_1_by_hand() -> None:
    # Two coins of 1/4 and 1/2: kl = log(1/2) / 4 + 3 log(3/2) / 4 = 0.13081204
    assert kveton2015.proposition_1(6, 2, 0.5, exact=True) == pytest.approx(2 * 0.5 / 0.13081204)
    assert kveton2015.proposition_1(6, 2, 0.5) == 4.0


def test_proposition_1_with_small_gaps() -> None:
    assert kveton2015.proposition_1(6, 2, 1e-300, exact=True) == pytest.approx(2 * 2e300)
    for h in (0.99e-4, 1.01e-4):  # where the formula changes
        assert kveton2015._divergence(h) == pytest.approx(0.5 + h**2 / 12, rel=1e-10)
    assert kveton2015._divergence(1e-2) == pytest.approx(0.5 + 1e-4 / 12 + 1e-8 / 30, rel=1e-11)


def test_proposition_2() -> None:
    # sqrt(2 * 8 * 10,000) = 400 and 2 * 10,000; then 2 * 3 < sqrt(16 * 3); they meet at n = L / K
    assert kveton2015.proposition_2(10_000, 8, 2) == pytest.approx(20.0)
    assert kveton2015.proposition_2(3, 8, 2) == pytest.approx(0.3)
    assert kveton2015.proposition_2(4, 8, 2) == pytest.approx(0.4)


def test_lower_bounds_are_below_upper_bounds() -> None:
    n = np.geomspace(2, 1e12, 50)
    for K, paths, share in [(1, 2, 0.4), (3, 5, 0.1), (20, 2, 0.49), (200, 3, 0.01)]:
        L, gap = K * paths, K * share
        assert kveton2015.proposition_1(L, K, gap, exact=True) < min(
            (theorem(math.e, L, K, gap) - theorem(1, L, K, gap))
            for theorem in (kveton2015.theorem_2, kveton2015.theorem_4)
        )
        assert (kveton2015.proposition_2(n, L, K) < kveton2015.theorem_6(n, L, K)).all()


# The paper's two problems


@pytest.mark.parametrize(("L", "K"), [(1, 1), (5, 1), (6, 2), (12, 4), (7, 7)])
def test_k_path_gaps(L: int, K: int) -> None:
    gap = 0.3 * K
    np.testing.assert_allclose(kveton2015.k_path_gaps(L, K, gap), problems.k_path(L, K, gap).item_gaps, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 2, 3, 6, 11])
def test_grid_path_gaps(m: int) -> None:
    gaps = kveton2015.grid_path_gaps(m, 0.3)
    np.testing.assert_allclose(gaps, problems.grid_path(m, 0.3).item_gaps, rtol=1e-9)
    # Section 7: 2m(m+1) - 2m gaps from 2σ to 2mσ, and at most 2(i-1) of them are iσ
    steps, counts = np.unique(np.round(gaps[~np.isnan(gaps)] / 0.3).astype(int), return_counts=True)
    assert counts.sum() == 2 * m * (m + 1) - 2 * m
    assert steps.tolist() == list(range(2, 2 * m + 1))
    assert (counts <= 2 * (steps - 1)).all()
    assert counts[: m - 1].tolist() == [2 * (i - 1) for i in range(2, m + 1)]


def test_grid_path_gaps_by_hand() -> None:
    # Edges by tail: (0,0) right, down; (0,1) right, down; (0,2) down; (1,0) ... as `GridPaths` numbers them
    right_down = {
        (0, 0): (3, NAN),
        (0, 1): (4, 3),
        (0, 2): (NAN, 4),
        (1, 0): (2, NAN),
        (1, 1): (3, 2),
        (1, 2): (NAN, 3),
    }
    expected = []
    for tail, head in sets.GridPaths(2).edges:
        assert isinstance(tail, tuple)
        assert isinstance(head, tuple)
        expected.append(right_down[tail][head[0] > tail[0]] if tail[0] < 2 else NAN)
    np.testing.assert_array_equal(kveton2015.grid_path_gaps(2, 0.5), 0.5 * np.array(expected))


@pytest.mark.parametrize("m", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("sigma", [0.05, 0.8])
def test_grid_path_bound(m: int, sigma: float) -> None:
    L, K = 2 * m * (m + 1), 2 * m
    log_term = kveton2015.theorem_5(1e5, L, K, kveton2015.grid_path_gaps(m, sigma)) - kveton2015.theorem_5(1, L, K, [])
    bound = kveton2015.grid_path_bound(1e5, m, sigma)
    assert bound == pytest.approx(4272 * m**2 * math.log(1e5) / sigma)
    # The steps of the paper: 2(i-1) < 2i, and 2m - 1 < 2m of them
    assert log_term < 1068 * m * sum(2 / sigma for _ in range(2, 2 * m + 1)) * math.log(1e5) < bound


# Lemma 1 and the constants


def test_lemma_1() -> None:
    terms = kveton2015.lemma_1(12, 4)
    assert terms == (terms.initialisation, terms.failure)
    assert terms == pytest.approx((48, 157.9136704))
    for bound in (kveton2015.theorem_6(1, 12, 4), kveton2015.theorem_5(1, 12, 4, [0.1])):
        assert sum(terms) == pytest.approx(bound)
    # Hoeffding, L items, s of 1 to t observations: 2 exp(-2 s c²) = 2 t^-3 each
    t = np.arange(1.0, 1e6)
    failures = 12 * (t * 2 * np.exp(-2 * 1.5 * np.log(t))).sum()
    assert terms.failure == pytest.approx(4 * failures, rel=1e-5)


@given(K=st.integers(1, 10**6))
def test_two_events(K: int) -> None:
    paper = kveton2015.two_event_constant(K)
    assert paper == pytest.approx(48 * K ** (4 / 3))
    assert paper == pytest.approx(kveton2015.two_event_constant(K, alpha=4, d=K ** (2 / 3)))
    assert paper == pytest.approx(kveton2015.theorem_2(math.e, K, K, K) - kveton2015.theorem_2(1, K, K, K))
    best = kveton2015.two_event_constant(K, alpha=2.25, d=K ** (2 / 3) / 2)
    assert best == pytest.approx(40.5 * K ** (4 / 3))
    for alpha in (2.2, 2.25, 2.3):
        for factor in (0.49, 0.5, 0.51):
            assert kveton2015.two_event_constant(K, alpha=alpha, d=factor * K ** (2 / 3)) >= best * (1 - 1e-12)


def test_two_events_by_an_optimiser() -> None:
    found = minimize(
        lambda x: kveton2015.two_event_constant(27, alpha=1 + math.exp(x[0]), d=math.exp(x[1])),
        [0.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-10, "maxiter": 2000},
    )
    assert found.fun == pytest.approx(40.5 * 81)
    assert (1 + math.exp(found.x[0]), math.exp(found.x[1])) == pytest.approx((2.25, 4.5), rel=1e-4)


def cascade_constant(alpha: float, beta: float) -> float:
    """From the proof of Theorem 4, term by term: the least d with √6 Σ (β_{i-1} - β_i) / √α_i ≤ 1, then Σ α_i / β_i."""
    i = np.arange(1.0, 20_000.0)
    d = 6 * ((1 / beta - 1) * (beta / math.sqrt(alpha)) ** i).sum() ** 2
    return float(d * ((alpha / beta) ** i).sum())


@given(beta=st.floats(0.05, 0.9), share=st.floats(0.05, 0.95))
def test_geometric_constant(beta: float, share: float) -> None:
    alpha = beta**2 + share * (beta - beta**2)
    constant = kveton2015.geometric_constant(alpha, beta)
    assert constant == pytest.approx(cascade_constant(alpha, beta), rel=1e-6)
    assert constant >= kveton2015.best_geometric().constant


def test_best_geometric() -> None:
    alpha, beta, constant = kveton2015.best_geometric()
    assert beta == pytest.approx(math.sqrt(5) - 2, rel=1e-14)
    assert constant == pytest.approx(kveton2015.geometric_constant(alpha, beta), rel=1e-13)
    assert 266 < constant < 267
    assert abs(alpha - 0.1459) < 1e-4  # as printed
    assert abs(beta - 0.2360) < 1e-4
    assert kveton2015.geometric_constant(0.1459, 0.2360) < 267

    def inside(x: Any) -> float:
        """The least constant, over 0 < β < 1 and β² < α < β."""
        b, share = 1 / (1 + np.exp(-x))
        return kveton2015.geometric_constant(b**2 + share * (b - b**2), b)

    found = minimize(inside, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-10})
    assert found.fun == pytest.approx(constant, rel=1e-9)
    b, share = 1 / (1 + np.exp(-found.x))
    assert (b**2 + share * (b - b**2), b) == pytest.approx((alpha, beta), rel=1e-4)


def test_crossover() -> None:
    assert kveton2015.crossover() == pytest.approx(172.1, abs=0.05)
    tighter = [
        K for K in range(1, 400) if kveton2015.theorem_3(99, 400, K, [0.5]) < kveton2015.theorem_5(99, 400, K, [0.5])
    ]
    assert tighter == list(range(1, 173))


def test_gap_free_from_theorem_5() -> None:
    """The least ε n + 534 K L log n / ε is what Theorem 6 rounds up."""
    assert 46 < 2 * math.sqrt(534) < 47
    n, L, K = 1e4, 20, 5
    log_term = kveton2015.theorem_5(n, L, K, [1.0] * L) - kveton2015.theorem_5(1, L, K, [])
    eps = np.geomspace(1e-3, 1e3, 100_001)
    least = (eps * n + log_term / eps).min()
    assert least < kveton2015.theorem_6(n, L, K) - kveton2015.theorem_6(1, L, K) < 1.02 * least


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: kveton2015.theorem_2(0, 5, 2, 0.1), "n must be one or more rounds >= 1, got 0"),
        (lambda: kveton2015.theorem_2(9, 2, 5, 0.1), "K must be at most L, got K = 5 and L = 2"),
        (lambda: kveton2015.theorem_2(9, 5, 2, 0.0), "gap must be a finite number > 0, got 0.0"),
        (lambda: kveton2015.theorem_4(9, 5, 2, INF), "gap must be a finite number > 0, got inf"),
        (lambda: kveton2015.theorem_4(9, 5, 2.0, 0.1), "K must be an integer >= 1, got 2.0"),
        (lambda: kveton2015.theorem_3(9, 5, 2, [0.1, -0.2]), "item_gaps must be > 0 .*, got -0.2"),
        (lambda: kveton2015.theorem_5(9, 5, 2, ["wide"]), "item_gaps must be an array of numbers, got \\['wide'\\]"),
        (lambda: kveton2015.theorem_5(NAN, 5, 2, [0.1]), "got nan"),
        (lambda: kveton2015.proposition_1(5, 2, 0.1), "L must be a multiple of K, got K = 2 and L = 5"),
        (lambda: kveton2015.proposition_1(6, 2, 1.0), "gap must be below K/2 = 1.0, got 1.0"),
        (lambda: kveton2015.proposition_1(6, 2, -1.0), "gap must be a finite number > 0, got -1.0"),
        (lambda: kveton2015.proposition_2(9, 5, 2), "L must be a multiple of K, got K = 2 and L = 5"),
        (lambda: kveton2015.proposition_2(9, 2, 2), "L must be at least 2 K: .* got K = 2 and L = 2"),
        (lambda: kveton2015.k_path_gaps(6, 2, 1.5), "gap must be below K/2 = 1.0, got 1.5"),
        (lambda: kveton2015.grid_path_gaps(0, 0.5), "m must be an integer >= 1, got 0"),
        (lambda: kveton2015.grid_path_bound(9, 2, 1.0), "sigma must be a number between 0 and 1, got 1.0"),
        (lambda: kveton2015.grid_path_bound(9, 2, "0.5"), "sigma must be a number between 0 and 1, got '0.5'"),
        (lambda: kveton2015.grid_path_bound([], 2, NAN), "got nan"),
        (lambda: kveton2015.lemma_1(3, 4), "K must be at most L, got K = 4 and L = 3"),
        (lambda: kveton2015.two_event_constant(0), "K must be an integer >= 1, got 0"),
        (lambda: kveton2015.two_event_constant(3, alpha=1.0), "alpha must be a number > 1 .* got alpha = 1.0"),
        (lambda: kveton2015.two_event_constant(3, d=0), "d a number > 0, .* d = 0"),
        (
            lambda: kveton2015.geometric_constant(0.2, 0.1),
            "0 < alpha < beta < sqrt\\(alpha\\) < 1 is wanted, got alpha = 0.2",
        ),
        (lambda: kveton2015.geometric_constant(0.01, 0.1), "beta = 0.1"),
        (lambda: kveton2015.geometric_constant(-0.1, 0.1), "alpha = -0.1"),
        (lambda: kveton2015.geometric_constant(NAN, 0.1), "alpha = nan"),
    ],
)
def test_more_bad_input(call: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        call()
