"""Whether a task can be compiled: the functions that its parts have for the compiler, and why there are none."""

from collections.abc import Callable
from typing import Any

import numpy as np

from semibandits.kernel import foreign, is_ours, outsized
from semibandits.kernel.own_entries import reads_own_entries
from semibandits.kernel.watching import outgrows
from semibandits.simulation.task import Task
from semibandits.types import FeasibleSet, Solver, up_to_date

TABLE_TYPES = (np.float64, np.int64, np.uint64, np.bool_)


class NotCompilable(Exception):
    """Why something cannot be compiled."""


def world(task: Task) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions that draw a weight and, where the means drift, say the mean of one."""
    environment = task.problem.environment
    if environment.says_sets:
        raise NotCompilable("every round has a feasible set of its own")
    draw = form(environment, "drawing", "weights")
    if draw is None:
        raise NotCompilable(f"{environment!r} draws its weights in Python")
    if not isinstance(environment.tables, tuple | list):
        raise NotCompilable(
            f"{environment!r} has tables that are no tuple of arrays, but {type(environment.tables).__name__}"
        )
    for table in environment.tables:
        kind = table.dtype if isinstance(table, np.ndarray) else type(table).__name__
        if kind not in TABLE_TYPES:
            raise NotCompilable(f"{environment!r} has a table of {kind}, not an array of float64 or int64")
    mean = getattr(environment, "mean", None) if task.drifts else draw  # which is not called then
    if mean is None:
        raise NotCompilable(f"{environment!r} has no mean(round, item, tables) for the compiler")
    if why := foreign(draw) or foreign(mean):
        raise NotCompilable(why)
    last, item = task.horizon, task.problem.n_items - 1
    check_word(draw, task, last, 0, item, environment.tables)
    if task.drifts:
        check_word(mean, task, last, item, environment.tables)
    return draw, mean


def check_oracle(solver: Solver | None, feasible: FeasibleSet) -> Solver:
    if solver is None:
        raise NotCompilable(f"{feasible!r} has no oracle for the compiler")
    if why := outsized(solver.function):
        raise NotCompilable(why)
    return solver


def draws_within(task: Task, draw: Callable[..., Any]) -> bool:
    """Whether it is plain that a user's function reads no table beyond its end: only the entries of the item itself."""
    functions = [(draw, 2, 3)]
    if is_ours(draw):  # it calls what the environment gives as its quantile
        functions = [(cell.cell_contents, 1, 2) for cell in draw.__closure__ or ()]
    tables: Any = task.problem.environment.tables
    enough = all(table.ndim == 1 and table.size >= task.problem.n_items for table in tables)
    return enough and bool(functions) and all(reads_own_entries(*function) for function in functions)


def check_word(function: Callable[..., Any], task: Task, *arguments: Any) -> None:
    """Whether all whole numbers that a user's function works out of these fit into a word of the machine."""
    if not is_ours(function) and outgrows(function, *arguments):
        raise NotCompilable(
            f"{function.__name__}() works out whole numbers of 2^63 or more by round {task.horizon:,}, which machine "
            "code cannot: begin with float(round)"
        )


def form(thing: Any, compiled: str, plain: str) -> Any:
    """What the compiler is to be given of a set or an environment; None: nothing."""
    if not up_to_date(thing, compiled, plain):
        return None
    try:
        return getattr(thing, compiled)()
    except Exception as error:
        raise NotCompilable(f"{compiled}() of {thing!r} raised {type(error).__name__}: {error!s:.200}") from error


def not_compiled(error: Exception) -> NotCompilable:
    """No round was played: it is the compiler that failed."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    says = next((line for line in lines if not line.startswith("Failed in nopython")), type(error).__name__)
    return NotCompilable(f"it cannot be compiled: {says}")


def plain_failed(error: Exception) -> NotCompilable:
    """In the rounds that are played in both ways at first: so there is nothing to be compiled."""
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    return NotCompilable(f"the plain loop raises {type(error).__name__}: {error!s:.200}{notes}")
