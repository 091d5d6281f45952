"""Section 6, against a bandit played in NumPy, closed forms and an independent least squares."""

import itertools
import math
import statistics
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from semibandits import rng
from semibandits.errors import BadArgument, Unsupported
from semibandits.experiments.paper import tightness
from semibandits.experiments.paper.tightness import (
    CELLS,
    Fit,
    Instance,
    Tightness,
    least_horizon,
    measured,
    predicted_factor,
)
from semibandits.policies import CombUCB1
from semibandits.problems import k_path
from semibandits.simulation import simulate

SMALL = [(3, 1, 0.4), (9, 1, 0.3), (8, 2, 0.8), (12, 4, 1.2), (20, 4, 1.6), (10, 5, 2.0)]
HORIZON = 200_000


@pytest.fixture(scope="module")
def small() -> Tightness:
    return tightness.run(SMALL, horizon=HORIZON, runs=64, seed=3, progress=False)


def bandit_regret(arms: int, delta: float, n: int, runs: int, seed: int) -> Any:
    """UCB1 with the radius sqrt(1.5 log t / T) on coins of means 1/2 and 1/2 - delta."""
    generator = np.random.default_rng(seed)
    means = np.full(arms, 0.5 - delta)
    means[0] = 0.5
    each = np.arange(runs)
    sums = (generator.random((runs, arms)) < means).astype(np.float64)
    counts = np.ones((runs, arms))
    for t in range(arms + 1, n + 1):
        arm = np.argmax(sums / counts + np.sqrt(1.5 * math.log(t - 1) / counts), axis=1)
        sums[each, arm] += generator.random(runs) < means[arm]
        counts[each, arm] += 1.0
    return delta * counts[:, 1:].sum(axis=1)


# The measurement


def test_regret_is_that_of_a_bandit_times_k() -> None:
    n, runs = 20_000, 200
    (cell,) = tightness.run([(9, 3, 1.2)], horizon=n, runs=runs, seed=0, progress=False).cells
    expected = 3.0 * bandit_regret(3, 0.4, n, runs, seed=1)
    error = math.hypot(cell.error, expected.std(ddof=1) / math.sqrt(runs))
    assert abs(cell.regret - expected.mean()) < 4.0 * error
    assert error < 0.02 * cell.regret


def test_every_cell_lies_between_the_bounds(small: Tightness) -> None:
    for cell, (L, K, gap) in zip(small.cells, SMALL, strict=True):
        assert (cell.L, cell.K, cell.gap) == (L, K, gap)
        assert cell.between
        assert cell.lower < cell.exact_lower < cell.factor - 3.0 * cell.error / math.log(HORIZON)
        assert cell.factor < cell.upper / 100.0


def test_the_limit_is_approached_from_both_sides(small: Tightness) -> None:
    for cell in small.cells:
        error = 4.0 * cell.error / math.log(HORIZON)
        assert cell.factor - error < 1.5 * cell.unit < cell.slope + 4.0 * cell.slope_error
        assert cell.factor == pytest.approx(1.5 * cell.unit, rel=0.12, abs=error)
        # What the noise of the estimates adds to the prediction is of second order.
        assert cell.factor == pytest.approx(cell.predicted, rel=0.015, abs=error)


