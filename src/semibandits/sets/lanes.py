"""What the oracles for blocks of runs share."""

from typing import Any

import numpy as np

from semibandits.kernel import LANES, lowest_bit


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
