"""Scores of a policy after observations made up beforehand, and a small game in which regrets are compared."""

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from semibandits import Problem, environments, rng, sets, simulate
from semibandits.agent import IndexAgent, Scale, Setting
from semibandits.types import IndexPolicy
from support.plain_play import Scores, agree, play

Numbers = NDArray[np.float64]

MEANS = (0.3, 0.7, 0.4, 0.8, 0.5, 0.2)
GAME = Problem(sets.TopK(6, 2), environments.Bernoulli(MEANS))
PAIRS = list(itertools.combinations(range(6), 2))


def histories(seed: int, count: int = 40, n_items: int = 9) -> Iterator[tuple[list[list[float]], int]]:
    """What was observed of each item, nothing of some, and a round: coins, fractions, early and late."""
    generator = np.random.default_rng(seed)
    for number in range(count):
        sizes = [0, 1, 2, *generator.integers(1, 80, n_items - 3).tolist()]
        means = generator.random(n_items)
        seen = [generator.random(size) for size in sizes]
        if number % 2:
            seen = [(x < mean).astype(np.float64) for x, mean in zip(seen, means, strict=True)]
        yield [x.tolist() for x in seen], int(np.ceil(10.0 ** generator.uniform(0.0, 7.0)))


def scores_after(
    policy: IndexPolicy, seen: list[list[float]], round: int, *, max_size: int = 1, horizon: int = 0
) -> Numbers:
    """The scores as a learner works them out, all items at once; one item at a time they must be the same."""
    scale = Scale.of((0.0, 1.0), "max")
    agent = IndexAgent(policy, Setting(sets.TopK(len(seen), max_size), scale, seed=0, horizon=horizon))
    pairs = [(item, x) for item, xs in enumerate(seen) for x in xs]
    agent.learn_logged(1, np.array([item for item, _ in pairs]), np.array([x for _, x in pairs]))
    scores = agent.scores(round)
    assert not policy.random
    clock = policy.clock(round, 0, agent.params)
    for item, xs in enumerate(seen):
        stats = policy.prior
        for x in xs:
            stats = policy.observe(stats, x, 1, 0, item, agent.params)
        assert float(policy.score(stats, clock, 0, item, agent.params)) == scores[item]
    return scores


def regrets(policy: IndexPolicy, *, horizon: int, runs: int = 1024, seed: int = 11) -> Numbers:
    # what is recorded makes it the machine code that other tests have compiled
    result = simulate(GAME, policy, horizon=horizon, runs=runs, seed=seed, checkpoints=[horizon], record="counts")
    last: Numbers = result.regret[0, :, -1]
    return last


def compare(policy: IndexPolicy, scores: Scores, *, horizon: int = 400, runs: int = 150, init: bool = True) -> None:
    """The policy's regret in the small game against a plain simulation of its formula."""
    agree(regrets(policy, horizon=horizon), play(PAIRS, MEANS, scores, horizon=horizon, runs=runs, seed=12, init=init))


def policy_key(seed: int, round: int) -> int:
    """What a live learner hands to the functions of a policy."""
    return rng.key(seed, 0, round, rng.POLICY)
