"""Oracles for blocks of runs: answers in ascending order, and a trial of any oracle."""

from typing import Any

import numpy as np

from semibandits.kernel import LANES, bound, compiled, lowest_bit, score_of
from semibandits.types import Solver, Weights


def ascending(chosen: Any, n_items: Any, words: Any) -> None:
    """Puts each lane's distinct items in ascending order, the padding (n_items) last.

    A bit per item is set and read back; `words` has room for n_items + 1 bits and is zero before and after.
    """
    k: Any
    size = np.uint32(chosen.shape[0])
    for lane in range(LANES):
        for k in range(size):
            item = np.uint64(chosen[k, lane])
            words[item >> np.uint64(6)] |= np.uint64(1) << (item & np.uint64(63))
        k = np.uint32(0)
        for w in range(np.uint32(words.size)):
            word = words[w]
            words[w] = np.uint64(0)
            while word != np.uint64(0):
                chosen[k, lane] = np.uint32(w * np.uint32(64)) + np.uint32(lowest_bit(word))
                word &= word - np.uint64(1)
                k += np.uint32(1)
        while k < size:
            chosen[k, lane] = n_items
            k += np.uint32(1)


def answers(
    solver: Solver, weights: Weights, max_size: int, *, checked: bool = False, lanes: int = int(LANES)
) -> list[list[int]]:
    """What the compiled solver chooses for weights[:, lane], for each of the lanes; n_items stands for nothing.

    `checked`: an index beyond the end of an array raises.
    """
    n_items = weights.shape[0]
    if solver.make_work is None:
        one = compiled(solver.function, checked=checked)
        chosen = np.full((max_size, lanes), n_items)
        numbers, integers = np.zeros(solver.numbers), np.zeros(solver.integers, dtype=np.int64)
        for lane in range(lanes):
            out = np.full(max_size + n_items, n_items)
            size = one(weights[:, lane].copy(), out[:max_size], solver.data, numbers, integers)
            if not 0 <= size <= max_size:
                raise ValueError(f"solver() says that it wrote {size} items, where there is room for {max_size}")
            chosen[:size, lane] = out[:size]
    else:
        chosen, faults = np.zeros((max_size, lanes), dtype=np.uint32), np.zeros(lanes)
        functions = (solver.function,) if checked else ()
        code = bound(solver.function, {score_of: _weight_of, LANES: lanes}, lanes=not checked, checked=functions)
        code(weights, solver.data, solver.make_work(lanes), chosen, faults)
    return chosen.T.tolist()


def _weight_of(view: Any, item: Any, lane: Any) -> Any:
    return view[item, lane]
