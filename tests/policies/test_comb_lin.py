"""CombLinUCB and CombLinTS against the Bayesian posterior worked out in one piece by linear algebra."""

import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from semibandits import errors, policies, rng, sets
from semibandits.kernel import compiled, warm
from semibandits.policies.solution import comb_lin
from semibandits.types import Game
from support.many_plays import near
from support.tasks import long

Numbers = NDArray[np.float64]
BOTH = [policies.CombLinUCB, policies.CombLinTS]


def maximised(policy: Any, state: Any, feasible: Any, round: int, key: int) -> Any:
    """What the oracle maximises the sum of: x + offset."""
    return policy.scores(state, feasible, round, key) + state.constants[0]


@pytest.fixture(autouse=True)
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", math.inf)


def posterior(phi: Numbers, y: Numbers, lam: float, sigma: float) -> tuple[Numbers, Numbers]:
    """Of θ ~ N(0, lam²) and y = φ'θ + noise, from all observations together."""
    covariance = np.linalg.inv(np.eye(phi.shape[1]) / lam**2 + phi.T @ phi / sigma**2)
    return covariance @ (phi.T @ y) / sigma**2, covariance


def believes(state: Any, mean: Numbers, covariance: Numbers, rtol: float = 1e-9) -> None:
    for ours, theirs in ((state.theta, mean), (state.factor @ state.factor.T, covariance)):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * np.abs(theirs).max())


def features(n_items: int, d: int, seed: int = 0) -> Numbers:
    return np.random.default_rng(seed).normal(size=(n_items, d))


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 5),
    lam=st.sampled_from([0.1, 1.0, 30.0]),
    sigma=st.sampled_from([0.05, 0.5, 2.0]),
    offset=st.sampled_from([0.0, -1.0, 0.75, 9.0, -3.0]),
)
def test_the_belief_is_the_posterior(seed: int, d: int, lam: float, sigma: float, offset: float) -> None:
    generator = np.random.default_rng(seed)
    phi, feasible = features(7, d, seed), sets.TopK(7, 3)
    policy = policies.CombLinTS(phi, lam=lam, sigma=sigma)
    state = policy.start(Game(7, 3, offset=offset), feasible)
    items = np.array([generator.choice(7, size=3, replace=False) for _ in range(6)])
    x = generator.random((6, 3))
    for t in range(6):
        before = [array.copy() for array in state]
        after = policy.learn(state, feasible, t + 1, items[t], x[t], None, 0)
        assert all(np.array_equal(old, now) for old, now in zip(before, state, strict=True))
        state = after
    widest = max(abs(offset), abs(1.0 + offset))
    mean, covariance = posterior(phi[items.ravel()], x.ravel() + offset, lam * widest, sigma)
    believes(state, mean, covariance, rtol=1e-8)
    np.testing.assert_allclose(policy.estimates(state), phi @ mean - offset, rtol=1e-7, atol=1e-7 * widest)
    assert not np.tril(state.factor, -1).any()
    assert (np.diag(state.factor) > 0.0).all()


