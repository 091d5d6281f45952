"""Live use of policies that choose whole solutions, a user's own first of all."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semibandits import Learner, errors, rng
from semibandits.types import FeasibleSet, Game, Items, Note, State, Weights
from support.wide import EIGHT, Lottery, Spy, asked, chances, known


def unchanged(learner: Learner, error: type[Exception], says: str | None, act: Callable[[], object]) -> None:
    before = known(learner)
    with pytest.raises(error, match=says):
        act()
    assert known(learner) == before


@pytest.mark.parametrize(
    ("sense", "bounds"), [("max", (0.0, 1.0)), ("min", (0.0, 1.0)), ("max", (2.0, 5.0)), ("min", (-1.0, 3.0))]
)
def test_a_policy_is_called_as_the_contract_says(sense: Any, bounds: tuple[float, float]) -> None:
    """Beside the policy driven by hand: the game, the keys, x of weights and costs, rounds of late feedback."""
    lo, hi = bounds
    policy, seed = Lottery(), 12
    learner = Learner(EIGHT, policy, sense=sense, bounds=bounds, seed=seed)
    offset = (lo if sense == "max" else -hi) / (hi - lo)
    state = policy.start(Game(4, 3, 0, True, offset), EIGHT)
    generator, late = np.random.default_rng(1), []
    for round in range(1, 41):
        items, note = policy.choose(state, EIGHT, round, rng.key(seed, 0, round, rng.POLICY))
        decision = learner.ask()
        assert (decision.round, decision.items.tolist()) == (round, items.tolist())
        late.append((decision, items, note))
        while late and generator.random() < 0.6:
            told, items, note = late.pop(int(generator.integers(len(late))))
            w = generator.uniform(lo, hi, items.size)
            x = (w - lo) / (hi - lo) if sense == "max" else (hi - w) / (hi - lo)
            assert learner.tell(told.id, w) == items.size
            state = policy.learn(state, EIGHT, told.round, items, x, note, rng.key(seed, 0, told.round, rng.FEEDBACK))
    for ours, theirs in zip(learner._agent.state, state, strict=True):  # type: ignore[union-attr]
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(learner.counts, state.counts)


def test_the_game_is_told() -> None:
    games: list[Game] = []

    class Curious(Lottery):
        def start(self, game: Game, feasible: FeasibleSet) -> State:
            games.append(game)
            return super().start(game, feasible)

    Learner(EIGHT, Curious(), sense="min", bounds=(2.0, 4.0))
    Learner(EIGHT, Curious(), bounds=(-1.0, 3.0))
    Learner(EIGHT, Curious())
    assert games == [Game(4, 3, 0, True, -2.0), Game(4, 3, 0, True, -0.25), Game(4, 3, 0, True, 0.0)]


@given(st.data())
def test_any_order_and_any_parts_give_the_same_state(data: st.DataObject) -> None:
    """But for rounding."""
    seed = data.draw(st.integers(0, 50))
    whole, parted = Learner(EIGHT, Lottery(), seed=seed), Learner(EIGHT, Lottery(), seed=seed)
    parts: list[tuple[str, dict[int, float]]] = []
    for _ in range(data.draw(st.integers(1, 8))):
        one, other = whole.ask(), parted.ask()
        assert one.items.tolist() == other.items.tolist()
        weights = [data.draw(st.integers(0, 8)) / 8.0 for _ in one.items]
        assert whole.tell(one.id, weights) == len(weights)
        pairs = data.draw(st.permutations(list(zip(one.items.tolist(), weights, strict=True))))
        cut = data.draw(st.integers(0, len(pairs)))
        parts += [(other.id, dict(part)) for part in (pairs[:cut], pairs[cut:])]
    for id, part in data.draw(st.permutations(parts)):
        assert parted.tell(id, part) == len(part)
        assert parted.tell(id, part) == 0
    assert not parted.outstanding
    one, other = (learner._agent.state for learner in (whole, parted))  # type: ignore[union-attr]
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_allclose(one.worth, other.worth, rtol=1e-12)
    assert one.told[1] == other.told[1]
    np.testing.assert_array_equal(whole.counts, parted.counts)


def test_notes_are_cut_to_the_part_that_is_told() -> None:
    spy = Spy()
    learner = Learner(EIGHT, spy, seed=3)
    solutions = EIGHT.listed(100)
    assert solutions is not None
    decision = asked(learner, lambda one: one.items.size == 3)
    a, b, c = decision.items.tolist()
    note = dict(zip((a, b, c), chances(solutions, decision.items).tolist(), strict=True))
    learner.tell(decision.id, {c: 0.5})
    learner.tell(decision.id, {a: 0.25, b: 0.75, c: 0.5})  # c is a repeat
    first, second = spy.learned
    assert (first.items, first.x, first.note) == ([c], [0.5], [note[c]])
    assert (second.items, second.x, second.note) == ([a, b], [0.25, 0.75], [note[a], note[b]])
    assert first.key == second.key == rng.key(3, 0, decision.round, rng.FEEDBACK)
    assert first.round == second.round == decision.round
    later = asked(learner, lambda one: one.items.size == 3)
    learner.tell(later.id, {int(later.items[2]): 0.5, int(later.items[0]): 0.25})  # not in their order
    third = spy.learned[-1]
    assert third.items is not None
    assert dict(zip(third.items, third.x or [], strict=True)) == {int(later.items[2]): 0.5, int(later.items[0]): 0.25}
    assert third.note == chances(solutions, np.array(third.items)).tolist()


@pytest.mark.parametrize(
    ("note", "part"),
    [
        (np.arange(6.0).reshape(3, 2), [[2.0, 3.0]]),
        (np.arange(4.0), [0.0, 1.0, 2.0, 3.0]),
        (np.array(7.0), 7.0),
        ("word", "word"),
        (None, None),
    ],
    ids=["rows", "one for every item", "a number", "a word", "none"],
)
def test_other_notes(note: Any, part: Any) -> None:
    """Only what has an entry or row for each chosen item is cut."""

    class Fixed(Spy):
        def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
            return np.array([0, 1, 3]), note

    spy = Fixed()
    learner = Learner(EIGHT, spy)
    decision = learner.ask()
    learner.tell(decision.id, {1: 0.5})
    assert spy.learned[-1].note == part
    learner.tell(decision.id, {0: 0.5, 3: 0.5})
    assert spy.learned[-1].items == [0, 3]


def test_cancelled_repeated_and_contradicting_feedback() -> None:
    learner = Learner(EIGHT, Lottery(), seed=1)
    first = asked(learner, lambda one: one.items.size == 2)
    given_up = asked(learner, lambda one: one.items.size == 3)
    item, other = first.items.tolist()
    learner.tell(first.id, {item: 0.5})
    unchanged(learner, errors.ContradictingFeedback, f"item {item} of", lambda: learner.tell(first.id, [0.25, 0.25]))
    unchanged(learner, errors.UnknownItem, "not part of", lambda: learner.tell(first.id, {item: 0.5, 2: 0.1, 3: 0.1}))
    for wrong in ([0.5, math.nan], [0.5, 1.5], [0.5], {other: "0.5"}, 0.5, [0.5, -0.0001]):
        unchanged(learner, errors.BadWeights, None, lambda wrong=wrong: learner.tell(first.id, wrong))  # type: ignore[misc]
    assert learner.tell(first.id, {item: 0.5}) == 0
    assert learner.tell(first.id, [0.5, 1.0]) == 1
    assert learner.tell(first.id, [0.5, 1.0]) == 0
    unchanged(learner, errors.ContradictingFeedback, "already has", lambda: learner.tell(first.id, {other: 0.0}))
    learner.tell(given_up.id, {int(given_up.items[1]): 0.25})
    counts = learner.counts
    learner.cancel(given_up.id)
    unchanged(learner, errors.UnknownDecision, "cancelled", lambda: learner.tell(given_up.id, [0.25, 0.25, 0.25]))
    np.testing.assert_array_equal(learner.counts, counts)  # what it had stays learned
    assert learner._agent.state.counts.tolist() == counts.tolist()  # type: ignore[union-attr]


def test_a_part_of_the_set_is_played_and_the_whole_is_learned_on() -> None:
    spy = Spy()
    learner = Learner(EIGHT, spy, seed=0, labels=["a", "b", "c", "d"])
    for available in ([0, 3], ["a", "d"], np.array([True, False, False, True])):
        for _ in range(8):
            decision = learner.ask(available=available)
            assert decision.items.tolist() in ([0, 3], [0], [3])
            learner.tell(decision.id, [0.5] * decision.items.size)
            part = spy.chose[-1].feasible
            assert part is not EIGHT
            assert sorted(one.tolist() for one in part.listed(10) or []) == [[0], [0, 3], [3]]
            assert spy.learned[-1].feasible is EIGHT
            assert max(spy.learned[-1].note) <= 2 / 3  # a chance among these three
    unchanged(learner, errors.EmptyFeasibleSet, "available", lambda: learner.ask(available=[1, 2]))
    assert spy.chose[-1].round == learner.round


@pytest.mark.parametrize(
    "chosen",
    [
        np.array([1, 2]),
        np.array([0, 0]),
        np.array([0, 9]),
        np.array([-1]),
        np.array([0, 1, 2, 3]),
        np.array([0.0, 1.5]),
        "01",
        None,
        np.array([[0, 1]]),
        np.array([], dtype=np.int64),
    ],
    ids=str,
)
def test_what_is_not_feasible_is_refused(chosen: Any) -> None:
    class Wrong(Lottery):
        def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
            return (chosen, None) if round == 3 else super().choose(state, feasible, round, key)

    learner, good = Learner(EIGHT, Wrong(), seed=5), Learner(EIGHT, Lottery(), seed=5)
    for one in (learner, good):
        learner_told(one, 2)
    unchanged(learner, errors.InfeasibleSolution, None, learner.ask)
    unchanged(learner, errors.InfeasibleSolution, None, learner.ask)  # it stays in round 3
    assert learner.round == good.round == 2
    part = Learner(EIGHT, Constant([0, 1]))
    assert part.ask().items.tolist() == [0, 1]
    unchanged(part, errors.InfeasibleSolution, r"\[0, 1\], which is not feasible", lambda: part.ask(available=[0, 3]))


class Constant(Lottery):
    def __init__(self, items: list[int]) -> None:
        self.__dict__["items"] = items

    def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
        return np.array(self.items), None  # type: ignore[attr-defined]


def learner_told(learner: Learner, rounds: int) -> None:
    for _ in range(rounds):
        decision = learner.ask()
        learner.tell(decision.id, [0.5] * decision.items.size)


def test_notes_do_not_slip_where_items_are_not_in_order() -> None:
    """Refused, or put in order together with the note."""

    class Backwards(Spy):
        def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
            return np.array([3, 1, 0]), np.array([0.3, 0.1, 0.05])

    spy = Backwards()
    learner = Learner(EIGHT, spy)
    try:
        decision = learner.ask()
    except errors.InfeasibleSolution:
        assert (learner.round, learner.outstanding) == (0, [])
        return
    assert decision.items.tolist() == [0, 1, 3]
    learner.tell(decision.id, [0.5, 0.5, 0.5])
    assert spy.learned[0].note == [0.05, 0.1, 0.3]


def test_exceptions_change_nothing() -> None:
    class Moody(Lottery):
        broken = False

        def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
            if Moody.broken:
                raise ZeroDivisionError("in choose")
            return super().choose(state, feasible, round, key)

        def learn(self, *arguments: Any) -> State:
            if Moody.broken:
                raise KeyError("in learn")
            return super().learn(*arguments)

    learner, good = Learner(EIGHT, Moody(), seed=5), Learner(EIGHT, Lottery(), seed=5)
    for _ in range(6):
        decision, same = learner.ask(), good.ask()
        assert decision.items.tolist() == same.items.tolist()
        Moody.broken = True
        unchanged(learner, ZeroDivisionError, "in choose", learner.ask)
        unchanged(learner, KeyError, "in learn", lambda: learner.tell(decision.id, [0.5] * decision.items.size))  # noqa: B023
        unchanged(learner, KeyError, "in learn", lambda: learner.observe([0, 1, 0], [0.5, 0.5, 0.5]))
        part = {int(decision.items[0]): 0.5}
        unchanged(learner, KeyError, "in learn", lambda: learner.tell(decision.id, part))  # noqa: B023
        Moody.broken = False
        for one, told in ((learner, decision), (good, same)):
            one.tell(told.id, [0.5] * told.items.size)
    assert known(learner)[2:] == known(good)[2:]


def test_logged_observations() -> None:
    spy = Spy()
    learner = Learner(EIGHT, spy, seed=2, sense="min", bounds=(0.0, 2.0))
    learner.observe([3, 0, 3, 1, 3], [2.0, 1.0, 0.0, 0.5, 1.0])
    assert learner.counts.tolist() == [1, 1, 0, 3]
    np.testing.assert_allclose(learner.estimates, [1.0, 0.5, np.nan, 1.0])
    seen = [(item, x) for call in spy.learned for item, x in zip(call.items or [], call.x or [], strict=True)]
    assert sorted(seen) == [(0, 0.5), (1, 0.75), (3, 0.0), (3, 0.5), (3, 1.0)]
    for call in spy.learned:
        assert call.items == sorted(set(call.items or []))  # ascending without repeats, as ever
        assert call.note is None
        assert call.feasible is EIGHT
    assert len({call.key for call in spy.learned}) == len(spy.learned) == 3
    learner.observe({3: 0.5})
    assert spy.learned[-1].key not in {call.key for call in spy.learned[:-1]}
    unchanged(learner, errors.BadWeights, "bounds", lambda: learner.observe([0, 1], [0.5, 2.5]))
    wants = Learner(EIGHT, Spy(needs_note=True))
    unchanged(wants, errors.Unsupported, "its own decisions only", lambda: wants.observe([0], [0.5]))


class Second(Lottery):
    """The second layer of a log is too much for it."""

    def learn(
        self, state: State, feasible: FeasibleSet, round: int, items: Items, weights: Weights, note: Note, key: int
    ) -> State:
        if state.told[0]:
            raise RuntimeError("enough")
        return super().learn(state, feasible, round, items, weights, note, key)


def test_a_log_is_learned_whole_or_not_at_all() -> None:
    learner = Learner(EIGHT, Second())
    unchanged(learner, RuntimeError, "enough", lambda: learner.observe([0, 1, 0], [0.5, 0.5, 0.5]))
    learner.observe([0, 1], [0.5, 0.5])
    assert learner.counts.tolist() == [1, 1, 0, 0]
