"""The compiled engine for policies that choose whole solutions: one run after the other."""

import contextlib
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from semibandits import rng
from semibandits._util.forks import cached_property
from semibandits._util.ownership import ours, vouched
from semibandits.agent import PolicyAgent
from semibandits.kernel import bound, foreign
from semibandits.kernel.interrupts import held_back
from semibandits.oracle import compiled_oracle
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels, bindings, copied, make_room
from semibandits.simulation.engines import plain, single
from semibandits.simulation.engines.base import (
    INDEX,
    Compared,
    NotCompilable,
    check_oracle,
    facts,
    in_chunks,
    keep,
    most_rounds,
    not_compiled,
    plain_failed,
    world,
)
from semibandits.simulation.engines.watch import UNWRITTEN, Answers, Culprits, Fault, Watch
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import Policy, State

STREAMS = (rng.WORLD, rng.POLICY, rng.FEEDBACK)

_COMPARED = Compared(most_rounds=500)


class SoloEngine:
    """A task made ready for machine code. Raises `NotCompilable` where part of it is plain Python."""

    lanes = 1

    def __init__(self, task: Task) -> None:
        agent = task.agent(run=0)
        assert isinstance(agent, PolicyAgent)
        self._task = task
        feasible = task.problem.feasible
        self._kernels = _kernels_of(agent.policy, task)
        self._solver = check_oracle(compiled_oracle(feasible), feasible) if self._kernels.solves else None
        for text in filter(None, (self._kernels.choose, self._kernels.learn, self._kernels.score)):
            if why := foreign(text):
                raise NotCompilable(why)
        draw, mean = world(task)
        self._start = agent.state
        known = facts(task, agent)
        realised = task.kind == "realised" and not task.drifts
        self._facts = known if task.drifts else known._replace(reference=np.array([task.reference]))
        by_sum = agent.policy.feedback == "bandit"
        own_policy, own_set, own_world = ours(agent.policy), ours(feasible), ours(task.problem.environment)
        self._watched = not (own_policy and own_set)
        self._lists = self._watched and not (vouched(agent.policy) and vouched(feasible))
        texts = () if own_policy else (self._kernels.choose, self._kernels.learn, self._kernels.score)
        oracle = () if own_set or self._solver is None else (self._solver.function,)
        self._checked = frozenset(filter(None, (*texts, *oracle, *(() if own_world else (draw, mean)))))
        self._watch = Watch(feasible)
        self._culprits = Culprits.of(
            agent.policy, task.problem, self._solver and self._solver.function, draw, mean, self._kernels.choose
        )
        self._tables = tuple(task.problem.environment.tables)
        self._bindings = {
            **bindings(self._kernels, self._solver, trusted=own_set),
            single.USERS_CODE: self._watched or not own_world,
            single.USERS_ANSWERS: self._watched,
            single.LISTS: self._lists,
            single.USERS_WORLD: not own_world,
            single.choose: self._kernels.choose,
            single.learn: self._kernels.learn,
            single.draw: draw,
            single.mean: mean,
            single.to_unit: agent.scale.x_of_weight,
            single.sum_to_unit: agent.scale.x_of_sum,
            single.SUM_OF_X: by_sum and task.feedback == "semi",
            single.SUM_OF_WEIGHTS: task.feedback == "bandit",
            single.NOTE_OF_CHOSEN: self._kernels.note == "chosen",
            single.REALISED: realised,
            single.DRIFTS: task.drifts,
            single.RECORDS: bool(task.record),
        }

    @cached_property
    def _code(self) -> Callable[..., int]:
        return bound(single.play, self._bindings, checked=self._checked)

    def compile(self) -> None:
        """Or finds the machine code of an earlier process."""
        with held_back():
            try:
                self._play(*self._begin(0), 1, 0)
            except Exception as error:
                raise not_compiled(error) from error

    def prepare(self) -> None:
        """Compiles, and makes sure that machine code does what it should."""
        self.compile()
        problem = self._task.problem
        solver = () if self._solver is None else self._solver.data
        data = (problem.n_items, problem.max_size, self._tables, solver, self._kernels.data)
        users = data if self._bindings[single.USERS_CODE] else ()
        _COMPARED.once(self._code, self._task, self._facts.init_first.size - 1, users, self._compare)

    def _compare(self, rounds: int) -> None:
        """Plays a few rounds in both ways: not every function that compiles does the same then."""
        agent = self._task.agent(run=0)
        assert isinstance(agent, PolicyAgent)
        short = self._task._replace(horizon=rounds, checkpoints=np.array([rounds]), record=frozenset())
        try:
            plain.play(short, 0, agent=agent)
        except Exception as error:
            raise plain_failed(error) from error
        run, state, work = self._begin(0)
        run.cursor[1] = 1
        played = 0
        with contextlib.suppress(Exception):  # whatever it is, it will come again
            played = self._play(run, state, work, 1, rounds)
        same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(state, agent.state, strict=True))
        if played > rounds and not same:
            raise NotCompilable("machine code and the plain loop do not agree on the first rounds")

    def play(self, first_run: int, runs: int, tick: Tick | None = None) -> Outcome | Fault | None:
        """Runs first_run, first_run + 1, ..., as many as asked; None: to be played by the plain loop.

        A fault is what a user's function has done.
        """
        outcome = Outcome.empty(self._task, runs)
        for at in range(runs):
            part = Outcome.of({name: array[at : at + 1] for name, array in outcome.arrays().items()})
            played = self._play_one(first_run + at, part, tick)
            if played is not True:
                return played
        return outcome

    def _play_one(self, run_number: int, outcome: Outcome, tick: Tick | None) -> Fault | Literal[True] | None:
        task = self._task
        run, state, work = self._begin(run_number)
        fault: Fault | None = None

        def play(first: int, last: int) -> bool:
            nonlocal fault
            run.cursor[1] = at = first
            while at <= last:  # it stops early where answers are to be looked at
                before = at
                try:
                    at = self._play(run, state, work, at, last)
                except Exception as error:
                    fault = self._culprits.raised(error, run, run_number, 1)
                    return False
                if run.faults.any():
                    fault = self._culprits.fault(run, at, run_number)
                    return False
                if wrong := self._watch.wrong(run.answers, 1):
                    fault = self._culprits.infeasible(wrong, run_number)
                    return False
                if at <= last and not (self._lists and at > before):
                    return False
            if task.record:
                keep(run.trace[: last - first + 1], first, outcome, task.problem.n_items)
            return True

        played = in_chunks(task.horizon, most_rounds(task, 1), play, tick)
        outcome.regret[:] = run.curve.T
        if outcome.sums is not None:
            outcome.sums[0] = run.sums
        return True if played else fault

    def _play(self, run: single.Run, state: State, work: tuple[Any, ...], first: int, last: int) -> int:
        return self._code(first, last, run, state, self._facts, self._tables, self._kernels.data, work)

    def _begin(self, run_number: int) -> tuple[single.Run, State, tuple[Any, ...]]:
        task = self._task
        room = make_room(self._kernels, task.problem.feasible, self._solver)
        rows = min(task.horizon, most_rounds(task, 1)) if task.record else 0
        run = single.Run(
            streams=np.array([rng.stream_key(task.seed, run_number, stream) for stream in STREAMS], dtype=np.uint64),
            out=room.out,
            note=room.note,
            x=np.zeros(max(1, task.problem.max_size)),
            regret=np.zeros(1),
            cursor=np.zeros(2, dtype=np.int64),
            curve=np.zeros((task.checkpoints.size, 1)),
            trace=np.zeros((rows, task.problem.max_size, 1), dtype=INDEX),
            sums=np.zeros(task.problem.n_items if "sums" in task.record else 0),
            faults=np.zeros(1),
            now=np.zeros(3, dtype=np.int64),
            odd=np.full(2, -1.0),
            raw=np.full(task.problem.max_size + 1, UNWRITTEN),
            answers=Answers.empty(task.problem.max_size, 1, self._lists),
        )
        return run, copied(self._start), room.work


def _kernels_of(policy: Policy, task: Task) -> PolicyKernels:
    if not isinstance(policy, CompiledPolicy):
        raise NotCompilable(f"{policy!r} is not a CompiledPolicy")
    kernels = policy.kernels(task.problem.feasible)
    if kernels is None:
        raise NotCompilable(f"{policy!r} has no text for the compiler on {task.problem.feasible!r}")
    return kernels
