"""The rounds of a block of runs, as text for the compiler.

Runs are lanes: every array ends with an axis of LANES runs, and the innermost loops run over it. The functions of the
policy, the environment and the set stand here as placeholders, which `engine` binds. Nothing is allocated in a round.

A run's statistics are stats[number, item, lane]. Solutions shorter than the longest are padded with item n_items, which
has statistics that nobody reads, weighs nothing and is never asked of the environment.
"""

from typing import Any, NamedTuple

import numpy as np

from semibandits.kernel import LANES, lane_loops, placeholder
from semibandits.rng import below
from semibandits.scoring import MOST_ATTEMPTS

clock, observe, forget, score, glance = (
    placeholder(name) for name in ("clock", "observe", "forget", "score", "glance")
)
draw, mean = placeholder("draw"), placeholder("mean")
solve = placeholder("solve")
load, store = placeholder("load"), placeholder("store")
"""All the statistics of an item in a lane, as a tuple."""
load_clock, store_clock = placeholder("load_clock"), placeholder("store_clock")
to_unit, for_oracle = placeholder("to_unit"), placeholder("for_oracle")
oracle = placeholder("oracle")
"""The set's own function; `solve` prepares what it needs."""
RANDOM, REDRAWS, GLANCES, WINDOW, CLIPS = (
    placeholder(name) for name in ("RANDOM", "REDRAWS", "GLANCES", "WINDOW", "CLIPS")
)
OVERWRITES, RAGGED, REALISED, DRIFTS, RECORDS = (
    placeholder(name) for name in ("OVERWRITES", "RAGGED", "REALISED", "DRIFTS", "RECORDS")
)

WORLD, POLICY, FEEDBACK = 0, 1, 2
HUGE = 1e150
"""Sums of such scores may not be finite; the plain loop knows what to do with them."""


class Block(NamedTuple):
    """What a block of runs carries from round to round."""

    streams: Any
    """(3, LANES): the keys above all rounds, for world, policy and feedback."""
    keys: Any
    """(3, LANES): the keys of the round."""
    stats: Any
    clocks: Any
    """(numbers, 1, LANES), where the policy is random: others have one clock for all."""
    scores: Any
    """(n_items, LANES), where the oracle wants them all."""
    queue: Any
    """(n_items · LANES + 1): items and lanes whose scores are to be drawn again."""
    chosen: Any
    """(max_size, LANES)"""
    gained: Any
    """The total weight, or mean weight, of the solution chosen."""
    missed: Any
    """The same of the optimum."""
    trouble: Any
    """Not 0 where a score was not finite."""
    regret: Any
    cursor: Any
    """[how many checkpoints are behind us, the first round of `trace`]"""
    curve: Any
    """(checkpoints, LANES)"""
    trace: Any
    """(rounds, max_size, LANES): the solutions chosen, where something is recorded."""
    weights: Any
    """(max_size, LANES): what the chosen items weigh, where something is recorded."""
    sums: Any
    """(n_items + 1, LANES): all that an item weighed while it was chosen, where that is recorded."""
    ring: Any
    """(window, max_size, LANES): the solutions of the last rounds, round t in place t modulo the window."""


class Facts(NamedTuple):
    """What is the same for all runs."""

    checkpoints: Any
    means: Any
    """Of the items, then a 0 for the padding."""
    optimum: Any
    reference: Any
    """For every round what regret is measured against, where the means drift."""
    init_first: Any
    """Init's solution in round t is init_items[init_first[t-1] : init_first[t]]."""
    init_items: Any
    init_before: Any
    """The round in which Init last saw the item before, or 0."""
    scale: Any
    """The bounds of the weights, and the sign of regret: -1 for costs."""


