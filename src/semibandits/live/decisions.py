"""The log of decisions: which of them wait for feedback, and what the last finished ones were told."""

import dataclasses
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from operator import setitem
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from semibandits._util import forks
from semibandits._util.atomic import Step
from semibandits._util.checks import is_number
from semibandits.agent import Choice
from semibandits.errors import BadArgument, BadWeights, UnknownDecision, UnknownItem
from semibandits.live.reading import Reader
from semibandits.live.snapshot import SavedDecision, SavedLearner, restored_array, saved_array
from semibandits.oracle import check_answer
from semibandits.types import Decision, FeasibleSet, Items, Weights


@dataclasses.dataclass(slots=True)
class Record:
    """A decision and the feedback it has had so far: NaN where it had none, None where it had none at all."""

    round: int
    epoch: str
    """Of the learner's life in which it was asked; none in files of old."""
    choice: Choice
    time: float = 0.0
    weights: Weights | None = None
    """Where only their sum is told: an array with just that."""
    cancelled: str = ""
    """Why nothing is waited for any more: "cancelled" or "expired"."""
    earlier: bool = False
    """Whether another policy made it, from which the present one has taken over."""
    renumbered: bool = False
    """Whether its items had other numbers when it was made, so that nobody knows which order a list of weights has."""
    feasible: FeasibleSet | None = None
    """The set it was chosen from, if that was another than the learner's own: while it waits, and is known."""
    chosen_from: str = ""
    """What that set printed."""

    @property
    def items(self) -> Items:
        return self.choice.items

    def check_open(self, id: str) -> None:
        if self.cancelled:
            late = "has expired: feedback comes too late" if self.cancelled == "expired" else "was cancelled"
            raise UnknownDecision(f"decision {id} {late}")

    def check_names(self, id: str, pairs: tuple[list[Any], list[Any]] | None) -> None:
        """Feedback goes by these names, or by the order of the items; who was handed the decision may know another."""
        if self.renumbered and (pairs is None or not all(isinstance(name, str) for name in pairs[0])):
            raise BadWeights(
                f"decision {id} was made when its items had other numbers, before the learner was loaded onto them in "
                "another order: tell their weights by label, as a mapping"
            )

    def told(self) -> Weights:
        return np.full(self.items.size, np.nan) if self.weights is None else self.weights.copy()

    def waiting(self) -> Items:
        """The items without feedback."""
        if self.weights is None:
            return self.items
        return self.items[np.isnan(self.weights)] if self.weights.size == self.items.size else self.items[:0]

    def positions(self, id: str, items: Items, reader: Reader) -> NDArray[np.int64]:
        """Where these items are among the decision's."""
        positions = np.searchsorted(self.items, items)
        known = positions < self.items.size
        known[known] = self.items[positions[known]] == items[known]
        if not known.all():
            raise UnknownItem(f"not part of decision {id}: {', '.join(reader.names(items[~known]))!s:.200}")
        return positions


