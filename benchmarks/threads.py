"""Several threads on one learner whose solver takes long: the solver is outside of the lock.

The rival is what a user writes around a learner that is not made for threads, and what this one was: one lock around
every call, the solver's included. The solver waits and computes nothing, as one in another process or in C does.
"""

import statistics
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

import semibandits as sb
from common import machine

THREADS = (1, 2, 4, 8)
SOLVERS = (0.0001, 0.001, 0.01, 0.1)
SECONDS = 1.5
"""So long each cell is measured, at least."""
N_ITEMS, K = 50, 5


class Slow:
    """The best k items, after a while."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, weights: Any) -> Any:
        if self.seconds:
            time.sleep(self.seconds)
        return np.argpartition(weights, -K)[-K:]


def measured(threads: int, seconds: float, lock: AbstractContextManager[Any]) -> tuple[float, float, float]:
    """Decisions a second; the median and the longest of up to 20 tells meanwhile, in seconds."""
    solver = Slow()
    learner = sb.Learner(sb.sets.Oracle(solver, N_ITEMS, K), sb.policies.CombUCB1(init="optimistic"), seed=0)
    for _ in range(20):
        learner.tell(learner.ask().id, [0.5] * K)
    known = [learner.ask() for _ in range(20)]
    solver.seconds, ends, made = seconds, time.perf_counter() + max(SECONDS, 4 * seconds), [0] * threads

    def work(number: int) -> None:
        while time.perf_counter() < ends:
            with lock:
                decision = learner.ask()
            with lock:
                learner.tell(decision.id, [0.5] * K)
            made[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    began = time.perf_counter()
    for worker in workers:
        worker.start()
    waits = []
    for decision in known:
        time.sleep(SECONDS / 40)
        start = time.perf_counter()
        if start > ends:
            break
        with lock:
            learner.tell(decision.id, [0.5] * K)
        waits.append(time.perf_counter() - start)
    for worker in workers:
        worker.join()
    return sum(made) / (time.perf_counter() - began), statistics.median(waits), max(waits)


def main() -> None:
    print(
        "decisions a second (ask + tell), and how long a tell of another thread takes: median and longest of up to 20"
    )
    print(
        f"{'solver':>8} {'threads':>8} {'ours':>10} {'one lock':>10} {'ratio':>7}   ours: tell         one lock: tell"
    )
    for seconds in SOLVERS:
        for threads in THREADS:
            ours, median, longest = measured(threads, seconds, nullcontext())
            theirs, theirs_median, theirs_longest = measured(threads, seconds, threading.RLock())
            print(
                f"{seconds * 1e3:>5g} ms {threads:>8} {ours:>10,.1f} {theirs:>10,.1f} {ours / theirs:>7.2f}   "
                f"{median * 1e3:>6.3f}, {longest * 1e3:>7.2f} ms   {theirs_median * 1e3:>7.3f}, "
                f"{theirs_longest * 1e3:>7.2f} ms"
            )


if __name__ == "__main__":
    print(", ".join(f"{what} {found}" for what, found in machine().items()), "\n")
    main()
