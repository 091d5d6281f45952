"""The constants against their closed forms, and the figures that were worked out apart from the package."""

import math
import sys
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from semibandits.errors import BadArgument, Unsupported
from semibandits.experiments.paper import constants
from semibandits.experiments.paper.constants import KS, table

CASCADE = {1: 6, 2: 24, 3: 54, 5: 150, 8: 349.6, 10: 497.6, 16: 1032.9, 50: 5326.1, 100: 13047.8, 1000: 194433}


def test_constants_are_those_of_the_theorems() -> None:
    rows = table()
    assert tuple(row.K for row in rows) == KS
    for row in rows:
        K = row.K
        assert row.theorem_2 == pytest.approx(48.0 * K ** (4.0 / 3.0))
        assert row.theorem_4 == pytest.approx(267.0 * K)
        assert row.paper == min(row.theorem_2, row.theorem_4)
        assert row.amortised == pytest.approx(24.0 * (K - 1) if K > 1 else 6.0)
        assert row.lower == pytest.approx(K / 4.0)
        assert row.gain == pytest.approx(row.paper / row.amortised)
    cascade = {row.K: row.cascade for row in rows}
    assert {K: cascade[K] for K in CASCADE} == pytest.approx(CASCADE, rel=1e-4)


def test_upper_bounds_lie_above_the_lower_one_in_their_order() -> None:
    for row in table(range(1, 120)):
        assert row.lower < row.amortised <= row.cascade * (1.0 + 1e-12)
        assert row.cascade < row.paper


def test_theorem_4_is_the_smaller_from_173_on() -> None:
    before, after = table([172, 173])
    assert before.theorem_2 < before.theorem_4
    assert after.theorem_4 < after.theorem_2


def test_the_table_is_printed() -> None:
    lines = str(table()).splitlines()
    assert len(lines) == 3 + len(KS)
    assert len({len(line) for line in lines[2:]} - {len(lines[2])}) <= 1
    for line, row in zip(lines[3:], table(), strict=True):
        numbers = [float(word.replace(",", "")) for word in line.split()]
        expected = [row.K, row.theorem_2, row.theorem_4, row.paper, row.cascade, row.amortised, row.gain, row.lower]
        assert numbers == pytest.approx(expected, rel=1e-3, abs=0.051)


@pytest.mark.parametrize("Ks", [[], [0], [2.5], [True], 3, ["2"]])
def test_bad_sizes(Ks: Any) -> None:
    with pytest.raises(BadArgument, match="K"):
        table(Ks)


def test_the_picture() -> None:
    ax = constants.draw()
    assert isinstance(ax, Axes)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    curves = {str(line.get_label()): line for line in ax.get_lines() if not str(line.get_label()).startswith("_")}
    closed = {
        "Theorem 2: 48 K^(4/3)": lambda K: 48.0 * K ** (4.0 / 3.0),
        "Theorem 4: 267 K": lambda K: 267.0 * K,
        "amortised: 24 (K-1)": lambda K: np.where(K > 1, 24.0 * (K - 1), 6.0),
        "lower bound: K/4": lambda K: K / 4.0,
    }
    for name, formula in closed.items():
        K = np.asarray(curves[name].get_xdata())
        assert (K[0], K[-1]) == (1, 1000)
        assert np.asarray(curves[name].get_ydata()) == pytest.approx(formula(K))
    assert set(curves) == {*closed, "cascade, at its best"}
    assert len({line.get_color() for line in curves.values()}) == 5
    written = {text.get_text() for text in ax.texts}
    assert set(curves) < written  # named beside the curve, not by colour alone
    assert any("K = 173" in text for text in written)
    (dot,) = [line for line in ax.get_lines() if line.get_marker() == "o"]
    assert (list(dot.get_xdata()), list(dot.get_ydata())) == ([173], [pytest.approx(267.0 * 173)])
    assert math.isclose(ax.get_xlim()[1], 1000)
    ax.figure.draw_without_rendering()


def test_the_picture_in_axes_of_the_user() -> None:
    ax = Figure().add_subplot()
    assert constants.draw(ax) is ax
    with pytest.raises(BadArgument, match="Matplotlib Axes"):
        constants.draw("here")  # type: ignore[arg-type]


def test_names_of_the_curves_do_not_overlap() -> None:
    ax = constants.draw()
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(Unsupported, match="plots need Matplotlib"):
        constants.draw()
