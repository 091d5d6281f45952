"""Changes that are made as a whole or not at all."""

from operator import setitem
from typing import Any

import pytest

from semibandits import Learner, policies, sets
from semibandits._util.atomic import Changes, Step
from semibandits._util.forks import ForkLock


def test_a_change_that_changes_something_itself_is_given_up() -> None:
    lock, kept = ForkLock(), [0]
    changes = Changes(lock)

    def work(*_: Any) -> tuple[None, list[Step]]:
        changes.make(None, lambda: (None, []), ())
        return None, [(setitem, kept, 0, 1)]

    with pytest.raises(RuntimeError, match="1000 times"):
        changes.make(None, work, ())
    assert kept == [0]
    assert changes.make(None, lambda: (7, [(setitem, kept, 0, 2)]), ()) == 7
    assert kept == [2]


def test_a_formula_that_calls_the_learner_is_told_so() -> None:
    class Nosy(policies.CombUCB1):
        def clock(self, round: int, key: int, p: Any) -> Any:  # type: ignore[override]
            learner.observe([0], [1.0])
            return (0.0,)

    learner = Learner(sets.TopK(3, 1), Nosy(init="optimistic"), seed=0)
    with pytest.raises(RuntimeError, match="a policy's formula may do that"):
        learner.ask()
    assert learner.round == 0
    assert learner.outstanding == []
