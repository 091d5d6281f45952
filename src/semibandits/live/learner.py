"""Live use: ask for a decision, act, tell what each chosen item was worth."""

import contextlib
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits import policies, rng
from semibandits._util.atomic import Changes
from semibandits._util.checks import check_bounds, check_choice, check_confidence, check_count, check_flag
from semibandits._util.data_frames import data_frame
from semibandits._util.forks import ForkLock
from semibandits._util.showing import Shown
from semibandits._util.suggestions import Suggests, explained
from semibandits.agent import Agent, Request, Scale, Setting, Uncovered, check_feedback, make_agent
from semibandits.errors import BadArgument, Unsupported
from semibandits.live.asking import Asking
from semibandits.live.decisions import DecisionLog, id_of, seconds_in
from semibandits.live.events import Event, Hook, Kind, announce
from semibandits.live.reading import Outside, Reader, check_labels, check_same_order
from semibandits.live.requests import check_request
from semibandits.live.saving import Saving
from semibandits.live.updates import Updates
from semibandits.oracle import Span, probed
from semibandits.policies.catalogue import as_policy
from semibandits.problem import check_signs
from semibandits.types import (
    Bounds,
    Decision,
    FeasibleSet,
    FeedbackKind,
    GivenBounds,
    IndexPolicy,
    Items,
    Policy,
    Sense,
    Weights,
)
from semibandits.types.given import check_feasible

Feedback: TypeAlias = Mapping[int, float] | Mapping[str, float] | Mapping[int | str, float]
"""Weights by item or label."""
Available: TypeAlias = Iterable[int | str] | NDArray[np.bool_]


