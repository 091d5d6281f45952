"""The updates of a learner: what feedback changes, worked out and not yet done."""

import threading
from collections.abc import Callable
from operator import setitem
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits._util import forks
from semibandits._util.atomic import Step, take
from semibandits.agent import Agent
from semibandits.errors import BadArgument, BadWeights, ContradictingFeedback, Unsupported
from semibandits.live.aggregates import Aggregates
from semibandits.live.decisions import DecisionLog, Record, id_of
from semibandits.live.reading import Reader
from semibandits.live.tally import Tally, Totals
from semibandits.types import Decision, FeedbackKind, Items, Weights, total


class Told(NamedTuple):
    """Feedback on a decision, as the user gave it."""

    id: str
    record: Record
    positions: NDArray[np.int64] | None
    """Of these items among the decision's; None: of all, in their order."""
    values: Weights
    beyond: NDArray[np.bool_] | None
    """Which of them were beyond the bounds; None: none were."""


class Updates:
    """A policy at work, and the log of its decisions.

    Every call comes in two parts: one reads what the user says; the other turns that into a result, and steps that
    are not yet taken.
    """

    def __init__(self, agent: Agent, reader: Reader, feedback: FeedbackKind) -> None:
        self.agent = agent
        self.reader = reader
        self.feedback = feedback
        self.log = DecisionLog()
        self.round = 0
        """The last that was decided."""
        self.reserved: dict[int, int] = {}
        """Rounds that are being decided, and in which thread."""
        self._life = forks.generation
        self.pending = np.zeros(reader.n_items, dtype=np.int64)
        """In the initialisation: the decisions whose feedback on an item is outstanding."""
        self.tally = Tally(reader.n_items, agent.units)
        self.clipped = np.zeros(reader.n_items, dtype=np.int64)

    def next_round(self) -> int:
        """The one after all that are decided, or being decided."""
        if self._life != forks.generation:  # a child has but the thread that forked
            self._life, own = forks.generation, threading.get_ident()
            self.reserved = {round: thread for round, thread in self.reserved.items() if thread == own}
        # An ask that fails gives its rounds back at any time: `max` of a dictionary is one operation in C.
        return max(self.round, max(self.reserved, default=0)) + 1

    def decision(self, id: str, record: Record) -> Decision:
        items = record.choice.items
        labels = () if self.reader.labels is None else tuple(self.reader.names(items))
        return Decision(id, record.round, items, labels, record.time, record.feasible, record.chosen_from)

    # Feedback

    def read(self, given: str | Decision, weights: Any) -> Told:
        id = id_of(given)
        record = self.log.find(id)
        record.check_open(id)
        items = record.choice.items
        if self.feedback == "bandit":
            sum, beyond = self.reader.inside_sum(self.reader.sum(weights, items), items)
            return Told(id, record, None, sum, beyond)
        record.check_names(id, self.reader.named(weights, items) if record.renumbered else None)
        pairs = self.reader.by_name(weights, items)
        if pairs is None:
            if isinstance(given, Decision) and not np.array_equal(given.items, items):
                raise BadWeights(
                    f"decision {id} has the items {items.tolist()!r:.200}, but the one that was given has "
                    f"{given.items!r:.200}: tell their weights by name, as a mapping"
                )
            values, beyond = self.reader.inside(self.reader.weights(weights, items), items)
            return Told(id, record, None, values, beyond)
        named, values = pairs
        order = np.argsort(named)
        positions = record.positions(id, named[order], self.reader)
        values, beyond = self.reader.inside(values[order], named[order])
        return Told(id, record, positions if items.size else None, values, beyond)

    def telling(self, *given: Any) -> tuple[int, list[Step]]:
        id, record, positions, values, beyond = given
        record.check_open(id)  # still
        if self.feedback == "bandit":
            return self._telling_sum(Told(*given))
        if positions is not None or record.weights is not None:
            return self._telling_part(Told(*given))
        items = record.choice.items
        steps = self.agent.learning(record.round, record.choice, values)
        steps += self.waiting(items, -1)
        steps += self.tally.adding(items, values)
        steps += self._clipping(items, beyond)
        steps.append((setattr, record, "weights", values))
        steps += self.log.finishing(id, record)
        return values.size, steps

    def _telling_part(self, told: Told) -> tuple[int, list[Step]]:
        """Feedback on some of a decision's items, or on items that may have had theirs."""
        id, record, positions, values, beyond = told
        if positions is None:
            positions = np.arange(record.items.size)
        known = record.told()
        fresh = np.isnan(known[positions])
        wrong = ~fresh & (known[positions] != values)
        if wrong.any():
            at = positions[np.argmax(wrong)]
            raise ContradictingFeedback(
                f"item {self.reader.names(record.items[[at]])[0]} of decision {id} already has the weight {known[at]}, "
                f"got {values[np.argmax(wrong)]}"
            )
        positions, values = positions[fresh], values[fresh]
        steps: list[Step] = []
        if positions.size:
            items = record.items[positions]
            known[positions] = values
            steps += self.agent.learning(record.round, record.choice, values, positions)
            steps += self.waiting(items, -1)
            steps += self.tally.adding(items, values)
            steps += self._clipping(items, None if beyond is None else beyond[fresh])
            steps += [(setattr, record, "weights", known)]
        if id in self.log.outstanding and not np.isnan(known).any():
            steps += self.log.finishing(id, record)
        return positions.size, steps

    def _telling_sum(self, told: Told) -> tuple[int, list[Step]]:
        id, record, _, sum, beyond = told
        if record.weights is not None:
            if record.weights[0] != sum[0]:
                raise ContradictingFeedback(f"decision {id} already has the sum {record.weights[0]}, got {sum[0]}")
            return 0, []
        steps = self.agent.learning_sum(record.round, record.choice, float(sum[0]))
        if beyond is not None:
            steps += self._clipping(record.items, np.ones(record.items.size, dtype=bool))
        return 1, [*steps, (setattr, record, "weights", sum), *self.log.finishing(id, record)]

    def _clipping(self, items: Items, beyond: NDArray[np.bool_] | None) -> list[Step]:
        """These of the weights were beyond the bounds; an item may occur any number of times."""
        if beyond is None:
            return []
        more = np.bincount(items[beyond], minlength=self.reader.n_items)
        return [(setitem, self.clipped, slice(None), self.clipped + more)]

    def waiting(self, items: Items, change: int) -> list[Step]:
        """Feedback on these items is outstanding, or is so no longer."""
        if self.agent.initialised:  # nobody asks afterwards
            return []
        return [(setitem, self.pending, items, self.pending[items] + change)]

    def find(self, id: str) -> tuple[str, Record]:
        return id, self.log.find(id)

    def cancelling(self, id: str, record: Record, why: str = "cancelled") -> tuple[bool, list[Step]]:
        """Whether it was waiting for anything."""
        if id not in self.log.outstanding:
            return False, []
        steps = [*self.waiting(record.waiting(), -1), (setattr, record, "cancelled", why)]
        return True, steps + self.log.finishing(id, record)

    def find_old(self, id: str, silence: Weights | None) -> tuple[str, Record | None, Told | None]:
        """A decision to be given up, and what is to be told of the items that are still waited for."""
        record = self.log.outstanding.get(id)
        if record is None:  # by now
            return id, None, None
        if silence is None or not record.items.size:
            return id, record, None
        waiting = record.waiting()
        if lacking := self.reader.names(waiting[np.isnan(silence[waiting])]):
            raise BadArgument(f"weight must have a number for each item that is waited for, also for {lacking[0]}")
        if self.feedback == "bandit":
            return id, record, self.read(id, total(silence, record.items))
        names = waiting.tolist() if self.reader.labels is None else self.reader.names(waiting)
        return id, record, self.read(id, dict(zip(names, silence[waiting].tolist(), strict=True)))

    def expiring(self, id: str, record: Record | None, told: Told | None) -> tuple[int | None, list[Step]]:
        """How many weights silence has told; None where nothing was waited for."""
        if record is None or id not in self.log.outstanding:
            return None, []
        if told is None:
            return 0, self.cancelling(id, record, "expired")[1]
        new, steps = self.telling(*told)
        return new, [*steps, (setattr, record, "cancelled", "expired")]

    # What was observed elsewhere

    def read_log(self, items: Any, weights: Any) -> tuple[Items, Weights, NDArray[np.bool_] | None]:
        self._need_items("observe()")
        items, values = self.reader.observations(items, weights)
        return (items, *self.reader.inside(values, items))

    def observing(self, items: Items, values: Weights, beyond: NDArray[np.bool_] | None) -> tuple[int, list[Step]]:
        if not items.size:
            return 0, []
        steps = self.agent.learning_logged(self.round, items, values)
        return items.size, [*steps, *self.tally.adding(items, values), *self._clipping(items, beyond)]

    def read_totals(self, counts: Any, sums: Any, squares: Any) -> tuple[Totals]:
        self._need_items("observe()")
        return (Aggregates(self.reader, self.agent.units).read(counts, sums, squares),)

    def observing_totals(self, totals: Totals) -> tuple[int, list[Step]]:
        steps = self.agent.learning_totals(self.round, *totals)
        return int(totals.counts.sum()), [*steps, *self.tally.adding_totals(totals)]

    def written_totals(self) -> dict[str, Weights] | dict[str, dict[str, float]]:
        self._need_items("totals()")
        totals, labels = Aggregates(self.reader, self.agent.units).written(self.tally.totals()), self.reader.labels
        if labels is None:
            return totals
        return {name: dict(zip(labels, of_each.tolist(), strict=True)) for name, of_each in totals.items()}

    def best(self) -> Callable[[], Items]:
        """What finds the best solution by what is known now."""
        if self.feedback == "bandit" and not self.agent.estimates_items:
            raise Unsupported(
                f"{self.agent.policy!r} learns no estimates of items: it draws decisions by what it has learned"
            )
        return self.agent.best()

    def _need_items(self, what: str) -> None:
        if self.feedback == "bandit":
            raise Unsupported(f"{what} is about weights of items, and this learner has feedback='bandit'")

    # Another policy

    def changing(self, make: Callable[[], Agent], made: list[Agent]) -> tuple[Agent, list[Step]]:
        """The steps by which an agent that is told all that was told so far takes the place of this: one that was
        `made` before, as that may take long."""
        if self.feedback == "bandit" and self.round > 0:
            raise Unsupported("what was learned of sums cannot be handed to another policy: begin with a new learner")
        agent, totals = made.pop() if made else make(), self.tally.totals()
        if totals.counts.any():
            take(agent.learning_totals(self.round, *totals))
        agent.logged = max(agent.logged, self.agent.logged)
        take(agent.closing(self.round))
        pending = np.zeros_like(self.pending)
        steps: list[Step] = [(setitem, self.pending, slice(None), pending), (setattr, self, "agent", agent)]
        for record in self.log.outstanding.values():
            pending[record.waiting()] += 1
            steps.append((setattr, record, "choice", record.choice._replace(initial=False, note=None)))
            steps.append((setattr, record, "earlier", True))
        return agent, steps

    def wait_again(self) -> None:
        """For what is outstanding in a log that was just restored."""
        for record in self.log.outstanding.values():
            take(self.waiting(record.waiting(), 1))
