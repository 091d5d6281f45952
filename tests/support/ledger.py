"""A window kept by hand: all that was ever observed, to compare live learners with."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semibandits import Decision, Learner, policies, sets

ALPHA = 1.5
N_ITEMS = 6
SET = sets.TopK(N_ITEMS, 2)


class Ledger:
    """All that was ever observed, and what a window of it says: no statistics are kept."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.seen: list[tuple[int, int, float]] = []

    def add(self, round: int, items: ArrayLike, x: ArrayLike) -> None:
        self.seen += [(round, int(e), float(v)) for e, v in zip(np.ravel(items), np.ravel(x), strict=True)]

    def equals(self, learner: Learner) -> None:
        t = learner.round + 1
        log = math.log(max(min(t - 1, self.window), 1))
        counts, means, scores = np.zeros(N_ITEMS), np.full(N_ITEMS, np.nan), np.full(N_ITEMS, 1.0)
        for item in range(N_ITEMS):
            xs = [x for round, e, x in self.seen if e == item and round >= t - self.window]
            counts[item] = len(xs)
            if xs:
                means[item] = scores[item] = math.fsum(xs) / len(xs)
            scores[item] += math.sqrt(ALPHA * log / max(len(xs), 1))
        np.testing.assert_array_equal(learner.counts, counts)
        np.testing.assert_allclose(learner.estimates, means, rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(learner.scores(), scores, rtol=0.0, atol=1e-11)


def state(learner: Learner) -> list[Any]:
    return [learner.counts.tolist(), learner.scores().tolist(), str(learner.estimates.tolist()), learner.round]


def windowed(window: int, rounds: int = 0, seed: int = 0) -> tuple[Learner, Ledger]:
    """A learner that was told at once for so many rounds."""
    learner, ledger = Learner(SET, policies.SlidingWindow(window)), Ledger(window)
    generator = np.random.default_rng(seed)
    for _ in range(rounds):
        answer(learner, ledger, learner.ask(), generator.random(2))
    return learner, ledger


def answer(learner: Learner, ledger: Ledger, decision: Decision, weights: ArrayLike) -> None:
    assert learner.tell(decision.id, weights) == decision.items.size
    ledger.add(decision.round, decision.items, weights)
