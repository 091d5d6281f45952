"""Users' functions in machine code, watched: what they answer, and what is said where it is wrong."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semibandits._util.item_bounds import pair_of
from semibandits.errors import BadWeights, ConformanceError, InfeasibleSolution, SemiBanditError
from semibandits.problem import Problem
from semibandits.types import Bounds, FeasibleSet, Items

WRONG_ANSWER, WRONG_WEIGHT, WRONG_MEAN = 1.0, 2.0, 3.0
"""What a block's `faults` says of a user's functions. NaN: scores or their sums are not finite."""
THE_POLICY, THE_SET, THE_WORLD = 0, 1, 2
"""Whose function is being called."""
ROUND, LANE, WHOSE = 0, 1, 2
"""Where a block's `now` says that."""
ODD_ITEM, ODD_VALUE = 0, 1
"""Where its `odd` says what is out of bounds."""
SEEN, LISTED = 0, 1
"""What `Answers.counts` counts."""
UNWRITTEN = int(np.iinfo(np.int64).min)
NO_ITEMS = "which are not items of the set, ascending and as many as it says"
SLOTS = 1 << 15
"""Answers remembered as numbers that tell them apart; then it begins anew."""
MOST_LISTED = 4096
MOST_CELLS = 1 << 20
MOST_KNOWN = 1 << 16


