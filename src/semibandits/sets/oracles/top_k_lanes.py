"""The oracle of `TopK` for a block of runs: sorted insertion for small k, a threshold for large k.

Both are exact and break ties by the lowest number, as `TopK` does. A restricted set raises the scores of items that
every solution contains to +inf and lowers those of items that none contains to -inf.
"""

from typing import Any

import numpy as np

from semibandits.kernel import LANES, lane_loops, lowest_bit, score_of
from semibandits.kernel.selection import select
from semibandits.sets.oracles.lanes import ascending
from semibandits.types import Arrays, Solver, Weights

INSERTION = 12
"""The largest k for which insertion is the quicker of the two, by measurement."""


def solver(lift: Weights, k: int) -> Solver:
    """Of the k largest among score + lift."""
    n_items = lift.size
    words = (n_items + 64) // 64
    if k <= INSERTION:

        def make_insertion_work(lanes: int) -> Arrays:
            return np.zeros((k, lanes)), np.zeros(lanes), np.zeros(words, dtype=np.uint64)

        return Solver(_by_insertion, (lift,), make_insertion_work, reads_once=True, variable_size=False)

    def make_threshold_work(lanes: int) -> Arrays:
        scores, marks = np.zeros((n_items, lanes)), np.zeros((words, lanes), dtype=np.uint64)
        pivot, slack = np.full(lanes, -np.inf), np.full(lanes, 0.01)
        items, values, sorted_values = np.zeros(n_items + 1, dtype=np.uint32), np.zeros(n_items + 1), np.zeros(n_items)
        return scores, marks, pivot, slack, items, values, sorted_values

    return Solver(_by_threshold, (lift,), make_threshold_work, reads_once=True, variable_size=False)


def _by_insertion(view: Any, data: Arrays, work: Arrays, chosen: Any, faults: Any) -> None:
    (lift,) = data
    largest, new, words = work
    _insert(view, lift, largest, new, chosen, faults)
    ascending(chosen, np.uint32(lift.size), words)


@lane_loops
def _insert(view: Any, lift: Any, largest: Any, new: Any, chosen: Any, faults: Any) -> None:
    """Keeps the k largest so far in descending order; a new one moves those below it down by one."""
    k = np.uint32(chosen.shape[0])
    for row in range(k):
        for lane in range(LANES):
            largest[row, lane] = -np.inf
            chosen[row, lane] = row
    for i in range(np.uint32(lift.size)):
        item = np.uint32(i)
        for lane in range(LANES):
            x = score_of(view, item, lane)
            faults[lane] += 0.0 * x
            new[lane] = x + lift[item]
        for down in range(np.uint32(1), k):
            j = k - np.uint32(down)
            above = j - np.uint32(1)
            for lane in range(LANES):
                x, a, b = new[lane], largest[above, lane], largest[j, lane]
                p, q = chosen[above, lane], chosen[j, lane]
                up, here = x > a, x > b
                largest[j, lane] = a if up else (x if here else b)
                chosen[j, lane] = p if up else (item if here else q)
        for lane in range(LANES):
            x, here = new[lane], largest[0, lane]
            largest[0, lane] = x if x > here else here
            chosen[0, lane] = item if x > here else chosen[0, lane]


def _by_threshold(view: Any, data: Arrays, work: Arrays, chosen: Any, faults: Any) -> None:
    (lift,) = data
    scores, marks, pivot, slack, items, values, sorted_values = work
    _mark(view, lift, scores, marks, pivot, faults)
    for lane in range(LANES):
        if faults[lane] == 0.0:
            _pick(lane, scores, marks, pivot, slack, items, values, sorted_values, chosen)


@lane_loops
def _mark(view: Any, lift: Any, scores: Any, marks: Any, pivot: Any, faults: Any) -> None:
    """Marks the items at or above the lane's pivot, a bit for each: a few more than k, if the pivot is good."""
    n_items = np.uint32(lift.size)
    for w in range(np.uint32(marks.shape[0])):
        for lane in range(LANES):
            marks[w, lane] = np.uint64(0)
        begin = np.uint32(w) * np.uint32(64)
        end = min(begin + np.uint32(64), n_items)
        for i in range(begin, end):
            item = np.uint32(i)
            bit = np.uint64(1) << np.uint64(item - begin)
            for lane in range(LANES):
                x = score_of(view, item, lane)
                faults[lane] += 0.0 * x
                x += lift[item]
                scores[item, lane] = x
                marks[w, lane] |= bit if x >= pivot[lane] else np.uint64(0)


def _pick(
    lane: Any,
    scores: Any,
    marks: Any,
    pivot: Any,
    slack: Any,
    items: Any,
    values: Any,
    sorted_values: Any,
    chosen: Any,
) -> None:
    """The k largest of the marked items, ascending; then the pivot for the next round.

    Scores change little from round to round, so the k-th largest less some slack is a good pivot. Slack grows where
    too few items were marked, and shrinks where too many.
    """
    k = chosen.shape[0]
    n: Any = 0
    for w in range(np.uint32(marks.shape[0])):
        word = marks[w, lane]
        while word != np.uint64(0):
            item = np.uint32(w) * np.uint32(64) + np.uint32(lowest_bit(word))
            items[n] = item
            values[n] = scores[item, lane]
            n += 1
            word &= word - np.uint64(1)
    while n < k:
        slack[lane] = 2.0 * slack[lane] + 1e-12
        pivot[lane] -= slack[lane]
        n = 0
        for i in range(scores.shape[0]):
            x = scores[i, lane]
            items[n] = np.uint32(i)
            values[n] = x
            n += np.int64(x >= pivot[lane])
    if n > k + (k >> 1):
        slack[lane] *= 0.9
    threshold = _kth_largest(values, sorted_values, n, k)
    ties = k
    for i in range(n):
        ties -= np.int64(values[i] > threshold)
    taken: Any = 0
    for i in range(n):
        tied = values[i] == threshold and ties > 0
        ties -= np.int64(tied)
        if taken < k:
            chosen[taken, lane] = items[i]
        taken += np.int64(tied or values[i] > threshold)
    pivot[lane] = threshold - slack[lane]
    slack[lane] *= 0.98


def _kth_largest(values: Any, copy: Any, n: Any, k: Any) -> Any:
    for i in range(n):
        copy[i] = values[i]
    return select(copy, 0, n - 1, k - 1)
