"""What is recommended, and the table it goes by."""

import json
import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import (
    FeasibleSet,
    IndexPolicy,
    Learner,
    Policy,
    Problem,
    environments,
    errors,
    policies,
    problems,
    sets,
    simulate,
)
from semibandits.policies.catalogue import CATALOGUE
from support.worlds import PROBLEMS

PAGE = Path(__file__).parents[2] / "docs" / "choosing.md"
ALL = [
    one
    for name in policies.__all__
    if isinstance(one := getattr(policies, name), type) and issubclass(one, IndexPolicy | Policy)
]
coins = environments.Bernoulli
long_paths = problems.grid_path(m=8, sigma=0.2)
CASES: dict[str, tuple[Any, str, str]] = {
    "independent, exact": (problems.grid_path(m=3, sigma=0.2), "PooledCTS", "how much weights vary"),
    "large solutions": (long_paths, "PooledCTS", "16 items"),
    "a matroid, however large": (Problem(sets.TopK(50, 20), coins([0.5] * 50)), "PooledCTS", "bounds 0 to 1"),
    "groups": (problems.k_path(6, 2, 0.5), "PooledCTS", "forgets, if asked"),
    "groups on a matroid": (
        Problem(sets.TopK(4, 2), coins([0.5] * 4, groups=[0, 0, 1, 1])),
        "PooledCTS",
        "nothing to tune",
    ),
    "a record": (Problem(sets.Assignment(2, 2), environments.Table([[0.1] * 4])), "PooledCTS", "Thompson"),
    "greed": (Problem(sets.GreedyKnapsack([1, 2, 3], 3), coins([0.5] * 3)), "KLUCB", "approximate"),
    "steps": (
        Problem(sets.TopK(2, 1), environments.Drifting([[0.1, 0.9], [0.9, 0.1]], [1, 500])),
        "PooledCTS",
        "1 change",
    ),
    "an adversary": (problems.coin_table(sets.TopK(5, 2), horizon=10), "HYBRID", "no law"),
    "an adversary on a large set": (
        Problem(sets.Assignment(9, 9), environments.Adversarial(np.full((10, 81), 0.5)), sense="min"),
        "FPL",
        "oracle alone",
    ),
    "the level jumps, not the best": (problems.changing_phases(), "HYBRID", "never what is best"),
    "slow": (
        Problem(sets.TopK(2, 1), environments.Drifting([[0.1, 0.9], [0.9, 0.1]], [1, 500], True)),
        "PooledCTS",
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
    assert repr(found) == str(found)  # what a notebook shows


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("alone", [True, False])
def test_what_is_recommended_can_be_played(name: str, alone: bool) -> None:
    problem = PROBLEMS[name]
    found = policies.recommend(problem.feasible if alone else problem)
    for policy in (found.policy, *(other for other, _ in found.others)):
        simulate(problem, policy, horizon=20, runs=1, seed=0, uncovered="ignore", engine="plain")
        learner = Learner(problem.feasible, policy, sense=problem.sense, bounds=problem.bounds, uncovered="ignore")
        assert problem.feasible.contains(learner.ask().items)


def test_where_only_the_sum_is_seen() -> None:
    grid = problems.grid_path(m=2, sigma=0.2)
    found = policies.recommend(grid, feedback="bandit")
    assert found.policy == policies.LinUCB(alpha=2.0)  # sqrt(K)
    assert {type(policy).__name__ for policy, _ in found.others} == {"OFUL", "COMBAND"}
    for policy in (found.policy, *(other for other, _ in found.others)):
        simulate(grid, policy, horizon=20, runs=1, seed=0, feedback="bandit", engine="plain")
    against_us = problems.coin_table(sets.TopK(4, 2), horizon=9)
    assert type(policies.recommend(against_us, feedback="bandit").policy) is policies.COMBAND
    with pytest.raises(errors.Unsupported, match="feedback='semi'"):
        policies.recommend(sets.TopK(100, 50), feedback="bandit")
    with pytest.raises(errors.BadArgument, match="feedback must be 'semi' or 'bandit'"):
        policies.recommend(grid, feedback="none")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "feasible",
    [
        sets.TopK(30, 15),
        sets.GridPaths(9),  # 48,620 paths
        sets.Enumerated([[item] for item in range(10_001)]),
        sets.Enumerated([[0], [1]], n_items=2_001),
        sets.GreedyKnapsack([1, 2, 3], 3),
    ],
    ids=repr,
)
def test_where_only_the_sum_is_seen_of_too_many_solutions(feasible: FeasibleSet) -> None:
    for ask in (policies.recommend, policies.default):
        with pytest.raises(errors.Unsupported, match="too many, or cannot list its solutions: see each"):
            ask(feasible, feedback="bandit")
    with pytest.raises(errors.Unsupported):  # and so it is
        policies.LinUCB().check(feasible)


@pytest.mark.parametrize(
    ("feasible", "known"),
    [
        (sets.TopK(9, 3), True),
        (sets.GridPaths(7), True),  # 3,432
        (sets.Product(sets.GridPaths(4), sets.KPaths(9, 3)), True),
        (sets.Assignment(2, 3), True),  # subsets of 6 items are few
        (sets.Assignment(5, 5), False),
        (sets.GraphicMatroid([(node, (node + 1) % 16) for node in range(16)]), False),
        (sets.Oracle(lambda weights: [int(weights.argmax())], n_items=3, max_size=1), False),
    ],
    ids=repr,
)
def test_where_only_the_sum_is_seen_of_so_many_solutions(feasible: FeasibleSet, known: bool) -> None:
    found = policies.default(feasible, feedback="bandit")
    assert found == policies.recommend(feasible, feedback="bandit")
    assert type(found.policy) is policies.LinUCB
    assert ("more than 10,000" in " ".join(found.reasons)) is not known
    found.policy.check(feasible)


def test_against_an_adversary_with_a_horizon_a_learner_can_play() -> None:
    found = policies.recommend(problems.coin_table(sets.TopK(8, 2), horizon=9), horizon=10_000)
    eta = math.sqrt((math.log(4.0) + 1.0) / (2.0 * 8.0 * 10_000))
    perturbed = found.others[0][0]
    assert isinstance(perturbed, policies.FPL)
    assert perturbed.eta == pytest.approx(eta, rel=0.05)
    Learner(sets.TopK(8, 2), perturbed).ask()


def test_of_dependent_items_a_known_covariance_helps() -> None:
    world = environments.CorrelatedGaussian.equicorrelated([0.5] * 6, 0.1, 0.5)
    found = policies.recommend(Problem(sets.KPaths(6, 3), world))
    assert "OLSUCB" in {type(policy).__name__ for policy, _ in found.others}


def test_items_that_rise_and_fall_as_one_are_told_of() -> None:
    said = "items depend on each other: where all of a large solution rise and fall as one"
    for problem, dependent in ((problems.k_path(12, 3, 0.3), True), (problems.grid_path(2, 0.3), False)):
        assert any(reason.startswith(said) for reason in policies.recommend(problem).reasons) == dependent
    together = Problem(sets.TopK(4, 2), environments.Bernoulli([0.5] * 4, groups=[0, 0, 1, 1]))
    assert not any(said in reason for reason in policies.recommend(together).reasons)  # a matroid


def test_drift_is_measured_by_the_horizon() -> None:
    """A quarter of the time between changes, or 2 sqrt(n log n / Υ) and 4 sqrt(n / Υ) (Garivier and Moulines)."""
    turns = np.array([[0.4, 0.6], [0.6, 0.4]])
    world = environments.Drifting(turns[np.arange(5) % 2], starts=[1, 1000, 2000, 3000, 4000])
    problem = Problem(sets.TopK(2, 1), world)
    found = policies.recommend(problem, horizon=10_000)
    assert found.policy == policies.PooledCTS(window=500)
    assert [policy for policy, _ in found.others[:2]] == [
        policies.PooledCTS(discount=0.998),
        policies.SlidingWindow(500, alpha=0.6),
    ]
    slow = Problem(sets.TopK(2, 1), environments.Drifting(turns[np.arange(5) % 2], world.starts, smooth=True))
    assert policies.recommend(slow, horizon=10_000).policy == policies.PooledCTS(discount=0.998)
    assert policies.Discounted(0.998, alpha=0.6) in [other for other, _ in policies.recommend(slow, 10_000).others]
    crowded = Problem(sets.TopK(2, 1), environments.Drifting(turns[np.arange(101) % 2], starts=np.arange(101) * 10 + 1))
    assert policies.recommend(crowded, horizon=1010).policy == policies.PooledCTS(window=17)  # 16.7
    assert (
        policies.recommend(problem, horizon=2500).reasons[0].startswith("the means drift (2 changes in 2,500 rounds)")
    )
    assert policies.recommend(problem, horizon=1000).reasons[0].startswith("the means drift (1 change in 1,000 rounds)")
    assert policies.recommend(problem).reasons[0].startswith("the means drift (4 changes in 8,000 rounds)")


def test_few_looks_at_coins() -> None:
    """50 looks at an item, on average, are few."""
    problem = Problem(sets.TopK(20, 4), coins(np.linspace(0.1, 0.9, 20)))
    assert policies.recommend(problem, horizon=250).policy == policies.CMOSS()
    assert policies.recommend(problem, horizon=251).policy == policies.PooledCTS()
    assert policies.recommend(problem).policy == policies.PooledCTS()
    even = Problem(sets.TopK(20, 4), environments.Uniform(np.zeros(20), np.linspace(0.1, 0.9, 20), bounds=(0.0, 1.0)))
    assert policies.recommend(even, horizon=250).policy == policies.PooledCTS()


def test_what_does_not_change_in_time_is_at_rest() -> None:
    world = environments.Drifting([[0.1, 0.9], [0.9, 0.1]], starts=[1, 500])
    assert policies.recommend(Problem(sets.TopK(2, 1), world), horizon=499).policy == policies.PooledCTS()
    one_row = Problem(sets.TopK(2, 1), environments.Drifting([[0.1, 0.9]], starts=[1]))
    assert policies.recommend(one_row).policy == policies.PooledCTS()


@pytest.mark.parametrize("horizon", [0, -5, 1.5, True, "x", 10**30])
def test_horizons_that_are_none(horizon: Any) -> None:
    with pytest.raises(errors.BadArgument, match="horizon must be a whole number"):
        policies.recommend(sets.TopK(2, 1), horizon=horizon)


@pytest.mark.parametrize("wrong", [None, 3, "grid", policies.CTS()])
def test_of_what_nothing_can_be_said(wrong: Any) -> None:
    with pytest.raises(errors.BadArgument, match="expected a Problem or a FeasibleSet"):
        policies.recommend(wrong)


def test_the_table_has_every_policy_once() -> None:
    assert sorted(entry.name for entry in CATALOGUE) == sorted(one.__name__ for one in ALL)
    assert len({one.__name__ for one in ALL}) == len(ALL) > 20


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.__name__)
def test_every_policy_says_what_the_tables_tell(one: type[IndexPolicy] | type[Policy]) -> None:
    for name in ("needs", "guarantee", "use", *(["formula"] if issubclass(one, IndexPolicy) else [])):
        told = vars(one).get(name)  # its own, not inherited
        assert told, name
        assert "|" not in told


