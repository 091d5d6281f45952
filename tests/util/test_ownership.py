"""Whose code it is, and that what others wrote is checked."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from semibandits import Learner, environments, errors, policies, sets
from semibandits._util.ownership import ours, vouched
from semibandits.oracle import solve
from semibandits.types import Items
from support.misdeeds import Odd, Pairs
from support.worlds import Steps, Wobbling


class Renamed(sets.TopK):
    """A user's, with nothing changed."""


class Wrong(sets.TopK):
    def argmax(self, weights: ArrayLike) -> Items:
        return np.array([0, 99])


class Twice(policies.FPL):
    """One of ours with another choice."""

    def choose(self, state, feasible, round, key):  # type: ignore[no-untyped-def]
        items, note = super().choose(state, feasible, round, key)
        return items[[0, 0]], note


def test_whose_it_is() -> None:
    own = (sets.TopK(5, 2), sets.Product([sets.TopK(3, 1)] * 2), environments.Bernoulli([0.5]), policies.CombUCB1())
    assert all(map(ours, own))
    others = (
        Pairs(-1),
        Renamed(5, 2),
        sets.Product([sets.TopK(3, 1), Renamed(3, 1)]),
        Steps([0.5]),
        Wobbling(),
        Odd(-1),
    )
    assert not any(map(ours, others))
    changed = sets.TopK(5, 2)
    changed.argmax = lambda weights: np.array([0, 1])  # type: ignore[method-assign]
    assert not ours(changed)


def test_verified_is_not_inherited() -> None:
    """Ours say that they are verified; a user's subclass of them is checked all the same."""
    assert Wrong.verified
    with pytest.raises(errors.InfeasibleSolution, match=r"unknown item in \[0, 99\]"):
        solve(Wrong(5, 2), np.zeros(5))
    learner = Learner(sets.TopK(5, 2), Twice(eta=0.1))
    with pytest.raises(errors.InfeasibleSolution, match=r"Twice.* must return distinct integers"):
        learner.ask()
    assert learner.round == 0


class Stated(sets.TopK):
    """A user's that says so itself."""

    verified = True
    asked = 0

    def contains(self, items: Any) -> bool:
        Stated.asked += 1
        return super().contains(items)


class Inherited(Stated):
    """Of the same user."""


def test_who_says_verified_himself_is_not_asked_for_it() -> None:
    """What is no set of known items is found in any case."""
    assert not vouched(Renamed(5, 2))
    assert vouched(Stated(5, 2))
    assert vouched(Inherited(5, 2))
    assert solve(Stated(5, 2), np.arange(5.0)).tolist() == [3, 4]
    assert Stated.asked == 0
    wrong = Stated(5, 2)
    wrong.argmax = lambda weights: np.array([0, 99])  # type: ignore[method-assign]
    with pytest.raises(errors.InfeasibleSolution, match=r"unknown item in \[0, 99\]"):
        solve(wrong, np.zeros(5))
