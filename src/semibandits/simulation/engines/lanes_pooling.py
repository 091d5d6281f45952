"""What items learn from each other in a block of runs, as kernel functions."""

from typing import Any

import numpy as np

from semibandits.kernel import LANES, lane_loops
from semibandits.simulation.engines.bindings import POOLS, add_to_totals, load, load_totals, pooled, scale_at, share


@lane_loops
def pool(round: int, stats: Any, totals: Any, lo: Any, hi: Any, p: Any) -> None:
    """Adds up what the items of each lane say of all of them."""
    for number in range(totals.shape[0]):
        for lane in range(LANES):
            totals[number, 0, lane] = 0.0
    for item in range(np.uint32(stats.shape[1] - 1)):
        if scale_at(lo, item) < scale_at(hi, item):
            for lane in range(LANES):
                add_to_totals(totals, 0, lane, share(load(stats, item, lane), round, p))


def clock_in(lane: Any, c: Any, totals: Any, p: Any) -> Any:
    """The clock of a lane, made of that of the round and of the totals."""
    if POOLS:
        return pooled(load_totals(totals, 0, lane), c, p)
    return c
