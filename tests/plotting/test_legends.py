"""Where titles, legends and names stand: nothing is cut off, nothing covers curves or other words."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from semibandits import SimulationResult
from semibandits.plotting.end_labels import EndLabels
from semibandits.plotting.legends import within
from support.results import make

COLUMN = (3.3, 2.5)
NAMES = ("Kveton et al. 2015, Theorem 6", "Graves and Lai 1997, lower bound", "semibandits, D, gap-free")


def played(policies: int) -> SimulationResult:
    """Long names; the curves end within a factor of ten of each other."""
    names = tuple(f"CombUCB1(alpha={0.5 + p / 10}, init='paper')" for p in range(policies))
    return replace(make(policies=policies, rounds=np.unique(np.geomspace(1, 10_000, 40).astype(int))), policies=names)


def bounds_of(result: SimulationResult) -> dict[str, Any]:
    return {name: (k + 0.4) * result.regret.mean(axis=1)[-1] for k, name in enumerate(NAMES)}


def end_labels(ax: Axes) -> list[Text]:
    """Those that are drawn."""
    return [one for labels in ax.artists if isinstance(labels, EndLabels) for one in labels.arrange() if is_text(one)]


def is_text(one: Any) -> bool:
    return isinstance(one, Text) and bool(one.get_text())


def words(ax: Axes) -> dict[str, Bbox]:
    """Where all words are, in pixels."""
    texts = [ax.xaxis.label, ax.yaxis.label, *end_labels(ax)]
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        texts += [tick.label1 for tick in ticks if tick.label1.get_visible()]
    found = {f"{k}: {text.get_text()}": text.get_window_extent() for k, text in enumerate(texts) if is_text(text)}
    title = ax.title if ax.get_title() else ax._left_title  # type: ignore[attr-defined]
    if title.get_text():
        found["title"] = title.get_window_extent()
    if (legend := ax.get_legend()) is not None:
        found["legend"] = legend.get_window_extent()
    return found


def named(ax: Axes) -> tuple[list[str], int]:
    """The names in the picture, and how many are said to be left out."""
    legend = ax.get_legend()
    texts = [text.get_text() for text in [*(legend.get_texts() if legend is not None else ()), *end_labels(ax)]]
    more = [int(text.split()[2]) for text in texts if text.startswith("... and")]
    return [" ".join(text.split()) for text in texts if not text.startswith("... and")], sum(more)


def check(ax: Axes, names: list[str]) -> None:
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    found = words(ax)
    inside = figure.bbox.padded(1.0)
    assert [name for name, box in found.items() if not within(box, inside)] == []
    apart = [
        (one, other)
        for (one, box), (other, beside) in itertools.combinations(found.items(), 2)
        if box.padded(-0.5).overlaps(beside.padded(-0.5))
    ]
    assert apart == []
    boxes = [found["legend"]] if "legend" in found else []
    boxes += [text.get_window_extent() for text in end_labels(ax)]
    for line in ax.get_lines():
        path = line.get_transform().transform_path(line.get_path())
        assert not any(path.intersects_bbox(box, filled=False) for box in boxes)
    written, more = named(ax)
    assert set(written) <= set(names)
    assert len(written) + more == len(names)
    assert ax.bbox.height > 0.15 * figure.bbox.height


@pytest.mark.parametrize("kind", ["plain", "constrained", "own"])
@pytest.mark.parametrize(
    ("policies", "log", "bounded"),
    [
        (1, "", False),
        (1, "xy", True),
        (3, "", True),
        (3, "xy", False),
        (8, "x", True),
        (8, "xy", False),
        (20, "", True),
    ],
)
def test_nothing_is_cut_off_in_a_column(kind: str, policies: int, log: Any, bounded: bool) -> None:
    result = played(policies)
    bounds = bounds_of(result) if bounded else None
    if kind == "own":
        ax = result.plot(bounds, log=log, size=COLUMN)
    else:
        ax = pyplot.subplots(figsize=COLUMN, layout="constrained" if kind == "constrained" else None)[1]
        result.plot(bounds, log=log, ax=ax)
    assert isinstance(ax.figure, Figure)
    assert tuple(ax.figure.get_size_inches()) == COLUMN
    check(ax, [*result.short_names, *(NAMES if bounded else ())])
    pyplot.close("all")
