"""What is recommended, and the table it goes by."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import IndexPolicy, Learner, Problem, environments, errors, policies, problems, sets, simulate
from semibandits.policies.catalogue import CATALOGUE
from worlds import PROBLEMS

PAGE = Path(__file__).parents[2] / "docs" / "choosing.md"
ALL = [
    one
    for name in policies.__all__
    if isinstance(one := getattr(policies, name), type) and issubclass(one, IndexPolicy)
]
coins = environments.Bernoulli
long_paths = problems.grid_path(m=8, sigma=0.2)
CASES: dict[str, tuple[Any, str, str]] = {
    "independent, exact": (problems.grid_path(m=3, sigma=0.2), "CTS", "independent"),
    "large solutions": (long_paths, "BGCTS", "16 items"),
    "a matroid, however large": (Problem(sets.TopK(50, 20), coins([0.5] * 50)), "CTS", "matroid"),
    "groups": (problems.k_path(6, 2, 0.5), "KLUCB", "depend"),
    "groups on a matroid": (Problem(sets.TopK(4, 2), coins([0.5] * 4, groups=[0, 0, 1, 1])), "CTS", "matroid"),
    "a record": (Problem(sets.Assignment(2, 2), environments.Table([[0.1] * 4])), "KLUCB", "depend"),
    "greed": (Problem(sets.GreedyKnapsack([1, 2, 3], 3), coins([0.5] * 3)), "KLUCB", "approximate"),
    "a set alone": (sets.Assignment(3, 3), "KLUCB", "depend"),
    "a matroid alone": (sets.TopK(9, 3), "CTS", "matroid"),
    "steps": (
        Problem(sets.TopK(2, 1), environments.Drifting([[0.1, 0.9], [0.9, 0.1]], [1, 500])),
        "SlidingWindow",
        "1 change",
    ),
    "slow": (
        Problem(sets.TopK(2, 1), environments.Drifting([[0.1, 0.9], [0.9, 0.1]], [1, 500], True)),
        "Discounted",
        "drift",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_recommended(case: str) -> None:
    problem, name, why = CASES[case]
    found = policies.recommend(problem)
    assert type(found.policy).__name__ == name
    assert why in " ".join(found.reasons)
    assert json.loads(json.dumps(found.as_dict()))["policy"] == repr(found.policy)
    assert str(found).startswith(repr(found.policy))


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_recommended_can_be_played(name: str) -> None:
    problem = PROBLEMS[name]
    found = policies.recommend(problem)
    for policy in (found.policy, *(other for other, _ in found.others)):
        simulate(problem, policy, horizon=20, runs=1, seed=0, uncovered="ignore", engine="plain")
        learner = Learner(problem.feasible, policy, sense=problem.sense, bounds=problem.bounds, uncovered="ignore")
        assert problem.feasible.contains(learner.ask().items)


def test_drift_is_measured_by_the_horizon() -> None:
    """The lengths of Garivier and Moulines: 2 sqrt(n log n / Υ) and 1 - sqrt(Υ / n) / 4."""
    world = environments.Drifting(np.full((5, 2), 0.5), starts=[1, 1000, 2000, 3000, 4000])
    problem = Problem(sets.TopK(2, 1), world)
    found = policies.recommend(problem, horizon=10_000)
    assert found.policy == policies.SlidingWindow(304)  # 2 sqrt(10000 · 9.21 / 4) = 303.5
    assert found.others[0][0] == policies.Discounted(0.995)
    assert (
        policies.recommend(problem, horizon=2500).reasons[0].startswith("the means drift (2 changes in 2,500 rounds)")
    )


@pytest.mark.parametrize("wrong", [None, 3, "grid", policies.CTS()])
def test_of_what_nothing_can_be_said(wrong: Any) -> None:
    with pytest.raises(errors.BadArgument, match="expected a Problem or a FeasibleSet"):
        policies.recommend(wrong)


def test_the_table_has_every_policy_once() -> None:
    assert sorted(entry.name for entry in CATALOGUE) == sorted(one.__name__ for one in ALL)


def test_the_page_says_what_the_table_says() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    shown = [(row[0].strip("| `"), row[1], row[2], row[-1].removesuffix(" |")) for row in rows]
    assert shown == [(entry.name, entry.needs, entry.guarantee, entry.use) for entry in CATALOGUE]
