"""The rounds of a block of runs, as text for the compiler.

Runs are lanes: every array ends with an axis of LANES runs, and the innermost loops run over it. The functions of the
policy, the environment and the set stand here as placeholders, which `engine` binds. Nothing is allocated in a round.

A run's statistics are stats[number, item, lane]. Solutions shorter than the longest are padded with item n_items, which
has statistics that nobody reads, weighs nothing and is never asked of the environment.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semibandits.kernel import LANES, lane_loops, placeholder
from semibandits.rng import below

clock, observe, forget, score = (placeholder(name) for name in ("clock", "observe", "forget", "score"))
draw = placeholder("draw")
solve = placeholder("solve")
load, store = placeholder("load"), placeholder("store")
"""All the statistics of an item in a lane, as a tuple."""
load_clock, store_clock = placeholder("load_clock"), placeholder("store_clock")
to_unit, for_oracle = placeholder("to_unit"), placeholder("for_oracle")
oracle = placeholder("oracle")
"""The set's own function; `solve` prepares what it needs."""
RANDOM, CLIPS, OVERWRITES, RAGGED, REALISED, RECORDS = (
    placeholder(name) for name in ("RANDOM", "CLIPS", "OVERWRITES", "RAGGED", "REALISED", "RECORDS")
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
    """(rounds, max_size, LANES): the solutions chosen, where they are recorded."""


class Facts(NamedTuple):
    """What is the same for all runs."""

    checkpoints: Any
    means: Any
    """Of the items, then a 0 for the padding."""
    optimum: Any
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
            view = (block.stats, block.clocks, now, block.keys, p, facts.scale, block.scores)
            solve(view, data, work, block.chosen, block.trouble)
            troubled: Any = 0
            for lane in range(LANES):
                troubled += np.int64(block.trouble[lane] != 0.0)
            if troubled > 0:
                return round
        _learn(round, block.chosen, block.keys, block.stats, tables, facts, p, block.gained)
        if REALISED:
            _draw_optimum(round, facts.optimum, block.keys, tables, block.missed)
        for lane in range(LANES):
            block.regret[lane] += facts.scale[2] * (block.missed[lane] - block.gained[lane])
        if RECORDS:
            for k in range(max_size):
                for lane in range(LANES):
                    block.trace[round - block.cursor[1], k, lane] = block.chosen[k, lane]
        if round == facts.checkpoints[block.cursor[0]]:
            for lane in range(LANES):
                block.curve[block.cursor[0], lane] = block.regret[lane]
            block.cursor[0] += 1
    return last + 1


def own_score(view: Any, item: Any, lane: Any) -> Any:
    """A lane's score of an item, as the oracle wants it, worked out on the spot."""
    stats, clocks, now, keys, p, scale, _ = view
    if RANDOM:  # noqa: SIM108 (the two may be of different types)
        c = load_clock(clocks, 0, lane)
    else:
        c = now
    x = score(load(stats, item, lane), c, keys[POLICY, lane], np.uint64(item), p)
    if CLIPS:
        x = 1.0 if x > 1.0 else x
    return for_oracle(x, scale[0], scale[1])


def kept_score(view: Any, item: Any, lane: Any) -> Any:
    return view[6][item, lane]


@lane_loops
def _keep_scores(view: Any, scores: Any, trouble: Any) -> None:
    for item in range(np.uint32(scores.shape[0])):
        for lane in range(LANES):
            x = own_score(view, item, lane)
            trouble[lane] += 0.0 * x
            scores[item, lane] = x


def solve_kept(view: Any, data: Any, work: Any, chosen: Any, trouble: Any) -> None:
    """For an oracle that reads scores more than once."""
    _keep_scores(view, view[6], trouble)
    oracle(view, data, work, chosen, trouble)


def solve_each(view: Any, data: Any, work: Any, chosen: Any, trouble: Any) -> None:
    """For an oracle that knows nothing of lanes. What it writes is not trusted."""
    scores = view[6]
    weights, room, numbers, integers = work
    _keep_scores(view, scores, trouble)
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
def _learn(round: int, chosen: Any, keys: Any, stats: Any, tables: Any, facts: Facts, p: Any, gained: Any) -> None:
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
            store(stats, item, lane, observe(s, x, round, keys[FEEDBACK, lane], np.uint64(item), p))
            if REALISED:
                gained[lane] += weight if item < n_items else 0.0
            else:
                gained[lane] += means[item]


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


# A tuple of all numbers of an item in a lane is read and written by text of its own for each length.


def _load_0(array: Any, item: Any, lane: Any) -> Any:
    return ()


def _load_1(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane],)


def _load_2(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane], array[1, item, lane])


def _load_3(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane], array[1, item, lane], array[2, item, lane])


def _load_4(array: Any, item: Any, lane: Any) -> Any:
    return (array[0, item, lane], array[1, item, lane], array[2, item, lane], array[3, item, lane])


def _store_0(array: Any, item: Any, lane: Any, values: Any) -> None:
    pass


def _store_1(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]


def _store_2(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]
    array[1, item, lane] = values[1]


def _store_3(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]
    array[1, item, lane] = values[1]
    array[2, item, lane] = values[2]


def _store_4(array: Any, item: Any, lane: Any, values: Any) -> None:
    array[0, item, lane] = values[0]
    array[1, item, lane] = values[1]
    array[2, item, lane] = values[2]
    array[3, item, lane] = values[3]


LOADS, STORES = (_load_0, _load_1, _load_2, _load_3, _load_4), (_store_0, _store_1, _store_2, _store_3, _store_4)


@functools.cache
def loader(size: int) -> Callable[..., Any]:
    """Reads numbers 0 to size-1 of an item in a lane."""
    if size < len(LOADS):
        return LOADS[size]
    last, shorter = size - 1, loader(size - 1)

    def load(array: Any, item: Any, lane: Any) -> Any:
        return shorter(array, item, lane) + (array[last, item, lane],)  # noqa: RUF005 (unpacking does not compile)

    return load


@functools.cache
def storer(size: int) -> Callable[..., Any]:
    """Writes them."""
    if size < len(STORES):
        return STORES[size]
    last, shorter = size - 1, storer(size - 1)

    def store(array: Any, item: Any, lane: Any, values: Any) -> None:
        shorter(array, item, lane, values)
        array[last, item, lane] = values[last]

    return store
