"""How long an `ask` takes while code is compiled: in the background, in the call itself, and never.

Every game runs in a process of its own with an empty cache: from a new learner on, a decision is asked for and told,
one after the other without a rest, until everything is machine code. So the thread that asks leaves the compiler
nothing but what it takes.

Where other programs are at work, both threads wait for a core now and then: "without" is what is left of an ask without
that (Linux tells), which is somewhat too little, as both may wait at once.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import Goal, Table, report

LIMIT = 5.0
"""Times the median: the most for 999 of 1,000 asks."""
PLAIN = 4.0
"""Seconds for which plain code is measured."""
LONGEST = 240.0
"""Seconds of a game at most."""
NAMES = ("spanning tree, 2000 edges", "assignment 30 x 30", "paths, 3000 links", "top 20 of 1000")
WAYS = ("background", "in the call", "never")


def learner(name: str, compile: bool) -> Any:
    import semibandits as sb

    numbers = np.random.default_rng(0)
    if name == "top 20 of 1000":
        return sb.Learner(sb.sets.TopK(1000, 20), seed=1, compile=compile)
    if name == "assignment 30 x 30":
        return sb.Learner(sb.sets.Assignment(30, 30), seed=1, compile=compile)
    nodes, count = (400, 2000) if name.startswith("spanning") else (600, 3000)
    edges = [(node, int(numbers.integers(0, node))) for node in range(1, nodes)]
    while len(edges) < count:
        a, b = (int(node) for node in numbers.integers(0, nodes, 2))
        edges += [(a, b)] if a != b else []
    if name.startswith("spanning"):
        return sb.Learner(sb.sets.GraphicMatroid(edges), seed=1, compile=compile)
    roads = sb.sets.Paths(edges, 0, nodes - 1, directed=False)
    return sb.Learner(roads, sense="min", seed=1, compile=compile)


def waited(thread: threading.Thread | None) -> float:
    """Seconds that a thread has waited for a core, where the system tells."""
    try:
        text = Path(f"/proc/self/task/{thread.native_id if thread else 0}/schedstat").read_text()
    except OSError:
        return 0.0
    return int(text.split()[1]) / 1e9


def play(name: str, way: str) -> dict[str, Any]:
    """Of the asks while code was compiled, and in the call for a second more: how many, their seconds, and in all."""
    from semibandits.kernel import background, warm

    if way == "in the call":
        warm.Warm._ask = lambda self, plain, compiled, arguments, kind: self._go_over(plain, compiled, arguments, None)
    one, numbers, seconds = learner(name, way != "never"), np.random.default_rng(2), []
    both = [one._agent._score.warm, one.feasible._live._run.__self__]
    began, last, compiling_for, without = time.perf_counter(), 0.0, 0.0, []
    mine = threading.current_thread()
    while True:
        before = time.perf_counter()
        if before - began > (PLAIN if way == "never" else LONGEST):
            break
        ready = sum(code.code is not None for code in both)
        asked = sum(bool(code._asked) for code in both)
        worker = background._worker.thread if background._worker else None
        cores = waited(mine) + waited(worker)
        before = time.perf_counter()
        decision = one.ask()
        now = time.perf_counter()
        cores = waited(mine) + waited(worker) - cores
        one.tell(decision.id, numbers.random(decision.items.size))
        at_once = way == "in the call" and sum(code.code is not None for code in both) > ready
        compiling = at_once or (way == "background" and asked > ready)
        if compiling:
            last, compiling_for = now, compiling_for + now - before
        if compiling or way == "never" or (way == "in the call" and last and now - last < 1.0):
            seconds.append(now - before)
            without.append(now - before - cores)
        elif ready == len(both):
            break
    assert all(not code.refused for code in both)
    background.wait()
    return {"seconds": seconds, "without": without, "compiling": compiling_for}


def alone(name: str, way: str) -> dict[str, Any]:
    """The same in a process of its own, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SEMIBANDITS_CACHE": folder}
        command = [sys.executable, __file__, "--game", name, "--way", way]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(only: str) -> Table:
    table = Table("Milliseconds of an ask: while code is compiled in the background, or in the call; and of plain code")
    for name in NAMES:
        if only not in name:
            continue
        for way in WAYS:
            found = alone(name, way)
            median, *tail = np.quantile(found["seconds"], (0.5, 0.99, 0.999, 1.0)) * 1e3
            table.rows.append(
                {
                    "game": name,
                    "compiled": way,
                    "asks": len(found["seconds"]),
                    "p50": median,
                    "p99": tail[0],
                    "p99.9": tail[1],
                    "most": tail[2],
                    "p99.9 without": np.quantile(found["without"], 0.999) * 1e3,
                    "p99.9 / p50": tail[1] / median,
                    "seconds": found["compiling"],
                }
            )
            if way == "background":
                table.goals.append(Goal(f"{name}: p99.9 / p50", tail[1] / median, LIMIT))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="numbers alone")
    parser.add_argument("--only", default="", help="games whose name contains this")
    parser.add_argument("--game", help="one game, here: its numbers alone")
    parser.add_argument("--way", choices=WAYS, default=WAYS[0])
    arguments = parser.parse_args()
    if arguments.game:
        json.dump(play(arguments.game, arguments.way), sys.stdout)
    else:
        report([measure(arguments.only)], arguments.json)


if __name__ == "__main__":
    main()
