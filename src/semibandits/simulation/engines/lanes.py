"""The rounds of a block of runs, as kernel functions.

Runs are lanes: every array ends with an axis of LANES runs, and the innermost loops run over it. The functions of the
policy, the environment and the set are placeholders, see `bindings.LanesBindings`. Nothing is allocated in a round.

A run's statistics are stats[number, item, lane]. Solutions shorter than the longest are padded with item n_items, which
has statistics that nobody reads, weighs nothing and is never asked of the environment.
"""

from typing import Any, NamedTuple

import numpy as np

from semibandits.kernel import LANES, lane_loops
from semibandits.rng import below
from semibandits.simulation.engines.bindings import (
    DRAWS_APART,
    DRIFTS,
    LISTS,
    OVERWRITES,
    OWN_CLOCKS,
    POOLS,
    RANDOM,
    REALISED,
    RECORDS,
    USERS_CODE,
    USERS_ORACLE,
    USERS_WORLD,
    VARIABLE_SIZE,
    WINDOW,
    clock,
    draw,
    forget,
    limit_at,
    load,
    mean,
    observe,
    scale_at,
    solve,
    store,
    store_clock,
    to_unit,
)
from semibandits.simulation.engines.constants import Constants
from semibandits.simulation.engines.lanes_pooling import clock_in, pool
from semibandits.simulation.engines.watch import (
    LANE,
    ODD_ITEM,
    ODD_VALUE,
    ROUND,
    THE_POLICY,
    THE_WORLD,
    WHOSE,
    WRONG_ANSWER,
    WRONG_MEAN,
    WRONG_WEIGHT,
    hashed,
    is_full,
    listed,
)

WORLD, POLICY, FEEDBACK = 0, 1, 2
REACHED, TRACED_FROM = 0, 1
"""What a cursor holds: how many checkpoints are behind us, and the first round of `trace`."""


class Block(NamedTuple):
    """What a block of runs carries from round to round."""

    streams: Any
    """(3, LANES): the keys above all rounds, for world, policy and feedback."""
    keys: Any
    """(3, LANES): the keys of the round."""
    stats: Any
    clocks: Any
    """(numbers, 1, LANES), where the policy is random or pools: others have one clock for all."""
    totals: Any
    """(numbers, 1, LANES): what the items share, where they do."""
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
    faults: Any
    """Not 0 where a score was not finite, or a user's function has done wrong."""
    regret: Any
    cursor: Any
    """[REACHED, TRACED_FROM]"""
    curve: Any
    """(checkpoints, LANES)"""
    trace: Any
    """(rounds, max_size, LANES): the solutions chosen, where something is recorded."""
    weights: Any
    """(max_size, LANES): what the chosen items weigh, where something is recorded or the environment is a user's."""
    sums: Any
    """(n_items + 1, LANES): all that an item weighed while it was chosen, where that is recorded."""
    ring: Any
    """(window, max_size, LANES): the solutions of the last rounds, round t in place t modulo the window."""
    now: Any
    """[ROUND, LANE or -1, WHOSE] of the function that is called, where some are users': for what they raise."""
    odd: Any
    """[ODD_ITEM, ODD_VALUE]: an item, and what it weighs, where that is out of bounds; the item is -1 before."""
    raw: Any
    """(max_size + 1,): the size and the items of a wrong answer, as they were written."""
    answers: Any
    """What a user's oracle has answered, see `watch.Answers`."""


class View(NamedTuple):
    """What scores are worked out from in a round: `score_of(view, item, lane)` reads it."""

    stats: Any
    clocks: Any
    clock: Any
    """The one for all lanes, where they have none of their own."""
    keys: Any
    params: Any
    lo: Any
    hi: Any
    scores: Any
    queue: Any


