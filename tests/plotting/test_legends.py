"""Where titles, legends and names stand: nothing is cut off, nothing covers curves or other words."""

import io
import itertools
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from semibandits import SimulationResult
from semibandits.plotting.end_labels import EndLabels, readable
from semibandits.plotting.legends import within, wrapped
from semibandits.plotting.spread import spread
from support.results import make

COLUMN = (3.3, 2.5)
NAMES = ("Kveton et al. 2015, Theorem 6", "Graves and Lai 1997, lower bound", "semibandits, D, gap-free")


def played(policies: int) -> SimulationResult:
    """Long names; the curves end within a factor of ten of each other."""
    names = tuple(f"CombUCB1(alpha={0.5 + p / 10}, init='paper')" for p in range(policies))
    return replace(make(policies=policies, rounds=np.unique(np.geomspace(1, 10_000, 40).astype(int))), policies=names)


def bounds_of(result: SimulationResult) -> dict[str, Any]:
    return {name: (k + 0.4) * result.regret.mean(axis=1)[-1] for k, name in enumerate(NAMES)}


def draw(ax: Axes) -> Figure:
    figure = ax.figure
    assert isinstance(figure, Figure)
    FigureCanvasAgg(figure).draw()
    return figure


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
    figure = draw(ax)
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


@pytest.mark.parametrize(
    ("policies", "log", "bounded", "kinds"),
    [
        (1, "", False, ["plain", "own"]),
        (1, "xy", True, ["plain", "constrained"]),
        (3, "", True, ["plain", "constrained"]),
        (3, "xy", False, ["plain", "own"]),
        (8, "x", True, ["plain", "own"]),
        (8, "xy", False, ["constrained"]),
        (20, "", True, ["plain", "constrained", "own"]),
    ],
)
def test_nothing_is_cut_off_in_a_column(policies: int, log: Any, bounded: bool, kinds: list[str]) -> None:
    result = played(policies)
    bounds = bounds_of(result) if bounded else None
    for kind in kinds:
        if kind == "own":
            ax = result.plot(bounds, log=log, size=COLUMN)
        else:
            ax = Figure(figsize=COLUMN, layout="constrained" if kind == "constrained" else None).subplots()
            result.plot(bounds, log=log, ax=ax)
        assert isinstance(ax.figure, Figure)
        assert tuple(ax.figure.get_size_inches()) == COLUMN
        check(ax, [*result.short_names, *(NAMES if bounded else ())])


def test_everything_is_within_a_tight_box() -> None:
    result = played(8)
    ax = Figure(figsize=COLUMN).subplots()
    result.plot(bounds_of(result), ax=ax)
    figure = draw(ax)
    figure.savefig(io.BytesIO(), bbox_inches="tight")
    draw(ax)
    inches = figure.get_tightbbox()
    whole = Bbox(figure.dpi * inches.get_points()).padded(1.0)
    assert [name for name, box in words(ax).items() if not within(box, whole)] == []


def test_names_stand_where_curves_end_and_keep_apart_when_limits_change() -> None:
    result = played(8)
    ax = result.plot(log="xy")
    for limits in (None, (1e-3, 1e9), (100.0, 200.0)):
        if limits is not None:
            ax.set_ylim(limits)
        check_ends(ax)
    ax.get_lines()[3].remove()
    ax.get_lines()[0].set_visible(False)
    written, _ = named(ax)
    assert written == [result.short_names[p] for p in (1, 2, 4, 5, 6, 7)]


def check_ends(ax: Axes) -> None:
    """From the least to the largest, in the colours of their curves, each led to from the end of its curve."""
    draw(ax)
    (labels,) = (one for one in ax.artists if isinstance(one, EndLabels))
    boxes = [text.get_window_extent() for text in end_labels(ax)]
    assert all(above.y0 > below.y0 + 0.5 * below.height for below, above in itertools.pairwise(boxes))
    assert all(box.x0 > ax.bbox.x1 for box in boxes)
    for line, leader, text in zip(ax.get_lines(), labels.leaders, labels.texts, strict=True):
        end = line.get_transform().transform(np.asarray(line.get_xydata())[-1])
        assert np.asarray(leader.get_ydata())[0] == pytest.approx(np.clip(end[1], ax.bbox.y0, ax.bbox.y1))
        assert np.asarray(leader.get_ydata())[1] == pytest.approx(text.get_position()[1])
        assert leader.get_color() == line.get_color()
        assert leader.get_linestyle() == line.get_linestyle()
        assert text.get_color() == readable(line.get_color())


def test_more_names_than_there_is_room_for() -> None:
    ax = played(60).plot(size=(3.3, 2.5))
    draw(ax)
    written, more = named(ax)
    assert len(written) + more == 60
    assert more > 0
    assert written == played(60).short_names[: len(written)]  # of the least regret
    assert all(box.y1 <= ax.bbox.y1 + 1.0 for box in (text.get_window_extent() for text in end_labels(ax)))
    assert named(played(28).plot())[1] == 0  # a picture of its own grows


