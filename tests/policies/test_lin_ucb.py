"""OFUL and LinUCB against ridge regression by direct inverses."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from semibandits import Learner, errors, policies, sets
from semibandits.kernel import compiled, warm
from semibandits.policies.solution import full_bandit, listing
from semibandits.testing import check_policy
from semibandits.types import Game

Numbers = NDArray[np.float64]
OF_ALL_SIZES = [[0, 1, 2], [3, 4], [5], [0, 3, 5], [1, 4, 6], [2, 6]]


@pytest.fixture(autouse=True)
def plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PATIENCE", math.inf)


def rows(listed: list[list[int]], n_items: int) -> Numbers:
    matrix = np.zeros((len(listed), n_items))
    for j, one in enumerate(listed):
        matrix[j, one] = 1.0
    return matrix


def indices(matrix: Numbers, seen: list[tuple[int, float]], policy: Any, offset: float) -> Numbers:
    """Of every solution, from all observations (solution, sum) at once."""
    n_items = matrix.shape[1]
    played = matrix[[j for j, _ in seen]]
    V = policy.lam * np.eye(n_items) + played.T @ played
    theta = 0.5 + np.linalg.solve(V, played.T @ (np.array([y for _, y in seen]) - played.sum(axis=1) / 2.0))
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, np.linalg.solve(V, matrix.T).T))
    if isinstance(policy, policies.LinUCB):
        width = policy.alpha
    else:
        noise = matrix.sum(axis=1).max() / 2.0 if policy.noise is None else policy.noise
        norm = n_items**0.5 / 2.0 if policy.norm is None else policy.norm
        determinants = math.sqrt(np.linalg.det(V) / policy.lam**n_items)
        width = noise * math.sqrt(2.0 * math.log(determinants / policy.delta)) + policy.lam**0.5 * norm
    indices: Numbers = matrix @ (theta + offset) + width * lengths
    return indices


POLICIES = [
    policies.OFUL(),
    policies.OFUL(lam=0.3, delta=0.2, noise=0.4, norm=0.7),
    policies.OFUL(lam=4.0, noise=1.0),
    policies.LinUCB(),
    policies.LinUCB(alpha=0.4, lam=0.5),
    policies.LinUCB(alpha=0.0, lam=2.0),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("offset", [0.0, -1.0, 0.5])
def test_decisions_are_those_of_a_direct_inverse(policy: Any, offset: float) -> None:
    feasible, matrix = sets.Enumerated(OF_ALL_SIZES), rows(OF_ALL_SIZES, 7)
    means = np.array([0.2, 0.9, 0.5, 0.6, 0.7, 0.8, 0.1])
    generator = np.random.default_rng(1)
    state = policy.start(Game(7, 3, offset=offset), feasible)
    seen: list[tuple[int, float]] = []
    clear = 0
    for t in range(1, 81):
        items, note = policy.choose(state, feasible, t, 0)
        assert note is None
        wanted = indices(matrix, seen, policy, offset)
        chosen = OF_ALL_SIZES.index(items.tolist())
        ranked = np.sort(wanted)
        assert wanted[chosen] >= ranked[-1] - 1e-9
        if ranked[-1] - ranked[-2] > 1e-9:
            clear += 1
            assert chosen == np.argmax(wanted)
        if t % 5 == 0:  # something else was done
            chosen = int(generator.integers(6))
        x = float((generator.random(7) < means)[OF_ALL_SIZES[chosen]].sum())
        seen.append((chosen, x))
        state = policy.learn(state, feasible, t, np.array(OF_ALL_SIZES[chosen]), np.array([x]), None, 0)
    assert clear > 40


@given(seed=st.integers(0, 10**6), lam=st.sampled_from([1e-3, 0.5, 1.0, 50.0]))
def test_the_regression_in_any_order(seed: int, lam: float) -> None:
    generator = np.random.default_rng(seed)
    feasible, matrix = sets.Enumerated(OF_ALL_SIZES), rows(OF_ALL_SIZES, 7)
    policy = policies.LinUCB(lam=lam)
    chosen = generator.integers(6, size=15)
    x = generator.random(15) * matrix.sum(axis=1)[chosen]
    played = matrix[chosen]
    V = lam * np.eye(7) + played.T @ played
    for order in (np.arange(15), generator.permutation(15)):
        state = policy.start(Game(7, 3), feasible)
        for t in order.tolist():
            state = policy.learn(state, feasible, t + 1, np.array(OF_ALL_SIZES[chosen[t]]), x[t : t + 1], None, 0)
        np.testing.assert_allclose(state.inverse, np.linalg.inv(V), rtol=1e-8, atol=1e-8)
        theta = np.linalg.solve(V, played.T @ (x - played @ np.full(7, 0.5))) + 0.5
        np.testing.assert_allclose(state.theta, theta, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(state.growth[0], np.linalg.slogdet(V / lam)[1], rtol=1e-10)
        assert np.array_equal(state.inverse, state.inverse.T)


def exact_inverse(matrix: list[list[float]]) -> Numbers:
    """By fractions."""
    n = len(matrix)
    rows = [[*map(Fraction, row), *[Fraction(i == j) for j in range(n)]] for i, row in enumerate(matrix)]
    for i in range(n):
        rows[i] = [number / rows[i][i] for number in rows[i]]
        for j in range(n):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return np.array([[float(number) for number in row[n:]] for row in rows])


@pytest.mark.parametrize("lam", [1.0, 1.0 / 512.0])
def test_a_hundred_thousand_observations(lam: float) -> None:
    """Nearly all of one solution, and one solution never: eigenvalues from lam to 3e5."""
    generator = np.random.default_rng(2)
    matrix = rows(OF_ALL_SIZES, 7)
    learn = compiled(full_bandit._learn)
    theta, inverse, growth = np.full(7, 0.5), np.eye(7) / lam, np.zeros(1)
    work = (np.zeros(7), np.zeros(0, dtype=np.int64), np.zeros(7))
    chosen = np.where(generator.random(100_000) < 0.999, 0, generator.integers(5, size=100_000))
    x = np.round(64.0 * matrix[chosen] @ generator.random(7)) / 64.0
    solutions = [np.array(one) for one in OF_ALL_SIZES]
    for t, j in enumerate(chosen.tolist()):
        learn((theta, inverse, growth, np.zeros(4)), solutions[j], x[t : t + 1], np.zeros(0), t, np.uint64(0), (), work)
    V = lam * np.eye(7) + (matrix.T * np.bincount(chosen, minlength=6)) @ matrix
    exact = exact_inverse(V.tolist())
    assert np.abs(inverse - exact).max() <= 1e-11 * np.abs(exact).max()
    lengths = np.einsum("ij,jk,ik->i", matrix, exact, matrix)
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", matrix, inverse, matrix), lengths, rtol=1e-5)
    wanted = 0.5 + exact @ (matrix[chosen].T @ (x - matrix[chosen].sum(axis=1) / 2.0))
    np.testing.assert_allclose(matrix @ theta, matrix @ wanted, atol=1e-7)
    np.testing.assert_allclose(growth[0], np.linalg.slogdet(V / lam)[1], rtol=1e-8)
    assert np.linalg.eigvalsh(inverse).min() > 0.0
    assert np.array_equal(inverse, inverse.T)


def test_machine_code_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    feasible = sets.Enumerated(OF_ALL_SIZES)
    for policy in (policies.OFUL(noise=0.3), policies.LinUCB(alpha=1.0)):
        played = []
        for patience in (math.inf, 0.0):
            monkeypatch.setattr(warm, "PATIENCE", patience)
            generator = np.random.default_rng(3)
            state = policy.start(Game(7, 3, offset=-0.5), feasible)
            steps = []
            for t in range(1, 101):
                items, _ = policy.choose(state, feasible, t, 0)
                state = policy.learn(state, feasible, t, items, generator.random(1) * items.size, None, 0)
                steps.append([items.tolist(), *[array.tolist() for array in state]])
            played.append(steps)
        assert all(one.code is not None for one in policy.live(feasible).warm[:2])
        assert played[0] == played[1]
        assert len({tuple(step[0]) for step in played[0]}) > 2


@pytest.mark.parametrize("policy", [policies.OFUL(noise=0.5, norm=1.0), policies.LinUCB(alpha=0.5)], ids=repr)
@pytest.mark.parametrize("offset", [0.0, -1.0])
def test_the_best_solution_is_found(policy: Any, offset: float) -> None:
    """With rewards a large one, with costs a small one."""
    feasible, matrix = sets.Enumerated(OF_ALL_SIZES), rows(OF_ALL_SIZES, 7)
    means = np.array([0.2, 0.9, 0.5, 0.6, 0.7, 0.8, 0.3])
    worth = matrix @ (means + offset)
    best = OF_ALL_SIZES[int(np.argmax(worth))]
    assert best == ([1, 4, 6] if offset == 0.0 else [5])
    generator = np.random.default_rng(4)
    state = policy.start(Game(7, 3, offset=offset), feasible)
    found = 0
    for t in range(1, 401):
        items, _ = policy.choose(state, feasible, t, 0)
        found += t > 200 and items.tolist() == best
        x = (generator.random(7) < means)[items].sum()
        state = policy.learn(state, feasible, t, items, np.array([float(x)]), None, 0)
    assert found > 150


def test_a_part_of_the_set() -> None:
    feasible = sets.TopK(6, 2)
    policy = policies.LinUCB()
    state = policy.start(Game(6, 2), feasible)
    state = policy.learn(state, feasible, 1, np.array([0, 1]), np.array([2.0]), None, 0)
    assert (
        policy.choose(state, feasible, 2, 0)[0].tolist()
        != policy.choose(state, feasible.restrict((), (0, 1)), 2, 0)[0].tolist()
    )
    for excluded in range(6):
        items, _ = policy.choose(state, feasible.restrict(exclude=(excluded,)), 2, 0)
        assert items.size == 2
        assert excluded not in items


def test_the_empty_solution() -> None:
    feasible = sets.Enumerated([[], [0, 1]])
    policy = policies.LinUCB(alpha=0.5)
    state = policy.start(Game(2, 2, offset=-1.0), feasible)
    after = policy.learn(state, feasible, 1, np.empty(0, dtype=np.int64), np.array([0.0]), None, 0)
    assert all(np.array_equal(a, b) for a, b in zip(state, after, strict=True))
    assert policy.choose(after, feasible, 2, 0)[0].size == 0


@pytest.mark.parametrize("policy", [policies.OFUL(), policies.LinUCB()], ids=repr)
def test_large_sets_are_refused(policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_SOLUTIONS", 50)
    name = type(policy).__name__
    many = sets.TopK(3000, 1)
    for refused in (policy.check, policy.kernels, lambda feasible: policy.start(Game(3000, 1), feasible)):
        with pytest.raises(errors.Unsupported, match=rf"{name} keeps .* has more than 2,000: use CombUCB1 or CTS, if"):
            refused(many)
    with pytest.raises(errors.Unsupported, match=rf"{name} looks at .* has more than 50: use CombUCB1 or CTS, if"):
        policy.check(sets.GridPaths(4))


@pytest.mark.parametrize(
    ("kind", "wrong", "said"),
    [
        (policies.OFUL, {"delta": 0.0}, "delta must be a number between 0 and 1"),
        (policies.OFUL, {"delta": 1.0}, "delta must be a number between 0 and 1"),
        (policies.OFUL, {"noise": -1.0}, "noise must be a number >= 0"),
        (policies.OFUL, {"norm": math.nan}, "norm must be a number >= 0"),
        (policies.OFUL, {"lam": 0.0}, r"lam must be a number from 0.001 to 1e\+06, got 0.0"),
        (policies.LinUCB, {"lam": 9e-4}, r"lam must be a number from 0.001 to 1e\+06, got 0.0009"),
        (policies.LinUCB, {"alpha": -0.1}, "alpha must be a number >= 0, got -0.1"),
        (policies.LinUCB, {"alpha": "1"}, "alpha must be a number >= 0, got '1'"),
    ],
)
def test_wrong_parameters(kind: Any, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(errors.BadArgument, match=said):
        kind(**wrong)


def test_they_are_given_sums() -> None:
    for policy in (policies.OFUL(), policies.LinUCB()):
        check_policy(policy, trials=20)
        assert policy.feedback == "bandit"
        assert policy.init == "optimistic"
        assert not policy.needs_note
        assert not policy.needs_horizon
    assert policies.LinUCB(0.5, 2.0) == policies.LinUCB(alpha=0.5, lam=2.0)
    assert policies.OFUL(2.0, 0.5) == policies.OFUL(lam=2.0, delta=0.5)


def test_estimates_from_sums_alone() -> None:
    feasible = sets.KPaths(6, 3)
    learner = Learner(feasible, policies.LinUCB(lam=0.01), feedback="bandit", seed=0)
    for _ in range(60):
        decision = learner.ask()
        learner.tell(decision.id, 1.2 if 0 in decision.items else 2.4)
    np.testing.assert_allclose(learner.estimates, [0.4] * 3 + [0.8] * 3, atol=0.01)
    assert learner.best().tolist() == [3, 4, 5]
