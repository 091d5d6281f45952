"""The rounds of one run of a policy that chooses whole solutions, as text for the compiler.

The moves of the policy and the functions of the environment stand here as placeholders, which `solo_engine` binds.
"""

from typing import Any, NamedTuple

import numpy as np

from semibandits.kernel import placeholder
from semibandits.rng import below

choose, learn = placeholder("choose"), placeholder("learn")
draw, mean = placeholder("draw"), placeholder("mean")
to_unit, sum_to_unit = placeholder("to_unit"), placeholder("sum_to_unit")
SUM_OF_X, SUM_OF_WEIGHTS = placeholder("SUM_OF_X"), placeholder("SUM_OF_WEIGHTS")
NOTE_OF_CHOSEN, REALISED, DRIFTS, RECORDS = (
    placeholder(name) for name in ("NOTE_OF_CHOSEN", "REALISED", "DRIFTS", "RECORDS")
)

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


def play(first: int, last: int, run: Run, state: Any, facts: Any, tables: Any, data: Any, work: Any) -> int:
    """Plays rounds `first` to `last`. Returns the round after, or the first that could not be played."""
    init_rounds = facts.init_first.size - 1
    n_items = facts.means.size - 1
    lo, hi, sign = facts.scale
    for round in range(first, last + 1):
        world = below(run.streams[WORLD], round)
        if round <= init_rounds:
            begin, end = facts.init_first[round - 1], facts.init_first[round]
            size = end - begin
            for k in range(size):
                run.out[k] = facts.init_items[begin + k]
        else:
            size = choose(state, run.out, run.note, round, below(run.streams[POLICY], round), data, work)
            if size < 0:
                return round
        gained = 0.0
        sum = 0.0
        for k in range(size):
            item = np.uint64(run.out[k])
            weight = draw(round, world, item, tables)
            run.x[k] = to_unit(weight, lo, hi)
            sum += weight if SUM_OF_WEIGHTS else run.x[k]
            if RECORDS and run.sums.size > 0:
                run.sums[item] += weight
            if REALISED:
                gained += weight
            elif DRIFTS:
                gained += mean(round, item, tables)
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
        learn(state, run.out[:size], run.x[:told], note, round, key, data, work)
        missed = facts.reference[0]
        if DRIFTS:
            missed = facts.reference[round - 1]
        if REALISED:
            missed = 0.0
            for k in range(facts.optimum.size):
                missed += draw(round, world, np.uint64(facts.optimum[k]), tables)
        run.regret[0] += sign * (missed - gained)
        if RECORDS:
            for k in range(run.trace.shape[1]):
                run.trace[round - run.cursor[1], k, 0] = run.out[k] if k < size else n_items
        if round == facts.checkpoints[run.cursor[0]]:
            run.curve[run.cursor[0], 0] = run.regret[0]
            run.cursor[0] += 1
    return last + 1