class DecisionLog:
    """Decisions by id: the log's name, which no other learner shares, the round, and an epoch.

    An epoch is a life of the learner: it ends where the learner is loaded from a file, and in a forked child. So what
    was decided after that save, or in another process, has another id than anything decided here.
    """

    REMEMBERED: ClassVar[int] = 1000
    """How many finished decisions are kept, only to recognise repeated feedback."""

    def __init__(self) -> None:
        self.name = secrets.token_hex(8)
        self.outstanding: dict[str, Record] = {}
        self.finished: OrderedDict[str, Record] = OrderedDict()
        self.clock: Callable[[], float] = time.time
        self._epoch = ""
        self._begun = -1

    def epoch(self) -> str:
        """That of today."""
        if self._begun != forks.generation:
            self._epoch = secrets.token_hex(8)
            self._begun = forks.generation
        return self._epoch

    def id(self, record: Record) -> str:
        return f"{self.name}-{record.round}-{record.epoch}" if record.epoch else f"{self.name}-{record.round}"

    def find(self, id: str) -> Record:
        if not isinstance(id, str):
            raise UnknownDecision(f"expected a decision or its id, a string, got {id!r:.100}")
        record = self.outstanding.get(id) or self.finished.get(id)
        if record is None:
            there = (
                f"{len(self.outstanding)} are outstanding, and of the finished ones the last {self.REMEMBERED} are "
                "remembered"
            )
            raise UnknownDecision(f"no decision {id!r:.100}: {there}{self._perhaps(id)}")
        return record

    def _perhaps(self, id: str) -> str:
        """Why a decision of this learner may be unknown to it."""
        form = re.fullmatch(rf"{self.name}-\d+(?:-(?P<epoch>[0-9a-f]{{16}}))?", id)
        if form is None or form["epoch"] == self.epoch():
            return ""
        return (
            ". It is one of this learner's, but of another life: asked after the save that this one was loaded from, "
            "or by another process, which was forked or has loaded the same file; or it was finished long ago"
        )

    def finishing(self, id: str, record: Record) -> list[Step]:
        """The steps by which it waits no longer."""
        steps: list[Step] = [(setitem, self.finished, id, record), (self.outstanding.pop, id)]
        steps.append((setattr, record, "feasible", None))  # it may be large
        if len(self.finished) >= self.REMEMBERED:
            steps.append((self.finished.popitem, False))
        return steps

    def restore(self, saved: SavedLearner, reader: Reader) -> None:
        """Takes over what was saved, and refuses what no learner could have written."""
        self.name = saved.name
        for one in saved.outstanding:
            record = _restored(one, saved, reader)
            if record.cancelled or (record.items.size and not record.waiting().size):
                raise BadArgument(f"the decision of round {one.round} waits for nothing")
            self.outstanding[self.id(record)] = record
        for one in saved.finished:
            record = _restored(one, saved, reader)
            if not record.cancelled and record.waiting().size:
                raise BadArgument(f"the decision of round {one.round} is finished without feedback")
            self.finished[self.id(record)] = record
        rounds = [one.round for one in saved.outstanding + saved.finished]
        if len(set(rounds)) < len(rounds):
            raise BadArgument("two decisions were made in one round")


def id_of(given: str | Decision) -> str:
    """The id of a decision that is given by it, or as it was asked for."""
    return given.id if isinstance(given, Decision) else given


def seconds_in(given: Any) -> float:
    """How long this is."""
    seconds = given
    try:
        if isinstance(given, np.timedelta64):
            seconds = given / np.timedelta64(1, "s")
        elif isinstance(given, timedelta):
            seconds = given.total_seconds()
        if is_number(seconds) and seconds >= 0.0:
            return float(seconds)
    except (TypeError, OverflowError):  # a month, or a whole number beyond all floats
        pass
    raise BadArgument(f"older_than must be seconds >= 0 or a timedelta, got {given!r:.100}")


def saved_decision(record: Record, outstanding: bool) -> SavedDecision:
    weights = None if record.weights is None else [None if w != w else w for w in record.weights.tolist()]
    items, initial, note = record.choice
    return SavedDecision(
        record.round,
        items.tolist(),
        weights,
        initial,
        bool(record.cancelled),
        saved_array(note, "a note") if outstanding and note is not None else None,
        record.epoch,
        record.time,
        record.cancelled == "expired",
        record.earlier,
        record.chosen_from,
        record.renumbered,
    )


def _restored(one: SavedDecision, saved: SavedLearner, reader: Reader) -> Record:
    items = check_answer(one.items, saved.n_items, saved.n_items if one.chosen_from else saved.max_size)
    if items.tolist() != one.items or not 1 <= one.round <= saved.round:
        raise BadArgument(f"the decision of round {one.round} has items {one.items!r:.100}")
    items.setflags(write=False)
    weights = None
    if one.weights is not None:
        weights = np.array(one.weights, dtype=np.float64)
        if saved.feedback == "bandit":
            if len(one.weights) != 1:
                raise BadArgument(f"the decision of round {one.round} has {len(one.weights)} sums, expected one")
            reader.sum(one.weights[0], items)
        elif weights.shape != items.shape:
            raise BadArgument(f"the decision of round {one.round} has {items.size} items, {weights.size} weights")
        else:
            told = ~np.isnan(weights)
            reader.weights(weights[told], items[told])
    if one.expired and not one.cancelled:
        raise BadArgument(f"the decision of round {one.round} has expired, and is open")
    note = None if one.note is None else restored_array(one.note)
    why = "" if not one.cancelled else "expired" if one.expired else "cancelled"
    choice, asked = Choice(items, one.initial, note), one.time or time.time()
    return Record(
        one.round,
        one.epoch,
        choice,
        asked,
        weights,
        why,
        earlier=one.earlier,
        renumbered=one.renumbered,
        chosen_from=one.chosen_from,
    )
