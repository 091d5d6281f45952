"""The compiled engine: one policy on one problem, a block of runs at a time."""

import contextlib
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits.agent import IndexAgent
from semibandits.kernel import LANES, bound, foreign, score_of
from semibandits.kernel.tuples import loader, storer
from semibandits.simulation import block as text
from semibandits.simulation import loop
from semibandits.simulation.task import Outcome, Task, Tick
from semibandits.types import Arrays, IndexPolicy, Solver, is_float, up_to_date

STREAMS = (rng.WORLD, rng.POLICY, rng.FEEDBACK)
INDEX = np.uint32
FIRST_CHUNK = 16
CHUNK_SECONDS = 0.02
"""How long the machine code runs before it comes up for air: to stop at Ctrl-C, to show progress."""
TRACE_CELLS = 1 << 22
MOST_COMPARED = 2_000
MOST_RING_CELLS = 1 << 28
NONE = np.empty(0, dtype=np.int64)
TABLE_TYPES = (np.float64, np.int64, np.uint64, np.bool_)


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
    ragged: bool
    realised: bool
    drifts: bool
    records: bool
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
            text.RAGGED: kernel.ragged,
            text.REALISED: kernel.realised,
            text.DRIFTS: kernel.drifts,
            text.RECORDS: kernel.records,
            LANES: kernel.lanes,
        },
        lanes=kernel.pipeline,
    )


_COMPARED: set[Kernel] = set()
"""Those that did the same as the plain loop, in this process."""


class Cannot(Exception):
    """Why something cannot be compiled."""


