"""Many children, forked while other threads simulate, ask, import the compiler and compile."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.forking import MARKS

pytestmark = MARKS

CAMPAIGN = """
import os, signal, sys, threading, time, warnings
import semibandits as sb

warnings.simplefilter("ignore", DeprecationWarning)


def simulate(seed):
    problem = sb.problems.grid_path(2 + seed % 3, 0.3)
    sb.simulate(problem, sb.policies.CombUCB1(), horizon=300, runs=10, seed=seed, threads=1, engine="compiled")


def keep_simulating(seed):
    while True:
        simulate(seed)
        seed += 3


def keep_asking():
    while True:
        shared.tell(shared.ask().id, [0.5] * 5)


def use(number):
    if number % 3 == 0:
        simulate(number)
    elif number % 3 == 1:
        shared.tell(shared.ask().id, [0.5] * 5)
    else:
        learner = sb.Learner(tree, sb.policies.CombUCB1(), seed=0)
        for _ in range(20):
            decision = learner.ask()
            learner.tell(decision.id, [0.5] * decision.items.size)


simulate(0)
shared = sb.Learner(sb.sets.TopK(50, 5), sb.policies.CombUCB1(), seed=0)
tree = sb.sets.GraphicMatroid([(a, b) for a in range(8) for b in range(a)])
for work in [*(lambda seed=seed: keep_simulating(seed) for seed in range(3)), keep_asking, lambda: use(2)]:
    threading.Thread(target=work, daemon=True).start()
bad = 0
for number in range(300):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            use(number)
            status = 0
        finally:
            os._exit(status)
    ends = time.monotonic() + 60
    while (done := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < ends:
        time.sleep(0.002)
    if done == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    bad += done == (0, 0) or done[1] != 0
    if bad > 3:
        break
print(bad, flush=True)
os._exit(0)
"""


COLD = """
import os, signal, sys, threading, time, warnings
import numpy as np
import semibandits as sb

warnings.simplefilter("ignore", DeprecationWarning)
learners = [
    sb.Learner(sb.sets.Knapsack([1, 2, 3, 4, 5], 7), sb.policies.CTS()),
    sb.Learner(sb.sets.TopK(5, 2), sb.policies.OSMD(eta=0.1)),
    sb.Learner(sb.sets.Enumerated([[0, 1], [2, 3], [3, 4]]), sb.policies.HYBRID()),
]


def use(learner):
    decision = learner.ask()
    learner.tell(decision.id, np.full(decision.items.size, 0.5))


def keep_using(learner):
    while True:
        use(learner)


for learner in learners:
    threading.Thread(target=keep_using, args=(learner,), daemon=True).start()
bad = 0
for _ in range(12):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        for learner in learners:
            use(learner)
        os._exit(0)
    bad += os.waitpid(child, 0)[1] != 0
print(bad, flush=True)
os._exit(0)
"""


@pytest.mark.long
def test_children_while_threads_import_the_compiler_and_compile(tmp_path: Path) -> None:
    options: Any = {"env": {**os.environ, "SEMIBANDITS_CACHE": str(tmp_path)}, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, "-c", COLD], timeout=900, **options)
    assert done.stdout == "0\n", done.stderr[-2000:]
    assert "Error" not in done.stderr


@pytest.mark.long
def test_many_children_while_threads_simulate() -> None:
    done = subprocess.run([sys.executable, "-c", CAMPAIGN], capture_output=True, text=True, timeout=900)
    assert done.stdout == "0\n", done.stderr[-2000:]
