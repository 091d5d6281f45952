"""Files of an earlier version: saved learners, stores, a result folder, specifications, and what was read from them.

    PYTHONPATH=<the version before>/src python tests/data/before/make.py

It was run once, with 0.1.0 as it stood before modules were moved (commit 4438b4e). Run it with a later version, and
`test_earlier_files.py` tests nothing any more. Of this package it uses what users use.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import semibandits as sb
from semibandits import environments, policies, sets

HERE = Path(__file__).parent
LEARNERS, STORES, RESULTS = HERE / "learners", HERE / "stores", HERE / "results"
EXPECTED, SPECIFICATIONS = HERE / "expected.json", HERE / "specifications.json"
ROUNDS, MORE = 21, 20
EXPERIMENT = """title = "Slots"
horizon = 60
runs = 2
checkpoints = [20, 60]

[problem]
sense = "min"

[problem.set]
kind = "TopK"
n_items = 5
k = 2

[problem.environment]
kind = "Uniform"
low = [0.0, 1.0, 2.0, 1.5, 0.5]
high = [3.0, 3.0, 4.0, 4.0, 2.0]
bounds = [0.0, 5.0]

[[policies]]
name = "CombUCB1"

[[policies]]
name = "ESCB"
c = 0.0

[sweep]
problem.set.k = [1, 2]
"""
STREETS = [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d"), ("c", "e"), ("d", "f"), ("e", "f"), ("b", "e")]

SETS: dict[str, Callable[[], sb.FeasibleSet]] = {
    "slots": lambda: sets.TopK(6, 2),
    "groups": lambda: sets.PartitionMatroid(["x", "x", "y", "y", "y", "z", "z"], {"x": 1, "y": 2, "z": 1}),
    "nested": lambda: sets.LaminarMatroid(7, [(range(7), 3), ([0, 1], 1), ([2, 3, 4], 2)]),
    "trees": lambda: sets.GraphicMatroid(STREETS),
    "roads": lambda: sets.DagPaths(STREETS, "a", "f"),
    "grid": lambda: sets.GridPaths(2),
    "disjoint": lambda: sets.KPaths(6, 2),
    "ways": lambda: sets.Paths(STREETS, "a", "f", directed=False),
    "pairs": lambda: sets.Assignment(["p", "q"], ["1", "2", "3"], forbidden=[("q", "3")]),
    "shared": lambda: sets.BMatching(3, 2, row_capacities=1, column_capacities=2),
    "budget": lambda: sets.Knapsack([4, 3, 3, 2, 5, 1], 6),
    "greedy": lambda: sets.GreedyKnapsack([4, 3, 3, 2, 5, 1], 6),
    "listed": lambda: sets.Enumerated([[0, 1], [0], [1, 2], [3, 4], [2, 3], [1, 3, 4], [2, 4]]),
    "two": lambda: sets.Product(sets.TopK(4, 2), sets.DagPaths(STREETS, "a", "f")),
    "part": lambda: sets.GridPaths(2).restrict(exclude=[3]),
}
COSTS_ONLY = ("ways",)


class Kept(NamedTuple):
    """A learner that was saved: its set, its policy, and how it was made."""

    feasible: str
    policy: sb.IndexPolicy | sb.Policy
    how: dict[str, Any] = {}  # noqa: RUF012 (nobody writes to it)
    given: bool = False
    """Whether the policy must be given again."""


class HalfRandom(sb.Policy):
    """A user's own policy, with a note."""

    needs_note = True

    def start(self, game: Any, feasible: Any) -> Any:
        return (np.zeros(game.n_items),)

    def choose(self, state: Any, feasible: Any, round: Any, key: Any) -> Any:
        noise = sb.rng.uniform(key, np.arange(feasible.n_items, dtype=np.uint64))
        items = feasible.argmax(noise - state[0])
        return items, 0.5 + 0.5 * noise[items]

    def learn(self, state: Any, feasible: Any, round: Any, items: Any, weights: Any, note: Any, key: Any) -> Any:
        losses = state[0].copy()
        losses[items] += 0.1 * (1.0 - weights) / note
        return (losses,)


