"""The comparator of regret in a world that drifts: a solution for every round, and what it is worth there."""

import math
import sys
import weakref
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from semibandits._util.identity_cache import IdentityCache
from semibandits._util.ownership import ours
from semibandits._util.resources import asking_for, check_room
from semibandits.environments import Drifting
from semibandits.environments.table import InOrder
from semibandits.oracle import solve
from semibandits.problem import Problem
from semibandits.types import Items, Weights, means_in, total

KNOWN = (InOrder, Drifting)
"""Worlds whose means in many rounds can be had at once."""
CELLS = 1 << 18
STRETCH = 200
"""Bytes it takes, beside its items."""
MANY = 1 << 16
TIE = 1e-12
"""By so little, relative to the best value or 1, solutions may differ and count as tied."""


_SHARED: IdentityCache[weakref.WeakValueDictionary[tuple[int, bool], Weights]] = IdentityCache()
"""One array for all the engines of a simulation, by problem, horizon and kind."""


class Stretch(NamedTuple):
    """Rounds `first` to `last`, in which regret is measured against `items`."""

    first: int
    last: int
    items: Items


def reference(problem: Problem, horizon: int, *, static: bool) -> Weights:
    """For rounds 1 to `horizon` the expected value of the comparator's solution.

    `static=True`: of the one solution that is best for the means averaged over these rounds. Otherwise of the best
    solution of every round. Best is what the oracle answers on the means, also an approximate one.
    """
    if problem not in _SHARED:
        _SHARED[problem] = weakref.WeakValueDictionary()
    values = _SHARED[problem].get((horizon, static))
    if values is None:
        with asking_for(f"what regret is measured against in {horizon:,} rounds"):
            values = np.empty(horizon)
        for first, last, part in _parts(problem, horizon, static=static):
            values[first - 1 : last] = part
        values.setflags(write=False)
        _SHARED[problem][horizon, static] = values
    return values


def in_turn(problem: Problem, horizon: int, *, static: bool) -> Iterator[float]:
    """The same, one after the other."""
    for _, _, part in _parts(problem, horizon, static=static):
        yield from part.tolist()


def _parts(problem: Problem, horizon: int, *, static: bool) -> Iterator[tuple[int, int, Weights]]:
    """The same, some rounds at a time: the first of them, the last, and the values."""
    for stretch in stretches(problem, horizon, static=static):
        for first in range(stretch.first, stretch.last + 1, _at_once(stretch)):
            last = min(first + _at_once(stretch) - 1, stretch.last)
            yield first, last, _values(problem, first, last, stretch.items)


def stretches(problem: Problem, horizon: int, *, static: bool) -> list[Stretch]:
    """Consecutive, from round 1 to the horizon. They are kept with the problem, and travel with it."""
    kept: dict[tuple[int, bool], list[Stretch]] = problem.__dict__.setdefault("_stretches", {})
    if (horizon, static) not in kept:
        find = _static if static else _dynamic
        kept[horizon, static] = _merged(find(problem, horizon))
    return kept[horizon, static]


