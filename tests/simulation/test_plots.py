"""Results as pictures."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import stats

import semibandits as sb
from semibandits import errors, theory
from semibandits.theory import kveton2015, tight
from support.pictures import band_edges, render
from support.results import FACTS, PAPER, make


def test_curves_and_bands() -> None:
    result = make(policies=3, runs=6)
    ax = result.plot(confidence=0.8)
    render(ax)
    assert len(ax.get_lines()) == len(ax.collections) == 3
    for p, line in enumerate(ax.get_lines()):
        sample = result.regret[p]
        low, high = stats.t.interval(0.8, 5, loc=sample.mean(axis=0), scale=stats.sem(sample, axis=0))
        np.testing.assert_array_equal(line.get_xdata(), result.rounds)
        np.testing.assert_allclose(np.asarray(line.get_ydata()), sample.mean(axis=0))
        np.testing.assert_allclose(band_edges(ax, p), (low, high))
    assert ax.get_xlabel() == "round"
    assert ax.get_ylabel() == "expected regret"
    assert ax.get_title("left") == result.problem
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["Policy(2)", "Policy(1)", "Policy(0)"]  # as they end
    assert legend.get_title().get_text() == "mean of 6 runs, 80% interval"
    assert replace(result, kind="realised").plot().get_ylabel() == "realised regret"


def test_a_single_run_has_no_band() -> None:
    ax = make(runs=1).plot(log="xy")
    render(ax)
    assert not ax.collections
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "a single run"


def test_curves_can_be_told_apart() -> None:
    ax = make(policies=28, rounds=range(1, 50)).plot()
    render(ax)
    looks = {
        (to_hex(line.get_color()), str(line.get_linestyle()), line._dash_pattern[1].__str__())
        for line in ax.get_lines()
    }  # type: ignore[attr-defined]
    assert len(looks) == 28


@pytest.mark.parametrize("rounds", [[1, 101], [1, 100], [7], list(range(500, 5000))])
@pytest.mark.parametrize("log", [None, "", "x", "y", "xy"])
def test_axes(rounds: list[int], log: Any) -> None:
    ax = make(rounds=rounds).plot(log=log)
    if log is None:
        render(ax)
    wanted = ("x" if rounds[-1] > 100 * rounds[0] else "") if log is None else log
    assert (ax.get_xscale(), ax.get_yscale()) == tuple("log" if axis in wanted else "linear" for axis in "xy")


@pytest.mark.parametrize("log", ["", "xy"])
@pytest.mark.parametrize(
    "regret",
    [
        np.zeros((2, 3, 4)),
        -np.ones((2, 3, 4)),
        np.array([[[-1.0, 0.0, 1.0, 2.0], [1.0, 0.0, 2.0, 2.0]]] * 2),
        np.array([[[0.0, 0.0, 0.0, 9.0], [0.0, 0.0, 0.0, -9.5]]] * 2),
        np.array([[[0.0, 1e-15, 1.0, 5.0], [0.0, 1e-15, 2.0, 5.0]]] * 2),
        np.full((2, 3, 4), np.nan),
    ],
)
def test_regret_that_is_not_positive(regret: Any, log: Any) -> None:
    result = make(regret=regret)
    for bounds in (True if log else None, {"zero": np.zeros(4)}):
        render(result.plot(bounds, log=log))


def test_where_the_axis_of_regret_begins() -> None:
    regret = np.array([[[0.0, 1.0, 10.0, 50.0], [1e-15, 1.0, 30.0, 90.0]]])
    ax = make(policies=1, regret=regret).plot(log="xy")
    render(ax)
    assert ax.get_ylim()[0] == pytest.approx(1.0)  # the band goes below
    ax = make(policies=1, regret=regret[:, :, 1:], rounds=[1, 2, 3]).plot(log="")
    assert ax.get_ylim()[0] < 0.0  # and is shown on a linear one
    assert make(policies=1, rounds=[1, 2, 3], runs=1).plot(log="").get_ylim()[0] == 0.0


def test_bounds() -> None:
    result = make(runs=9)
    tight, loose = 40.0 * np.log1p(result.rounds), 1e4 * np.log1p(result.rounds)
    ax = result.plot({"tight": tight.tolist(), "also": lambda n: 50 * n / n})
    assert ax.get_yscale() == "linear"
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_array_equal(np.asarray(lines["tight"].get_ydata()), tight)
    np.testing.assert_array_equal(np.asarray(lines["also"].get_ydata()), [50.0] * 4)
    assert lines["tight"].get_linewidth() < lines["Policy(0)"].get_linewidth()
    ax = result.plot({"loose": loose})
    assert ax.get_yscale() == "log"  # or the curves would lie flat
    assert result.plot({"loose": loose}, log="x").get_yscale() == "linear"
    render(ax)


def test_regret_below_zero_keeps_a_linear_axis() -> None:
    regret = -np.array([[[0.0, 1.0, 10.0, 50.0], [0.0, 2.0, 11.0, 60.0]]])
    assert make(policies=1, regret=regret).plot({"loose": [1e3] * 4}).get_yscale() == "linear"


def test_bounds_cannot_touch_the_result() -> None:
    result = make()

    def rude(n: Any) -> Any:
        n *= 2
        return n

    result.plot({"rude": rude})
    assert result.rounds.tolist() == [1, 10, 100, 1000]


def test_the_paper_s_bound() -> None:
    n = [10**6, 10**7, 10**8]
    ax = make(rounds=n).plot(bounds=True)
    theirs, ours = ax.get_lines()[-2:]
    assert theirs.get_label() == "Kveton et al. 2015, Theorem 6"
    assert ours.get_label() == "semibandits, D, gap-free"
    np.testing.assert_array_equal(np.asarray(theirs.get_ydata()), kveton2015.theorem_6(n, 12, 4))
    np.testing.assert_array_equal(np.asarray(ours.get_ydata()), tight.gap_free(n, 12, 4, 0))  # the optimum is not told
    assert ax.get_yscale() == "log"
    facts = {**FACTS, "bounds": [-10, 20], "optimal_size": 3, "parameters": [{"policy": "CTS"}, PAPER]}
    theirs, ours = make(rounds=n, provenance=facts).plot(bounds=True).get_lines()[-2:]
    np.testing.assert_allclose(np.asarray(theirs.get_ydata()), 30.0 * kveton2015.theorem_6(n, 12, 4))
    np.testing.assert_allclose(np.asarray(ours.get_ydata()), 30.0 * tight.gap_free(n, 12, 4, 3))


@pytest.mark.parametrize("bounds", [[5.0, 7.0], [-7.0, -5.0]])
def test_the_paper_s_bound_away_from_zero(bounds: list[float]) -> None:
    """A round can lose K times the largest weight, where solutions differ in size; only that term grows."""
    n = np.array([10**6, 10**7, 10**8])
    drawn = np.asarray(
        make(rounds=n, provenance={**FACTS, "bounds": bounds}).plot(bounds=True).get_lines()[-2].get_ydata()
    )
    root = 47.0 * np.sqrt(4 * 12 * n * np.log(n))
    np.testing.assert_allclose(drawn, 2.0 * root + 7.0 * (math.pi**2 / 3 + 1) * 4 * 12)


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({}, "does not say its n_items, max_size, bounds, ratio, parameters"),
        ({key: value for key, value in FACTS.items() if key != "bounds"}, "does not say its bounds"),
        ({**FACTS, "ratio": 0.5}, "exact oracle; this one's ratio is 0.5"),
        ({**FACTS, "parameters": [{**PAPER, "alpha": 1.0}, {"policy": "CTS"}]}, "of CombUCB1"),
        ({**FACTS, "parameters": [{**PAPER, "init": "all"}]}, "of CombUCB1"),
        ({**FACTS, "last_round": 3000}, "needs independent rounds"),
        ({**FACTS, "promised": False}, "this one's search may be cut short"),
    ],
)
def test_where_the_paper_says_nothing(facts: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.Unsupported, match=says):
        make(provenance=facts).plot(bounds=True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"bounds": {"x": [1.0, 2.0]}}, r"bound 'x' must be finite numbers of shape \(4,\), got \[1.0, 2.0\]"),
        ({"bounds": {"x": 3.0}}, r"shape \(4,\), got 3.0"),
        ({"bounds": {"x": lambda n: 3.0}}, r"shape \(4,\), got 3.0"),
        ({"bounds": {"x": [1.0, 2.0, 3.0, np.inf]}}, "finite"),
        ({"bounds": {"x": [1.0, 2.0, 3.0, float("nan")]}}, "finite"),
        ({"bounds": {"x": "high"}}, "bound 'x' must be an array or a function, got 'high'"),
        ({"bounds": {"x": None}}, "bound 'x'"),
        ({"bounds": {"x": [[1.0], [1.0, 2.0]]}}, "bound 'x'"),
        ({"bounds": {5: [1.0] * 4}}, "bounds must be True, what theory.bounds.* returns or some of it, or map names"),
        ({"bounds": [1.0] * 4}, "bounds must be True, what theory.bounds.* returns or some of it, or map names"),
        ({"bounds": "all"}, "bounds must be True, what theory.bounds.* returns or some of it, or map names"),
        ({"bounds": {r"$\log": [1.0] * 4, r"$\nothing$": [1.0] * 4}}, r"bound '\$.*nothing\$' is no formula"),
        ({"log": "yx"}, "log must be '' or 'x' or 'y' or 'xy', got 'yx'"),
        ({"log": True}, "log must be"),
        ({"ax": Figure()}, "ax must be Matplotlib Axes, got <Figure"),
        ({"ax": Figure().add_subplot(), "size": (3.0, 2.0)}, r"size is of a picture of its own, but ax has a figure"),
        ({"size": 3.3}, r"size must be width and height in inches, from 0.5 to 100, such as \(3.3, 2.6\), got 3.3"),
        ({"size": (3.3, 2.6, 1.0)}, "size must be width and height"),
        ({"size": (3.3, 0.0)}, "size must be width and height"),
        ({"size": (float("nan"), 2.0)}, "size must be width and height"),
        ({"size": "ab"}, "size must be width and height"),
        ({"title": 5}, "title must be a string, or False for none, got 5"),
        ({"title": r"$\nothing$"}, r"title '\$.*nothing\$' is no formula \(write .* for a dollar\)"),
        (
            {"labels": "ab"},
            "labels must be 2 names, one for each policy in its order, or map policies to names, got 'ab'",
        ),
        ({"labels": ["a"]}, "labels must be 2 names"),
        ({"labels": 3}, "labels must be 2 names"),
        ({"labels": ["a", 5]}, r"labels must be names, got 5 for Policy\(1\)"),
        ({"labels": ["a", " "]}, "labels must be names"),
        ({"labels": ["a", r"$\frac{$"]}, "label .* is no formula"),
        ({"labels": {"CTS": "a"}}, r"'CTS' is no policy; there are 0: Policy\(0\), 1: Policy\(1\)"),
        ({"labels": {"Policy": "a"}}, "'Policy' is the name of several policies"),
        ({"labels": {0: "a", "Policy(0)": "b"}}, "labels name a policy twice"),
        ({"legend": "upper left"}, "legend must be True, False or one of 'ends', 'inside', 'below', got 'upper left'"),
        ({"legend": 1}, "legend must be True, False or one of"),
    ],
)
def test_bad_plots(options: dict[str, Any], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        make().plot(**options)


def test_names_are_shown_as_they_are() -> None:
    names = ("_Mine()", "Costs($5)", "Costs($6)")
    result = replace(make(policies=3), policies=names, problem="Bets of $5 and $6 " * 9)
    ax = result.plot({r"$\sqrt{n}$": np.sqrt})
    render(ax)
    legend = ax.get_legend()
    assert legend is not None
    assert {text.get_text().strip() for text in legend.get_texts()} == {
        "_Mine",
        *(rf"Costs(\${n})" for n in (5, 6)),
        r"$\sqrt{n}$",
    }
    assert ax.get_title("left").replace("\n", " ") == (r"Bets of \$5 and \$6 " * 9).strip()
    assert ax.get_title("left").count("\n") == 1


def test_titles_and_names_of_one_s_own() -> None:
    names = ("CTS()", "KLUCB(c=2.0, init='all')", "KLUCB(c=3.0, init='all')", "_Mine()")
    result = replace(make(policies=4), policies=names)

    def labels(**options: Any) -> list[str]:
        return [str(line.get_label()) for line in result.plot(**options).get_lines()]

    assert labels() == ["CTS", "KLUCB(c=2)", "KLUCB(c=3)", " _Mine"]
    assert labels(labels=["a", "b", r"$\beta$ for $5", "_d"]) == ["a", "b", r"$\beta$ for $5", " _d"]
    some = {"CTS": "Thompson", "KLUCB(c=3)": "KL", names[1]: "kl", np.int64(3): "ours"}
    assert labels(labels=some) == ["Thompson", "kl", "KL", "ours"]
    assert labels(labels={3: "ours"}) == ["CTS", "KLUCB(c=2)", "KLUCB(c=3)", "ours"]
    assert result.plot(title="Two\nlines, $n^2$").get_title("left") == "Two\nlines, $n^2$"
    assert result.plot(title="").get_title("left") == result.plot(title=False).get_title("left") == ""
    assert result.plot(title=True).get_title("left") == result.problem


@pytest.mark.parametrize(
    ("rounds", "drawn", "said"),
    [
        ([10**5, 10**6], 2, ""),
        ([10**3, 10**6], 2, ""),
        ([10**3, 10**4], 1, "1 bound says nothing here: not drawn"),
        ([10, 100], 0, "2 bounds say nothing here: not drawn"),
    ],
)
def test_bounds_that_say_nothing_are_counted(rounds: list[int], drawn: int, said: str) -> None:
    ax = make(policies=1, rounds=rounds).plot(bounds=True)
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text().partition("\n")[2] == said
    lines = ax.get_lines()[1:]
    assert len(lines) == drawn
    for line, bound in zip(
        reversed(lines), (tight.gap_free(rounds, 12, 4, 0), kveton2015.theorem_6(rounds, 12, 4)), strict=False
    ):
        np.testing.assert_array_equal(
            np.asarray(line.get_ydata()), np.where(bound > 4.0 * np.array(rounds), np.nan, bound)
        )
    title = make(policies=5, rounds=[10, 100]).plot(bounds=True).get_title("left")
    assert title.endswith("\nmean of 5 runs, 95% interval, 2 bounds say nothing here: not drawn")


def test_who_the_bounds_are_about_is_said_where_others_played() -> None:
    legend = make(rounds=[10**5, 10**6]).plot(bounds=True).get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "mean of 5 runs, 95% interval\nupper bounds are of Policy(0)"


def test_bounds_do_not_widen_a_linear_axis() -> None:
    result = make()
    top = result.regret.mean(axis=1).max()
    ax = result.plot(
        {"near": [2.0 * top] * 4, "far": [90.0 * top] * 4, "rising": [top, 2 * top, 50 * top, 99 * top]}, log="x"
    )
    assert 2.0 * top <= ax.get_ylim()[1] <= 3.0 * top
    labels = [line.get_label() for line in ax.get_lines()]
    assert labels[2:] == ["near", "far (above the picture)", "rising"]
    np.testing.assert_array_equal(np.asarray(ax.get_lines()[4].get_ydata()), [top, 2 * top, 50 * top, 99 * top])
    zero = make(policies=1, regret=np.zeros((1, 5, 4))).plot({"far": [90.0] * 4})
    assert zero.get_ylim()[1] > 90.0
    assert zero.get_lines()[1].get_label() == "far"
    assert result.plot({"nothing": [0.0] * 4}, log="xy").get_lines()[2].get_label() == "nothing"
    assert result.plot({"far": [90.0 * top] * 4}).get_ylim()[1] > 90.0 * top  # logarithmic
    assert result.plot({"far": [90.0 * top] * 4}).get_lines()[2].get_label() == "far"


def test_on_axes_that_are_there() -> None:
    figure = Figure()
    ax = figure.add_subplot()
    before = figure.get_size_inches().tolist()
    assert make().plot(ax=ax) is ax
    assert figure.axes == [ax]
    assert figure.get_size_inches().tolist() == before
    first = [to_hex(line.get_color()) for line in ax.get_lines()]
    make(policies=1).plot(ax=ax)  # another result joins with other colours
    render(ax)
    assert to_hex(ax.get_lines()[-1].get_color()) not in first
    legend = ax.get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == 3


def run(code: str) -> str:
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "MPLBACKEND")}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


MADE = (
    "import sys, io, numpy as np, semibandits as sb\n"
    "names = ('CombUCB1()',)\n"
    "rounds = np.arange(1, 500)\n"
    "r = sb.SimulationResult(np.ones((1, 3, 499)), rounds, names, 'p', 0, 'expected', 'e', 0.0, 'v')\n"
)


@pytest.mark.parametrize("size", [(3.3, 1.9), (7.0, 2.4), (3.3, 2.4)])
def test_the_name_of_a_short_axis_is_not_cut_off(size: tuple[float, float]) -> None:
    problem = sb.problems.grid_path(2, 0.25)
    result = sb.simulate(problem, ["CombUCB1", "CTS"], horizon=10**5, runs=2, seed=0, checkpoints=[10**4, 10**5])
    ax = result.plot(bounds=theory.bounds(problem, result.rounds), size=size, title="")
    figure = ax.figure
    figure.draw_without_rendering()  # type: ignore[union-attr]
    box = ax.yaxis.label.get_window_extent()
    assert box.y0 >= 0.0
    assert box.y1 <= figure.bbox.height
    assert ax.get_ylabel().split() == ["expected", "regret"]


def test_nothing_is_left_behind() -> None:
    printed = run(
        MADE + "assert not {'matplotlib', 'polars', 'pyarrow', 'scipy'} & sys.modules.keys()\n"
        "import matplotlib\n"
        "settings = lambda: [repr(dict.__getitem__(matplotlib.rcParams, key)) for key in matplotlib.rcParams]\n"
        "before = settings()\n"
        "for log in ('', 'xy'): r.plot(log=log).figure.savefig(io.BytesIO())\n"
        "print('matplotlib.pyplot' in sys.modules, settings() == before)"
    )
    assert printed == "False True"


def test_pyplot_is_joined_where_it_is_in_use() -> None:
    printed = run(
        MADE + "from matplotlib import pyplot\n"
        "ax = r.plot()\n"
        "print(pyplot.gca() is ax, len(pyplot.get_fignums()), r.plot(ax=ax) is ax, len(pyplot.get_fignums()))"
    )
    assert printed == "True 1 True 1"


def test_pyplot_is_joined_in_notebooks() -> None:
    """Not where a notebook's parts are only imported."""
    printed = run(
        MADE + "import types\n"
        "sys.modules['ipykernel'] = types.ModuleType('ipykernel')\n"
        "r.plot()\n"
        "imported = 'matplotlib.pyplot' in sys.modules\n"
        "sys.modules['ipykernel.iostream'] = types.SimpleNamespace(OutStream=type(sys.stderr))\n"
        "ax = r.plot()\n"
        "print(imported, sys.modules['matplotlib.pyplot'].gca() is ax)"
    )
    assert printed == "False True"


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(errors.Unsupported, match=r'Matplotlib: pip install "\.\[plot\]"'):
        make().plot()