@lane_loops
def play(first: int, last: int, block: Block, facts: Facts, p: Any, tables: Any, data: Any, work: Any) -> int:
    """Plays rounds `first` to `last`. Returns the round after, or the first that could not be played."""
    init_rounds = facts.init_first.size - 1
    max_size = np.uint32(block.chosen.shape[0])
    for round in range(first, last + 1):
        for lane in range(LANES):
            block.keys[WORLD, lane] = below(block.streams[WORLD, lane], round)
        if RANDOM:
            for lane in range(LANES):
                block.keys[POLICY, lane] = below(block.streams[POLICY, lane], round)
                block.keys[FEEDBACK, lane] = below(block.streams[FEEDBACK, lane], round)
        if round <= init_rounds:
            begin, end = facts.init_first[round - 1], facts.init_first[round]
            for k in range(max_size):
                item = facts.init_items[begin + k] if begin + k < end else np.uint32(facts.means.size - 1)
                for lane in range(LANES):
                    block.chosen[k, lane] = item
            if OVERWRITES:
                _take_back(round, begin, end, facts, block.streams, block.stats, tables, p)
        else:
            if RANDOM:
                for lane in range(LANES):
                    store_clock(block.clocks, 0, lane, clock(round, block.keys[POLICY, lane], p))
            now = clock(round, np.uint64(0), p)
            view = (block.stats, block.clocks, now, block.keys, p, facts.scale, block.scores, block.queue)
            solve(view, data, work, block.chosen, block.trouble)
            troubled: Any = 0
            for lane in range(LANES):
                troubled += np.int64(block.trouble[lane] != 0.0)
            if troubled > 0:
                return round
        if WINDOW:
            _forget_oldest(round, block.ring, block.chosen, block.streams, block.stats, tables, facts, p)
        _learn(round, block.chosen, block.keys, block.stats, tables, facts, p, block.gained, block.weights)
        if REALISED:
            _draw_optimum(round, facts.optimum, block.keys, tables, block.missed)
        if DRIFTS:
            for lane in range(LANES):
                block.missed[lane] = facts.reference[round - 1]
        for lane in range(LANES):
            block.regret[lane] += facts.scale[2] * (block.missed[lane] - block.gained[lane])
        if RECORDS:
            for k in range(max_size):
                for lane in range(LANES):
                    block.trace[round - block.cursor[1], k, lane] = block.chosen[k, lane]
            if block.sums.shape[0] > 0:
                _add_up(block.chosen, block.weights, block.sums)
        if round == facts.checkpoints[block.cursor[0]]:
            for lane in range(LANES):
                block.curve[block.cursor[0], lane] = block.regret[lane]
            block.cursor[0] += 1
    return last + 1


def own_score(view: Any, item: Any, lane: Any) -> Any:
    """A lane's score of an item, as the oracle wants it, worked out on the spot."""
    return _score_with(view, item, lane, view[3][POLICY, lane])


def _score_with(view: Any, item: Any, lane: Any, key: Any) -> Any:
    x = score(load(view[0], item, lane), _clock_of(view, lane), key, np.uint64(item), view[4])
    return _as_wanted(view, x)


def _at_a_glance(view: Any, item: Any, lane: Any) -> Any:
    x = glance(load(view[0], item, lane), _clock_of(view, lane), view[3][POLICY, lane], np.uint64(item), view[4])
    return _as_wanted(view, x)


def _clock_of(view: Any, lane: Any) -> Any:
    if RANDOM:
        return load_clock(view[1], 0, lane)
    return view[2]


def _as_wanted(view: Any, x: Any) -> Any:
    if CLIPS:
        x = 1.0 if x > 1.0 else x
    return for_oracle(x, view[5][0], view[5][1])


def kept_score(view: Any, item: Any, lane: Any) -> Any:
    return view[6][item, lane]


@lane_loops
def _keep_scores(view: Any, scores: Any, trouble: Any) -> None:
    for item in range(np.uint32(scores.shape[0])):
        for lane in range(LANES):
            x = own_score(view, item, lane)
            trouble[lane] += 0.0 * x
            scores[item, lane] = x


@lane_loops
def _keep_drawn_scores(view: Any, scores: Any, queue: Any, trouble: Any) -> None:
    """Scores that may be rejected: those are drawn again, side by side whatever run they belong to."""
    attempt, rejected = -1 if GLANCES else 0, 0
    for item in range(np.uint32(scores.shape[0])):
        new: Any = 0
        for lane in range(LANES):
            x = _at_a_glance(view, item, lane)
            trouble[lane] += 0.0 * (x if x == x else 0.0)
            scores[item, lane] = x
            new += np.int64(x != x)
        if new > 0:
            rejected = _list_rejected(scores, queue, item, rejected)
    while rejected > 0 and attempt < MOST_ATTEMPTS - 1:
        attempt += 1
        for first in range(0, rejected, LANES):
            for place in range(LANES):
                item, lane = divmod(queue[min(first + place, rejected - 1)], np.uint32(LANES))
                key = view[3][POLICY, lane]
                key = below(key, attempt) if attempt > 0 else key
                scores[item, lane] = _score_with(view, item, lane, key)
        rejected = _shorten(scores, queue, rejected)
    _report_rejected(queue, rejected, trouble)


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


def _report_rejected(queue: Any, rejected: int, trouble: Any) -> None:
    for at in range(rejected):
        trouble[queue[at] % np.uint32(LANES)] = np.nan


