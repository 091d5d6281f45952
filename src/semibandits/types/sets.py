"""The contract of a feasible set, and of what it can tell of its structure: as kernel functions, or as numbers."""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits._util.arrays import Arrays, Items, Weights
from semibandits._util.effort import CALL, spend
from semibandits._util.moved import renamed
from semibandits._util.ownership import up_to_date
from semibandits._util.showing import Shown
from semibandits.errors import EmptyFeasibleSet, Unsupported

NEVER, ALWAYS = -1, -2
"""What stands for the group of items that no solution contains, or every one."""


@renamed(once="reads_once", ragged="variable_size")
class Solver(NamedTuple):
    """A set's oracle as a kernel function: one run at a time, or a block of runs in lanes. Ties as in `argmax`.

    One run: `function(weights, out, data, numbers, integers) -> size` writes the best solution's items, ascending, to
    out[:size]. `numbers` and `integers` are work space of the sizes given, zero at first and then as the last call
    left them: each run's own, or (`own_work=False`) shared by runs.

    Lanes: `function(view, data, work, chosen, faults)` writes item k of the best solution of each lane to
    chosen[k, lane], ascending, padded with n_items; `score_of(view, item, lane)` of `semibandits.kernel` gives scores,
    each of which it reads once (`reads_once`) or more often. It adds 0·score of *every* item to faults[lane], which so
    becomes NaN where one is not finite; what it then chooses does not matter. `work` is what `make_work(lanes)`
    returned.

    A user's function is checked: its answers, and for one run every index.
    """

    function: Callable[..., Any]
    data: Arrays
    make_work: Callable[[int], Arrays] | None = None
    reads_once: bool = False
    variable_size: bool = True
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

    def counted(self, limit: int) -> int:
        """How many choices there are; `limit` + 1 stands for all numbers above `limit`."""
        members = np.bincount(self.group[self.group >= 0], minlength=self.sizes.size)
        several = (self.sizes > 0) & (self.sizes != members if self.exact else members > 0)
        found = 1
        for n, size in zip(members[several].tolist(), self.sizes[several].tolist(), strict=True):
            found *= subsets(n, size if self.exact else 0, size, limit)
            if found > limit:
                return limit + 1
        return found

    def listed(self, limit: int) -> list[NDArray[np.int64]] | None:
        """All choices, in lexicographic order where there is one group; None where there are more than `limit`."""
        if self.counted(limit) > limit:
            return None
        members = [np.flatnonzero(self.group == g).tolist() for g in range(self.sizes.size)]
        least = [size if self.exact else 0 for size in self.sizes.tolist()]
        spans = [range(low, size + 1) for low, size in zip(least, self.sizes.tolist(), strict=True)]
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
    """Two totals of a solution traded off against each other by dynamic programming, as kernel functions.

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
        (numbers, more_numbers), (integers, more_integers) = self.numbers, self.integers
        return numbers + more_numbers * (most + 1), integers + more_integers * (most + 1)


class FeasibleSet(Shown, ABC):
    """A set Θ of feasible solutions over items 0..n_items-1, and the oracle that finds the best of them.

    A subclass sets `n_items` and `max_size` (an upper bound on the size of a solution) and writes `argmax`, `contains`
    and `restrict`. A set has no sense: costs are handed to it negated.
    """

    n_items: int
    max_size: int
    signed: bool = True
    """False: the oracle needs weights <= 0 (shortest paths in general graphs)."""
    matroid: bool = False
    """True: the solutions are the bases, or the independent sets, of a matroid by construction."""
    ratio: float = 1.0
    """The oracle's answer is worth at least `ratio` times the best; or costs at most the best divided by `ratio`."""
    promised: bool = True
    """Whether `ratio` holds for all weights to come. False: it is what the answers so far were worth (a cut search)."""
    verified: bool = False
    """True: answers are feasible by construction, so nobody asks `contains`. Yours must say it: it is not inherited."""
    labels: tuple[str, ...] = ()
    """The items' names, where the set knows any: a learner uses them unless it is given others."""
    aliases: tuple[str, ...] = ()
    """Another name of each item, or the same: an edge without direction is known from its other end, too."""
    identities: Sequence[Any] = ()
    """What each item is, where the set knows that without names: an edge, a pair."""

    @property
    def foreign(self) -> bool:
        """Whether code from outside of this package finds the solutions: then it is tried out before it is used."""
        owner = next(one for one in type(self).__mro__ if "argmax" in vars(one))
        return "argmax" in vars(self) or owner.__module__.partition(".")[0] != __name__.partition(".")[0]

    @abstractmethod
    def argmax(self, weights: ArrayLike) -> Items:
        """The feasible solution of largest total weight; ties are broken the same way every time."""

    @abstractmethod
    def contains(self, items: Iterable[int]) -> bool:
        """Whether these items, in any order, are a feasible solution."""

    @abstractmethod
    def restrict(self, include: Iterable[int] = (), exclude: Iterable[int] = ()) -> "FeasibleSet":
        """The solutions that contain all of `include` and none of `exclude`, items keeping their numbers.

        Raises `EmptyFeasibleSet` where there are none.
        """

    def argmax_without(self, weights: ArrayLike, exclude: Iterable[int]) -> Items:
        """The best of the solutions with none of these items: what `restrict(exclude=exclude).argmax(weights)` says.

        A set that can find it without making the restricted set first overrides this, with the same answer, ties
        included. Raises `EmptyFeasibleSet` where there is no such solution.
        """
        return self.restrict(exclude=exclude).argmax(weights)

    def best_with_each(self, weights: ArrayLike) -> Weights:
        """For every item the value of the best solution that contains it; -inf where none does.

        One restricted call of the oracle per item; sets that know better override it.
        """
        w = np.asarray(weights, dtype=np.float64)
        best = np.full(self.n_items, -np.inf)
        for item in range(self.n_items):
            spend(CALL + self.n_items)
            try:
                best[item] = total(w, self.restrict(include=(item,)).argmax(w))
            except EmptyFeasibleSet:
                continue
        return best

    def runner_up_with_each(self, weights: ArrayLike, tolerance: float) -> Weights | None:
        """As `best_with_each`, but among the solutions that are worse than the best.

        An exchange of items that loses no more than `tolerance` counts as a tie, also if there are several. None where
        the set knows no quick way; a `Problem` then searches through the tied solutions.
        """
        return None

    def uncovered(self) -> Items:
        """Items that no solution contains, as far as the set knows without searching."""
        return np.empty(0, dtype=np.int64)

    def solver(self) -> Solver | None:
        """The oracle for the compiler; None: simulations call `argmax`, in a plain loop."""
        return None

    def single(self) -> Solver | None:
        """The same for one run at a time; None: there is none."""
        solver = self.solver()
        return None if solver is None or solver.in_lanes else solver

    def quotas(self) -> Quotas | None:
        """So many items of each group, if that is what the solutions are; None: they are not, or it is not known."""
        return None

    def trade_offs(self) -> TradeOffs | None:
        """The dynamic program that trades two totals off against each other; None: there is none."""
        return None

    def counted(self, limit: int) -> int | None:
        """How many solutions there are, `limit` + 1 for all numbers above `limit`; None: only a search could tell.

        It is asked before anything is chosen, and answers at once.
        """
        quotas = self.quotas() if up_to_date(self, "quotas", "argmax") else None
        return None if quotas is None else quotas.counted(limit)

    def listed(self, limit: int) -> list[Items] | None:
        """All solutions, always in the same order; None where there are more than `limit` that are not listed yet."""
        quotas = self.quotas() if up_to_date(self, "quotas", "argmax") else None
        if quotas is not None:
            return quotas.listed(limit)
        if self.ratio < 1.0 or not self.promised:
            raise Unsupported(f"the oracle of {self!r} is approximate, so that it may overlook solutions")
        return listed_by_oracle(self, limit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_items} items)"


def total(weights: Weights, items: Items | slice) -> float:
    """The sum of these items' weights, added one by one in item order so that equal solutions have equal totals."""
    picked = weights[items]
    return float(np.add.accumulate(picked)[-1]) if picked.size else 0.0


def subsets(n: int, least: int, most: int, limit: int) -> int:
    """How many subsets of n things have from `least` to `most` members; `limit` + 1 for all numbers above `limit`."""
    found = 0
    for k in range(least, min(most, n) + 1):
        few = min(k, n - k) <= limit.bit_length()  # else there are more than 2 ** bit_length
        found += math.comb(n, k) if few else limit + 1
        if found > limit:
            return limit + 1
    return found


def listed_by_oracle(feasible: FeasibleSet, limit: int) -> list[NDArray[np.int64]] | None:
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


def another_solution(feasible: FeasibleSet, known: NDArray[np.int64]) -> NDArray[np.int64] | None:
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
