"""The bipartite graph of pairs that may still be chosen, as a matrix, and how many there can be."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits.types import Items

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Shortage(NamedTuple):
    """Lines that cannot all be filled: how many pairs they need together, and can have."""

    lines: Items
    need: int
    most: int


class Matrix(NamedTuple):
    """What a restriction leaves to be decided. Lines are the rows, or the columns where those are the side to fill."""

    item_at: Items
    """Shape (lines, stride): the item in this place, -1 where there is none; the stride is a multiple of 8."""
    need: Counts
    """How many pairs each line must have, or may have where they are optional."""
    room: Counts
    """How often each of the others may be used; there are as many as the matrix has columns, padding aside."""

    def most_pairs(self) -> tuple[int, Shortage | None]:
        """How many there can be and, where not all lines can have what they need, some that show it."""
        return _most_pairs(self.item_at[:, : self.room.size] >= 0, self.need, self.room)


def _most_pairs(allowed: Flags, need: Counts, room: Counts) -> tuple[int, Shortage | None]:
    if allowed.all() and (need == 1).all() and need.size <= room.size:
        return need.size, None
    used, left = np.zeros_like(allowed), room.copy()
    for line in range(need.size):
        taken = np.flatnonzero(allowed[line] & (left > 0))[: need[line]]
        used[line, taken] = True
        left[taken] -= 1
    shortage = None
    for line in range(need.size):
        while used[line].sum() < need[line]:
            asked = _make_place(line, allowed, used, left)
            if asked is not None:  # their others are all taken, by themselves (Hall)
                lines, others = asked
                most = int(room[others].sum()) + int(np.count_nonzero(allowed[lines][:, ~others]))
                shortage = Shortage(np.flatnonzero(lines), int(need[lines].sum()), most)
                break
    return int(used.sum()), shortage


def _make_place(line: int, allowed: Flags, used: Flags, left: Counts) -> tuple[Flags, Flags] | None:
    """Gives the line one more pair, other lines changing theirs; else all lines and others asked in vain."""
    asked_by = np.full(left.size, -1)
    gives = np.full(len(used), -1)  # for each line that is asked, which of its others
    gives[line] = left.size
    todo = [line]
    while todo:
        one = todo.pop()
        new = np.flatnonzero(allowed[one] & ~used[one] & (asked_by < 0))
        asked_by[new] = one
        for other in new.tolist():
            if left[other] > 0:
                left[other] -= 1
                while True:
                    one = int(asked_by[other])
                    used[one, other] = True
                    if one == line:
                        return None
                    other = int(gives[one])
                    used[one, other] = False
            users = np.flatnonzero(used[:, other] & (gives < 0))
            gives[users] = other
            todo += users.tolist()
    return gives >= 0, asked_by >= 0
