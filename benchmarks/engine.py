"""What simulation costs: `make bench`.

Every figure is measured in this run, in turn with the rivals it is compared with; medians of several repetitions.

    python benchmarks/engine.py [--quick] [--json] [--only PART ...]

    grid     the paper's grid paths: ours on one and two threads, C with SIMD lanes tuned by hand, a NumPy loop
    topk     choosing k of n items: ours, a NumPy loop
    scaling  rounds, runs and items doubled and doubled again
    memory   10,000 runs at once
    figure   all 21 points of the paper's Figure 1c, in a fresh process
    start    a fresh process to its first result

Times of ours are those of the whole call of `simulate`, those of the C program only of its rounds. The first call,
which compiles, comes before all measurements and is listed by itself.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import semibandits as sb
from common import Goal, Mean, Table, in_turn, machine, play, print_document, timed, top_k
from loops import numpy_grid, numpy_top_k

SIGMA = 0.2
CACHE = "SEMIBANDITS_CACHE"
"""The environment variable that names the folder of compiled code."""
LANES = 32
"""Runs that the C program plays side by side."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    repeats: int
    grid_horizon: int
    grid_runs: int
    numpy_horizon: int
    checked_runs: int
    """Ours, at the NumPy loop's horizon: for its regret, not for its time."""
    topk_horizons: tuple[int, int, int]
    scaling_horizon: int
    scaling_work: int
    """Rounds x runs x items of each point of the tables over items."""
    scaling_passes: int
    """How often, at least, all items could have been seen by then."""
    memory_runs: int
    memory_horizon: int
    figure_largest: int
    figure_runs: int
    starts: int


FULL = Sizes(
    repeats=7,
    grid_horizon=100_000,
    grid_runs=64,
    numpy_horizon=5_000,
    checked_runs=128,
    topk_horizons=(50_000, 10_000, 2_000),
    scaling_horizon=25_000,
    scaling_work=40_000_000,
    scaling_passes=2,
    memory_runs=10_000,
    memory_horizon=200,
    figure_largest=7,
    figure_runs=100,
    starts=5,
)
QUICK = Sizes(
    repeats=2,
    grid_horizon=200,
    grid_runs=64,
    numpy_horizon=200,
    checked_runs=32,
    topk_horizons=(50, 50, 50),
    scaling_horizon=25,
    scaling_work=100_000,
    scaling_passes=0,
    memory_runs=64,
    memory_horizon=40,
    figure_largest=1,
    figure_runs=2,
    starts=1,
)


def grid(sizes: Sizes) -> list[Table]:
    """The paper's problem against the fastest and the most usual way to simulate it."""
    table = Table(f"Grid paths, sigma {SIGMA}, {sizes.grid_horizon:,} rounds: ns per round and run")
    with tempfile.TemporaryDirectory() as folder:
        program, how = build(Path(folder))
        for m in (4, 8):
            grid_of_size(m, sizes, program, table)
    table.notes += [f"Ours: {engine_name()}", f"C: {how}"]
    return [table]


def grid_of_size(m: int, sizes: Sizes, program: Path | None, table: Table) -> None:
    horizon, runs, short = sizes.grid_horizon, sizes.grid_runs, sizes.numpy_horizon
    problem = sb.problems.grid_path(m, SIGMA)
    compiling = first_call(problem)
    ours = partial(play, problem, horizon=horizon, runs=runs)
    regrets: list[float] = []
    loop = partial(collect, regrets, partial(numpy_grid, m, SIGMA, short))
    measures = {
        "ours, 1 thread": per_round(timed(ours), horizon * runs),
        "ours, 2 threads": per_round(timed(partial(ours, threads=2)), horizon * runs),
        "NumPy loop": per_round(timed(loop), short),  # one run, and a shorter one
    }
    if program is not None:
        measures["C"] = lambda: float(run_c(program, m, horizon)["ns"])
    ns = dict(zip(measures, in_turn(list(measures.values()), sizes.repeats), strict=True))
    one, two = ns["ours, 1 thread"], ns["ours, 2 threads"]
    row: dict[str, str | float] = {"m": m, "items": problem.n_items, **ns}
    table.rows.append({**row, "NumPy loop / ours": ns["NumPy loop"] / one, "first call, s": compiling})

    if (os.cpu_count() or 1) > 1:
        table.goals.append(Goal(f"m = {m}: two threads are faster by", one / two, 1.8, at_most=False))
    if program is not None:
        table.goals.append(Goal(f"m = {m}: ours / C", one / ns["C"], 1.25))
        done = run_c(program, m, horizon)
        theirs = Mean(done["regret"], done["error"] * math.sqrt(LANES), LANES)
        table.goals.append(same_regret(f"m = {m}", Mean.of(ours()), "C", theirs))
    checked = Mean.of(play(problem, horizon=short, runs=sizes.checked_runs))
    table.goals.append(same_regret(f"m = {m}, {short:,} rounds", checked, "NumPy", Mean.of(regrets)))


