"""Scores and answers of a block of runs, as kernel functions: what the `solve` of `lanes` is bound to."""

from typing import Any

import numpy as np

from semibandits.agent.scores import MOST_ATTEMPTS
from semibandits.kernel import LANES, lane_loops
from semibandits.rng import below
from semibandits.simulation.engines.bindings import (
    CLIPS,
    GLANCES,
    OWN_CLOCKS,
    REDRAWS,
    USERS_CODE,
    USERS_ORACLE,
    VARIABLE_SIZE,
    for_oracle,
    glance,
    load,
    load_clock,
    oracle,
    scale_at,
    score,
)
from semibandits.simulation.engines.lanes import POLICY, View, any_fault
from semibandits.simulation.engines.watch import LANE, THE_SET, WHOSE, WRONG_ANSWER

HUGE = 1e150
"""Sums of such scores may not be finite; the plain loop knows what to do with them."""


def own_score(view: View, item: Any, lane: Any) -> Any:
    """A lane's score of an item, as the oracle wants it, worked out on the spot."""
    return _score_with(view, item, lane, view.keys[POLICY, lane])


def _score_with(view: View, item: Any, lane: Any, key: Any) -> Any:
    x = score(load(view.stats, item, lane), _clock_of(view, lane), key, np.uint64(item), view.params)
    return _as_wanted(view, item, x)


def _at_a_glance(view: View, item: Any, lane: Any) -> Any:
    x = glance(
        load(view.stats, item, lane), _clock_of(view, lane), view.keys[POLICY, lane], np.uint64(item), view.params
    )
    return _as_wanted(view, item, x)


def _clock_of(view: View, lane: Any) -> Any:
    if OWN_CLOCKS:
        return load_clock(view.clocks, 0, lane)
    return view.clock


def _as_wanted(view: View, item: Any, x: Any) -> Any:
    if CLIPS:
        x = 1.0 if x > 1.0 else x
    return for_oracle(x, scale_at(view.lo, item), scale_at(view.hi, item))


def kept_score(view: View, item: Any, lane: Any) -> Any:
    return view.scores[item, lane]


@lane_loops
def _keep_scores(view: View, scores: Any, faults: Any) -> None:
    for item in range(np.uint32(scores.shape[0])):
        for lane in range(LANES):
            x = own_score(view, item, lane)
            faults[lane] += 0.0 * x
            scores[item, lane] = x


@lane_loops
def _keep_drawn_scores(view: View, scores: Any, queue: Any, faults: Any) -> None:
    """Scores that may be rejected: those are drawn again, side by side whatever run they belong to."""
    attempt, rejected = -1 if GLANCES else 0, 0
    for item in range(np.uint32(scores.shape[0])):
        new: Any = 0
        for lane in range(LANES):
            x = _at_a_glance(view, item, lane)
            faults[lane] += 0.0 * (x if x == x else 0.0)
            scores[item, lane] = x
            new += np.int64(x != x)
        if new > 0:
            rejected = _list_rejected(scores, queue, item, rejected)
    while rejected > 0 and attempt < MOST_ATTEMPTS - 1:
        attempt += 1
        for first in range(0, rejected, LANES):
            for place in range(LANES):
                item, lane = divmod(queue[min(first + place, rejected - 1)], np.uint32(LANES))
                key = view.keys[POLICY, lane]
                key = below(key, attempt) if attempt > 0 else key
                scores[item, lane] = _score_with(view, item, lane, key)
        rejected = _shorten(scores, queue, rejected)
    _report_rejected(queue, rejected, faults)


def _list_rejected(scores: Any, queue: Any, item: Any, size: Any) -> Any:
    """Queues the lanes in which the item's score is NaN, as item · LANES + lane; returns how many there are in all."""
    for lane in range(LANES):
        queue[size] = item * LANES + lane
        size += np.int64(scores[item, lane] != scores[item, lane])
    return size


def _shorten(scores: Any, queue: Any, rejected: Any) -> Any:
    size: Any = 0
    for at in range(rejected):
        item, lane = divmod(queue[at], np.uint32(LANES))
        queue[size] = queue[at]
        size += np.int64(scores[item, lane] != scores[item, lane])
    return size


def _report_rejected(queue: Any, rejected: int, faults: Any) -> None:
    for at in range(rejected):
        faults[queue[at] % np.uint32(LANES)] = np.nan


def _all_scores(view: View, faults: Any) -> None:
    if REDRAWS:
        _keep_drawn_scores(view, view.scores, view.queue, faults)
    else:
        _keep_scores(view, view.scores, faults)


def solve_once(view: View, data: Any, work: Any, chosen: Any, faults: Any, now: Any, raw: Any) -> None:
    """For an oracle in lanes that works scores out on the spot, each once."""
    oracle(view, data, work, chosen, faults)


def solve_kept(view: View, data: Any, work: Any, chosen: Any, faults: Any, now: Any, raw: Any) -> None:
    """For an oracle that reads scores more than once, or is a user's."""
    _all_scores(view, faults)
    if USERS_ORACLE:
        now[WHOSE] = THE_SET
        if any_fault(faults) > 0:
            return
    oracle(view, data, work, chosen, faults)


def solve_each(view: View, data: Any, work: Any, chosen: Any, faults: Any, now: Any, raw: Any) -> None:
    """For an oracle that knows nothing of lanes. What it writes is not trusted."""
    scores = view.scores
    weights, room, numbers, integers = work
    _all_scores(view, faults)
    n_items, max_size = scores.shape[0], chosen.shape[0]
    out = room[:max_size]  # what is written beyond it does no harm
    for lane in range(LANES):
        if faults[lane] != 0.0:
            continue
        huge = False
        for item in range(n_items):
            weights[item] = scores[item, lane]
            huge |= not abs(scores[item, lane]) < HUGE
        if huge:
            faults[lane] = np.nan
            continue
        own = lane % numbers.shape[0]
        if USERS_CODE:
            now[LANE], now[WHOSE] = lane, THE_SET
        size = oracle(weights, out, data, numbers[own], integers[own])
        fine = 0 <= size <= max_size and (VARIABLE_SIZE or size == max_size)
        before = np.int64(-1)
        for k in range(size if fine else 0):
            fine &= before < out[k] < n_items
            before = out[k]
            chosen[k, lane] = out[k]
        for k in range(size if fine else 0, max_size):
            chosen[k, lane] = n_items
        if not fine:
            faults[lane] = WRONG_ANSWER
            raw[0] = size
            for k in range(max_size):
                raw[1 + k] = out[k]
            break
