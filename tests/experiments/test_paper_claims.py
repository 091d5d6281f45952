"""Claims are green on what they claim and red on what is wrong: other policies, other numbers, other problems."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

from semibandits import Problem, environments, sets, theory
from semibandits.experiments.paper import (
    bounds,
    constants,
    figures_1a_1b,
    published,
    section_6,
    section_9,
)
from semibandits.experiments.paper import figure_1c as fig1c
from semibandits.experiments.paper.claims import Claim
from semibandits.experiments.paper.published import HORIZON, PUBLISHED, Cell, compare
from semibandits.experiments.paper.runs import CHECKPOINTS, FEW_K_PATHS, GRIDS, K_PATHS, Plays
from semibandits.experiments.paper.runs import settings as settings_of
from semibandits.experiments.paper.tightness import Instance, Tightness, measured, predicted_factor
from semibandits.policies import CombUCB1
from semibandits.problems import grid_path, k_path
from semibandits.simulation import simulate

RUNS = 64
NOTHING = Plays(settings_of(0, True, None), {}, {}, None)


def holds(claims: tuple[Claim, ...]) -> list[bool]:
    return [claim.holds for claim in claims]


# Figure 1c


def sample(mean: float, deviation: float, runs: int = RUNS) -> Any:
    """Numbers with exactly this mean and deviation."""
    plain = np.linspace(-1.0, 1.0, runs)
    return mean + deviation * plain / plain.std(ddof=1)


def cells(factor: float = 1.0, off: dict[tuple[int, float], float] | None = None) -> list[Cell]:
    """Published values times a factor; some of them so many standard errors off."""
    found = []
    for m, sigma in GRIDS:
        deviation = 3.0 * m / sigma
        by = (off or {}).get((m, sigma), 0.0) * deviation * math.sqrt(1 / 5 + 1 / RUNS)
        found.append(compare(m, sigma, sample(factor * PUBLISHED[sigma][m - 1] + by, deviation)))
    return found


def test_published_values_agree_with_themselves() -> None:
    claims, together = fig1c.claims_of(cells(), RUNS), fig1c.misfit(cells(), RUNS)
    assert holds(claims) == [True, True]
    assert claims[0].measured.startswith("21 of 21")
    assert (together.share, together.chi_squared) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert 0.001 < together.share_error < 0.004
    assert together.probability == pytest.approx(1.0)


def test_a_misfit_that_points_share_is_told() -> None:
    off = dict.fromkeys([grid for grid in GRIDS if grid[1] == 0.8], 2.0)
    shifted = cells(off=off)
    assert holds(fig1c.claims_of(shifted, RUNS)) == [True, True]
    found = fig1c.misfit([cell for cell in shifted if cell.sigma == 0.8], RUNS)
    assert (found.points, found.above) == (7, 7)
    assert found.chi_squared == pytest.approx(7 * 2.0**2)
    assert found.probability == pytest.approx(scipy.stats.chi2.sf(28.0, 7))
    assert 0.0 < found.share == pytest.approx(2.0 * 7**0.5 * found.share_error, rel=0.5)


@pytest.mark.parametrize("factor", [0.9, 1.1, 2.0 / 3.0])
def test_published_values_that_are_shifted_do_not_agree(factor: float) -> None:
    assert holds(fig1c.claims_of(cells(factor), RUNS)) == [False, False]


@pytest.mark.parametrize(
    ("off", "agree"),
    [
        ({(3, 0.4): 3.4, (7, 0.2): -3.6}, True),
        ({(3, 0.4): 4.5}, True),
        ({(3, 0.4): -5.5}, False),
        ({(3, 0.4): 4.0, (7, 0.2): 4.0}, False),
    ],
)
def test_chance_may_put_one_point_out_but_not_far(off: dict[tuple[int, float], float], agree: bool) -> None:
    claims = fig1c.claims_of(cells(off=off), RUNS)
    assert claims[0].holds is agree
    assert f"{max(map(abs, off.values())):.1f} errors off" in claims[0].measured


@pytest.mark.parametrize(("alpha", "agrees"), [(1.5, True), (1.0, False), (2.0, False)])
def test_another_radius_does_not_agree(alpha: float, agrees: bool) -> None:
    for m, sigma in ((2, 0.8), (3, 0.4)):
        result = simulate(
            grid_path(m, sigma), CombUCB1(alpha), horizon=HORIZON, runs=32, seed=0, regret="realised", checkpoints=[10]
        )
        assert compare(m, sigma, result.regret[0, :, -1]).agrees is agrees


def test_differences_are_in_standard_errors_of_both_means(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = compare(2, 0.4, sample(330.0, 17.0, runs=20))
    assert cell.difference == pytest.approx((330.0 - 316.4) / (17.0 * math.sqrt(1 / 5 + 1 / 20)))
    monkeypatch.setattr(published, "PUBLISHED_RUNS", 10**9)
    assert compare(2, 0.4, sample(330.0, 17.0, runs=20)).difference == pytest.approx(13.6 / (17.0 / math.sqrt(20)))


# Section 6


def tightness(scale: Any = lambda cell: 1.0, k_paths: tuple[Instance, ...] = K_PATHS, n: int = 10**6) -> Tightness:
    """Regret as predicted, times a factor."""
    found = []
    for L, K, gap in k_paths:
        regret = scale(Instance(L, K, gap)) * predicted_factor(L, K, gap, n) * math.log(n)
        found.append(measured(L, K, gap, n // 10, sample(0.9 * regret, 0.1 * regret), n, sample(regret, 0.1 * regret)))
    return Tightness(tuple(found), n, RUNS, 0)


def judge_paths(found: Tightness) -> list[bool]:
    return holds(section_6.claims_of(found, section_6.growth(found, [cell.factor for cell in found.cells])))


def test_regret_as_predicted_is_tight() -> None:
    assert judge_paths(tightness()) == [True] * 3
    assert judge_paths(tightness(k_paths=FEW_K_PATHS, n=200_000)) == [True] * 3


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (lambda cell: 2.0 / 3.0, [True, False, True]),  # alpha = 1
        (lambda cell: 1.15, [True, False, True]),
        (lambda cell: 1.0 / 8.0, [False, False, True]),  # below Proposition 1
        (lambda cell: 300.0, [False, False, True]),  # above Theorem 4
        (lambda cell: cell.K ** (1.0 / 3.0), [True, False, False]),  # K^(4/3), as Theorem 2 has it
        (lambda cell: cell.K, [True, False, False]),  # K², as Chen et al. have it
        (lambda cell: cell.gap**0.5, [True, False, False]),
        (lambda cell: (cell.L - cell.K) ** -0.3, [True, False, False]),
    ],
)
def test_regret_of_another_order_is_not(scale: Any, expected: list[bool]) -> None:
    assert judge_paths(tightness(scale)) == expected


# The constants


def test_the_constants_are_the_papers() -> None:
    part = constants.judge(NOTHING)
    assert holds(part.claims) == [True] * 4
    assert part.claims[0].measured.startswith("24 φ⁵ = 266.164")
    assert part.numbers["crossover"] == pytest.approx(172.1, abs=0.05)


@pytest.mark.parametrize(
    ("where", "name", "wrong", "number"),
    [
        (constants, "geometric_constant", lambda alpha, beta: 268.0, 0),
        (constants, "two_event_constant", lambda K: 40.5 * K ** (4.0 / 3.0), 1),
        (constants, "crossover", lambda: 170.0, 2),
        (constants, "cascade_constant", lambda K: 267.0 * K, 3),
    ],
)
def test_other_constants_are_noticed(
    where: Any, name: str, wrong: Any, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, wrong)
    assert holds(constants.judge(NOTHING).claims) == [at != number for at in range(4)]


# Bounds


def test_regret_is_held_against_every_bound() -> None:
    problem = k_path(6, 2, 0.5)
    found = bounds.under_bounds("here", theory.bounds(problem, 10**5), 300.0, 5.0)
    assert {one.bound for one in found} >= {f"Kveton et al. 2015, Theorem {number}" for number in (2, 3, 4, 5, 6)}
    by_name = {one.bound: one for one in found}
    theorem_4 = 2 * 6 * 267 / 0.5 * math.log(10**5) + (math.pi**2 / 3 + 1) * 12
    assert by_name["Kveton et al. 2015, Theorem 4"].value == pytest.approx(theorem_4, rel=1e-6)
    assert by_name["Kveton et al. 2015, Theorem 4"].ratio == pytest.approx(theorem_4 / 300.0, rel=1e-6)
    claims = bounds.claims_of(found, [0.3, 0.5])
    assert holds(claims) == [True, True, True]
    assert claims[0].measured.startswith("5 of 5;")
    assert claims[1].measured.startswith(f"{len(found) - 5} of {len(found) - 5};")


def test_regret_above_a_bound_is_noticed() -> None:
    problem = k_path(9, 3, 0.5)
    all_bounds = theory.bounds(problem, 10**5)
    values = [(one.value, one.bound) for one in bounds.under_bounds("here", all_bounds, 1.0, 0.0)]
    least, nearest = min(values)
    above = bounds.under_bounds("here", all_bounds, least - 2.0, 1.0)  # not by three standard errors
    assert [one.bound for one in above if not one.holds] == [nearest]
    assert holds(bounds.claims_of(above, [0.5, 1.0])) == [True, False, False]
    least_of_the_papers = min(value for value, name in values if name.startswith("Kveton"))
    above = bounds.under_bounds("here", all_bounds, least_of_the_papers + 1.0, 0.0)
    assert holds(bounds.claims_of(above, [0.5])) == [False, False, True]


def test_the_bound_of_section_7_is_a_sum_over_items() -> None:
    problem = grid_path(3, 0.4)
    gaps = problem.item_gaps[~np.isnan(problem.item_gaps)]
    assert bounds.log_term_share(3, 0.4) == pytest.approx((6 * 534 / gaps).sum() / (4272 * 9 / 0.4))


# Section 9


def regret(final: float, shape: Any, runs: int = RUNS) -> Any:
    """Runs that grow as this function of the round does."""
    curve = shape(CHECKPOINTS.astype(np.float64))
    return sample(final, 0.1 * final, runs)[:, None] * curve / curve[-1]


def judge_thompson(grids: dict[tuple[int, float], tuple[float, float]], shape: Any = np.log) -> list[bool]:
    both = {grid: (regret(ucb, np.log), regret(cts, shape)) for grid, (ucb, cts) in grids.items()}
    pairs = [section_9.pair(grid, *pair) for grid, pair in both.items()]
    last = section_9.by_decade([cts for _, cts in both.values()])[-1]
    growing = section_9.fits.powers([[p.unit] for p in pairs], [p.cts for p in pairs], [p.cts_error for p in pairs])
    return holds(section_9.claims_of(pairs, last, growing))


FEWER = {(1, 0.4): (80.0, 9.0), (2, 0.4): (320.0, 27.0), (3, 0.4): (710.0, 48.0)}


def test_thompson_sampling_as_measured_passes() -> None:
    assert judge_thompson(FEWER) == [True] * 3
    assert judge_thompson(FEWER, lambda n: np.log(n) ** 2) == [True] * 3  # which so few decades cannot tell from log n


@pytest.mark.parametrize("power", [0.3, 0.5, 1.0])
def test_powers_of_n_are_noticed(power: float) -> None:
    assert judge_thompson(FEWER, lambda n: n**power) == [True, False, True]


def test_more_regret_on_one_grid_is_noticed() -> None:
    assert judge_thompson({**FEWER, (2, 0.4): (320.0, 330.0)})[0] is False
    assert judge_thompson({**FEWER, (2, 0.4): (320.0, 320.0)})[0] is False


def test_regret_that_grows_faster_than_the_hypothesis_is_noticed() -> None:
    units = {(m, 0.4): 2 * m * 2 * m * (m + 1) / 0.8 for m in (1, 2, 3)}
    assert judge_thompson({grid: (10.0 * unit**1.2, unit**1.2) for grid, unit in units.items()}) == [True, True, False]


def test_decades_are_of_all_grids_together() -> None:
    decades = section_9.by_decade([regret(10.0, np.log), regret(20.0, np.sqrt)])
    before = 10.0 / 5.0 + 20.0 * (0.1**0.5 - 0.01**0.5)
    last = 10.0 / 5.0 + 20.0 * (1.0 - 0.1**0.5)
    assert [one.end for one in decades] == [100, 1_000, 10_000, 100_000]
    assert [one.added for one in decades[2:]] == pytest.approx([before, last])
    assert decades[-1].ratio == pytest.approx(last / before)
    assert decades[-1].error == pytest.approx(0.0, abs=1e-12)  # all runs are multiples of one
    assert decades[0].ratio is None


def test_a_decade_costs_at_least_what_graves_and_lai_say() -> None:
    constant, *_ = theory.graves_lai_constant(grid_path(2, 0.4))
    assert section_9.least_decade((2, 0.4)) == pytest.approx(constant * math.log(10.0), rel=1e-6)


# Figures 1a and 1b


def test_what_the_paper_says_of_its_problems_is_true() -> None:
    assert holds(figures_1a_1b.fig1a(NOTHING).claims) == [True] * 3
    assert holds(figures_1a_1b.fig1b(NOTHING).claims) == [True] * 5


def test_other_paths_are_noticed() -> None:
    said = Instance(6, 2, 0.5)
    right = k_path(6, 2, 0.5)
    assert figures_1a_1b.examine_paths(right, said) == (6, 2, 0.5, 3, True, True, 0.0)
    assert figures_1a_1b.examine_paths(k_path(6, 2, 0.4), said).off == pytest.approx(0.1)
    own_coins = Problem(sets.KPaths(6, 2), environments.Bernoulli(right.means))
    one_coin = Problem(sets.KPaths(6, 2), environments.Bernoulli(right.means, groups=[0] * 6))
    for problem in (own_coins, one_coin):
        assert not figures_1a_1b.examine_paths(problem, said).one_coin
    assert not figures_1a_1b.examine_paths(k_path(6, 3, 0.5), said).disjoint
    shared = Problem(
        sets.DagPaths([(0, 1), (1, 2), (1, 2), (0, 1)], 0, 2), environments.Bernoulli([0.5, 0.5, 0.2, 0.2])
    )
    assert not figures_1a_1b.examine_paths(shared, Instance(4, 2, 0.3)).disjoint


def test_other_grids_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def along_the_top(m: int, sigma: float) -> Problem:
        right = grid_path(m, sigma)
        means = np.where(right.means > 0.5, 0.5 - sigma / 2.0, 0.5 + sigma / 2.0)
        return Problem(right.feasible, environments.Bernoulli(means))

    monkeypatch.setattr(figures_1a_1b, "grid_path", along_the_top)
    sizes, sides, outside, gaps, crowded = holds(figures_1a_1b.fig1b(NOTHING).claims)
    assert (sizes, outside) == (True, True)
    assert not sides
    assert not gaps
    assert not crowded