def test_the_order_of_feedback_does_not_matter() -> None:
    generator = np.random.default_rng(3)
    feasible = sets.TopK(9, 4)
    policy = policies.CombLinUCB(features(9, 4))
    told = [(generator.choice(9, size=4, replace=False), generator.random(4)) for _ in range(40)]
    beliefs = []
    for order in (np.arange(40), generator.permutation(40), np.arange(40)[::-1]):
        state = policy.start(Game(9, 4), feasible)
        for t in order:
            state = policy.learn(state, feasible, int(t) + 1, *told[t], None, 0)
        beliefs.append((state.theta, state.factor @ state.factor.T))
    for theta, covariance in beliefs[1:]:
        np.testing.assert_allclose(theta, beliefs[0][0], rtol=1e-11)
        np.testing.assert_allclose(covariance, beliefs[0][1], rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("sigma", [0.5, 1e-5])
def test_a_hundred_thousand_observations(sigma: float) -> None:
    """Also of features that are nearly the same: a covariance with eigenvalues of very different sizes."""
    generator = np.random.default_rng(4)
    phi = features(50, 6) * np.array([1.0, 1.0, 1.0, 1e-3, 1e-3, 30.0])
    items = generator.integers(50, size=100_000)
    truth = generator.normal(size=6)
    y = phi[items] @ truth + sigma * generator.normal(size=items.size)
    theta, factor, gain = np.zeros(6), np.eye(6), np.zeros(6)
    arguments = (np.array([0.0]), np.array([sigma**2]))
    state = (theta, factor, arguments[0])
    learn = compiled(comb_lin.learn)
    work = (gain, np.zeros(0, dtype=np.int64), np.zeros(50))
    learn(state, items, y, np.zeros(0), 1, np.uint64(0), (np.ascontiguousarray(phi.T), arguments[1]), work)
    mean, covariance = posterior(phi, np.zeros(50), 1.0, sigma)
    precision = np.eye(6) + (phi.T * np.bincount(items, minlength=50)) @ phi / sigma**2
    scale = np.sqrt(np.diag(precision))
    covariance = np.linalg.inv(precision / np.outer(scale, scale)) / np.outer(scale, scale)
    mean = covariance @ (phi[items].T @ y) / sigma**2
    deviations = np.sqrt(np.diag(covariance))
    ours = factor @ factor.T
    np.testing.assert_allclose(
        ours / np.outer(deviations, deviations), covariance / np.outer(deviations, deviations), atol=1e-7
    )
    np.testing.assert_allclose(theta, mean, atol=1e-3 * float(deviations.min()) + 1e-8)
    assert np.array_equal(ours, ours.T)
    assert np.linalg.eigvalsh(ours / np.outer(deviations, deviations)).min() > 0.0


def warmed(policy: Any, feasible: Any, game: Game, rounds: int = 12, seed: int = 5) -> Any:
    generator = np.random.default_rng(seed)
    state = policy.start(game, feasible)
    for t in range(1, rounds + 1):
        items = np.sort(generator.choice(game.n_items, size=game.max_size, replace=False))
        state = policy.learn(state, feasible, t, items, generator.random(items.size), None, 0)
    return state


@pytest.mark.parametrize(("offset", "signed"), [(0.0, True), (-1.0, True), (-1.0, False), (0.0, False)])
@pytest.mark.parametrize("c", [0.0, 1.0, 2.5])
def test_the_score_of_the_upper_bound(offset: float, signed: bool, c: float) -> None:
    phi, feasible = features(8, 3), sets.TopK(8, 2)
    policy = policies.CombLinUCB(phi, c=c)
    state = warmed(policy, feasible, Game(8, 2, signed=signed, offset=offset), rounds=2)
    covariance = state.factor @ state.factor.T
    wanted = [row @ state.theta + c * math.sqrt(row @ covariance @ row) for row in phi]
    if not signed:
        assert max(wanted) > 1.0 + offset or c == 0.0
        wanted = [min(score, 1.0 + offset) for score in wanted]
    np.testing.assert_allclose(maximised(policy, state, feasible, 13, 0), wanted, rtol=1e-12, atol=1e-12)
    items, note = policy.choose(state, feasible, 13, 0)
    assert items.tolist() == feasible.argmax(np.array(wanted)).tolist()
    assert note is None


def test_before_anything_was_seen_the_bound_is_c_lam_times_the_length() -> None:
    phi, feasible = features(6, 3), sets.TopK(6, 2)
    for offset, widest in ((0.0, 1.0), (-1.0, 1.0), (9.0, 10.0), (-4.0, 4.0)):
        policy = policies.CombLinUCB(phi, lam=0.7, c=1.3)
        state = policy.start(Game(6, 2, offset=offset), feasible)
        wanted = 1.3 * 0.7 * widest * np.linalg.norm(phi, axis=1)
        np.testing.assert_allclose(maximised(policy, state, feasible, 1, 0), wanted, rtol=1e-12)


def test_drawn_weights_have_the_mean_and_covariance_of_the_belief() -> None:
    """An item for each feature: its score is the weight that was drawn."""
    d, draws = 3, 6000
    feasible = sets.TopK(d, 1)
    policy = policies.CombLinTS(np.eye(d), lam=1.5)
    state = warmed(policies.CombLinTS(features(8, d), lam=1.5), sets.TopK(8, 2), Game(8, 2), rounds=2)
    keys = rng.keys(11, 0, 1, draws, rng.POLICY).tolist()
    drawn = np.array([maximised(policy, state, feasible, 1, key) for key in keys])
    covariance = state.factor @ state.factor.T
    z = np.linalg.solve(np.linalg.cholesky(covariance), (drawn - state.theta).T)
    assert stats.chi2.sf(draws * (z.mean(axis=1) ** 2).sum(), d) > 1e-4
    second = z @ z.T / draws
    errors_of = np.where(np.eye(d) > 0.0, math.sqrt(2.0 / draws), math.sqrt(1.0 / draws))
    assert (np.abs(second - np.eye(d)) < 4.0 * errors_of).all()
    for row in z:
        assert stats.kstest(row, "norm").pvalue > 1e-4
    for key in keys[:30]:
        wanted = feasible.argmax(maximised(policy, state, feasible, 1, key))
        assert policy.choose(state, feasible, 1, key)[0].tolist() == wanted.tolist()


def test_drawn_scores_end_at_the_bound_where_the_set_is_not_signed() -> None:
    phi, feasible = features(8, 3), sets.TopK(8, 2)
    policy = policies.CombLinTS(phi)
    free, bounded = (policy.start(Game(8, 2, signed=signed, offset=-1.0), feasible) for signed in (True, False))
    for key in range(5):
        scores = maximised(policy, free, feasible, 1, key)
        assert scores.max() > 0.0
        assert maximised(policy, bounded, feasible, 1, key).tolist() == np.minimum(scores, 0.0).tolist()


@pytest.mark.parametrize("kind", BOTH)
def test_paths_of_costs(kind: Any) -> None:
    """The oracle needs weights <= 0."""
    edges = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "b"), ("c", "d"), ("b", "d")]
    feasible = sets.Paths(edges, "a", "d")
    assert not feasible.signed
    cost = np.array([0.1, 0.1, 0.9, 0.9, 0.2, 0.9])
    policy = kind(np.column_stack([cost, np.arange(6.0) % 2]))
    state = policy.start(Game(6, feasible.max_size, signed=False, offset=-1.0), feasible)
    for t in range(1, 61):
        items, _ = policy.choose(state, feasible, t, t)
        assert feasible.contains(items)
        state = policy.learn(state, feasible, t, items, 1.0 - cost[items], None, 0)
    np.testing.assert_allclose(state.theta, [-1.0, 0.0], atol=0.1)
    assert items.tolist() == feasible.argmax(-cost).tolist() == [0, 1, 4]