def test_a_legend_that_covers_curves_anywhere_goes_below() -> None:
    flat = make(policies=2, rounds=range(1, 40))
    ax = Figure().subplots()
    flat.plot({f"bound {k}": np.full(39, float(k)) for k in range(0, 90, 15)}, ax=ax, log="", legend=True)
    check(ax, [*flat.short_names, *(f"bound {k}" for k in range(0, 90, 15))])
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 < ax.bbox.y0


def test_columns_of_a_figure() -> None:
    """No picture covers the other's words, and margins that are wide enough stay as they are."""
    figure = Figure(figsize=(7.0, 2.8))
    axes = figure.subplots(1, 2)
    for ax, policies in zip(axes, (3, 8), strict=True):
        played(policies).plot(ax=ax)
    draw(axes[0])
    left, right = (list(words(ax).values()) for ax in axes)
    assert not any(box.overlaps(other) for box in left for other in [*right, axes[1].bbox])
    assert within(Bbox.union([*left, *right]), figure.bbox.padded(1.0))
    figure = Figure(figsize=(9.0, 7.0))
    by_hand = figure.add_axes((0.3, 0.4, 0.3, 0.3))
    roomy = figure.add_subplot(position=(0.65, 0.4, 0.2, 0.3))
    for ax in (by_hand, roomy):
        played(3).plot(ax=ax, title="")
    np.testing.assert_allclose(by_hand.get_position().bounds, (0.3, 0.4, 0.3, 0.3))


@pytest.mark.parametrize(
    ("legend", "policies", "at_ends", "listed"),
    [
        (None, 4, 0, 4),
        (None, 5, 5, 0),
        (True, 5, 0, 5),
        (False, 5, 0, 0),
        ("ends", 1, 1, 0),
        ("inside", 5, 0, 5),
        ("below", 2, 0, 2),
    ],
)
def test_places(legend: Any, policies: int, at_ends: int, listed: int) -> None:
    ax = make(policies=policies).plot(legend=legend)
    box = ax.get_legend()
    assert len(end_labels(ax)) == at_ends
    assert len(box.get_texts() if box is not None else ()) == listed
    note = "mean of 5 runs, 95% interval"
    if box is not None:
        assert box.get_title().get_text() == note
    assert (note in ax.get_title("left")) == (box is None)
    assert make(policies=policies).plot(legend=legend, title=False).get_title("left") == ""


def test_another_result_joins_the_names() -> None:
    ax = make(policies=5).plot()
    make(policies=2, rounds=[1, 10]).plot(ax=ax, legend="ends", labels=["a", "b"])
    assert sorted(named(ax)[0]) == ["Policy(0)", "Policy(1)", "Policy(2)", "Policy(3)", "Policy(4)", "a", "b"]
    assert ax.get_legend() is None


def test_lines_are_broken_between_words_and_never_in_formulas() -> None:
    ax = Figure(figsize=COLUMN).subplots()

    def lines(text: str, width: float) -> list[str]:
        return wrapped(ax, text, 10.0, width).split("\n")

    assert lines("some words", 1e6) == ["some words"]
    assert lines("two\nlines", 1e6) == ["two", "lines"]
    assert lines("", 10.0) == [""]
    many = lines("words " * 30, 200.0)
    assert " ".join(many) == ("words " * 30).strip()
    assert 3 < len(many) < 10
    assert "".join(lines("x" * 100, 100.0)) == "x" * 100
    assert len(lines("x" * 100, 100.0)) > 3
    assert r"$a + b + c + d$" in lines(r"mean of $a + b + c + d$ over many runs", 80.0)
    assert r"$\$ + \$$" in lines(r"a \$ more $\$ + \$$ and many more words", 40.0)


def test_pictures_can_be_kept() -> None:
    again = pickle.loads(pickle.dumps(played(8).plot().figure))
    check(again.axes[0], played(8).short_names)


def test_twins_and_insets_do_not_move_pictures() -> None:
    figure = Figure(figsize=(9.0, 7.0))
    ax = figure.subplots()
    ax.twinx()
    figure.add_axes((0.5, 0.5, 0.2, 0.2))
    before = ax.get_position().bounds
    played(3).plot(ax=ax, legend="inside")
    assert ax.get_position().bounds == before


def test_spread() -> None:
    assert spread([0.0, 0.0, 9.0], [2.0, 1.0]) == [-1.0, 1.0, 9.0]
    assert spread([0.0, 0.0, 9.0], [2.0, 1.0], (0.0, 8.0)) == [0.0, 2.0, 8.0]
    assert spread([5.0, 5.0, 5.0], [4.0, 4.0], (0.0, 8.0)) == [0.0, 4.0, 8.0]


def test_letters_are_dark_enough() -> None:
    assert readable("#0072B2") == "#0072b2"
    assert readable("#000000") == "#000000"
    for light in ("#56B4E9", "#F0E442", "white"):
        red, green, blue = np.asarray(to_rgb(readable(light))) ** 2.2
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue == pytest.approx(0.3, abs=0.01)
