"""What it costs that users' functions are checked in machine code.

    python benchmarks/checks.py [--quick] [--json] [--against SRC]

Every part of a simulation is played by a class of ours, and in turn by a user's: the same text, copied to a file of its
own, so that it counts as a user's. Times are those of whole calls of `simulate` on one thread, after a first one that
compiles. `--against SRC` plays ours in turn with another version of this package, whose source is there.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import semibandits as sb
from common import Goal, Table, in_turn, play, report, timed
from semibandits.simulation.engines.lanes_engine import LanesEngine
from semibandits.simulation.schedule import engine_of

LIMIT = 1.1
PACKAGE = Path(sb.__file__).parent


def users(name: str, folder: Path, **others: object) -> Any:
    """A module of ours as a user's, with some of its names changed."""
    path = folder / f"users_{name.replace('.', '_')}.py"
    path.write_text((PACKAGE / f"{name.replace('.', '/')}.py").read_text())
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[path.stem] = module
    found.loader.exec_module(module)
    vars(module).update(others)
    return module


def means(n_items: int) -> Any:
    return np.linspace(0.2, 0.8, n_items)


def tree(kind: Any) -> Any:
    return kind([(a, b) for b in range(9) for a in range(b)])


def stated(kind: type) -> type:
    """A class of the user's that says itself that its answers are feasible: only their range is checked."""
    return type(kind.__name__, (kind,), {"verified": True, "__module__": kind.__module__})


def cases(folder: Path) -> dict[str, tuple[sb.Problem, Any, sb.Problem, Any, int, int]]:
    """By name: ours, the user's, rounds and runs."""
    lanes, single = users("sets.oracles.top_k_lanes", folder), users("sets.oracles.top_k", folder)
    top_k = users("sets.top_k", folder, top_k_lanes=lanes, top_k=single).TopK
    coins, ucb = users("environments.bernoulli", folder).Bernoulli, users("policies.index.combucb1", folder).CombUCB1()
    recorded = users("environments.table", folder).Table
    escb, fpl = users("policies.solution.escb", folder).ESCB, users("policies.solution.fpl", folder).FPL
    kernels = users("sets.oracles.spanning_tree", folder)
    kernels.kruskal = users("sets.oracles.greedy", folder).greedy(kernels.takes, kernels.without_cycles)
    graphic = users("sets.graphic", folder, spanning_tree=kernels).GraphicMatroid
    ours, own_coins = sb.policies.CombUCB1(), sb.environments.Bernoulli
    few, many = own_coins(means(12)), own_coins(means(100))
    slate, large = sb.Problem(sb.sets.TopK(12, 3), few), sb.Problem(sb.sets.TopK(100, 10), many)
    kinds = (sb.sets.GraphicMatroid, graphic, stated(graphic))
    trees = [sb.Problem(tree(kind), own_coins(means(36))) for kind in kinds]
    verified = [sb.Problem(stated(top_k)(*sizes), world) for sizes, world in (((12, 3), few), ((100, 10), many))]
    listed = sb.Problem(sb.sets.Enumerated([[i, j] for i in range(12) for j in range(i)]), few)
    table = np.random.default_rng(0).random((50_000, 12))
    return {
        "formula, top 3 of 12": (slate, ours, slate, ucb, 50_000, 32),
        "draw, top 3 of 12": (slate, ours, sb.Problem(slate.feasible, coins(means(12))), ours, 50_000, 32),
        "draw, top 10 of 100": (large, ours, sb.Problem(large.feasible, coins(means(100))), ours, 8_000, 32),
        "solver in lanes, verified, top 3 of 12": (slate, ours, verified[0], ours, 50_000, 32),
        "solver in lanes, verified, top 10 of 100": (large, ours, verified[1], ours, 8_000, 32),
        "solver in lanes, top 3 of 12": (slate, ours, sb.Problem(top_k(12, 3), few), ours, 50_000, 32),
        "solver in lanes, top 10 of 100": (large, ours, sb.Problem(top_k(100, 10), many), ours, 2_000, 32),
        "solver for one run, verified, tree": (trees[0], ours, trees[2], ours, 10_000, 32),
        "solver for one run, tree": (trees[0], ours, trees[1], ours, 10_000, 32),
        "moves, verified, ESCB on 66 pairs": (listed, sb.policies.ESCB(), listed, stated(escb)(), 200_000, 2),
        "moves, verified, FPL, top 3 of 12": (slate, sb.policies.FPL(eta=0.1), slate, stated(fpl)(eta=0.1), 100_000, 4),
        "moves, FPL, top 3 of 12": (slate, sb.policies.FPL(eta=0.1), slate, fpl(eta=0.1), 100_000, 4),
        "draw from a table, top 3 of 12": (
            *(sb.Problem(slate.feasible, sb.environments.Table(table, order="recorded")), ours),
            *(sb.Problem(slate.feasible, recorded(table, order="recorded")), ours, 25_000, 32),
        ),
    }


