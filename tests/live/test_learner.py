"""The learner: late, reordered, partial and repeated feedback; costs, bounds, labels; what it has learned."""

import math
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semibandits import Learner, environments, errors, policies, rng, sets
from semibandits.types import FeasibleSet
from support import strategies
from support.reference import Solution


def play(learner: Learner, world: environments.Uniform, rounds: int, seed: int = 0) -> list[list[int]]:
    """Plays in order and returns the choices."""
    choices = []
    for _ in range(rounds):
        decision = learner.ask()
        key = rng.key(seed, 0, decision.round, rng.WORLD)
        learner.tell(decision.id, world.weights(decision.round, key, decision.items))
        choices.append(decision.items.tolist())
    return choices


def ucb(**options: object) -> policies.CombUCB1:
    return policies.CombUCB1(**options)  # type: ignore[arg-type]


# Feedback


@settings(max_examples=60)
@given(st.permutations(range(8)), st.sampled_from(["paper", "all", "optimistic"]), st.data())
def test_order_of_feedback_does_not_matter(order: list[int], init: str, data: st.DataObject) -> None:
    """Eight decisions, Init's among them, asked first and told in any order, item by item: the same statistics.

    Weights are multiples of 1/8, so that sums are exact; see the next test for others.
    """
    solutions = [[0, 1, 2], [0, 1, 3], [1, 4], [0, 4, 5]]
    learners = [Learner(sets.Enumerated(solutions), ucb(init=init)) for _ in range(2)]
    eighths = st.lists(st.integers(0, 8).map(lambda i: i / 8), min_size=6, max_size=6)
    weights = [data.draw(eighths) for _ in range(8)]
    asked = [[learner.ask() for _ in range(8)] for learner in learners]
    assert [d.items.tolist() for d in asked[0]] == [d.items.tolist() for d in asked[1]]
    for i in range(8):
        learners[0].tell(asked[0][i].id, [weights[i][item] for item in asked[0][i].items])
    pieces = data.draw(st.permutations([(i, int(item)) for i in order for item in asked[1][i].items]))
    for i, item in pieces:
        assert learners[1].tell(asked[1][i].id, {item: weights[i][item]}) == 1
    assert learners[0].counts.tolist() == learners[1].counts.tolist()
    np.testing.assert_array_equal(learners[0].estimates, learners[1].estimates)
    np.testing.assert_array_equal(learners[0].scores(), learners[1].scores())
    assert learners[0].ask().items.tolist() == learners[1].ask().items.tolist()


def test_order_of_feedback_does_not_matter_beyond_rounding() -> None:
    results = []
    for reverse in (False, True):
        learner = Learner(sets.TopK(6, 3), ucb())
        asked = [learner.ask() for _ in range(30)]
        weights = [np.random.default_rng(i).random(3) for i in range(30)]
        for i in reversed(range(30)) if reverse else range(30):
            learner.tell(asked[i].id, weights[i])
        results.append(learner)
    assert results[0].counts.tolist() == results[1].counts.tolist()
    np.testing.assert_allclose(results[0].estimates, results[1].estimates, rtol=1e-14)


def test_partial_feedback_counts_each_item_once() -> None:
    learner = Learner(sets.TopK(3, 3), ucb())
    decision = learner.ask()
    assert learner.tell(decision.id, {1: 0.5}) == 1
    assert learner.counts.tolist() == [0, 1, 0]
    assert learner.outstanding == [decision]
    assert len({decision, *learner.outstanding}) == 1
    assert learner.tell(decision.id, {1: 0.5, 2: 0.25}) == 1
    assert learner.tell(decision.id, [1.0, 0.5, 0.25]) == 1
    assert learner.counts.tolist() == [1, 1, 1]
    assert learner.outstanding == []


def test_repeats_are_harmless_and_contradictions_are_errors() -> None:
    learner = Learner(sets.TopK(3, 2), ucb())
    decision = learner.ask()
    assert learner.tell(decision.id, [0.5, 1.0]) == 2
    assert learner.tell(decision.id, [0.5, 1.0]) == 0
    assert learner.tell(decision.id, {0: 0.5}) == 0
    with pytest.raises(
        errors.ContradictingFeedback, match=r"item 1 of decision .* already has the weight 1\.0, got 0\.75"
    ):
        learner.tell(decision.id, [0.5, 0.75])
    other = learner.ask()
    learner.tell(other.id, {2: 0.5})
    with pytest.raises(errors.ContradictingFeedback):
        learner.tell(other.id, {2: 0.75, int(other.items[0]): 1.0})
    assert learner.counts.tolist() == [1, 1, 1]
    assert learner.estimates.tolist() == [0.5, 1.0, 0.5]


