"""A policy's scores of all items, live: by NumPy at first, by machine code where that takes long."""

from typing import Any

import numpy as np

from semibandits.kernel import is_ours, placeholder
from semibandits.kernel.tuples import loader
from semibandits.kernel.warm import Warm
from semibandits.rng import below
from semibandits.types import Clock, IndexPolicy, Params, Weights

MOST_ATTEMPTS = 100
"""To draw a score that may be rejected; what is NaN then is an error."""
COSTLY = 5e-5
"""Seconds of a call, on average, below which compiling is not worth the wait."""

score, load, REDRAWS = placeholder("score"), placeholder("load"), placeholder("REDRAWS")


def score_items(stats: Any, c: Any, key: Any, p: Any, out: Any) -> None:
    """A kernel function: all items, one after the other."""
    for item in range(out.size):
        x = score(load(stats, item, 0), c, key, np.uint64(item), p)
        if REDRAWS:
            attempt = 0
            while x != x and attempt < MOST_ATTEMPTS - 1:
                attempt += 1
                x = score(load(stats, item, 0), c, below(key, attempt), np.uint64(item), p)
        out[item] = x


class Scores:
    """The scores of one agent's items, from its statistics: a matrix with a column for every item.

    Both ways give the same bits. Only formulas of this package are compiled, whose machine code is kept on disk.
    """

    def __init__(self, policy: IndexPolicy, params: Params, stats: Weights) -> None:
        self._policy, self._params, self._stats = policy, params, stats
        self._rows = tuple(stats)
        self._numbers = np.arange(stats.shape[1], dtype=np.uint64)
        formula = type(policy).score
        bindings = {score: formula, load: loader(len(self._rows)), REDRAWS: policy.redraws}
        compilable = is_ours(formula) and "score" not in vars(policy)
        self.warm = Warm(score_items, bindings, compilable=compilable, costly=COSTLY)

    def __call__(self, round: int, key: int) -> Weights:
        clock = self._policy.clock(round, key, self._params)
        return self.warm.run(self._plain, self._compiled, clock, key)

    def _plain(self, clock: Clock, key: int) -> Weights:
        scores: Weights = self._policy.score(self._rows, clock, key, self._numbers, self._params)
        if any(scores is row for row in self._rows):  # an oracle may write into what it is given
            scores = scores.copy()
        if self._policy.redraws:
            for attempt in range(1, MOST_ATTEMPTS):
                again = np.flatnonzero(np.isnan(scores))
                if again.size == 0:
                    break
                stats = tuple([row[again] for row in self._rows])
                other_key = int(below(key, attempt))
                scores[again] = self._policy.score(stats, clock, other_key, self._numbers[again], self._params)
        return scores

    def _compiled(self, code: Any, clock: Clock, key: int) -> Weights:
        out = np.empty(self._numbers.size)
        numbers = tuple([float(number) for number in clock])
        code(self._stats[:, :, None], numbers, np.uint64(key), self._params, out)
        return out
