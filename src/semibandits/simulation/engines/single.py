"""The rounds of one run of a policy that chooses whole solutions, as text for the compiler.

The kernels of the policy and the functions of the environment stand here as placeholders, which `single_engine` binds.
"""

from typing import Any, NamedTuple

import numpy as np

from semibandits.kernel import placeholder
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

choose, learn = placeholder("choose"), placeholder("learn")
draw, mean = placeholder("draw"), placeholder("mean")
to_unit, sum_to_unit = placeholder("to_unit"), placeholder("sum_to_unit")
SUM_OF_X, SUM_OF_WEIGHTS = placeholder("SUM_OF_X"), placeholder("SUM_OF_WEIGHTS")
NOTE_OF_CHOSEN, REALISED, DRIFTS, RECORDS = (
    placeholder(name) for name in ("NOTE_OF_CHOSEN", "REALISED", "DRIFTS", "RECORDS")
)
USERS_CODE, USERS_ANSWERS, USERS_WORLD = (placeholder(name) for name in ("USERS_CODE", "USERS_ANSWERS", "USERS_WORLD"))
"""Whether any of the functions, the policy or the set, the environment is a user's, so that it is watched."""
LISTS = placeholder("LISTS")
"""Whether new answers are listed, to be compared with what the set contains."""

WORLD, POLICY, FEEDBACK = 0, 1, 2


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
    """[how many checkpoints are behind us, the first round of `trace`]"""
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
    """As in `block.Block`."""


def play(first: int, last: int, run: Run, state: Any, facts: Any, tables: Any, data: Any, work: Any) -> int:
    """Plays rounds `first` to `last`. Returns the round after, or the first that could not be played."""
    init_rounds = facts.init_first.size - 1
    n_items = facts.means.size - 1
    lo, hi, sign = facts.scale
    for round in range(first, last + 1):
        if USERS_CODE:
            run.now[0], run.now[2] = round, THE_POLICY
        if LISTS and is_full(run.answers, 1):
            return round
        world = below(run.streams[WORLD], round)
        if round <= init_rounds:
            begin, end = facts.init_first[round - 1], facts.init_first[round]
            size = end - begin
            for k in range(size):
                run.out[k] = facts.init_items[begin + k]
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
            run.now[2] = THE_WORLD
        gained = 0.0
        sum = 0.0
        for k in range(size):
            item = np.uint64(run.out[k])
            weight = draw(round, world, item, tables)
            if USERS_WORLD and not facts.limits[0] <= weight <= facts.limits[1]:
                run.faults[0] = WRONG_WEIGHT
                run.odd[0], run.odd[1] = item, weight
                return round
            run.x[k] = to_unit(weight, lo, hi)
            sum += weight if SUM_OF_WEIGHTS else run.x[k]
            if RECORDS and run.sums.size > 0:
                run.sums[item] += weight
            if REALISED:
                gained += weight
            elif DRIFTS:
                worth = mean(round, item, tables)
                if USERS_WORLD and not facts.limits[0] <= worth <= facts.limits[1]:
                    run.faults[0] = WRONG_MEAN
                    run.odd[0], run.odd[1] = item, worth
                    return round
                gained += worth
            else:
                gained += facts.means[item]
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
                run.trace[round - run.cursor[1], k, 0] = run.out[k] if k < size else n_items
        if USERS_CODE:
            run.now[2] = THE_POLICY
        learn(state, run.out[:size], run.x[:told], note, round, key, data, work)
        missed = facts.reference[0]
        if DRIFTS:
            missed = facts.reference[round - 1]
        if REALISED:
            missed = 0.0
            for k in range(facts.optimum.size):
                weight = draw(round, world, np.uint64(facts.optimum[k]), tables)
                if USERS_WORLD and not facts.limits[0] <= weight <= facts.limits[1]:
                    run.faults[0] = WRONG_WEIGHT
                    run.odd[0], run.odd[1] = facts.optimum[k], weight
                    return round
                missed += weight
        run.regret[0] += sign * (missed - gained)
        if round == facts.checkpoints[run.cursor[0]]:
            run.curve[run.cursor[0], 0] = run.regret[0]
            run.cursor[0] += 1
    return last + 1


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