@lane_loops
def play(first: int, last: int, block: Block, p: Any, constants: Constants, tables: Any, data: Any, work: Any) -> int:
    """Plays rounds `first` to `last`. Returns the round after, or the first that could not be played."""
    init_rounds = constants.init_first.size - 1
    max_size = np.uint32(block.chosen.shape[0])
    for round in range(first, last + 1):
        if USERS_CODE:
            block.now[ROUND], block.now[LANE], block.now[WHOSE] = round, -1, THE_POLICY
        if LISTS and is_full(block.answers, LANES):
            return round
        for lane in range(LANES):
            block.keys[WORLD, lane] = below(block.streams[WORLD, lane], round)
        if RANDOM:
            for lane in range(LANES):
                block.keys[POLICY, lane] = below(block.streams[POLICY, lane], round)
                block.keys[FEEDBACK, lane] = below(block.streams[FEEDBACK, lane], round)
        if round <= init_rounds:
            begin, end = constants.init_first[round - 1], constants.init_first[round]
            for k in range(max_size):
                item = constants.init_items[begin + k] if begin + k < end else np.uint32(constants.means.size - 1)
                for lane in range(LANES):
                    block.chosen[k, lane] = item
            if OVERWRITES:
                _take_back(round, begin, end, constants, block.streams, block.stats, tables, p)
        else:
            if POOLS:
                pool(round, block.stats, block.totals, constants.lo, constants.hi, p)
            if OWN_CLOCKS:
                for lane in range(LANES):
                    c = clock_in(lane, clock(round, block.keys[POLICY, lane], p), block.totals, p)
                    store_clock(block.clocks, 0, lane, c)
            view = View(
                stats=block.stats,
                clocks=block.clocks,
                clock=clock(round, np.uint64(0), p),
                keys=block.keys,
                params=p,
                lo=constants.lo,
                hi=constants.hi,
                scores=block.scores,
                queue=block.queue,
            )
            solve(view, data, work, block.chosen, block.faults, block.now, block.raw)
            if USERS_ORACLE:
                _look(block.chosen, np.uint32(constants.means.size - 1), block.answers.hashes, block.faults)
            if any_fault(block.faults) > 0:
                return round
            if LISTS:
                _list_answers(round, block.chosen, block.answers)
        if WINDOW:
            _forget_oldest(round, block.ring, block.chosen, block.streams, block.stats, tables, constants, p)
        if DRAWS_APART:
            drawn = block.weights, block.missed, block.faults, block.now, block.odd
            _draw_each(round, block.chosen, block.keys, tables, constants, *drawn)
        _learn(round, block.chosen, block.keys, block.stats, tables, constants, p, block.gained, block.weights)
        if REALISED and not DRAWS_APART:
            _draw_optimum(round, constants.optimum, block.keys, tables, block.missed)
        if USERS_WORLD:
            if not DRAWS_APART:
                _look_at_weights(block.chosen, block.weights, constants, block.faults)
            if any_fault(block.faults) > 0:
                if not DRAWS_APART:
                    _note_odd(block.chosen, block.weights, constants, block.odd)
                return round
        if DRIFTS:
            for lane in range(LANES):
                block.missed[lane] = constants.reference[round - 1]
        for lane in range(LANES):
            block.regret[lane] += constants.sign * (block.missed[lane] - block.gained[lane])
        if RECORDS:
            for k in range(max_size):
                for lane in range(LANES):
                    block.trace[round - block.cursor[TRACED_FROM], k, lane] = block.chosen[k, lane]
            if block.sums.shape[0] > 0:
                _add_up(block.chosen, block.weights, block.sums)
        if round == constants.checkpoints[block.cursor[REACHED]]:
            for lane in range(LANES):
                block.curve[block.cursor[REACHED], lane] = block.regret[lane]
            block.cursor[REACHED] += 1
    return last + 1


@lane_loops
def any_fault(faults: Any) -> Any:
    """In how many lanes."""
    count: Any = 0
    for lane in range(LANES):
        count += np.int64(faults[lane] != 0.0)
    return count


@lane_loops
def _look(chosen: Any, n_items: Any, hashes: Any, faults: Any) -> None:
    """Whether the answers in lanes are ascending and of known items, and a number that tells them apart."""
    if LISTS:
        for lane in range(LANES):
            hashes[0, lane] = np.uint64(0)
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            item = chosen[k, lane]
            before = chosen[k - np.uint32(k > 0), lane]
            fine = item < n_items and (k == 0 or before < item)
            if VARIABLE_SIZE:
                fine = fine or item == n_items
            faults[lane] = faults[lane] if fine or faults[lane] != 0.0 else WRONG_ANSWER
            if LISTS:
                hashes[0, lane] = hashed(hashes[0, lane], item)


def _list_answers(round: Any, chosen: Any, answers: Any) -> None:
    """Those not seen before are listed, to be compared with what the set contains."""
    for lane in range(LANES):
        if answers.hashes[0, lane] != answers.hashes[1, lane]:
            answers.hashes[1, lane] = answers.hashes[0, lane]
            place = listed(answers, answers.hashes[0, lane], round, lane)
            if place >= 0:
                for k in range(chosen.shape[0]):
                    answers.items[place, k] = chosen[k, lane]


@lane_loops
def _learn(
    round: int, chosen: Any, keys: Any, stats: Any, tables: Any, constants: Constants, p: Any, gained: Any, weights: Any
) -> None:
    """Draws the weights of the chosen items, and takes them in."""
    means, lo, hi = constants.means, constants.lo, constants.hi
    n_items = np.uint32(means.size - 1)
    for lane in range(LANES):
        gained[lane] = 0.0
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            item = chosen[k, lane]
            real = item
            if VARIABLE_SIZE:
                real = item if item < n_items else np.uint32(0)
            weight = weights[k, lane] if DRAWS_APART else draw(round, keys[WORLD, lane], real, tables)
            x = to_unit(weight, scale_at(lo, real), scale_at(hi, real))
            s = load(stats, item, lane)
            store(stats, item, lane, observe(s, x, round, keys[FEEDBACK, lane], np.uint64(real), p))
            if RECORDS or (USERS_WORLD and not DRAWS_APART):
                weights[k, lane] = weight
            if REALISED:
                gained[lane] += weight if item < n_items else 0.0
            elif DRIFTS:
                gained[lane] += mean(round, real, tables) if item < n_items else 0.0
            else:
                gained[lane] += means[item]