def test_items_are_known_before_they_are_seen() -> None:
    generator = np.random.default_rng(6)
    phi, truth = generator.random((400, 3)), np.array([0.2, 0.3, 0.4])
    feasible = sets.TopK(400, 5)
    policy = policies.CombLinUCB(phi, c=0.1)
    state = policy.start(Game(400, 5), feasible)
    for t in range(1, 81):
        items = np.sort(generator.choice(200, size=5, replace=False))
        state = policy.learn(state, feasible, t, items, (generator.random(5) < phi[items] @ truth) * 1.0, None, 0)
    # 400 coins of deviation at most 1/2: φ'θ̄ is as exact as φ'Σφ says
    deviations = np.sqrt(np.einsum("ij,jk,ik->i", phi, state.factor @ state.factor.T, phi))
    unseen = slice(200, 400)
    assert (np.abs(policy.estimates(state) - phi @ truth)[unseen] < 4.0 * deviations[unseen]).all()
    assert deviations.max() < 0.15
    items, _ = policy.choose(state, feasible, 81, 0)
    assert (items >= 200).any()


def regret(truth: Numbers, k: int, choose: Any, learn: Any, horizon: int, seed: int) -> float:
    generator = np.random.default_rng(seed)
    best = np.sort(truth)[-k:].sum()
    lost = 0.0
    for t in range(1, horizon + 1):
        items = choose(t)
        lost += best - truth[items].sum()
        learn(t, items, (generator.random(k) < truth[items]) * 1.0)
    return float(lost)


