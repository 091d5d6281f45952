"""A policy's scores of all items, live: by NumPy at first, by machine code where that takes long."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import BadArgument
from semibandits.kernel import is_ours, placeholder
from semibandits.kernel.tuples import adder, loader
from semibandits.kernel.warm import Warm
from semibandits.rng import below
from semibandits.types import Clock, IndexPolicy, Params, Stats, Weights

MOST_ATTEMPTS = 100
"""To draw a score that may be rejected; what is NaN then is an error."""
COSTLY = 5e-5
"""Seconds of a call, on average, below which compiling is not worth the wait."""

score, load, REDRAWS = placeholder("score"), placeholder("load"), placeholder("REDRAWS")
share, pooled, POOLS = placeholder("share"), placeholder("pooled"), placeholder("POOLS")
load_totals, add_to_totals = placeholder("load_totals"), placeholder("add_to_totals")


def score_items(stats: Any, round: Any, clock: Any, key: Any, p: Any, known: Any, totals: Any, out: Any) -> None:
    """A kernel function: all items, one after the other."""
    c = _pool(stats, round, clock, p, known, totals)
    for item in range(out.size):
        x = score(load(stats, item, 0), c, key, np.uint64(item), p)
        if REDRAWS:
            attempt = 0
            while x != x and attempt < MOST_ATTEMPTS - 1:
                attempt += 1
                x = score(load(stats, item, 0), c, below(key, attempt), np.uint64(item), p)
        out[item] = x


def _pool(stats: Any, round: Any, clock: Any, p: Any, known: Any, totals: Any) -> Any:
    if POOLS:
        for item in range(stats.shape[1]):
            if not known[item]:
                add_to_totals(totals, 0, 0, share(load(stats, item, 0), round, p))
        return pooled(load_totals(totals, 0, 0), clock, p)
    return clock


class Scores:
    """The scores of one agent's items, from its statistics: a matrix with a column for every item.

    `known`: whose bounds meet, so that they say nothing of the others.

    Both ways give the same bits. Only formulas of this package are compiled, whose machine code is kept on disk.
    """

    def __init__(self, policy: IndexPolicy, params: Params, stats: Weights, known: NDArray[np.bool_]) -> None:
        self._policy, self._params, self._stats, self._known = policy, params, stats, known
        self._rows = tuple(stats)
        self._numbers = np.arange(stats.shape[1], dtype=np.uint64)
        kind = type(policy)
        self._shared = 0 if policy.share is None else len(self._shares(1))
        bindings = {
            score: kind.score,
            load: loader(len(self._rows)),
            share: kind.share or kind.score,
            pooled: kind.pooled,
            load_totals: loader(self._shared),
            add_to_totals: adder(self._shared),
            POOLS: kind.share is not None,
            REDRAWS: policy.redraws,
        }
        formulas = {"score": kind.score, "share": kind.share or kind.score, "pooled": kind.pooled}
        compilable = all(map(is_ours, formulas.values())) and not formulas.keys() & vars(policy).keys()
        self.warm = Warm(score_items, bindings, compilable=compilable, costly=COSTLY)

    def __call__(self, round: int, key: int) -> Weights:
        clock = self._policy.clock(round, key, self._params)
        return self.warm.run(self._plain, self._compiled, self._stats, round, clock, key)

    def _plain(self, stats: Weights, round: int, clock: Clock, key: int) -> Weights:
        if self._policy.share is not None:
            clock = self._policy.pooled(self._totals(self._shares(round)), clock, self._params)
        scores: Weights = self._policy.score(self._rows, clock, key, self._numbers, self._params)
        if any(scores is row for row in self._rows):  # an oracle may write into what it is given
            scores = scores.copy()
        if self._policy.redraws:
            for attempt in range(1, MOST_ATTEMPTS):
                again = np.flatnonzero(np.isnan(scores))
                if again.size == 0:
                    break
                some = tuple([row[again] for row in self._rows])
                other_key = int(below(key, attempt))
                scores[again] = self._policy.score(some, clock, other_key, self._numbers[again], self._params)
        return scores

    def _shares(self, round: int) -> Stats:
        assert self._policy.share is not None
        shares = self._policy.share(self._rows, round, self._params)
        if not isinstance(shares, tuple):
            raise BadArgument(f"share() of {self._policy!r} must return a tuple of numbers, got {shares!r:.100}")
        return shares

    def _totals(self, shares: Stats) -> Stats:
        """The sums over all items, one after the other, as machine code makes them."""
        return tuple([float(np.add.accumulate(np.where(self._known, 0.0, share))[-1]) for share in shares])

    def _compiled(self, code: Any, stats: Weights, round: int, clock: Clock, key: int) -> Weights:
        out = np.empty(self._numbers.size)
        numbers = tuple([float(number) for number in clock])
        totals = np.zeros((self._shared, 1, 1))
        code(stats[:, :, None], round, numbers, np.uint64(key), self._params, self._known, totals, out)
        return out
