"""The arithmetic against closed forms and simulation, small experiments against their parts, and what is claimed."""

import functools
import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from studies import neighbours
from studies.neighbours import Line, Measured, Panel, exponent, mean, ratio

from semibandits import Learner, policies, problems, rng, sets, simulate
from semibandits.errors import BadArgument
from semibandits.kernel import warm


def panel_of(panels: Sequence[Panel], word: str) -> Panel:
    """The one whose title contains the word."""
    (found,) = [panel for panel in panels if word in panel.title]
    return found


def line_of(panel: Panel, name: str) -> Line:
    """The one of this name, else the one whose name begins like this."""
    (found,) = [line for line in panel.lines if line.name == name] or [
        line for line in panel.lines if line.name.startswith(name)
    ]
    return found


def apart(one: Measured, other: Measured) -> float:
    """By how many standard errors the other is above, where they are independent."""
    return (other.value - one.value) / math.hypot(one.error, other.error)


# Numbers and their errors


def test_a_mean() -> None:
    sample = [3.0, 4.5, 9.0, 1.5]
    value, error = mean(np.array(sample))
    assert value == pytest.approx(statistics.mean(sample))
    assert error == pytest.approx(statistics.stdev(sample) / 2.0)
    assert str(Measured(1234.5, 21.0)) == "1.23e+03 ± 21"


def test_a_ratio_by_hand() -> None:
    above, below = np.array([2.0, 6.0, 4.0]), np.array([1.0, 2.0, 3.0])
    value, error = ratio(above, below)
    assert value == pytest.approx(2.0)
    # what is left of each run after twice the other's: 0, 2 and -2
    assert error == pytest.approx(2.0 / math.sqrt(3.0) / 2.0)
    assert ratio(3.0 * below, below) == pytest.approx((3.0, 0.0))


@pytest.mark.parametrize("shared", [0.0, 20.0])
def test_the_error_of_a_ratio(shared: float) -> None:
    """It is the spread of ratios of many samples, whether or not runs have something in common."""
    generator = np.random.default_rng(3)
    found = []
    for _ in range(2000):
        common = shared * generator.normal(size=40)
        above = 200.0 + common + 30.0 * generator.normal(size=40)
        found.append(ratio(above, 80.0 + common + generator.gamma(9.0, 2.0, size=40)))
    values, errors = np.array(found).T
    assert values.std() == pytest.approx(np.sqrt((errors**2).mean()), rel=0.1)


def test_exponents_of_powers() -> None:
    x = (1.0, 2.0, 5.0, 30.0)
    for power in (-1.0, 0.0, 0.5, 1.0):
        points = [Measured(7.0 * at**power, 0.0) for at in x]
        assert exponent(x, points) == pytest.approx((power, 0.0), abs=1e-12)
    assert exponent([10.0, 1000.0], [Measured(2.0, 0.2), Measured(20.0, 1.0)]) == pytest.approx(
        (0.5, math.hypot(0.1, 0.05) / math.log(100.0))
    )


def test_the_error_of_an_exponent() -> None:
    generator = np.random.default_rng(4)
    x, spread = np.array([1e3, 3e3, 1e4, 3e4]), np.array([0.02, 0.05, 0.01, 0.03])
    found = []
    for _ in range(2000):
        values = 2.0 * x**0.5 * (1.0 + spread * generator.normal(size=4))
        value, error = exponent(x, [Measured(y, y * s) for y, s in zip(values, spread, strict=True)])
        assert value == pytest.approx(np.polyfit(np.log(x), np.log(values), 1)[0])
        found.append((value, error))
    values, errors = np.array(found).T
    assert values.mean() == pytest.approx(0.5, abs=4.0 * values.std() / math.sqrt(2000))
    assert values.std() == pytest.approx(errors.mean(), rel=0.06)