@lane_loops
def _look_at_weights(chosen: Any, weights: Any, constants: Constants, faults: Any) -> None:
    lowest, highest = constants.lowest, constants.highest
    n_items = np.uint32(constants.means.size - 1)
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            item = chosen[k, lane]
            fine = limit_at(lowest, item) <= weights[k, lane] <= limit_at(highest, item) or item == n_items
            faults[lane] = faults[lane] if fine else WRONG_WEIGHT


def _note_odd(chosen: Any, weights: Any, constants: Constants, odd: Any) -> None:
    """The first weight that is out of bounds, in the first lane that has one."""
    n_items = constants.means.size - 1
    lowest, highest = constants.lowest, constants.highest
    for lane in range(LANES):
        for k in range(chosen.shape[0]):
            item, weight = chosen[k, lane], weights[k, lane]
            if item < n_items and not limit_at(lowest, item) <= weight <= limit_at(highest, item):
                _note(odd, item, weight)


def _draw_each(
    round: int,
    chosen: Any,
    keys: Any,
    tables: Any,
    constants: Constants,
    weights: Any,
    missed: Any,
    faults: Any,
    now: Any,
    odd: Any,
) -> None:
    """What the chosen items weigh, and those of the optimum, where a user's function says so: looked at one by one."""
    n_items = constants.means.size - 1
    lowest, highest = constants.lowest, constants.highest
    optimum = constants.optimum
    now[WHOSE] = THE_WORLD
    for lane in range(LANES):
        now[LANE] = lane
        key = keys[WORLD, lane]
        for k in range(chosen.shape[0]):
            item = chosen[k, lane]
            if item < n_items:
                weight = draw(round, key, item, tables)
                weights[k, lane] = weight
                least, most = limit_at(lowest, item), limit_at(highest, item)
                if not least <= weight <= most and faults[lane] == 0.0:
                    faults[lane] = WRONG_WEIGHT
                    _note(odd, item, weight)
                if DRIFTS:
                    worth = mean(round, item, tables)
                    if not least <= worth <= most and faults[lane] == 0.0:
                        faults[lane] = WRONG_MEAN
                        _note(odd, item, worth)
        if REALISED:
            missed[lane] = 0.0
            for k in range(optimum.size):
                weight = draw(round, key, optimum[k], tables)
                missed[lane] += weight
                if not limit_at(lowest, optimum[k]) <= weight <= limit_at(highest, optimum[k]) and faults[lane] == 0.0:
                    faults[lane] = WRONG_WEIGHT
                    _note(odd, optimum[k], weight)
    now[LANE], now[WHOSE] = -1, THE_POLICY


def _note(odd: Any, item: Any, weight: Any) -> None:
    """The first one stays."""
    if odd[ODD_ITEM] < 0.0:
        odd[ODD_ITEM], odd[ODD_VALUE] = item, weight


@lane_loops
def _add_up(chosen: Any, weights: Any, sums: Any) -> None:
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            sums[chosen[k, lane], lane] += weights[k, lane]


@lane_loops
def _forget_oldest(
    round: int, ring: Any, chosen: Any, streams: Any, stats: Any, tables: Any, constants: Constants, p: Any
) -> None:
    """The round that leaves the window is forgotten (its weights are drawn once more), and this one takes its place."""
    n_items = np.uint32(constants.means.size - 1)
    place, oldest = round % ring.shape[0], round - ring.shape[0]
    for k in range(np.uint32(chosen.shape[0])):
        if oldest > 0:
            for lane in range(LANES):
                item = ring[place, k, lane]
                real = item
                if VARIABLE_SIZE:
                    real = item if item < n_items else np.uint32(0)
                weight = draw(oldest, below(streams[WORLD, lane], oldest), real, tables)
                x = to_unit(weight, scale_at(constants.lo, real), scale_at(constants.hi, real))
                store(stats, item, lane, forget(load(stats, item, lane), x, round, p))
        for lane in range(LANES):
            ring[place, k, lane] = chosen[k, lane]


@lane_loops
def _take_back(
    round: int, begin: int, end: int, constants: Constants, streams: Any, stats: Any, tables: Any, p: Any
) -> None:
    """Before Init observes an item again it forgets what it saw of it before: which is drawn once more."""
    for k in range(begin, end):
        item, before = constants.init_items[k], constants.init_before[k]
        if before > 0:
            for lane in range(LANES):
                weight = draw(before, below(streams[WORLD, lane], before), item, tables)
                x = to_unit(weight, scale_at(constants.lo, item), scale_at(constants.hi, item))
                store(stats, item, lane, forget(load(stats, item, lane), x, round, p))


@lane_loops
def _draw_optimum(round: int, optimum: Any, keys: Any, tables: Any, missed: Any) -> None:
    for lane in range(LANES):
        missed[lane] = 0.0
    for k in range(np.uint32(optimum.size)):
        for lane in range(LANES):
            missed[lane] += draw(round, keys[WORLD, lane], optimum[k], tables)