@pytest.mark.parametrize("kind", BOTH)
def test_in_a_linear_world_features_are_worth_a_lot(kind: Any) -> None:
    n_items, k, horizon = 150, 4, 400
    generator = np.random.default_rng(7)
    phi = np.column_stack([np.ones(n_items), generator.random((n_items, 3))])
    truth = phi @ [0.1, 0.2, 0.3, 0.2]
    feasible = sets.TopK(n_items, k)
    for seed in range(2):
        counts, sums = np.zeros(n_items), np.zeros(n_items)

        def by_item(t: int, counts: Numbers = counts, sums: Numbers = sums) -> Any:
            """CombUCB1."""
            with np.errstate(all="ignore"):
                bounds = np.where(counts > 0, sums / counts + np.sqrt(1.5 * np.log(max(t - 1, 1)) / counts), np.inf)
            return np.argsort(-bounds, kind="stable")[:k]

        def count(t: int, items: Any, x: Numbers, counts: Numbers = counts, sums: Numbers = sums) -> None:
            counts[items] += 1.0
            sums[items] += x

        policy, states = kind(phi), []
        states.append(policy.start(Game(n_items, k), feasible))

        def by_features(t: int, policy: Any = policy, states: Any = states, seed: int = seed) -> Any:
            return policy.choose(states[-1], feasible, t, rng.key(seed, 0, t, rng.POLICY))[0]

        def filtered(t: int, items: Any, x: Numbers, policy: Any = policy, states: Any = states) -> None:
            states[:] = [policy.learn(states[-1], feasible, t, items, x, None, 0)]

        ours = regret(truth, k, by_features, filtered, horizon, seed)
        theirs = regret(truth, k, by_item, count, horizon, seed)
        assert ours < theirs / 3.0, (ours, theirs)