@pytest.mark.parametrize("wrong", [0.0, -3.0, math.nan])
def test_no_exponent_of_what_is_not_positive(wrong: float) -> None:
    with pytest.raises(BadArgument, match="positive"):
        exponent([1.0, 2.0], [Measured(1.0, 0.1), Measured(wrong, 0.1)])


# The worlds


@pytest.mark.parametrize("k", [1, 3])
def test_half_of_the_items(k: int) -> None:
    problem = neighbours.top(k)
    assert (problem.n_items, problem.max_size) == (2 * k, k)
    assert problem.optimum.tolist() == list(range(k))
    assert problem.item_gaps[k:] == pytest.approx([0.2] * k)


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_correlated_worlds(rho: float) -> None:
    problem = neighbours.correlated(rho, k=2, solutions=2)
    assert problem.optimum.tolist() == [0, 1]
    assert problem.min_gap == problem.max_gap == pytest.approx(2 * 0.05, rel=0.02)  # less by what lies outside [0, 1]
    n = 1500
    drawn = np.array([problem.environment.weights(t, rng.key(1, 0, t, rng.WORLD)) for t in range(1, n + 1)])
    np.testing.assert_allclose(drawn.mean(axis=0), problem.means, atol=4.0 * 0.2 / math.sqrt(n))
    np.testing.assert_allclose(drawn.std(axis=0), 0.2, rtol=4.0 / math.sqrt(2 * n) + 0.02)  # and a little for that
    found = np.corrcoef(drawn.T)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(found, rho, atol=4.0 * (1.0 - rho**2) / math.sqrt(n) + 0.01)


def test_pairs() -> None:
    problem = neighbours.pairs(3, 0.1)
    assert problem.optimum.tolist() == [0, 2, 4]
    assert problem.feasible.contains(np.array([1, 2, 5]))
    assert not problem.feasible.contains(np.array([0, 1, 4]))
    assert problem.gap([1, 2, 5]) == pytest.approx(0.2)


def test_an_ambush() -> None:
    """CombUCB1 pays for every item in every round; what it does not choose is as the coins fell."""
    n = 300
    problem = neighbours.ambush(n, seed=5)
    losses = problem.environment.losses  # type: ignore[attr-defined]
    coins = problems.coin_table(sets.TopK(8, 3), n, seed=5).environment.losses  # type: ignore[attr-defined]
    learner = Learner(problem.feasible, policies.CombUCB1(), sense="min")
    for row, fallen in zip(losses, coins, strict=True):
        decision = learner.ask()
        assert (row[decision.items] == 1.0).all()
        others = np.setdiff1d(np.arange(8), decision.items)
        np.testing.assert_array_equal(row[others], fallen[others])
        learner.tell(decision.id, row[decision.items])
    result = simulate(problem, policies.CombUCB1(), horizon=n, runs=1, seed=0, engine="plain", threads=1)
    assert result.regret[0, 0, -1] == pytest.approx(3 * n - np.sort(losses.sum(axis=0))[:3].sum())
    assert not np.array_equal(losses, neighbours.ambush(n, seed=6).environment.losses)  # type: ignore[attr-defined]


