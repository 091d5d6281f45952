"""What each policy costs in a round, compiled and live, beside CombUCB1.

    python benchmarks/policies.py [--quick] [--json]

Compiled: one thread, whole calls of `simulate`, in turn with CombUCB1; index policies play 32 runs side by side, those
that choose whole solutions one run after the other. Live: `ask` and `tell` of a learner on the top 10 of 100 items,
once what is slow as plain code has been compiled.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np

import semibandits as sb
from common import Goal, Table, in_turn, play, report, timed, top_k
from semibandits.errors import Unsupported

EngineName = Literal["compiled", "plain"]
AnyPolicy = sb.IndexPolicy | sb.Policy
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
    sb.policies.PooledCTS(),
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
WIDE_PLACES = ("grid m = 4", "top 4 of 20", "top 10 of 100")
ROUNDS = {"compiled": 5_000, "plain": 500}
"""Of policies that choose whole solutions: the same everywhere, since some cost more the longer they play."""
LEAST_SECONDS = 0.1
"""That a measurement of these takes, in as many runs as it needs."""
MOST = {"grid": 30.0, "top": 12.0}
"""How many times CombUCB1's time KLUCB may take."""


def wide(n_items: int, eta: float | None = None) -> dict[str, sb.Policy]:
    """Policies that choose whole solutions; eta: for those that need it where no horizon is known."""
    features = np.random.default_rng(0).normal(size=(n_items, 10))
    return {
        "ESCB": sb.policies.ESCB(),
        "OLSUCB": sb.policies.OLSUCB(),
        "OFUL": sb.policies.OFUL(),
        "LinUCB": sb.policies.LinUCB(),
        "COMBAND": sb.policies.COMBAND(eta=eta),
        "CombLinUCB": sb.policies.CombLinUCB(features),
        "CombLinTS": sb.policies.CombLinTS(features),
        "HYBRID": sb.policies.HYBRID(),
        "OSMD": sb.policies.OSMD(eta=eta),
        'OSMD("inf")': sb.policies.OSMD("inf", eta=eta),
        "FPL": sb.policies.FPL(eta=eta),
    }


def accepted(policies: dict[str, sb.Policy], feasible: sb.FeasibleSet) -> dict[str, AnyPolicy]:
    """CombUCB1, and those that can play on that set."""
    found: dict[str, AnyPolicy] = {"CombUCB1": sb.policies.CombUCB1()}
    for name, policy in policies.items():
        try:
            policy.check(feasible)
        except Unsupported:
            continue
        found[name] = policy
    return found


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


def whole_solutions(quick: bool) -> Table:
    table = Table("policies that choose whole solutions, one thread: ns per round, times CombUCB1's; live, µs")
    rows: dict[str, dict[str, str | float]] = {}
    for place in WIDE_PLACES:
        problem = PLACES[place][0]
        everybody = accepted(wide(problem.n_items), problem.feasible)
        measurements = [ns_per_round(problem, policy, quick) for policy in everybody.values()]
        times = in_turn([measure for measure, _ in measurements], 1 if quick else 5)
        for name, ns, (_, engine) in zip(everybody, times, measurements, strict=True):
            row = rows.setdefault(name, {"policy": name})
            row[place], row[f"{place}, times"] = ns, ns / times[0]
            if engine == "plain":
                table.notes.append(f"{name}, {place}: by the plain loop")
    playable = accepted(wide(100, eta=0.01), PLACES["top 10 of 100"][0].feasible)
    for name, us in zip(playable, live_times(list(playable.values()), quick), strict=True):
        rows[name]["live, µs"] = us
    table.rows.extend(rows.values())
    return table


def ns_per_round(problem: sb.Problem, policy: AnyPolicy, quick: bool) -> tuple[Callable[[], float], EngineName]:
    """A measurement, with everything compiled and of so many runs that it is long enough; and what plays."""
    call = partial(sb.simulate, problem, policy, seed=0, threads=1, progress=False)
    engine: EngineName = "compiled"
    try:
        call(horizon=100, runs=1, engine=engine)
    except Unsupported:  # it has no text for the compiler on this set
        engine = "plain"
    horizon = ROUNDS[engine] // (50 if quick else 1)
    again = partial(call, horizon=horizon, engine=engine)
    runs = LANES if isinstance(policy, sb.IndexPolicy) else 1
    while timed(partial(again, runs=runs))() < LEAST_SECONDS and not quick:
        runs *= 2
    return lambda: timed(partial(again, runs=runs))() / horizon / runs * 1e9, engine


def live(quick: bool) -> Table:
    table = Table("live, top 10 of 100 items: µs of ask and tell")
    playable = [policy for policy in (sb.policies.CombUCB1(), *POLICIES) if not policy.needs_horizon]
    for policy, us in zip(playable, live_times(playable, quick), strict=True):
        table.rows.append({"policy": type(policy).__name__, "µs": us})
    return table


def live_times(policies: Sequence[AnyPolicy], quick: bool) -> list[float]:
    """µs of ask and tell on the top 10 of 100 items."""
    rounds, repeats = (50, 1) if quick else (500, 7)
    problem = PLACES["top 10 of 100"][0]
    coins = np.random.default_rng(0).random((rounds, problem.n_items)) < problem.means

    def rounds_of(learner: sb.Learner) -> None:
        for row in coins.astype(np.float64):
            decision = learner.ask()
            learner.tell(decision.id, row[decision.items])

    learners = [sb.Learner(problem.feasible, policy, seed=0) for policy in policies]
    for learner in learners:  # until what is slow has been compiled
        began = time.perf_counter()
        while time.perf_counter() - began < (0.0 if quick else 4.0):
            rounds_of(learner)
    times = in_turn([timed(partial(rounds_of, learner)) for learner in learners], repeats)
    return [seconds / rounds * 1e6 for seconds in times]


def main() -> None:
    parser = argparse.ArgumentParser(description="What each policy costs in a round.")
    parser.add_argument("--quick", action="store_true", help="few rounds, only to see that all of it runs")
    parser.add_argument("--json", action="store_true", help="print a JSON document and nothing else")
    chosen = parser.parse_args()
    tables = [compiled(chosen.quick), live(chosen.quick), whole_solutions(chosen.quick)]
    report(tables, chosen.json)
    sys.exit(not (chosen.quick or all(goal.met for table in tables for goal in table.goals)))


if __name__ == "__main__":
    main()
