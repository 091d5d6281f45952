"""The front door: many runs of many policies on one problem."""

import datetime
import os
import platform
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from concurrent.futures import Executor
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semibandits import rng
from semibandits._util.checks import check_choice, check_count, check_whole
from semibandits._util.ownership import ours
from semibandits._util.resources import asking_for, check_room, cores, processor
from semibandits._util.suggestions import explained
from semibandits._util.versions import __version__, versions
from semibandits.agent import Uncovered, check_feedback
from semibandits.errors import BadArgument, EndOfTable, ExecutorFailed, UnseenCode, Unsupported
from semibandits.kernel import LANES
from semibandits.oracle import Span, compiled_oracle, probed
from semibandits.policies.catalogue import as_policy
from semibandits.problem import Problem
from semibandits.simulation.progress import Progress, progress_bar
from semibandits.simulation.result import SimulationResult
from semibandits.simulation.schedule import Block, Choice, EngineName, blocks, choose, play_all
from semibandits.simulation.store import Store
from semibandits.simulation.task import Outcome, Recorded, RegretKind, Task
from semibandits.types import FeasibleSet, FeedbackKind, IndexPolicy, Policy
from semibandits.types.policies import constants_of

MOST_ROUNDS = 10**12
"""The longest horizon."""
MOST_RUNS = 10**9
BESIDE = 64
"""Bytes that a run takes beside its results: who is to play it, whether it was, and for how long."""


