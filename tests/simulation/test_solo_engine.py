"""Simulations of policies that choose whole solutions: machine code, the plain loop and a learner decide alike."""

import itertools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semibandits import Learner, Problem, environments, errors, policies, rng, sets, simulate
from semibandits.simulation import schedule
from semibandits.simulation.engines.single_engine import SingleEngine
from semibandits.simulation.task import Task
from semibandits.types import Environment, FeasibleSet, Items, Note, Policy, State
from support.tasks import EVERYTHING, agree_everywhere, chosen, learned, long, same, task
from support.wide import BANDIT, LIVE, TUNED, WIDE_PROBLEMS, Lottery, Sums
from support.worlds import LISTED

HORIZON = 150
SOON = (("FPL", "costs"), ("COMBAND", "rewards"))
PROGRAMMED = ("top-k", "restricted top-k", "grid", "costs", "restricted paths")
PAIRS = [
    (policy, name) for policy in (*LIVE, *TUNED) for name in WIDE_PROBLEMS if policy != "AESCB" or name in PROGRAMMED
]


def on(policy: str, problem: Problem) -> Policy:
    return TUNED[policy] if policy in TUNED else LIVE[policy](problem.n_items)


def has_text(policy: Policy, problem: Problem) -> bool:
    return policy.kernels(problem.feasible) is not None  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(("policy", "name"), [pair if pair in SOON else long(*pair) for pair in PAIRS])
def test_all_three_decide_alike(policy: str, name: str) -> None:
    problem = WIDE_PROBLEMS[name]
    if has_text(on(policy, problem), problem):
        agree_everywhere(task(problem, on(policy, problem), horizon=HORIZON), runs=2)
    else:
        with pytest.raises(errors.Unsupported, match="has no text for the compiler on"):
            simulate(problem, on(policy, problem), horizon=9, runs=1, seed=7, uncovered="ignore", engine="compiled")
        one = task(problem, on(policy, problem), horizon=HORIZON)
        outcome = schedule.play_with(None, one, 0, 1)
        assert one.policy.needs_horizon or chosen(outcome) == learned(one)


@pytest.mark.parametrize("kind", [long("realised"), long("ratio")])
@pytest.mark.parametrize("policy", ["ESCB", "FPL", "OFUL"])
def test_other_kinds_of_regret(policy: str, kind: str) -> None:
    for problem in (WIDE_PROBLEMS["costs"], WIDE_PROBLEMS["top-k"]):
        agree_everywhere(task(problem, on(policy, problem), horizon=HORIZON, kind=kind), runs=2)


def changing(n_items: int) -> list[Environment]:
    losses = np.random.default_rng(n_items).random((HORIZON, n_items))
    return [environments.Adversarial(losses), environments.Drifting(losses[:3], [1, 40, 90], smooth=True)]


@pytest.mark.long
@pytest.mark.parametrize("policy", LIVE)
@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_worlds_that_change(policy: str, kind: str) -> None:
    for feasible, sense in ((sets.TopK(7, 3), "max"), (sets.GridPaths(2), "min")):
        for world in changing(feasible.n_items):
            problem = Problem(feasible, world, sense=sense)  # type: ignore[arg-type]
            one = task(problem, on(policy, problem), horizon=HORIZON, kind=kind)
            if has_text(one.policy, problem):  # type: ignore[arg-type]
                agree_everywhere(one, runs=2)


# Regret against an adversary, by looking at all solutions

TABLE = np.random.default_rng(11).random((120, 6))


