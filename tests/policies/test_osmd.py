"""OSMD: its rates, its steps and estimates against other ways to them, whole runs against a plain simulation."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from semibandits import Learner, Problem, environments, errors, policies, rng, sets
from semibandits.kernel import warm
from semibandits.policies.solution import osmd, polytope
from semibandits.policies.solution.osmd import OSMD, OSMDState, Regulariser
from semibandits.simulation import simulate
from semibandits.testing import check_policy
from semibandits.types import FeasibleSet
from support.hulls import draws, game, listed_draws, play_many, saved_goes_on
from support.many_plays import NOT_POSITIVE, refuses, top_k
from support.plain_play import agree
from support.tasks import long

Numbers = NDArray[np.float64]
KINDS: list[Regulariser] = ["entropy", "inf"]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """No text is compiled unless a test asks for it."""
    monkeypatch.setattr(warm, "PATIENCE", math.inf)


def started(policy: OSMD, feasible: FeasibleSet, offset: float = 0.0) -> OSMDState:
    return policy.start(game(feasible, 1000, offset), feasible)


def moved(kind: Regulariser, x: Numbers, push: Numbers, k: int) -> Numbers:
    """The nearest point, in the divergence of F, to where the step leads: of each row, by halving."""
    with np.errstate(over="ignore"):
        slope = np.log(x) - push if kind == "entropy" else -1.0 / np.sqrt(x) - push

    def point(shift: Numbers) -> Numbers:
        z = slope + shift
        there: Numbers = np.exp(np.minimum(z, 0.0)) if kind == "entropy" else np.minimum(z, -1.0) ** -2.0
        return there

    low, high = np.full((len(x), 1), -10.0), push.max(axis=1, keepdims=True) + 1000.0
    for _ in range(70):
        middle = 0.5 * (low + high)
        less = point(middle).sum(axis=1, keepdims=True) < k
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return point(high)


# Rates and where it starts


def test_rates() -> None:
    """sqrt(2 K D / (n L)), D = log(L/K) or one more, and sqrt(2/n): worked out in decimals."""
    exact, at_most = sets.TopK(10, 3), sets.TopK(10, 3, bases=False)
    assert OSMD().start(game(exact, 1000), exact).constants[0] == pytest.approx(0.0268771963, rel=1e-8)
    assert OSMD().start(game(at_most, 1000), at_most).constants[0] == pytest.approx(0.0363645938, rel=1e-8)
    assert OSMD("inf").start(game(exact, 1000), exact).constants[0] == pytest.approx(0.0447213595, rel=1e-8)
    assert OSMD("inf").start(game(at_most, 50), at_most).constants[0] == pytest.approx(0.2)
    assert OSMD(eta=0.5).start(game(exact), exact).constants[0] == 0.5


def test_losses_are_between_zero_and_one() -> None:
    assert started(OSMD(), sets.TopK(4, 2)).constants[1:4].tolist() == [1.0, 1.0, 0.0]
    assert started(OSMD(), sets.TopK(4, 2, bases=False), offset=-1.0).constants[1:4].tolist() == [1.0, 1.0, 0.0]
    assert started(OSMD(), sets.TopK(4, 2, bases=False)).constants[1:4].tolist() == [0.0, 1.0, -1.0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_point(kind: Regulariser) -> None:
    """Where F is least."""
    policy = OSMD(kind)
    assert started(policy, sets.TopK(8, 2)).point.tolist() == [0.25] * 8
    assert started(policy, sets.TopK(8, 2, bases=False)).point.tolist() == [0.25] * 8
    groups = sets.PartitionMatroid([0, 1, 0, 1, 1], [1, 2])
    np.testing.assert_allclose(started(policy, groups).point, [1 / 2, 2 / 3, 1 / 2, 2 / 3, 2 / 3])
    part = sets.TopK(5, 2).restrict(include=[1], exclude=[2])
    np.testing.assert_allclose(started(policy, part).point, [1 / 3, 1.0, 0.0, 1 / 3, 1 / 3])
    rows = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]])
    state = started(policy, sets.Enumerated([[0, 1], [1, 2, 3]]))

    def value(share: float) -> float:
        x = np.array([share, 1.0 - share]) @ rows
        return float(np.sum(x * np.log(x) - x) if kind == "entropy" else -2.0 * np.sum(np.sqrt(x)))

    best: Any = optimize.minimize_scalar(value, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-10})
    np.testing.assert_allclose(state.point, np.array([best.x, 1.0 - best.x]) @ rows, atol=1e-4)
    np.testing.assert_allclose(state.weights @ rows, state.point, atol=1e-14)


# Steps


def test_one_step_by_hand() -> None:
    """A loss of 0.8 at a chance of 0.4, and η = 1/2, is a push of 1."""
    feasible = sets.TopK(3, 1)
    told: Any = (feasible, 9, np.array([1]), np.array([0.2]), np.array([0.4]), 0)
    state = started(OSMD(eta=0.5), feasible)._replace(point=np.array([0.5, 0.25, 0.25]))
    after = OSMD(eta=0.5).learn(state, *told)
    pushed = np.array([0.5, 0.25 / math.e, 0.25])
    np.testing.assert_allclose(after.point, pushed / pushed.sum(), rtol=1e-14)
    assert state.point.tolist() == [0.5, 0.25, 0.25]
    inf = OSMD("inf", eta=0.5)
    after = inf.learn(started(inf, feasible)._replace(point=np.array([0.5, 0.25, 0.25])), *told)
    shift = optimize.brentq(lambda c: (math.sqrt(2) + c) ** -2 + (3.0 + c) ** -2 + (2.0 + c) ** -2 - 1.0, -1.0, 0.0)
    np.testing.assert_allclose(after.point, (np.array([math.sqrt(2), 3.0, 2.0]) + shift) ** -2.0, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_of_groups(kind: Regulariser) -> None:
    """A few rounds of large steps, each group by itself."""
    feasible = sets.PartitionMatroid([0, 1, 0, 1, 0, 1, 1], [1, 3])
    policy, generator = OSMD(kind, eta=0.7), np.random.default_rng(2)
    state = started(policy, feasible)
    for t in range(1, 40):
        items, note = policy.choose(state, feasible, t, rng.key(3, 0, t, rng.POLICY))
        np.testing.assert_array_equal(note, state.point[items])
        x = generator.random(items.size)
        push = np.zeros(7)
        push[items] = 0.7 * (1.0 - x) / note
        after = policy.learn(state, feasible, t, items, x, note, 0)
        for members, k in (([0, 2, 4], 1), ([1, 3, 5, 6], 3)):
            expected = moved(kind, state.point[None, members], push[None, members], k)[0]
            np.testing.assert_allclose(after.point[members], expected, rtol=1e-6, atol=1e-9)
        state = after


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_the_set(kind: Regulariser) -> None:
    """From the nearest point of the part's own hull; the state is of the whole set."""
    feasible = sets.TopK(6, 3)
    policy = OSMD(kind, eta=0.1)
    point = np.array([0.9, 0.6, 0.5, 0.4, 0.35, 0.25])
    state = started(policy, feasible)._replace(point=point)
    part = feasible.restrict(include=[5], exclude=[0])
    x = np.zeros(6)
    for t in range(1, 60):
        items, note = policy.choose(state, part, 4, rng.key(1, 0, t, rng.POLICY))
        x[items] = note
    assert x[0] == 0.0
    assert x[5] == 1.0
    np.testing.assert_allclose(x[1:5], moved(kind, point[None, 1:5], np.zeros((1, 4)), 2)[0], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_listed_solutions_are_played_as_quotas_are(kind: Regulariser) -> None:
    listed = sets.Enumerated([list(items) for items in itertools.combinations(range(5), 2)])
    policy, generator = OSMD(kind, eta=0.3), np.random.default_rng(4)
    state = started(policy, listed)
    x = np.full(5, 0.4)
    for t in range(1, 15):
        np.testing.assert_allclose(state.point, x, atol=1e-3)
        items, note = policy.choose(state, listed, t, rng.key(2, 0, t, rng.POLICY))
        np.testing.assert_array_equal(note[:, 0], state.point[items])
        weights, push = generator.random(2), np.zeros(5)
        push[items] = 0.3 * (1.0 - weights) / note[:, 0]
        x = moved(kind, state.point[None], push[None], 2)[0]
        state = policy.learn(state, listed, t, items, weights, note, 0)
    part = listed.restrict(exclude=[1])
    x[:] = 0.0
    for t in range(1, 60):
        items, note = policy.choose(state, part, 4, rng.key(1, 0, t, rng.POLICY))
        x[items] = note[:, 0]
    others = [0, 2, 3, 4]
    assert x[1] == 0.0
    np.testing.assert_allclose(x[others], moved(kind, state.point[None, others], np.zeros((1, 4)), 2)[0], atol=1e-3)


# Estimates

CASES: list[tuple[FeasibleSet, float]] = [
    (sets.TopK(5, 2), 0.0),
    (sets.TopK(5, 3, bases=False), 0.0),
    (sets.TopK(5, 3, bases=False), -1.0),
    (sets.PartitionMatroid([0, 1, 0, 1, 1], [1, 2], bases=False), 0.5),
    (sets.Enumerated([[0, 1], [0, 2, 3], [4], [1, 3]]), 0.0),
    (sets.Enumerated([[0, 1], [2, 3], [1, 3]]), 0.0),
]


@pytest.mark.parametrize(("feasible", "offset"), CASES, ids=str)
def test_estimates_are_unbiased(feasible: FeasibleSet, offset: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all draws, the mean of what pushes the point is η times the losses, of every item."""
    eta = 0.5
    policy = OSMD(eta=eta)
    state = started(policy, feasible, offset)
    weights = np.random.default_rng(5).random(feasible.n_items)
    equal = len({len(one) for one in feasible.listed(100) or []}) == 1
    losses = 1.0 - weights if equal else -(weights + offset) / max(abs(offset), abs(1.0 + offset))
    if feasible.quotas() is None:
        found = listed_draws(policy, state, feasible, 1, monkeypatch)
    else:
        found = draws(policy, state, feasible, 1, state.point, monkeypatch)
    estimate, total = np.zeros(feasible.n_items), 0.0
    for chance, items, note in found:
        told = Told(feasible.n_items)
        with monkeypatch.context() as patch:
            patch.setattr(osmd, "entropy_in_group", told.slopes)
            patch.setattr(polytope, "minimum", told.goal)
            policy.learn(state, feasible, 1, items, weights[items], note, 0)
        estimate += chance * (told.heard + np.log(state.point)) / eta
        total += chance
    assert total == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(estimate, losses, atol=1e-9)


class Told:
    """In the place of a projection: takes down the slopes that it was to project, η ℓ̂ - log x."""

    def __init__(self, n_items: int) -> None:
        self.heard = np.zeros(n_items)

    def slopes(self, c: Numbers, x: Numbers, members: Any, begin: int, end: int, *others: Any) -> None:
        self.heard[members[begin:end]] = c[members[begin:end]]

    def goal(self, hull: Any, c: Numbers, rule: Any) -> tuple[Numbers, Numbers]:
        self.heard[:] = c
        return np.zeros(1), np.zeros(c.size)


@pytest.mark.parametrize(("feasible", "offset"), CASES, ids=str)
def test_feedback_in_parts(feasible: FeasibleSet, offset: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the parts push is what the whole pushes. (Where they lead to may differ: they are projected one by one.)"""
    policy = OSMD(eta=0.5)
    state = started(policy, feasible, offset)
    for t in range(1, 40):
        items, note = policy.choose(state, feasible, t, rng.key(3, 0, t, rng.POLICY))
        if items.size > 1:
            break
    x = np.random.default_rng(2).random(items.size)

    def push(some: slice) -> Numbers:
        told = Told(feasible.n_items)
        cut = note[some] if note.shape[:1] == items.shape else note  # as a learner cuts it
        with monkeypatch.context() as patch:
            patch.setattr(osmd, "entropy_in_group", told.slopes)
            patch.setattr(polytope, "minimum", told.goal)
            policy.learn(state, feasible, 1, items[some], x[some], cut, 0)
        return told.heard + np.log(state.point)

    np.testing.assert_allclose(push(slice(1, None)) + push(slice(0, 1)), push(slice(None)), rtol=1e-12, atol=1e-15)
    assert np.abs(push(slice(None))).max() > 1e-3


def test_late_feedback_counts_by_the_chances_of_its_decision() -> None:
    feasible = sets.TopK(3, 1)
    policy = OSMD(eta=0.5)
    state = started(policy, feasible)._replace(point=np.array([0.2, 0.3, 0.5]))
    after = policy.learn(state, feasible, 1, np.array([2]), np.array([0.2]), np.array([0.8]), 0)
    pushed = np.array([0.2, 0.3, 0.5 * math.exp(-0.5 * 0.8 / 0.8)])
    np.testing.assert_allclose(after.point, pushed / pushed.sum(), rtol=1e-13)


def test_draws_have_the_chances_of_the_point() -> None:
    feasible, policy, n = sets.TopK(6, 2), OSMD(eta=0.1), 4000
    point = np.array([0.05, 0.95, 0.3, 0.2, 0.1, 0.4])
    state = started(policy, feasible)._replace(point=point)
    counts = np.zeros(6)
    for t in range(1, n + 1):
        counts[policy.choose(state, feasible, t, rng.key(77, 0, t, rng.POLICY))[0]] += 1
    pvalues = [stats.binomtest(int(count), n, chance).pvalue for count, chance in zip(counts, point, strict=True)]
    assert min(pvalues) > 1e-4


def test_extreme_steps_stay_within_the_hull() -> None:
    """Losses that drive all but a few chances to nothing, for hundreds of rounds."""
    for kind, feasible in itertools.product(KINDS, (sets.TopK(5, 2), sets.TopK(5, 2, bases=False))):
        policy = OSMD(kind, eta=50.0)
        state = started(policy, feasible, offset=-1.0)
        for t in range(1, 80):
            items, note = policy.choose(state, feasible, t, rng.key(1, 0, t, rng.POLICY))
            state = policy.learn(state, feasible, t, items, (items % 2).astype(np.float64), note, 0)
            assert ((state.point > 0.0) & (state.point <= 1.0)).all()
            assert state.point.sum() <= 2.0 + 1e-9
            if feasible.bases:
                assert state.point.sum() == pytest.approx(2.0, abs=1e-9)


# Whole runs

MEANS = [0.8, 0.7, 0.4, 0.3, 0.2]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["entropy", "inf"])
def test_whole_runs(kind: Regulariser) -> None:
    horizon, k, runs = 200, 2, 300
    eta = math.sqrt(2 * k * math.log(5 / k) / (5 * horizon)) if kind == "entropy" else math.sqrt(2 / horizon)

    def learn(t: int, point: Numbers, x: Numbers, chosen: Numbers, losses: Numbers) -> Numbers:
        return moved(kind, x, eta * losses * chosen / x, k)

    start = np.full((runs, 5), k / 5)
    theirs = play_many(lambda t, x: x, learn, start, np.array(MEANS), k, horizon=horizon, runs=runs, seed=9)
    ours = simulate(top_k(MEANS, k), OSMD(kind), horizon=horizon, runs=1500, seed=3, engine="compiled")
    agree(ours.regret[0, :, -1], theirs)


@pytest.mark.parametrize("kind", [long("entropy"), "inf"])
def test_machine_code_decides_alike(kind: Regulariser) -> None:
    fast, slow = (
        simulate(top_k(MEANS, 2), OSMD(kind), horizon=200, runs=2, seed=8, engine=engine)
        for engine in ("compiled", "plain")
    )
    np.testing.assert_array_equal(fast.regret, slow.regret)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "feasible",
    [
        sets.TopK(6, 3, bases=False),
        sets.PartitionMatroid([0, 1, 0, 1, 1, 2], [1, 2, 1]),
        sets.PartitionMatroid([0, 1, 0, 1, 1, 2], [1, 2, 1], bases=False),
        sets.TopK(40, 25),
        sets.TopK(6, 3).restrict(include=[1], exclude=[4]),
    ],
    ids=str,
)
def test_machine_code_decides_alike_on_other_sets(kind: Regulariser, feasible: FeasibleSet) -> None:
    problem = Problem(feasible, environments.Bernoulli(np.linspace(0.2, 0.9, feasible.n_items)))
    fast, slow = (
        simulate(problem, OSMD(kind), horizon=150, runs=2, seed=8, engine=engine, uncovered="ignore")
        for engine in ("compiled", "plain")
    )
    np.testing.assert_array_equal(fast.regret, slow.regret)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_holds(kind: Regulariser) -> None:
    """sqrt(2 K L n log(L/K)), and 2 sqrt(2 K L n), on coins."""
    result = simulate(top_k(MEANS, 2), OSMD(kind), horizon=2000, runs=50, seed=3, engine="compiled")
    bound = math.sqrt(2 * 2 * 5 * 2000 * math.log(2.5)) if kind == "entropy" else 2 * math.sqrt(2 * 2 * 5 * 2000)
    assert result.regret[0, :, -1].mean() < bound


