"""What a set can tell of its structure, for those who know how to use it: as text for the compiler, or as numbers."""

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semibandits.errors import EmptyFeasibleSet

Arrays: TypeAlias = tuple[NDArray[Any], ...]
NEVER, ALWAYS = -1, -2
"""What stands for the group of items that no solution contains, or every one."""


class Solver(NamedTuple):
    """A set's oracle as text for the compiler: one run at a time, or a block of runs in lanes. Ties as in `argmax`.

    One run: `function(weights, out, data, numbers, integers) -> size` writes the best solution's items, ascending, to
    out[:size]. `numbers` and `integers` are work space of the sizes given, zero at first and then as the last call
    left them: each run's own, or (`own_work=False`) shared by runs.

    Lanes: `function(view, data, work, chosen, trouble)` writes item k of the best solution of each lane to
    chosen[k, lane], ascending, padded with n_items; `score_of(view, item, lane)` of `semibandits.kernel` gives scores,
    each of which it reads `once` or more often. It adds 0·score of *every* item to trouble[lane], which so becomes NaN
    where one is not finite; what it then chooses does not matter. `work` is what `make_work(lanes)` returned.

    A user's function is checked: its answers, and for one run every index.
    """

    function: Callable[..., Any]
    data: Arrays
    make_work: Callable[[int], Arrays] | None = None
    once: bool = False
    ragged: bool = True
    """Whether solutions may have fewer than max_size items."""
    numbers: int = 0
    integers: int = 0
    own_work: bool = True

    @property
    def in_lanes(self) -> bool:
        return self.make_work is not None


class Quotas(NamedTuple):
    """The solutions are all choices of so many items from each group: `sizes[g]` of group g, or at most so many.

    Their convex hull is then {x in [0, 1]^L : the x of group g add up to sizes[g], or at most}.
    """

    group: NDArray[np.int64]
    """Of every item: its group, or `NEVER`, in no solution, or `ALWAYS`, in every one (and not counted in `sizes`)."""
    sizes: NDArray[np.int64]
    exact: bool
    """False: at most so many."""

    def listed(self, limit: int) -> list[NDArray[np.int64]] | None:
        """All choices, in lexicographic order where there is one group; None where there are more than `limit`."""
        members = [np.flatnonzero(self.group == g).tolist() for g in range(self.sizes.size)]
        least = [size if self.exact else 0 for size in self.sizes.tolist()]
        spans = [range(low, size + 1) for low, size in zip(least, self.sizes.tolist(), strict=True)]
        counts = [sum(math.comb(len(some), k) for k in span) for some, span in zip(members, spans, strict=True)]
        if math.prod(counts) > limit:
            return None
        choices = [
            [one for k in span for one in itertools.combinations(some, k)]
            for some, span in zip(members, spans, strict=True)
        ]
        always = np.flatnonzero(self.group == ALWAYS).tolist()
        return [
            np.array(sorted([*always, *itertools.chain(*parts)]), dtype=np.int64)
            for parts in itertools.product(*choices)
        ]


class TradeOffs(NamedTuple):
    """Two totals of a solution traded off against each other by dynamic programming, as text for the compiler.

    Items have integer `weights` of any sign and `gains` >= 0. `fill(weights, gains, most, data, numbers, integers)`
    prepares the answers for every shortfall d from 0 to `most`; `take(d, out, weights, gains, most, data, numbers,
    integers) -> size` then writes one, ascending, to out[:size]: of the solutions whose total weight is at most d below
    the greatest there is, one of largest total gain.
    """

    fill: Callable[..., Any]
    take: Callable[..., Any]
    data: Arrays
    numbers: tuple[int, int]
    """The size of the work space: so much, and so much more for each shortfall."""
    integers: tuple[int, int]

    def room(self, most: int) -> tuple[int, int]:
        """How many numbers and integers the work space holds for so many shortfalls, and 0."""
        return (
            self.numbers[0] + self.numbers[1] * (most + 1),
            self.integers[0] + self.integers[1] * (most + 1),
        )


def listed_by_oracle(feasible: Any, limit: int) -> list[NDArray[np.int64]] | None:
    """All solutions of a `FeasibleSet` with an exact oracle; None where there are more than `limit`.

    A part of the set is split on an item that one of its solutions has and another has not. The oracle finds another
    one, if there is any: that which shares least with the first.
    """
    solutions: list[NDArray[np.int64]] = []
    parts = [(feasible, feasible.argmax(np.zeros(feasible.n_items)))]
    while parts:
        if len(solutions) + len(parts) > limit:
            return None
        part, known = parts.pop()
        other = another_solution(part, known)
        if other is None:
            solutions.append(known)
            continue
        item = int(np.setxor1d(known, other)[0])
        has, has_not = (known, other) if item in known else (other, known)
        parts += [(part.restrict(include=(item,)), has), (part.restrict(exclude=(item,)), has_not)]
    return solutions


def another_solution(feasible: Any, known: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """A solution other than the known one; None where there is none."""
    away = np.full(feasible.n_items, 1.0 if feasible.signed else 0.0)
    away[known] = -1.0
    other: NDArray[np.int64] = feasible.argmax(away)
    if not np.array_equal(known, other):
        return other
    if not feasible.signed and known.size < feasible.max_size:  # all contain the known one: does any contain more?
        for item in np.setdiff1d(np.arange(feasible.n_items), known).tolist():
            try:
                larger: NDArray[np.int64] = feasible.restrict(include=(item,)).argmax(away)
            except EmptyFeasibleSet:
                continue
            return larger
    return None


def is_float(number: Any) -> bool:
    """Also a NumPy number, or what `where` makes of one."""
    return np.ndim(number) == 0 and np.asarray(number).dtype == np.float64