def test_cancelled_decisions_are_forgotten_and_their_items_are_unseen_again() -> None:
    learner = Learner(sets.TopK(4, 2), ucb())
    first, second = learner.ask(), learner.ask()
    assert (first.items.tolist(), second.items.tolist()) == ([0, 1], [2, 3])
    learner.cancel(first.id)
    learner.cancel(first.id)
    with pytest.raises(errors.UnknownDecision, match="was cancelled"):
        learner.tell(first.id, [1.0, 1.0])
    assert learner.ask().items.tolist() == [0, 1]  # Init still needs them
    learner.tell(second.id, [0.0, 0.0])
    learner.cancel(second.id)  # nothing is left to wait for
    assert learner.tell(second.id, [0.0, 0.0]) == 0


def test_init_with_feedback_outstanding() -> None:
    """Items in outstanding decisions count as covered; with only such left, unseen items score at the bound."""
    learner = Learner(sets.TopK(4, 2), ucb())
    first, second = learner.ask(), learner.ask()
    assert [first.items.tolist(), second.items.tolist()] == [[0, 1], [2, 3]]
    learner.tell(first.id, [0.5, 0.25])
    third = learner.ask()
    expected = [0.5 + math.sqrt(1.5 * math.log(2)), 0.25 + math.sqrt(1.5 * math.log(2)), 1.0, 1.0]
    assert third.items.tolist() == np.argsort(-np.array(expected), kind="stable")[:2].tolist()
    learner.tell(second.id, [0.0, 0.0])
    learner.tell(third.id, [0.5, 0.25])
    assert learner.counts.tolist() == [2, 2, 1, 1]


def test_warm_start_from_logged_data() -> None:
    learner = Learner(sets.TopK(4, 2), ucb(), labels=["a", "b", "c", "d"])
    learner.observe(["a", "b", "a", "a"], [1.0, 0.5, 0.0, 0.5])
    learner.observe({"c": 0.75})
    assert learner.counts.tolist() == [3, 1, 1, 0]
    np.testing.assert_array_equal(learner.estimates, [0.5, 0.5, 0.75, np.nan])
    decision = learner.ask()
    assert 3 in decision.items  # the only item Init still needs
    learner.tell(decision.id, [0.25, 1.0])
    assert learner.counts.tolist() == [4, 1, 1, 1]  # what was logged is not overwritten
    assert learner.estimates[0] == pytest.approx(1.75 / 4)
    assert learner.round == 1


def test_warm_start_equals_the_plain_mean() -> None:
    generator = np.random.default_rng(3)
    items, weights = generator.integers(0, 7, 5000), generator.random(5000)
    learner = Learner(sets.TopK(7, 2), ucb())
    learner.observe(items, weights)
    assert learner.counts.tolist() == np.bincount(items, minlength=7).tolist()
    np.testing.assert_allclose(learner.estimates, [weights[items == item].mean() for item in range(7)], rtol=1e-13)


# Choosing


def test_available_limits_one_choice() -> None:
    learner = Learner(sets.TopK(5, 2), ucb(), labels=list("abcde"))
    assert learner.ask(available=[4, 1, 3]).items.tolist() == [1, 3]
    assert learner.ask(available=["a", "e"]).items.tolist() == [0, 4]
    assert learner.ask(available=np.array([True, True, False, False, False])).items.tolist() == [0, 1]
    assert learner.ask(available=[False, True, False, True, False]).items.tolist() == [1, 3]
    before = learner.round
    with pytest.raises(errors.EmptyFeasibleSet):
        learner.ask(available=[2])
    with pytest.raises(errors.UnknownItem, match="'z'"):
        learner.ask(available=["z"])
    with pytest.raises(errors.BadArgument, match="mask of 5 items"):
        learner.ask(available=np.array([True, True]))
    assert learner.round == before
    assert learner.ask().items.tolist() == [0, 2]  # 2 is the only one Init has not asked for


@settings(max_examples=60)
@given(st.data())
def test_available_chooses_the_best_of_what_is_left(data: st.DataObject) -> None:
    feasible, solutions = data.draw(strategies.enumerated())
    learner = Learner(feasible, ucb(), uncovered="ignore")
    play(learner, environments.Uniform(np.zeros(feasible.n_items), np.ones(feasible.n_items)), 20)
    available = data.draw(st.sets(st.integers(0, feasible.n_items - 1)))
    left = [one for one in solutions if set(one) <= available]
    if not left:
        with pytest.raises(errors.EmptyFeasibleSet):
            learner.ask(available=available)
        return
    scores = learner.scores()
    best = max(sum(scores[item] for item in one) for one in left)
    assert scores[learner.ask(available=available).items].sum() == pytest.approx(best, rel=1e-12)