class Answers(NamedTuple):
    """What machine code notes of a user's answers: those that it has not seen before are listed."""

    hashes: Any
    """(2, lanes): numbers that tell the answers of the round apart, and those of the round before."""
    seen: Any
    """(SLOTS,): such numbers, each at its own place or as soon as possible after it; 0: nothing."""
    counts: Any
    """[SEEN: how many are in `seen`, LISTED: how many in the list]"""
    items: Any
    """(places, max_size): the answers that are listed."""
    at: Any
    """(places, 2): in which round, and which lane."""

    @classmethod
    def empty(cls, max_size: int, lanes: int, watched: bool) -> "Answers":
        places = max(lanes, min(MOST_LISTED, MOST_CELLS // max(1, max_size))) if watched else 0
        return cls(
            np.zeros((2, lanes if watched else 0), dtype=np.uint64),
            np.zeros(SLOTS if watched else 0, dtype=np.uint64),
            np.zeros(2, dtype=np.int64),
            np.zeros((places, max_size), dtype=np.uint32),
            np.zeros((places, 2), dtype=np.int64),
        )


def hashed(before: Any, item: Any) -> Any:
    """Kernel function: the number of an answer with one more item."""
    mixed = (before ^ (np.uint64(item) + np.uint64(1))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def is_full(answers: Any, more: Any) -> Any:
    """Kernel function: whether so many more might not fit, so that Python must look at the list first."""
    return answers.counts[SEEN] + more > SLOTS // 2 or answers.counts[LISTED] + more > answers.at.shape[0]


def listed(answers: Any, number: Any, round: Any, lane: Any) -> Any:
    """Kernel function: the place in the list for an answer with this number; -1: it was seen before."""
    number |= np.uint64(1)
    slot = np.int64(number >> np.uint64(40)) % SLOTS
    while answers.seen[slot] != np.uint64(0):
        if answers.seen[slot] == number:
            return -1
        slot = (slot + 1) % SLOTS
    answers.seen[slot] = number
    place = answers.counts[LISTED]
    answers.counts[SEEN] += 1
    answers.counts[LISTED] += 1
    answers.at[place, 0], answers.at[place, 1] = round, lane
    return place


class Fault(NamedTuple):
    """What machine code found wrong; the plain loop has the first word about it."""

    first: int
    last: int
    """The runs of which one has it: most often it is known which."""
    round: int
    what: str
    error: type[SemiBanditError]

    def differ(self) -> SemiBanditError:
        """Where the plain loop, playing the same, finds nothing wrong."""
        which = f"run {self.first}" if self.first == self.last else f"one of runs {self.first} to {self.last}"
        return self.error(
            f"{which}, round {self.round}: {self.what}. The plain loop finds nothing wrong there: machine code and "
            "plain code differ, see semibandits.testing"
        )


class Watch:
    """Compares the answers that are listed with what the set contains, each once for all blocks of runs."""

    def __init__(self, feasible: FeasibleSet) -> None:
        self._feasible = feasible
        self._known: set[bytes] = set()

    def wrong(self, answers: Answers, lanes: int) -> tuple[int, int, str] | None:
        """(round, lane, answer) of the first that is not feasible, of so many lanes; the list is then empty again."""
        count = int(answers.counts[LISTED])
        found = None
        rows = answers.items[:count]
        sizes = (rows < self._feasible.n_items).sum(axis=1).tolist()
        for name, items, size, (round, lane) in zip(
            map(bytes, rows), rows.astype(np.int64), sizes, answers.at[:count].tolist(), strict=True
        ):
            try:
                fine = lane >= lanes or self._contains(name, items[:size])
            except Exception:  # in the user's contains(): the plain loop will say so
                fine = False
            if not fine:
                found = round, lane, str(items[:size].tolist())
                break
        answers.counts[LISTED] = 0
        if answers.counts[SEEN] > SLOTS // 4:
            answers.counts[SEEN] = 0
            answers.seen[:] = 0
        return found

    def _contains(self, name: bytes, items: Items) -> bool:
        if name in self._known:
            return True
        if not self._feasible.contains(items):
            return False
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known.add(name)
        return True


class Culprits(NamedTuple):
    """The users' functions by name, for what is said of them."""

    policy: str
    oracle: str
    draw: str
    mean: str
    bounds: Bounds
    answers: str
    """Whose answers are checked."""

    @classmethod
    def of(
        cls,
        policy: object,
        problem: Problem,
        oracle: Callable[..., Any] | None,
        draw: Callable[..., Any],
        mean: Callable[..., Any],
        choose: Callable[..., Any] | None = None,
    ) -> "Culprits":
        solver = "the oracle" if oracle is None else _named(oracle, problem.feasible)
        return cls(
            f"a function of {policy!r:.200}",
            solver,
            _named(draw, problem.environment),
            _named(mean, problem.environment),
            problem.bounds,
            solver if choose is None else _named(choose, policy),
        )

    def raised(self, error: Exception, block: Any, first_run: int, runs: int) -> Fault:
        """In machine code: the lane is not always known."""
        round, lane, whose = block.now.tolist()
        who = {THE_POLICY: self.policy, THE_SET: self.oracle, THE_WORLD: self.draw}[whose]
        what = f"{who} raised {type(error).__name__} in machine code: {error!s:.200}"
        first, last = (first_run, first_run + runs - 1) if lane < 0 else (first_run + lane, first_run + lane)
        return Fault(first, last, round, what, ConformanceError)

    def fault(self, block: Any, round: int, first_run: int) -> Fault | None:
        """Of the first run of a block that has one, by its faults; None: scores or their sums are not finite."""
        for kind in (WRONG_ANSWER, WRONG_WEIGHT, WRONG_MEAN):
            lanes = np.flatnonzero(block.faults == kind)
            if lanes.size:
                what = self._answered(block, int(lanes[0])) if kind == WRONG_ANSWER else self._weighed(block, kind)
                run = first_run + int(lanes[0])
                return Fault(run, run, round, what, InfeasibleSolution if kind == WRONG_ANSWER else BadWeights)
        return None

    def infeasible(self, wrong: tuple[int, int, str], first_run: int) -> Fault:
        round, lane, answer = wrong
        run = first_run + lane
        what = f"{self.answers} answered {answer:.200} in machine code, which the set says is not feasible"
        return Fault(run, run, round, what, InfeasibleSolution)

    def _answered(self, block: Any, lane: int) -> str:
        size, *items = block.raw.tolist()
        if size == UNWRITTEN:  # in lanes
            return f"{self.answers} answered {block.chosen[:, lane].tolist()!r:.200} in machine code, {NO_ITEMS}"
        if 0 <= size <= len(items):
            return f"{self.answers} answered {items[:size]!r:.200} in machine code, {NO_ITEMS}"
        return (
            f"{self.answers} answered in machine code that it wrote {size} items, where there is room for {len(items)}"
        )

    def _weighed(self, block: Any, kind: float) -> str:
        item, weight = block.odd.tolist()
        who = self.draw if kind == WRONG_WEIGHT else self.mean
        bounds = pair_of(self.bounds, int(item))
        return f"{who} gives {weight} for item {item:.0f} in machine code, not in the bounds {bounds}"


def _named(function: Callable[..., Any], thing: object) -> str:
    """A function, and whose it is."""
    return f"{getattr(function, '__name__', function)}() of {thing!r:.200}"