# Small experiments


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Nothing is compiled. Gives the same as `simulate`."""
    slow = functools.partial(simulate, engine="plain", threads=1)
    monkeypatch.setattr(neighbours, "simulate", slow)
    monkeypatch.setattr(warm, "PATIENCE", math.inf)
    return slow


def well_formed(panels: Sequence[Panel], x: Sequence[float]) -> None:
    for panel in panels:
        assert panel.title
        assert panel.x_label
        assert panel.y_label
        names = [line.name for line in (*panel.lines, *panel.guides)]
        assert len(set(names)) == len(names) >= 2
        for line in (*panel.lines, *panel.guides):
            assert line.x == tuple(x)
            assert len(line.points) == len(x)
            assert all(math.isfinite(point.value) and point.value > 0.0 for point in line.points)
        assert all(point.error >= 0.0 and math.isfinite(point.error) for line in panel.lines for point in line.points)


def test_small_sizes(plain: Callable[..., Any]) -> None:
    panels = neighbours.sizes(most=2, horizon=60, runs=3, seed=4)
    top, grid = panel_of(panels, "top"), panel_of(panels, "paths")
    well_formed([top], [1.0, 2.0])
    well_formed([grid], [2.0, 4.0])
    players = {
        "CombUCB1 / ESCB with f = log t": (policies.CombUCB1(init="all"), policies.ESCB(c=0.0)),
        "CombUCB1 with alpha = 1/2": (policies.CombUCB1(alpha=0.5, init="all"), policies.ESCB(c=0.0)),
        "CombUCB1 / ESCB with f = log t + 4 K": (policies.CombUCB1(init="all"), policies.ESCB(c=4.0)),
    }
    for panel, problem in ((top, neighbours.top(2)), (grid, problems.grid_path(2, 0.2))):
        for name, pair in players.items():
            result = plain(problem, pair, horizon=60, runs=3, seed=4)
            above, below = result.regret[:, :, -1]
            assert line_of(panel, name).points[-1] == pytest.approx(ratio(above, below))


def test_small_correlation(plain: Callable[..., Any]) -> None:
    (panel,) = neighbours.correlation(rhos=(0.0, 0.5), horizon=60, runs=3, seed=2)
    well_formed([panel], [0.0, 0.5])
    assert not panel.logarithmic
    covariance = np.where(np.eye(32) > 0.0, 0.25, 0.125)
    players = {"OLSUCB": policies.OLSUCB(covariance), "CombUCB1": policies.CombUCB1(init="all")}
    result = plain(neighbours.correlated(0.5), list(players.values()), horizon=60, runs=3, seed=2)
    for name, regret in zip(players, result.regret[:, :, -1], strict=True):
        assert line_of(panel, name).points[1] == pytest.approx(mean(regret))


def test_a_small_adversary(plain: Callable[..., Any]) -> None:
    panels = neighbours.adversary(horizons=(40, 70), runs=2, tables=2, seed=1)
    well_formed(panels, [40.0, 70.0])
    made, coins = panel_of(panels, "against"), panel_of(panels, "coins")
    for panel in (made, coins):
        assert [line.name for line in panel.lines] == list(neighbours.contenders())
        (guide,) = panel.guides
        assert exponent(guide.x, guide.points) == pytest.approx((0.5, 0.0))
    victim = line_of(made, "CombUCB1").points[0]
    assert 40.0 < victim.value < 120.0
    # a policy without chance: its error is that of the tables alone, and it is there
    assert victim.error > 0.0


def test_small_feedback(plain: Callable[..., Any]) -> None:
    """The largest mean over the gaps, for each policy by itself."""
    gaps = (0.1, 0.6)
    panels = neighbours.feedback(sizes=(1, 2), gaps=gaps, horizon=60, runs=3, seed=7)
    well_formed(panels, [1.0, 2.0])
    regret, factor = (panel_of(panels, word) for word in ("the worst of", "only the sum"))
    players = {
        "ESCB": policies.ESCB(c=0.0),
        "CombUCB1": policies.CombUCB1(alpha=0.5, init="all"),
        "LinUCB": policies.LinUCB(alpha=math.sqrt(math.log(60))),
    }
    found = {}
    for name, policy in players.items():
        ends = [
            plain(neighbours.pairs(2, gap), policy, horizon=60, runs=3, seed=7 + 2).regret[0, :, -1] for gap in gaps
        ]
        found[name] = max(ends, key=np.mean)
        assert line_of(regret, name).points[1] == pytest.approx(mean(found[name]))
    for name in ("ESCB", "CombUCB1"):
        line = line_of(factor, f"LinUCB / {name}")
        assert line.points[1] == pytest.approx(ratio(found["LinUCB"], found[name]))
    (guide,) = factor.guides
    assert [point.value for point in guide.points] == pytest.approx([1.0, math.sqrt(2.0)])


def test_seeds(plain: Callable[..., Any]) -> None:
    again = [neighbours.adversary(horizons=(9, 15), runs=2, tables=2, seed=seed) for seed in (0, 0, 1)]
    assert again[0] == again[1] != again[2]


# Pictures


PANEL = Panel(
    "a title",
    "an x",
    "a y",
    (
        Line("first", (1.0, 2.0, 4.0), (Measured(5.0, 0.5), Measured(7.0, 0.25), Measured(9.0, 8.0))),
        Line("second", (1.0, 2.0, 4.0), (Measured(2.0, 0.1), Measured(1.0, 0.1), Measured(0.5, 0.0))),
    ),
    "9 runs",
    (Line("a guide", (1.0, 4.0), (Measured(1.0, 0.0), Measured(2.0, 0.0))),),
)


@pytest.mark.parametrize("logarithmic", [True, False])
def test_pictures_with_bands(logarithmic: bool) -> None:
    figure = neighbours.draw([PANEL._replace(logarithmic=logarithmic), PANEL])
    assert isinstance(figure, Figure)
    ax, other = figure.axes
    title = "a title\nmeans of 9 runs, bands: 95% intervals"
    assert (ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()) == (title, "an x", "a y")
    assert ax.get_xscale() == ax.get_yscale() == ("log" if logarithmic else "linear")
    assert other.get_yscale() == "log"
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["first", "second", "a guide"]
    drawn = {str(line.get_label()): line for line in ax.get_lines()}
    for line in (*PANEL.lines, *PANEL.guides):
        np.testing.assert_allclose(drawn[line.name].get_xdata(), line.x)
        np.testing.assert_allclose(drawn[line.name].get_ydata(), [point.value for point in line.points])
    assert len({to_hex(line.get_color()) for line in drawn.values()}) == 3  # type: ignore[arg-type]
    assert len(ax.collections) == 2
    for band, line in zip(ax.collections, PANEL.lines, strict=True):
        corners = band.get_paths()[0].vertices
        for x, point in zip(line.x, line.points, strict=True):
            at = corners[corners[:, 0] == x][:, 1]
            low = point.value - 1.96 * point.error
            assert at.max() == pytest.approx(point.value + 1.96 * point.error)
            assert at.min() == pytest.approx(max(low, 1e-3 * point.value) if logarithmic else low)
    if not logarithmic:
        assert ax.get_ylim()[0] == 0.0
    figure.canvas.draw()


def test_pictures_of_many_points() -> None:
    x = tuple(10.0**power for power in range(2, 7))
    points = tuple(Measured(math.sqrt(at), 1.0) for at in x)
    (ax,) = neighbours.draw([Panel("t", "x", "y", (Line("root", x, points),), "9 runs")]).axes
    assert ax.get_xlim()[0] < x[0] < x[-1] < ax.get_xlim()[1]


@pytest.mark.parametrize("wrong", [[], (), None, ["a panel"], [PANEL, None], [PANEL.lines]], ids=str)
def test_what_is_no_panel(wrong: Any) -> None:
    with pytest.raises(BadArgument, match="panels"):
        neighbours.draw(wrong)


# What is claimed


@pytest.fixture(scope="module")
def grown() -> list[Panel]:
    return neighbours.sizes(most=4, horizon=10_000, runs=400, seed=1)


@pytest.mark.long
@pytest.mark.parametrize(("where", "least", "most"), [("top", 1.05, 1.4), ("paths", 1.8, 4.0)])
def test_the_factor_grows_with_the_size(grown: list[Panel], where: str, least: float, most: float) -> None:
    """On paths as a power of K; on top k, a matroid, by little, and no more once K is 3."""
    panel = panel_of(grown, where)
    for name in ("CombUCB1 / ESCB with f = log t", "CombUCB1 with alpha = 1/2"):
        first, *_, last = line_of(panel, name).points
        assert apart(first, last) > 4.0, (name, first, last)
        assert least < last.value / first.value < most
    points = line_of(panel, "CombUCB1 with alpha = 1/2").points
    assert all(point.value > 1.0 + 3.5 * point.error for point in points[1:])
    if where == "top":
        assert points[0].value == pytest.approx(1.0, abs=3.5 * points[0].error)  # K = 1: the same policy but for log t


@pytest.mark.long
def test_the_proven_interval_is_overtaken_on_top_k(grown: list[Panel]) -> None:
    """4 K log log t is more, for the larger K, than one interval for all items saves."""
    line = line_of(panel_of(grown, "top"), "CombUCB1 / ESCB with f = log t + 4 K")
    first, *_, last = line.points
    assert first.value > 1.0 + 5.0 * first.error
    assert last.value < 1.0 - 5.0 * last.error


@pytest.mark.long
def test_known_correlation_lies_between() -> None:
    (panel,) = neighbours.correlation(horizon=20_000, runs=40, seed=1)
    known, long, short = (line_of(panel, name) for name in ("OLSUCB", "CombUCB1", "ESCB, f = log t"))
    assert apart(known.points[0], known.points[-1]) > 20.0
    for before, after in zip(known.points, known.points[1:], strict=False):
        assert after.value > before.value
    for rho, low, middle, high in zip(panel.lines[0].x, short.points, known.points, long.points, strict=True):
        assert apart(low, middle) > 10.0
        assert apart(middle, high) > (3.5 if rho <= 0.8 else 0.0)
    for line in (long, short):
        for point in line.points[1:]:
            assert abs(apart(line.points[0], point)) < 3.5


@pytest.mark.long
def test_exponents_against_the_adversary() -> None:
    panel = panel_of(neighbours.adversary(horizons=(1000, 4000, 16_000), runs=4, tables=32, seed=1), "against")
    for line in panel.lines:
        found = exponent(line.x, line.points)
        if line.name == "CombUCB1":
            assert found.value == pytest.approx(1.0, abs=0.02 + 3.5 * found.error)
        else:
            assert found.value == pytest.approx(0.5, abs=3.5 * found.error), line.name
            assert found.value < 0.65, (line.name, found)
            assert found.error < 0.05
            assert apart(line.points[-1], line_of(panel, "CombUCB1").points[-1]) > 50.0


@pytest.mark.long
def test_hybrid_is_logarithmic_in_a_random_world(monkeypatch: pytest.MonkeyPatch) -> None:
    """What each tripling of n adds hardly changes; that of a root of n would grow by a factor sqrt(3)."""
    monkeypatch.setattr(neighbours, "contenders", lambda: {"HYBRID": policies.HYBRID()})
    monkeypatch.setattr(neighbours, "ambush", lambda n, seed: problems.coin_table(sets.TopK(8, 3), n, seed=seed))
    panels = neighbours.adversary(horizons=(1000, 3000, 9000, 27_000, 81_000), runs=20, tables=8, seed=1)
    line = line_of(panel_of(panels, "coins"), "HYBRID")
    last = exponent(line.x[-2:], line.points[-2:])
    assert last.value + 3.5 * last.error < 0.3, last
    steps = [
        Measured(after.value - before.value, math.hypot(before.error, after.error))
        for before, after in zip(line.points, line.points[1:], strict=False)
    ]
    first, *others = steps
    for step in others:
        assert step.value == pytest.approx(
            first.value, abs=0.25 * first.value + 3.5 * math.hypot(*first[1:], *step[1:])
        )
    root = 3.0 * math.sqrt(3.0)
    assert apart(Measured(root * first.value, root * first.error), steps[-1]) < -5.0


@pytest.mark.long
def test_the_sum_alone_costs_a_root_of_the_size() -> None:
    panel = panel_of(neighbours.feedback(seed=1), "only the sum")
    line = line_of(panel, "LinUCB / CombUCB1")
    found = exponent(line.x, line.points)
    assert abs(found.value - 0.5) < 3.5 * found.error
    assert found.error < 0.06
    assert abs(line.points[0].value - 1.0) < 3.5 * line.points[0].error