COSTS: dict[str, Any] = {"sense": "min", "bounds": (-2.0, 5.0)}
MINUTES: dict[str, Any] = {"sense": "min", "bounds": (0.0, 60.0)}
NAMES = [f"page {item}" for item in range(6)]
FEATURES = np.column_stack([np.ones(12), np.linspace(0.0, 1.0, 12), np.linspace(0.0, 1.0, 12) ** 2])
BANDIT: dict[str, Any] = {"feedback": "bandit"}
KEPT = {
    "CombUCB1": Kept("grid", policies.CombUCB1()),
    "CombUCB1-labels": Kept("roads", policies.CombUCB1(alpha=0.5, init="all"), COSTS),
    "KLUCB-named": Kept("slots", policies.KLUCB(), {**COSTS, "labels": NAMES}),
    "CTS": Kept("trees", policies.CTS(), MINUTES),
    "GaussianCTS": Kept("pairs", policies.GaussianCTS(sigma=0.2)),
    "UCBV": Kept("budget", policies.UCBV()),
    "CMOSS": Kept("slots", policies.CMOSS(anytime=True)),
    "OMM": Kept("nested", policies.OMM()),
    "SlidingWindow": Kept("slots", policies.SlidingWindow(10)),
    "Discounted": Kept("groups", policies.Discounted(0.9), COSTS),
    "EpsilonGreedy": Kept("ways", policies.EpsilonGreedy(0.3), MINUTES),
    "ExploreThenCommit": Kept("two", policies.ExploreThenCommit(15)),
    "Fixed": Kept("slots", policies.Fixed([1, 3])),
    "ESCB": Kept("grid", policies.ESCB(c=0.0)),
    "ESCB-approximate": Kept("slots", policies.ESCB("approximate", c=0.0, steps=50), COSTS),
    "OLSUCB": Kept("groups", policies.OLSUCB()),
    "CombLinUCB": Kept("grid", policies.CombLinUCB(FEATURES), given=True),
    "CombLinTS": Kept("grid", policies.CombLinTS(FEATURES), given=True),
    "HYBRID": Kept("slots", policies.HYBRID(), COSTS),
    "HYBRID-listed": Kept("listed", policies.HYBRID()),
    "OSMD": Kept("groups", policies.OSMD("inf", eta=0.1)),
    "OSMD-listed": Kept("listed", policies.OSMD(eta=0.1)),
    "FPL": Kept("ways", policies.FPL(eta=0.05), MINUTES),
    "OFUL": Kept("slots", policies.OFUL(), {**BANDIT, **COSTS}),
    "LinUCB": Kept("groups", policies.LinUCB(), BANDIT),
    "COMBAND": Kept("listed", policies.COMBAND(eta=0.02), BANDIT),
    "HalfRandom": Kept("slots", HalfRandom(), given=True),
}


class Simulated(NamedTuple):
    """What a store holds."""

    problem: sb.Problem
    policies: list[sb.IndexPolicy | sb.Policy]
    how: dict[str, Any]

    def play(self, folder: Path, **more: Any) -> sb.SimulationResult:
        given = {"horizon": 80, "runs": 3, "seed": 5, "checkpoints": [20, 80], "progress": False, **self.how, **more}
        return sb.simulate(self.problem, self.policies, store=folder, **given)


def simulated() -> dict[str, Simulated]:
    costs = environments.Uniform(np.linspace(-2.0, 3.0, 6), np.linspace(0.0, 5.0, 6), bounds=(-2.0, 5.0))
    minutes = environments.Gaussian(np.linspace(10.0, 50.0, 9), sigma=5.0, bounds=(0.0, 60.0))
    first_two: list[sb.IndexPolicy | sb.Policy] = [policies.CombUCB1(), policies.CTS()]
    whole: list[sb.IndexPolicy | sb.Policy] = [policies.ESCB(c=0.0), policies.HYBRID(), policies.LinUCB()]
    sums: list[sb.IndexPolicy | sb.Policy] = [policies.LinUCB(), policies.OFUL()]
    ways = sb.Problem(SETS["ways"](), minutes, sense="min")
    return {
        "grid": Simulated(sb.problems.grid_path(2, 0.4), first_two, {"engine": "compiled", "record": "counts"}),
        "costs": Simulated(sb.Problem(SETS["slots"](), costs, sense="min"), whole, {"record": ["sums", "solutions"]}),
        "two": Simulated(
            sb.Problem(SETS["two"](), environments.Bernoulli(np.linspace(0.1, 0.9, 13))),
            [policies.EpsilonGreedy(), policies.SlidingWindow(30)],
            {"record": "counts"},
        ),
        "ways": Simulated(ways, [policies.KLUCB(), policies.FPL()], {"regret": "realised"}),
        "sums": Simulated(sb.problems.k_path(6, 2, 0.5), sums, {"feedback": "bandit"}),
        "changing": Simulated(
            sb.Problem(
                SETS["slots"](), environments.Drifting([np.linspace(0, 1, 6), np.linspace(1, 0, 6)], starts=[1, 40])
            ),
            [policies.Discounted(0.9), policies.KLUCB()],
            {"regret": "static"},
        ),
    }


