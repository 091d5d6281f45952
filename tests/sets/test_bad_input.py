"""Sets refuse what makes no sense, and say what they got."""

from collections.abc import Callable

import numpy as np
import pytest

from semibandits import errors, sets


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda: sets.TopK(0, 1), errors.InvalidSet, "got 0"),
        (lambda: sets.TopK(3, 4), errors.InvalidSet, "at most n_items=3, got 4"),
        (lambda: sets.TopK(3, 0), errors.InvalidSet, "got 0"),
        (lambda: sets.TopK(3.0, 1), errors.InvalidSet, "got 3.0"),
        (lambda: sets.TopK(True, 1), errors.InvalidSet, "got True"),
        (lambda: sets.Enumerated([]), errors.EmptyFeasibleSet, "empty"),
        (lambda: sets.Enumerated([[]]), errors.InvalidSet, "got 0"),
        (lambda: sets.Enumerated([[0, 0]]), errors.InvalidSet, r"\[0, 0\]"),
        (lambda: sets.Enumerated([[0], [-1]]), errors.InvalidSet, "solution 1 contains the negative item -1"),
        (lambda: sets.Enumerated([[0, 5]], n_items=3), errors.InvalidSet, "item 5"),
        (lambda: sets.Enumerated([["a"]]), errors.InvalidSet, "'a'"),
        (lambda: sets.Enumerated(5), errors.InvalidSet, "got 5"),
        (lambda: sets.Enumerated([0, 1]), errors.InvalidSet, "solution 0 must be distinct integers, got 0"),
        (lambda: sets.DagPaths([("a", ["b"])], "a", "b"), errors.InvalidSet, "hashable"),
        (lambda: sets.DagPaths([("a", "b")], ["a"], "b"), errors.InvalidSet, "hashable"),
        (lambda: sets.Oracle(list, 4, 2, ratio="a"), errors.BadArgument, "got 'a'"),
        (lambda: sets.Oracle(list, 4, 2, signed="no"), errors.BadArgument, "got 'no'"),
        (lambda: sets.DagPaths([], 0, 1), errors.InvalidSet, "got none"),
        (lambda: sets.DagPaths([(0, 1, 2)], 0, 1), errors.InvalidSet, r"\(0, 1, 2\)"),
        (lambda: sets.DagPaths([(0, 1)], 0, 0), errors.InvalidSet, "0 twice"),
        (lambda: sets.DagPaths([(0, 1)], 0, 7), errors.InvalidSet, "target 7"),
        (lambda: sets.DagPaths([(0, 1)], 7, 1), errors.InvalidSet, "source 7"),
        (lambda: sets.DagPaths([(0, 1), (1, 1)], 0, 1), errors.CyclicGraph, "1 -> 1"),
        (lambda: sets.DagPaths([(0, 1), (1, 2), (2, 1), (2, 3)], 0, 3), errors.CyclicGraph, "cycle: 2 -> 1 -> 2"),
        (lambda: sets.DagPaths([(0, 1), (2, 3)], 0, 3), errors.EmptyFeasibleSet, "no path leads from 0 to 3"),
        (lambda: sets.GridPaths(0), errors.InvalidSet, "got 0"),
        (lambda: sets.KPaths(7, 2), errors.InvalidSet, "multiple of k=2, got 7"),
        (lambda: sets.KPaths(0, 2), errors.InvalidSet, "got 0"),
        (lambda: sets.Oracle(3, 4, 2), errors.BadArgument, "callable, got 3"),
        (lambda: sets.Oracle(list, 4, 2, contains=3), errors.BadArgument, "callable, got 3"),
        (lambda: sets.Oracle(list, 0, 1), errors.InvalidSet, "got 0"),
        (lambda: sets.Oracle(list, 4, 5), errors.BadArgument, "at most n_items=4, got 5"),
        (lambda: sets.Oracle(list, 4, 2, ratio=0.0), errors.BadArgument, "got 0.0"),
        (lambda: sets.Oracle(list, 4, 2, ratio=1.5), errors.BadArgument, "got 1.5"),
    ],
)
def test_construction(build: Callable[[], object], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        build()


@pytest.mark.parametrize(
    "feasible",
    [
        sets.TopK(4, 2),
        sets.Enumerated([[0, 1], [2, 3]]),
        sets.GridPaths(1),
        sets.KPaths(4, 2),
        sets.Oracle(sets.TopK(4, 2).argmax, 4, 2),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1.0, np.nan, 0.0, 0.0], "nan for item 1"),
        ([1.0, 0.0, np.inf, 0.0], "inf for item 2"),
        ([1.0, 0.0], r"shape \(2,\)"),
        (1.0, r"shape \(\)"),
        ("heavy", "'heavy'"),
        (["1", "2", "3", "4"], "numbers"),
        ([1j, 0, 0, 0], "numbers"),
        ([1.0, None, "x", 0.0], "numbers"),
    ],
)
def test_weights(feasible: sets.TopK, weights: object, says: str) -> None:
    with pytest.raises(errors.BadWeights, match=says):
        feasible.argmax(weights)  # type: ignore[arg-type]


@pytest.mark.parametrize(("items", "says"), [([4], "item 4"), ([-1], "item -1"), ([1, 1], "distinct"), (["a"], "'a'")])
def test_restrict_names_unknown_items(items: list[int], says: str) -> None:
    for feasible in (sets.TopK(4, 2), sets.Enumerated([[0], [3]]), sets.GridPaths(1), sets.KPaths(4, 2)):
        with pytest.raises(errors.UnknownItem, match=says):
            feasible.restrict(include=items)
        with pytest.raises(errors.UnknownItem, match=says):
            feasible.restrict(exclude=items)


def test_integers_of_any_size() -> None:
    assert sets.KPaths(300, np.int8(3)).max_size == 3
    assert sets.GridPaths(np.int8(8)).n_items == 144
    assert sets.TopK(np.uint16(300), np.int8(3)).argmax(np.arange(300)).tolist() == [297, 298, 299]


def test_a_set_keeps_nothing_of_the_users() -> None:
    mine = np.array([0, 2])
    listed = sets.Enumerated([mine, [1]])
    mine[1] = 1
    assert listed.argmax([1.0, 0.0, 1.0]).tolist() == [0, 2]
    assert sets.DagPaths(np.array([[0, 1], [1, 2]]), 0, 2).argmax([1.0, 1.0]).tolist() == [0, 1]


def test_no_items_in_any_form() -> None:
    listed = sets.Enumerated([[], [0]])
    for nothing in ([], (), np.array([]), np.array([], dtype=np.int64), set()):
        assert listed.contains(nothing)
        assert len(listed.restrict(include=nothing, exclude=nothing)) == 2
    assert sets.Oracle(lambda w: np.array([]), 2, 1).argmax([0.0, 0.0]).tolist() == []
