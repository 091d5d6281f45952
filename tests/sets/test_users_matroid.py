"""The user's own matroid: what is none is found out, and the user's test is called with care."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from semibandits import errors, sets


def is_matching(items: Any) -> bool:
    """Of a path of three edges and another edge: no two at a node, so that edge 1 alone excludes edges 0 and 2."""
    return not (1 in items and (0 in items or 2 in items))


def within_budget(items: Any) -> bool:
    return float(np.array([5.0, 2.0, 2.0, 2.0])[items].sum()) <= 6.0


@pytest.mark.parametrize(
    ("test", "says"),
    [
        (
            is_matching,
            r"\[1(, 3)?\] and \[0, 2(, 3)?\] are independent, but no item of the larger can be added to the smaller",
        ),
        (within_budget, r"\[0\] and \[\d, \d\] are independent|\[0\] and \[1, 2, 3\] are independent"),
        (lambda items: items.size in (0, 2), r"is independent, but its part \[\d\] is not|and \[\d, \d\] are indep"),
        (lambda items: items.size != 1 and items.size < 4, "this is no matroid"),
        (lambda items: items.size > 0, "no items at all must be independent"),
    ],
)
def test_what_is_no_matroid(test: Callable[[Any], bool], says: str) -> None:
    with pytest.raises(errors.InvalidSet, match=says):
        sets.Matroid(test, 4)
    if "no items" not in says:
        sets.Matroid(test, 4, trials=0)


def test_the_users_test_is_called_with_care() -> None:
    calls = 0

    def at_most_three(items: Any) -> bool:
        nonlocal calls
        calls += 1
        if items.size and items[-1] == 99 and items.size == broken:
            raise ZeroDivisionError("oh")
        items[:] = 0  # its own copy
        return bool(items.size <= 3)

    broken = -1
    feasible = sets.Matroid(at_most_three, 100, trials=0)
    calls = 0
    assert feasible.argmax(np.arange(100.0)).tolist() == [97, 98, 99]
    assert calls == 3
    calls = 0
    feasible.best_with_each(np.arange(100.0))
    assert calls <= 3 + 100 + 97 * 2
    assert feasible.solver() is feasible.single() is feasible.program() is None
    broken = 1
    with pytest.raises(errors.OracleFailed, match=r"independent\(\) raised ZeroDivisionError: oh"):
        feasible.argmax(np.arange(100.0))
    with pytest.raises(errors.OracleFailed, match="truth value"):
        sets.Matroid(lambda items: np.array([True, False]), 4)
    with pytest.raises(errors.Unsupported, match="made of Python code"):
        sets.Matroid(lambda items: True, 4).to_spec()


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: sets.Matroid(7, 3), "independent must be callable, got 7"),
        (lambda: sets.Matroid(bool, 0), "n_items must be an integer >= 1"),
        (lambda: sets.Matroid(lambda items: True, 3, trials=-1), "trials must be an integer >= 0, got -1"),
        (lambda: sets.Matroid(lambda items: True, 3, seed="a"), "seed must be an integer >= 0, got 'a'"),
        (lambda: sets.Matroid(lambda items: True, 3, seed=-1), "seed must be an integer >= 0, got -1"),
    ],
)
def test_bad_input(build: Callable[[], object], says: str) -> None:
    with pytest.raises(errors.BadArgument, match=says):
        build()


def test_names() -> None:
    matroid = sets.Matroid(is_matching, 1)
    assert repr(matroid) == "Matroid(is_matching, n_items=1)"
    assert repr(sets.Matroid(is_matching, 1, bases=False)) == "Matroid(is_matching, n_items=1, bases=False)"
    assert repr(matroid.restrict(include=[0])) == "Matroid(is_matching, n_items=1, restricted)"
