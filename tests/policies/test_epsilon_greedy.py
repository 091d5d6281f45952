"""ε-greedy: how often it explores, and what it does otherwise."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from semibandits import Learner, policies, rng, sets
from semibandits.policies import EpsilonGreedy
from semibandits.types import Game
from support.histories import compare, policy_key

Numbers = NDArray[np.float64]


def explores(policy: EpsilonGreedy, round: int, key: int) -> bool:
    return bool(policy.clock(round, key, policy.params(Game(6, 2)))[0] > 0.0)


def within(hits: int | np.signedinteger, trials: int, chance: float) -> bool:
    return abs(hits - trials * chance) <= 3.5 * math.sqrt(trials * chance * (1.0 - chance)) + 1e-9


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.5, 1.0])
def test_the_share_of_exploring_rounds(epsilon: float) -> None:
    policy, rounds = EpsilonGreedy(epsilon), 200_000
    keys = rng.keys(3, 0, 1, rounds, rng.POLICY)
    for round in (1, 2, 1000):
        assert within(np.count_nonzero(policy.clock(round, keys, policy.params(Game(6, 2)))[0]), rounds, epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize(("epsilon", "decay"), [(1.0, 1.0), (5.0, 1.0), (0.8, 0.5), (40.0, 1.5), (3.0, 1.0 / 3.0)])
def test_the_share_decays(epsilon: float, decay: float) -> None:
    policy, trials = EpsilonGreedy(epsilon, decay), 200_000
    keys = rng.keys(5, 0, 1, trials, rng.POLICY)
    for round in (1, 2, 3, 7, 30, 100, 1000):
        hits = np.count_nonzero(policy.clock(round, keys, policy.params(Game(6, 2)))[0])  # type: ignore[arg-type]
        assert within(hits, trials, min(1.0, epsilon / round**decay)), round


def test_the_coin_is_a_comparison_with_epsilon_over_t_to_the_decay() -> None:
    """The same key explores with every larger epsilon: the least that does is the same number in every round."""
    for round in (1, 2, 10, 500, 10**6):
        for decay in (0.0, 0.5, 1.0, 2.0):
            low, high = 0.0, 1.0
            for _ in range(50):
                share = 0.5 * (low + high)
                policy = EpsilonGreedy(share * round**decay, decay)
                low, high = (low, share) if explores(policy, round, 12345) else (share, high)
            assert high == pytest.approx(rng.uniform(12345, 0, 1), rel=1e-12)


def watch(policy: EpsilonGreedy, rounds: int, seed: int) -> list[tuple[bool, list[int], list[int], list[int]]]:
    """For each round: whether it explored, its choice, the best by the means, and what `Random` chooses there."""
    feasible = sets.TopK(6, 2)
    learner, other = Learner(feasible, policy, seed=seed), Learner(feasible, policies.Random(), seed=seed)
    generator = np.random.default_rng(seed)
    seen: list[list[float]] = [[] for _ in range(6)]
    story = []
    for round in range(1, rounds + 1):
        decision, random = learner.ask(), other.ask()
        means = [math.fsum(xs) / len(xs) if xs else 1.0 for xs in seen]
        best = sorted(range(6), key=lambda item: (-means[item], item))[:2]
        story.append(
            (
                explores(policy, round, policy_key(seed, round)),
                decision.items.tolist(),
                sorted(best),
                random.items.tolist(),
            )
        )
        weights = generator.random(2) * np.array([0.4, 0.9, 0.5, 1.0, 0.6, 0.7])[decision.items]
        for item, weight in zip(decision.items, weights, strict=True):
            seen[item].append(float(weight))
        learner.tell(decision.id, weights)
        other.cancel(random.id)
    return story


@pytest.mark.parametrize("policy", [EpsilonGreedy(0.3, init="optimistic"), EpsilonGreedy(10.0, 0.7)], ids=repr)
def test_it_explores_like_random_and_is_greedy_otherwise(policy: EpsilonGreedy) -> None:
    first = 0 if policy.init == "optimistic" else 3
    story = watch(policy, 1500, seed=8)
    for exploring, chosen, best, random in story[first:]:
        assert chosen == (random if exploring else best)
    assert 100 < sum(exploring for exploring, *_ in story) < 800


def test_exploration_knows_nothing_of_its_coin() -> None:
    """In exploring rounds each of six items is among the two chosen a third of the time, whatever epsilon is."""
    feasible, policy, game = sets.TopK(6, 2), EpsilonGreedy(0.1), Game(6, 2)
    numbers = np.arange(6, dtype=np.uint64)
    counts, trials = np.zeros(6), 0
    for round in range(1, 30_001):
        key = policy_key(9, round)
        if explores(policy, round, key):
            p = policy.params(game)
            scores = policy.score((np.ones(6), np.ones(6), np.ones(6)), policy.clock(round, key, p), key, numbers, p)
            counts[feasible.argmax(scores)] += 1
            trials += 1
    assert all(within(int(count), trials, 1.0 / 3.0) for count in counts)


def test_unseen_items_score_as_if_at_their_best() -> None:
    learner = Learner(sets.TopK(3, 1), EpsilonGreedy(1e-12, init="optimistic"), bounds=(0.0, 4.0))
    assert learner.scores().tolist() == [4.0, 4.0, 4.0]
    learner.observe([0, 0, 1], [1.0, 2.0, 3.0])
    assert learner.scores().tolist() == [1.5, 3.0, 4.0]


@pytest.mark.long
def test_regret_equals_a_plain_simulation() -> None:
    def scores(t: int, estimates: Numbers, seen: list[list[float]], generator: np.random.Generator) -> Numbers:
        return generator.random(6) if generator.random() < min(1.0, 30.0 / t) else estimates

    compare(EpsilonGreedy(30.0, 1.0), scores, horizon=300, runs=200)


def test_exploring_always_is_random() -> None:
    feasible = sets.TopK(6, 2)
    learners = [Learner(feasible, one, seed=4) for one in (EpsilonGreedy(1.0, init="optimistic"), policies.Random())]
    for _ in range(200):
        ours, other = (learner.ask() for learner in learners)
        assert ours.items.tolist() == other.items.tolist()
        learners[0].tell(ours.id, [0.5, 0.5])


def test_without_epsilon_it_is_greedy() -> None:
    """After every item was seen it takes the best means, of tied ones the first, as a loop of its own does."""
    feasible, policy = sets.TopK(6, 2), EpsilonGreedy(epsilon=0)
    assert not any(explores(policy, round, policy_key(3, round)) for round in range(1, 1_000))
    learner = Learner(feasible, policy, seed=5)
    generator = np.random.default_rng(8)
    seen: list[list[float]] = [[] for _ in range(6)]
    for _ in range(300):
        decision = learner.ask()
        if all(seen):
            means = [sum(of_one) / len(of_one) for of_one in seen]
            assert decision.items.tolist() == sorted(sorted(range(6), key=lambda item: (-means[item], item))[:2])
        weights = (generator.random(2) < 0.1 * (1 + decision.items)).astype(float)
        learner.tell(decision.id, weights)
        for item, weight in zip(decision.items.tolist(), weights.tolist(), strict=True):
            seen[item].append(weight)


def test_the_defaults() -> None:
    assert EpsilonGreedy() == EpsilonGreedy(epsilon=0.1, decay=0.0, init="all")
