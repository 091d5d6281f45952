"""What each index policy costs in a round, compiled and live, beside CombUCB1.

    python benchmarks/policies.py [--quick] [--json]

Compiled: one thread, 32 runs side by side, whole calls of `simulate`, in turn with CombUCB1. Live: `ask` and `tell` of
a learner on the top 10 of 100 items, once formulas that are slow as NumPy code have been compiled.
"""

import argparse
import sys
import time
from functools import partial

import numpy as np

import semibandits as sb
from common import Goal, Table, in_turn, play, report, timed, top_k

LANES = 32
PLACES = {
    "grid m = 4": (sb.problems.grid_path(4, 0.2), 20_000),
    "grid m = 8": (sb.problems.grid_path(8, 0.2), 6_000),
    "top 4 of 20": (top_k(20, 4), 40_000),
    "top 10 of 100": (top_k(100, 10), 8_000),
    "top 50 of 1,000": (top_k(1000, 50), 800),
}
POLICIES: list[sb.IndexPolicy] = [
    sb.policies.KLUCB(),
    sb.policies.CTS(),
    sb.policies.GaussianCTS(),
    sb.policies.BGCTS(),
    sb.policies.CLSG(),
    sb.policies.UCBV(),
    sb.policies.CMOSS(),
    sb.policies.SlidingWindow(1_000),
    sb.policies.Discounted(0.999),
    sb.policies.EpsilonGreedy(),
    sb.policies.ExploreThenCommit(),
    sb.policies.Random(),
]
MOST = {"grid": 30.0, "top": 12.0}
"""How many times CombUCB1's time KLUCB may take."""


def compiled(quick: bool) -> Table:
    table = Table("compiled, one thread: ns per round and run, and how many times CombUCB1's")
    rows: dict[str, dict[str, str | float]] = {}
    for place, (problem, whole) in PLACES.items():
        horizon, repeats = (whole // 20, 1) if quick else (whole, 5)
        everybody = [sb.policies.CombUCB1(), *POLICIES]
        measurements = []
        for policy in everybody:
            again = partial(play, problem, policy, horizon=horizon, runs=LANES)
            again()
            measurements.append(timed(again))
        times = [seconds / horizon / LANES * 1e9 for seconds in in_turn(measurements, repeats)]
        for policy, ns in zip(everybody, times, strict=True):
            row = rows.setdefault(type(policy).__name__, {"policy": type(policy).__name__})
            row[place], row[f"{place}, times"] = ns, ns / times[0]
            if isinstance(policy, sb.policies.KLUCB):
                table.goals.append(Goal(f"KLUCB, {place}: times CombUCB1's", ns / times[0], MOST[place.split()[0]]))
    table.rows.extend(rows.values())
    return table


def live(quick: bool) -> Table:
    table = Table("live, top 10 of 100 items: µs of ask and tell")
    rounds, repeats = (50, 1) if quick else (500, 7)
    policies = [sb.policies.CombUCB1(), *POLICIES]
    told = np.random.default_rng(0).integers(0, 2, 10).astype(np.float64)

    def rounds_of(learner: sb.Learner) -> None:
        for _ in range(rounds):
            learner.tell(learner.ask().id, told)

    playable = [policy for policy in policies if not policy.needs_horizon]
    learners = [sb.Learner(sb.sets.TopK(100, 10), policy, seed=0) for policy in playable]
    for learner in learners:  # until what is slow has been compiled
        began = time.perf_counter()
        while time.perf_counter() - began < (0.0 if quick else 2.0):
            rounds_of(learner)
    times = in_turn([timed(partial(rounds_of, learner)) for learner in learners], repeats)
    for policy, seconds in zip(playable, times, strict=True):
        table.rows.append({"policy": type(policy).__name__, "µs": seconds / rounds * 1e6})
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="What each index policy costs in a round.")
    parser.add_argument("--quick", action="store_true", help="few rounds, only to see that all of it runs")
    parser.add_argument("--json", action="store_true", help="print a JSON document and nothing else")
    chosen = parser.parse_args()
    tables = [compiled(chosen.quick), live(chosen.quick)]
    report(tables, chosen.json)
    sys.exit(not (chosen.quick or all(goal.met for table in tables for goal in table.goals)))


if __name__ == "__main__":
    main()