@pytest.mark.parametrize("kind", [policies.CombLinUCB, long(policies.CombLinTS)])
def test_machine_code_gives_the_same_bits(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    phi, feasible = features(30, 4, seed=8), sets.TopK(30, 3)
    played = []
    for patience in (math.inf, 0.0):
        monkeypatch.setattr(warm, "PATIENCE", patience)
        generator = np.random.default_rng(9)
        policy = kind(phi)
        state = policy.start(Game(30, 3, offset=-1.0), feasible)
        steps = []
        for t in range(1, 41):
            key = rng.key(1, 0, t, rng.POLICY)
            items, note = policy.choose(state, feasible, t, key)
            state = policy.learn(state, feasible, t, items, generator.random(3), note, 0)
            steps.append([items.tolist(), *[array.tolist() for array in state]])
        assert [one.code is not None for one in policy.live(feasible).warm[:2]] == [patience == 0.0] * 2
        played.append(steps)
    assert played[0] == played[1]
    assert len({tuple(step[0]) for step in played[0]}) > 3


@pytest.mark.long
@pytest.mark.parametrize(("m", "d", "published", "error"), [(30, 10, 1500.0, 100.0), (10, 200, 12_300.0, 205.0)])
def test_the_experiment_of_wen_et_al(
    m: int, d: int, published: float, error: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longest paths on a grid, 150 rounds, true and assumed lam = 10 and sigma = 1: Section 6.1, Figures 1a and 1b.

    The published values are read from the figures, of 200 runs each.
    """
    monkeypatch.setattr(warm, "PATIENCE", 0.0)
    generator = np.random.default_rng(12)
    feasible, runs = sets.GridPaths(m), 100
    n_items = feasible.n_items
    regrets = np.zeros(runs)
    for run in range(runs):
        phi, theta = generator.normal(size=(n_items, d)), 10.0 * generator.normal(size=d)
        means = phi @ theta
        policy = policies.CombLinTS(phi, lam=10.0, sigma=1.0)
        state = policy.start(Game(n_items, 2 * m), feasible)
        best = means[feasible.argmax(means)].sum()
        for t in range(1, 151):
            items, note = policy.choose(state, feasible, t, rng.key(13, run, t, rng.POLICY))
            regrets[run] += best - means[items].sum()
            state = policy.learn(state, feasible, t, items, means[items] + generator.normal(size=items.size), note, 0)
    near(regrets, published, error)


@pytest.mark.parametrize("kind", BOTH)
def test_a_part_of_the_set(kind: Any) -> None:
    feasible = sets.TopK(8, 2)
    policy = kind(features(8, 3))
    state = warmed(policy, feasible, Game(8, 2))
    part = feasible.restrict(exclude=(0, 3, 5))
    for key in range(20):
        items, _ = policy.choose(state, part, 20, key)
        assert not {0, 3, 5} & set(items.tolist())
        assert items.tolist() == part.argmax(maximised(policy, state, feasible, 20, key)).tolist()


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([0.1, 0.2], r"a row for each item and a column for each feature, got an array of shape \(2,\)"),
        (np.zeros((3, 0)), r"got an array of shape \(3, 0\)"),
        (np.zeros((0, 3)), r"got an array of shape \(0, 3\)"),
        (np.zeros((2, 2, 2)), r"got an array of shape \(2, 2, 2\)"),
        (0.5, r"got an array of shape \(\)"),
        ([[0.1, math.nan]], r"got nan as feature 1 of item 0"),
        ([[0.1], [math.inf]], r"got inf as feature 0 of item 1"),
        ([[1e31, 0.0]], r"from -1e\+30 to 1e\+30, got 1e\+31 as feature 0 of item 0"),
        ([["a", "b"]], r"features must be numbers, got <U1"),
        ([[1j]], r"features must be numbers, got complex128"),
        (None, r"features must be numbers, got object in None"),
        ([[1.0], [1.0, 2.0]], r"rows of different lengths"),
    ],
)
def test_wrong_features(kind: Any, wrong: Any, said: str) -> None:
    with pytest.raises(errors.BadArgument, match=said):
        kind(wrong)


@pytest.mark.parametrize("kind", BOTH)
def test_features_of_another_number_of_items(kind: Any) -> None:
    policy, feasible = kind(features(5, 2)), sets.TopK(6, 2)
    said = r"a row for each of the 6 items of TopK\(.*\), got 5 rows"
    with pytest.raises(errors.BadArgument, match=said):
        policy.check(feasible)
    with pytest.raises(errors.BadArgument, match=said):
        policy.start(Game(6, 2), feasible)


@pytest.mark.parametrize("name", ["lam", "sigma", "c"])
@pytest.mark.parametrize("value", [-1.0, math.inf, math.nan, "1", True, None, 1e200])
def test_wrong_parameters(name: str, value: Any) -> None:
    with pytest.raises(errors.BadArgument, match=f"{name} must be a number .*, got {re.escape(repr(value))}"):
        policies.CombLinUCB([[1.0]], **{name: value})


@pytest.mark.parametrize("name", ["lam", "sigma"])
def test_zero_is_refused(name: str) -> None:
    with pytest.raises(errors.BadArgument, match=f"{name} must be a number from 1e-30 to 1e\\+30, got 0.0"):
        policies.CombLinTS([[1.0]], **{name: 0.0})


@pytest.mark.parametrize("kind", BOTH)
def test_the_features_are_its_own(kind: Any) -> None:
    phi = features(40, 3)
    policy = kind(phi, 2.0)
    before = phi.copy()
    phi[:] = 0.0
    for one in (policy, pickle.loads(pickle.dumps(policy))):
        assert np.array_equal(one.features, before)
        assert (one.lam, one.sigma) == (2.0, 0.5)
        with pytest.raises(ValueError, match="read-only"):
            one.features[0, 0] = 1.0
    assert len(repr(policy)) < 100
    assert "<3 features of 40 items>, lam=2.0, sigma=0.5" in repr(policy)
    assert policy == policy
    assert policy != kind(before)
    assert kind([[1, 2], [3, 4]]).features.dtype == np.float64


@pytest.mark.parametrize("kind", BOTH)
def test_extreme_numbers_stay_numbers(kind: Any) -> None:
    feasible = sets.TopK(3, 2)
    for phi, lam, sigma in ((1e30, 1e30, 1e-30), (1e-30, 1e-30, 1e30), (0.0, 1.0, 1.0), (1e30, 1e-30, 1e30)):
        policy = kind(np.full((3, 2), phi), lam=lam, sigma=sigma)
        state = warmed(policy, feasible, Game(3, 2), rounds=20)
        assert np.isfinite(maximised(policy, state, feasible, 21, 7)).all()
        assert all(np.isfinite(array).all() for array in state)
