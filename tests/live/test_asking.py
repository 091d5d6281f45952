"""Asking: the solver outside of the learner's lock, batches, another set this once."""

import json
import threading
import time
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, errors, policies, rng, sets
from semibandits.environments import Bernoulli

WAIT = 60.0
"""Seconds after which a test has failed; a busy machine takes as long as it likes."""


def top_two(weights: Any) -> Any:
    return np.sort(np.argsort(-weights, kind="stable")[:2])


def in_threads(count: int, work: Any) -> list[Any]:
    """What so many calls return that are made at once; an exception is raised here."""
    found: list[Any] = [None] * count

    def call(number: int) -> None:
        try:
            found[number] = work(number)
        except BaseException as error:
            found[number] = error

    threads = [threading.Thread(target=call, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive(), "threads wait for each other"
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return found


class Gate:
    """A solver that lets nobody through before so many are in it."""

    def __init__(self) -> None:
        self.barrier: threading.Barrier | None = None
        self.inside, self.most = 0, 0
        self.lock = threading.Lock()

    def __call__(self, weights: Any) -> Any:
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        if self.barrier is not None:
            self.barrier.wait(WAIT)
        with self.lock:
            self.inside -= 1
        return top_two(weights)


def test_four_threads_solve_at_once() -> None:
    """None of the four calls of the solver returns before all four have begun."""
    gate = Gate()
    learner = Learner(sets.Oracle(gate, 5, 2), policies.CombUCB1(init="optimistic"), seed=0)
    gate.barrier = threading.Barrier(4)
    made = in_threads(4, lambda _: learner.ask())
    assert sorted(one.round for one in made) == [1, 2, 3, 4] == sorted(one.round for one in learner.outstanding)
    gate.barrier = None
    assert learner.ask().round == 5


def test_a_tell_does_not_wait_for_the_solver() -> None:
    entered, leave, slow = threading.Event(), threading.Event(), [False]

    def solver(weights: Any) -> Any:
        if slow[0]:
            entered.set()
            assert leave.wait(WAIT)
        return top_two(weights)

    learner = Learner(sets.Oracle(solver, 5, 2), policies.CTS(), seed=0)
    known = learner.ask()
    slow[0] = True
    asking = threading.Thread(target=learner.ask, daemon=True)
    asking.start()
    assert entered.wait(WAIT)
    assert learner.tell(known.id, [1.0, 0.0]) == 2
    learner.observe({4: 1.0})
    assert learner.counts.sum() == 3
    assert learner.round == 1
    assert [one.id for one in learner.outstanding] == []
    leave.set()
    asking.join(WAIT)
    assert learner.round == 2


def test_a_solver_that_is_called_one_at_a_time() -> None:
    gate = Gate()
    solver = sets.Oracle(gate, 6, 2, one_at_a_time=True)
    learner = Learner(solver, policies.CTS(), seed=0)

    def ask_often(number: int) -> None:
        for _ in range(20):
            learner.ask(None if number % 2 else range(5))
            time.sleep(0)

    in_threads(4, ask_often)
    assert gate.most == 1
    assert learner.round == 80
    with pytest.raises(errors.BadArgument, match="one_at_a_time must be True or False, got 'yes'"):
        sets.Oracle(top_two, 6, 2, one_at_a_time="yes")  # type: ignore[call-overload]


def test_the_initialisation_takes_turns() -> None:
    """What is chosen to see an item for the first time depends on what was chosen before."""
    gate = Gate()
    learner = Learner(sets.Oracle(gate, 8, 2), policies.CombUCB1(), seed=0)
    gate.most = 0
    made = in_threads(4, lambda _: learner.ask())
    assert gate.most == 1
    assert sorted(item for one in made for item in one.items.tolist()) == list(range(8))


PLAYERS = [
    policies.CombUCB1(),
    policies.CTS(),
    policies.PooledCTS(),
    policies.SlidingWindow(5),
    policies.ESCB(),
    policies.FPL(eta=0.1),
]


@pytest.mark.parametrize("policy", PLAYERS, ids=repr)
@pytest.mark.parametrize("told", [0, 12])
def test_a_batch_is_so_many_asks(policy: Any, told: int) -> None:
    """Its decisions count each other as pending, also in the initialisation."""
    one, other = (Learner(sets.TopK(9, 2), policy, seed=5) for _ in range(2))
    for learner in (one, other):
        for round in range(told):
            learner.tell(learner.ask().id, [0.25 * (round % 5), 0.5])
    batch, single = one.ask(n=8), [other.ask() for _ in range(8)]
    assert [made.items.tolist() for made in batch] == [made.items.tolist() for made in single]
    assert [made.round for made in batch] == [made.round for made in single] == list(range(told + 1, told + 9))
    assert [made.id for made in one.outstanding] == [made.id for made in batch]
    for made, alone in zip(batch, single, strict=True):
        assert one.tell(made.id, [0.5, 0.25]) == other.tell(alone.id, [0.5, 0.25]) == 2
    assert one.ask(n=1)[0].items.tolist() == other.ask().items.tolist()
    np.testing.assert_array_equal(one.estimates, other.estimates)


def test_a_batch_of_which_one_fails_makes_none() -> None:
    calls = [0]

    def breaks(weights: Any) -> Any:
        calls[0] += 1
        if calls[0] == 3:
            raise RuntimeError("no licence")
        return top_two(weights)

    solver = sets.Oracle(breaks, 5, 2)
    calls[0] = -100  # it is tried out first
    learner = Learner(solver, policies.CombUCB1(init="optimistic"), seed=0)
    calls[0] = 0
    with pytest.raises(errors.OracleFailed, match="no licence"):
        learner.ask(n=4)
    assert (learner.round, learner.outstanding, learner._updates.reserved) == (0, [], {})
    assert [made.round for made in learner.ask(n=4)] == [1, 2, 3, 4]


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
def test_a_batch_of_nothing(n: Any) -> None:
    learner = Learner(sets.TopK(4, 2))
    with pytest.raises(errors.BadArgument, match="n must be"):
        learner.ask(n=n)
    assert learner.round == 0


def test_another_set_this_once() -> None:
    learner = Learner(sets.TopK(6, 2), policies.CombUCB1(init="optimistic"), seed=0, labels=list("abcdef"))
    learner.observe(list("abcdef"), [0.9, 0.8, 0.7, 0.1, 0.2, 0.3])
    small, large = sets.TopK(6, 1), sets.TopK(6, 4)
    first, second, third = learner.ask(feasible=small), learner.ask(feasible=large), learner.ask()
    assert [one.labels for one in (first, second, third)] == [("a",), tuple("abcf"), ("a", "b")]
    assert first.feasible is small
    assert third.feasible is None
    assert learner.ask(feasible=learner.feasible).feasible is None
    assert learner.ask(["c", "d"], feasible=small).labels == ("c",)
    assert learner.tell(second.id, [1.0, 1.0, 1.0, 1.0]) == 4
    said = json.loads(json.dumps(second.as_dict()))
    assert said == {
        "id": second.id,
        "round": 2,
        "items": [0, 1, 2, 5],
        "time": second.time,
        "labels": ["a", "b", "c", "f"],
        "chosen_from": repr(large),
    }
    assert abs(time.time() - second.time) < 3600.0
    assert "chosen_from" not in third.as_dict()


def test_another_set_is_kept_with_the_decision(tmp_path: Any) -> None:
    learner = Learner(sets.TopK(6, 2), policies.CTS(), seed=0)
    wide = sets.TopK(6, 5)
    decision = learner.ask(feasible=wide)
    learner.save(tmp_path / "learner.json")
    loaded = Learner.load(tmp_path / "learner.json", sets.TopK(6, 2))
    (known,) = loaded.outstanding
    assert (known.id, known.items.tolist(), known.time) == (decision.id, decision.items.tolist(), decision.time)
    assert (known.feasible, known.chosen_from) == (None, repr(wide))
    assert loaded.tell(decision.id, [0.5] * 5) == 5


def test_sets_that_are_not_of_these_items() -> None:
    network = [("a", "b"), ("b", "c"), ("a", "c")]
    learner = Learner(sets.Paths(network, "a", "c"), policies.CTS(), sense="min", seed=0)
    before = learner._snapshot()
    for wrong, message in (
        (sets.TopK(4, 2), "a set of the same 3 items, got TopK.* with 4"),
        (sets.Paths(network[::-1], "a", "c"), "the same items in the same order: its item 0"),
        ([[0, 1]], "must be a FeasibleSet"),
        (top_two, "must be a FeasibleSet"),
    ):
        with pytest.raises(errors.BadArgument, match=message):
            learner.ask(feasible=wrong)  # type: ignore[arg-type]
    rewards = Learner(sets.TopK(3, 1), policies.CTS(), seed=0)
    with pytest.raises(errors.BadArgument, match="needs"):
        rewards.ask(feasible=sets.Paths(network, "a", "c"))
    assert learner._snapshot() == before


def test_items_that_only_another_set_contains() -> None:
    """The initialisation sees them in the requests that have them; the learner's own set need not."""
    learner = Learner(sets.Enumerated([[0], [1]], n_items=3), policies.CombUCB1(), seed=0, uncovered="ignore")
    every = sets.TopK(3, 1)
    seen = [learner.ask(feasible=every).items.tolist() for _ in range(3)]
    assert sorted(seen[:2]) == [[0], [1]]
    learner.observe([0, 1] * 200, [0.1] * 400)
    assert learner.ask(feasible=every).items.tolist() == [2]  # optimistic: nobody has seen it


@pytest.mark.parametrize("policy", [policies.CombUCB1(), policies.CTS(), policies.PooledCTS()], ids=repr)
def test_requests_decide_as_a_learner_of_that_set_would(policy: Any) -> None:
    """One whose own set is the other one, and who was told the same."""
    other = sets.TopK(7, 3)
    learner, own = Learner(sets.TopK(7, 2), policy, seed=4), Learner(other, policy, seed=4)
    world = Bernoulli(np.linspace(0.1, 0.9, 7))
    for round in range(1, 60):
        decision, expected = learner.ask(feasible=other), own.ask()
        assert decision.items.tolist() == expected.items.tolist(), round
        weights = world.weights(round, rng.key(4, 0, round, rng.WORLD), decision.items)
        learner.tell(decision.id, weights)
        own.tell(expected.id, weights)


def every_set() -> dict[str, Any]:
    roads = [(str(a), str(b)) for a in range(6) for b in range(a + 1, 6)]
    return {
        "top": sets.TopK(15, 4),
        "paths": sets.Paths(roads, "0", "5"),
        "tree": sets.GraphicMatroid(roads),
        "assignment": sets.Assignment(4, 4),
        "b-matching": sets.BMatching(4, 4, [2] * 4, [2] * 4),
        "knapsack": sets.Knapsack([1 + i % 4 for i in range(15)], 12),
        "partition": sets.PartitionMatroid([i % 3 for i in range(15)], 2),
        "product": sets.Product([sets.TopK(5, 2), sets.GraphicMatroid(roads)]),
        "dag": sets.GridPaths(3),
        "greedy": sets.GreedyKnapsack([1 + i % 4 for i in range(15)], 12),
    }


@pytest.mark.parametrize("name", every_set())
def test_one_set_for_many_threads(name: str) -> None:
    """Each gets the answer to its own question."""
    feasible = every_set()[name]
    generator = np.random.default_rng(0)
    questions = generator.integers(1, 9, (8, 40, feasible.n_items)) * (1.0 if feasible.signed else -1.0)
    alone = every_set()[name]
    expected = [[alone.argmax(w).tolist() for w in own] for own in questions]
    found = in_threads(8, lambda i: [feasible.argmax(w).tolist() for w in questions[i]])
    assert found == expected


def test_a_policy_that_changes_meanwhile_must_play_on_the_other_set() -> None:
    """It is asked whether it can; and in an initialisation that only now begins, asks take turns."""
    entered, leave, slow = threading.Event(), threading.Event(), [False]

    def solver(weights: Any) -> Any:
        if slow[0]:
            entered.set()
            assert leave.wait(WAIT)
        return top_two(weights)

    other = sets.Oracle(solver, 5, 2)
    learner = Learner(sets.TopK(5, 2), policies.CTS(), seed=0)
    learner.ask(feasible=other)
    slow[0] = True
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(learner.ask(feasible=other))
        except errors.SemiBanditError as error:
            found.append(error)

    asking = threading.Thread(target=work, daemon=True)
    asking.start()
    assert entered.wait(WAIT)
    learner.change_policy(policies.HYBRID())
    slow[0] = False
    leave.set()
    asking.join(WAIT)
    assert isinstance(found[0], errors.Unsupported)
    assert (learner.round, len(learner.outstanding), learner._updates.reserved) == (1, 1, {})


def test_an_initialisation_that_begins_meanwhile() -> None:
    gate = Gate()
    learner = Learner(sets.Oracle(gate, 8, 2), policies.CTS(), seed=0)
    barrier = gate.barrier = threading.Barrier(5)
    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(learner.ask()), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    while barrier.n_waiting < 4:
        time.sleep(0.001)
    learner.change_policy(policies.CombUCB1())
    gate.barrier, gate.most = None, 0
    barrier.wait(WAIT)
    for thread in threads:
        thread.join(WAIT)
    assert sorted(item for one in made for item in one.items.tolist()) == list(range(8))


def test_what_reads_does_not_wait_for_the_solver_either() -> None:
    entered, leave, slow = threading.Event(), threading.Event(), [False]

    def solver(weights: Any) -> Any:
        if slow[0]:
            entered.set()
            assert leave.wait(WAIT)
        return top_two(weights)

    learner = Learner(sets.Oracle(solver, 5, 2, one_at_a_time=True), policies.CTS(), seed=0)
    decision = learner.ask()
    slow[0] = True
    reading = threading.Thread(target=learner.best, daemon=True)
    reading.start()
    assert entered.wait(WAIT)
    assert learner.tell(decision.id, [0.5, 0.5]) == 2
    leave.set()
    reading.join(WAIT)
