"""Live use: ask for a decision, act, tell what each chosen item was worth."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits import policies, rng
from semibandits._util.atomic import Changes
from semibandits._util.checks import check_bounds, check_choice, check_confidence
from semibandits._util.forks import ForkLock, cached_property
from semibandits._util.showing import Shown
from semibandits.agent import Scale, Setting, Uncovered, check_feedback, check_policy, make_agent
from semibandits.errors import BadArgument, BadState, SemiBanditError, Unsupported
from semibandits.live import matching, snapshot
from semibandits.live.decisions import saved_decision
from semibandits.live.reading import Reader
from semibandits.live.updates import Updates
from semibandits.oracle import Span, probed
from semibandits.problem import check_signs
from semibandits.types import Bounds, Decision, FeasibleSet, FeedbackKind, IndexPolicy, Items, Policy, Sense, Weights

Feedback: TypeAlias = Mapping[int, float] | Mapping[str, float] | Mapping[int | str, float]
"""Weights by item or label."""


class Learner(Shown):
    """Learns while deciding, with any feasible set and any order and delay of feedback.

    Without a `policy` it decides by that of `policies.default`, which needs no tuning; `learner.policy` says which one
    that is. CombUCB1, the paper's, is for those who want a proven bound.

    `sense="min"` makes the weights costs. `bounds` are the least and the largest weight possible. `labels`, one string
    per item, may be used instead of item numbers everywhere; default: those of the set, if any. `seed` fixes every
    random draw. `uncovered="ignore"` accepts items that no solution contains. With
    `feedback="bandit"` it is told only what a decision was worth as a whole: `tell(decision.id, sum)`.

    Methods may be called from several threads. A call that raises has changed nothing, also where a signal handler
    raised in its midst (Ctrl-C).

    >>> import semibandits as sb
    >>> learner = Learner(sb.sets.TopK(4, 2), seed=7)
    >>> decision = learner.ask()
    >>> decision.items
    array([0, 1])
    >>> learner.tell(decision.id, [0.9, 0.4])
    2
    >>> learner.estimates
    array([0.9, 0.4, nan, nan])
    >>> learner.policy
    PooledCTS(window=0, discount=1.0)
    """

    def __init__(
        self,
        feasible: FeasibleSet,
        policy: IndexPolicy | Policy | None = None,
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
        self._reader = Reader(feasible.n_items, self._bounds, (feasible.labels or None) if labels is None else labels)
        self._seed = rng.check_seed(seed)
        self._uncovered: Uncovered = check_choice("uncovered", uncovered, Uncovered)
        self._feasible = feasible
        self._feedback: FeedbackKind = check_choice("feedback", feedback, FeedbackKind)
        if policy is None:
            policy = policies.default(feasible, bounds=self._bounds, feedback=self._feedback).policy
        check_feedback(check_policy(policy), self._feedback)
        scale = Scale.of(self._bounds, self._sense)
        self._agent = make_agent(policy, Setting(feasible, scale, self._seed, uncovered=self._uncovered))
        self._updates = Updates(self._agent, self._reader, self._feedback)
        self._log = self._updates.log
        self._lock = ForkLock()
        self._changes = Changes(self._lock)
        self._saving = ForkLock()
        self._saves = 0
        self._files = snapshot.Files()

    # Deciding

    def ask(self, available: Iterable[int | str] | NDArray[np.bool_] | None = None) -> Decision:
        """The next decision. `available` (items, labels or a mask) limits the choice this once."""
        return self._changes.make(self._updates.choose, self._updates.asking, available)

    def tell(self, id: str, weights: ArrayLike | Feedback) -> int:
        """Takes in what the items of a decision were worth, and returns how many of these weights were new.

        `weights` are aligned with `decision.items`, or a mapping from items or labels: then the others may follow
        later. With `feedback="bandit"` it is one number, their sum. Feedback may come late, in any order, and again:
        a repeat changes nothing, a contradiction is an error.
        """
        return self._changes.make(self._updates.read, self._updates.telling, id, weights)

    def cancel(self, id: str) -> None:
        """Gives up waiting for a decision's feedback; what it has had stays learned, what comes later is refused.

        Harmless where nothing is left to wait for.
        """
        return self._changes.make(self._updates.find, self._updates.cancelling, id)

    def observe(self, items: Iterable[int | str] | Feedback, weights: ArrayLike | None = None) -> None:
        """Takes in observations made elsewhere, such as a log: a warm start.

        `items` and `weights` are aligned and an item may occur any number of times; or one mapping. Items seen here
        need no initialisation.
        """
        return self._changes.make(self._updates.read_log, self._updates.observing, items, weights)

    # What was learned

    @property
    def feasible(self) -> FeasibleSet:
        """The set it chooses from."""
        return self._feasible

    @property
    def policy(self) -> IndexPolicy | Policy:
        """The policy it decides by."""
        return self._agent.policy

    @property
    def bounds(self) -> Bounds:
        """The least and the largest weight possible."""
        return self._bounds

    @property
    def feedback(self) -> FeedbackKind:
        """Whether it is told the weight of every chosen item, "semi", or their sum, "bandit"."""
        return self._feedback

    @property
    def sense(self) -> Sense:
        """Whether weights are rewards, "max", or costs, "min"."""
        return self._sense

    @property
    def labels(self) -> tuple[str, ...]:
        """The items' names, in the order of the items; none without labels."""
        return self._reader.labels or ()

    @property
    def round(self) -> int:
        """The number of decisions so far."""
        return self._updates.round

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
            return self._agent.estimates()

    def scores(self) -> Weights:
        """U_t(e) for the next round: optimistic or drawn weights, or costs, of which the best solution is chosen."""
        with self._lock:
            return self._agent.scores(self._updates.round + 1)

    def intervals(self, confidence: float = 0.95) -> NDArray[np.float64]:
        """Confidence intervals of the items' mean weights, shape (n_items, 2).

        Each holds with the given probability for all rounds at once, however the decisions were made, as long as the
        means stay what they are and nothing is forgotten: Hoeffding's inequality with error (1 - confidence) / (T(T+1))
        at the T-th observation. Items never observed have the bounds.
        """
        check_confidence(confidence)
        with self._lock:
            return self._agent.intervals(confidence)

    def best(self) -> Items:
        """The best solution by the estimates alone, without exploration; items never observed count as worst."""
        with self._lock:
            if self._feedback == "bandit" and not self._agent.estimates_items:
                raise Unsupported(
                    f"{self._agent.policy!r} learns no estimates of items: it draws decisions by what it has learned"
                )
            return self._agent.best()

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions that wait for feedback, oldest first."""
        with self._lock:
            return [self._updates.decision(id, record) for id, record in self._log.outstanding.items()]

    # Keeping

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes everything to a JSON file with a checksum; an older file is replaced whole or not at all.

        A file that this learner has neither loaded nor written, as it is now, is replaced with `overwrite=True` only.
        """
        with self._saving:  # what was saved last is what stays
            self._save(path, overwrite)

    def _save(self, path: str | os.PathLike[str], overwrite: bool) -> None:
        saves = -1
        while saves != self._saves:  # or a signal handler has saved meanwhile, who knew more
            saves = self._saves = self._saves + 1
            self._files.write(path, self._snapshot(), overwrite)

    def _snapshot(self) -> snapshot.SavedLearner:
        with self._lock:
            return snapshot.SavedLearner(
                name=self._log.name,
                seed=self._seed,
                round=self._updates.round,
                n_items=self._feasible.n_items,
                max_size=self._feasible.max_size,
                sense=self._sense,
                bounds=self._bounds,
                labels=None if self._reader.labels is None else list(self._reader.labels),
                uncovered=self._uncovered,
                feedback=self._feedback,
                outstanding=[saved_decision(record, True) for record in self._log.outstanding.values()],
                finished=[saved_decision(record, False) for record in self._log.finished.values()],
                fingerprint=self._fingerprint,
                **snapshot.saved_agent(self._agent),
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
        saved, head = snapshot.read(path)
        try:
            match = matching.match(saved, feasible, labels, same_items)
            snapshot.check_fits(saved, feasible)
            learner = cls(
                feasible,
                snapshot.restored_policy(saved.policy, match.order is not None) if policy is None else policy,
                sense=saved.sense,  # type: ignore[arg-type]
                bounds=saved.bounds,
                labels=match.labels,
                seed=saved.seed,
                uncovered=saved.uncovered if uncovered is None else uncovered,  # type: ignore[arg-type]
                feedback=saved.feedback,
            )
            matching.check_match(match, saved, lambda: learner._fingerprint)
            snapshot.check_same_kind(learner._agent.policy, saved.policy)
            learner._restore(saved if match.order is None else matching.renumbered(saved, match.order, learner._agent))
        except (SemiBanditError, TypeError, ValueError, OverflowError) as error:
            raise BadState(f"{path} cannot be loaded: {error}") from error
        learner._files.know(path, head)
        return learner

    def _restore(self, saved: snapshot.SavedLearner) -> None:
        snapshot.restore_agent(self._agent, saved, self._reader)
        self._updates.round = saved.round
        self._log.restore(saved, self._reader)
        for record in self._log.outstanding.values():
            self._agent.check_note(record.round, record.choice)
        self._updates.wait_again()

    @cached_property
    def _fingerprint(self) -> list[str]:
        """By which the set is known again."""
        return matching.fingerprint_of(self._feasible, Span.of(self._sense, self._bounds), self._probes)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a learner cannot be copied or pickled, or two would answer to the same decisions: save and load"
        )

    def __repr__(self) -> str:
        return f"Learner({self._feasible!r}, {self._agent.policy!r}, round={self._updates.round})"