# Live use


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "feasible",
    [long(sets.TopK(8, 3)), long(sets.TopK(5, 3, bases=False)), sets.Enumerated([[0, 1], [0, 2, 3], [4], [1, 3]])],
    ids=str,
)
def test_it_keeps_the_contract(kind: Regulariser, feasible: FeasibleSet) -> None:
    check_policy(OSMD(kind, eta=0.1), trials=20, feasible=feasible)


@pytest.mark.parametrize("feasible", [sets.TopK(5, 2), sets.GridPaths(2)], ids=str)
def test_a_saved_learner_goes_on(feasible: FeasibleSet, tmp_path: Path) -> None:
    saved_goes_on(OSMD("inf", eta=0.2), feasible, tmp_path)


def test_what_it_refuses() -> None:
    with pytest.raises(errors.Unsupported, match=r"OSMD looks at every solution.*FPL"):
        Learner(sets.GridPaths(8), OSMD(eta=0.1), seed=1)
    with pytest.raises(errors.SemiBanditError, match="give eta="):
        Learner(sets.TopK(5, 2), OSMD(), seed=1)
    with pytest.raises(errors.BadArgument, match="regulariser must be 'entropy' or 'inf', got 'tsallis'"):
        OSMD("tsallis")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [value for value in NOT_POSITIVE if value is not None])
def test_bad_parameters(value: object) -> None:
    refuses(policies.OSMD, "eta", value)  # type: ignore[arg-type]
