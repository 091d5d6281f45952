"""The bounds of Chen et al. 2013, against quadrature, the worst case of their proof, and numbers worked out by hand."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

from semibandits import Problem, environments, errors, sets
from semibandits.theory import chen2013


def published(n: float, L: int, K: int, ranges: list[tuple[float, float]], max_gap: float) -> float:
    """As in the paper: for each item the least and the largest gap, smoothness f(x) = K x."""

    def inverse(x: float) -> float:
        return x / K

    answer = (math.pi**2 / 3 + 1) * L * max_gap
    for least, most in ranges:
        answer += 6 * math.log(n) * least / inverse(least) ** 2
        answer += quad(lambda x: 6 * math.log(n) / inverse(x) ** 2, least, most, epsabs=0.0, epsrel=1e-12)[0]
    return answer


@pytest.mark.parametrize("n", [1, 50, 10**6])
@pytest.mark.parametrize("K", [1, 3])
def test_theorem_1_is_the_published_integral(n: int, K: int) -> None:
    gaps = [math.nan, 0.5, math.inf, 0.2, 0.9, math.nan]
    ranges = [(0.1, 0.9), (0.5, 0.9), (0.2, 0.9), (0.9, 0.9), (0.1, 0.9)]
    assert chen2013.theorem_1(n, 6, K, gaps, 0.1, 0.9) == pytest.approx(published(n, 6, K, ranges, 0.9), rel=1e-9)


def test_theorem_1_on_a_problem_is_never_below_the_published() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        solutions = [sorted(rng.choice(6, rng.integers(1, 4), replace=False).tolist()) for _ in range(6)]
        problem = Problem(sets.Enumerated(solutions, n_items=6), environments.Bernoulli(rng.random(6)))
        gaps = [(set(one), problem.gap(one)) for one in solutions if problem.gap(one) > 1e-12]
        if not gaps:
            continue
        of_item = [[gap for one, gap in gaps if item in one] for item in range(6)]
        ranges = [(min(found), max(found)) for found in of_item if found]
        known = published(1000, 6, 3, ranges, problem.max_gap)
        ours = chen2013.theorem_1(1000, 6, 3, problem.item_gaps, problem.min_gap, problem.max_gap)
        assert ours >= known * (1 - 1e-9)
        assert chen2013.theorem_1(1000, 6, 3, problem.item_gaps, problem.min_gap) >= ours


def test_counting() -> None:
    """The most an item can answer for: at counter s the largest gap that is at most K sqrt(6 log n / s)."""
    n, K, least, most = 10**5, 2, 0.05, 1.5
    ordered = np.append(0.0, np.linspace(least, most, 4000))
    limit = K * math.sqrt(6 * math.log(n)) / np.sqrt(np.arange(1, int(6 * K * K * math.log(n) / least**2) + 2))
    lost = float(ordered[np.searchsorted(ordered, limit, side="right") - 1].sum())
    promised = [chen2013.theorem_1(rounds, 2, K, [math.inf, least], least, most) for rounds in (1, n)]
    assert 0.98 * (promised[1] - promised[0]) <= lost <= promised[1] - promised[0]


def test_numbers() -> None:
    # n = e^2, K = 2: 6 * 4 * (2/0.5 + 2/0.25 - 2/1) * 2 = 480, and 4.2898681 * 2
    assert chen2013.theorem_1(math.e**2, 2, 2, [math.nan, 0.5], 0.25, 1.0) == pytest.approx(480 + 4.2898681 * 2)
    # Δ_max = K = 2: 6 * 4 * (12 - 1) * 2
    assert chen2013.theorem_1(math.e**2, 2, 2, [math.nan, 0.5], 0.25) == pytest.approx(528 + 4.2898681 * 4)
    # 2 * 3 * sqrt(6 * 3 * 2 * e^2)
    assert chen2013.theorem_2(math.e**2, 3, 3) == pytest.approx(36 * math.e + 4.2898681 * 9)
    assert chen2013.theorem_2(math.e**2, 3, 3, 0.5) == pytest.approx(36 * math.e + 4.2898681 * 1.5)


def test_arrays() -> None:
    rounds = np.array([[1, 10], [1000, 10**9]])
    for bound in (lambda n: chen2013.theorem_1(n, 1, 1, [0.5], 0.5), lambda n: chen2013.theorem_2(n, 1, 1)):
        values = bound(rounds)
        assert values.shape == (2, 2)
        assert [float(bound(int(n))) for n in rounds.ravel()] == values.ravel().tolist()
        assert np.ndim(bound(5)) == 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n": 0}, "n must be"),
        ({"K": 3}, "K must be at most L"),
        ({"item_gaps": [0.5]}, "one entry for each of L = 2 items, got 1"),
        ({"item_gaps": [0.5, -1.0]}, "item_gaps must be > 0"),
        ({"min_gap": 0.0}, "gap must be a finite number > 0, got 0.0"),
        ({"min_gap": math.inf}, "gap must be a finite number > 0, got inf"),
        ({"max_gap": 0.0}, "gap must be a finite number > 0, got 0.0"),
        ({"max_gap": 0.2}, "max_gap must be at least min_gap, got 0.2 and 0.25"),
    ],
)
def test_bad_input(change: dict[str, object], says: str) -> None:
    arguments: dict[str, object] = {"n": 10, "L": 2, "K": 2, "item_gaps": [math.nan, 0.5], "min_gap": 0.25}
    with pytest.raises(errors.BadArgument, match=says):
        chen2013.theorem_1(**(arguments | change))  # type: ignore[arg-type]
