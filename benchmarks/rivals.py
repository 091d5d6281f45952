"""Public code that simulates top-k bandits, raced against ours on one thread.

    python benchmarks/rivals.py [--multiplaybanditlib DIR] [--combsemibandits DIR] [--smpybandits DIR]

The folders are clones of

    https://github.com/jkomiyama/multiplaybanditlib    C++, its CUCB and its Thompson sampling
    https://github.com/diku-dk/CombSemiBandits         NumPy, its CombUCB and its HYBRID
    https://github.com/SMPyBandits/SMPyBandits         NumPy, its UCB with multiple plays

of which nothing is changed or copied: a small driver is written into a temporary folder, built and run there. A rival
that needs packages of its own can have its own interpreter (`--python`).

All of them play the same instances: Bernoulli items, means 0.6 for k of them and 0.4 for the others, each chosen item
observed, the same index (mean plus sqrt(1.5 log t / count)), or Thompson sampling with Beta distributions. The regret
of every rival is checked against a NumPy loop with the same clock: the first and the third count chosen items,
log(k t), where the paper counts rounds. Only their rounds are timed; ours is the whole call of `simulate`, 32 runs side
by side, compiled before.

HYBRID plays an instance of its authors, 5 of 10 items with a gap of 1/8, with the gamma that their code computes; ours
plays one run after the other. The regrets of both are compared.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import semibandits as sb
from common import Goal, Mean, Table, in_turn, machine, play, print_document, timed, top_k
from engine import LANES
from loops import numpy_thompson, numpy_top_k

SIZES = ((20, 4), (100, 10), (1000, 50))
REPEATS = 7
TIME_LIMIT = 300
"""Seconds that a rival may take for one run."""
REFERENCE_RUNS = 8
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
UCB = sb.policies.CombUCB1()
HYBRID_REPEATS = 20
"""Regrets of single runs differ by a quarter of their mean."""
Ran = dict[str, float]
"""What a driver prints: `seconds`, `regret`, and perhaps `gamma`."""

CPP = """
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bandit/util.hpp"
#include "arm/arm_bernoulli.hpp"
#include "policy/POLICY_HEADER.hpp"
#include "bandit/simulator.hpp"

int main(int argc, char **argv)
{
    const unsigned k = std::atoi(argv[1]), rounds = std::atoi(argv[2]);
    bandit::randomEngine.seed(std::atoi(argv[3]));
    std::vector<bandit::ArmPtr> arms;
    for (int i = 4; i < argc; i++)
        arms.push_back(std::make_shared<bandit::BernoulliArm>(std::atof(argv[i])));
    std::vector<bandit::PolicyPtr> policies{std::make_shared<bandit::POLICY_MADE};
    bandit::RoundwiseLog log(arms.size(), 1, rounds + 1);  // it numbers rounds from 1
    bandit::Simulator<bandit::RoundwiseLog> simulator(arms, policies, k);
    const auto start = std::chrono::steady_clock::now();
    simulator.run(log, rounds);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const double regret = bandit::vectorSum(log.roundwiseRegrets[0]);
    std::printf("{\\"seconds\\": %.9f, \\"regret\\": %.6f}\\n", taken.count(), regret);
}
"""

COMB_SEMI_BANDITS = """
import json, random, sys, time
import numpy as np

folder, k, rounds, seed, *means = sys.argv[1:]
k, rounds, means = int(k), int(rounds), np.array(means, dtype=float)
sys.path.insert(0, folder)
from bandit import POLICY
from environment import Stochastic
from main import run_simulation

random.seed(int(seed))
np.random.seed(int(seed))
world = Stochastic("m-set", means.max() - means.min(), means.size, k, rounds)
world.mean_losses = 1.0 - means  # the same items in our order
policy = POLICY(means.size, "m-set", k)
start = time.perf_counter()
regret = run_simulation(policy, world, rounds, [rounds])[-1]
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "regret": float(regret), "gamma": float(getattr(policy, "gamma", 0.0))}))
"""

# Its own simulator of several players keeps players x arms x rounds integers, 2 GB for 5,000 rounds of 50 in 1,000. So
# the loop is ours, and as short as can be; policy and arms are theirs, imported without the package around them, which
# wants an older SciPy.
SMPY_BANDITS = """
import json, sys, time
import numpy as np

folder, k, rounds, seed, *means = sys.argv[1:]
k, rounds, means = int(k), int(rounds), np.array(means, dtype=float)
sys.path[:0] = [folder + "/SMPyBandits/Policies", folder + "/SMPyBandits/Arms"]
from Bernoulli import Bernoulli
from UCBalpha import UCBalpha

