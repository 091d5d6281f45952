"""The compiled engine: one policy on one problem, a block of runs at a time."""

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semibandits import rng
from semibandits._util.checks import is_float
from semibandits._util.forks import cached_property
from semibandits._util.ownership import ours, vouched
from semibandits._util.resources import memory
from semibandits.agent import IndexAgent
from semibandits.kernel import LANES, bound, foreign, score_of
from semibandits.kernel.interrupts import held_back
from semibandits.kernel.tuples import loader, storer
from semibandits.sets.oracles.lanes import answers
from semibandits.simulation.engines import lanes as text
from semibandits.simulation.engines import lanes_solving
from semibandits.simulation.engines import plain as loop
from semibandits.simulation.engines.base import (
    INDEX,
    Compared,
    NotCompilable,
    aligned,
    check_oracle,
    check_word,
    draws_within,
    facts,
    form,
    in_chunks,
    keep,
    most_rounds,
    not_compiled,
    plain_failed,
    world,
)
from semibandits.simulation.engines.watch import UNWRITTEN, Answers, Culprits, Fault, Watch
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import Arrays, Clock, IndexPolicy, Params

STREAMS = (rng.WORLD, rng.POLICY, rng.FEEDBACK)
FUNCTIONS = ("clock", "observe", "score", "forget", "glance")
MOST_RING_CELLS = 1 << 28


class Kernel(NamedTuple):
    """What a compiled `play` depends on; equal ones share the machine code."""

    clock: Callable[..., Any]
    observe: Callable[..., Any]
    forget: Callable[..., Any]
    score: Callable[..., Any]
    glance: Callable[..., Any]
    draw: Callable[..., Any]
    mean: Callable[..., Any]
    oracle: Callable[..., Any]
    solve: Callable[..., Any]
    score_of: Callable[..., Any]
    to_unit: Callable[..., Any]
    for_oracle: Callable[..., Any]
    stats: int
    clocks: int
    random: bool
    redraws: bool
    glances: bool
    window: bool
    clips: bool
    overwrites: bool
    variable_size: bool
    realised: bool
    drifts: bool
    records: bool
    users_code: bool
    users_oracle: bool
    lists: bool
    users_world: bool
    draws_apart: bool
    checked: frozenset[Callable[..., Any]]
    """Users' functions, in which every index is checked."""
    lanes: int
    pipeline: bool


def machine_code(kernel: Kernel) -> Callable[..., int]:
    """`block.play` with everything bound; compiled when it is first called."""
    return bound(
        text.play,
        {
            text.clock: kernel.clock,
            text.observe: kernel.observe,
            text.forget: kernel.forget,
            text.score: kernel.score,
            text.glance: kernel.glance,
            text.draw: kernel.draw,
            text.mean: kernel.mean,
            text.oracle: kernel.oracle,
            text.solve: kernel.solve,
            score_of: kernel.score_of,
            text.to_unit: kernel.to_unit,
            text.for_oracle: kernel.for_oracle,
            text.load: loader(kernel.stats),
            text.store: storer(kernel.stats),
            text.load_clock: loader(kernel.clocks),
            text.store_clock: storer(kernel.clocks),
            text.RANDOM: kernel.random,
            text.REDRAWS: kernel.redraws,
            text.GLANCES: kernel.glances,
            text.WINDOW: kernel.window,
            text.CLIPS: kernel.clips,
            text.OVERWRITES: kernel.overwrites,
            text.VARIABLE_SIZE: kernel.variable_size,
            text.REALISED: kernel.realised,
            text.DRIFTS: kernel.drifts,
            text.RECORDS: kernel.records,
            text.USERS_CODE: kernel.users_code,
            text.USERS_ORACLE: kernel.users_oracle,
            text.LISTS: kernel.lists,
            text.USERS_WORLD: kernel.users_world,
            text.DRAWS_APART: kernel.draws_apart,
            LANES: kernel.lanes,
        },
        lanes=kernel.pipeline,
        checked=kernel.checked,
        strict=kernel.checked & {kernel.clock},
    )