@pytest.mark.parametrize("page", ["choosing.md", "policies.md", "suite.md"])
def test_the_tables_of_the_docs_are_fresh(page: str) -> None:
    tables = runpy.run_path(str(PAGE.parent / "tables.py"))
    fresh = (PAGE.parent / page).read_text(encoding="utf-8") == tables["page"](page)
    assert fresh, "a policy or the suite says something else now: python docs/tables.py"


def test_a_policy_of_ones_own_need_not_say_it() -> None:
    assert IndexPolicy.needs == IndexPolicy.use == Policy.guarantee == ""


def test_the_page_says_what_the_policies_say() -> None:
    """In tables of few columns, all of which a phone shows: advice, then guarantees, and what was measured last."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    uses, guarantees, costs = (
        rows[: len(CATALOGUE)],
        rows[len(CATALOGUE) : 2 * len(CATALOGUE)],
        rows[2 * len(CATALOGUE) :],
    )
    assert uses == [[entry.name, entry.use, entry.needs] for entry in CATALOGUE]
    assert guarantees == [[entry.name, entry.guarantee] for entry in CATALOGUE]
    assert all(len(row) == 4 and any(row[1:]) for row in costs)


def test_what_was_measured_of_a_policy_stays_in_its_place() -> None:
    """In the order of the policies; of one that is no more it goes."""
    costs = runpy.run_path(str(PAGE.parent / "tables.py"))["costs"]
    head = "| policy | grid, ns |\n|---|---|\n"
    assert costs(f"{head}| `KLUCB` | 9 |\n| `Gone` | 8 |\n| `CombUCB1` | 7 |\n") == (
        f"{head}| `CombUCB1` | 7 |\n| `KLUCB` | 9 |\n"
    )
