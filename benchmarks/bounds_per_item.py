"""What bounds for each item are worth on a road network, and what they cost.

    python benchmarks/bounds_per_item.py [--quick] [--json]

A town of 32 x 32 crossings: streets, a diagonal in every block, 2,945 links in all; from one corner to the other. A
link takes its free-flow time, and by the formula of the US Bureau of Public Roads up to 1.76 times as much; one in ten
is never busy, so that its time is known. Regret is in minutes.

By hand: a user's wrapper learns x = (time - least) / (largest - least) of every link, on a solver that adds the
free-flow times back. It must decide the same, but for PooledCTS, which would learn from times that are known. In the
last table both sides do the same work: all bounds are equal but for one, by a trillionth, so that they are read item by
item.
"""

import argparse
import sys
from functools import partial
from typing import Any

import numpy as np

import semibandits as sb
from common import Goal, Table, in_turn, play, report, timed, top_k
from semibandits import environments, sets

SIDE = 32
WORST = 1.0 + 0.15 * 1.5**4
"""Of the free-flow time: with half as many cars again as a link is made for."""
POLICIES = [
    sb.policies.CombUCB1(),
    sb.policies.KLUCB(),
    sb.policies.EpsilonGreedy(init="optimistic"),
    sb.policies.PooledCTS(),
]
MOST = 1.15
"""How many times the time of a round with one pair of bounds one with bounds per item may take."""
LEAST = {"CombUCB1": 5.0, "KLUCB": 10.0}
"""How many times the regret with one pair is at least."""


class Town:
    """The network and its times."""

    def __init__(self) -> None:
        generator = np.random.default_rng(2026)
        at = [(x, y) for x in range(SIDE) for y in range(SIDE)]
        links = [((x, y), (x + 1, y)) for x, y in at if x < SIDE - 1]
        links += [((x, y), (x, y + 1)) for x, y in at if y < SIDE - 1]
        for x, y in at:
            if x < SIDE - 1 and y < SIDE - 1:
                falls = generator.random() < 0.5
                links.append(((x, y + 1), (x + 1, y)) if falls else ((x, y), (x + 1, y + 1)))
        self.streets = sets.Paths(links, (0, 0), (SIDE - 1, SIDE - 1), directed=False)
        length = generator.uniform(0.2, 1.0, len(links)) * np.where(
            np.arange(len(links)) < 2 * SIDE * (SIDE - 1), 1, 1.4
        )
        self.free = 60.0 * length / generator.choice([30.0, 50.0, 70.0], len(links))
        busy = generator.random(len(links)) >= 0.1
        load = generator.uniform(0.2, 1.2, len(links)) * busy
        self.quiet, self.rush = (self.free * (1.0 + 0.15 * (more * load) ** 4) for more in (0.75, 1.25))
        self.least, self.largest = self.free, np.where(busy, WORST * self.free, self.free)

    def problem(self, bounds: Any) -> sb.Problem:
        return sb.Problem(self.streets, environments.Uniform(self.quiet, self.rush, bounds), "min")

    def per_item(self) -> sb.Problem:
        return self.problem((self.least, self.largest))

    def one_pair(self) -> sb.Problem:
        return self.problem((0.0, float(self.largest.max())))

    def by_hand(self) -> sb.Problem:
        width = self.largest - self.least
        some = np.where(width > 0.0, width, 1.0)
        low, high = (
            np.where(width > 0.0, np.clip((ends - self.least) / some, 0.0, 1.0), 1.0)
            for ends in (self.quiet, self.rush)
        )

        def route(costs: Any) -> Any:
            return self.streets.argmax(-(self.least + width * np.clip(costs, 0.0, 1.0)))

        known = sets.Oracle(minimise=route, n_items=self.streets.n_items, max_size=self.streets.max_size)
        return sb.Problem(known, environments.Uniform(low, high, (0.0, 1.0)), "min")


