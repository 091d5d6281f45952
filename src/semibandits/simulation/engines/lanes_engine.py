"""The compiled engine of index policies: a block of runs at a time, side by side in lanes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semibandits import rng
from semibandits._util.checks import is_float
from semibandits._util.forks import cached_property
from semibandits._util.ownership import vouched
from semibandits._util.resources import memory
from semibandits.agent import Agent, IndexAgent
from semibandits.kernel import LANES, bound, foreign
from semibandits.kernel.tuples import adder, loader, storer
from semibandits.sets.oracles.lanes import answers
from semibandits.simulation.engines import lanes_solving
from semibandits.simulation.engines.base import STREAMS, Compared, CompiledEngine, LoopArguments, aligned
from semibandits.simulation.engines.bindings import LanesBindings
from semibandits.simulation.engines.compilable import (
    NotCompilable,
    check_oracle,
    check_word,
    draws_within,
    form,
    world,
)
from semibandits.simulation.engines.constants import INDEX
from semibandits.simulation.engines.lanes import Block, play
from semibandits.simulation.engines.watch import UNWRITTEN, Answers
from semibandits.simulation.task import Task
from semibandits.types import Arrays, Clock, IndexPolicy, Params, Solver, Stats

FUNCTIONS = ("clock", "share", "pooled", "observe", "score", "forget", "glance")
MOST_RING_CELLS = 1 << 28


class LanesEngine(CompiledEngine):
    """Plays `lanes.play`: as many runs at once as there are lanes."""

    bindings: LanesBindings
    compared = Compared(most_rounds=2_000)
    _solver: Solver

    def __init__(self, task: Task, *, lanes: int = int(LANES), pipeline: bool = True) -> None:
        problem = task.problem
        solver = check_oracle(form(problem.feasible, "solver", "argmax"), problem.feasible)
        draw, mean = world(task)
        agent = task.agent(run=0)
        assert isinstance(agent, IndexAgent)
        super().__init__(task, agent, solver, (draw, mean), parameters=agent.params, lanes=lanes)
        policy, self._pipeline = agent.policy, pipeline
        self._prior = policy.prior
        self._window = min(policy.window, task.horizon)
        overwrites = agent.init == "paper"
        _check_policy(policy, overwrites or self._window > 0)
        cells = self._window * problem.max_size * lanes
        if cells > MOST_RING_CELLS:
            raise NotCompilable(f"a window of {policy.window:,} rounds takes {cells >> 18:,} MiB")
        clock, totals = _checked_clock(policy, task, agent.params)
        self._clocks, self._totals = len(clock), len(totals)
        shared = self._shared_bindings
        apart = not self._own_world and (shared["REALISED"] or task.drifts or not draws_within(task, draw))
        reads_once = solver.reads_once and self._own_set and not policy.redraws
        kind = type(policy)
        self.bindings = LanesBindings(
            **shared,
            clock=kind.clock,
            share=kind.share or kind.clock,
            pooled=kind.pooled,
            observe=kind.observe,
            forget=kind.forget,
            score=kind.score,
            glance=kind.glance or kind.score,
            solve=_solve(solver, reads_once),
            oracle=solver.function,
            score_of=lanes_solving.own_score if reads_once else lanes_solving.kept_score,
            for_oracle=agent.scale.oracle_of_x,
            load=loader(len(policy.prior)),
            store=storer(len(policy.prior)),
            load_clock=loader(len(clock)),
            store_clock=storer(len(clock)),
            load_totals=loader(self._totals),
            add_to_totals=adder(self._totals),
            RANDOM=policy.random,
            POOLS=kind.share is not None,
            OWN_CLOCKS=policy.random or kind.share is not None,
            REDRAWS=policy.redraws,
            GLANCES=kind.glance is not None,
            WINDOW=self._window > 0,
            CLIPS=not problem.feasible.signed,
            OVERWRITES=overwrites,
            VARIABLE_SIZE=solver.variable_size,
            USERS_ORACLE=not self._own_set,
            LISTS=not (self._own_set or vouched(problem.feasible)),
            DRAWS_APART=apart,
            LANES=lanes,
        )
        self.checked = frozenset(
            (*(() if self._own_policy else _functions(policy)), *((draw, mean) if apart else ()))
            + (() if self._own_set or solver.in_lanes else (solver.function,))
        )
        if self.room > memory():
            raise NotCompilable(f"{lanes} runs side by side take {self.room / 2**30:,.0f} GiB")

    @property
    def room(self) -> int:
        """About how many bytes a block in play takes, and as many while it is made."""
        problem = self._task.problem
        numbers = (len(self._prior) + 3) * (problem.n_items + 1) + self._task.checkpoints.size
        return 2 * self.lanes * (8 * numbers + 4 * self._window * problem.max_size)

    @cached_property
    def _code(self) -> Callable[..., int]:
        return bound(
            play,
            self.bindings.by_placeholder(),
            lanes=self._pipeline,
            checked=self.checked,
            strict=self.checked & {self.bindings.clock, self.bindings.pooled},
        )

    def _compare(self, rounds: int) -> None:
        if self.bindings.USERS_ORACLE and self._solver.in_lanes:
            self._try_out()
        super()._compare(rounds)

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

    def _same_state(self, arguments: LoopArguments, agent: Agent) -> bool:
        return np.array_equal(arguments.block.stats[:, :-1, 0], agent.stats, equal_nan=True)

    def _begin(self, first_run: int, runs: int) -> LoopArguments:
        """Lanes beyond the runs play the first of them once more."""
        task, lanes, flags = self._task, self.lanes, self.bindings
        n_items, max_size = task.problem.n_items, task.problem.max_size
        numbers = [first_run + (lane if lane < runs else 0) for lane in range(lanes)]
        stats = np.repeat(np.array(self._prior, dtype=np.float64), (n_items + 1) * lanes)
        scored = 0 if flags.score_of is lanes_solving.own_score else n_items
        traced = min(task.horizon, self._most_rounds) if flags.RECORDS else 0
        arrays: dict[str, NDArray[Any]] = {
            "streams": np.array(
                [[rng.stream_key(task.seed, run, stream) for run in numbers] for stream in STREAMS], dtype=np.uint64
            ),
            "keys": np.zeros((3, lanes), dtype=np.uint64),
            "stats": stats.reshape(len(self._prior), n_items + 1, lanes),
            "clocks": np.zeros((self._clocks, 1, lanes if flags.OWN_CLOCKS else 0)),
            "totals": np.zeros((self._totals, 1, lanes)),
            "scores": np.zeros((scored, lanes)),
            "queue": np.zeros(n_items * lanes + 1 if flags.REDRAWS else 0, dtype=INDEX),
            "chosen": np.zeros((max_size, lanes), dtype=INDEX),
            "gained": np.zeros(lanes),
            "missed": np.full(lanes, 0.0 if flags.REALISED or flags.DRIFTS else self._constants.reference[0]),
            "faults": np.zeros(lanes),
            "regret": np.zeros(lanes),
            "cursor": np.zeros(2, dtype=np.int64),
            "curve": np.zeros((task.checkpoints.size, lanes)),
            "trace": np.zeros((traced, max_size, lanes), dtype=INDEX),
            "weights": np.zeros((max_size if flags.RECORDS or flags.USERS_WORLD else 0, lanes)),
            "sums": np.zeros((n_items + 1 if "sums" in task.record else 0, lanes)),
            "ring": np.zeros((self._window, max_size, lanes), dtype=INDEX),
            "now": np.zeros(3, dtype=np.int64),
            "odd": np.full(2, -1.0),
            "raw": np.full(max_size + 1, UNWRITTEN),
        }
        listed = Answers(*map(aligned, Answers.empty(max_size, lanes, flags.LISTS)))
        block = Block(**{name: aligned(array) for name, array in arrays.items()}, answers=listed)
        work = tuple(map(aligned, self._work()))
        return LoopArguments(block, self._parameters, self._constants, self._tables, self._solver.data, work)

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


def _solve(solver: Solver, reads_once: bool) -> Callable[..., Any]:
    if not solver.in_lanes:
        return lanes_solving.solve_each
    return lanes_solving.solve_once if reads_once else lanes_solving.solve_kept


def _checked_clock(policy: IndexPolicy, task: Task, p: Params) -> tuple[Clock, Stats]:
    """The clock of the last round, of whose numbers every one must fit, and what an item shares."""
    kind, totals = type(policy), ()
    try:
        clock = policy.clock(task.horizon, 0, p)
        if kind.share is not None:
            totals = kind.share(tuple(map(float, policy.prior)), task.horizon, p)
            clock = policy.pooled(totals, clock, p)
    except Exception as error:
        raise NotCompilable(f"the clock of {policy!r} raised {type(error).__name__}: {error}") from error
    if (policy.random or totals) and not all(is_float(number) for number in clock):
        raise NotCompilable(f"the clock of {policy!r} must give floats, got {clock!r:.100}")
    _check_growth(policy, task, p, clock, totals)
    return clock, totals


def _functions(policy: IndexPolicy) -> tuple[Callable[..., Any], ...]:
    return tuple(filter(None, (getattr(type(policy), name) for name in FUNCTIONS)))


def _check_policy(policy: IndexPolicy, forgets: bool) -> None:
    for name in FUNCTIONS:
        if name in getattr(policy, "__dict__", ()):
            raise NotCompilable(f"{policy!r} has a {name}() of its own")
        unused = (name == "forget" and not forgets) or getattr(type(policy), name) is None
        if not unused and (why := foreign(getattr(type(policy), name))):
            raise NotCompilable(why)


def _check_growth(policy: IndexPolicy, task: Task, p: Params, c: Clock, totals: Stats) -> None:
    """Whether the whole numbers of its formulas stay within a word to the end."""
    last, item, s = task.horizon, task.problem.n_items - 1, tuple(map(float, policy.prior))
    kind = type(policy)
    check_word(kind.clock, task, last, 0, p)
    if kind.share is not None:
        check_word(kind.share, task, s, last, p)
        check_word(kind.pooled, task, totals, policy.clock(last, 0, p), p)
    check_word(kind.observe, task, s, 0.5, last, 0, item, p)
    check_word(kind.forget, task, s, 0.5, last, p)
    check_word(kind.score, task, s, c, 0, item, p)
