"""COMBAND: its chances and its estimator by enumeration and NumPy's pseudo-inverse."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from semibandits import errors, policies, rng, sets
from semibandits.kernel import warm
from semibandits.policies.solution import listing
from semibandits.testing import check_policy
from semibandits.types import FeasibleSet, Game

Numbers = NDArray[np.float64]
OF_ALL_SIZES = [[0, 1, 2], [3, 4], [5], [0, 3, 5], [1, 4, 6], [2, 6], [0, 1, 2, 3]]
NO_CONSTANT = [[0], [1], [0, 1]]


@pytest.fixture(autouse=True)
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", math.inf)


def rows(feasible: FeasibleSet) -> tuple[list[list[int]], Numbers]:
    listed = [one.tolist() for one in feasible.listed(1000) or ()]
    matrix = np.zeros((len(listed), feasible.n_items))
    for j, one in enumerate(listed):
        matrix[j, one] = 1.0
    return listed, matrix


def chances(matrix: Numbers, losses: Numbers, eta: float, gamma: float) -> Numbers:
    q = np.exp(-eta * (matrix @ losses - (matrix @ losses).min()))
    p: Numbers = (1.0 - gamma) * q / q.sum() + gamma / len(matrix)
    return p


def notes(policy: Any, state: Any, feasible: FeasibleSet, listed: list[list[int]]) -> dict[int, Numbers]:
    """The note that comes with each solution: keys are tried until all were drawn."""
    found: dict[int, Numbers] = {}
    for key in rng.keys(5, 0, 1, 2000, rng.POLICY).tolist():
        items, note = policy.choose(state, feasible, 1, key)
        j = listed.index(items.tolist())
        if j in found:
            assert np.array_equal(found[j], note)
        found[j] = note
        if len(found) == len(listed):
            return found
    raise AssertionError(f"{len(listed) - len(found)} solutions were never drawn")


SETS = [
    sets.TopK(5, 2),
    sets.GridPaths(2),
    sets.KPaths(6, 3),
    sets.Enumerated(OF_ALL_SIZES),
    sets.Enumerated(NO_CONSTANT),
    sets.Enumerated([[1, 2], [0, 2], [0, 1], [0, 1, 2]], n_items=5),
]


@pytest.mark.parametrize("feasible", SETS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, -1.0, 0.7])
def test_the_estimator_expects_to_be_the_losses(feasible: FeasibleSet, offset: float) -> None:
    """Σ p c P⁺v over all solutions is the projection of the losses on what solutions span, for any losses."""
    listed, matrix = rows(feasible)
    generator = np.random.default_rng(len(listed))
    policy = policies.COMBAND(eta=0.4, gamma=0.3)
    state = policy.start(Game(feasible.n_items, feasible.max_size, offset=offset), feasible)
    state = state._replace(estimates=generator.normal(size=feasible.n_items))
    p = chances(matrix, state.estimates, 0.4, 0.3)
    inverse = np.linalg.pinv(matrix.T @ (p[:, None] * matrix), rcond=1e-10, hermitian=True)
    found = notes(policy, state, feasible, listed)
    for j, note in found.items():
        np.testing.assert_allclose(note, inverse @ matrix[j], rtol=1e-8, atol=1e-9)
    x = generator.random(feasible.n_items)
    worth = matrix @ (x + offset)
    mean = np.zeros(feasible.n_items)
    losses = np.empty(len(listed))
    for j, one in enumerate(listed):
        items = np.array(one)
        after = policy.learn(state, feasible, 1, items, np.array([x[items].sum()]), found[j], 0)
        change = after.estimates - state.estimates
        mean += p[j] * change
        losses[j] = (change @ matrix[j]) / (found[j] @ matrix[j])
    assert (np.abs(losses) <= 1.0 + 1e-9).all()
    # every solution's estimate is its loss on average, and losses are worths turned round, but for a constant
    np.testing.assert_allclose(matrix @ mean, losses, rtol=1e-7, atol=1e-7)
    scaled = np.polynomial.polynomial.polyfit(worth, losses, 1)
    np.testing.assert_allclose(losses, scaled[0] + scaled[1] * worth, atol=1e-7)
    assert scaled[1] < 0.0
    projection = np.linalg.pinv(matrix) @ matrix
    np.testing.assert_allclose(projection @ mean, mean, rtol=1e-7, atol=1e-8)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), n_items=st.integers(1, 6), n=st.integers(1, 6))
def test_notes_on_random_sets(seed: int, n_items: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    drawn = {tuple(np.flatnonzero(row).tolist()) for row in generator.random((n, n_items)) < 0.5}
    feasible = sets.Enumerated(sorted(drawn | {(0,)}), n_items=n_items)
    listed, matrix = rows(feasible)
    policy = policies.COMBAND(eta=0.7, gamma=0.2)
    state = policy.start(Game(n_items, feasible.max_size), feasible)
    state = state._replace(estimates=generator.normal(size=n_items))
    p = chances(matrix, state.estimates, 0.7, 0.2)
    inverse = np.linalg.pinv(matrix.T @ (p[:, None] * matrix), rcond=1e-10, hermitian=True)
    for key in rng.keys(seed, 0, 1, 5, rng.POLICY).tolist():
        items, note = policy.choose(state, feasible, 1, key)
        np.testing.assert_allclose(note, inverse @ matrix[listed.index(items.tolist())], rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    ("feasible", "offset", "worst", "best"),
    [
        (sets.TopK(5, 2), 0.0, 0.0, 2.0),
        (sets.TopK(5, 2), -1.0, -2.0, 0.0),
        (sets.TopK(5, 2), 3.0, 6.0, 8.0),
        (sets.GridPaths(2), -0.5, -2.0, 2.0),
        (sets.DagPaths([("s", "t"), ("s", "a"), ("a", "b"), ("b", "t")], "s", "t"), 0.0, 0.0, 3.0),
        (sets.DagPaths([("s", "t"), ("s", "a"), ("a", "b"), ("b", "t")], "s", "t"), -1.0, -3.0, 0.0),
        (sets.DagPaths([("s", "t"), ("s", "a"), ("a", "b"), ("b", "t")], "s", "t"), 1.0, 1.0, 6.0),
        (sets.Enumerated(NO_CONSTANT), 0.0, -2.0, 2.0),  # no constants: the range is made symmetric
        (sets.Enumerated(NO_CONSTANT), -3.0, -6.0, 6.0),
        (sets.Enumerated(NO_CONSTANT), 1.0, -4.0, 4.0),
    ],
    ids=repr,
)
def test_losses_are_from_minus_one_to_one(feasible: FeasibleSet, offset: float, worst: float, best: float) -> None:
    policy = policies.COMBAND(eta=0.1)
    state = policy.start(Game(feasible.n_items, feasible.max_size, offset=offset), feasible)
    note = np.ones(feasible.n_items)
    for items in feasible.listed(100) or ():
        for x in (0.0, 0.3 * items.size, float(items.size)):
            after = policy.learn(state, feasible, 1, items, np.array([x]), note, 0)
            worth = x + offset * items.size
            np.testing.assert_allclose(after.estimates, 1.0 - 2.0 * (worth - worst) / (best - worst), atol=1e-12)
            assert np.abs(after.estimates).max() <= 1.0 + 1e-12


@pytest.mark.parametrize("feasible", [sets.TopK(4, 2), sets.Enumerated(OF_ALL_SIZES)], ids=repr)
def test_solutions_are_drawn_with_their_chances(feasible: FeasibleSet) -> None:
    listed, matrix = rows(feasible)
    policy = policies.COMBAND(eta=0.9, gamma=0.15)
    state = policy.start(Game(feasible.n_items, feasible.max_size), feasible)
    state = state._replace(estimates=np.random.default_rng(1).normal(size=feasible.n_items))
    draws = 2500
    counts = np.zeros(len(listed))
    for key in rng.keys(6, 0, 1, draws, rng.POLICY).tolist():
        counts[listed.index(policy.choose(state, feasible, 1, key)[0].tolist())] += 1.0
    p = chances(matrix, state.estimates, 0.9, 0.15)
    assert p.max() > 2.0 * p.min()
    assert stats.chisquare(counts, draws * p).pvalue > 1e-4


@pytest.mark.parametrize("feasible", SETS[:5], ids=repr)
@pytest.mark.parametrize("horizon", [50, 10_000, 10**7])
def test_rates_as_published(feasible: FeasibleSet, horizon: int) -> None:
    _, matrix = rows(feasible)
    n = len(matrix)
    eigenvalues = np.linalg.eigvalsh(matrix.T @ matrix / n)
    least, d = eigenvalues[eigenvalues > 1e-9].min(), np.linalg.matrix_rank(matrix)
    B = np.linalg.norm(matrix, axis=1).max()
    eta = math.sqrt(math.log(n) / ((d + 2.0 * B**2 / least) * horizon))
    game = Game(feasible.n_items, feasible.max_size, horizon)
    facts = policies.COMBAND().start(game, feasible).constants
    np.testing.assert_allclose(facts[0], min(eta, least / B**2), rtol=1e-9)
    np.testing.assert_allclose(facts[1], min(eta * B**2 / least, 1.0), rtol=1e-9)
    facts = policies.COMBAND(eta=0.01).start(game, feasible).constants
    np.testing.assert_allclose(facts[:2], [0.01, min(0.01 * B**2 / least, 1.0)], rtol=1e-9)
    facts = policies.COMBAND(gamma=0.2).start(game, feasible).constants
    np.testing.assert_allclose(facts[:2], [0.2 * least / B**2, 0.2], rtol=1e-9)
    facts = policies.COMBAND(eta=3.0, gamma=0.2).start(game, feasible).constants
    np.testing.assert_allclose(facts[:2], [3.0, 0.2], rtol=1e-9)


def test_late_feedback_is_judged_by_the_chances_of_its_own_round() -> None:
    feasible = sets.TopK(5, 2)
    policy = policies.COMBAND(eta=0.5, gamma=0.3)
    first = policy.start(Game(5, 2), feasible)
    decisions = [policy.choose(first, feasible, t, rng.key(2, 0, t, rng.POLICY)) for t in (1, 2)]
    states = []
    for order in ((0, 1), (1, 0)):
        state = first
        for t in order:
            items, note = decisions[t]
            state = policy.learn(state, feasible, t + 1, items, np.array([0.3 + t]), note, 0)
        states.append(state.estimates)
    np.testing.assert_allclose(states[0], states[1], rtol=1e-12, atol=1e-12)
    assert not first.estimates.any()


def test_machine_code_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    feasible = sets.Enumerated(OF_ALL_SIZES)
    policy = policies.COMBAND(eta=0.05, gamma=0.2)
    played = []
    for patience in (math.inf, 0.0):
        monkeypatch.setattr(warm, "PATIENCE", patience)
        generator = np.random.default_rng(3)
        state = policy.start(Game(7, 4, offset=-0.3), feasible)
        steps = []
        for t in range(1, 101):
            items, note = policy.choose(state, feasible, t, rng.key(4, 0, t, rng.POLICY))
            state = policy.learn(state, feasible, t, items, generator.random(1) * items.size, note, 0)
            steps.append([items.tolist(), note.tolist(), state.estimates.tolist()])
        played.append(steps)
    assert all(one.code is not None for one in policy.live(feasible).warm[:2])
    assert played[0] == played[1]
    assert len({tuple(step[0]) for step in played[0]}) > 3


def test_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than half of what drawing at random would lose."""
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    feasible, horizon = sets.Enumerated(OF_ALL_SIZES), 20_000
    means = np.array([0.9, 0.8, 0.9, 0.9, 0.1, 0.2, 0.1])
    listed, matrix = rows(feasible)
    gaps = (matrix @ means).max() - matrix @ means
    policy = policies.COMBAND()
    state = policy.start(Game(7, 4, horizon), feasible)
    generator = np.random.default_rng(5)
    regret = 0.0
    for t in range(1, horizon + 1):
        items, note = policy.choose(state, feasible, t, rng.key(6, 0, t, rng.POLICY))
        regret += gaps[listed.index(items.tolist())]
        x = (generator.random(items.size) < means[items]).sum()
        state = policy.learn(state, feasible, t, items, np.array([float(x)]), note, 0)
    assert regret < 0.5 * horizon * gaps.mean()