@pytest.mark.parametrize("sense", ["max", "min"])
def test_an_adversarys_regret_is_against_the_best_in_hindsight(sense: Any) -> None:
    """Also where the round of a checkpoint is not the last, by which the comparator is chosen."""
    solutions = [list(one) for one in itertools.combinations(range(6), 2)]
    problem = Problem(sets.TopK(6, 2), environments.Adversarial(TABLE), sense=sense)
    result = simulate(
        problem, policies.FPL(), horizon=100, runs=3, seed=1, checkpoints=[1, 37, 100], record="solutions"
    )
    assert result.kind == "static"
    sums = [TABLE[:100, one].sum() for one in solutions]
    best = solutions[int(np.argmax(sums) if sense == "max" else np.argmin(sums))]
    sign = 1.0 if sense == "max" else -1.0
    assert result.solutions is not None
    for run in range(3):
        gained = np.array([TABLE[t, result.solutions[0, run, t]].sum() for t in range(100)])
        regret = np.cumsum(sign * (TABLE[:100][:, best].sum(axis=1) - gained))
        np.testing.assert_allclose(result.regret[0, run], regret[[0, 36, 99]], rtol=1e-10, atol=1e-10)
    moving = simulate(problem, policies.FPL(), horizon=100, runs=1, seed=1, regret="dynamic", record="solutions")
    assert moving.kind == "dynamic"
    each = np.array([max(sign * row[one].sum() for one in solutions) for row in TABLE[:100]])
    assert moving.solutions is not None
    gained = np.array([TABLE[t, moving.solutions[0, 0, t]].sum() for t in range(100)])
    assert moving.regret[0, 0, -1] == pytest.approx(float((each - sign * gained).sum()), rel=1e-10)


def test_regret_in_a_world_that_drifts_by_hand() -> None:
    rows = np.random.default_rng(1).random((3, 6))
    problem = Problem(sets.TopK(6, 2), environments.Drifting(rows, [1, 30, 60], smooth=True), sense="min")
    solutions = [list(one) for one in itertools.combinations(range(6), 2)]
    means = np.array([problem.environment.means(t) for t in range(1, 81)])  # type: ignore[operator]
    fixed = solutions[int(np.argmin([means[:, one].sum() for one in solutions]))]
    options: Any = {"horizon": 80, "runs": 2, "seed": 6, "record": "solutions", "checkpoints": [80]}
    for kind, least in (
        ("dynamic", np.array([min(row[one].sum() for one in solutions) for row in means])),
        ("static", means[:, fixed].sum(axis=1)),
    ):
        result = simulate(problem, [policies.OSMD(), policies.LinUCB()], regret=kind, **options)  # type: ignore[arg-type]
        assert result.solutions is not None
        for policy, run in itertools.product(range(2), range(2)):
            paid = sum(means[t, result.solutions[policy, run, t]].sum() for t in range(80))
            assert result.regret[policy, run, 0] == pytest.approx(paid - least.sum(), abs=1e-9)
    assert simulate(problem, policies.LinUCB(), horizon=9, runs=1, seed=6).kind == "dynamic"


def test_realised_regret_by_hand() -> None:
    problem = WIDE_PROBLEMS["costs"]
    result = simulate(
        problem, policies.ESCB(), horizon=60, runs=2, seed=3, regret="realised", record="solutions", checkpoints=[60]
    )
    assert result.solutions is not None
    for run in range(2):
        regret = 0.0
        for t in range(1, 61):
            world = problem.environment.weights(t, rng.key(3, run, t, rng.WORLD))
            row = result.solutions[0, run, t - 1]
            regret += world[row[row >= 0]].sum() - world[problem.optimum].sum()
        assert result.regret[0, run, 0] == pytest.approx(regret, rel=1e-9)


# What must not matter


@pytest.mark.parametrize("policy", [long(name) for name in LIVE if name not in ("FPL", "AESCB")] + ["FPL"])
def test_fewer_runs_and_shorter_horizons_are_prefixes(policy: str) -> None:
    """Whether by machine code or not, on one thread or three, alone or in company."""
    problem = WIDE_PROBLEMS["costs"]
    options: Any = {"seed": 5, "record": "solutions", "uncovered": "ignore"}
    one = on(policy, problem)
    engine: Any = "compiled" if has_text(one, problem) else "plain"
    many = simulate(problem, one, horizon=120, runs=5, checkpoints=[10, 60, 120], threads=3, engine=engine, **options)
    few = simulate(problem, one, horizon=60, runs=2, checkpoints=[10, 60], threads=1, engine="plain", **options)
    again = simulate(
        problem, [policies.CombUCB1(), one], horizon=60, runs=3, checkpoints=[10, 60], threads=1, engine=engine,
        **options,
    )  # fmt: skip
    assert many.solutions is not None and few.solutions is not None and again.solutions is not None  # noqa: PT018
    np.testing.assert_array_equal(few.regret[0], many.regret[0, :2, :2])
    np.testing.assert_array_equal(few.solutions[0], many.solutions[0, :2, :60])
    np.testing.assert_array_equal(again.regret[1], many.regret[0, :3, :2])
    np.testing.assert_array_equal(again.solutions[1], many.solutions[0, :3, :60])