def _at_once(stretch: Stretch) -> int:
    return max(1, CELLS // max(1, stretch.items.size))


def _values(problem: Problem, first: int, last: int, items: Items) -> Weights:
    """What these items are worth in these rounds, added up in item order as by `total`."""
    world = problem.environment
    if not (isinstance(world, KNOWN) and ours(world)):
        return np.array([total(means_in(world, round), items) for round in range(first, last + 1)])
    if items.size == 0:
        return np.zeros(last - first + 1)
    picked = world.mean(np.arange(first, last + 1)[:, None], items, world.tables)
    values: Weights = np.add.accumulate(picked, axis=1)[:, -1]
    return values


def _static(problem: Problem, horizon: int) -> Iterator[Stretch]:
    world = problem.environment
    if isinstance(world, KNOWN) and ours(world):
        average = world.average(horizon)
    else:
        average = sum((means_in(world, round) for round in range(1, horizon + 1)), np.zeros(world.n_items)) / horizon
    yield Stretch(1, horizon, _best(problem, average))


def _dynamic(problem: Problem, horizon: int) -> Iterator[Stretch]:
    world = problem.environment
    if not (isinstance(world, Drifting) and ours(world)):
        yield from _round_by_round(problem, 1, horizon)
        return
    ends = np.append(world.starts[1:], horizon + 1)
    for start, end in zip(world.starts.tolist(), np.minimum(ends, horizon + 1).tolist(), strict=True):
        if start > horizon:
            return
        if not world.smooth or start == world.starts[-1]:
            yield Stretch(start, end - 1, _best(problem, world.means(start)))
        elif problem.feasible.ratio < 1.0 or not problem.feasible.promised:
            yield from _round_by_round(problem, start, end - 1)
        else:
            yield from _Envelope(problem, start, end - 1).stretches()


def _round_by_round(problem: Problem, first: int, last: int) -> Iterator[Stretch]:
    """One call of the oracle for every round with other means than the one before."""
    before, items = None, np.empty(0, dtype=np.int64)
    for round in range(first, last + 1):
        means = means_in(problem.environment, round)
        if before is None or not np.array_equal(means, before):
            before, items = means, _best(problem, means)
        yield Stretch(round, round, items)


class _Envelope:
    """The best solutions of rounds `first` to `last`, in which all means move along straight lines.

    The value of a solution is then linear in the round, and the best value the upper envelope of these lines. If
    solution A is best at one end of an interval and B at the other, nothing is better between them unless it is better
    where the lines of A and B cross: so the oracle is asked there, and where it knows better, on both sides again.
    """

    def __init__(self, problem: Problem, first: int, last: int) -> None:
        self._feasible = problem.feasible
        self._first, self._last = first, last
        sign = 1.0 if problem.sense == "max" else -1.0
        self._start, self._end = (sign * means_in(problem.environment, round) for round in (first, last))
        self._slope = (self._end - self._start) / max(1, last - first)

    def stretches(self) -> Iterator[Stretch]:
        length = float(self._last - self._first)
        ends = self._ask(0.0), self._ask(length)
        first = self._first
        for until, items in [*self._changes(0.0, ends[0], length, ends[1]), (length, ends[1])]:
            last = min(self._last, self._first + math.floor(until))
            if last >= first:
                yield Stretch(first, last, items)
                first = last + 1

    def _changes(self, low: float, a: Items, high: float, b: Items) -> list[tuple[float, Items]]:
        """Until when each solution but the last is best, if `a` is at `low` and `b` at `high`."""
        found = []
        todo = [(low, a, high, b)]
        while todo:
            low, a, high, b = todo.pop()
            loss, gain = self._value(a, low) - self._value(b, low), self._value(b, high) - self._value(a, high)
            if gain <= self._tie(b, high) or math.floor(low) == math.floor(high):  # as good, or no round lies between
                found.append((high, a))
            elif loss <= self._tie(a, low):
                found.append((low, a))
            else:
                crossing = low + (high - low) * loss / (loss + gain)
                c = self._ask(crossing)
                known = max(self._value(a, crossing), self._value(b, crossing))
                if self._value(c, crossing) <= known + self._tie(c, crossing):
                    found.append((crossing, a))
                else:
                    todo += [(crossing, c, high, b), (low, a, crossing, c)]  # the last is next
        return found

    def _ask(self, at: float) -> Items:
        weights = self._start + self._slope * at  # rounding must not make a cost of 0 negative
        return solve(
            self._feasible, np.clip(weights, np.minimum(self._start, self._end), np.maximum(self._start, self._end))
        )

    def _value(self, items: Items, at: float) -> float:
        return total(self._start, items) + total(self._slope, items) * at

    def _tie(self, items: Items, at: float) -> float:
        return TIE * max(1.0, abs(self._value(items, at)))


def _best(problem: Problem, means: Weights) -> Items:
    return solve(problem.feasible, means if problem.sense == "max" else -means)


def _merged(found: Iterator[Stretch]) -> list[Stretch]:
    """Neighbours with the same solution become one."""
    merged: list[Stretch] = []
    held = 0
    for stretch in found:
        if merged and np.array_equal(merged[-1].items, stretch.items):
            merged[-1] = merged[-1]._replace(last=stretch.last)
        else:
            merged.append(stretch)
            held += STRETCH + sys.getsizeof(stretch.items)
            if not len(merged) % MANY:
                check_room(held, f"the best solutions of {stretch.last:,} rounds take more than", "play fewer rounds")
    return merged