def test_tiny_chances_do_no_harm() -> None:
    feasible = sets.TopK(6, 3)
    policy = policies.COMBAND(eta=10.0, gamma=1e-6)
    state = policy.start(Game(6, 3), feasible)._replace(estimates=np.array([-1e3, -1e3, -1e3, 1e3, 1e3, 1e3]))
    items, note = policy.choose(state, feasible, 1, 3)
    assert items.tolist() == [0, 1, 2]
    assert np.isfinite(note).all()
    np.testing.assert_allclose(note[items].sum(), 1.0, rtol=1e-3)  # v'P⁺v = 1/p


def test_a_single_solution() -> None:
    feasible = sets.Enumerated([[0, 2]], n_items=4)
    policy = policies.COMBAND()
    state = policy.start(Game(4, 2, 100), feasible)
    items, note = policy.choose(state, feasible, 1, 3)
    assert items.tolist() == [0, 2]
    np.testing.assert_allclose(note, [0.5, 0.0, 0.5, 0.0], atol=1e-12)


def test_a_part_of_the_set() -> None:
    feasible = sets.TopK(6, 2)
    policy = policies.COMBAND(eta=0.1)
    state = policy.start(Game(6, 2), feasible)
    part = feasible.restrict(exclude=(0, 1))
    for key in range(20):
        items, note = policy.choose(state, part, 1, key)
        assert items.min() > 1
        np.testing.assert_allclose(note[:2], 0.0, atol=1e-12)


def test_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    check_policy(policies.COMBAND(gamma=0.1), trials=20)
    monkeypatch.setattr(listing, "MOST_SOLUTIONS", 50)
    assert policies.COMBAND().needs_horizon
    assert not policies.COMBAND(eta=0.1).needs_horizon
    assert not policies.COMBAND(gamma=0.1).needs_horizon
    assert policies.COMBAND.instead_of_horizon == ": give eta= or gamma="
    assert policies.COMBAND.needs_note
    assert policies.COMBAND.feedback == "bandit"
    with pytest.raises(errors.Unsupported, match=r"COMBAND looks at every solution, .* more than 50: use CombUCB1"):
        policies.COMBAND().check(sets.GridPaths(4))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"eta": 0.0}, "eta must be a positive number, got 0.0"),
        ({"eta": math.inf}, "eta must be a positive number, got inf"),
        ({"gamma": 0.0}, "gamma must be a number between 0 and 1"),
        ({"gamma": 1.0}, "gamma must be a number between 0 and 1"),
        ({"gamma": "a"}, "gamma must be a number between 0 and 1 .*, got 'a'"),
    ],
)
def test_wrong_parameters(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(errors.BadArgument, match=said):
        policies.COMBAND(**wrong)