def test_the_horizon_tunes_those_that_need_it() -> None:
    problem = WIDE_PROBLEMS["top-k"]
    short, long_ = (simulate(problem, policies.FPL(), horizon=n, runs=6, seed=5, record="solutions") for n in (40, 330))
    assert short.solutions is not None
    assert long_.solutions is not None
    assert (short.solutions[0] != long_.solutions[0, :, :40]).any()
    given = policies.FPL().start(task(problem, policies.FPL(), horizon=40).agent(0).game, problem.feasible).constants
    same_eta = simulate(problem, policies.FPL(eta=float(given[0])), horizon=40, runs=6, seed=5, record="solutions")
    np.testing.assert_array_equal(same_eta.solutions, short.solutions)  # type: ignore[arg-type]


def test_runs_can_be_played_in_any_blocks() -> None:
    one = task(WIDE_PROBLEMS["costs"], policies.FPL(eta=0.1), horizon=HORIZON)
    engine = SingleEngine(one)
    whole = engine.play(0, 5)
    assert whole is not None
    for first, runs in ((0, 2), (2, 1), (3, 2)):
        part = engine.play(first, runs)
        assert part is not None
        for name, array in part.arrays().items():
            np.testing.assert_array_equal(array, whole.arrays()[name][first : first + runs])
    same(SingleEngine(one).play(0, 5), whole)  # type: ignore[arg-type]


def test_chunks_of_rounds_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    from semibandits.simulation.engines import base

    one = task(WIDE_PROBLEMS["costs"], policies.FPL(eta=0.1), horizon=HORIZON)
    whole = SingleEngine(one).play(0, 2)
    assert whole is not None
    monkeypatch.setattr(base, "TRACE_CELLS", 7)
    ticks: list[int] = []
    cut = SingleEngine(one).play(0, 2, ticks.append)
    assert cut is not None
    same(cut, whole)
    assert sum(ticks) == 2 * HORIZON
    assert len(ticks) > 100


def test_records() -> None:
    options: Any = {"horizon": 100, "runs": 2, "seed": 0, "uncovered": "ignore"}
    for name in ("rewards", "costs"):
        problem = WIDE_PROBLEMS[name]
        full = simulate(problem, [policies.ESCB(), policies.FPL()], record=EVERYTHING, **options)
        assert full.solutions is not None
        assert full.counts is not None
        for run, policy in itertools.product(range(2), range(2)):
            rows = full.solutions[policy, run]
            np.testing.assert_array_equal(
                np.bincount(rows[rows >= 0], minlength=problem.n_items), full.counts[policy, run]
            )
            assert all(problem.feasible.contains(row[row >= 0].tolist()) for row in rows)
            gaps = [problem.gap(row[row >= 0]) for row in rows]
            assert full.regret[policy, run, -1] == pytest.approx(sum(gaps), abs=1e-9)
        counted = simulate(problem, [policies.ESCB(), policies.FPL()], record="counts", **options)
        assert counted.solutions is None
        assert counted.sums is None
        np.testing.assert_array_equal(counted.counts, full.counts)  # type: ignore[arg-type]
        bare = simulate(problem, [policies.ESCB(), policies.FPL()], **options)
        assert bare.counts is None
        np.testing.assert_array_equal(bare.regret, full.regret)


# Where it is played


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    seen: list[int] = []
    original: Callable[..., Any] = schedule.play_with

    def play_with(engine: Any, one: Task, first: int, runs: int, *rest: Any) -> Any:
        seen.extend(range(first, first + runs))
        return original(engine, one, first, runs, *rest)

    monkeypatch.setattr(schedule, "play_with", play_with)
    return seen