def test_costs_are_mapped_back_before_the_oracle_sees_them() -> None:
    """One edge of cost 5 against three of cost 1 each: maximising 1 - cost would take the three for their number."""
    roads = sets.DagPaths([("a", "b"), ("a", "x"), ("x", "y"), ("y", "b")], "a", "b")
    for cost_of_short, best in ((5.0, [1, 2, 3]), (2.0, [0])):
        learner = Learner(roads, ucb(), sense="min", bounds=(0.0, 10.0))
        costs = np.array([cost_of_short, 1.0, 1.0, 1.0])
        for _ in range(3000):
            decision = learner.ask()
            learner.tell(decision.id, costs[decision.items])
        assert learner.best().tolist() == best
        np.testing.assert_allclose(learner.estimates, costs)
        radius = 10.0 * np.sqrt(1.5 * np.log(3000) / learner.counts)
        np.testing.assert_allclose(learner.scores(), costs - radius, atol=1e-9)
        assert learner.ask().items.tolist() == roads.argmax(-learner.scores()).tolist()


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("power", [-3, 1, 10])
def test_scaling_by_a_power_of_two_changes_nothing(sense: str, power: int) -> None:
    n_items, factor = 12, 2.0**power
    grid = sets.DagPaths([*sets.GridPaths(2).edges], (0, 0), (2, 2))
    low, high = np.full(n_items, 1.0), np.random.default_rng(4).uniform(1.5, 3.0, n_items)
    plain = Learner(grid, ucb(), sense=sense, bounds=(1.0, 3.0))  # type: ignore[arg-type]
    scaled = Learner(grid, ucb(), sense=sense, bounds=(factor, 3.0 * factor))  # type: ignore[arg-type]
    choices = play(plain, environments.Uniform(low, high), 400)
    assert choices == play(scaled, environments.Uniform(low * factor, high * factor), 400)
    assert len(set(map(tuple, choices))) > 3


def test_sets_without_positive_weights_start_optimistically_and_clip_scores() -> None:
    def dijkstra(weights: np.ndarray) -> list[int]:  # type: ignore[type-arg]
        assert (weights <= 0).all()
        assert (weights >= -10).all()
        return sets.GridPaths(2).argmax(weights).tolist()  # type: ignore[no-any-return]

    roads = sets.Oracle(dijkstra, 12, 4, signed=False)
    learner = Learner(roads, ucb(), sense="min", bounds=(0.0, 10.0))
    assert learner.scores().tolist() == [0.0] * 12
    costs = np.where(np.isin(np.arange(12), [1, 6, 10, 11]), 1.0, 3.0)
    for _ in range(400):
        decision = learner.ask()
        learner.tell(decision.id, costs[decision.items])
    assert learner.scores().min() == 0.0
    for _ in range(3000):
        decision = learner.ask()
        learner.tell(decision.id, costs[decision.items])
    assert learner.best().tolist() == [1, 6, 10, 11]


def test_items_in_no_solution_are_named_or_ignored() -> None:
    dead_end = sets.DagPaths([("a", "b"), ("b", "x"), ("a", "b")], "a", "b")
    labels = ["road", "dead end", "other road"]
    with pytest.raises(errors.UncoveredItems, match="dead end") as caught:
        Learner(dead_end, ucb(), labels=labels).ask()
    assert caught.value.items == (1,)
    hidden = sets.Oracle(dead_end.argmax, 3, 1)  # a solver does not know its dead ends: Init finds them
    learner = Learner(hidden, ucb())
    learner.tell(learner.ask().id, [1.0])
    learner.tell(learner.ask().id, [1.0])
    with pytest.raises(errors.UncoveredItems, match="no solution with item 1 when asked"):
        learner.ask()
    assert learner.round == 2
    for feasible in (dead_end, hidden):
        learner = Learner(feasible, ucb(), uncovered="ignore")
        assert [learner.ask().items.tolist() for _ in range(2)] == [[0], [2]]
        for decision in learner.outstanding:
            learner.tell(decision.id, [0.5])
        assert learner.ask().items.tolist() == [0]
        assert learner.counts.tolist() == [1, 0, 1]