def _all_scores(view: Any, trouble: Any) -> None:
    if REDRAWS:
        _keep_drawn_scores(view, view[6], view[7], trouble)
    else:
        _keep_scores(view, view[6], trouble)


def solve_kept(view: Any, data: Any, work: Any, chosen: Any, trouble: Any) -> None:
    """For an oracle that reads scores more than once."""
    _all_scores(view, trouble)
    oracle(view, data, work, chosen, trouble)


def solve_each(view: Any, data: Any, work: Any, chosen: Any, trouble: Any) -> None:
    """For an oracle that knows nothing of lanes. What it writes is not trusted."""
    scores = view[6]
    weights, room, numbers, integers = work
    _all_scores(view, trouble)
    n_items, max_size = scores.shape[0], chosen.shape[0]
    out = room[:max_size]  # what is written beyond it does no harm
    for lane in range(LANES):
        if trouble[lane] != 0.0:
            continue
        huge = False
        for item in range(n_items):
            weights[item] = scores[item, lane]
            huge |= not abs(scores[item, lane]) < HUGE
        own = lane % numbers.shape[0]
        size = -1 if huge else oracle(weights, out, data, numbers[own], integers[own])
        if not 0 <= size <= max_size:
            trouble[lane] = np.nan
            continue
        before = np.int64(-1)
        for k in range(size):
            if not before < out[k] < n_items:
                trouble[lane] = np.nan
                break
            before = out[k]
            chosen[k, lane] = out[k]
        for k in range(size, max_size):
            chosen[k, lane] = n_items


@lane_loops
def _learn(
    round: int, chosen: Any, keys: Any, stats: Any, tables: Any, facts: Facts, p: Any, gained: Any, weights: Any
) -> None:
    """Draws the weights of the chosen items, and takes them in."""
    means, scale = facts.means, facts.scale
    n_items = np.uint32(means.size - 1)
    for lane in range(LANES):
        gained[lane] = 0.0
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            item = chosen[k, lane]
            real = item
            if RAGGED:
                real = item if item < n_items else np.uint32(0)
            weight = draw(round, keys[WORLD, lane], real, tables)
            x = to_unit(weight, scale[0], scale[1])
            s = load(stats, item, lane)
            store(stats, item, lane, observe(s, x, round, keys[FEEDBACK, lane], np.uint64(real), p))
            if RECORDS:
                weights[k, lane] = weight
            if REALISED:
                gained[lane] += weight if item < n_items else 0.0
            elif DRIFTS:
                gained[lane] += mean(round, real, tables) if item < n_items else 0.0
            else:
                gained[lane] += means[item]


@lane_loops
def _add_up(chosen: Any, weights: Any, sums: Any) -> None:
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            sums[chosen[k, lane], lane] += weights[k, lane]


@lane_loops
def _forget_oldest(
    round: int, ring: Any, chosen: Any, streams: Any, stats: Any, tables: Any, facts: Facts, p: Any
) -> None:
    """The round that leaves the window is forgotten (its weights are drawn once more), and this one takes its place."""
    n_items = np.uint32(facts.means.size - 1)
    place, oldest = round % ring.shape[0], round - ring.shape[0]
    for k in range(np.uint32(chosen.shape[0])):
        if oldest > 0:
            for lane in range(LANES):
                item = ring[place, k, lane]
                real = item
                if RAGGED:
                    real = item if item < n_items else np.uint32(0)
                weight = draw(oldest, below(streams[WORLD, lane], oldest), real, tables)
                x = to_unit(weight, facts.scale[0], facts.scale[1])
                store(stats, item, lane, forget(load(stats, item, lane), x, round, p))
        for lane in range(LANES):
            ring[place, k, lane] = chosen[k, lane]


@lane_loops
def _take_back(round: int, begin: int, end: int, facts: Facts, streams: Any, stats: Any, tables: Any, p: Any) -> None:
    """Before Init observes an item again it forgets what it saw of it before: which is drawn once more."""
    for k in range(begin, end):
        item, before = facts.init_items[k], facts.init_before[k]
        if before > 0:
            for lane in range(LANES):
                weight = draw(before, below(streams[WORLD, lane], before), item, tables)
                x = to_unit(weight, facts.scale[0], facts.scale[1])
                store(stats, item, lane, forget(load(stats, item, lane), x, round, p))


@lane_loops
def _draw_optimum(round: int, optimum: Any, keys: Any, tables: Any, missed: Any) -> None:
    for lane in range(LANES):
        missed[lane] = 0.0
    for k in range(np.uint32(optimum.size)):
        for lane in range(LANES):
            missed[lane] += draw(round, keys[WORLD, lane], optimum[k], tables)