@pytest.mark.parametrize("feedback", ["semi", "bandit"])
def test_a_store_resumes(feedback: Any, tmp_path: Path, played: list[int]) -> None:
    problem = WIDE_PROBLEMS["listed"]
    options: Any = {"horizon": 50, "seed": 4, "feedback": feedback, "record": "counts"}
    entrants = [policies.COMBAND(), policies.OFUL()]
    whole = simulate(problem, entrants, runs=4, **options)
    played.clear()
    simulate(problem, entrants, runs=2, store=tmp_path / "sweep", **options)
    more = simulate(problem, entrants[::-1], runs=4, store=tmp_path / "sweep", **options)
    assert sorted(played) == [0, 0, 1, 1, 2, 2, 3, 3]
    np.testing.assert_array_equal(more.regret, whole.regret[::-1])
    other = [policies.COMBAND(eta=0.1), policies.OFUL(delta=0.5)]
    simulate(problem, other, runs=2, store=tmp_path / "sweep", **options)
    assert len(played) == 12
    again = {**options, "feedback": "bandit" if feedback == "semi" else "semi"}
    with pytest.raises(errors.BadState, match="holds another experiment"):
        simulate(problem, entrants, runs=2, store=tmp_path / "sweep", **again)


def test_a_store_knows_features_by_their_numbers(tmp_path: Path, played: list[int]) -> None:
    problem = WIDE_PROBLEMS["top-k"]
    options: Any = {"horizon": 30, "seed": 4, "runs": 2, "store": tmp_path / "sweep"}
    rows = np.random.default_rng(0).random((7, 2))
    first = simulate(problem, policies.CombLinUCB(rows), **options)
    again = simulate(problem, policies.CombLinUCB(rows.tolist()), **options)
    assert len(played) == 2
    np.testing.assert_array_equal(first.regret, again.regret)
    simulate(problem, policies.CombLinUCB(rows + 1e-9), **options)
    simulate(problem, policies.OLSUCB(np.eye(7) / 4), **options)
    simulate(problem, policies.OLSUCB(np.eye(7) / 5), **options)
    assert len(played) == 8


def test_an_executor() -> None:
    problem = WIDE_PROBLEMS["costs"]
    options: Any = {"horizon": HORIZON, "runs": 3, "seed": 2, "record": "solutions"}
    entrants = [policies.FPL(eta=0.1), Lottery()]
    here = simulate(problem, entrants, threads=1, engine="plain", **options)
    with ThreadPoolExecutor(2) as pool:
        there = simulate(problem, entrants, executor=pool, **options)
    np.testing.assert_array_equal(there.regret, here.regret)
    np.testing.assert_array_equal(there.solutions, here.solutions)  # type: ignore[arg-type]


def test_a_users_policy_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = WIDE_PROBLEMS["listed"]
    options: Any = {"horizon": 60, "runs": 4, "seed": 0, "record": EVERYTHING}

    class Local(Lottery):
        """Cannot be imported by others."""

    entrants = [Lottery(), Local(), Sums()]
    here = simulate(problem, entrants, threads=2, **options)
    assert here.engine.endswith("in one process")
    monkeypatch.setattr(schedule, "FEW_SECONDS", 0.0)
    spread = simulate(problem, entrants, threads=2, **options)
    assert spread.engine.endswith("in 2 processes")
    for name in ("regret", "counts", "sums", "solutions"):
        np.testing.assert_array_equal(getattr(spread, name), getattr(here, name))


