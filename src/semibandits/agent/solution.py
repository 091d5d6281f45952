"""A policy that chooses whole solutions, at work."""

from operator import setitem
from typing import Any

import numpy as np

from semibandits import rng
from semibandits._util.atomic import Step, take
from semibandits._util.checks import check_choice
from semibandits._util.ownership import ours, vouched
from semibandits.agent.base import Agent, Choice, Uncovered, in_layers
from semibandits.agent.scale import Scale
from semibandits.errors import BadArgument, InfeasibleSolution, Unsupported
from semibandits.oracle import check_answer
from semibandits.types import FeasibleSet, FeedbackKind, Items, Note, Policy, State, Weights, total


class PolicyAgent(Agent):
    """A `Policy` with its state. Beside it, the observations of each item are counted and added up."""

    def __init__(
        self,
        feasible: FeasibleSet,
        policy: Policy,
        scale: Scale,
        *,
        seed: int,
        run: int = 0,
        horizon: int = 0,
        uncovered: Uncovered = "error",
    ) -> None:
        super().__init__(feasible, policy, scale, seed=seed, run=run, horizon=horizon, uncovered=uncovered)
        self.policy = policy
        check_choice("feedback", policy.feedback, FeedbackKind)
        if self.init != "optimistic" and (policy.needs_note or policy.feedback == "bandit" or self.init == "paper"):
            raise Unsupported(f"{policy!r} has init={self.init!r}, but cannot learn from what it did not choose")
        self.stats = np.zeros((2, feasible.n_items))
        self._rows = tuple(self.stats)
        self.state: State = policy.start(self.game, feasible)
        self._vouched = vouched(policy)
        self._trusted = self._vouched and ours(policy)

    def _decide(self, part: FeasibleSet, round: int) -> Choice:
        choice: Any = self.policy.choose(self.state, part, round, int(rng.below(self._policy_key, round)))
        if not (isinstance(choice, tuple) and len(choice) == 2):
            raise BadArgument(f"choose() of {self.policy!r} must return (items, note), got {choice!r:.200}")
        items, note = choice
        if not (self._trusted and part.verified and ours(part)):
            answer = check_answer(items, part.n_items, part.max_size, f"choose() of {self.policy!r}")
            if not (self._vouched and vouched(part)) and not part.contains(answer):
                raise InfeasibleSolution(f"{self.policy!r} chose {answer.tolist()!r:.200}, which is not feasible")
            if list(items) != answer.tolist():  # its note is in another order
                raise InfeasibleSolution(f"{self.policy!r} must choose items in ascending order, got {items!r:.200}")
            items = answer
        return Choice(items, False, note)

    def scores(self, round: int) -> Weights:
        return self.policy.scores(self.state, self.feasible, round, int(rng.below(self._policy_key, round)))

    def learning(self, round: int, items: Items, x: Weights, initial: bool, note: Note = None) -> list[Step]:
        told = np.array([total(x, slice(None))]) if self.policy.feedback == "bandit" else x
        state = self._learned(self.state, round, items, told, note, int(rng.below(self._feedback_key, round)))
        counts, sums = self._rows
        return [
            (setattr, self, "state", state),
            (setitem, counts, items, counts[items] + 1.0),
            (setitem, sums, items, sums[items] + x),
        ]

    def learn_sum(self, round: int, items: Items, x: float, note: Note) -> None:
        """Takes in the sum alone, where nothing else is known."""
        take(self.learning_sum(round, items, x, note))

    def learning_sum(self, round: int, items: Items, x: float, note: Note) -> list[Step]:
        key = int(rng.below(self._feedback_key, round))
        state = self._learned(self.state, round, items, np.array([x]), note, key)
        return [(setattr, self, "state", state)]

    def learning_logged(self, round: int, items: Items, x: Weights) -> list[Step]:
        if self.policy.needs_note or self.policy.feedback == "bandit":
            raise Unsupported(
                f"{self.policy!r} learns from its own decisions only: it must know the chance that each item had"
                if self.policy.needs_note
                else f"{self.policy!r} learns from sums over its own decisions, not from single items"
            )
        state, key = self.state, int(rng.below(self._feedback_key, 0))
        layers = in_layers(items)
        for number, layer in enumerate(layers, start=self.logged + 1):
            order = layer[np.argsort(items[layer])]
            state = self._learned(state, round, items[order], x[order], None, int(rng.below(key, number)))
        distinct, which = np.unique(items, return_inverse=True)
        counts, sums = (row[distinct] for row in self._rows)
        np.add.at(counts, which, 1.0)
        np.add.at(sums, which, x)
        return [
            (setattr, self, "state", state),
            (setitem, self._rows[0], distinct, counts),
            (setitem, self._rows[1], distinct, sums),
            (setattr, self, "logged", self.logged + len(layers)),
        ]

    def _learned(self, state: State, round: int, items: Items, x: Weights, note: Note, key: int) -> State:
        after = self.policy.learn(state, self.feasible, round, items, x, note, key)
        if after is None:
            raise BadArgument(f"learn() of {self.policy!r} must return the new state, got None")
        return after
