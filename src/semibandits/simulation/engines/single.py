"""The rounds of one run of a policy that chooses whole solutions, as kernel functions.

The kernels of the policy and the functions of the environment are placeholders, see `bindings.SingleBindings`.
"""

from typing import Any, NamedTuple

import numpy as np

from semibandits.rng import below
from semibandits.simulation.engines.bindings import (
    DRIFTS,
    LISTS,
    NOTE_OF_CHOSEN,
    REALISED,
    RECORDS,
    SUM_OF_WEIGHTS,
    SUM_OF_X,
    USERS_ANSWERS,
    USERS_CODE,
    USERS_WORLD,
    choose,
    draw,
    learn,
    limit_at,
    mean,
    scale_at,
    sum_to_unit,
    to_unit,
)
from semibandits.simulation.engines.constants import Constants
from semibandits.simulation.engines.lanes import FEEDBACK, POLICY, REACHED, TRACED_FROM, WORLD
from semibandits.simulation.engines.watch import (
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


class Run(NamedTuple):
    """What a run carries from round to round, beside the policy's state."""

    streams: Any
    """The keys above all rounds, for world, policy and feedback."""
    out: Any
    note: Any
    x: Any
    regret: Any
    """One number."""
    cursor: Any
    """[REACHED, TRACED_FROM]"""
    curve: Any
    """(checkpoints, 1)"""
    trace: Any
    """(rounds, max_size, 1): the solutions chosen, where something is recorded."""
    sums: Any
    """(n_items,): all that an item weighed while it was chosen, where that is recorded."""
    faults: Any
    now: Any
    odd: Any
    raw: Any
    answers: Any
    """As in `lanes.Block`."""


def play(first: int, last: int, run: Run, state: Any, constants: Constants, tables: Any, data: Any, work: Any) -> int:
    """Plays rounds `first` to `last`. Returns the round after, or the first that could not be played."""
    init_rounds = constants.init_first.size - 1
    n_items = constants.means.size - 1
    lo, hi = constants.lo, constants.hi
    for round in range(first, last + 1):
        if USERS_CODE:
            run.now[ROUND], run.now[WHOSE] = round, THE_POLICY
        if LISTS and is_full(run.answers, 1):
            return round
        world = below(run.streams[WORLD], round)
        if round <= init_rounds:
            begin, end = constants.init_first[round - 1], constants.init_first[round]
            size = end - begin
            for k in range(size):
                run.out[k] = constants.init_items[begin + k]
        else:
            size = choose(state, run.out, run.note, round, below(run.streams[POLICY], round), data, work)
            if size < 0 and not USERS_ANSWERS:
                return round
            if USERS_ANSWERS:
                if not _is_solution(run.out, size, n_items):
                    run.faults[0] = WRONG_ANSWER
                    run.raw[0] = size
                    for k in range(run.out.size):
                        run.raw[1 + k] = run.out[k]
                    return round
                if LISTS:
                    _list_answer(round, run.out, size, n_items, run.answers)
        if USERS_CODE:
            run.now[WHOSE] = THE_WORLD
        gained = 0.0
        sum = 0.0
        for k in range(size):
            item = np.uint64(run.out[k])
            weight = draw(round, world, item, tables)
            if USERS_WORLD and not _within(constants, item, weight):
                run.faults[0] = WRONG_WEIGHT
                run.odd[ODD_ITEM], run.odd[ODD_VALUE] = item, weight
                return round
            run.x[k] = to_unit(weight, scale_at(lo, item), scale_at(hi, item))
            sum += weight if SUM_OF_WEIGHTS else run.x[k]
            if RECORDS and run.sums.size > 0:
                run.sums[item] += weight
            if REALISED:
                gained += weight
            elif DRIFTS:
                worth = mean(round, item, tables)
                if USERS_WORLD and not _within(constants, item, worth):
                    run.faults[0] = WRONG_MEAN
                    run.odd[ODD_ITEM], run.odd[ODD_VALUE] = item, worth
                    return round
                gained += worth
            else:
                gained += constants.means[item]
        told = size
        if SUM_OF_X or SUM_OF_WEIGHTS:
            run.x[0] = sum_to_unit(sum, size, lo, hi) if SUM_OF_WEIGHTS else sum
            told = 1
        noted = run.note.size
        if NOTE_OF_CHOSEN:
            noted = size
        note = run.note[: noted if round > init_rounds else 0]
        key = below(run.streams[FEEDBACK], round)
        if RECORDS:
            for k in range(run.trace.shape[1]):
                run.trace[round - run.cursor[TRACED_FROM], k, 0] = run.out[k] if k < size else n_items
        if USERS_CODE:
            run.now[WHOSE] = THE_POLICY
        learn(state, run.out[:size], run.x[:told], note, round, key, data, work)
        missed = constants.reference[0]
        if DRIFTS:
            missed = constants.reference[round - 1]
        if REALISED:
            missed = 0.0
            for k in range(constants.optimum.size):
                weight = draw(round, world, np.uint64(constants.optimum[k]), tables)
                if USERS_WORLD and not _within(constants, constants.optimum[k], weight):
                    run.faults[0] = WRONG_WEIGHT
                    run.odd[ODD_ITEM], run.odd[ODD_VALUE] = constants.optimum[k], weight
                    return round
                missed += weight
        run.regret[0] += constants.sign * (missed - gained)
        if round == constants.checkpoints[run.cursor[REACHED]]:
            run.curve[run.cursor[REACHED], 0] = run.regret[0]
            run.cursor[REACHED] += 1
    return last + 1


def _within(constants: Constants, item: Any, weight: Any) -> Any:
    """Whether a weight is within the limits of this item."""
    return limit_at(constants.lowest, item) <= weight <= limit_at(constants.highest, item)


def _is_solution(out: Any, size: Any, n_items: Any) -> Any:
    """Whether the first items are known ones, ascending."""
    if not 0 <= size <= out.size:
        return False
    before = np.int64(-1)
    for k in range(size):
        if not before < out[k] < n_items:
            return False
        before = out[k]
    return True


def _list_answer(round: Any, out: Any, size: Any, n_items: Any, answers: Any) -> None:
    """If it was not seen before, to be compared with what the set contains."""
    number = np.uint64(0)
    for k in range(out.size):
        number = hashed(number, np.uint64(out[k] if k < size else n_items))
    if number == answers.hashes[1, 0]:
        return
    answers.hashes[1, 0] = number
    place = listed(answers, number, round, 0)
    if place >= 0:
        for k in range(out.size):
            answers.items[place, k] = np.uint32(out[k] if k < size else n_items)