def checks(repeats: int, short: int) -> Table:
    table = Table("Checks of users' functions: ns per round and run, one thread")
    with tempfile.TemporaryDirectory() as folder:
        for name, (problem, policy, other, others, horizon, runs) in cases(Path(folder)).items():
            rounds = max(1, horizon // short)
            mine = partial(play, problem, policy, horizon=rounds, runs=runs)
            theirs = partial(play, other, others, horizon=rounds, runs=runs)
            table.goals.append(Goal(f"{name}: same regret", float(np.abs(mine() - theirs()).max()), 0.0, check=True))
            seconds = in_turn([timed(mine), timed(theirs)], repeats)
            ns = [one / rounds / runs * 1e9 for one in seconds]
            table.rows.append({"what": name, "ours": ns[0], "user's": ns[1], "ratio": ns[1] / ns[0]})
            table.goals.append(Goal(f"{name}: user's / ours", ns[1] / ns[0], LIMIT))
    table.notes.append(f"Checks in the machine code of our own classes: {checks_of_ours()}")
    return table


def checks_of_ours() -> str:
    from semibandits.simulation.task import Task

    slate = sb.Problem(sb.sets.TopK(12, 3), sb.environments.Bernoulli(means(12)))
    one = Task(slate, sb.policies.CombUCB1(), 10, 0, np.array([10]), "expected", "error", frozenset())
    engine = engine_of(one)
    assert isinstance(engine, LanesEngine)
    bound = engine.bindings
    watched = bound.USERS_CODE or bound.USERS_ORACLE or bound.USERS_WORLD or engine.checked
    return "some" if watched else "none (every one is a constant False, which the compiler leaves out)"


OTHERS = """
import time, numpy as np, semibandits as sb
slate = sb.Problem(sb.sets.TopK(12, 3), sb.environments.Bernoulli(np.linspace(0.2, 0.8, 12)))
grid = sb.problems.grid_path(4, 0.2)
forest = sb.Problem(sb.sets.GraphicMatroid([(a, b) for b in range(9) for a in range(b)]),
                    sb.environments.Bernoulli(np.linspace(0.2, 0.8, 36)))
pairs = sb.Problem(sb.sets.Enumerated([[i, j] for i in range(12) for j in range(i)]), slate.environment)
ucb, escb = sb.policies.CombUCB1(), sb.policies.ESCB()
plays = (slate, ucb, 50_000, 32), (grid, ucb, 20_000, 32), (forest, ucb, 10_000, 32), (pairs, escb, 200_000, 2)
for problem, policy, horizon, runs in plays:
    taken = []
    for rounds in (10, *[max(1, horizon // {short})] * 3):
        start = time.perf_counter()
        sb.simulate(problem, policy, horizon=rounds, runs=runs, seed=0, threads=1, checkpoints=[rounds],
                    engine="compiled", progress=False)
        taken.append((time.perf_counter() - start) / rounds / runs * 1e9)
    print(min(taken[1:]))
"""


def against(source: Path, repeats: int, short: int) -> Table:
    """Ours, here and in another version."""

    def fresh(path: Path, cache: str) -> list[float]:
        env = {**os.environ, "PYTHONPATH": str(path), "SEMIBANDITS_CACHE": cache}
        code = OTHERS.replace("{short}", str(short))
        done = subprocess.run([sys.executable, "-c", code], env=env, check=True, stdout=subprocess.PIPE, text=True)
        return [float(line) for line in done.stdout.split()]

    table = Table(f"Our own classes here and in {source}: ns per round and run, the least of all")
    with tempfile.TemporaryDirectory() as here, tempfile.TemporaryDirectory() as there:
        taken = [(fresh(PACKAGE.parent, here), fresh(source, there)) for _ in range(repeats)]
    names = ("top 3 of 12", "grid path, m = 4", "tree of 36 edges", "ESCB on 66 pairs")
    for at, name in enumerate(names):
        mine, other = (min(pair[which][at] for pair in taken) for which in (0, 1))
        table.rows.append({"what": name, "here": mine, "there": other, "ratio": mine / other})
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="much smaller, to see that it runs")
    parser.add_argument("--json", action="store_true", help="print a JSON document and nothing else")
    parser.add_argument("--against", type=Path, help="the source of another version to compare our own classes with")
    chosen = parser.parse_args()
    repeats, short = (2, 100) if chosen.quick else (5, 2)
    parts: list[Callable[[], Table]] = [partial(checks, repeats, short)]
    if chosen.against is not None:
        parts.append(partial(against, chosen.against, min(3, repeats), short))
    tables = [part() for part in parts]
    report(tables, chosen.json)
    sys.exit(not all(goal.met for table in tables for goal in table.goals if goal.check))


if __name__ == "__main__":
    main()