def test_the_slope_is_that_of_the_last_decade(small: Tightness) -> None:
    seed = rng.stream_key(3, 2, rng.WORLD)
    again = simulate(k_path(*SMALL[2]), CombUCB1(), horizon=HORIZON, runs=64, seed=seed, checkpoints=[HORIZON // 10])
    before, now = again.regret[0].mean(axis=0)
    assert small.cells[2].regret == pytest.approx(now)
    assert small.cells[2].slope == pytest.approx((now - before) / math.log(10.0))


def test_the_same_seed_gives_the_same_numbers_and_every_cell_worlds_of_its_own() -> None:
    def regrets(**options: Any) -> list[float]:
        result = tightness.run([(4, 2, 0.9)] * 2, horizon=20_000, runs=4, progress=False, **options)
        return [cell.regret for cell in result.cells]

    first, second = regrets(seed=5)
    assert [first, second] == regrets(seed=5)
    assert first != second
    assert {first, second}.isdisjoint(regrets(seed=6))
    assert regrets(seed=None) != regrets(seed=None)


def test_cells_measure_mean_slope_and_their_errors() -> None:
    early, late = [1.0, 2.0, 4.0], [20.0, 22.0, 27.0]
    cell = measured(6, 2, 0.5, 100, early, 10_000, late)
    log_n = math.log(10_000)
    slopes = [(b - a) / math.log(100.0) for a, b in zip(early, late, strict=True)]
    assert cell.regret == pytest.approx(23.0)
    assert cell.error == pytest.approx(statistics.stdev(late) / math.sqrt(3))
    assert cell.factor == pytest.approx(23.0 / log_n)
    assert cell.slope == pytest.approx(statistics.mean(slopes))
    assert cell.slope_error == pytest.approx(statistics.stdev(slopes) / math.sqrt(3))
    kl = 0.25 * math.log(0.25 / 0.5) + 0.75 * math.log(0.75 / 0.5)
    assert cell.lower == pytest.approx(4 * 2 / (4 * 0.5))
    assert cell.exact_lower == pytest.approx(2 * 0.5 / kl)
    assert cell.upper == pytest.approx(267 * 2 * 6 / 0.5)
    assert cell.unit == pytest.approx(4 * 2 / 0.5)
    assert cell.predicted == predicted_factor(6, 2, 0.5, 10_000)


@pytest.mark.parametrize(
    ("factor", "between"), [(3.8, False), (4.05, False), (4.2, True), (6400.0, True), (6407.9, False), (6500.0, False)]
)
def test_between_leaves_room_for_three_standard_errors(factor: float, between: bool) -> None:
    n, spread = 1000, 0.1  # the bounds are 4 and 6408; the standard error is 0.1/sqrt(3), in units of log n
    regret = math.log(n) * (factor + spread * np.array([-1.0, 0.0, 1.0]))
    assert measured(6, 2, 0.5, 100, regret / 2.0, n, regret).between is between


# What to expect


@pytest.mark.parametrize(("L", "K", "gap", "n"), [(3, 1, 0.1, 10**6), (40, 4, 1.6, 10**5), (10, 5, 0.01, 100)])
def test_indices_are_equal_at_the_predicted_counts(L: int, K: int, gap: float, n: int) -> None:
    others = L // K - 1
    T = predicted_factor(L, K, gap, n) * math.log(n) / (others * gap)
    radius = [math.sqrt(1.5 * math.log(n) / count) for count in (T, n - others * T)]
    assert radius[0] - radius[1] == pytest.approx(gap / K, rel=1e-6)


def test_the_prediction_rises_to_the_limit() -> None:
    ratios = [predicted_factor(12, 3, 0.6, 10**power) / (9 * 3 / 0.6) for power in (3, 4, 5, 6, 8, 12, 20, 60)]
    assert all(a < b for a, b in itertools.pairwise(ratios))
    assert ratios[0] < 1.0
    assert ratios[-1] == pytest.approx(1.5, rel=1e-9)


@pytest.mark.parametrize("cell", [*CELLS, *SMALL, (2, 1, 0.49)])
def test_the_least_horizon_spends_one_round_in_a_hundred_elsewhere(cell: tuple[int, int, float]) -> None:
    L, K, gap = cell
    n = least_horizon(*cell)

    def share(n: int) -> float:
        return 1.5 * (L / K - 1) * (K / gap) ** 2 * math.log(n) / n

    assert share(n) <= 0.01 < share(n - 2)


def test_the_cells_vary_all_three_independently() -> None:
    settings = [(K, L // K - 1, round(gap / K, 3)) for L, K, gap in CELLS]
    for a, b in itertools.combinations(range(3), 2):
        assert len({(setting[a], setting[b]) for setting in settings}) == len(CELLS) == 9
    for values in ([L - K for L, K, _ in CELLS], [K for _, K, _ in CELLS], [gap for _, _, gap in CELLS]):
        assert max(values) >= 4 * min(values)
    assert max(least_horizon(*cell) for cell in CELLS) <= tightness.HORIZON


# The fit


def test_a_power_law_is_found() -> None:
    factors = [0.7 * (L - K) ** 1.25 * K**-0.5 * gap**-2.0 for L, K, gap in CELLS]
    found = tightness.fit(CELLS, factors)
    assert found.constant == pytest.approx(0.7)
    assert found.exponents == pytest.approx((1.25, -0.5, 2.0))
    assert max(found.constant_error, *found.errors) < 1e-12


def test_fit_against_numpy() -> None:
    factors = np.exp(np.random.default_rng(0).normal(3.0, 1.0, len(CELLS)))
    design = np.array([[1.0, np.log(L - K), np.log(K), np.log(1.0 / gap)] for L, K, gap in CELLS])
    solution, rss, rank, _ = np.linalg.lstsq(design, np.log(factors))
    errors = np.sqrt(np.diag(np.linalg.pinv(design.T @ design)) * rss[0] / (len(CELLS) - rank))
    found = tightness.fit(CELLS, factors.tolist())
    assert found.constant == pytest.approx(math.exp(solution[0]))
    assert found.exponents == pytest.approx(tuple(solution[1:]))
    assert found.constant_error == pytest.approx(math.exp(solution[0]) * errors[0])
    assert found.errors == pytest.approx(tuple(errors[1:]))


def test_errors_of_the_fit_are_those_of_repeated_experiments() -> None:
    generator = np.random.default_rng(1)
    clean = np.array([1.5 * Instance(*cell).unit for cell in CELLS])
    fits = [tightness.fit(CELLS, clean * np.exp(generator.normal(0.0, 0.05, clean.size))) for _ in range(2000)]
    exponents = np.array([found.exponents for found in fits])
    promised = np.sqrt((np.array([found.errors for found in fits]) ** 2).mean(axis=0))
    assert exponents.std(axis=0) == pytest.approx(promised, rel=0.08)
    assert np.abs(exponents.mean(axis=0) - 1.0).max() < 4.0 * promised.max() / math.sqrt(2000)


def test_measured_exponents_are_near_one(small: Tightness) -> None:
    found, expected = small.fit, small.predicted_fit
    assert found is not None
    assert expected is not None
    assert found.exponents == pytest.approx((1.0, 1.0, 1.0), abs=0.15)
    log_n, log_errors = math.log(HORIZON), []
    for cell in small.cells:
        log_errors.append(cell.error / cell.regret)
        assert cell.factor * log_n == pytest.approx(cell.regret)
    # Exponents are linear in the logarithms of the factors, so that chance moves them by no more than this.
    design = np.array([[1.0, np.log(L - K), np.log(K), -np.log(gap)] for L, K, gap in SMALL])
    chance = np.sqrt((np.linalg.pinv(design) ** 2) @ np.array(log_errors) ** 2)[1:]
    assert (np.abs(np.subtract(found.exponents, expected.exponents)) < 4.0 * chance + 0.01).all()


def test_too_few_cells_have_no_fit(small: Tightness) -> None:
    few = Tightness(small.cells[:4], HORIZON, 64, 3)
    assert few.fit is None
    assert few.predicted_fit is None
    assert "~" not in str(few)


# Words and pictures


def test_the_table(small: Tightness) -> None:
    text = str(small)
    rows = [line for line in text.splitlines() if line.endswith(" between")]
    assert len(rows) == len(SMALL)
    for line, cell in zip(rows, small.cells, strict=True):
        words = line.split()
        assert [float(word) for word in words[:3]] == [cell.L, cell.K, cell.gap]
        assert float(words[7]) == pytest.approx(cell.factor / cell.unit, abs=6e-4)
    assert "n = 200,000, 64 runs, seed 3" in text
    assert f"R(n)/log n ~ {small.fit}" in text
    missed = small.cells[0]._replace(between=False)
    assert "NOT BETWEEN" in str(Tightness((missed,), HORIZON, 64, 3))
    assert max(map(len, text.splitlines())) <= 120


def test_a_fit_prints_itself() -> None:
    found = Fit(1.5, (1.0, 0.98765, 1.01), 0.02, (0.001, 0.02, 0.003))
    assert str(found) == "1.50 ± 0.02 · (L-K)^(1.000 ± 0.001) · K^(0.988 ± 0.020) · (1/Δ)^(1.010 ± 0.003)"


def test_the_picture(small: Tightness) -> None:
    ax = tightness.draw(small)
    assert isinstance(ax, Axes)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    lines = {str(line.get_label()): line for line in ax.get_lines()}
    limit, lower = lines["1.5 (L-K) K/Δ, the limit"], lines["Proposition 1: (L-K) K/(4Δ)"]
    assert np.asarray(limit.get_ydata()) == pytest.approx(1.5 * np.asarray(limit.get_xdata()))
    assert np.asarray(lower.get_ydata()) == pytest.approx(0.25 * np.asarray(lower.get_xdata()))
    assert list(lines["Theorem 4: 267 K L/Δ"].get_ydata()) == [cell.upper for cell in small.cells]
    assert list(lines["Proposition 1, exact"].get_ydata()) == [cell.exact_lower for cell in small.cells]
    drawn = {}
    for container in ax.containers:
        points, _, bars = container.lines
        drawn[container.get_label()] = to_hex(points.get_color())
        ours = [cell for cell in small.cells if f"K = {cell.K}" in container.get_label()]
        assert list(points.get_xdata()) == [cell.unit for cell in ours]
        assert list(points.get_ydata()) == [cell.factor for cell in ours]
        for (low, high), cell in zip(bars[0].get_segments(), ours, strict=True):
            assert high[1] - low[1] == pytest.approx(6.0 * cell.error / math.log(HORIZON))
    assert list(drawn) == [f"CombUCB1, K = {K}" for K in (1, 2, 4, 5)]
    assert len(set(drawn.values())) == 4
    ax.figure.draw_without_rendering()


def test_the_picture_in_axes_of_the_user(small: Tightness) -> None:
    ax = Figure().add_subplot()
    assert tightness.draw(small, ax) is ax


def test_without_matplotlib(small: Tightness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(Unsupported, match="plots need Matplotlib"):
        tightness.draw(small)


# Bad input


@pytest.mark.parametrize(
    ("cells", "options", "message"),
    [
        ([], {}, "one or more triples.*got none"),
        ([(4, 2)], {}, r"triples \(L, K, gap\), got \[\(4, 2\)\]"),
        (7, {}, "triples.*got 7"),
        ([(4, 4, 1.0)], {}, "two paths or more"),
        ([(5, 2, 0.5)], {}, "multiple of K"),
        ([(4, 2, 1.0)], {}, "gap must be below"),
        ([(4, 2, "wide")], {}, "gap must be"),
        ([(4, 2, 0.0)], {}, "gap must be"),
        ([(4, 2, 0.8)], {"runs": 1}, "runs must be at least 2"),
        ([(4, 2, 0.8)], {"runs": 0}, "runs must be an integer >= 1"),
        ([(4, 2, 0.8)], {"horizon": 0}, "horizon must be an integer >= 1"),
        ([(4, 2, 0.8)], {"horizon": 1e6}, "horizon must be an integer"),
        ([(4, 2, 0.8)], {"seed": -1}, "seed"),
    ],
)
def test_bad_input(cells: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        tightness.run(cells, **{"horizon": 50_000, "runs": 2, "progress": False, **options})


def test_a_horizon_that_is_too_small_names_the_hardest_cell() -> None:
    cells = [(4, 2, 0.8), (6, 2, 0.4), (4, 2, 0.9)]
    least = least_horizon(6, 2, 0.4)
    with pytest.raises(BadArgument, match=rf"at least {least:,}.* = \(6, 2, 0.4\); got {least - 1:,}"):
        tightness.run(cells, horizon=least - 1, runs=2)


@pytest.mark.parametrize("factors", [[1.0] * 8, [1.0] * 8 + [0.0], [1.0] * 8 + [math.inf], [1.0] * 8 + [math.nan]])
def test_bad_factors(factors: list[float]) -> None:
    with pytest.raises(BadArgument, match="expected 9 factors"):
        tightness.fit(CELLS, factors)


@pytest.mark.parametrize("cells", [CELLS[:4], [(2 * K, K, 0.1 * K) for K in range(1, 8)]])
def test_cells_that_fix_no_power_law(cells: Any) -> None:
    with pytest.raises(BadArgument, match="vary independently"):
        tightness.fit(cells, [1.0] * len(cells))


def test_only_results_are_drawn() -> None:
    with pytest.raises(BadArgument, match="must be a Tightness, got 3"):
        tightness.draw(3)  # type: ignore[arg-type]


# The whole campaign


@pytest.mark.long
def test_the_bounds_are_tight() -> None:
    result = tightness.run(progress=False)
    log_n = math.log(result.horizon)
    for cell in result.cells:
        assert cell.between
        assert cell.exact_lower < cell.factor
        assert cell.factor / cell.unit == pytest.approx(1.46, abs=0.03 + 4.0 * cell.error / log_n / cell.unit)
        assert cell.factor == pytest.approx(cell.predicted, rel=0.01, abs=4.0 * cell.error / log_n)
        assert 1.5 * cell.unit < cell.slope + 4.0 * cell.slope_error < 2.5 * cell.unit
    found, expected = result.fit, result.predicted_fit
    assert found is not None
    assert expected is not None
    assert found.exponents == pytest.approx((1.0, 1.0, 1.0), abs=0.06)
    assert expected.exponents == pytest.approx((1.0, 1.0, 1.0), abs=0.03)
    for ours, predicted, error in zip(found.exponents, expected.exponents, found.errors, strict=True):
        assert abs(ours - predicted) < 4.0 * error + 0.005
    page = Path(__file__).parents[2] / "docs" / "theory.md"
    assert str(found) in " ".join(page.read_text(encoding="utf-8").split())
