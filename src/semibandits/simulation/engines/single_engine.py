"""The compiled engine of policies that choose whole solutions: one run after the other."""

from collections.abc import Callable

import numpy as np

from semibandits import rng
from semibandits._util.forks import cached_property
from semibandits._util.ownership import vouched
from semibandits.agent import Agent, PolicyAgent
from semibandits.kernel import bound, foreign
from semibandits.oracle import compiled_oracle
from semibandits.policies.solution.base import CompiledPolicy, PolicyKernels, bindings, copied, make_room
from semibandits.simulation.engines.base import STREAMS, Compared, CompiledEngine, LoopArguments
from semibandits.simulation.engines.bindings import SingleBindings
from semibandits.simulation.engines.compilable import NotCompilable, check_oracle, world
from semibandits.simulation.engines.constants import INDEX
from semibandits.simulation.engines.single import Run, play
from semibandits.simulation.engines.watch import UNWRITTEN, Answers
from semibandits.simulation.task import Task
from semibandits.types import Policy


class SingleEngine(CompiledEngine):
    """Plays `single.play`."""

    compared = Compared(most_rounds=500)

    def __init__(self, task: Task) -> None:
        agent = task.agent(run=0)
        assert isinstance(agent, PolicyAgent)
        feasible = task.problem.feasible
        self._kernels = kernels = _kernels_of(agent.policy, task)
        solver = check_oracle(compiled_oracle(feasible), feasible) if kernels.solves else None
        functions = tuple(filter(None, (kernels.choose, kernels.learn, kernels.score)))
        for function in functions:
            if why := foreign(function):
                raise NotCompilable(why)
        draw, mean = world(task)
        self._start = agent.state
        super().__init__(task, agent, solver, (draw, mean), parameters=kernels.data, choose=kernels.choose)
        watched = not (self._own_policy and self._own_set)
        self.bindings = SingleBindings(
            **self._shared_bindings,
            choose=kernels.choose,
            learn=kernels.learn,
            sum_to_unit=agent.scale.x_of_sum,
            SUM_OF_X=agent.policy.feedback == "bandit" and task.feedback == "semi",
            SUM_OF_WEIGHTS=task.feedback == "bandit",
            NOTE_OF_CHOSEN=kernels.note == "chosen",
            USERS_ANSWERS=watched,
            LISTS=watched and not (vouched(agent.policy) and vouched(feasible)),
        )
        oracle = () if self._own_set or solver is None else (solver.function,)
        users = () if self._own_policy else functions
        self.checked = frozenset((*users, *oracle, *(() if self._own_world else (draw, mean))))

    @cached_property
    def _code(self) -> Callable[..., int]:
        own = bindings(self._kernels, self._solver, trusted=self._own_set)
        return bound(play, own | self.bindings.by_placeholder(), checked=self.checked)

    def _same_state(self, arguments: LoopArguments, agent: Agent) -> bool:
        assert isinstance(agent, PolicyAgent)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(arguments.policy, agent.state, strict=True))

    def _begin(self, first_run: int, runs: int) -> LoopArguments:
        task = self._task
        n_items, max_size = task.problem.n_items, task.problem.max_size
        room = make_room(self._kernels, task.problem.feasible, self._solver)
        traced = min(task.horizon, self._most_rounds) if task.record else 0
        run = Run(
            streams=np.array([rng.stream_key(task.seed, first_run, stream) for stream in STREAMS], dtype=np.uint64),
            out=room.out,
            note=room.note,
            x=np.zeros(max(1, max_size)),
            regret=np.zeros(1),
            cursor=np.zeros(2, dtype=np.int64),
            curve=np.zeros((task.checkpoints.size, 1)),
            trace=np.zeros((traced, max_size, 1), dtype=INDEX),
            sums=np.zeros((n_items if "sums" in task.record else 0, 1)),
            faults=np.zeros(1),
            now=np.zeros(3, dtype=np.int64),
            odd=np.full(2, -1.0),
            raw=np.full(max_size + 1, UNWRITTEN),
            answers=Answers.empty(max_size, 1, self.bindings.LISTS),
        )
        state = copied(self._start)
        return LoopArguments(run, state, self._constants, self._tables, self._kernels.data, room.work)


def _kernels_of(policy: Policy, task: Task) -> PolicyKernels:
    if not isinstance(policy, CompiledPolicy):
        raise NotCompilable(f"{policy!r} is not a CompiledPolicy")
    kernels = policy.kernels(task.problem.feasible)
    if kernels is None:
        raise NotCompilable(f"{policy!r} has no text for the compiler on {task.problem.feasible!r}")
    return kernels