@settings(max_examples=40)
@given(strategies.enumerated())
def test_init_needs_at_most_one_call_per_item(instance: tuple[FeasibleSet, list[Solution]]) -> None:
    feasible, solutions = instance
    learner = Learner(feasible, ucb(), uncovered="ignore")
    covered = {item for one in solutions for item in one}
    rounds = 0
    while {item for item in range(feasible.n_items) if learner.counts[item]} != covered:
        decision = learner.ask()
        learner.tell(decision.id, np.zeros(decision.items.size))
        rounds += 1
    assert rounds <= feasible.n_items


# What was learned


def test_intervals_hold_for_all_rounds_at_once() -> None:
    """At 80 % confidence, at most about one item in five may ever leave its interval."""
    means = np.linspace(0.1, 0.9, 200)
    learner = Learner(sets.TopK(200, 200), ucb(init="all"), bounds=(0.0, 2.0))
    world = environments.Bernoulli(means)
    ever_outside = np.zeros(200, dtype=bool)
    assert learner.intervals().tolist() == [[0.0, 2.0]] * 200
    for t in range(1, 400):
        decision = learner.ask()
        learner.tell(decision.id, 2.0 * world.weights(t, rng.key(5, 0, t, rng.WORLD)))
        low, high = learner.intervals(confidence=0.8).T
        ever_outside |= (2.0 * means < low) | (2.0 * means > high)
    assert ever_outside.mean() <= 0.2 + 3 * math.sqrt(0.2 * 0.8 / 200)
    assert (learner.intervals(0.99)[:, 0] <= low).all()
    T = 399
    half = 2.0 * math.sqrt(math.log(2 * T * (T + 1) / 0.2) / (2 * T))
    np.testing.assert_allclose(high, np.minimum(learner.estimates + half, 2.0))
    with pytest.raises(errors.BadArgument, match="confidence"):
        learner.intervals(1.0)


def test_best_trusts_only_what_was_seen() -> None:
    learner = Learner(sets.TopK(4, 1), ucb())
    learner.observe([1, 2], [0.25, 0.5])
    assert learner.best().tolist() == [2]
    costs = Learner(sets.TopK(4, 1), ucb(), sense="min", bounds=(0.0, 9.0))
    costs.observe([1, 2], [5.0, 4.0])
    assert costs.best().tolist() == [2]
    assert costs.round == 0


def test_labels_everywhere() -> None:
    flights = Learner(sets.TopK(3, 2), ucb(), labels=["AMS-FRA", "AMS-CDG", "FRA-CDG"])
    decision = flights.ask()
    assert decision.labels == ("AMS-FRA", "AMS-CDG")
    assert flights.tell(decision.id, {"AMS-CDG": 0.5, 0: 1.0}) == 2
    np.testing.assert_array_equal(flights.estimates, [1.0, 0.5, np.nan])
    second = flights.ask()
    with pytest.raises(errors.UnknownItem, match="'LHR-JFK'"):
        flights.tell(second.id, {"LHR-JFK": 1.0})
    with pytest.raises(errors.UnknownItem, match="AMS-CDG") as caught:
        flights.tell(second.id, {"AMS-CDG": 1.0})
    assert "not part of decision" in str(caught.value)
    with pytest.raises(errors.UnknownItem, match="twice"):
        flights.tell(second.id, {"AMS-FRA": 1.0, 0: 1.0})
    with pytest.raises(errors.UnknownItem, match="no labels"):
        Learner(sets.TopK(3, 2), ucb()).observe(["a"], [1.0])


def test_empty_solutions_are_decisions_too() -> None:
    learner = Learner(sets.Enumerated([[], [0]]), ucb(), sense="min", bounds=(5.0, 6.0))
    learner.tell(learner.ask().id, [5.5])
    for feedback in ([], {}):
        decision = learner.ask()
        assert decision.items.tolist() == []
        assert learner.tell(decision.id, feedback) == 0
        assert learner.outstanding == []


def test_estimates_stay_within_the_bounds() -> None:
    learner = Learner(sets.TopK(2, 1), ucb(), sense="min", bounds=(0.1, 0.7))
    learner.observe({0: 0.1, 1: 0.7})
    assert learner.estimates.tolist() == [0.1, 0.7]


def test_threads_may_share_a_learner() -> None:
    learner = Learner(sets.TopK(50, 5), ucb())

    def work() -> None:
        for _ in range(200):
            decision = learner.ask()
            learner.tell(decision.id, np.full(5, 0.5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert learner.round == 800
    assert learner.outstanding == []
    assert learner.counts.min() >= 1
    assert learner.counts.sum() <= 800 * 5