def weights_of(decision: sb.Decision, bounds: tuple[float, float]) -> Any:
    """What the chosen items are worth: another number for every round and item."""
    low, high = bounds
    share = (7.0 * decision.items + 3.0 * decision.round) % 11.0 / 11.0
    return low + (high - low) * (0.8 * decision.items / (1.0 + decision.items) + 0.2 * share)


def tell(learner: sb.Learner, decision: sb.Decision, how: dict[str, Any]) -> None:
    weights = weights_of(decision, how.get("bounds", (0.0, 1.0)))
    learner.tell(decision.id, weights.sum() if how.get("feedback") == "bandit" else weights)


def live(kept: Kept) -> sb.Learner:
    """After some rounds. Every seventh decision still waits, others were told in part or given up."""
    learner = sb.Learner(SETS[kept.feasible](), kept.policy, seed=9, **kept.how)
    for _ in range(ROUNDS):
        decision = learner.ask()
        if decision.round % 13 == 0:
            learner.cancel(decision.id)
        elif decision.round % 7:
            tell(learner, decision, kept.how)
        elif kept.how.get("feedback") != "bandit" and decision.items.size > 1:
            first = int(decision.items[0])
            learner.tell(decision.id, {first: weights_of(decision, kept.how.get("bounds", (0.0, 1.0)))[0]})
    return learner


def loaded(path: Path, kept: Kept) -> sb.Learner:
    return sb.Learner.load(path, SETS[kept.feasible](), kept.policy if kept.given else None)


def known(learner: sb.Learner) -> dict[str, Any]:
    """What it says of itself, as JSON can say it."""
    return {
        "round": learner.round,
        "labels": list(learner.labels),
        "counts": learner.counts.tolist(),
        "estimates": [None if number != number else number for number in learner.estimates.tolist()],
        "outstanding": [[one.id, one.round, one.items.tolist()] for one in learner.outstanding],
    }


def goes_on(learner: sb.Learner, kept: Kept) -> list[list[int]]:
    """The next decisions, while late feedback arrives."""
    late, decided = learner.outstanding, []
    for round in range(MORE):
        if round < len(late):
            weights = weights_of(late[round], kept.how.get("bounds", (0.0, 1.0)))
            learner.tell(late[round].id, weights.sum() if kept.how.get("feedback") == "bandit" else weights)
        decision = learner.ask()
        decided.append(decision.items.tolist())
        tell(learner, decision, kept.how)
    return decided


def arrays(result: sb.SimulationResult) -> dict[str, Any]:
    """The numbers of a simulation, and how long they took when they were played."""
    found = {name: getattr(result, name) for name in ("regret", "rounds", "counts", "sums", "solutions")}
    told = {name: None if array is None else array.tolist() for name, array in found.items()}
    return {**told, "kind": result.kind, "seconds_per_round": result.provenance["seconds_per_round"]}


def answers(name: str, feasible: sb.FeasibleSet) -> list[list[int]]:
    chance, sign = np.random.default_rng(8), -1.0 if name in COSTS_ONLY else 1.0
    return [feasible.argmax(sign * chance.random(feasible.n_items)).tolist() for _ in range(10)]


def run_experiment(folder: Path) -> subprocess.CompletedProcess[str]:
    """`semibandits run` in a folder that has the experiment's file."""
    line = [sys.executable, "-m", "semibandits", "run", "experiment.toml", "--out", "results", "--no-report"]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)


def main() -> None:
    for folder in (LEARNERS, STORES, RESULTS):
        shutil.rmtree(folder, ignore_errors=True)
    LEARNERS.mkdir()
    expected: dict[str, Any] = {"learners": {}, "stores": {}, "specifications": {}}
    for name, kept in KEPT.items():
        path = LEARNERS / f"{name}.json"
        live(kept).save(path)
        learner = loaded(path, kept)
        before = known(learner)
        expected["learners"][name] = {**before, "next": goes_on(learner, kept), "after": known(learner)["estimates"]}
    for name, one in simulated().items():
        expected["stores"][name] = arrays(one.play(STORES / name))
    specifications = {name: make().to_spec() for name, make in SETS.items()}  # type: ignore[attr-defined]
    expected["specifications"] = {name: answers(name, make()) for name, make in SETS.items()}
    SPECIFICATIONS.write_text(json.dumps(specifications) + "\n")
    EXPECTED.write_text(json.dumps(expected) + "\n")
    (HERE / "experiment.toml").write_text(EXPERIMENT)
    print(run_experiment(HERE).stdout)
    (RESULTS / ".lock").unlink()


if __name__ == "__main__":
    main()