class Learner(Saving, Shown, Suggests):
    """Learns while deciding, with any feasible set and any order and delay of feedback.

    Without a `policy` it decides by that of `policies.default`, which needs no tuning; `learner.policy` says which one
    that is. For a proven bound there is the paper's, "CombUCB1": a policy without parameters may be given by its name.

    `sense="min"` makes the weights costs. `bounds` are the least and the largest weight possible: two numbers, or two
    vectors with one number for each item, in the order of the items or by label, which is worth much where items differ
    (`lo` and `hi` are the same for an item whose weight is known). A weight beyond them is an error, or with
    `outside="clip"` taken for the nearest bound and counted in `clipped`. `labels`, one string per item, may be used
    instead of item numbers everywhere; default: those of the set, if any. `seed` fixes every random draw.
    `uncovered="ignore"` accepts items that no solution contains. With `feedback="bandit"` it is told only what a
    decision was worth as a whole: `tell(decision.id, sum)`. With `compile=False` it stays plain code.

    Methods may be called from several threads. A solver is called outside of the learner's lock: by several threads at
    once, if several ask. A call that raises has changed nothing, also where a signal handler raised in its midst
    (Ctrl-C). `hooks` are functions that are told of every call when it has ended, to count and time it: see `Event`.
    What interrupts a hook, or the way to it, comes too late to take the call back.

    >>> import semibandits as sb
    >>> learner = Learner(sb.sets.TopK(4, 2), seed=7)
    >>> decision = learner.ask()
    >>> decision.items
    array([1, 3])
    >>> learner.tell(decision, [0.9, 0.4])
    2
    >>> learner.estimates
    array([nan, 0.9, nan, 0.4])
    >>> learner.policy
    PooledCTS(window=0, discount=1.0)
    """

    @explained
    def __init__(
        self,
        feasible: FeasibleSet,
        policy: IndexPolicy | Policy | str | None = None,
        *,
        sense: Sense = "max",
        bounds: GivenBounds = (0.0, 1.0),
        labels: Sequence[str] | None = None,
        seed: int | None = None,
        uncovered: Uncovered = "error",
        feedback: FeedbackKind = "semi",
        outside: Outside = "error",
        compile: bool = True,
    ) -> None:
        super().__init__()
        check_feasible(feasible)
        self._sense: Sense = check_choice("sense", sense, Sense)
        names = (feasible.labels or None) if labels is None else check_labels(labels, feasible.n_items)
        check_same_order(names or (), feasible)
        self._bounds = check_bounds(bounds, feasible.n_items, names or ())
        check_signs(feasible, self._bounds, self._sense)
        self._compiles = check_flag("compile", compile)
        self._probes = self._plainly(probed, feasible, Span.of(self._sense, self._bounds))
        aliases = feasible.aliases if names and tuple(names) == tuple(feasible.labels or ()) else ()
        outside = check_choice("outside", outside, Outside)
        self._reader = Reader(feasible.n_items, self._bounds, names, outside, aliases)
        self._seed = rng.check_seed(seed)
        self._uncovered: Uncovered = check_choice("uncovered", uncovered, Uncovered)
        self._feasible = feasible
        self._feedback: FeedbackKind = check_choice("feedback", feedback, FeedbackKind)
        if policy is None:
            policy = policies.default(feasible, bounds=self._bounds, feedback=self._feedback).policy
        self._updates = Updates(self._make_agent(as_policy(policy)), self._reader, self._feedback)
        self._lock = ForkLock()
        self._changes = Changes(self._lock)
        self._asking = Asking(self._updates, self._changes)
        self.hooks: list[Hook] = []

    def _make_agent(self, policy: IndexPolicy | Policy) -> Agent:
        check_feedback(policy, self._feedback)
        scale = Scale.of(self._bounds, self._sense)
        setting = Setting(self._feasible, scale, self._seed, uncovered=self._uncovered, compiles=self._compiles)
        return self._plainly(make_agent, policy, setting)

    @property
    def _agent(self) -> Agent:
        return self._updates.agent

    @property
    def _log(self) -> DecisionLog:
        return self._updates.log

    # Deciding

    @overload
    def ask(
        self, available: Available | None = None, *, feasible: FeasibleSet | None = None, n: None = None
    ) -> Decision: ...
    @overload
    def ask(
        self, available: Available | None = None, *, feasible: FeasibleSet | None = None, n: int
    ) -> list[Decision]: ...
    def ask(
        self, available: Available | None = None, *, feasible: FeasibleSet | None = None, n: int | None = None
    ) -> Decision | list[Decision]:
        """The next decision. `available` (items, labels or a mask) limits the choice this once.

        `feasible` is another set of the same items, to choose from this once: another source and target, another size
        of slate. With `n` it makes so many decisions at once, all or none: those that as many calls would make.
        """
        request = None if available is None and feasible is None else self._request(available, feasible)
        count = 1 if n is None else check_count("n", n, BadArgument)
        made = self._watched_ask(request, count) if self.hooks else self._asking.ask(request, count)
        return made[0] if n is None else made

    def _request(self, available: Any, feasible: Any) -> Request | None:
        exclude = None if available is None else self._reader.unavailable(available)
        if feasible is None or feasible is self._feasible:
            return None if exclude is None else Request(self._feasible, exclude)
        check_request(feasible, self._feasible, self._bounds, self._sense, self._reader.labels)
        return Request(feasible, exclude)

    def tell(self, id: str | Decision, weights: ArrayLike | Feedback) -> int:
        """Takes in what the items of a decision were worth, and returns how many of these weights were new.

        `id` is the decision's, or the decision itself. `weights` are aligned with `decision.items`, or a mapping from
        items or labels: then the others may follow later. With `feedback="bandit"` it is one number, their sum. It may
        come late, in any order, and again: a repeat changes nothing, a contradiction is an error.
        """
        new: int = self._call("tell", self._updates.read, self._updates.telling, (id, weights))
        return new

    def cancel(self, id: str | Decision) -> None:
        """Gives up waiting for a decision's feedback, if any is due; what it had stays, what comes later is refused."""
        self._call("cancel", self._updates.find, self._updates.cancelling, (id_of(id),))

    def expire(
        self, older_than: float | timedelta | np.timedelta64, *, weight: ArrayLike | Feedback | None = None
    ) -> list[Decision]:
        """Gives up waiting for decisions that were made longer ago than this, in seconds, and returns them.

        What they have had stays learned, and what comes later is refused. With a `weight`, that is what every item was
        worth whose weight did not come: 0 for a click that nobody made; or a number for each item, in their order or by
        name. They are given up one after the other: an interrupted call has given up some, and goes on if it is made
        again.
        """
        before = self._log.clock() - seconds_in(older_than)
        silence = None if weight is None else self._reader.silence(weight)
        with self._lock:
            old = [self._updates.decision(id, one) for id, one in self._log.outstanding.items() if one.time < before]
            for decision in old if silence is not None else ():  # it may not be possible for some
                self._updates.find_old(decision.id, silence)
        return [
            decision
            for decision in old
            if self._call("expire", self._updates.find_old, self._updates.expiring, (decision.id, silence)) is not None
        ]

    def observe(
        self,
        items: Iterable[int | str] | Feedback | None = None,
        weights: ArrayLike | None = None,
        *,
        counts: ArrayLike | Feedback | None = None,
        sums: ArrayLike | Feedback | None = None,
        squares: ArrayLike | Feedback | None = None,
    ) -> None:
        """Takes in observations made elsewhere, such as a log: a warm start.

        `items` and `weights` are aligned and an item may occur any number of times; or one mapping. Items seen here
        need no initialisation.

        Or what was added up elsewhere: for every item, or by item, how many observations there were (`counts`), their
        sum, and the sum of their squares if it is known; else it is taken for that of weights which are at one of the
        bounds each, as clicks are.
        """
        if counts is None and sums is None and squares is None:
            self._call("observe", self._updates.read_log, self._updates.observing, (items, weights))
            return
        if items is not None or weights is not None:
            raise BadArgument("give items and weights, or counts and sums, not both")
        self._call("observe", self._updates.read_totals, self._updates.observing_totals, (counts, sums, squares))

    def change_policy(self, policy: IndexPolicy | Policy | str) -> None:
        """Goes on with another policy, which takes over all that was told so far, and every open decision.

        It is handed counts, sums and sums of squares; `Unsupported`, and nothing changes, where it cannot learn from
        them. Feedback on decisions of the former policy is learned unless the present one needs a note of its own.
        """
        make = partial(self._make_agent, as_policy(policy))
        self._call("change_policy", None, self._updates.changing, (make, [make()]))

    def warm_up(self) -> tuple[str, ...]:
        """Compiles now, and waits for it, whatever this learner could compile later; returns what is machine code.

        These are the names of the functions: of the policy's formulas, of its ways to choose and to learn, and of the
        set's oracle. Without it they are compiled in the background, once plain code has taken long. It changes no
        decision, and calls no solver of the user's.
        """
        with self._lock:
            warming = self._agent.warming(self._updates.next_round())
        return warming()

    # Those who watch

    def _call(self, kind: Kind, read: Any, work: Any, given: tuple[Any, ...]) -> Any:
        if self.hooks:
            return self._watched(kind, read, work, given)
        return self._changes.make(read, work, given)

    def _watched(self, kind: Kind, read: Any, work: Any, given: tuple[Any, ...]) -> Any:
        ids = given[:1] if kind in ("tell", "cancel", "expire") else ()
        began = time.perf_counter()
        try:
            result = self._changes.make(read, work, given)
        except Exception as error:
            announce(self.hooks, Event(kind, time.perf_counter() - began, ids, error=error))
            raise
        weights = (result or 0) if kind in ("tell", "observe", "expire") else 0
        announce(self.hooks, Event(kind, time.perf_counter() - began, ids, weights=weights))
        return result

    def _watched_ask(self, request: Request | None, count: int) -> list[Decision]:
        began, solving = time.perf_counter(), [0.0]
        try:
            made = self._asking.ask(request, count, solving)
        except Exception as error:
            announce(self.hooks, Event("ask", time.perf_counter() - began, solving=solving[0], error=error))
            raise
        ids = tuple([decision.id for decision in made])
        announce(self.hooks, Event("ask", time.perf_counter() - began, ids, solving=solving[0]))
        return made

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
    def outside(self) -> Outside:
        """What becomes of a weight beyond the bounds, "error" or "clip"; `load` may change it."""
        return self._reader.outside

    @property
    def labels(self) -> tuple[str, ...]:
        """The items' names, in the order of the items; none without labels."""
        return self._reader.labels or ()

    @property
    def round(self) -> int:
        """The last round that was decided. Rounds are numbered from 1, as they are asked for.

        So it is the number of decisions, unless an ask failed while others were at work.
        """
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
            return self._agent.scores(self._updates.next_round())

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
            solving = self._updates.best()
        return solving()

    def totals(self) -> dict[str, Weights] | dict[str, dict[str, float]]:
        """What was told of each item, added up, as another learner takes it: `other.observe(**learner.totals())`.

        By label, where there are labels: the other learner may have its items in another order.
        """
        with self._lock:
            return self._updates.written_totals()

    @property
    def clipped(self) -> NDArray[np.int64]:
        """How many weights of each item were beyond the bounds, with `outside="clip"`."""
        with self._lock:
            return self._updates.clipped.copy()

    def to_frame(self) -> Any:
        """What is known of each item, as a Polars table (pandas where Polars is not installed), one row per item.

        Beside the item's number, and its label where there are any: count, estimate, the interval of `intervals()`,
        the bounds, how many weights were beyond them, and whether the item is in `best()`, if there is a best.
        """
        with self._lock:
            ends, best = self._agent.intervals(0.95), None
            with contextlib.suppress(Unsupported):
                best = self._updates.best()
            columns: dict[str, Any] = {"item": np.arange(self._feasible.n_items)}
            if self._reader.labels is not None:
                columns["label"] = list(self._reader.labels)
            columns |= {"count": self.counts, "estimate": self.estimates, "low": ends[:, 0], "high": ends[:, 1]}
            lo, hi = (np.zeros(self._feasible.n_items) + bound for bound in self._bounds)
            columns |= {"least": lo, "largest": hi, "clipped": self.clipped}
        return data_frame(columns if best is None else columns | {"best": np.isin(columns["item"], best())})

    @property
    def outstanding(self) -> list[Decision]:
        """The decisions that wait for feedback, oldest first."""
        with self._lock:
            return [self._updates.decision(id, record) for id, record in self._log.outstanding.items()]

    def __repr__(self) -> str:
        return f"Learner({self._feasible!r}, {self._agent.policy!r}, round={self._updates.round})"