def test_the_engine_says_why_it_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = WIDE_PROBLEMS["top-k"]
    options: Any = {"horizon": 20, "runs": 1, "seed": 0, "threads": 1}
    few = simulate(problem, policies.ESCB(), horizon=10, runs=1, seed=0)
    assert few.engine == "plain loop: 10 rounds are too few to compile for, in one process"
    monkeypatch.setattr(schedule, "FEW_ROUNDS", 0)
    assert simulate(problem, Lottery(), **options).engine.startswith("plain loop: Lottery() is not a CompiledPolicy")
    top = sets.TopK(4, 2)
    called = Problem(sets.Oracle(top.argmax, 4, 2), environments.Bernoulli([0.2, 0.4, 0.6, 0.8]))
    result = simulate(called, policies.CombLinUCB(np.eye(4)), **options)
    assert result.engine.startswith("plain loop: Oracle(")
    assert "has no oracle for the compiler" in result.engine
    drawn = Problem(top, environments.Custom(lambda generator: generator.random(4), [0.5] * 4))
    result = simulate(drawn, policies.CombLinUCB(np.eye(4)), **options)
    assert "draws its weights in Python" in result.engine
    for policy, why in ((Lottery(), "not a CompiledPolicy"), (policies.FPL(), "draws its weights in Python")):
        with pytest.raises(errors.Unsupported, match=why):
            simulate(drawn, policy, engine="compiled", **options)


# Errors


def test_errors_name_run_and_round() -> None:
    class Fails(Lottery):
        def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
            if round == 4:
                raise ZeroDivisionError("oops")
            return super().choose(state, feasible, round, key)

    class Cheats(Lottery):
        def choose(self, state: State, feasible: FeasibleSet, round: int, key: int) -> tuple[Items, Note]:
            return (np.array([1, 4]) if round == 4 else np.array([5])), None

    problem = WIDE_PROBLEMS["listed"]
    with pytest.raises(ZeroDivisionError) as raised:
        simulate(problem, Fails(), horizon=10, runs=2, seed=0)
    assert raised.value.__notes__ == ["in run 0, round 4"]
    with pytest.raises(errors.InfeasibleSolution, match=r"run 0, round 4: .*\[1, 4\], which is not feasible"):
        simulate(problem, Cheats(), horizon=10, runs=2, seed=0)


def test_policies_that_do_not_fit_are_refused_at_once() -> None:
    large = Problem(sets.TopK(40, 20), environments.Bernoulli([0.5] * 40))
    for policy in (policies.OLSUCB(), policies.OFUL(), policies.COMBAND()):
        with pytest.raises(errors.Unsupported, match="looks at every solution"):
            simulate(large, policy, horizon=5, runs=1, seed=0)
    with pytest.raises(errors.BadArgument, match="row for each of the 40 items"):
        simulate(large, policies.CombLinUCB(np.eye(3)), horizon=5, runs=1, seed=0)
    with pytest.raises(errors.BadArgument, match="an instance"):
        simulate(large, policies.FPL, horizon=5, runs=1, seed=0)  # type: ignore[arg-type]
    dead = Problem(sets.Enumerated([[0], [1]], n_items=3), environments.Bernoulli([0.5] * 3))
    with pytest.raises(errors.UncoveredItems):
        simulate(dead, policies.ESCB(), horizon=5, runs=1, seed=0)
    assert math.isfinite(simulate(dead, policies.ESCB(), horizon=5, runs=1, seed=0, uncovered="ignore").regret.sum())
    assert math.isfinite(simulate(dead, policies.FPL(), horizon=5, runs=1, seed=0).regret.sum())


def test_a_horizon_inside_init_truncates_it() -> None:
    problem = Problem(sets.TopK(9, 2), environments.Bernoulli(np.linspace(0.1, 0.9, 9)))
    options: Any = {"runs": 1, "seed": 0, "record": "solutions"}
    short, whole = (simulate(problem, policies.ESCB(), horizon=n, **options) for n in (3, 20))
    np.testing.assert_array_equal(short.solutions[0, 0], whole.solutions[0, 0, :3])  # type: ignore[index]
    learner = Learner(problem.feasible, policies.ESCB(), seed=0)
    for row in whole.solutions[0, 0]:  # type: ignore[index]
        decision = learner.ask()
        assert decision.items.tolist() == row.tolist()
        weights = problem.environment.weights(decision.round, rng.key(0, 0, decision.round, rng.WORLD), decision.items)
        learner.tell(decision.id, weights)


def test_the_bandits_are_among_them() -> None:
    assert {type(on(name, WIDE_PROBLEMS["top-k"])) for name in BANDIT} == {
        policies.COMBAND,
        policies.OFUL,
        policies.LinUCB,
    }
    assert LISTED.max_size == 3
