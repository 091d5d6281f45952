"""The constants of a task, which are the same in all its runs, as the compiled loops read them."""

from typing import Any, NamedTuple

import numpy as np

from semibandits._util.item_bounds import with_rounding
from semibandits.agent import Agent
from semibandits.simulation.task import Task

INDEX = np.uint32
NONE = np.empty(0, dtype=np.int64)


class Constants(NamedTuple):
    """Arrays and numbers that no round changes."""

    checkpoints: Any
    means: Any
    """Of the items, then a 0 for the padding."""
    optimum: Any
    reference: Any
    """What regret is measured against: for every round where the means drift, else one number."""
    init_first: Any
    """Init's solution in round t is init_items[init_first[t-1] : init_first[t]]."""
    init_items: Any
    init_before: Any
    """The round in which Init last saw the item before, or 0."""
    lo: Any
    hi: Any
    """The bounds of the scale: numbers, or of the items, then those of the padding."""
    lowest: Any
    highest: Any
    """The bounds of the weights with some room for rounding, in the same way."""
    sign: float
    """Of regret: -1 for costs."""

    @classmethod
    def of(cls, task: Task, agent: Agent) -> "Constants":
        problem = task.problem
        plan = agent.init_plan(task.horizon)
        seen, before = np.zeros(problem.n_items, dtype=np.int64), [NONE]
        for round, solution in enumerate(plan, start=1):
            before.append(seen[solution])
            seen[solution] = round
        lo, hi = map(_padded, agent.scale.bounds, (0.0, 1.0))
        lowest, highest = map(_padded, with_rounding(problem.bounds), (0.0, 1.0))
        return cls(
            checkpoints=np.append(task.checkpoints, 0),
            means=np.zeros(problem.n_items + 1) if task.drifts else np.append(problem.means, 0.0),
            optimum=(NONE if task.drifts else problem.optimum).astype(INDEX),
            reference=task.references() if task.drifts else np.array([task.reference]),
            init_first=np.cumsum([0, *(solution.size for solution in plan)], dtype=np.int64),
            init_items=np.concatenate([*plan, NONE]).astype(INDEX),
            init_before=np.concatenate(before),
            lo=lo,
            hi=hi,
            lowest=lowest,
            highest=highest,
            sign=task.sign,
        )

    @property
    def init_rounds(self) -> int:
        return int(self.init_first.size) - 1


def _padded(bound: Any, padding: float) -> Any:
    return np.append(bound, padding) if isinstance(bound, np.ndarray) else bound
