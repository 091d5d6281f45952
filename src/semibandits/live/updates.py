"""The updates of a learner: what a question or feedback changes, worked out and not yet done."""

from operator import setitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits._util.atomic import Step, take
from semibandits.agent import Agent, Choice
from semibandits.errors import ContradictingFeedback, EmptyFeasibleSet, UncoveredItems, UnknownDecision, Unsupported
from semibandits.live.decisions import DecisionLog, Record
from semibandits.live.reading import Reader
from semibandits.types import Decision, FeedbackKind, Items, Weights


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
        self._pending = np.zeros(reader.n_items, dtype=np.int64)

    # Deciding

    def choose(self, available: Any) -> tuple[Choice]:
        exclude = None if available is None else self.reader.unavailable(available)
        try:
            choice = self.agent.decide(self.round + 1, self._pending, exclude)
        except UncoveredItems as error:
            raise UncoveredItems(error.items, self.reader.names(error.items), error.searched) from None
        except EmptyFeasibleSet as error:
            raise EmptyFeasibleSet(f"nothing feasible can be made of what is available: {error}") from error
        choice.items.setflags(write=False)
        return (choice,)

    def asking(self, choice: Choice) -> tuple[Decision, list[Step]]:
        round = self.round + 1
        record = Record(round, self.log.epoch(), choice)
        id = self.log.id(record)
        steps = self.agent.closing(round)
        steps += self._waiting(choice.items, 1)
        steps += ((setitem, self.log.outstanding, id, record), (setattr, self, "round", round))
        return self.decision(id, record), steps

    def decision(self, id: str, record: Record) -> Decision:
        items = record.choice.items
        labels = () if self.reader.labels is None else tuple(self.reader.names(items))
        return Decision(id, record.round, items, labels)

    # Feedback

    def read(self, id: str, weights: Any) -> tuple[str, Record, NDArray[np.int64] | None, Weights]:
        """Weights, and where they are among the decision's items; None: they are those of all, in their order."""
        record = self.log.find(id)
        if record.cancelled:
            raise UnknownDecision(f"decision {id} was cancelled")
        items = record.choice.items
        if self.feedback == "bandit":
            return id, record, None, np.array([self.reader.sum(weights, items.size)])
        pairs = self.reader.by_name(weights, items)
        if pairs is None:
            return id, record, None, self.reader.weights(weights, items)
        named, values = pairs
        order = np.argsort(named)
        positions = record.positions(id, named[order], self.reader)
        return id, record, positions if items.size else None, values[order]

    def telling(
        self, id: str, record: Record, positions: NDArray[np.int64] | None, values: Weights
    ) -> tuple[int, list[Step]]:
        if record.cancelled:  # meanwhile
            raise UnknownDecision(f"decision {id} was cancelled")
        if self.feedback == "bandit":
            return self._telling_sum(id, record, values)
        if positions is not None or record.weights is not None:
            every = np.arange(record.items.size)
            return self._telling_part(id, record, every if positions is None else positions, values)
        steps = self.agent.learning(record.round, record.choice, values)
        steps += self._waiting(record.choice.items, -1)
        steps.append((setattr, record, "weights", values))
        steps += self.log.finishing(id, record)
        return values.size, steps

    def _telling_part(
        self, id: str, record: Record, positions: NDArray[np.int64], values: Weights
    ) -> tuple[int, list[Step]]:
        """Feedback on some of a decision's items, or on items that may have had theirs."""
        told = record.told()
        fresh = np.isnan(told[positions])
        wrong = ~fresh & (told[positions] != values)
        if wrong.any():
            at = positions[np.argmax(wrong)]
            raise ContradictingFeedback(
                f"item {self.reader.names(record.items[[at]])[0]} of decision {id} already has the weight {told[at]}, "
                f"got {values[np.argmax(wrong)]}"
            )
        positions, values = positions[fresh], values[fresh]
        steps: list[Step] = []
        if positions.size:
            told[positions] = values
            steps += self.agent.learning(record.round, record.choice, values, positions)
            steps += self._waiting(record.items[positions], -1)
            steps += [(setattr, record, "weights", told)]
        if id in self.log.outstanding and not np.isnan(told).any():
            steps += self.log.finishing(id, record)
        return positions.size, steps

    def _telling_sum(self, id: str, record: Record, sum: Weights) -> tuple[int, list[Step]]:
        if record.weights is not None:
            if record.weights[0] != sum[0]:
                raise ContradictingFeedback(f"decision {id} already has the sum {record.weights[0]}, got {sum[0]}")
            return 0, []
        steps = self.agent.learning_sum(record.round, record.choice, float(sum[0]))
        return 1, [*steps, (setattr, record, "weights", sum), *self.log.finishing(id, record)]

    def _waiting(self, items: Items, change: int) -> list[Step]:
        """Feedback on these items is outstanding, or is so no longer."""
        if self.agent.initialised:  # nobody asks afterwards
            return []
        return [(setitem, self._pending, items, self._pending[items] + change)]

    def find(self, id: str) -> tuple[str, Record]:
        return id, self.log.find(id)

    def cancelling(self, id: str, record: Record) -> tuple[None, list[Step]]:
        if id not in self.log.outstanding:
            return None, []
        steps = [*self._waiting(record.waiting(), -1), (setattr, record, "cancelled", True)]
        return None, steps + self.log.finishing(id, record)

    def read_log(self, items: Any, weights: Any) -> tuple[Items, Weights]:
        if self.feedback == "bandit":
            raise Unsupported("observe() takes weights of items, and this learner has feedback='bandit'")
        return self.reader.observations(items, weights)

    def observing(self, items: Items, values: Weights) -> tuple[None, list[Step]]:
        return None, self.agent.learning_logged(self.round, items, values) if items.size else []

    def wait_again(self) -> None:
        """For what is outstanding in a log that was just restored."""
        for record in self.log.outstanding.values():
            take(self._waiting(record.waiting(), 1))
