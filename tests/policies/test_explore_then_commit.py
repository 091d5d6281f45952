"""Explore, then commit: how long it explores, how evenly, and to what it commits."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner, Problem, environments, errors, policies, rng, sets, simulate
from semibandits.policies import ExploreThenCommit
from semibandits.types import Game
from support.histories import GAME, compare

Numbers = NDArray[np.float64]


def whole_root(horizon: int) -> int:
    """The least m with m³ >= n²."""
    m = int(horizon ** (2.0 / 3.0)) + 2
    while (m - 1) ** 3 >= horizon**2:
        m -= 1
    return m


def explored(horizon: int) -> int:
    return int(ExploreThenCommit().params(Game(6, 2, horizon))[0])


def test_how_long_it_explores_without_rounds() -> None:
    assert explored(1000) == 100
    assert explored(10) == 5  # 4.64
    assert explored(10**9) == 10**6
    for horizon in (*range(1, 3000), *(root**3 for root in range(1, 2000))):
        assert explored(horizon) == whole_root(horizon)
    assert ExploreThenCommit(7).params(Game(6, 2, 1000))[0] == 7


def live(policy: ExploreThenCommit, feasible: sets.TopK, rounds: int, seed: int = 0) -> tuple[list[list[int]], Numbers]:
    """The decisions, and the means of what was observed while exploring."""
    learner = Learner(feasible, policy, seed=seed)
    generator = np.random.default_rng(seed)
    seen: list[list[float]] = [[] for _ in range(feasible.n_items)]
    decisions = []
    for round in range(1, rounds + 1):
        decision = learner.ask()
        weights = generator.random(decision.items.size)
        if policy.rounds is None or round > policy.rounds:
            weights *= 0.01  # what it has committed to turns out bad
        else:
            for item, weight in zip(decision.items, weights, strict=True):
                seen[item].append(float(weight))
        learner.tell(decision.id, weights)
        decisions.append(decision.items.tolist())
    return decisions, np.array([math.fsum(xs) / len(xs) if xs else 0.0 for xs in seen])


@pytest.mark.parametrize("rounds", [3, 4, 10, 31, 100])
def test_it_explores_so_many_rounds_and_evenly(rounds: int) -> None:
    decisions, means = live(ExploreThenCommit(rounds), sets.TopK(7, 3), rounds + 200, seed=rounds)
    for played in range(1, rounds + 1):
        counts = np.bincount(np.concatenate(decisions[:played]), minlength=7)
        assert np.ptp(counts) <= 1
    best = sorted(np.argsort(-means, kind="stable")[:3].tolist())
    assert decisions[rounds:] == [best] * 200


def test_it_commits_neither_earlier_nor_later() -> None:
    """Of three items one is tried at a time: in the fourth round the first again, if that still explores."""
    for rounds, fourth in ((3, 1), (4, 0)):
        learner = Learner(sets.TopK(3, 1), ExploreThenCommit(rounds))
        chosen = []
        for _ in range(5):
            decision = learner.ask()
            chosen.append(int(decision.items[0]))
            learner.tell(decision.id, {0: [0.2], 1: [0.9], 2: [0.5]}[chosen[-1]])
        assert chosen == [0, 1, 2, fourth, 1]


def test_the_last_exploring_round_counts() -> None:
    learner = Learner(sets.TopK(2, 1), ExploreThenCommit(2))
    for weight in (0.4, 0.8):
        learner.tell(learner.ask().id, [weight])
    assert [learner.ask().items.tolist() for _ in range(2)] == [[1], [1]]
    assert learner.scores().tolist() == [0.4, 0.8]


def test_feedback_that_comes_late_counts_for_the_round_it_was_asked_in() -> None:
    learner = Learner(sets.TopK(2, 1), ExploreThenCommit(2))
    first, second, third = (learner.ask() for _ in range(3))
    assert third.round == 3
    learner.tell(second.id, [0.3])
    learner.tell(first.id, [0.7])
    committed = learner.scores().tolist()
    learner.tell(third.id, [1.0])
    assert sorted(committed) == pytest.approx([0.0, 0.5] if first.items == second.items else [0.3, 0.7])
    assert learner.scores().tolist() == committed


def test_live_it_needs_rounds() -> None:
    with pytest.raises(
        errors.BadArgument, match=r"ExploreThenCommit\(rounds=None\) needs to know the horizon, which a live"
    ):
        Learner(sets.TopK(6, 2), ExploreThenCommit())
    assert ExploreThenCommit().needs_horizon
    assert not ExploreThenCommit(10).needs_horizon
    assert Learner(sets.TopK(6, 2), ExploreThenCommit(10)).ask().items.tolist() == [0, 1]


def test_costs_of_paths_whose_oracle_takes_no_positive_weights() -> None:
    roads = sets.Paths([("s", "a"), ("a", "t"), ("s", "t"), ("t", "a")], "s", "t", directed=True)
    learner = Learner(roads, ExploreThenCommit(20), sense="min", bounds=(0.0, 2.0), seed=0)
    generator = np.random.default_rng(1)
    chosen = []
    for _ in range(60):
        decision = learner.ask()
        chosen.append(decision.items.tolist())
        learner.tell(
            decision.id, generator.random(decision.items.size) * np.array([0.4, 0.6, 2.0, 1.0])[decision.items]
        )
    assert {tuple(items) for items in chosen[:20]} == {(0, 1), (2,)}
    assert chosen[20:] == [[0, 1]] * 40


@pytest.mark.parametrize(
    ("policy", "horizon", "rounds"), [(ExploreThenCommit(), 1000, 100), (ExploreThenCommit(9), 60, 9)]
)
def test_simulations_commit_to_the_best_of_what_they_saw(policy: ExploreThenCommit, horizon: int, rounds: int) -> None:
    played = simulate(GAME, policy, horizon=horizon, runs=8, seed=2, record="solutions", engine="plain", threads=1)
    assert played.solutions is not None
    committed = set()
    for run, solutions in enumerate(played.solutions[0]):
        counts, sums = np.zeros(6), np.zeros(6)
        for round, items in enumerate(solutions[:rounds], start=1):
            counts[items] += 1.0
            sums[items] += GAME.environment.weights(round, rng.key(2, run, round, rng.WORLD), items.astype(np.int64))
        assert np.ptp(counts) <= 1
        best = tuple(sorted(np.argsort(-sums / counts, kind="stable")[:2].tolist()))
        assert (solutions[rounds:] == best).all()
        committed.add(best)
    assert rounds > 9 or len(committed) > 1


@pytest.mark.long
def test_regret_equals_a_plain_simulation() -> None:
    committed = np.zeros(6)

    def scores(t: int, estimates: Numbers, seen: list[list[float]], generator: np.random.Generator) -> Numbers:
        if t <= 100:
            return np.array([1.0 / (1 + len(x)) for x in seen])
        if t == 101:
            committed[:] = estimates
        return committed

    compare(ExploreThenCommit(100), scores, horizon=300, runs=200, init=False)


def test_equal_policies() -> None:
    assert ExploreThenCommit(10) == ExploreThenCommit(rounds=10.0)  # type: ignore[arg-type]
    assert ExploreThenCommit(10) != ExploreThenCommit()
    assert policies.ExploreThenCommit().rounds is None


@pytest.mark.parametrize(
    "problem",
    [
        Problem(sets.Enumerated([[0], [1, 2]]), environments.Bernoulli([0.8, 0.2, 0.2]), sense="min"),
        Problem(sets.Paths([(0, 1), (1, 2), (0, 2)], 0, 2), environments.Bernoulli([0.2, 0.2, 0.8]), sense="min"),
        Problem(sets.TopK(3, 2, bases=False), environments.Uniform([-3.0] * 3, [7.0] * 3, bounds=(-3.0, 7.0))),
    ],
    ids=repr,
)
def test_all_items_are_explored_whatever_the_bounds(problem: Problem) -> None:
    """Also where the smallest solution, or none at all, looks best to an oracle of costs."""
    result = simulate(
        problem, ExploreThenCommit(300), horizon=300, runs=2, seed=0, record="counts", engine="plain", threads=1
    )
    assert result.counts is not None
    assert result.counts[0].min() > 60


def test_late_feedback_counts_in_the_phase_it_was_asked_in() -> None:
    learner = Learner(sets.Enumerated([[0], [1]]), ExploreThenCommit(2), seed=0)
    a, b = learner.ask(), learner.ask()
    learner.tell(a.id, [0.6])
    c = learner.ask()
    learner.tell(c.id, [0.0])
    learner.tell(b.id, [0.5])
    assert a.items.tolist() == b.items.tolist() == c.items.tolist() == [0]
    assert learner.scores()[0] == pytest.approx(0.55)
    assert learner.estimates[0] == pytest.approx(1.1 / 3.0)
