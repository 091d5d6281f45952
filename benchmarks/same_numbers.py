"""Digests of what a user sees, to show that a change of the code changes no number.

    python benchmarks/same_numbers.py > before.json             # with the code as it was
    python benchmarks/same_numbers.py --compare before.json     # with the code as it is: names what differs

Simulations by both engines, live decisions and saved files, sets, environments, bounds, and what the command line
writes: only the public interface is used, so that the same file runs with both versions (`PYTHONPATH=.../src`). Floats
are written in full. `--only PREFIX`, which may be repeated, leaves out all other names; `--keep FOLDER` writes what
the digests are of, a file for each, to be compared by `diff -r`. About two minutes on one core, and some six more where
everything has to be compiled.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import semibandits as sb
from every_command import EXPERIMENTS, TEXTS, Part, cli_reproduce, cli_run, cli_starters, cli_text
from every_kind import (
    COSTS_ONLY,
    ENVIRONMENTS,
    PLACES,
    PLAYERS,
    SETS,
    SLOW_SETS,
    AnyPolicy,
    Player,
    check_complete,
    coins,
    costs,
    minutes,
)

ROUNDS = {"compiled": 2_000, "plain": 400}
"""Of a run. More plain ones would be compiled, too, which is tried in `live_long` and `simulate_ways`."""
FEW = 200
"""Where a round takes about a millisecond."""
OF_THE_DAY = ("started", "machine", "processor", "cores", "versions", "seconds_per_round")
"""What a result tells that is another one each time."""


def attempt(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What it returns, or what it says where it refuses."""
    try:
        return function(*given, **named)
    except (sb.errors.SemiBanditError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def plain(value: Any) -> Any:
    """As JSON can say it, to the last bit."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), value.ravel().tolist()]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


# Simulations


def played(problem: sb.Problem, policies: Any, *, horizon: int = ROUNDS["compiled"], runs: int = 3, **how: Any) -> Any:
    """All that a simulation tells, but for the day and the machine."""
    record = ["counts", "sums", "solutions"]
    how = {"threads": 1, "progress": False, **how}
    if how.get("executor") is not None:
        del how["threads"]
    result = sb.simulate(problem, policies, horizon=horizon, runs=runs, seed=11, record=record, **how)
    told = {name: getattr(result, name) for name in ("regret", "rounds", "counts", "sums", "solutions")}
    told |= {name: getattr(result, name) for name in ("policies", "problem", "kind", "engine", "version")}
    told["provenance"] = {key: value for key, value in result.provenance.items() if key not in OF_THE_DAY}
    return told


def by_both_engines(problem: sb.Problem, policy: AnyPolicy, slow: bool, **how: Any) -> Iterator[Part]:
    for engine, usual in ROUNDS.items():
        rounds = FEW if slow else usual
        how |= {"engine": engine, "horizon": rounds}
        yield f"{engine}, {rounds} rounds", attempt(played, problem, policy, **how)


def problem_on(name: str) -> sb.Problem:
    """A problem with this set."""
    feasible = SETS[name]()
    if name in COSTS_ONLY:
        return sb.Problem(feasible, minutes(feasible.n_items), sense="min")
    world, sense = ((coins, "max"), (costs, "min"), (minutes, "max"))[list(SETS).index(name) % 3]
    return sb.Problem(feasible, world(feasible.n_items), sense=sense)  # type: ignore[arg-type]


def simulate_sets(name: str) -> Iterator[Part]:
    ignore = {"uncovered": "ignore"} if name == "restricted" else {}
    return by_both_engines(problem_on(name), sb.policies.CombUCB1(), name in SLOW_SETS, **ignore)


def simulate_environments(name: str) -> Iterator[Part]:
    problem = sb.Problem(sb.sets.TopK(6, 2), ENVIRONMENTS[name](6), sense="max")
    return by_both_engines(problem, sb.policies.CombUCB1(), name == "Custom")


def simulate_policies(name: str) -> Iterator[Part]:
    player = PLAYERS[name]
    for place in player.places:
        problem = PLACES[place]()
        for engine, told in by_both_engines(
            problem, player.make(problem), place in player.slow, feedback=player.feedback
        ):
            yield f"{place}/{engine}", told


def simulate_ways() -> Iterator[Part]:
    """Kinds of regret, many runs, many policies, several workers."""
    grid, two = PLACES["grid"](), [sb.policies.CombUCB1(), sb.policies.CTS()]
    yield "realised regret", played(grid, two[0], regret="realised")
    yield "static regret", played(PLACES["changing"](), two[0], regret="static")
    greedy = sb.Problem(SETS["GreedyKnapsack"](), coins(7))
    for kind in ("expected", "ratio"):
        yield f"{kind} regret, approximate", played(greedy, two[0], regret=kind)
    yield "70 runs", played(grid, two, runs=70, horizon=300)
    yield "70 runs, two threads", played(grid, two, runs=70, horizon=300, threads=2)
    yield "two processes", played(grid, two, runs=4, horizon=10_000, threads=2, engine="plain", checkpoints=[10, 500])
    wide = sb.Problem(sb.sets.TopK(400, 20), coins(400))
    yield "one run of many items", played(wide, two, runs=1, horizon=3_000)
    whole = [sb.policies.ESCB(c=0.0), sb.policies.HYBRID(), sb.policies.LinUCB(), sb.policies.Fixed([0, 2, 5])]
    yield "sums beside items", played(PLACES["top of costs"](), whole)
    with ThreadPoolExecutor(2) as executor:
        yield "executor", played(grid, two, executor=executor)


# Live


def tell_some(learner: sb.Learner, waiting: list[Any], chance: np.random.Generator, bandit: bool) -> Any:
    """One of those that wait is told of, whole or in part, or given up."""
    id, items, weights = waiting.pop(int(chance.integers(len(waiting))))
    fate = chance.random()
    if fate < 0.08:
        return learner.cancel(id)
    if bandit:
        return learner.tell(id, float(weights.sum()))
    if fate < 0.4 and items.size > 1:
        half = items.size // 2
        waiting.append((id, items[half:], weights[half:]))
        return learner.tell(id, dict(zip(items[:half].tolist(), weights[:half].tolist(), strict=True)))
    return learner.tell(id, dict(zip(items.tolist(), weights.tolist(), strict=True)))


def lived(learner: sb.Learner, problem: sb.Problem, rounds: int, waiting: list[Any], bandit: bool) -> list[Any]:
    """The story of so many rounds: what was decided, what was new. `waiting` is left with what was not told."""
    chance, story = np.random.default_rng(learner.round), []
    for _ in range(rounds):
        few = chance.random(problem.n_items) < 0.9 if chance.random() < 0.05 else None
        decision = attempt(learner.ask, few)
        if isinstance(decision, str):
            story.append(decision)
            continue
        key = sb.rng.key(seed=3, run=0, round=decision.round, stream=sb.rng.WORLD)
        waiting.append((decision.id, decision.items, problem.environment.weights(decision.round, key, decision.items)))
        story.append((decision.round, decision.items, decision.labels))
        while waiting and (len(waiting) > 6 or chance.random() < 0.6):
            story.append(tell_some(learner, waiting, chance, bandit))
    return story


def known(learner: sb.Learner) -> dict[str, Any]:
    """All that a learner says of itself."""
    outstanding = [(one.round, one.items) for one in learner.outstanding]
    told: dict[str, Any] = {"round": learner.round, "labels": learner.labels, "outstanding": outstanding}
    told |= {"repr": repr(learner), "counts": learner.counts, "estimates": learner.estimates}
    return told | {name: attempt(getattr(learner, name)) for name in ("scores", "intervals", "best")}


def masked(path: Path) -> Any:
    """A saved learner without the names that are drawn anew, and its checksum."""
    file = json.loads(path.read_text())
    learner = file["learner"]
    del file["checksum"], learner["name"]
    for decision in learner["outstanding"] + learner["finished"]:
        del decision["epoch"]
    return file


def live(name: str) -> Iterator[Part]:
    player = PLAYERS[name]
    for place in player.places:
        for part, told in live_at(player, PLACES[place]()):
            yield f"{place}/{part}", told


def live_long(name: str) -> Iterator[Part]:
    """So many rounds that what is slow is compiled on the way."""
    player = PLAYERS[name]
    problem = sb.Problem(sb.sets.TopK(40, 4), coins(40))
    learner = sb.Learner(problem.feasible, player.make(problem), seed=3)
    yield "decisions", [lived(learner, problem, 6_000, [], False), known(learner)]


def live_at(player: Player, problem: sb.Problem) -> Iterator[Part]:
    bandit, feasible, policy = player.feedback == "bandit", problem.feasible, player.make(problem)
    labels = None if feasible.labels else [f"item {item}" for item in range(problem.n_items)]
    how = {"sense": problem.sense, "bounds": problem.bounds, "feedback": player.feedback}
    learner = attempt(sb.Learner, feasible, policy, seed=3, labels=labels, **how)
    if isinstance(learner, str):
        yield "refused", learner
        return
    middle = sum(problem.bounds) / 2.0
    logged = attempt(learner.observe, [0, 1, 1], [middle] * 3)
    waiting: list[Any] = []
    story = lived(learner, problem, 300, waiting, bandit)
    yield "decisions", [logged, story, known(learner)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "learner.json"
        learner.save(path)
        yield "saved", masked(path)
        again = attempt(sb.Learner.load, path, feasible)
        refusal = again.replace(folder, "") if isinstance(again, str) else None
        loaded = again if refusal is None else sb.Learner.load(path, feasible, policy)
    yield "loaded", [refusal, known(loaded), lived(loaded, problem, 50, waiting, bandit), known(loaded)]


# Sets, environments, theory


def one_set(name: str) -> Iterator[Part]:
    feasible, chance = SETS[name](), np.random.default_rng(4)
    sign = -1.0 if name in COSTS_ONLY else 1.0
    asked = [sign * chance.random(feasible.n_items) for _ in range(30)]
    asked += [] if name in COSTS_ONLY else [chance.normal(size=feasible.n_items) for _ in range(30)]
    asked += [sign * chance.integers(0, 3, feasible.n_items).astype(float) for _ in range(30)]  # ties
    yield "answers", [feasible.argmax(weights) for weights in asked]
    yield "facts", [repr(feasible), feasible.n_items, feasible.max_size, feasible.labels, feasible.ratio]
    yield "with each", [attempt(feasible.best_with_each, weights) for weights in asked[:5]]
    parts = [([0], []), ([], [0]), ([1], [2, 3])]
    restricted = [attempt(lambda i=i, e=e: feasible.restrict(i, e).argmax(asked[0])) for i, e in parts]
    contained = [attempt(feasible.contains, feasible.argmax(weights)[1:]) for weights in asked[:20]]
    yield "restricted", [restricted, contained]
    yield "specification", attempt(lambda: feasible.to_spec())  # type: ignore[attr-defined]


def one_environment(name: str) -> Iterator[Part]:
    world = ENVIRONMENTS[name](6)
    keys = [sb.rng.key(seed=5, run=1, round=round, stream=sb.rng.WORLD) for round in range(1, 101)]
    yield "weights", [world.weights(round, key) for round, key in enumerate(keys, 1)]
    mean = [world.means(round) for round in (1, 600, 1_500)] if callable(world.means) else world.means  # type: ignore[unreachable]
    yield "facts", [repr(world), mean, world.bounds, world.last_round, world.drifts]


def one_problem(name: str) -> Iterator[Part]:
    problem = PLACES[name]()
    facts = ("optimum", "min_gap", "max_gap", "item_gaps", "target", "tolerance")
    yield "facts", [repr(problem), {fact: attempt(getattr, problem, fact) for fact in facts}]
    rounds = [1_000, 2_000]
    yield "bounds", attempt(lambda: sb.theory.bounds(problem, rounds).as_dict())
    yield "explained", str(attempt(sb.theory.explain, problem, horizon=2_000))
    shown = ("semi", "bandit")
    yield "recommended", [str(attempt(sb.policies.recommend, problem, feedback=one)) for one in shown]


def cases() -> dict[str, Callable[[], Iterator[Part]]]:
    """Everything, by name; what a name begins with says of which kind it is."""
    found: dict[str, Callable[[], Iterator[Part]]] = {}
    for kind, function, names in (
        ("cli/", cli_text, TEXTS),
        ("cli/run/", cli_run, EXPERIMENTS),
        ("sets/", one_set, SETS),
        ("environments/", one_environment, ENVIRONMENTS),
        ("problems/", one_problem, PLACES),
        ("live/", live, PLAYERS),
        ("live long/", live_long, ("KLUCB", "CTS", "CombLinUCB", "HYBRID", "OSMD, inf")),
        ("simulate/policies/", simulate_policies, PLAYERS),
        ("simulate/sets/", simulate_sets, SETS),
        ("simulate/environments/", simulate_environments, ENVIRONMENTS),
    ):
        found |= {f"{kind}{name}": lambda f=function, n=name: f(n) for name in names}
    found["simulate/ways"] = simulate_ways
    found["cli/starters"] = cli_starters
    found["cli/reproduce"] = cli_reproduce
    return found


def told(case: Callable[[], Iterator[Part]]) -> Iterator[Part]:
    """All parts of it; what fails is one, too, so that the others are compared all the same."""
    try:
        yield from case()
    except Exception:
        traceback.print_exc()
        yield "FAILED", traceback.format_exc()


def digests(only: list[str], keep: Path | None) -> dict[str, str]:
    found = {}
    for name, case in cases().items():
        if only and not any(name.startswith(prefix) or prefix.startswith(name) for prefix in only):
            continue
        started = time.perf_counter()
        for part, value in told(case):
            full = f"{name}/{part}"
            text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
            found[full] = hashlib.sha256(text.encode()).hexdigest()
            if keep is not None:
                (keep / full.replace("/", "--").replace(" ", "_")).write_text(text.replace("], ", "],\n"))
        print(f"{time.perf_counter() - started:6.1f} s  {name}", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", type=Path, metavar="FILE", help="what was printed before")
    parser.add_argument("--only", action="append", default=[], metavar="PREFIX")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    chosen = parser.parse_args()
    if chosen.keep is not None:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    check_complete()
    found = digests(chosen.only, chosen.keep)
    if chosen.compare is None:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return 0
    before = json.loads(chosen.compare.read_text())
    if chosen.only:
        before = {name: value for name, value in before.items() if name.startswith(tuple(chosen.only))}
        found = {name: value for name, value in found.items() if name.startswith(tuple(chosen.only))}
    differing = [name for name in {**before, **found} if before.get(name) != found.get(name)]
    for name in differing:
        print(f"{'new' if name not in before else 'gone' if name not in found else 'differs'}: {name}")
    print(f"{len(found) - sum(name in found for name in differing)} of {len({**before, **found})} are the same")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
