"""Widths of blocks: how many runs machine code plays side by side."""

import math
from typing import NamedTuple

from semibandits.kernel import LANES
from semibandits.simulation.engines.compilable import form
from semibandits.simulation.task import Task
from semibandits.types import IndexPolicy

WIDE = int(LANES)
IN_LANES = {WIDE: 6.0, 1: 1.0}
ONE_BY_ONE = {WIDE: 64.0, 8: 16.0, 1: 4.0}
"""What a round of so many runs costs per item, in some 3 ns: where the oracle works in lanes, and where run after run.

The least that was measured for many lanes, so that fewer are not taken where they might be slower. Lane loops of 8 are
unrolled before they could become vector instructions: many oracles in lanes are as slow with 8 as with 32.
"""
WORTH = 1e7
"""What must be saved, in the same unit. It takes dear policies a second, and cheap ones a tenth of that."""
WORTH_ANOTHER = 40 * WORTH
"""The same where two kinds of machine code are needed in place of one: compiling takes seconds."""


class Widths(NamedTuple):
    """Lanes of all blocks, and of the last one, which may have fewer runs."""

    blocks: int
    last: int


def widths(task: Task, runs: int, workers: int) -> Widths:
    """For so many runs on so many workers, by the sizes of the problem alone. The numbers are the same for any."""
    if not isinstance(task.policy, IndexPolicy):
        return Widths(1, 1)
    cells = task.problem.n_items * task.horizon
    if cells * ONE_BY_ONE[WIDE] < WORTH:  # a block is all that can be saved
        return Widths(WIDE, WIDE)
    solver = form(task.problem.feasible, "solver", "argmax")
    costs = IN_LANES if solver is not None and solver.in_lanes else ONE_BY_ONE
    times = {width: math.ceil(math.ceil(runs / width) / workers) * costs[width] for width in costs}
    best = min(times, key=times.__getitem__)
    if cells * (times[WIDE] - times[best]) < WORTH:
        best = WIDE
    alone = (math.ceil(runs / best) - 1) % workers == 0  # the others do not wait for the last block
    last = min(width for width in costs if width >= (runs % best or best))
    return Widths(best, last if alone and cells * (costs[best] - costs[last]) >= WORTH_ANOTHER else best)
