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
from semibandits.simulation.engines.watch import (
    THE_POLICY,
    THE_WORLD,
    WRONG_ANSWER,
    WRONG_MEAN,
    WRONG_WEIGHT,
    hashed,
    is_full,
    listed,
)

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
OVERWRITES, VARIABLE_SIZE, REALISED, DRIFTS, RECORDS = (
    placeholder(name) for name in ("OVERWRITES", "VARIABLE_SIZE", "REALISED", "DRIFTS", "RECORDS")
)
USERS_CODE, USERS_ORACLE, USERS_WORLD = (placeholder(name) for name in ("USERS_CODE", "USERS_ORACLE", "USERS_WORLD"))
"""Whether any of the functions, the oracle, the environment is not of this package, so that it is watched."""
DRAWS_APART = placeholder("DRAWS_APART")
"""Whether its weights are drawn one by one, every index checked."""
LISTS = placeholder("LISTS")
"""Whether new answers of the oracle are listed, to be compared with what the set contains."""

WORLD, POLICY, FEEDBACK = 0, 1, 2


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
    faults: Any
    """Not 0 where a score was not finite, or a user's function has done wrong."""
    regret: Any
    cursor: Any
    """[how many checkpoints are behind us, the first round of `trace`]"""
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
    """[the round, the lane or -1, whose function], where there are users' functions: for what they raise."""
    odd: Any
    """[the item, what it weighs] where that is out of bounds; the item is -1 before."""
    raw: Any
    """(max_size + 1,): the size and the items of a wrong answer, as they were written."""
    answers: Any
    """What a user's oracle has answered, see `watch.Answers`."""


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
    limits: Any
    """The bounds once more, with some room for rounding."""


@lane_loops
def play(first: int, last: int, block: Block, facts: Facts, p: Any, tables: Any, data: Any, work: Any) -> int:
    """Plays rounds `first` to `last`. Returns the round after, or the first that could not be played."""
    init_rounds = facts.init_first.size - 1
    max_size = np.uint32(block.chosen.shape[0])
    for round in range(first, last + 1):
        if USERS_CODE:
            block.now[0], block.now[1], block.now[2] = round, -1, THE_POLICY
        if LISTS and is_full(block.answers, LANES):
            return round
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
            solve(view, data, work, block.chosen, block.faults, block.now, block.raw)
            if USERS_ORACLE:
                _look(block.chosen, np.uint32(facts.means.size - 1), block.answers.hashes, block.faults)
            if any_fault(block.faults) > 0:
                return round
            if LISTS:
                _list_answers(round, block.chosen, block.answers)
        if WINDOW:
            _forget_oldest(round, block.ring, block.chosen, block.streams, block.stats, tables, facts, p)
        if DRAWS_APART:
            drawn = block.weights, block.missed, block.faults, block.now, block.odd
            _draw_each(round, block.chosen, block.keys, tables, facts, *drawn)
        _learn(round, block.chosen, block.keys, block.stats, tables, facts, p, block.gained, block.weights)
        if REALISED and not DRAWS_APART:
            _draw_optimum(round, facts.optimum, block.keys, tables, block.missed)
        if USERS_WORLD:
            if not DRAWS_APART:
                _look_at_weights(block.chosen, block.weights, facts, block.faults)
            if any_fault(block.faults) > 0:
                if not DRAWS_APART:
                    _note_odd(block.chosen, block.weights, facts, block.odd)
                return round
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
            if VARIABLE_SIZE:
                real = item if item < n_items else np.uint32(0)
            weight = weights[k, lane] if DRAWS_APART else draw(round, keys[WORLD, lane], real, tables)
            x = to_unit(weight, scale[0], scale[1])
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
def _look_at_weights(chosen: Any, weights: Any, facts: Facts, faults: Any) -> None:
    lowest, highest = facts.limits
    n_items = np.uint32(facts.means.size - 1)
    for k in range(np.uint32(chosen.shape[0])):
        for lane in range(LANES):
            fine = lowest <= weights[k, lane] <= highest or chosen[k, lane] == n_items
            faults[lane] = faults[lane] if fine else WRONG_WEIGHT


def _note_odd(chosen: Any, weights: Any, facts: Facts, odd: Any) -> None:
    """The first weight that is out of bounds, in the first lane that has one."""
    n_items = facts.means.size - 1
    lowest, highest = facts.limits
    for lane in range(LANES):
        for k in range(chosen.shape[0]):
            weight = weights[k, lane]
            if chosen[k, lane] < n_items and not lowest <= weight <= highest:
                _note(odd, chosen[k, lane], weight)


def _draw_each(
    round: int,
    chosen: Any,
    keys: Any,
    tables: Any,
    facts: Facts,
    weights: Any,
    missed: Any,
    faults: Any,
    now: Any,
    odd: Any,
) -> None:
    """What the chosen items weigh, and those of the optimum, where a user's function says so: looked at one by one."""
    n_items = facts.means.size - 1
    lowest, highest = facts.limits
    optimum = facts.optimum
    now[2] = THE_WORLD
    for lane in range(LANES):
        now[1] = lane
        key = keys[WORLD, lane]
        for k in range(chosen.shape[0]):
            item = chosen[k, lane]
            if item < n_items:
                weight = draw(round, key, item, tables)
                weights[k, lane] = weight
                if not lowest <= weight <= highest and faults[lane] == 0.0:
                    faults[lane] = WRONG_WEIGHT
                    _note(odd, item, weight)
                if DRIFTS:
                    worth = mean(round, item, tables)
                    if not lowest <= worth <= highest and faults[lane] == 0.0:
                        faults[lane] = WRONG_MEAN
                        _note(odd, item, worth)
        if REALISED:
            missed[lane] = 0.0
            for k in range(optimum.size):
                weight = draw(round, key, optimum[k], tables)
                missed[lane] += weight
                if not lowest <= weight <= highest and faults[lane] == 0.0:
                    faults[lane] = WRONG_WEIGHT
                    _note(odd, optimum[k], weight)
    now[1], now[2] = -1, THE_POLICY


def _note(odd: Any, item: Any, weight: Any) -> None:
    """The first one stays."""
    if odd[0] < 0.0:
        odd[0], odd[1] = item, weight


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
                if VARIABLE_SIZE:
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
