"""All solutions of a set, for policies that look at each of them."""

from typing import Any, NamedTuple

import numpy as np

from semibandits._util.identity_cache import IdentityCache
from semibandits.errors import Unsupported
from semibandits.oracle import all_solutions
from semibandits.types import FeasibleSet, Items

MOST_SOLUTIONS = 10_000
FEW = f"a set of at most {MOST_SOLUTIONS:,} solutions"
"""What policies need that use this list."""


class Listing(NamedTuple):
    """Solution j is members[starts[j] : starts[j + 1]]."""

    members: Items
    starts: Items

    @property
    def size(self) -> int:
        return self.starts.size - 1

    def solution(self, j: int) -> Items:
        return self.members[self.starts[j] : self.starts[j + 1]]

    def matrix(self, n_items: int) -> Any:
        """A row of zeros and ones for each solution."""
        rows = np.zeros((self.size, n_items))
        rows[np.repeat(np.arange(self.size), np.diff(self.starts)), self.members] = 1.0
        return rows


_KNOWN: IdentityCache[Listing | None] = IdentityCache()


def listing(feasible: FeasibleSet, who: str, instead: str) -> Listing:
    """The solutions of a small set; of a large one, an error that says what to do `instead`."""
    if feasible not in _KNOWN:
        try:
            solutions = all_solutions(feasible, MOST_SOLUTIONS)
        except Unsupported as error:
            raise Unsupported(
                f"{who} looks at every solution, which {feasible!r} cannot list ({error}): {instead}"
            ) from error
        sizes = [items.size for items in solutions or ()]
        _KNOWN[feasible] = (
            None if solutions is None else Listing(np.concatenate(solutions), np.cumsum([0, *sizes], dtype=np.int64))
        )
    known = _KNOWN[feasible]
    if known is None:
        raise Unsupported(
            f"{who} looks at every solution, and {feasible!r} has more than {MOST_SOLUTIONS:,}: {instead}"
        )
    return known


def write_solution(which: int, members: Any, starts: Any, out: Any) -> Any:
    """A kernel function: a solution of the listing, written to `out`; returns its size."""
    begin = starts[which]
    for at in range(begin, starts[which + 1]):
        out[at - begin] = members[at]
    return starts[which + 1] - begin
