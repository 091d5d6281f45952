"""What live use costs: `make bench`. Every figure is measured in this run, beside the rival it is compared with.

Of it have files of their own: `pauses` (an ask while code is compiled), `threads` (and a slow solver), `other_sets`
(per request), `bounds_per_item`.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import semibandits as sb
from common import in_turn, machine, timed


def played(n_items: int, k: int, rounds: int) -> tuple[sb.Learner, Callable[[], None]]:
    """A learner past its initialisation, and a function that plays one round of it."""
    learner = sb.Learner(sb.sets.TopK(n_items, k), sb.policies.CombUCB1())
    generator = np.random.default_rng(0)
    learner.observe(np.arange(n_items), generator.random(n_items))
    weights = generator.random((256, k))
    turn = iter(range(10**12))

    def play() -> None:
        decision = learner.ask()
        learner.tell(decision.id, weights[next(turn) & 255])

    for _ in range(rounds):
        play()
    return learner, play


def million_items() -> None:
    """ask + tell against the score arithmetic and NumPy's own selection on the same vector."""
    n_items, k = 1_000_000, 100
    learner, play = played(n_items, k, 3)
    means = learner.estimates
    widths = 1.0 / np.sqrt(learner.counts)
    factor = np.sqrt(1.5 * np.log(learner.round))

    def rival() -> None:
        scores = means + factor * widths
        np.argpartition(scores, n_items - k)[n_items - k :]

    ask_tell, floor = in_turn([timed(play), timed(rival)], 15)
    print(f"ask + tell on TopK(1_000_000, 100)                {ask_tell * 1e3:8.2f} ms")
    print(f"score arithmetic + numpy.argpartition             {floor * 1e3:8.2f} ms")
    print(f"  ratio                                           {ask_tell / floor:8.2f}     (goal: at most 2)")


def overhead() -> None:
    """What the learner adds to the arithmetic and the oracle at 100 items."""
    learner, play = played(100, 10, 1000)
    feasible = sb.sets.TopK(100, 10)
    means, widths = learner.estimates, 1.0 / np.sqrt(learner.counts)
    solve = timed(lambda: feasible.argmax(means + 3.0 * widths), 1000)
    ask_tell, bare = in_turn([timed(play, 1000), solve], 25)
    print(f"ask + tell on TopK(100, 10)                       {ask_tell * 1e6:8.2f} µs")
    print(f"score arithmetic + the set's argmax               {bare * 1e6:8.2f} µs")
    print(f"  the learner itself                              {(ask_tell - bare) * 1e6:8.2f} µs  (goal: under 20)")


def random_graph(nodes: int, edges: int) -> list[tuple[int, int]]:
    """A path through all nodes, and other edges at random."""
    generator = np.random.default_rng(0)
    found = {(node, node + 1) for node in range(nodes - 1)}
    while len(found) < edges:
        a, b = sorted(generator.choice(nodes, 2, replace=False).tolist())
        found.add((a, b))
    return sorted(found)


def played_live(problem: sb.Problem, policy: sb.IndexPolicy, rounds: int) -> Callable[[], None]:
    """The same rounds as run 0 of a simulation, by a learner in a loop."""

    def play() -> None:
        learner = sb.Learner(problem.feasible, policy, sense=problem.sense, seed=0, uncovered="ignore")
        for round in range(1, rounds + 1):
            decision = learner.ask()
            key = sb.rng.key(seed=0, run=0, round=round, stream=sb.rng.WORLD)
            learner.tell(decision.id, problem.environment.weights(round, key, decision.items))

    return play


def one_run() -> None:
    """A simulation of one run of a large problem, the whole call, against live use of the same rounds."""
    rounds = {
        "grid path, m = 20": (sb.sets.GridPaths(20), "max", 10_000),
        "grid path, m = 30": (sb.sets.GridPaths(30), "max", 5_000),
        "top 50 of 10,000": (sb.sets.TopK(10_000, 50), "max", 3_000),
        "spanning tree, 2,000 edges": (sb.sets.GraphicMatroid(random_graph(500, 2_000)), "max", 3_000),
        "assignment, 50 x 50": (sb.sets.Assignment(50, 50), "max", 3_000),
        "path, 3,000 links": (sb.sets.Paths(random_graph(1_000, 3_000), 0, 999), "min", 3_000),
    }
    print("one run: µs per round                             simulated     live    ratio  (goal: at most 1)")
    for name, (feasible, sense, horizon) in rounds.items():
        world = sb.environments.Bernoulli(np.random.default_rng(0).random(feasible.n_items))
        problem = sb.Problem(feasible, world, sense)
        for policy in (sb.policies.CombUCB1(), sb.policies.CTS()):
            live = played_live(problem, policy, horizon)
            simulated = partial(
                sb.simulate, problem, policy, horizon=horizon, runs=1, seed=0, uncovered="ignore", engine="compiled"
            )
            simulated(), live()  # compiles
            ours, theirs = in_turn([timed(simulated), timed(live)], 5)
            figures = f"{ours / horizon * 1e6:9.1f} {theirs / horizon * 1e6:8.1f} {ours / theirs:8.2f}"
            print(f"  {name + ', ' + type(policy).__name__:<47} {figures}")


def fresh_process(code: str, cold: bool) -> float:
    """Seconds for a new interpreter to run this code; cold: without any compiled bytecode."""
    times = []
    for _ in range(9):
        with tempfile.TemporaryDirectory() as folder:
            env = {**os.environ, "PYTHONPYCACHEPREFIX": folder} if cold else dict(os.environ)
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env=env, check=True)
            times.append(time.perf_counter() - start)
    return statistics.median(times)


EVERYTHING = "import numpy, semibandits as sb; [getattr(sb, name) for name in sb.__all__]"
HELP = "import os, sys; sys.stdout = open(os.devnull, 'w'); from semibandits.cli import main; main(['--help'])"
FIRST_ASK = "import semibandits as sb; sb.Learner({feasible}, sb.policies.CombUCB1()).ask()"


def start() -> None:
    """From nothing to the first decision."""
    numpy_only = fresh_process("import numpy", cold=False)
    imported, used = (fresh_process(code, cold=False) for code in ("import numpy, semibandits", EVERYTHING))
    helped = fresh_process(HELP, cold=False)
    print(f"import numpy, in a fresh process                  {numpy_only * 1e3:8.1f} ms")
    print(
        f"import semibandits adds                           {(imported - numpy_only) * 1e3:8.1f} ms  (goal: under 150)"
    )
    print(f"all that is public, once it is used, adds         {(used - numpy_only) * 1e3:8.1f} ms")
    print(f"semibandits --help, in a fresh process            {helped * 1e3:8.1f} ms  (goal: under 150)")
    for feasible in ("sb.sets.TopK(1000, 10)", "sb.sets.Enumerated([[0, 1], [2]])", "sb.sets.GridPaths(8)"):
        code = FIRST_ASK.format(feasible=feasible)
        warm, cold = (fresh_process(code, cold) for cold in (False, True))
        print(f"process to first ask, {feasible[8:]:<27} {warm * 1e3:8.1f} ms  (without bytecode: {cold * 1e3:.0f} ms)")


if __name__ == "__main__":
    print(", ".join(f"{what} {found}" for what, found in machine().items()), "\n")
    million_items()
    print()
    overhead()
    print()
    one_run()
    print()
    start()
