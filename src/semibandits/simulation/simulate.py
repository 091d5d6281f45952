"""From a question to its answer: problem x policies x runs."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits import rng
from semibandits.agent import Uncovered
from semibandits.errors import BadArgument
from semibandits.problem import Problem
from semibandits.sets.base import check_count
from semibandits.simulation.loop import RegretKind, play
from semibandits.simulation.result import SimulationResult
from semibandits.simulation.store import Store
from semibandits.types import IndexPolicy, check_choice


def simulate(
    problem: Problem,
    policies: IndexPolicy | Sequence[IndexPolicy],
    *,
    horizon: int,
    runs: int,
    seed: int,
    threads: int | None = None,
    checkpoints: ArrayLike | None = None,
    regret: RegretKind = "expected",
    feedback: Literal["semi"] = "semi",
    executor: Executor | None = None,
    store: str | os.PathLike[str] | None = None,
    uncovered: Uncovered = "error",
    progress: bool | None = None,
) -> SimulationResult:
    """Plays every policy for `horizon` rounds, `runs` times, and measures its regret.

    Run r depends on the problem, the policy, the seed and r alone: fewer runs or (for policies that do not use it) a
    shorter horizon give a prefix of the same numbers, and all policies face the same worlds. A `Learner` with the same
    seed decides as run 0 does.

    `regret="expected"` adds up the gaps of the chosen solutions; `"realised"` what the optimum would have earned more
    with the weights as drawn. The rounds of initialisation count. `checkpoints` are the rounds at which regret is
    kept: default about 200 of them, dense early; the horizon is always the last.

    Items that no solution contains raise `UncoveredItems`, as in a learner; `uncovered="ignore"` plays without them.

    `executor` (any `concurrent.futures.Executor`) spreads the runs over processes or machines, `threads` over threads
    of this process. `store` names a folder that keeps every finished run: the same call, made again after it was
    killed or with more runs, plays only what is missing. `progress` draws a bar on standard error: default where that
    is a terminal.

    >>> import semibandits as sb
    >>> problem = sb.problems.grid_path(m=2, sigma=0.4)
    >>> result = simulate(problem, sb.policies.CombUCB1(), horizon=500, runs=3, seed=0)
    >>> result.regret.shape == (1, 3, len(result.rounds)), int(result.rounds[-1])
    (True, 500)
    """
    if not isinstance(problem, Problem):
        raise BadArgument(f"problem must be a Problem, got {problem!r:.200}")
    listed = (
        [policies] if isinstance(policies, IndexPolicy) else list(policies) if isinstance(policies, Iterable) else []
    )
    if not listed or not all(isinstance(policy, IndexPolicy) for policy in listed):
        raise BadArgument(f"policies must be one or more policies, got {policies!r:.200}")
    horizon = check_count("horizon", horizon, BadArgument)
    runs = check_count("runs", runs, BadArgument)
    regret = check_choice("regret", regret, RegretKind)
    check_choice("feedback", feedback, Literal["semi"])
    uncovered = check_choice("uncovered", uncovered, Uncovered)
    seed = rng.check_seed(seed)
    rounds = _checkpoints(checkpoints, horizon)
    workers = 1 if threads is None else check_count("threads", threads, BadArgument)
    if executor is not None and not hasattr(executor, "submit"):
        raise BadArgument(f"executor must be a concurrent.futures.Executor, got {executor!r:.100}")
    if executor is not None and threads is not None:
        raise BadArgument("give either threads or an executor, not both")
    from importlib.metadata import version  # costs more than all of this module

    _ = problem.optimum  # an oracle that fails does so here, once, and every worker gets the answer
    started = time.perf_counter()
    curves = np.empty((len(listed), runs, rounds.size))
    cells = [(p, r) for p in range(len(listed)) for r in range(runs)]
    shelf = None
    if store is not None:
        experiment = (problem.feasible, problem.environment, problem.sense, horizon, rounds, seed, regret, uncovered)
        shelf = Store(store, experiment, f"{problem!r}, horizon {horizon}, seed {seed}, {regret} regret")
    with _progress(progress, len(cells)) as advance, _pool(executor, workers) as pool:

        def keep(cell: tuple[int, int], curve: NDArray[np.float64], new: bool = True) -> None:
            curves[cell] = curve
            if shelf is not None and new:
                shelf.save(listed[cell[0]], cell[1], curve)
            advance()

        todo = []
        for p, r in cells:
            found = None if shelf is None else shelf.load(listed[p], r, rounds.size)
            if found is None:
                todo.append((p, r))
            else:
                keep((p, r), found, new=False)
        tasks = {(p, r): (problem, listed[p], horizon, r, seed, rounds, regret, uncovered) for p, r in todo}
        if pool is None:
            for cell, task in tasks.items():
                keep(cell, play(*task))
        else:
            futures = {pool.submit(play, *task): cell for cell, task in tasks.items()}
            try:
                for future in as_completed(futures):
                    keep(futures[future], future.result())
            except BaseException:
                for future in futures:
                    future.cancel()
                raise
    return SimulationResult(
        regret=curves,
        rounds=rounds,
        policies=tuple(repr(policy) for policy in listed),
        problem=repr(problem),
        seed=seed,
        kind=regret,
        engine="plain loop",
        seconds=time.perf_counter() - started,
        version=version("semibandits"),
    )


def _checkpoints(checkpoints: ArrayLike | None, horizon: int) -> NDArray[np.int64]:
    """Ascending rounds that end with the horizon."""
    if checkpoints is None:
        return np.unique(np.geomspace(1, horizon, num=min(horizon, 230)).round().astype(np.int64))
    try:
        rounds = np.atleast_1d(np.asarray(checkpoints))
    except ValueError as error:
        raise BadArgument(f"checkpoints must be a list of rounds, got {checkpoints!r:.200}") from error
    if rounds.ndim != 1 or rounds.size == 0 or rounds.dtype.kind not in "iu":
        raise BadArgument(f"checkpoints must be a list of rounds, got {checkpoints!r:.200}")
    rounds = rounds.astype(np.int64)
    if rounds[0] < 1 or rounds[-1] > horizon or not (np.diff(rounds) > 0).all():
        raise BadArgument(f"checkpoints must ascend from at least 1 to at most {horizon}, got {checkpoints!r:.200}")
    return rounds if rounds[-1] == horizon else np.append(rounds, horizon)


@contextmanager
def _pool(executor: Executor | None, threads: int) -> Iterator[Executor | None]:
    if executor is not None or threads == 1:
        yield executor
    else:
        with ThreadPoolExecutor(threads) as pool:
            yield pool


@contextmanager
def _progress(wanted: bool | None, total: int) -> Iterator[Callable[[], None]]:
    if not (sys.stderr.isatty() if wanted is None else wanted):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns: Iterable[Any] = (
        TextColumn("simulating"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.advance(task)
