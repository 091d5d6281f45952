"""The shipped checks find what is wrong with a policy that chooses whole solutions."""

from typing import Any

import numpy as np
import pytest

from semibandits import sets
from semibandits.errors import ConformanceError
from semibandits.policies import CombUCB1
from semibandits.rng import below
from semibandits.testing import check_policy
from semibandits.types import FeasibleSet, Game, Items, Note, Policy, State, Weights
from support import worlds
from support.tasks import long
from support.wide import LIVE, Lottery, Sums, Tally


@pytest.mark.parametrize("policy", [Lottery(), Sums()], ids=repr)
def test_check_policy_takes_a_users_own(policy: Policy) -> None:
    check_policy(policy, trials=60)
    check_policy(policy, trials=60, feasible=worlds.LISTED)
    check_policy(policy, trials=60, feasible=sets.GridPaths(2), seed=3)


class Restless(Lottery):
    """Chooses otherwise when it is asked again."""

    calls = 0

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        Restless.calls += 1
        return super().choose(state, feasible, round, below(key, Restless.calls))


class Changeable(Lottery):
    """The same items, another note."""

    calls = 0.0

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        Changeable.calls += 1.0
        return super().choose(state, feasible, round, key)[0], np.array([Changeable.calls])


class Counting(Lottery):
    """Remembers that it was asked."""

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        state.counts[0] += 1.0
        return super().choose(state, feasible, round, key)


class InPlace(Lottery):
    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        state.counts[items] += 1.0
        return state


class Greedy(Lottery):
    """One item more than there may be."""

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        items = np.arange(feasible.max_size + (round > 20), dtype=np.int64)
        return items, None


class Backwards(Lottery):
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        items, note = super().choose(state, feasible, round, key)
        return items[::-1].copy(), note


class Naming(Lottery):
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return super().choose(state, feasible, round, key)[0].tolist(), None  # type: ignore[return-value]


class Dividing(Lottery):
    """0/0 once nothing was ever gained."""

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        after = super().learn(state, feasible, round, items, weights, note, key)
        after.worth[items[:1]] = np.nan
        return after


class Growing(Lottery):
    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        after = super().learn(state, feasible, round, items, weights, note, key)
        return after._replace(worth=np.append(after.worth, 0.0))


class Shedding(Lottery):
    """One array less."""

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        return tuple(super().learn(state, feasible, round, items, weights, note, key))[:2]


class Listing(Lottery):
    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return list(super().start(game, feasible))

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return super().choose(Tally(*state), feasible, round, key)


class Whole(Lottery):
    """Expects its note whole."""

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        assert note is not None and note.size == feasible.max_size  # noqa: PT018
        return super().learn(state, feasible, round, items, weights, note, key)


class Silent(Lottery):
    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return super().choose(state, feasible, round, key)[0]  # type: ignore[return-value]


class Forgets(Lottery):
    def learn(  # type: ignore[override]
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> None:
        super().learn(state, feasible, round, items, weights, note, key)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Restless(), "choose must depend on state, round and key alone"),
        (Changeable(), "choose must depend on state, round and key alone"),
        (Counting(), "choose must .*(not change the state|change nothing)"),
        (InPlace(), "learn must return a new state and leave the old one as it was"),
        (Greedy(), r"choose returned \[0, 1, 2, 3\], which is not feasible"),
        (Backwards(), r"items must ascend without repeats, got \["),
        (Naming(), r"items must be a vector of int64, got \["),
        (Dividing(), "the state holds NaN after"),
        (Growing(), "the arrays of a state must keep their shapes"),
        (Shedding(), "must keep their shapes"),
        (Listing(), r"a state must be a tuple of NumPy arrays of int64 or float64, got \[array"),
        (Whole(), "AssertionError"),
        (Silent(), r"choose must return \(items, note\), got array"),
        (Forgets(), "learn must return the new state, a tuple of arrays, got None"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_check_policy_finds_in_a_users_own(policy: Policy, says: str) -> None:
    with pytest.raises(ConformanceError, match=says):
        check_policy(policy, trials=60)


class Bare(Lottery):
    """A number where an array should be: it cannot be saved."""

    def start(self, game: Game, feasible: FeasibleSet) -> State:
        return (*super().start(game, feasible), 3)

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        return (*super().learn(Tally(*state[:3]), feasible, round, items, weights, note, key), 3)


def test_check_policy_finds_a_state_that_could_not_be_saved() -> None:
    with pytest.raises(ConformanceError, match="NumPy arrays"):
        check_policy(Bare(), trials=20)


@pytest.mark.parametrize("name", [name if name.startswith("CombLin") else long(name) for name in LIVE])
def test_our_own_keep_the_contract(name: str) -> None:
    check_policy(LIVE[name](8), trials=20)


class Totals(Lottery):
    """Takes in clicks that were added up."""

    def observe_many(self, state: State, counts: Weights, sums: Weights, squares: Weights) -> State | None:
        return state._replace(counts=state.counts + counts, told=state.told + int(counts.sum()))


class WrongTotals(Lottery):
    def observe_many(self, state: State, counts: Weights, sums: Weights, squares: Weights) -> State | None:
        return state._replace(counts=state.counts + sums, told=state.told + int(counts.sum()))


class TotalsInPlace(Lottery):
    def observe_many(self, state: State, counts: Weights, sums: Weights, squares: Weights) -> State | None:
        state.counts[:] += counts
        return state


def test_check_policy_adds_up() -> None:
    check_policy(Totals(), trials=20)
    with pytest.raises(ConformanceError, match="what learn gives for each click"):
        check_policy(WrongTotals(), trials=20)
    with pytest.raises(ConformanceError, match="leave the old one as it was"):
        check_policy(TotalsInPlace(), trials=20)


class Doubled(CombUCB1):
    @staticmethod
    def observe_many(s: Any, counts: Any, sums: Any, squares: Any, round: Any, p: Any) -> Any:
        return (s[0] + counts, s[1] + 2.0 * sums, s[2])


class Short(CombUCB1):
    @staticmethod
    def observe_many(s: Any, counts: Any, sums: Any, squares: Any, round: Any, p: Any) -> Any:
        return (s[0] + counts, s[1] + sums)


def test_check_policy_adds_up_clicks_of_an_item() -> None:
    with pytest.raises(ConformanceError, match="what observe gives for each click, but number 1 differs"):
        check_policy(Doubled())
    with pytest.raises(ConformanceError, match="observe_many must return 3 numbers, got 2"):
        check_policy(Short())