@explained
def simulate(
    problem: Problem,
    policies: IndexPolicy | Policy | str | Sequence[IndexPolicy | Policy | str],
    *,
    horizon: float,
    runs: float,
    seed: int | None = None,
    threads: int | None = None,
    checkpoints: ArrayLike | None = None,
    regret: RegretKind = "expected",
    feedback: FeedbackKind = "semi",
    executor: Executor | None = None,
    store: str | os.PathLike[str] | None = None,
    uncovered: Uncovered = "error",
    record: Recorded | Iterable[Recorded] = (),
    engine: EngineName = "auto",
    progress: bool | Progress | None = None,
) -> SimulationResult:
    """Plays every policy for `horizon` rounds, `runs` times, and measures its regret.

    Run r depends on the problem, the policy, the seed and r alone: fewer runs or (for policies that do not use it) a
    shorter horizon give a prefix of the same numbers, and all policies face the same worlds. A `Learner` with the same
    seed decides as run 0 does, in `problem.world(seed)`. Without a `seed` one is drawn, and told as `result.seed`.
    Policies that need no parameters may be given by their names.

    `regret="expected"` adds up the gaps of the chosen solutions, `"realised"` what the optimum would have earned more
    with the weights as drawn. Where the oracle is approximate, both measure against its own answer on the means, and
    `"ratio"` against what it promises, `problem.target`. In a world that drifts, `"dynamic"` (what `"expected"` stands
    for there) measures against the best solution of every round, and `"static"` (what it stands for in a sequence:
    `Adversarial`, or a `Table` in recorded order) against the one that is best for the means averaged over the horizon.

    `feedback="bandit"` shows the policies nothing but the sum of the chosen items' weights: for those that can learn
    from it. They can be had with `"semi"` too, where they are given the sum beside others that see every item.

    Where the world says every round's feasible set (`environments.Requests`), regret is against the best solution of
    that set: "dynamic", by the means, or "realised", by the weights as drawn.

    The rounds of initialisation count. `checkpoints` are the rounds at which regret is kept: default about 200 of them,
    dense early; the horizon is always the last. `record` (any of "counts", "sums" and "solutions") also keeps how often
    each item was chosen, the sum of its weights in those rounds, and every solution.

    Items that no solution contains raise `UncoveredItems`, as in a learner; `uncovered="ignore"` plays without them.

    Where the set, the environment and the policy can be compiled, the runs are played by machine code, 32 at a time on
    each of `threads` threads (default: all cores), or fewer where few runs of much work are asked; otherwise by a plain
    loop, spread over as many processes. Both give the same numbers, bit for bit. `result.engine` says which it was, and
    why; `engine="compiled"` or `"plain"` insists.

    `executor` (any `concurrent.futures.Executor`) plays the runs elsewhere, on many machines say. `store` names a
    folder that keeps every finished block of runs: the same call, made again after it was killed or with more runs,
    plays only what is missing. It refuses other data and other code, yours or this package's; where it cannot see all
    that yours depends on, `UnseenCode` warns. `progress` draws a bar on standard error: default where that is a
    terminal or a notebook's. A `Progress` is told of the rounds instead: so several simulations share a bar.

    >>> import semibandits as sb
    >>> problem = sb.problems.grid_path(m=2, sigma=0.4)
    >>> result = simulate(problem, sb.policies.CombUCB1(), horizon=500, runs=3, seed=0)
    >>> result.regret.shape == (1, 3, len(result.rounds)), int(result.rounds[-1])
    (True, 500)
    """
    if not isinstance(problem, Problem):
        raise BadArgument(f"problem must be a Problem, got {problem!r:.200}{_problem_meant(problem)}")
    one = isinstance(policies, IndexPolicy | Policy | str) or not isinstance(policies, Iterable)
    named = isinstance(policies, Mapping | Set)  # by names that would be lost, or in no order
    listed = [] if named else [as_policy(given) for given in ([policies] if one else cast(Iterable[Any], policies))]
    if not listed:
        raise BadArgument(f"policies must be one or more policies in a list, got {policies!r:.200}")
    horizon = check_whole("horizon", horizon, MOST_ROUNDS)
    runs = check_whole("runs", runs, MOST_RUNS)
    regret = _kind(check_choice("regret", regret, RegretKind), problem)
    feedback = check_choice("feedback", feedback, FeedbackKind)
    for policy in listed:
        check_feedback(policy, feedback)
    uncovered = check_choice("uncovered", uncovered, Uncovered)
    engine = check_choice("engine", engine, EngineName)
    recorded = _recorded(record)
    seed = rng.check_seed(seed)
    rounds = _checkpoints(checkpoints, horizon)
    check_memory(problem, len(listed), horizon, runs, rounds, recorded, stored=store is not None)
    workers = cores() if threads is None else check_count("threads", threads, BadArgument)
    if executor is not None and not hasattr(executor, "submit"):
        raise BadArgument(f"executor must be a concurrent.futures.Executor, got {executor!r:.100}")
    if executor is not None and threads is not None:
        raise BadArgument("give either threads or an executor, not both")
    last = problem.environment.last_round
    if last is not None and horizon > last:
        raise EndOfTable(f"horizon {horizon} was asked of {problem.environment!r}, which ends with round {last}")

    if problem.environment.drifts:  # elsewhere the optimum has tried the solver out
        probed(problem.feasible, Span.of(problem.sense, problem.bounds))
    began, started = datetime.datetime.now(datetime.UTC), time.perf_counter()
    tasks = [Task(problem, policy, horizon, seed, rounds, regret, uncovered, recorded, feedback) for policy in listed]
    for task in tasks if problem.environment.says_sets else tasks[:1]:  # what fails does so here, once
        task.check_reference()
    digest = problem.digest
    shelf = None
    if store is not None:
        against = problem.target if regret == "ratio" else None
        experiment = (
            *(problem.feasible, problem.environment, problem.sense, horizon, rounds, seed, regret, uncovered),
            *(() if against is None else (against,)),
            *(() if feedback == "semi" else (feedback,)),
        )
        what = f"{problem!r}, horizon {horizon}, seed {seed}, {regret} regret"
        shelf = Store(store, experiment, listed, what if feedback == "semi" else f"{what}, {feedback} feedback")
        if shelf.unseen:
            warnings.warn(_unseen(store, shelf.unseen), UnseenCode, stacklevel=3)
    with asking_for("the results"):
        results: dict[str, NDArray[Any]] = {
            name: np.empty((len(tasks), runs, *array.shape[1:]), dtype=array.dtype)
            for name, array in Outcome.empty(tasks[0], 0).arrays().items()
        }
        missing = np.ones((len(tasks), runs), dtype=np.bool_)
        playing = np.full((len(tasks), runs), np.nan)
    replayed = []

    def keep(block: Block, outcome: Outcome) -> None:
        if outcome.replayed:
            replayed.append(block)
        if shelf is not None:
            shelf.save(block.policy, block.first, outcome)
        put(block.policy, block.first, outcome)

    def put(policy: int, first: int, outcome: Outcome) -> None:
        at = slice(first, first + outcome.regret.shape[0])
        for name, array in outcome.arrays().items():
            results[name][policy, at] = array
        playing[policy, at] = np.nan if outcome.seconds is None else outcome.seconds
        missing[policy, at] = False

    with progress_bar(progress, len(tasks) * runs * horizon) as bar:
        if shelf is not None:
            for number, task in enumerate(tasks):
                for first, outcome in shelf.load(number, task, runs):
                    put(number, first, outcome)
        share = 1 if executor is not None else max(1, workers // len(tasks))
        choices = [
            choose(task, engine, runs, bar, int(gaps.sum()), share) for task, gaps in zip(tasks, missing, strict=True)
        ]
        todo = [
            block for policy, choice in enumerate(choices) for block in blocks(policy, missing[policy], choice.lanes)
        ]
        bar.advance(horizon * (len(tasks) * runs - sum(block.runs for block in todo)))
        try:
            where = play_all(tasks, choices, todo, keep, workers=workers, executor=executor, progress=bar)
        except ExecutorFailed as error:
            error.args = (f"{error}. {_kept(store, missing)}",)
            raise
    seconds = time.perf_counter() - started
    return SimulationResult(
        **results,
        rounds=rounds,
        policies=_names(listed),
        problem=repr(problem),
        seed=seed,
        kind=regret,
        engine=_engine_name(listed, choices, where, len(replayed)),
        seconds=seconds,
        version=__version__,
        provenance={
            "started": began.isoformat(timespec="seconds"),
            "machine": platform.platform(),
            "processor": processor(),
            "cores": cores(),
            "versions": versions("numpy", "scipy", "numba"),
            "problem_digest": digest,
            "horizon": horizon,
            "n_items": problem.n_items,
            "max_size": problem.max_size,
            "drifts": problem.environment.drifts,
            "optimal_size": None if problem.environment.drifts else problem.optimum.size,
            **_largest_gap(problem),
            "last_round": problem.environment.last_round,
            "bounds": [np.asarray(bound, dtype=np.float64).tolist() for bound in problem.bounds],
            "sense": problem.sense,
            "ratio": problem.feasible.ratio,
            "promised": problem.feasible.promised,
            "uncovered": uncovered,
            "feedback": feedback,
            "parameters": [_parameters(task) for task in tasks],
            "own_code": [not ours(policy) for policy in listed],
            "seconds_per_round": [_seconds_per_round(taken, horizon) for taken in playing],
        },
    )


def _largest_gap(problem: Problem) -> dict[str, float]:
    """Of the problem's solutions, where an oracle of this package finds the worst as quickly as the best."""
    feasible = problem.feasible
    if problem.environment.drifts or feasible.foreign or compiled_oracle(feasible) is None:
        return {}
    try:
        return {"max_gap": problem.max_gap}
    except Unsupported:
        return {}


def _problem_meant(given: Any) -> str:
    if isinstance(given, FeasibleSet):
        return ": a set and how its weights are drawn make one, Problem(feasible, environment)"
    return ": the problem comes first" if isinstance(given, IndexPolicy | Policy) else ""


def check_memory(
    problem: Problem,
    policies: int,
    horizon: int,
    runs: int,
    checkpoints: ArrayLike | None = None,
    record: Iterable[Recorded] = (),
    stored: bool = False,
) -> None:
    """Raises `BadArgument` where the results of this simulation do not fit into this machine's memory.

    Beside the results there are those of the runs that are just played, twice more where they are stored, and in a
    world that drifts what regret is measured against in every round.
    """
    sizes = {"counts": 8 * problem.n_items, "sums": 8 * problem.n_items, "solutions": 4 * problem.max_size * horizon}
    one = 8 * _checkpoints(checkpoints, horizon).size + sum(sizes[name] for name in record)
    playing = min(policies * runs, int(LANES) * cores()) * one * (3 if stored else 1)
    drifting = 8 * horizon if problem.environment.drifts else 0
    check_room(
        policies * runs * (one + BESIDE) + playing + drifting,
        f"the results of {runs:,} runs of each policy, of {horizon:,} rounds, take",
        "ask for fewer",
    )


def _kept(store: str | os.PathLike[str] | None, missing: NDArray[np.bool_]) -> str:
    """What is left of a simulation that failed, and how it goes on."""
    if store is None:
        return "Nothing is kept, as there is no store; with one, the same call would play only what is missing"
    finished = missing.size - np.count_nonzero(missing)
    return (
        f"{finished} of {missing.size} runs are finished and kept in {os.fspath(store)!s}: the same call, made again, "
        "plays the others"
    )


def _unseen(store: str | os.PathLike[str], unseen: tuple[str, ...]) -> str:
    listed = "; ".join(unseen[:10]) + (f"; and {len(unseen) - 10} more" if len(unseen) > 10 else "")
    return (
        f"a store knows its runs by the data and code they come from, and not all of that can be seen: {listed}. If"
        f" what is not seen changes, remove {os.fspath(store)!s}, or its numbers will be the old ones"
    )


def _kind(regret: RegretKind, problem: Problem) -> RegretKind:
    """The kind of regret, by its name."""
    if not problem.environment.drifts:
        return regret
    if problem.environment.says_sets:
        if regret in ("static", "ratio"):
            raise BadArgument(
                f"regret must be 'dynamic' or 'realised' where every round has a set of its own, in "
                f"{problem.environment!r}, got {regret!r}"
            )
        return "dynamic" if regret == "expected" else regret
    if regret in ("realised", "ratio"):
        raise BadArgument(
            f"regret must be 'dynamic' or 'static' in a world that drifts or is a sequence, {problem.environment!r}, "
            f"got {regret!r}"
        )
    if regret == "expected":
        return "static" if problem.environment.hindsight else "dynamic"
    return regret


def _names(policies: list[Any]) -> tuple[str, ...]:
    """Each policy as it prints itself; those that print alike are numbered."""
    names: list[str] = []
    for policy in policies:
        name, number = repr(policy), 2
        while name in names:
            name, number = f"{policy!r} #{number}", number + 1
        names.append(name)
    return tuple(names)


def _recorded(record: Any) -> frozenset[Recorded]:
    names = [record] if isinstance(record, str) else list(record) if isinstance(record, Iterable) else [record]
    return frozenset(check_choice("record", name, Recorded) for name in names)


def _engine_name(policies: list[Any], choices: list[Choice], where: str, replayed: int) -> str:
    names = [choice.name if choice.engine is not None or not where else f"{choice.name}, {where}" for choice in choices]
    said = "; ".join(dict.fromkeys(names))
    if len(set(names)) > 1:
        said = "; ".join(f"{policy!r}: {name}" for policy, name in zip(policies, names, strict=True))
    if replayed:
        said += f" ({replayed} blocks by the plain loop, since scores or their sums were not finite)"
    return said


def _seconds_per_round(taken: NDArray[np.float64], horizon: int) -> float | None:
    """Of a run on one core. The median, as the first runs of a plain loop may have had to compile scores or moves."""
    known = taken[np.isfinite(taken)]
    return float(np.median(known)) / horizon if known.size else None


def _parameters(task: Task) -> dict[str, Any]:
    """The policy by name, its public attributes as far as JSON can say them, and the init that was used."""
    plain = {
        name: value
        for name, value in getattr(task.policy, "__dict__", {}).items()
        if not name.startswith("_") and (value is None or isinstance(value, bool | int | float | str))
    }
    agent = task.agent(run=0)
    state = getattr(agent, "state", None)
    constants = getattr(state, constants_of(task.policy), None)
    tuned = {} if constants is None else {"facts": [float(x) for x in constants if np.isfinite(x)]}
    return {"policy": type(task.policy).__name__, **plain, **tuned, "init": agent.init}


def _checkpoints(checkpoints: ArrayLike | None, horizon: int) -> NDArray[np.int64]:
    """Ascending rounds that end with the horizon."""
    if checkpoints is None:
        return np.unique(np.geomspace(1, horizon, num=min(horizon, 230)).round().astype(np.int64))
    if isinstance(checkpoints, Sized) and not isinstance(checkpoints, np.ndarray):
        if len(checkpoints) > horizon:
            raise BadArgument(f"checkpoints must ascend from at least 1 to at most {horizon}, got {len(checkpoints):,}")
        check_room(24 * len(checkpoints), f"{len(checkpoints):,} checkpoints take", "ask for fewer")
    try:
        rounds = np.atleast_1d(np.asarray(checkpoints))
    except ValueError as error:
        raise BadArgument(f"checkpoints must be a list of rounds, whole numbers, got {checkpoints!r:.200}") from error
    if rounds.dtype.kind == "f" and rounds.size and (abs(rounds) <= MOST_ROUNDS).all() and not (rounds % 1.0).any():
        rounds = rounds.astype(np.int64)
    if rounds.ndim != 1 or rounds.size == 0 or rounds.dtype.kind not in "iu":
        raise BadArgument(f"checkpoints must be a list of rounds, whole numbers, got {checkpoints!r:.200}")
    rounds = rounds.astype(np.int64)
    if rounds[0] < 1 or rounds[-1] > horizon or not (np.diff(rounds) > 0).all():
        raise BadArgument(f"checkpoints must ascend from at least 1 to at most {horizon}, got {checkpoints!r:.200}")
    return rounds if rounds[-1] == horizon else np.append(rounds, horizon)