np.random.seed(int(seed))
arms = [Bernoulli(mean) for mean in means]
policy = UCBalpha(means.size, alpha=3.0)  # its index is mean + sqrt(alpha log t / (2 count))
policy.startGame()
start = time.perf_counter()
for _ in range(rounds):
    chosen = policy.choiceMultiple(k)
    for arm in chosen:
        policy.getReward(arm, arms[arm].draw())
seconds = time.perf_counter() - start
regret = rounds * np.sort(means)[-k:].sum() - policy.pulls @ means
print(json.dumps({"seconds": seconds, "regret": float(regret)}))
"""


@dataclass(frozen=True)
class Rival:
    """A public program, and how to run its driver."""

    name: str
    prepare: Callable[[Path, Path, str], list[str]]
    """From its folder, a temporary folder and an interpreter to a command that takes k, rounds, seed and means."""
    horizons: tuple[int, int, int]
    counts_items: bool
    """Whether its clock counts chosen items, not rounds."""
    policy: sb.IndexPolicy = UCB

    def race(self, run_driver: Callable[..., Ran], quick: bool) -> Table:
        table = Table(f"{self.name} and ours, one thread each: rounds per second")
        for (n_items, k), horizon in zip(SIZES, self.horizons, strict=True):
            rounds, repeats = (horizon // 100, 2) if quick else (horizon, REPEATS)
            race_of_size(self, run_driver, n_items, k, rounds, repeats, table)
        return table

    def reference(self, means: NDArray[np.float64], k: int, horizon: int, generator: np.random.Generator) -> float:
        """The regret of one run of a NumPy loop that does the same."""
        if isinstance(self.policy, sb.policies.CTS):
            return numpy_thompson(means, k, horizon, generator)
        return numpy_top_k(means, k, horizon, generator, ticks=k if self.counts_items else 1)


@dataclass(frozen=True)
class HybridRival:
    """HYBRID by its authors, on one of their instances: losses of means 7/16 for 5 items and 9/16 for 5 others."""

    name: str
    prepare: Callable[[Path, Path, str], list[str]]

    def race(self, run_driver: Callable[..., Ran], quick: bool) -> Table:
        table = Table(f"{self.name} and ours, one thread each: ns per round")
        horizon, repeats, runs = (100, 2, 20) if quick else (10_000, HYBRID_REPEATS, 200)
        problem = sb.Problem(sb.sets.TopK(10, 5), sb.environments.Bernoulli(np.repeat([9 / 16, 7 / 16], 5)))
        gamma = run_driver(5, 10, 0, problem.means)["gamma"]
        regrets: list[float] = []

        def theirs() -> float:
            ran = run_driver(5, horizon, len(regrets), problem.means)
            regrets.append(ran["regret"])
            return ran["seconds"] / horizon * 1e9

        ours_again = partial(play, problem, sb.policies.HYBRID(gamma), horizon=horizon, runs=runs)
        our_regret = Mean.of(ours_again())
        taken = timed(ours_again)
        their_ns, our_ns = in_turn([theirs, lambda: taken() / horizon / runs * 1e9], repeats)
        their_regret = Mean.of(regrets)
        row: dict[str, str | float] = {"items": 10, "k": 5, "rounds": horizon, "gamma": gamma}
        table.rows.append({**row, self.name: their_ns, "ours": our_ns, "theirs / ours": their_ns / our_ns})
        what = f"regret {their_regret}, ours {our_regret}: standard errors apart"
        table.goals.append(Goal(what, our_regret.distance(their_regret), 4.0, check=True))
        return table


def prepare_cpp(header: str, made: str, clone: Path, folder: Path, python: str) -> list[str]:
    (folder / "driver.cpp").write_text(CPP.replace("POLICY_HEADER", header).replace("POLICY_MADE", made))
    program = str(folder / "driver")
    flags = ["-std=c++17", "-O3", "-march=native", "-I", str(clone)]
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, *flags, str(folder / "driver.cpp"), "-o", program], check=True)
    return [program]


def prepare_python(driver: str, clone: Path, folder: Path, python: str) -> list[str]:
    (folder / "driver.py").write_text(driver)
    return [python, "-W", "ignore", str(folder / "driver.py"), str(clone)]


RIVALS: dict[str, list[Rival | HybridRival]] = {
    "multiplaybanditlib": [
        Rival(
            "multiplaybanditlib (C++)",
            partial(prepare_cpp, "policy_ucb", "UCBPolicy>(arms.size(), 1.5)"),
            (200_000, 50_000, 10_000),
            True,
        ),
        Rival(
            "multiplaybanditlib (C++), Thompson sampling",
            partial(prepare_cpp, "policy_ts", "ThompsonBinaryPolicy>(arms.size())"),
            (200_000, 50_000, 5_000),
            False,
            sb.policies.CTS(),
        ),
    ],
    "combsemibandits": [
        Rival(
            "CombSemiBandits",
            partial(prepare_python, COMB_SEMI_BANDITS.replace("POLICY", "CombUCB")),
            (20_000, 20_000, 5_000),
            False,
        ),
        HybridRival("CombSemiBandits, HYBRID", partial(prepare_python, COMB_SEMI_BANDITS.replace("POLICY", "HYBRID"))),
    ],
    "smpybandits": [Rival("SMPyBandits", partial(prepare_python, SMPY_BANDITS), (20_000, 20_000, 5_000), True)],
}


def race(rival: Rival | HybridRival, clone: Path, python: str, quick: bool) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        command = rival.prepare(clone.resolve(), Path(folder), python)
        return rival.race(partial(run, command), quick)


def race_of_size(
    rival: Rival, run_driver: Callable[..., Ran], n_items: int, k: int, horizon: int, repeats: int, table: Table
) -> None:
    problem = top_k(n_items, k)
    play(problem, rival.policy, horizon=100, runs=LANES)
    regrets: list[float] = []

    def theirs() -> float:
        ran = run_driver(k, horizon, len(regrets), problem.means)
        regrets.append(ran["regret"])
        return horizon / ran["seconds"]

    ours_again = partial(play, problem, rival.policy, horizon=horizon, runs=LANES)
    taken = timed(ours_again)
    their_speed, our_speed = in_turn([theirs, lambda: horizon * LANES / taken()], repeats)
    row: dict[str, str | float] = {"items": n_items, "k": k, "rounds": horizon}
    table.rows.append({**row, rival.name: their_speed, "ours": our_speed, "ours / theirs": our_speed / their_speed})

    ours = Mean.of(ours_again())
    generators = [np.random.default_rng(run) for run in range(REFERENCE_RUNS)]
    references = [rival.reference(problem.means, k, horizon, generator) for generator in generators]
    reference = Mean(float(np.mean(references)), ours.deviation, REFERENCE_RUNS)  # few runs say little of their spread
    found = Mean.of(regrets)
    what = f"({n_items}, {k}): regret {found}, NumPy loop with its clock {reference}: standard errors apart"
    table.goals.append(Goal(what, reference.distance(found), 4.0, check=True))
    table.notes.append(f"({n_items}, {k}): regret of ours {ours}")
    if isinstance(rival.policy, sb.policies.CTS):
        table.goals.append(Goal(f"({n_items}, {k}): times as fast", our_speed / their_speed, 10.0, at_most=False))


def run(command: list[str], k: int, horizon: int, seed: int, means: NDArray[np.float64]) -> Ran:
    """One run of a driver."""
    arguments = [str(k), str(horizon), str(seed), *map(str, means.tolist())]
    done = subprocess.run(
        [*command, *arguments],
        env={**os.environ, **ONE_THREAD},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=TIME_LIMIT,
    )
    ran: Ran = json.loads(done.stdout.splitlines()[-1])
    return ran


def main() -> None:
    parser = argparse.ArgumentParser(description="Public simulators of top-k bandits, raced against ours.")
    for option, rivals in RIVALS.items():
        parser.add_argument(f"--{option}", type=Path, metavar="DIR", help=f"a clone of {rivals[0].name}")
    parser.add_argument("--python", default=sys.executable, help="the interpreter for rivals in Python")
    parser.add_argument("--quick", action="store_true", help="few rounds, only to see that all of it runs")
    parser.add_argument("--json", action="store_true", help="print a JSON document and nothing else")
    chosen = parser.parse_args()
    clones = {option: clone for option in RIVALS if (clone := getattr(chosen, option)) is not None}
    if not clones:
        parser.error("name the folder of at least one rival")
    if not chosen.json:
        print(", ".join(f"{what} {found}" for what, found in machine().items()), "\n")
    tables = []
    for rival, clone in ((rival, clone) for option, clone in clones.items() for rival in RIVALS[option]):
        try:
            table = race(rival, clone, chosen.python, chosen.quick)
        except (OSError, subprocess.SubprocessError) as error:
            table = Table(f"{rival.name} could not be raced", notes=[f"{error!s:.200}"])
        tables.append(table)
        if not chosen.json:
            print(table, flush=True)
    if chosen.json:
        print_document(tables)
    sys.exit(not all(table.rows and all(goal.met for goal in table.goals) for table in tables))


if __name__ == "__main__":
    main()
