"""Live use: ask for a decision, act, tell what each chosen item was worth."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits import matching, rng, saving, showing, state
from semibandits.agent import PolicyAgent, Scale, Uncovered, check_feedback, check_policy, make_agent
from semibandits.answers import solve
from semibandits.book import Book, Record, saved_decision
from semibandits.environments.base import check_bounds
from semibandits.errors import (
    BadArgument,
    BadState,
    BadWeights,
    ContradictingFeedback,
    EmptyFeasibleSet,
    SemiBanditError,
    UncoveredItems,
    UnknownDecision,
    Unsupported,
)
from semibandits.forks import ForkLock, cached_property
from semibandits.inputs import Inputs, check_confidence
from semibandits.probing import Span, probed
from semibandits.problem import check_signs
from semibandits.types import (
    Bounds,
    Decision,
    FeasibleSet,
    FeedbackKind,
    IndexPolicy,
    Items,
    Policy,
    Sense,
    Weights,
    check_choice,
)

Feedback: TypeAlias = Mapping[int, float] | Mapping[str, float] | Mapping[int | str, float]
"""Weights by item or label."""


class Learner:
    """Learns while deciding, with any feasible set and any order and delay of feedback.

    `sense="min"` makes the weights costs. `bounds` are the least and the largest weight possible. `labels`, one string
    per item, may be used instead of item numbers everywhere; default: those of the set, if any. `seed` fixes every
    random draw (CombUCB1 makes none). `uncovered="ignore"` accepts items that no solution contains. With
    `feedback="bandit"` it is told only what a decision was worth as a whole: `tell(decision.id, sum)`.

    Methods may be called from several threads. A call that raises an error has changed nothing.

    >>> import semibandits as sb
    >>> learner = Learner(sb.sets.TopK(4, 2), sb.policies.CombUCB1(), seed=7)
    >>> decision = learner.ask()
    >>> decision.items
    array([0, 1])
    >>> learner.tell(decision.id, [0.9, 0.4])
    2
    >>> learner.estimates
    array([0.9, 0.4, nan, nan])
    """

    def __init__(
        self,
        feasible: FeasibleSet,
        policy: IndexPolicy | Policy,
        *,
        sense: Sense = "max",
        bounds: Bounds = (0.0, 1.0),
        labels: Sequence[str] | None = None,
        seed: int | None = None,
        uncovered: Uncovered = "error",
        feedback: FeedbackKind = "semi",
    ) -> None:
        if not isinstance(feasible, FeasibleSet):
            raise BadArgument(f"feasible must be a FeasibleSet (wrap a solver in sets.Oracle), got {feasible!r:.200}")
        self._sense: Sense = check_choice("sense", sense, Sense)
        self._bounds = check_bounds(bounds)
        check_signs(feasible, self._bounds, self._sense)
        self._probes = probed(feasible, Span.of(self._sense, self._bounds))
        self._scale = Scale.of(self._bounds, self._sense)
        self._inputs = Inputs(feasible.n_items, self._bounds, (feasible.labels or None) if labels is None else labels)
        self._seed = rng.check_seed(seed)
        self._uncovered: Uncovered = check_choice("uncovered", uncovered, Uncovered)
        self._feasible = feasible
        self._feedback: FeedbackKind = check_choice("feedback", feedback, FeedbackKind)
        check_feedback(check_policy(policy), self._feedback)
        self._agent = make_agent(feasible, policy, self._scale, seed=self._seed, uncovered=self._uncovered)
        self._round = 0
        self._pending = np.zeros(feasible.n_items, dtype=np.int64)
        self._book = Book()
        self._lock = ForkLock()
        self._saving = ForkLock()

    # Deciding

    def ask(self, available: Iterable[int | str] | NDArray[np.bool_] | None = None) -> Decision:
        """The next decision. `available` (items, labels or a mask) limits the choice this once."""
        with self._lock:
            exclude = None if available is None else self._inputs.unavailable(available)
            try:
                items, initial, note = self._agent.choose(self._round + 1, self._pending, exclude)
            except UncoveredItems as error:
                raise UncoveredItems(error.items, self._inputs.names(error.items), error.searched) from None
            except EmptyFeasibleSet as error:
                raise EmptyFeasibleSet(f"nothing feasible can be made of what is available: {error}") from error
            self._round += 1
            items.setflags(write=False)
            record = Record(self._round, items, initial, note)
            self._count_pending(items, 1)
            return self._decision(self._book.add(record), record)

    def tell(self, id: str, weights: ArrayLike | Feedback) -> int:
        """Takes in what the items of a decision were worth, and returns how many of these weights were new.

        `weights` are aligned with `decision.items`, or a mapping from items or labels: then the others may follow
        later. With `feedback="bandit"` it is one number, their sum. Feedback may come late, in any order, and again:
        a repeat changes nothing, a contradiction is an error.
        """
        with self._lock:
            record = self._book.find(id)
            if record.cancelled:
                raise UnknownDecision(f"decision {id} was cancelled")
            if self._feedback == "bandit":
                return self._tell_sum(id, record, self._inputs.sum(weights, record.items.size))
            pairs = self._inputs.by_name(weights, record.items)
            if pairs is not None:
                items, values = pairs
                order = np.argsort(items)
                items, values = items[order], values[order]
                found = record.positions(id, items, self._inputs)
                positions = found if record.items.size else None
            else:
                items, values = record.items, self._inputs.weights(weights, record.items)
                positions = None
            if positions is not None or record.weights is not None:
                return self._tell_part(id, record, np.arange(items.size) if positions is None else positions, values)
            self._learn(record, items, values)
            record.weights = values
            self._book.finish(id)
            return items.size

    def _tell_part(self, id: str, record: Record, positions: NDArray[np.int64], values: Weights) -> int:
        """Feedback on some of a decision's items, or on items that may have had theirs."""
        told = record.told()
        fresh = np.isnan(told[positions])
        wrong = ~fresh & (told[positions] != values)
        if wrong.any():
            at = positions[np.argmax(wrong)]
            raise ContradictingFeedback(
                f"item {self._inputs.names(record.items[[at]])[0]} of decision {id} already has the weight {told[at]}, "
                f"got {values[np.argmax(wrong)]}"
            )
        positions, values = positions[fresh], values[fresh]
        if positions.size:
            self._learn(record, record.items[positions], values, positions)
            told[positions] = values
            record.weights = told
        if id in self._book.outstanding and not np.isnan(told).any():
            self._book.finish(id)
        return positions.size

    def _tell_sum(self, id: str, record: Record, sum: float) -> int:
        if record.weights is not None:
            if record.weights[0] != sum:
                raise ContradictingFeedback(f"decision {id} already has the sum {record.weights[0]}, got {sum}")
            return 0
        assert isinstance(self._agent, PolicyAgent)
        x = self._scale.sum_to_unit(sum, record.items.size)
        self._agent.learn_sum(record.round, record.items, x, record.note)
        record.weights = np.array([sum])
        self._book.finish(id)
        return 1

    def _learn(self, record: Record, items: Items, values: Weights, positions: NDArray[np.int64] | None = None) -> None:
        note, size, policy = record.note, record.items.size, self._agent.policy
        if positions is not None and isinstance(policy, Policy):
            if policy.feedback == "bandit" and positions.size < size:
                raise BadWeights(f"{policy!r} learns from the sum of all {size} weights, got {positions.size} of them")
            if isinstance(note, np.ndarray) and note.shape[:1] == record.items.shape:
                note = note[positions]
        self._agent.learn(record.round, items, self._scale.to_unit(values), record.initial, note)
        self._count_pending(items, -1)

    def _count_pending(self, items: Items, change: int) -> None:
        if not self._agent.initialised:  # nobody asks afterwards
            self._pending[items] += change

    def cancel(self, id: str) -> None:
        """Gives up waiting for a decision's feedback; what it has had stays learned, what comes later is refused.

        Harmless where nothing is left to wait for.
        """
        with self._lock:
            record = self._book.find(id)
            if id in self._book.outstanding:
                record.cancelled = True
                self._count_pending(record.waiting(), -1)
                self._book.finish(id)

    def observe(self, items: Iterable[int | str] | Feedback, weights: ArrayLike | None = None) -> None:
        """Takes in observations made elsewhere, such as a log: a warm start.

        `items` and `weights` are aligned and an item may occur any number of times; or one mapping. Items seen here
        need no initialisation.
        """
        with self._lock:
            if self._feedback == "bandit":
                raise Unsupported("observe() takes weights of items, and this learner has feedback='bandit'")
            numbers, values = self._inputs.observations(items, weights)
            if numbers.size:
                self._agent.learn_logged(self._round, numbers, self._scale.to_unit(values))

    # What was learned

    @property
    def sense(self) -> Sense:
        """Whether weights are rewards, "max", or costs, "min"."""
        return self._sense

    @property
    def labels(self) -> tuple[str, ...]:
        """The items' names, in the order of the items; none without labels."""
        return self._inputs.labels or ()

    @property
    def round(self) -> int:
        """The number of decisions so far."""
        return self._round

    @property
    def counts(self) -> NDArray[np.int64]:
        """T(e): the observations of each item; of a policy that forgets, those it has not forgotten."""
        with self._lock:
            return np.array(self._agent.stats[0], dtype=np.int64)

    @property
    def estimates(self) -> Weights:
        """ŵ(e): the mean of each item's observations; NaN for items never observed.

        A policy that knows better, because its items share parameters, tells what it expects of every item.
        """
        with self._lock:
            means = self._expected()
            means = self._means(unseen=np.nan) if means is None else means
            estimates: Weights = np.clip(self._scale.from_unit(means), *self._bounds)
            return estimates

    def scores(self) -> Weights:
        """U_t(e) for the next round: optimistic weights, or optimistic (low) costs."""
        with self._lock:
            return np.array(self._scale.from_unit(self._agent.scores(self._round + 1)), dtype=np.float64)

    def intervals(self, confidence: float = 0.95) -> NDArray[np.float64]:
        """Confidence intervals of the items' mean weights, shape (n_items, 2).

        Each holds with the given probability for all rounds at once, however the decisions were made, as long as the
        means stay what they are and nothing is forgotten: Hoeffding's inequality with error (1 - confidence) / (T(T+1))
        at the T-th observation. Items never observed have the bounds.
        """
        check_confidence(confidence)
        with self._lock:
            counts = self._agent.stats[0]
            some = np.maximum(counts, 1.0)
            radius = np.sqrt(np.log(2.0 * some * (some + 1.0) / (1.0 - confidence)) / (2.0 * some))
            radius = (self._bounds[1] - self._bounds[0]) * np.where(counts > 0.0, radius, np.inf)
            middle = self._scale.from_unit(self._means(unseen=0.0))
            ends: Weights = np.stack((middle - radius, middle + radius), axis=1)
            return np.clip(ends, *self._bounds)

    def best(self) -> Items:
        """The best solution by the estimates alone, without exploration; items never observed count as worst."""
        with self._lock:
            means = self._expected()
            if means is None and self._feedback == "bandit":
                raise Unsupported(
                    f"{self._agent.policy!r} learns no estimates of items: it draws decisions by what it has learned"
                )
            means = self._means(unseen=0.0) if means is None else np.clip(means, 0.0, 1.0)
            return solve(self._feasible, self._scale.for_oracle(means))

    def _expected(self) -> Weights | None:
        """What the policy expects of the items, if it has more to go by than each item's own observations."""
        agent = self._agent
        return agent.policy.estimates(agent.state) if isinstance(agent, PolicyAgent) else None

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions that wait for feedback, oldest first."""
        with self._lock:
            return [self._decision(id, record) for id, record in self._book.outstanding.items()]

    def _means(self, unseen: float) -> Weights:
        counts, sums = self._agent.stats[0], self._agent.stats[1]
        return np.where(counts > 0.0, sums / np.maximum(counts, 1.0), unseen)

    # Keeping

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes everything to a JSON file with a checksum; an older file is replaced whole or not at all."""
        with self._saving:  # what was saved last is what stays
            state.write(path, self._snapshot())

    def _snapshot(self) -> state.SavedLearner:
        with self._lock:
            return state.SavedLearner(
                name=self._book.name,
                seed=self._seed,
                round=self._round,
                n_items=self._feasible.n_items,
                max_size=self._feasible.max_size,
                sense=self._sense,
                bounds=self._bounds,
                labels=None if self._inputs.labels is None else list(self._inputs.labels),
                uncovered=self._uncovered,
                feedback=self._feedback,
                outstanding=[saved_decision(record, True) for record in self._book.outstanding.values()],
                finished=[saved_decision(record, False) for record in self._book.finished.values()],
                fingerprint=self._fingerprint,
                **saving.saved_agent(self._agent),
            )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        feasible: FeasibleSet,
        policy: IndexPolicy | Policy | None = None,
        *,
        uncovered: Uncovered | None = None,
        labels: Sequence[str] | None = None,
        same_items: bool = False,
    ) -> "Learner":
        """The saved learner, with the same set; a policy of the user's own must be given again.

        It goes on where the saved one stopped: the same next decisions, the same outstanding feedback. A policy of the
        same kind with other parameters, or another choice of `uncovered`, takes the place of the saved one.

        Items are matched by name where the file and the set (or `labels`) have names: they may be in another order now.
        Otherwise the set must be the one it was saved with, as far as that can be seen; `same_items=True` insists
        that every item has the number it had, whatever names and set say.
        """
        if not isinstance(feasible, FeasibleSet):
            raise BadArgument(f"feasible must be a FeasibleSet, got {feasible!r:.200}")
        if policy is not None:
            check_policy(policy)
        saved = state.read(path)
        try:
            match = matching.match(saved, feasible, labels, same_items)
            saving.check_fits(saved, feasible)
            learner = cls(
                feasible,
                saving.restored_policy(saved.policy, match.order is not None) if policy is None else policy,
                sense=saved.sense,  # type: ignore[arg-type]
                bounds=saved.bounds,
                labels=match.labels,
                seed=saved.seed,
                uncovered=saved.uncovered if uncovered is None else uncovered,  # type: ignore[arg-type]
                feedback=saved.feedback,
            )
            matching.check_match(match, saved, lambda: learner._fingerprint)
            saving.check_same_kind(learner._agent.policy, saved.policy)
            learner._restore(saved if match.order is None else matching.renumbered(saved, match.order, learner._agent))
        except (SemiBanditError, TypeError, ValueError, OverflowError) as error:
            raise BadState(f"{path} cannot be loaded: {error}") from error
        return learner

    def _restore(self, saved: state.SavedLearner) -> None:
        saving.restore_agent(self._agent, saved, self._inputs)
        self._round = saved.round
        self._book.restore(saved, self._inputs)
        for record in self._book.outstanding.values():
            saving.check_note(self._agent, record)
            self._count_pending(record.waiting(), 1)

    @cached_property
    def _fingerprint(self) -> list[str]:
        """By which the set is known again."""
        return matching.fingerprint_of(self._feasible, Span.of(self._sense, self._bounds), self._probes)

    # Bookkeeping

    def _decision(self, id: str, record: Record) -> Decision:
        labels = tuple(self._inputs.names(record.items)) if self.labels else ()
        return Decision(id, record.round, record.items, labels)

    _repr_html_ = showing.learner_html

    def __reduce__(self) -> Any:
        raise TypeError(
            "a learner cannot be copied or pickled, or two would answer to the same decisions: save and load"
        )

    def __repr__(self) -> str:
        return f"Learner({self._feasible!r}, {self._agent.policy!r}, round={self._round})"
