"""How curves of regret look: their bands, titles, numbers and greys."""

import math
from dataclasses import replace

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy import stats

from support.pictures import band_edges, render
from support.results import make


def test_bands_are_whole_where_something_else_widens_the_axis() -> None:
    """They are cut by the axes alone; what reaches 0 goes on for ever."""
    result = make(policies=1, runs=3, rounds=[50, 100, 1000])
    sample = result.regret[0]
    half = stats.t.ppf(0.975, 2) * stats.sem(sample, axis=0)
    low, high = sample.mean(axis=0) - half, sample.mean(axis=0) + half
    assert (low > 0.0).all()
    for bounds in ({"low": [0.1, 0.2, 0.3]}, None):
        ax = result.plot(bounds, log="y")
        np.testing.assert_allclose(band_edges(ax, 0), (low, high))
        assert (ax.get_ylim()[0] < low.min()) == (bounds is not None)
    other = replace(result, regret=result.regret * 0.01)
    other.plot(log="y", ax=ax)
    assert ax.get_ylim()[0] < low.min()
    np.testing.assert_allclose(band_edges(ax, 0), (low, high))
    wide = replace(result, regret=result.regret * np.array([0.0, 0.1, 3.0])[:, None])
    edges = band_edges(wide.plot(log="y"), 0)
    assert (edges[0] < 1e-50).all()
    assert math.isclose(edges[1][0], wide.summary(round=50)[0].high)


def test_who_loses_nothing_is_named_as_such_on_a_logarithmic_axis() -> None:
    result = replace(make(), regret=make().regret * np.array([0.0, 1.0])[:, None, None])
    names = [line.get_label() for line in result.plot(log="xy").get_lines()]
    assert names == ["Policy(0) (no regret)", "Policy(1)"]
    assert [line.get_label() for line in result.plot(log="").get_lines()] == ["Policy(0)", "Policy(1)"]


def test_titles_are_broken_where_the_axes_end_up() -> None:
    """Wide numbers push the axes to the right."""
    result = replace(make(policies=1), problem="Problem(TopK(6, 2), Bernoulli(6 items), sense='max')")
    for shift in (0.0, -123456.0):
        figure = Figure(figsize=(3.3, 2.6))
        ax = figure.subplots()
        replace(result, regret=result.regret + shift).plot(ax=ax)
        figure.draw_without_rendering()
        title = next(text for text in ax.findobj(Text) if text.get_text().startswith("Problem("))
        assert title.get_window_extent().x1 <= figure.bbox.width


def test_all_numbers_of_a_small_picture_are_small() -> None:
    ax = make(policies=1, rounds=[2, 30]).plot(size=(3.3, 2.6), log="xy")
    render(ax)
    sizes = {
        tick.label1.get_fontsize() for axis in (ax.xaxis, ax.yaxis) for tick in (*axis.majorTicks, *axis.minorTicks)
    }
    assert sizes == {ax.xaxis.label.get_fontsize()}
    assert ax.yaxis.get_offset_text().get_fontsize() == ax.xaxis.label.get_fontsize()


def test_greys_are_turned_round_on_black() -> None:
    from matplotlib import style

    result = make(policies=8, rounds=[10**5, 10**6])
    colours = {}
    for background in ("default", "dark_background"):
        with style.context(background):
            lines = result.plot(bounds=True, size=np.array([3.3, 2.6])).get_lines()
            colours[background] = [to_hex(line.get_color()) for line in lines]
    light, dark = colours["default"], colours["dark_background"]
    assert light[:6] == dark[:6]
    assert (light[6], dark[6]) == ("#000000", "#ffffff")
    assert (light[8], dark[8]) == ("#222222", "#dddddd")