def topk(sizes: Sizes) -> list[Table]:
    """The simplest feasible set of all, where rivals exist."""
    table = Table("Top-k: means 0.6 for k of the items, 0.4 for the others; one thread")
    for (n_items, k), horizon in zip(((20, 4), (100, 10), (1000, 50)), sizes.topk_horizons, strict=True):
        problem = top_k(n_items, k)
        compiling = first_call(problem)
        regrets: list[float] = []
        loop = partial(numpy_top_k, problem.means, k, horizon)
        measures = [
            per_round(timed(partial(play, problem, horizon=horizon, runs=LANES)), horizon * LANES),
            per_round(timed(partial(collect, regrets, loop)), horizon),
        ]
        ours, theirs = in_turn(measures, sizes.repeats)
        table.rows.append(
            {
                "items": n_items,
                "k": k,
                "rounds": horizon,
                "ours, ns/round": ours,
                "ours, rounds/s": 1e9 / ours,
                "NumPy loop, ns/round": theirs,
                "NumPy loop / ours": theirs / ours,
                "first call, s": compiling,
            }
        )
        checked = Mean.of(play(problem, horizon=horizon, runs=LANES))
        table.goals.append(same_regret(f"({n_items}, {k})", checked, "NumPy", Mean.of(regrets)))
    return [table]


def scaling(sizes: Sizes) -> list[Table]:
    """Time that grows with the work and no faster."""
    horizon, grid_4 = sizes.scaling_horizon, sb.problems.grid_path(4, SIGMA)
    grids = [sb.problems.grid_path(m, SIGMA) for m in (4, 8, 16)]
    slates = [top_k(n_items, 10) for n_items in (100, 1000, 10_000)]
    series = {
        "More rounds: grid paths, m = 4": [(grid_4, factor * horizon, LANES) for factor in (1, 2, 4)],
        "More runs: grid paths, m = 4": [(grid_4, horizon, factor * LANES) for factor in (1, 2, 4)],
        "More items: grid paths, m = 4, 8, 16": [(each, enough_rounds(each, sizes), LANES) for each in grids],
        "More items: top-k, k = 10": [(each, enough_rounds(each, sizes), LANES) for each in slates],
    }
    tables = []
    for title, points in series.items():
        measures = []
        for problem, rounds, runs in points:
            first_call(problem)
            measures.append(per_round(timed(partial(play, problem, horizon=rounds, runs=runs)), rounds * runs))
        table = Table(f"{title}; one thread")
        for (problem, rounds, runs), ns in zip(points, in_turn(measures, sizes.repeats), strict=True):
            row: dict[str, str | float] = {"items": problem.n_items, "rounds": rounds, "runs": runs}
            table.rows.append({**row, "ns/round/run": ns, "ns/round/run/item": ns / problem.n_items})
        tables.append(table)
    return tables


