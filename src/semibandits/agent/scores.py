"""A policy's scores of all items, live: by NumPy at first, by machine code where that takes long."""

import time
from typing import Any, ClassVar

import numpy as np

from semibandits._util.identity_cache import IdentityCache
from semibandits.kernel import is_ours, placeholder
from semibandits.kernel.tuples import loader
from semibandits.kernel.warm import agreeing
from semibandits.rng import below
from semibandits.types import Clock, IndexPolicy, Params, Weights

MOST_ATTEMPTS = 100
"""To draw a score that may be rejected; what is NaN then is an error."""
PATIENCE = 0.5
"""Seconds that a formula may cost as NumPy code, in this process, before it is compiled."""
COSTLY = 5e-5
"""Seconds of a call, on average, below which compiling is not worth the wait."""

score, load, REDRAWS = placeholder("score"), placeholder("load"), placeholder("REDRAWS")


def score_items(stats: Any, c: Any, key: Any, p: Any, out: Any) -> None:
    """Text for the compiler: all items, one after the other."""
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

    _spent: ClassVar[IdentityCache[float]] = IdentityCache()
    """Seconds, by formula: of all agents together."""

    def __init__(self, policy: IndexPolicy, params: Params, stats: Weights) -> None:
        self._policy, self._params, self._stats = policy, params, stats
        self._rows = tuple(stats)
        self._numbers = np.arange(stats.shape[1], dtype=np.uint64)
        self._compilable = is_ours(type(policy).score) and "score" not in vars(policy)
        self._code: Any = None
        self._calls, self._seconds = 0, 0.0

    def __call__(self, round: int, key: int) -> Weights:
        clock = self._policy.clock(round, key, self._params)
        if self._code is not None:
            return self._compiled(self._code, clock, key)
        began = time.perf_counter()
        scores = self._plain(clock, key)
        if self._compilable:
            self._count(time.perf_counter() - began)
            if self._spent[type(self._policy).score] > PATIENCE and self._seconds > COSTLY * self._calls:
                self._compile(clock, key, scores)
        return scores

    def _count(self, seconds: float) -> None:
        formula = type(self._policy).score
        self._spent[formula] = self._spent.get(formula, 0.0) + seconds
        self._calls += 1
        self._seconds += seconds

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

    def _compile(self, clock: Clock, key: int, expected: Weights) -> None:
        """Goes over to machine code, if it does the same."""
        policy = self._policy
        bindings = {score: type(policy).score, load: loader(len(self._rows)), REDRAWS: policy.redraws}

        def same(code: Any) -> bool:
            return np.array_equal(self._compiled(code, clock, key), expected, equal_nan=True)

        self._code = agreeing(score_items, bindings, same)
        self._compilable = False
