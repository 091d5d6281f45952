"""A policy that chooses whole solutions, at work."""

from collections.abc import Callable, Iterable
from functools import partial
from operator import setitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.atomic import Step
from semibandits._util.checks import check_choice
from semibandits._util.forks import cached_property
from semibandits._util.ownership import ours, up_to_date, vouched
from semibandits.agent.base import Agent, Learned, Setting, in_layers
from semibandits.agent.choice import Choice, Request, Solving
from semibandits.errors import BadArgument, BadWeights, InfeasibleSolution, Unsupported
from semibandits.oracle import check_answer
from semibandits.policies.solution.base import WarmPolicy, plays_by_kernels, remade, warm_policy
from semibandits.types import FeasibleSet, FeedbackKind, Items, Note, Policy, State, Weights, total
from semibandits.types.policies import constants_of


class PolicyAgent(Agent):
    """A `Policy` with its state. Beside it, the observations of each item are counted and added up."""

    policy: Policy

    def __init__(self, policy: Policy, setting: Setting) -> None:
        super().__init__(policy, setting)
        if check_choice("feedback", policy.feedback, FeedbackKind) == "bandit" and self.scale.per_item:
            raise Unsupported(
                f"{policy!r} learns from sums of x and has common_scale=False: where items have bounds of their own, a "
                "sum of weights is a sum of x on a common scale only"
            )
        if self.init != "optimistic" and (policy.needs_note or policy.feedback == "bandit" or self.init == "paper"):
            raise Unsupported(f"{policy!r} has init={self.init!r}, but cannot learn from what it did not choose")
        self.stats = np.zeros((2, self.feasible.n_items))
        self._rows = tuple(self.stats)
        self.state: State = policy.start(self.game, self.feasible)
        self._vouched = vouched(policy)
        self._trusted = self._vouched and ours(policy)

    def check_other(self, feasible: FeasibleSet) -> None:
        only = self.policy.own_set_only
        if self.policy.needs_note if only is None else only:
            raise Unsupported(
                f"{self.policy!r} learns about the solutions of {self.feasible!r:.200}, and cannot choose from another "
                f"set, {feasible!r:.200}; from a part of its own it can"
            )
        turned = self.feasible.signed and not feasible.signed
        if turned and self._kernels is not None and self._kernels.kernels.solves:
            raise Unsupported(
                f"{self.policy!r} gives the items of {self.feasible!r:.200} scores of either sign, and "
                f"{feasible!r:.200} needs weights <= 0: make the learner on such a set"
            )
        super().check_other(feasible)

    @cached_property
    def _kernels(self) -> WarmPolicy | None:
        """Those of the policy on the whole set, if it has any."""
        return warm_policy(self.policy, self.feasible)

    def _prepared(self, round: int, request: Request) -> Solving:
        return partial(self._choose, self.state, round, request)

    def _choose(self, state: State, round: int, request: Request) -> Choice:
        key, part = int(rng.below(self._policy_key, round)), request.part()
        if part is self.feasible and self._kernels is not None and plays_by_kernels(self.policy):
            choice: Any = self._kernels.choose(state, round, key)
        else:
            choice = self.policy.choose(state, part, round, key)
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

    def _scores(self, round: int) -> Weights:
        return self.policy.scores(self.state, self.feasible, round, int(rng.below(self._policy_key, round)))

    def _expected(self) -> Weights | None:
        return self.policy.estimates(self.state)

    def _warming(self, round: int) -> Iterable[Callable[[], object]]:
        if self._kernels is not None and plays_by_kernels(self.policy):
            sums, key = self.policy.feedback == "bandit", int(rng.below(self._policy_key, round))
            yield partial(self._kernels.warm_up, self.state, round, key, sums)

    def _part(self, choice: Choice, positions: NDArray[np.int64]) -> Choice:
        items, _, note = choice
        if self.policy.feedback == "bandit" and positions.size < items.size:
            raise BadWeights(
                f"{self.policy!r} learns from the sum of all {items.size} weights, got {positions.size} of them"
            )
        by_item = isinstance(note, np.ndarray) and note.shape[:1] == items.shape
        return choice._replace(items=items[positions], note=note[positions] if by_item else note)

    def _learning(self, round: int, choice: Choice, x: Weights) -> list[Step]:
        items, _, note = choice
        told = np.array([total(x, slice(None))]) if self.policy.feedback == "bandit" else x
        key = int(rng.below(self._feedback_key, round))
        unknown = note is None and self.policy.needs_note  # another policy has chosen these items
        state = self.state if unknown else self._learned(self.state, round, items, told, note, key)
        counts, sums = self._rows
        return [
            (setattr, self, "state", state),
            (setitem, counts, items, counts[items] + 1.0),
            (setitem, sums, items, sums[items] + x),
        ]

    def _learning_sum(self, round: int, choice: Choice, x: float) -> list[Step]:
        key = int(rng.below(self._feedback_key, round))
        state = self._learned(self.state, round, choice.items, np.array([x]), choice.note, key)
        return [(setattr, self, "state", state)]

    def _learning_logged(self, round: int, items: Items, x: Weights) -> list[Step]:
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

    def _learning_totals(
        self, round: int, items: Items, counts: Weights, sums: Weights, squares: Weights
    ) -> list[Step]:
        every = np.zeros((3, self.feasible.n_items))
        every[:, items] = counts, sums, squares
        known = up_to_date(self.policy, "observe_many", "learn")
        state = self.policy.observe_many(self.state, *every) if known else None
        if state is None:
            raise self._cannot_take_totals()
        return [
            (setattr, self, "state", state),
            (setitem, self._rows[0], items, self._rows[0][items] + counts),
            (setitem, self._rows[1], items, self._rows[1][items] + sums),
        ]

    def _learned(self, state: State, round: int, items: Items, x: Weights, note: Note, key: int) -> State:
        if self._kernels is not None and plays_by_kernels(self.policy):
            return self._kernels.learn(state, round, items, x, note, key)
        after = self.policy.learn(state, self.feasible, round, items, x, note, key)
        if after is None:
            raise BadArgument(f"learn() of {self.policy!r} must return the new state, got None")
        return after

    def learned(self) -> Learned:
        if not isinstance(self.state, tuple):
            raise Unsupported(f"a state must be a tuple of NumPy arrays to be saved, got {self.state!r:.200}")
        return Learned(self.stats, self.logged, state=list(self.state))

    def restore(self, learned: Learned, round: int, finite: bool) -> None:
        super().restore(learned, round, finite)
        arrays = learned.state or []
        expected = [(array.dtype.name, array.shape) for array in self.state]
        found = [(array.dtype.name, array.shape) for array in arrays]
        if expected != found:
            raise BadArgument(f"the state should have arrays {expected!r:.200}, got {found!r:.200}")
        names = getattr(self.state, "_fields", ("",) * len(arrays))
        if ours(self.policy) and not all(
            name == constants_of(self.policy) or np.isfinite(array).all()
            for name, array in zip(names, arrays, strict=True)
        ):
            raise BadArgument("the state must be finite")
        restored = remade(self.state, arrays)
        constants = {name: getattr(self.state, name) for name in names if name == constants_of(self.policy)}
        self.state = restored._replace(**constants) if constants else restored

    def reordered(self, state: list[NDArray[Any]], order: NDArray[np.int64]) -> list[NDArray[Any]]:
        names, by_item = getattr(self.state, "_fields", ()), self.policy.by_item
        if by_item is None or len(names) != len(state):
            raise BadArgument(
                f"its items are in another order now, and what {self.policy!r} has learned cannot be told apart by "
                "items (Policy.by_item): load it onto the set in the order of the file"
            )
        return [_by_item(one, order) if name in by_item else one for name, one in zip(names, state, strict=True)]

    def check_note(self, round: int, choice: Choice) -> None:
        super().check_note(round, choice)
        note = choice.note
        if ours(self.policy) and note is not None and (note.dtype != np.float64 or not np.isfinite(note).all()):
            raise BadArgument(f"the note of the decision of round {round} must be finite numbers")

    def _note_shape(self, choice: Choice) -> tuple[int, ...] | None:
        found = getattr(choice.note, "shape", None)
        if choice.initial:
            return None
        if self._kernels is not None:
            shapes = {"none": None, "chosen": choice.items.shape, "all": (self.feasible.n_items,)}
            return shapes[self._kernels.kernels.note]
        if self.policy.needs_note and (ours(self.policy) or found is None):
            return choice.items.shape + (found or ())[1:]
        return found


def _by_item(array: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    if 0 in array.shape:
        return array
    if set(array.shape) != {order.size}:
        raise BadArgument(f"the state should have a number for each of {order.size} items, got shape {array.shape}")
    return array[np.ix_(*[order] * array.ndim)]
