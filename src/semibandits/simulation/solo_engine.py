"""The compiled engine for policies written as moves: one run after the other."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from semibandits import rng
from semibandits.agent import PolicyAgent
from semibandits.forks import cached_property
from semibandits.kernel import bound, foreign
from semibandits.moves import Moved, Moves, bindings, copied, make_room, oracle_text
from semibandits.simulation import loop, solo
from semibandits.simulation.parts import INDEX, Cannot, facts, in_chunks, keep, most_rounds, not_compiled, world
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import Policy, State

STREAMS = (rng.WORLD, rng.POLICY, rng.FEEDBACK)
MOST_COMPARED = 500

_COMPARED: set[str] = set()
"""The machine code that did the same as the plain loop, in this process: by its name, made of all that is in it."""


class SoloEngine:
    """A task made ready for machine code. Raises `Cannot` where part of it is plain Python."""

    lanes = 1

    def __init__(self, task: Task) -> None:
        agent = task.agent(run=0)
        assert isinstance(agent, PolicyAgent)
        self._task = task
        feasible = task.problem.feasible
        self._moves = _moves(agent.policy, task)
        self._solver = oracle_text(feasible) if self._moves.solves else None
        if self._moves.solves and self._solver is None:
            raise Cannot(f"{feasible!r} has no oracle for the compiler")
        for text in filter(None, (self._moves.choose, self._moves.learn, self._moves.score)):
            if why := foreign(text):
                raise Cannot(why)
        draw, mean = world(task)
        self._start = agent.state
        known = facts(task, agent)
        realised = task.kind == "realised" and not task.drifts
        self._facts = known if task.drifts else known._replace(reference=np.array([task.reference]))
        by_sum = agent.policy.feedback == "bandit"
        self._bindings = {
            **bindings(self._moves, self._solver),
            solo.choose: self._moves.choose,
            solo.learn: self._moves.learn,
            solo.draw: draw,
            solo.mean: mean,
            solo.to_unit: agent.scale.x_of_weight,
            solo.sum_to_unit: agent.scale.x_of_sum,
            solo.SUM_OF_X: by_sum and task.feedback == "semi",
            solo.SUM_OF_WEIGHTS: task.feedback == "bandit",
            solo.NOTE_OF_CHOSEN: self._moves.note == "chosen",
            solo.REALISED: realised,
            solo.DRIFTS: task.drifts,
            solo.RECORDS: bool(task.record),
        }

    @cached_property
    def _code(self) -> Callable[..., int]:
        return bound(solo.play, self._bindings)

    def compile(self) -> None:
        """Or finds the machine code of an earlier process."""
        try:
            self._play(*self._begin(0), 1, 0)
        except Exception as error:
            raise not_compiled(error) from error

    def prepare(self) -> None:
        """Compiles, and makes sure that machine code does what it should."""
        self.compile()
        name = str(getattr(self._code, "__name__", ""))
        if name not in _COMPARED:
            self._compare()
            _COMPARED.add(name)

    def _compare(self) -> None:
        """Plays a few rounds in both ways: not every function that compiles does the same then."""
        rounds = min(self._task.horizon, self._facts.init_first.size - 1 + 20)
        if rounds > MOST_COMPARED:
            return
        agent = self._task.agent(run=0)
        assert isinstance(agent, PolicyAgent)
        short = self._task._replace(horizon=rounds, checkpoints=np.array([rounds]), record=frozenset())
        try:
            loop.play(short, 0, agent=agent)
        except Exception as error:
            raise Cannot(f"the plain loop raises {type(error).__name__}: {error!s:.200}") from error
        run, state, work = self._begin(0)
        run.cursor[1] = 1
        played = 0
        with contextlib.suppress(Exception):  # whatever it is, it will come again
            played = self._play(run, state, work, 1, rounds)
        same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(state, agent.state, strict=True))
        if played > rounds and not same:
            raise Cannot("machine code and the plain loop do not agree on the first rounds")

    def play(self, first_run: int, runs: int, tick: Tick | None = None) -> Outcome | None:
        """Runs first_run, first_run + 1, ..., as many as asked; None: to be played by the plain loop."""
        outcome = Outcome.empty(self._task, runs)
        for at in range(runs):
            part = Outcome.of({name: array[at : at + 1] for name, array in outcome.arrays().items()})
            if not self._play_one(first_run + at, part, tick):
                return None
        return outcome

    def _play_one(self, run_number: int, outcome: Outcome, tick: Tick | None) -> bool:
        task = self._task
        run, state, work = self._begin(run_number)

        def play(first: int, last: int) -> bool:
            run.cursor[1] = first
            try:
                if self._play(run, state, work, first, last) <= last:
                    return False
            except Exception:  # raised in a user's function: the plain loop will name run and round
                return False
            if task.record:
                keep(run.trace[: last - first + 1], first, outcome, task.problem.n_items)
            return True

        played = in_chunks(task.horizon, most_rounds(task, 1), play, tick)
        outcome.regret[:] = run.curve.T
        if outcome.sums is not None:
            outcome.sums[0] = run.sums
        return played

    def _play(self, run: solo.Run, state: State, work: tuple[Any, ...], first: int, last: int) -> int:
        tables = tuple(self._task.problem.environment.tables)
        return self._code(first, last, run, state, self._facts, tables, self._moves.data, work)

    def _begin(self, run_number: int) -> tuple[solo.Run, State, tuple[Any, ...]]:
        task = self._task
        room = make_room(self._moves, task.problem.feasible, self._solver)
        rows = min(task.horizon, most_rounds(task, 1)) if task.record else 0
        run = solo.Run(
            streams=np.array([rng.stream_key(task.seed, run_number, stream) for stream in STREAMS], dtype=np.uint64),
            out=room.out,
            note=room.note,
            x=np.zeros(max(1, task.problem.max_size)),
            regret=np.zeros(1),
            cursor=np.zeros(2, dtype=np.int64),
            curve=np.zeros((task.checkpoints.size, 1)),
            trace=np.zeros((rows, task.problem.max_size, 1), dtype=INDEX),
            sums=np.zeros(task.problem.n_items if "sums" in task.record else 0),
        )
        return run, copied(self._start), room.work


def _moves(policy: Policy, task: Task) -> Moves:
    if not isinstance(policy, Moved):
        raise Cannot(f"{policy!r} is not written as moves")
    moves = policy.moves(task.problem.feasible)
    if moves is None:
        raise Cannot(f"{policy!r} has no text for the compiler on {task.problem.feasible!r}")
    return moves