def enough_rounds(problem: sb.Problem, sizes: Sizes) -> int:
    """About the same work for problems of all sizes, but well past their initialisation."""
    passes = sizes.scaling_passes * problem.n_items // problem.max_size
    return max(1, passes, sizes.scaling_work // (problem.n_items * LANES))


MEMORY = """
from common import peak_memory, play, top_k
problem = top_k(1000, 50)
play(problem, horizon=10, runs=1)
before = peak_memory()
play(problem, horizon={horizon}, runs={runs}, threads={threads})
print(before, peak_memory())
"""


def memory(sizes: Sizes) -> list[Table]:
    """Many runs at once, for some rounds and for four times as many."""
    threads = os.cpu_count() or 1
    table = Table(f"Memory: {sizes.memory_runs:,} runs of TopK(1000, 50) on {threads} threads, a process each")
    peaks = []
    for horizon in (sizes.memory_horizon, 4 * sizes.memory_horizon):
        code = MEMORY.format(horizon=horizon, runs=sizes.memory_runs, threads=threads)
        before, peak = (int(size) / 2**20 for size in fresh(code).split())
        peaks.append(peak)
        table.rows.append({"rounds": horizon, "peak, MiB": peak, "before the first run, MiB": before})
    table.goals.append(Goal("peak, GiB", max(peaks) / 1024, 1.0))
    table.goals.append(Goal("peak with four times the rounds / peak", peaks[1] / peaks[0], 1.05))
    return [table]


FIGURE = """
from semibandits.experiments.paper import published as figure_1c
cells = [
    figure_1c.run_cell(m, sigma, runs={runs}, seed=0)
    for sigma in figure_1c.PUBLISHED
    for m in range(1, {largest} + 1)
]
print(len(cells), sum(cell.agrees for cell in cells))
"""


def figure(sizes: Sizes) -> list[Table]:
    """The paper's experiment."""
    runs, largest = sizes.figure_runs, sizes.figure_largest
    table = Table(f"Figure 1c: m = 1 to {largest}, {runs} runs, a fresh process on all cores")
    with tempfile.TemporaryDirectory() as folder:
        for cache in ("empty", "filled"):
            start = time.perf_counter()
            points, agreeing = map(int, fresh(FIGURE.format(runs=runs, largest=largest), folder).split())
            taken = time.perf_counter() - start
            table.rows.append({"cache": cache, "seconds": taken, "points": points, "agreeing": agreeing})
            table.goals.append(Goal(f"points that agree with the paper, cache {cache}", agreeing, points, False))
    table.goals.append(Goal("all points, cache empty, s", float(table.rows[0]["seconds"]), 30))
    return [table]


FIRST_RESULT = """
import semibandits as sb
sb.simulate(sb.problems.grid_path(4, 0.2), sb.policies.CombUCB1(), horizon=100, runs=32, seed=0)
"""


def start(sizes: Sizes) -> list[Table]:
    """From nothing to the first result of a combination that is built in."""
    table = Table("A fresh process to its first result: grid paths, m = 4, 100 rounds, 32 runs")
    with tempfile.TemporaryDirectory() as folder:

        def cold() -> None:
            with tempfile.TemporaryDirectory() as empty:
                fresh(FIRST_RESULT, empty)

        fresh(FIRST_RESULT, folder)
        measures = {
            "cache empty": timed(cold),
            "cache filled": timed(partial(fresh, FIRST_RESULT, folder)),
            "import numpy alone": timed(partial(fresh, "import numpy")),
        }
        for what, seconds in zip(measures, in_turn(list(measures.values()), sizes.starts), strict=True):
            table.rows.append({"what": what, "seconds": seconds})
    table.goals.append(Goal("first result, cache filled, s", float(table.rows[1]["seconds"]), 1.0))
    return [table]


def fresh(code: str, cache: str | None = None) -> str:
    """What this code prints in a new interpreter."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)} | ({CACHE: cache} if cache else {})
    return subprocess.run([sys.executable, "-c", code], env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


def first_call(problem: sb.Problem) -> float:
    """Seconds of the first call, in which compiling happens."""
    start = time.perf_counter()
    play(problem, horizon=100, runs=LANES)
    play(problem, horizon=100, runs=2 * LANES, threads=2)
    return time.perf_counter() - start


def per_round(measure: Callable[[], float], rounds: int) -> Callable[[], float]:
    """Nanoseconds per round from a measurement of seconds."""
    return lambda: measure() / rounds * 1e9


def collect(regrets: list[float], run: Callable[[np.random.Generator], float]) -> None:
    """Plays the next run and keeps its regret."""
    regrets.append(run(np.random.default_rng(len(regrets))))


def same_regret(where: str, ours: Mean, who: str, theirs: Mean) -> Goal:
    what = f"{where}: regret, ours {ours}, {who} {theirs}: standard errors apart"
    return Goal(what, ours.distance(theirs), 4.0, check=True)


def engine_name() -> str:
    """What simulated ours."""
    problem = sb.problems.grid_path(4, SIGMA)
    return sb.simulate(problem, sb.policies.CombUCB1(), horizon=100, runs=LANES, seed=0, progress=False).engine


def build(folder: Path) -> tuple[Path | None, str]:
    """The C program and how it was built, or None and why not."""
    source, program = Path(__file__).parent / "grid_lanes.c", folder / "grid_lanes"
    compiler = os.environ.get("CC") or next((name for name in ("gcc", "cc", "clang") if shutil.which(name)), None)
    if compiler is None:
        return None, "no compiler found"
    native = ["-O3", "-march=native", "-ffast-math", f"-DB={LANES}"]
    for flags in ([*native, "-mprefer-vector-width=512"], native, ["-O3", "-ffast-math", f"-DB={LANES}"]):
        command = [compiler, *flags, str(source), "-o", str(program), "-lm"]
        if subprocess.run(command, capture_output=True).returncode == 0:
            release = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
            return program, f"{release}, {' '.join(flags)}"
    return None, f"{compiler} does not compile {source.name}"


def run_c(program: Path, m: int, rounds: int) -> dict[str, float]:
    """What the C program prints: `ns` per round and run, `regret` and its `error`."""
    printed: dict[str, float] = json.loads(subprocess.check_output([program, str(m), str(rounds), str(SIGMA)]))
    return printed


PARTS = {"grid": grid, "topk": topk, "scaling": scaling, "memory": memory, "figure": figure, "start": start}


def main() -> None:
    parser = argparse.ArgumentParser(description="What simulation costs, beside its rivals.")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes, only to see that all of it runs")
    parser.add_argument("--json", action="store_true", help="print a JSON document and nothing else")
    chosen = parser.parse_args()
    if not chosen.json:
        print(", ".join(f"{what} {found}" for what, found in machine().items()), "\n")
        if chosen.quick:
            print("Quick: the sizes are too small for the figures to mean anything.\n")
    tables: list[Table] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ[CACHE] = folder  # compiled anew, so that the first calls say what compiling costs
        for name in chosen.only:
            for table in PARTS[name](QUICK if chosen.quick else FULL):
                tables.append(table)
                if not chosen.json:
                    print(table, flush=True)
    if chosen.json:
        print_document(tables)
    sys.exit(not all(goal.met for table in tables for goal in table.goals if goal.check))


if __name__ == "__main__":
    main()