def regret(town: Town, quick: bool) -> Table:
    horizon, runs = (200, 2) if quick else (10_000, 4)
    table = Table(f"regret after {horizon:,} rounds on {town.streets.n_items:,} links, minutes, {runs} runs")
    options: dict[str, Any] = {"horizon": horizon, "runs": runs, "seed": 0, "progress": False}
    wide, tight = (
        sb.simulate(problem, POLICIES, **options).regret[:, :, -1].mean(axis=1)
        for problem in (town.one_pair(), town.per_item())
    )
    for policy, one, own in zip(POLICIES, wide, tight, strict=True):
        name = type(policy).__name__
        row: dict[str, str | float] = {"policy": name, "one pair": one, "per item": own}
        table.rows.append(row | {"times less": one / own})
        if name in LEAST:
            table.goals.append(
                Goal(f"{name}: regret with one pair, times that per item", one / own, LEAST[name], False)
            )
    return table


def hand(town: Town, quick: bool) -> Table:
    horizon = 50 if quick else 400
    table = Table(f"done by hand: the same solutions in {horizon} rounds of 2 runs")
    options: dict[str, Any] = {"horizon": horizon, "runs": 2, "seed": 0, "record": "solutions", "progress": False}
    for policy in (sb.policies.CombUCB1(init="optimistic"), POLICIES[2]):
        ours, theirs = (sb.simulate(one, policy, **options).solutions for one in (town.per_item(), town.by_hand()))
        assert ours is not None
        assert theirs is not None
        same = float((ours == theirs).all(axis=(0, 1, 3)).mean())
        name = type(policy).__name__
        table.rows.append({"policy": name, "rounds alike": same})
        table.goals.append(Goal(f"{name}: share of rounds decided alike", same, 1.0, False, check=True))
    return table


def speed(town: Town, quick: bool) -> Table:
    table = Table("compiled, one thread: ns per round and run, 32 runs")
    lo, hi = np.zeros(town.streets.n_items), np.full(town.streets.n_items, float(town.largest.max()))
    hi[0] *= 1.0 + 1e-12
    places: dict[str, tuple[sb.Problem, sb.Problem, int]] = {
        "town": (town.one_pair(), town.problem((lo, hi)), 100 if quick else 400)
    }
    for name, feasible, rounds in (
        ("grid m = 8", sb.sets.GridPaths(8), 6_000),
        ("top 10 of 100", top_k(100, 10).feasible, 8_000),
        ("top 50 of 1,000", top_k(1000, 50).feasible, 800),
    ):
        n = feasible.n_items
        means = np.random.default_rng(0).uniform(0.2, 0.8, n)
        ends = np.zeros(n), np.full(n, 2.0)
        ends[1][0] *= 1.0 + 1e-12
        both = [sb.Problem(feasible, environments.Uniform(means, means + 0.5, bounds)) for bounds in ((0.0, 2.0), ends)]
        places[name] = (both[0], both[1], rounds // 20 if quick else rounds)
    for place, (pair, own, horizon) in places.items():
        for policy in (sb.policies.CombUCB1(), sb.policies.KLUCB(), sb.policies.PooledCTS()):
            again = [partial(play, problem, policy, horizon=horizon, runs=32) for problem in (pair, own)]
            for one in again:
                one()
            one_pair, per_item = (
                seconds / horizon / 32 * 1e9 for seconds in in_turn([timed(one) for one in again], 1 if quick else 7)
            )
            name = type(policy).__name__
            row: dict[str, str | float] = {"place": place, "policy": name, "one pair": one_pair, "per item": per_item}
            table.rows.append(row | {"times": per_item / one_pair})
            if not quick:
                table.goals.append(Goal(f"{name}, {place}: per item, times one pair", per_item / one_pair, MOST))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description="What bounds for each item are worth, and what they cost.")
    parser.add_argument("--quick", action="store_true", help="few rounds, only to see that all of it runs")
    parser.add_argument("--json", action="store_true", help="print a JSON document and nothing else")
    chosen = parser.parse_args()
    town = Town()
    tables = [regret(town, chosen.quick), hand(town, chosen.quick), speed(town, chosen.quick)]
    report(tables, chosen.json)
    sys.exit(not (chosen.quick or all(goal.met for table in tables for goal in table.goals)))


if __name__ == "__main__":
    main()
