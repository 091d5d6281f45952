"""Learners that are saved to files, and loaded from them."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from semibandits._util.checks import check_flag
from semibandits._util.forks import ForkLock, cached_property
from semibandits._util.suggestions import explained
from semibandits.agent import Uncovered
from semibandits.errors import BadState, SemiBanditError
from semibandits.kernel.warm import plain_code
from semibandits.live import matching, snapshot
from semibandits.live.asking import Asking
from semibandits.live.decisions import saved_decision
from semibandits.live.reading import Outside, Reader
from semibandits.live.updates import Updates
from semibandits.oracle import Probe, Span
from semibandits.policies.catalogue import as_policy
from semibandits.types import Bounds, FeasibleSet, FeedbackKind, IndexPolicy, Policy, Sense
from semibandits.types.given import check_feasible

T = TypeVar("T")


class Saving:
    """What a learner is made of, and how it is kept."""

    _feasible: FeasibleSet
    _sense: Sense
    _bounds: Bounds
    _seed: int
    _uncovered: Uncovered
    _feedback: FeedbackKind
    _compiles: bool
    _probes: list[Probe]
    _reader: Reader
    _updates: Updates
    _asking: Asking
    _lock: ForkLock

    def __init__(self) -> None:
        self._saving = ForkLock()
        self._saves = 0
        self._files = snapshot.Files()

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
        updates, log, fingerprint = self._updates, self._updates.log, self._fingerprint  # it may take a solver long
        with self._lock:
            return snapshot.SavedLearner(
                name=log.name,
                seed=self._seed,
                round=updates.round,
                n_items=self._feasible.n_items,
                max_size=self._feasible.max_size,
                sense=self._sense,
                bounds=snapshot.saved_bounds(self._bounds),
                labels=None if self._reader.labels is None else list(self._reader.labels),
                uncovered=self._uncovered,
                feedback=self._feedback,
                outstanding=[saved_decision(record, True) for record in log.outstanding.values()],
                finished=[saved_decision(record, False) for record in log.finished.values()],
                fingerprint=fingerprint,
                outside=self._reader.outside,
                clipped=updates.clipped.tolist() if updates.clipped.any() else None,
                tally=[row.tolist() for row in updates.tally.totals()],
                **snapshot.saved_agent(updates.agent),
            )

    @classmethod
    @explained
    def load(
        cls,
        path: str | os.PathLike[str],
        feasible: FeasibleSet,
        policy: IndexPolicy | Policy | str | None = None,
        *,
        uncovered: Uncovered | None = None,
        outside: Outside | None = None,
        labels: Sequence[str] | None = None,
        same_items: bool = False,
        compile: bool = True,
    ) -> Self:
        """The saved learner, with the same set; a policy of the user's own must be given again.

        It goes on where the saved one stopped: the same next decisions, the same outstanding feedback. A policy of the
        same kind with other parameters, or another choice of `uncovered` or `outside`, takes the place of the saved
        one; for one of another kind there is `change_policy`.

        Items are matched by name where the file and the set (or `labels`) have names: they may be in another order now.
        Otherwise the set must be the one it was saved with, as far as that can be seen; `same_items=True` insists
        that every item has the number it had, whatever names and set say.
        """
        check_feasible(feasible)
        if policy is not None:
            policy = as_policy(policy)
        check_flag("compile", compile)
        saved, head = snapshot.read(path)
        try:
            match = matching.match(saved, feasible, labels, same_items)
            snapshot.check_fits(saved, feasible)
            learner: Self = cls(  # type: ignore[call-arg]
                feasible,
                snapshot.restored_policy(saved.policy, match.order is not None) if policy is None else policy,
                sense=saved.sense,
                bounds=matching.renumbered_bounds(saved, match.order),
                labels=match.labels,
                seed=saved.seed,
                uncovered=saved.uncovered if uncovered is None else uncovered,
                feedback=saved.feedback,
                outside=saved.outside if outside is None else outside,
                compile=compile,
            )
            matching.check_match(match, saved, lambda: learner._fingerprint)
            agent = learner._updates.agent
            snapshot.check_same_kind(agent.policy, saved.policy)
            learner._restore(saved if match.order is None else matching.renumbered(saved, match.order, agent))
        except (SemiBanditError, TypeError, ValueError, OverflowError) as error:
            raise BadState(f"{path} cannot be loaded: {error}") from error
        learner._files.know(path, head)
        return learner

    def _restore(self, saved: snapshot.SavedLearner) -> None:
        updates = self._updates
        snapshot.restore_agent(updates.agent, saved, self._reader)
        updates.round = saved.round
        updates.clipped[:] = snapshot.restored_counts(saved.clipped, updates.clipped.size)
        updates.tally.restore(snapshot.restored_tally(saved, updates.agent))
        updates.log.restore(saved, self._reader)
        for record in updates.log.outstanding.values():
            if not record.earlier:
                updates.agent.check_note(record.round, record.choice)
        updates.wait_again()

    @cached_property
    def _fingerprint(self) -> list[str]:
        """By which the set is known again."""
        span = Span.of(self._sense, self._bounds)
        return self._plainly(matching.fingerprint_of, self._feasible, span, self._probes)

    def _plainly(self, call: Callable[..., T], *arguments: Any) -> T:
        """A call, without machine code where this learner uses none."""
        if self._compiles:
            return call(*arguments)
        with plain_code():
            return call(*arguments)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a learner cannot be copied or pickled, or two would answer to the same decisions: save and load"
        )
