"""Live learners that forget: feedback that comes late, in parts or never, and logs."""

import numpy as np
import pytest
from numpy.typing import ArrayLike

from semibandits import Decision, Learner, errors, sets
from semibandits.policies import Discounted, PooledCTS, SlidingWindow
from semibandits.types import IndexPolicy, Items
from support.ledger import N_ITEMS, SET, answer, state, windowed


@pytest.mark.parametrize("window", [1, 2, 7, 30, 1000])
@pytest.mark.parametrize("seed", [0, 1])
def test_whatever_happens_the_window_is_what_it_is(window: int, seed: int) -> None:
    """Feedback after no rounds or many, of one item at a time, cancelled, logged: against all that was observed."""
    learner, ledger = windowed(window)
    generator = np.random.default_rng(seed)
    waiting: list[tuple[Decision, int]] = []
    for _ in range(150):
        kind = generator.random()
        if kind < 0.1:
            items, x = generator.integers(0, N_ITEMS, 3), generator.random(3)
            learner.observe(items, x)
            ledger.add(learner.round, items, x)
        elif kind < 0.2 and waiting:
            learner.cancel(waiting.pop(int(generator.integers(len(waiting))))[0].id)
        ledger.equals(learner)
        decision = learner.ask()
        ledger.equals(learner)
        delays = generator.integers(0, 2 * min(window, 20) + 1, 2)
        waiting.append((decision, int(delays[0])))
        ready = [pair for pair in waiting if pair[0].round + pair[1] <= learner.round]
        waiting = [pair for pair in waiting if pair not in ready]
        for one, _ in ready:
            x = generator.random(2)
            if generator.random() < 0.5:
                answer(learner, ledger, one, x)
            else:
                for item, value in zip(one.items.tolist(), x.tolist(), strict=True):
                    assert learner.tell(one.id, {item: value}) == 1
                    ledger.add(one.round, [item], [value])
                    ledger.equals(learner)
    ledger.equals(learner)


def test_feedback_inside_the_window_is_learned_until_its_round_leaves() -> None:
    learner, ledger = windowed(5, rounds=20)
    late = learner.ask()
    for _ in range(4):
        answer(learner, ledger, learner.ask(), [0.5, 0.5])
    before = learner.counts
    answer(learner, ledger, late, [1.0, 1.0])  # the window of the next round begins with that of `late`
    ledger.equals(learner)
    assert (learner.counts - before)[late.items].tolist() == [1, 1]
    decision = learner.ask()  # and here it leaves
    ledger.equals(learner)
    answer(learner, ledger, decision, [0.5, 0.5])
    ledger.equals(learner)
    assert learner.counts.sum() == 10


def test_feedback_later_than_the_window_is_accepted_and_not_learned() -> None:
    learner, ledger = windowed(5, rounds=20)
    late, partly = learner.ask(), learner.ask()
    first, second = partly.items.tolist()
    assert learner.tell(partly.id, {first: 0.5}) == 1
    ledger.add(partly.round, [first], [0.5])
    for _ in range(6):
        answer(learner, ledger, learner.ask(), [0.5, 0.5])
    before = state(learner)
    assert learner.tell(late.id, [0.9, 0.1]) == 2
    assert learner.tell(partly.id, {second: 0.25}) == 1
    assert state(learner) == before
    ledger.equals(learner)
    assert not learner.outstanding
    assert learner.tell(late.id, [0.9, 0.1]) == 0
    assert learner.tell(partly.id, {first: 0.5, second: 0.25}) == 0
    for id, weights in ((late.id, [0.9, 0.2]), (partly.id, [0.5, 0.5]), (partly.id, [0.4, 0.25])):
        with pytest.raises(errors.ContradictingFeedback):
            learner.tell(id, weights)
    assert state(learner) == before
    for _ in range(12):
        answer(learner, ledger, learner.ask(), [0.5, 0.5])
        ledger.equals(learner)


def test_what_a_cancelled_decision_was_told_stays_until_it_leaves() -> None:
    learner, ledger = windowed(4, rounds=9)
    decision = learner.ask()
    first, second = decision.items.tolist()
    learner.tell(decision.id, {first: 0.75})
    ledger.add(decision.round, [first], [0.75])
    learner.cancel(decision.id)
    with pytest.raises(errors.UnknownDecision, match="cancelled"):
        learner.tell(decision.id, {second: 0.5})
    ledger.equals(learner)
    for _ in range(6):
        answer(learner, ledger, learner.ask(), [0.5, 0.5])
        ledger.equals(learner)