_COMPARED = Compared(most_rounds=2_000)


class Engine:
    """A task made ready for machine code. Raises `NotCompilable` where part of it is plain Python."""

    def __init__(self, task: Task, *, lanes: int = int(LANES), pipeline: bool = True) -> None:
        problem = task.problem
        solver = check_oracle(form(problem.feasible, "solver", "argmax"), problem.feasible)
        draw, mean = world(task)
        self._task, self._solver, self.lanes = task, solver, lanes
        agent = task.agent(run=0)
        assert isinstance(agent, IndexAgent)
        policy = agent.policy
        self._prior = policy.prior
        self._params = agent.params
        self._facts = facts(task, agent)
        overwrites = agent.init == "paper"
        self._window = min(policy.window, task.horizon)
        _check_policy(policy, overwrites or self._window > 0)
        cells = self._window * problem.max_size * lanes
        if cells > MOST_RING_CELLS:
            raise NotCompilable(f"a window of {policy.window:,} rounds takes {cells >> 18:,} MiB")
        own_set, own_world = ours(problem.feasible), ours(problem.environment)
        realised = task.kind == "realised" and not task.drifts
        apart = not own_world and (realised or task.drifts or not draws_within(task, draw))
        once = solver.reads_once and own_set and not policy.redraws
        try:
            clock = policy.clock(task.horizon, 0, agent.params)
        except Exception as error:
            raise NotCompilable(f"the clock of {policy!r} raised {type(error).__name__}: {error}") from error
        if policy.random and not all(is_float(number) for number in clock):
            raise NotCompilable(f"the clock of {policy!r} must give floats, got {clock!r:.100}")
        _check_growth(policy, task, agent.params, clock)
        self._kernel = Kernel(
            clock=type(policy).clock,
            observe=type(policy).observe,
            forget=type(policy).forget,
            score=type(policy).score,
            glance=type(policy).glance or type(policy).score,
            draw=draw,
            mean=mean,
            oracle=solver.function,
            solve=(lanes_solving.solve_once if once else lanes_solving.solve_kept)
            if solver.in_lanes
            else lanes_solving.solve_each,
            score_of=lanes_solving.own_score if once else lanes_solving.kept_score,
            to_unit=agent.scale.x_of_weight,
            for_oracle=agent.scale.oracle_of_x,
            stats=len(policy.prior),
            clocks=len(clock),
            random=policy.random,
            redraws=policy.redraws,
            glances=type(policy).glance is not None,
            window=self._window > 0,
            clips=not problem.feasible.signed,
            overwrites=overwrites,
            variable_size=solver.variable_size,
            realised=realised,
            drifts=task.drifts,
            records=bool(task.record),
            users_code=not (own_set and own_world and ours(policy)),
            users_oracle=not own_set,
            lists=not (own_set or vouched(problem.feasible)),
            users_world=not own_world,
            draws_apart=apart,
            checked=frozenset(
                (*(() if ours(policy) else _functions(policy)), *((draw, mean) if apart else ()))
                + (() if own_set or solver.in_lanes else (solver.function,))
            ),
            lanes=lanes,
            pipeline=pipeline,
        )
        self._watch = Watch(problem.feasible)
        self._culprits = Culprits.of(policy, problem, solver.function, draw, mean)
        self._tables = tuple(problem.environment.tables)
        if self.room > memory():
            raise NotCompilable(f"{lanes} runs side by side take {self.room / 2**30:,.0f} GiB")

    @property
    def room(self) -> int:
        """About how many bytes a block in play takes, and as many while it is made."""
        problem = self._task.problem
        numbers = (self._kernel.stats + 3) * (problem.n_items + 1) + self._task.checkpoints.size
        return 2 * self.lanes * (8 * numbers + 4 * self._window * problem.max_size)

    @cached_property
    def _code(self) -> Callable[..., int]:
        return machine_code(self._kernel)

    def compile(self) -> None:
        """Or finds the machine code of an earlier process."""
        state = self._begin(0)
        with held_back():
            try:
                self._play(state, 1, 0)
            except Exception as error:
                raise not_compiled(error) from error

    def prepare(self) -> None:
        """Compiles, and makes sure that machine code does what it should."""
        self.compile()
        problem = self._task.problem
        data = (problem.n_items, problem.max_size, self._tables, self._solver.data, self._params)
        users = data if self._kernel.users_code else ()
        _COMPARED.once(self._code, self._task, self._facts.init_first.size - 1, users, self._compare)

    def _try_out(self) -> None:
        """A user's oracle in lanes, with checks of every index, which would cost too much later."""
        feasible = self._task.problem.feasible
        u: Any = rng.uniform(rng.key(0, 0, 1, rng.WORLD), np.arange(feasible.n_items * self.lanes, dtype=np.uint64))
        weights = (u if feasible.signed else -u).reshape(feasible.n_items, self.lanes)
        try:
            for some in (weights, weights.round(), 0.0 * weights):
                answers(self._solver, some, feasible.max_size, checked=True, lanes=self.lanes)
        except Exception as error:
            said = f"{type(error).__name__}: {error!s:.200}"
            raise NotCompilable(f"{self._culprits.oracle} was tried out in machine code, and raised {said}") from error

    def _compare(self, rounds: int) -> None:
        """Plays a few rounds in both ways: not every function that compiles does the same then."""
        rounds = min(rounds, self._most_rounds)
        if self._kernel.users_oracle and self._solver.in_lanes:
            self._try_out()
        short = self._task._replace(horizon=rounds, checkpoints=np.array([rounds]))
        agent = short.agent(run=0)
        try:
            plain = loop.play(short, 0, agent=agent)
        except Exception as error:
            raise plain_failed(error) from error
        other = Engine(short, lanes=self.lanes, pipeline=self._kernel.pipeline)
        state = other._begin(0)
        state.block.cursor[1] = 1
        played = 0
        with contextlib.suppress(Exception):  # whatever it is, it will come again
            played = other._play(state, 1, rounds)
        same = np.array_equal(state.block.stats[:, :-1, 0], agent.stats, equal_nan=True)
        same &= np.array_equal(state.block.curve[:, 0], plain.regret[0], equal_nan=True)
        if played > rounds and not same:
            raise NotCompilable("machine code and the plain loop do not agree on the first rounds")

    def play(self, first_run: int, runs: int, tick: Tick | None = None) -> Outcome | Fault | None:
        """Runs first_run, first_run + 1, ..., as many as asked, at most a block; None: to be played by the plain loop.

        That is so where a score or a sum of scores is not finite: the plain loop knows what to do, or to say. A fault
        is what a user's function has done.
        """
        task = self._task
        state = self._begin(first_run, runs)
        outcome = Outcome.empty(task, runs)
        fault: Fault | None = None

        def play(first: int, last: int) -> bool:
            nonlocal fault
            state.block.cursor[1] = at = first
            while at <= last:  # it stops early where answers are to be looked at
                try:
                    at = self._play(state, at, last)
                except Exception as error:
                    fault = self._culprits.raised(error, state.block, first_run, runs)
                    return False
                if state.block.faults.any():
                    fault = self._culprits.fault(state.block, at, first_run)
                    return False
                if wrong := self._watch.wrong(state.block.answers, runs):
                    fault = self._culprits.infeasible(wrong, first_run)
                    return False
            if task.record:
                keep(state.block.trace[: last - first + 1], first, outcome, task.problem.n_items)
            return True

        played = in_chunks(task.horizon, self._most_rounds, play, tick and (lambda rounds: tick(rounds * runs)))
        outcome.regret[:] = state.block.curve[:, :runs].T
        if outcome.sums is not None:
            outcome.sums[:] = state.block.sums[:-1, :runs].T
        return outcome if played else fault

    def _play(self, state: "State", first: int, last: int) -> int:
        return self._code(
            first,
            last,
            state.block,
            self._facts,
            self._params,
            self._tables,
            self._solver.data,
            state.work,
        )

    @property
    def _most_rounds(self) -> int:
        return most_rounds(self._task, self.lanes)

    def _begin(self, first_run: int, runs: int | None = None) -> "State":
        """Lanes beyond the runs play the first of them once more."""
        task, lanes, kernel = self._task, self.lanes, self._kernel
        n_items, max_size = task.problem.n_items, task.problem.max_size
        numbers = [first_run + (lane if runs is None or lane < runs else 0) for lane in range(lanes)]
        streams = np.array(
            [[rng.stream_key(task.seed, run, stream) for run in numbers] for stream in STREAMS], dtype=np.uint64
        )
        stats = np.repeat(np.array(self._prior, dtype=np.float64), (n_items + 1) * lanes)
        block = text.Block(
            streams=streams,
            keys=np.zeros((3, lanes), dtype=np.uint64),
            stats=stats.reshape(kernel.stats, n_items + 1, lanes),
            clocks=np.zeros((kernel.clocks, 1, lanes if kernel.random else 0)),
            scores=np.zeros((0 if kernel.score_of is lanes_solving.own_score else n_items, lanes)),
            queue=np.zeros(n_items * lanes + 1 if kernel.redraws else 0, dtype=INDEX),
            chosen=np.zeros((max_size, lanes), dtype=INDEX),
            gained=np.zeros(lanes),
            missed=np.full(lanes, 0.0 if kernel.realised or kernel.drifts else task.reference),
            faults=np.zeros(lanes),
            regret=np.zeros(lanes),
            cursor=np.zeros(2, dtype=np.int64),
            curve=np.zeros((task.checkpoints.size, lanes)),
            trace=np.zeros(
                (min(task.horizon, self._most_rounds) if kernel.records else 0, max_size, lanes), dtype=INDEX
            ),
            weights=np.zeros((max_size if kernel.records or kernel.users_world else 0, lanes)),
            sums=np.zeros((n_items + 1 if "sums" in task.record else 0, lanes)),
            ring=np.zeros((self._window, max_size, lanes), dtype=INDEX),
            now=np.zeros(3, dtype=np.int64),
            odd=np.full(2, -1.0),
            raw=np.full(max_size + 1, UNWRITTEN),
            answers=None,
        )
        answers = Answers(*map(aligned, Answers.empty(max_size, lanes, kernel.lists)))
        arrays = {name: aligned(array) for name, array in block._asdict().items() if name != "answers"}
        return State(text.Block(**arrays, answers=answers), tuple(map(aligned, self._work())))

    def _work(self) -> Arrays:
        if self._solver.make_work is not None:
            return self._solver.make_work(self.lanes)
        spaces = self.lanes if self._solver.own_work else 1
        return (
            np.zeros(self._task.problem.n_items),
            np.zeros(self._task.problem.max_size + self._task.problem.n_items, dtype=np.int64),
            np.zeros((spaces, self._solver.numbers)),
            np.zeros((spaces, self._solver.integers), dtype=np.int64),
        )


class State(NamedTuple):
    """Of a block in play."""

    block: text.Block
    work: Arrays


def _functions(policy: IndexPolicy) -> tuple[Callable[..., Any], ...]:
    return tuple(filter(None, (getattr(type(policy), name) for name in FUNCTIONS)))


def _check_policy(policy: IndexPolicy, forgets: bool) -> None:
    for name in FUNCTIONS:
        if name in getattr(policy, "__dict__", ()):
            raise NotCompilable(f"{policy!r} has a {name}() of its own")
        unused = (name == "forget" and not forgets) or getattr(type(policy), name) is None
        if not unused and (why := foreign(getattr(type(policy), name))):
            raise NotCompilable(why)


def _check_growth(policy: IndexPolicy, task: Task, p: Params, c: Clock) -> None:
    """Whether the whole numbers of its formulas stay within a word to the end."""
    last, item, s = task.horizon, task.problem.n_items - 1, tuple(map(float, policy.prior))
    kind = type(policy)
    check_word(kind.clock, task, last, 0, p)
    check_word(kind.observe, task, s, 0.5, last, 0, item, p)
    check_word(kind.forget, task, s, 0.5, last, p)
    check_word(kind.score, task, s, c, 0, item, p)
