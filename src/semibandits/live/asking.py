"""How decisions are made: scores under the learner's lock, the solver outside of it, the decision entered under it."""

import threading
import time
from collections.abc import Sequence
from operator import setitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits._util.atomic import Changes, Step, take
from semibandits._util.forks import ForkLock
from semibandits.agent import Agent, Choice, Request, Solving
from semibandits.errors import EmptyFeasibleSet, UncoveredItems
from semibandits.live.decisions import Record
from semibandits.live.updates import Updates
from semibandits.types import Decision


class Asking:
    """The asks of a learner, from any number of threads.

    An ask takes the number of its round with its scores, so that asks whose solvers are at work at the same time decide
    different rounds, each as if it had been alone. Only in the initialisation, where a choice depends on the one
    before it, do they take turns. The number of an ask that fails is taken by the next one, unless a later number is
    in use by then.
    """

    def __init__(self, updates: Updates, changes: Changes) -> None:
        self._updates = updates
        self._changes = changes
        self._turn = ForkLock()

    def ask(self, request: Request | None, count: int, seconds: list[float] | None = None) -> list[Decision]:
        """So many decisions, all of them or, where one fails, none. `request` None: from all of the learner's own set.

        The time of the solver is added to `seconds[0]`.
        """
        initial = False
        rounds: list[int] = []
        try:
            while True:
                agent = self._updates.agent
                if not (initial or agent.initialised):
                    _ = [*iter(self._turn.acquire, True)]  # as in `Changes`: no signal is looked for until it is noted
                    initial = True
                    agent = self._updates.agent
                if request is not None and request.feasible is not agent.feasible:
                    agent.check_other(request.feasible)
                chosen: list[Choice] = []
                claimed = None if agent.initialised else np.zeros_like(self._updates.pending)
                while len(chosen) < count:
                    choice = self._choose(agent, request or agent.whole, rounds, len(chosen), claimed, seconds)
                    chosen.append(choice)
                    if claimed is not None:
                        claimed[choice.items] += 1
                release = self._turn.release if initial else None
                made = self._changes.make(None, self._entering, (agent, request, rounds, chosen, claimed, release))
                if made is not None:
                    return made
        except BaseException:
            try:
                take(self._giving_back(rounds))
            finally:
                if initial:
                    self._turn.release()
            raise

    def _choose(
        self,
        agent: Agent,
        request: Request,
        rounds: list[int],
        number: int,
        claimed: NDArray[np.int64] | None,
        seconds: list[float] | None,
    ) -> Choice:
        """The choice of this number in a batch. `claimed` counts for each item those before that have it."""
        choice = None
        for initial in (True, False):
            began = 0.0
            try:
                solving = self._changes.make(None, self._preparing, (agent, request, rounds, number, claimed, initial))
                began = time.perf_counter()
                choice = solving()
            except UncoveredItems as error:
                raise UncoveredItems(error.items, self._updates.reader.names(error.items), error.searched) from None
            except EmptyFeasibleSet as error:
                if request is agent.whole:
                    raise
                raise EmptyFeasibleSet(f"nothing feasible can be made of what is available: {error}") from error
            finally:
                if seconds is not None and began:
                    seconds[0] += time.perf_counter() - began
            if choice is not None:
                break
        assert choice is not None
        choice.items.setflags(write=False)
        return choice

    def _preparing(
        self,
        agent: Agent,
        request: Request,
        rounds: list[int],
        number: int,
        claimed: NDArray[np.int64] | None,
        initial: bool,
    ) -> tuple[Solving, list[Step]]:
        """The scores of the round, whose number is taken here unless this decision has one."""
        updates = self._updates
        steps: list[Step] = []
        if len(rounds) > number:
            round = rounds[number]
        else:
            round = updates.next_round()
            steps = [(rounds.append, round), (setitem, updates.reserved, round, threading.get_ident())]
        pending = None if claimed is None else updates.pending + claimed
        return agent.prepared(round, request, pending, initial), steps

    def _entering(
        self,
        agent: Agent,
        request: Request | None,
        rounds: list[int],
        chosen: Sequence[Choice],
        claimed: NDArray[np.int64] | None,
        release: Any,
    ) -> tuple[list[Decision] | None, list[Step]]:
        updates = self._updates
        if agent is not updates.agent:
            return None, []
        other = None if request is None or request.feasible is agent.feasible else request.feasible
        epoch, now = updates.log.epoch(), updates.log.clock()
        steps = agent.closing(max(rounds))
        if claimed is not None:
            steps.append((setitem, updates.pending, slice(None), updates.pending + claimed))
        made = []
        for round, choice in zip(rounds, chosen, strict=True):
            record = Record(round, epoch, choice, now, feasible=other, chosen_from="" if other is None else repr(other))
            id = updates.log.id(record)
            steps.append((setitem, updates.log.outstanding, id, record))
            made.append(updates.decision(id, record))
        steps.append((setattr, updates, "round", max(updates.round, *rounds)))
        steps += self._giving_back(rounds)
        if release is not None:
            steps.append((release,))
        return made, steps

    def _giving_back(self, rounds: list[int]) -> list[Step]:
        """These are not being decided any more."""
        return [(self._updates.reserved.pop, round, None) for round in rounds]