def test_logged_observations_belong_to_the_round_they_came_in() -> None:
    learner, ledger = windowed(3)
    learner.observe([0, 0, 5, 0], [1.0, 0.5, 0.25, 0.0])  # before the first round
    ledger.add(0, [0, 0, 5, 0], [1.0, 0.5, 0.25, 0.0])
    left = []
    for _ in range(5):
        ledger.equals(learner)
        left.append(int(learner.counts.sum()))
        learner.cancel(learner.ask().id)
    assert left == [4, 4, 4, 0, 0]
    learner.observe({2: 1.0, 3: 0.5})  # in round 5, with decisions before and after
    ledger.add(5, [2, 3], [1.0, 0.5])
    for left_now in (2, 2, 2, 0):
        ledger.equals(learner)
        assert learner.counts.sum() == left_now
        learner.ask()


def test_an_ask_that_fails_forgets_nothing() -> None:
    learner, ledger = windowed(4, rounds=11)
    before = state(learner)
    for available, error in (
        ([], errors.EmptyFeasibleSet),
        ([3], errors.EmptyFeasibleSet),
        ([0, 17], errors.UnknownItem),
        (np.zeros(6, dtype=bool), errors.EmptyFeasibleSet),
    ):
        with pytest.raises(error):
            learner.ask(available=available)  # type: ignore[arg-type]
        assert state(learner) == before
    ledger.equals(learner)
    assert learner.ask(available=[2, 4]).items.tolist() == [2, 4]
    ledger.equals(learner)


class Moody(sets.TopK):
    """An oracle that sometimes fails."""

    fails = False

    def argmax(self, weights: ArrayLike) -> Items:
        if Moody.fails:
            raise RuntimeError("not today")
        return super().argmax(weights)


@pytest.mark.parametrize(
    "policy", [SlidingWindow(3), Discounted(0.9), PooledCTS(window=3), PooledCTS(discount=0.9)], ids=repr
)
def test_an_oracle_that_fails_makes_nothing_forgotten(policy: IndexPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = Learner(Moody(6, 2), policy)
    for _ in range(8):
        learner.tell(learner.ask().id, [0.25, 0.75])
    before = state(learner)
    monkeypatch.setattr(Moody, "fails", True)
    for _ in range(5):
        with pytest.raises(Exception, match="not today"):
            learner.ask()
        assert state(learner) == before
    monkeypatch.setattr(Moody, "fails", False)
    assert learner.ask().round == 9


@pytest.mark.parametrize("gamma", [0.7, 0.95, 0.999])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_order_of_feedback_does_not_matter_to_discounted(gamma: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    learners = [Learner(SET, Discounted(gamma)) for _ in range(2)]
    decisions: list[list[Decision]] = [[], []]
    for _ in range(40):
        available = np.sort(generator.permutation(N_ITEMS)[:2])  # so that both choose alike
        for learner, made in zip(learners, decisions, strict=True):
            made.append(learner.ask(available=available))
    weights = generator.random((40, 2))
    for i in range(40):
        learners[0].tell(decisions[0][i].id, weights[i])
    for i in generator.permutation(40).tolist():
        for k in generator.permutation(2).tolist():
            learners[1].tell(decisions[1][i].id, {int(decisions[1][i].items[k]): weights[i, k]})
    np.testing.assert_allclose(learners[1].scores(), learners[0].scores(), rtol=1e-9)
    np.testing.assert_allclose(learners[1].estimates, learners[0].estimates, rtol=1e-9)
    np.testing.assert_array_equal(learners[1].counts, learners[0].counts)
    for item in range(N_ITEMS):
        ages = [40 - (i + 1) for i in range(40) if item in decisions[0][i].items]
        xs = [
            weights[i, decisions[0][i].items.tolist().index(item)] for i in range(40) if item in decisions[0][i].items
        ]
        w = gamma ** np.array(ages, dtype=np.float64)
        assert learners[1].estimates[item] == pytest.approx(float((w * xs).sum() / w.sum()), rel=1e-9)


def test_logged_observations_count_as_those_of_the_current_round() -> None:
    learner, told = Learner(SET, Discounted(0.9)), Learner(SET, Discounted(0.9))
    for _ in range(5):
        for one in (learner, told):
            one.tell(one.ask(available=[0, 1]).id, [0.5, 0.25])
    learner.cancel(learner.ask(available=[2, 3]).id)
    learner.observe([2, 3], [0.75, 1.0])
    told.tell(told.ask(available=[2, 3]).id, [0.75, 1.0])
    assert state(learner) == state(told)
