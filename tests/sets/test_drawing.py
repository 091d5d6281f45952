"""Sets as pictures."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from semibandits import errors, sets
from semibandits.plotting import axes, curves, graphs, layout
from semibandits.sets.base import BuiltIn
from support.families import FAMILIES
from support.pictures import render

DAG = sets.DagPaths(
    [("s", "a"), ("s", "a"), ("s", "b"), ("a", "b"), ("b", "t"), ("s", "t"), ("a", "t"), ("b", "t")], "s", "t"
)
DATES = sets.Assignment(
    ["ann", "bob", "cleo"], ["mon", "tue", "wed", "thu"], forbidden=[("ann", "tue"), ("bob", "thu")]
)


def edges(ax: Axes, gid: str) -> Any:
    """The edges drawn as chosen, or as others."""
    (found,) = [one for one in ax.collections if isinstance(one, LineCollection) and one.get_gid() == gid]
    return found


def frames(ax: Axes) -> list[tuple[int, int]]:
    """(row, column) of the cells framed as chosen."""
    found = [patch for patch in ax.patches if patch.get_gid() == "chosen"]
    assert all(to_hex(patch.get_edgecolor()) == axes.CHOSEN.lower() for patch in found)
    return [(round(p.get_y() + 0.46), round(p.get_x() + 0.46)) for p in found if isinstance(p, Rectangle)]


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_every_family_can_be_drawn(family: str, data: st.DataObject) -> None:
    feasible, solutions = data.draw(FAMILIES[family])
    assert isinstance(feasible, BuiltIn)
    number = st.floats(-10.0, 10.0) | st.just(float("nan"))
    estimates = data.draw(st.none() | st.lists(number, min_size=feasible.n_items, max_size=feasible.n_items))
    render(feasible.draw(data.draw(st.sampled_from(solutions)), estimates))


# Graphs


def test_a_path_on_a_grid() -> None:
    grid = sets.GridPaths(3)
    path = [0, 2, 4, 6, 13, 20]
    assert grid.contains(path)
    ax = grid.draw(path)
    render(ax)
    assert ax.get_title("left") == "GridPaths(3)\n6 of 24 edges chosen"
    chosen, others = edges(ax, "chosen"), edges(ax, "others")
    assert len(chosen.get_segments()) == 6
    assert len(others.get_segments()) == 18
    assert {to_hex(colour) for colour in chosen.get_colors()} == {axes.CHOSEN.lower()}
    assert {to_hex(colour) for colour in others.get_colors()} == {axes.OTHER.lower()}
    assert chosen.get_linewidths()[0] > 2.0 * others.get_linewidths()[0]
    for line, item in zip(chosen.get_segments(), path, strict=True):  # where rows and columns are
        (row, column), (to_row, to_column) = grid.edges[item]  # type: ignore[misc]
        assert np.hypot(*(line[0] - (column, -row))) < 0.1
        assert np.hypot(*(line[-1] - (to_column, -to_row))) < 0.3
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["chosen", "source", "target"]
    assert {text.get_text() for text in ax.texts} == {"(0, 0)", "(3, 3)"}


def test_estimates_are_colours() -> None:
    estimates = np.array([0.1, 0.2, np.nan, 0.4, 0.5, 0.6, np.nan, 0.8])
    ax = DAG.draw([0, 6], estimates)
    render(ax)
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "estimate"
    assert bar.get_ylim() == (0.1, 0.8)
    others = edges(ax, "others")  # items 1, 2, 3, 4, 5, 7
    light = [sum(colour[:3]) for colour in others.get_colors()]
    assert light[0] > light[2] > light[3] > light[4] > light[5]  # the larger, the darker
    assert [dash[1] is None for dash in others.get_linestyles()] == [True, False, True, True, True, True]
    assert len(edges(ax, "casing").get_segments()) == len(edges(ax, "chosen").get_segments()) == 2
    legend = ax.get_legend()
    assert legend is not None
    assert "unknown" in [text.get_text() for text in legend.get_texts()]
    assert len(DAG.draw([0, 6], [np.nan] * 8).figure.axes) == 1  # nothing to explain
    render(DAG.draw([0, 6], [0.5] * 8))


def test_huge_graphs() -> None:
    grid = sets.GridPaths(25)
    path = grid.argmax(np.zeros(grid.n_items))
    ax = grid.draw(path)
    render(ax)
    assert ax.get_title("left").replace("\n", " ").endswith("50 of 1,300 edges chosen; the others are too many to draw")
    assert len(edges(ax, "chosen").get_segments()) == 50
    assert not len(edges(ax, "others").get_segments())
    render(grid.draw())
    wide = [(i, i + 1) for i in range(graphs.MOST_NODES)]
    render(sets.GraphicMatroid(wide).draw())
    render(sets.GraphicMatroid(wide).draw([0, 7]))


def test_names_of_nodes() -> None:
    assert {text.get_text() for text in DAG.draw().texts} == {"s", "a", "b", "t"}
    named = sets.DagPaths([("depot", "$north_1$"), ("$north_1$", "a very long name indeed")], "depot", "$north_1$")
    ax = named.draw([0])
    render(ax)
    assert {text.get_text() for text in ax.texts} == {"depot", "$north_1$", "a very long..."}
    many = sets.DagPaths([(i, j) for i in range(99) for j in (i + 1, i + 2)], 0, 99)
    assert {text.get_text() for text in many.draw().texts} == {"0", "99"}


def lines(names: list[tuple[Any, Any]], directed: bool, radius: float = 0.1) -> tuple[layout.Layout, list[Any]]:
    nodes = list(dict.fromkeys(node for edge in names for node in edge))
    tails, heads = [nodes.index(tail) for tail, _ in names], [nodes.index(head) for _, head in names]
    where = layout.place(len(nodes), tails, heads, directed)
    return where, curves.lines(where, tails, heads, radius)


def test_layers_from_left_to_right() -> None:
    where, drawn = lines(DAG.edges, directed=True)
    x = dict(zip("sabt", where.nodes[:, 0], strict=True))
    assert x["s"] < x["a"] < x["b"] < x["t"]
    assert set(where.bends) == {2, 5, 6}  # edges that pass a layer
    for line in drawn:
        assert (np.diff(line[:, 0]) >= 0.0).all()
        for node in where.nodes:  # no edge passes through a node
            assert np.hypot(*(line - node).T).min() >= 0.099
    again, same = lines(DAG.edges, directed=True)
    np.testing.assert_array_equal(where.nodes, again.nodes)
    for line, other in zip(drawn, same, strict=True):
        np.testing.assert_array_equal(line, other)


def test_edges_of_the_same_nodes_lie_apart() -> None:
    where, drawn = lines([("a", "b"), ("a", "b"), ("b", "a"), ("b", "c")], directed=True)
    middles = [line[len(line) // 2] for line in drawn[:3]]
    for i in range(3):
        assert np.hypot(*(drawn[i][0] - where.nodes[1 if i == 2 else 0])) == pytest.approx(0.1, abs=0.02)
        for j in range(i):
            assert np.hypot(*(middles[i] - middles[j])) > 0.2
    _, loops = lines([("a", "a"), ("a", "a"), ("a", "b")], directed=False)
    assert (np.ptp(loops[1], axis=0) > np.ptp(loops[0], axis=0) + 0.05).all()
    assert np.ptp(loops[0], axis=0).min() > 0.2


def test_distances_as_in_the_graph() -> None:
    chain, _ = lines([(i, i + 1) for i in range(9)], directed=False)
    far = np.hypot(*(chain.nodes - chain.nodes[0]).T)
    np.testing.assert_allclose(far / far[1], np.arange(10), rtol=1e-6)
    ring, _ = lines([(i, (i + 1) % 12) for i in range(12)], directed=True)
    sides = np.hypot(*(ring.nodes - np.roll(ring.nodes, 1, axis=0)).T)
    np.testing.assert_allclose(sides, sides.mean(), rtol=0.05)
    pieces, _ = lines([(0, 1), (2, 3), (4, 4)], directed=False)
    assert pieces.nodes[[0, 1], 0].max() < pieces.nodes[[2, 3], 0].min()
    assert pieces.nodes[[2, 3], 0].max() < pieces.nodes[4, 0]
    for left, right in ((0, 2), (2, 0), (0, 1), (1, 0)):
        cyclic = layout.place(4, [0, 1, 2, 3], [1, 2, 3, 0], True, ends=(left, right))
        assert cyclic.nodes[left, 0] < cyclic.nodes[right, 0]
        assert cyclic.nodes[left, 1] == pytest.approx(cyclic.nodes[right, 1])


def test_detours_around_other_nodes() -> None:
    where = layout.Layout(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), {})
    (direct, past) = curves.lines(where, [0, 0], [1, 2], 0.2)
    assert np.ptp(direct[:, 1]) == 0.0
    assert np.hypot(*(past - (1.0, 0.0)).T).min() > 0.25


# Matrices


def test_an_assignment() -> None:
    items = [DATES.item("ann", "wed"), DATES.item("bob", "tue"), DATES.item("cleo", "mon")]
    estimates = np.linspace(-1.0, 1.0, DATES.n_items)
    estimates[0] = np.nan
    ax = DATES.draw(items, estimates)
    render(ax)
    assert sorted(frames(ax)) == [(0, 2), (1, 1), (2, 0)]
    assert sum(patch.get_hatch() == "////" for patch in ax.patches) == 2
    assert [label.get_text() for label in ax.get_yticklabels()] == ["ann", "bob", "cleo"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["mon", "tue", "wed", "thu"]
    numbers = {text.get_position(): text.get_text() for text in ax.texts}
    assert len(numbers) == DATES.n_items
    assert numbers[(0, 0)] == "?"
    assert numbers[(3, 2)] == "1.00"
    assert ax.figure.axes[1].get_ylabel() == "estimate"
    picture: Any = ax.images[0].get_array()
    light = [float(picture[row, column, :3].sum()) for row, column in DATES.pairs]
    assert light[0] == 3.0  # unknown
    assert light[1:] == sorted(light[1:], reverse=True)
    assert light[1] > light[-1] + 1.0
    assert "3 of 10 pairs chosen" in ax.get_title("left")
    plain = DATES.draw(items)
    render(plain)
    assert not plain.texts
    assert sorted(frames(plain)) == sorted(frames(ax))
    large = sets.Assignment(70, 70)
    ax = large.draw(range(0, 4900, 71), np.append(np.nan, np.arange(4899.0)))
    render(ax)
    assert len(frames(ax)) == 70
    assert len(ax.get_xticklabels()) <= 40
    assert not ax.texts


def test_rows_on_top_change_no_picture() -> None:
    ax = sets.Intersection(DATES, [[1.0] * 10], upper=[3.0]).draw([1])
    assert frames(ax) == [(0, 2)]
    assert ax.get_title("left").startswith("Intersection(")


# Bars


def test_bars() -> None:
    named = sets.Product(sets.DagPaths([("a", "b"), ("a", "b")], "a", "b"), sets.DagPaths([("$x$", "y")], "$x$", "y"))
    ax = named.draw([1, 2], [0.25, np.nan, -0.5])
    render(ax)
    bars = [(bar.get_width(), to_hex(bar.get_facecolor()).upper()) for bar in ax.patches if isinstance(bar, Rectangle)]
    assert bars == [(0.25, axes.OTHER), (-0.5, axes.CHOSEN), (0.0, axes.CHOSEN)]  # the unknown last
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0:a->b", "1:$x$->y", "0:a->b #2"]
    assert [label.get_fontweight() for label in ax.get_yticklabels()] == ["normal", "bold", "bold"]
    assert [text.get_text() for text in ax.texts] == ["unknown"]
    assert ax.texts[0].xy[1] == 2  # type: ignore[attr-defined]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row above
    ax = named.draw([1])
    render(ax)
    assert not ax.patches
    chosen, others = ax.collections
    assert len(chosen.get_offsets()) == 1  # type: ignore[arg-type]
    assert len(others.get_offsets()) == 2  # type: ignore[arg-type]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0:a->b", "0:a->b #2", "1:$x$->y"]


@pytest.mark.parametrize(
    ("k", "estimated", "rows", "says"),
    [
        (3, True, 40, "3 of 500 items chosen, shown with the largest 37 others"),
        (3, False, 40, "3 of 500 items chosen, shown with the first 37 others"),
        (60, True, 40, "60 of 500 items chosen, the largest 40 of them shown"),
    ],
)
def test_many_items(k: int, estimated: bool, rows: int, says: str) -> None:
    items = range(499, 499 - k, -1)
    ax = sets.TopK(500, k).draw(items, np.arange(500) % 491 if estimated else None)
    render(ax)
    shown = [int(label.get_text()) for label in ax.get_yticklabels()]
    assert len(shown) == len(set(shown)) == rows
    assert len(set(shown) & set(items)) == min(k, 40)
    assert ax.get_title("left").replace("\n", " ").endswith(says)
    if estimated:
        assert [one % 491 for one in shown] == sorted((one % 491 for one in shown), reverse=True)
        assert k > 40 or 490 in shown


# What can be wrong


@pytest.mark.parametrize("feasible", [sets.TopK(3, 1), sets.GridPaths(1), sets.Assignment(2, 2)], ids=repr)
def test_bad_input(feasible: BuiltIn) -> None:
    n = feasible.n_items
    for items, says in (([n], f"item {n}"), ([-1], "item -1"), ([0, 0], "distinct"), (["a"], "'a'"), (5, "got 5")):
        with pytest.raises(errors.UnknownItem, match=says):
            feasible.draw(items)  # type: ignore[arg-type]
    for estimates, says in (
        ([0.5] * (n + 1), rf"expected {n} estimates, one per item, got an array of shape \({n + 1},\)"),
        ([[0.5] * n], r"shape \(1,"),
        (["a"] * n, "got \\['a'"),
        (0.5, r"shape \(\)"),
        ([np.inf] + [0.0] * (n - 1), "finite, or NaN where unknown, got inf for item 0"),
    ):
        with pytest.raises(errors.BadWeights, match=says):
            feasible.draw([], estimates)
    with pytest.raises(errors.BadArgument, match="ax must be Matplotlib Axes, got <Figure"):
        feasible.draw(ax=Figure())


@pytest.mark.parametrize("feasible", [sets.TopK(3, 1), DAG, DATES], ids=repr)
def test_on_axes_that_are_there(feasible: BuiltIn) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert feasible.draw([0], ax=left) is left
    assert feasible.draw([0], np.arange(feasible.n_items), ax=right) is right
    render(left)
    part = Figure(layout="constrained").subfigures(1, 2)[0].subplots()
    feasible.draw([0], ax=part)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    with pytest.raises(errors.Unsupported, match=r'Matplotlib: pip install "\.\[plot\]"'):
        sets.TopK(3, 1).draw()


def test_pyplot_is_joined_only_where_it_is_in_use() -> None:
    code = (
        "import sys, semibandits as sb\n"
        "grid = sb.sets.GridPaths(2)\n"
        "assert not {'matplotlib', 'scipy'} & sys.modules.keys()\n"
        "grid.draw([0]).figure\n"
        "assert 'matplotlib.pyplot' not in sys.modules and 'networkx' not in sys.modules\n"
        "from matplotlib import pyplot\n"
        "print(grid.draw([0]) is pyplot.gca(), len(pyplot.get_fignums()))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "True 1"