class Engine:
    """A task made ready for machine code. Raises `Cannot` where part of it is plain Python."""

    def __init__(self, task: Task, *, lanes: int = int(LANES), pipeline: bool = True) -> None:
        problem, policy = task.problem, task.policy
        solver: Solver | None = _form(problem.feasible, "solver", "argmax")
        if solver is None:
            raise Cannot(f"{problem.feasible!r} has no oracle for the compiler")
        draw = _form(problem.environment, "drawing", "weights")
        if draw is None:
            raise Cannot(f"{problem.environment!r} draws its weights in Python")
        for table in problem.environment.tables:
            kind = table.dtype if isinstance(table, np.ndarray) else type(table).__name__
            if kind not in TABLE_TYPES:
                raise Cannot(f"{problem.environment!r} has a table of {kind}, not an array of float64 or int64")
        self._task, self._solver, self._lanes = task, solver, lanes
        agent = task.agent(run=0)
        self._params = agent.params
        self._facts = _facts(task, agent)
        overwrites = agent.init == "paper"
        self._window = min(policy.window, task.horizon)
        _check_policy(policy, overwrites or self._window > 0)
        cells = self._window * problem.max_size * lanes
        if cells > MOST_RING_CELLS:
            raise Cannot(f"a window of {policy.window:,} rounds takes {cells >> 18:,} MiB")
        once = solver.once and not policy.redraws
        mean = getattr(problem.environment, "mean", None) if task.drifts else draw  # which is not called then
        if mean is None:
            raise Cannot(f"{problem.environment!r} has no mean(round, item, tables) for the compiler")
        if why := foreign(draw) or foreign(mean):
            raise Cannot(why)
        try:
            clock = policy.clock(task.horizon, 0, agent.params)
        except Exception as error:
            raise Cannot(f"the clock of {policy!r} raised {type(error).__name__}: {error}") from error
        if policy.random and not all(is_float(number) for number in clock):
            raise Cannot(f"the clock of {policy!r} must give floats, got {clock!r:.100}")
        self._kernel = Kernel(
            clock=type(policy).clock,
            observe=type(policy).observe,
            forget=type(policy).forget,
            score=type(policy).score,
            glance=type(policy).glance or type(policy).score,
            draw=draw,
            mean=mean,
            oracle=solver.function,
            solve=(solver.function if once else text.solve_kept) if solver.in_lanes else text.solve_each,
            score_of=text.own_score if once else text.kept_score,
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
            ragged=solver.ragged,
            realised=task.kind == "realised" and not task.drifts,
            drifts=task.drifts,
            records=bool(task.record),
            lanes=lanes,
            pipeline=pipeline,
        )

    @cached_property
    def _code(self) -> Callable[..., int]:
        return machine_code(self._kernel)

    def prepare(self) -> None:
        """Compiles, or finds the machine code of an earlier process."""
        state = self._begin(0)
        try:
            self._play(state, 1, 0)
        except Exception as error:  # no round was played: it is the compiler that failed
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            says = next((line for line in lines if not line.startswith("Failed in nopython")), type(error).__name__)
            raise Cannot(f"it cannot be compiled: {says}") from error
        if self._kernel not in _COMPARED:
            self._compare()
            _COMPARED.add(self._kernel)

    def _compare(self) -> None:
        """Plays a few rounds in both ways: not every function that compiles does the same then."""
        rounds = min(self._task.horizon, self._facts.init_first.size - 1 + 20, self._most_rounds)
        if rounds > MOST_COMPARED:
            return
        short = self._task._replace(horizon=rounds, checkpoints=np.array([rounds]))
        agent = short.agent(run=0)
        try:
            loop.play(short, 0, agent=agent)
        except Exception as error:
            raise Cannot(f"the plain loop raises {type(error).__name__}: {error!s:.200}") from error
        other = Engine(short, lanes=self._lanes, pipeline=self._kernel.pipeline)
        state = other._begin(0)
        state.block.cursor[1] = 1
        played = 0
        with contextlib.suppress(Exception):  # whatever it is, it will come again
            played = other._play(state, 1, rounds)
        if played > rounds and not np.array_equal(state.block.stats[:, :-1, 0], agent.stats, equal_nan=True):
            raise Cannot("machine code and the plain loop do not agree on the first rounds")

    def play(self, first_run: int, runs: int, tick: Tick | None = None) -> Outcome | None:
        """Runs first_run, first_run + 1, ..., as many as asked, at most a block; None: to be played by the plain loop.

        That is so where a score or a sum of scores is not finite: the plain loop knows what to do, or to say.
        """
        task = self._task
        state = self._begin(first_run)
        outcome = Outcome.empty(task, runs)
        next_round, chunk = 1, FIRST_CHUNK
        while next_round <= task.horizon:
            last = min(next_round + min(chunk, self._most_rounds) - 1, task.horizon)
            started = time.perf_counter()
            state.block.cursor[1] = next_round
            try:
                if self._play(state, next_round, last) <= last:
                    return None
            except Exception:  # raised in a user's function: the plain loop will name run and round
                return None
            taken = time.perf_counter() - started
            self._keep(state.block.trace[: last - next_round + 1], next_round, outcome)
            if tick is not None:
                tick((last - next_round + 1) * runs)
            faster = min(4.0, CHUNK_SECONDS / max(taken, 1e-9))
            chunk = max(FIRST_CHUNK, int((last - next_round + 1) * faster))
            next_round = last + 1
        outcome.regret[:] = state.block.curve[:, :runs].T
        return outcome

    def _play(self, state: "State", first: int, last: int) -> int:
        return self._code(
            first,
            last,
            state.block,
            self._facts,
            self._params,
            tuple(self._task.problem.environment.tables),
            self._solver.data,
            state.work,
        )

    @property
    def _most_rounds(self) -> int:
        """In one call, so that what is recorded of them stays small."""
        if not self._kernel.records:
            return self._task.horizon
        return max(1, TRACE_CELLS // (self._lanes * max(1, self._task.problem.max_size)))

    def _begin(self, first_run: int) -> "State":
        task, lanes, kernel = self._task, self._lanes, self._kernel
        n_items, max_size = task.problem.n_items, task.problem.max_size
        streams = np.array(
            [[rng.stream_key(task.seed, first_run + lane, stream) for lane in range(lanes)] for stream in STREAMS],
            dtype=np.uint64,
        )
        stats = np.repeat(np.array(task.policy.prior, dtype=np.float64), (n_items + 1) * lanes)
        block = text.Block(
            streams=streams,
            keys=np.zeros((3, lanes), dtype=np.uint64),
            stats=stats.reshape(kernel.stats, n_items + 1, lanes),
            clocks=np.zeros((kernel.clocks, 1, lanes if kernel.random else 0)),
            scores=np.zeros((0 if kernel.score_of is text.own_score else n_items, lanes)),
            queue=np.zeros(n_items * lanes + 1 if kernel.redraws else 0, dtype=INDEX),
            chosen=np.zeros((max_size, lanes), dtype=INDEX),
            gained=np.zeros(lanes),
            missed=np.full(lanes, 0.0 if kernel.realised or kernel.drifts else task.reference),
            trouble=np.zeros(lanes),
            regret=np.zeros(lanes),
            cursor=np.zeros(2, dtype=np.int64),
            curve=np.zeros((task.checkpoints.size, lanes)),
            trace=np.zeros(
                (min(task.horizon, self._most_rounds) if kernel.records else 0, max_size, lanes), dtype=INDEX
            ),
            ring=np.zeros((self._window, max_size, lanes), dtype=INDEX),
        )
        return State(text.Block(*map(_aligned, block)), tuple(map(_aligned, self._work())))

    def _work(self) -> Arrays:
        if self._solver.make_work is not None:
            return self._solver.make_work(self._lanes)
        spaces = self._lanes if self._solver.own_work else 1
        return (
            np.zeros(self._task.problem.n_items),
            np.zeros(self._task.problem.max_size + self._task.problem.n_items, dtype=np.int64),
            np.zeros((spaces, self._solver.numbers)),
            np.zeros((spaces, self._solver.integers), dtype=np.int64),
        )

    def _keep(self, trace: NDArray[np.uint32], first_round: int, outcome: Outcome) -> None:
        """Takes over the solutions of these rounds."""
        if not self._kernel.records:
            return
        n_items = self._task.problem.n_items
        for run, rows in enumerate(trace.transpose(2, 0, 1)[: outcome.regret.shape[0]]):
            if outcome.counts is not None:
                outcome.counts[run] += np.bincount(rows.ravel(), minlength=n_items + 1)[:n_items]
            if outcome.solutions is not None:
                part = outcome.solutions[run, first_round - 1 : first_round - 1 + len(rows)]
                part[:] = np.where(rows < n_items, rows.astype(np.int32), -1)


class State(NamedTuple):
    """Of a block in play."""

    block: text.Block
    work: Arrays


def _facts(task: Task, agent: IndexAgent) -> text.Facts:
    problem = task.problem
    plan = agent.init_plan(task.horizon)
    items = np.concatenate([*plan, np.empty(0, dtype=np.int64)]).astype(INDEX)
    seen, before = np.zeros(problem.n_items, dtype=np.int64), [np.empty(0, dtype=np.int64)]
    for round, solution in enumerate(plan, start=1):
        before.append(seen[solution])
        seen[solution] = round
    return text.Facts(
        checkpoints=np.append(task.checkpoints, 0),
        means=np.zeros(problem.n_items + 1) if task.drifts else np.append(problem.means, 0.0),
        optimum=(NONE if task.drifts else problem.optimum).astype(INDEX),
        reference=task.references() if task.drifts else np.empty(0),
        init_first=np.cumsum([0, *(solution.size for solution in plan)], dtype=np.int64),
        init_items=items,
        init_before=np.concatenate(before),
        scale=(*problem.bounds, task.sign),
    )


def _form(thing: Any, compiled: str, plain: str) -> Any:
    """What the compiler is to be given of a set or an environment; None: nothing."""
    if not up_to_date(thing, compiled, plain):
        return None
    try:
        return getattr(thing, compiled)()
    except Exception as error:
        raise Cannot(f"{compiled}() of {thing!r} raised {type(error).__name__}: {error!s:.200}") from error


def _check_policy(policy: IndexPolicy, forgets: bool) -> None:
    for name in ("clock", "observe", "score", "forget", "glance"):
        if name in getattr(policy, "__dict__", ()):
            raise Cannot(f"{policy!r} has a {name}() of its own")
        unused = (name == "forget" and not forgets) or getattr(type(policy), name) is None
        if not unused and (why := foreign(getattr(type(policy), name))):
            raise Cannot(why)


def _aligned(array: NDArray[Any]) -> NDArray[Any]:
    """A copy that begins at a multiple of 64 bytes, as vector instructions like it."""
    raw = np.empty(array.nbytes + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    copy = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
